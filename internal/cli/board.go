package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"skyrail/flight/contest"
	railcontest "skyrail/rail/contest"
)

// flown is what one entrant did on a list of seeds.
type flown struct {
	name     string
	zip      string // the file it is from; empty for an agent of ours
	episodes []contest.Episode
}

// board is one ranking.
type board struct {
	Ranking  string     `json:"ranking"` // public, live, hidden, private; partial or file for a list of one's own
	Title    string     `json:"title"`
	Episodes int        `json:"episodes"` // an entry
	Rows     []boardRow `json:"rows"`     // in ranked order
}

type boardRow struct {
	Position int    `json:"position"`
	Agent    string `json:"agent"`
	Zip      string `json:"zip,omitempty"` // the file, which tells teams of one name apart
	contest.Score
	Packed         contest.Packed    `json:"packed"`
	BeatsDoNothing bool              `json:"beats_do_nothing"`
	Bounds         *contest.Bounds   `json:"bounds,omitempty"` // where the agent knows some
	PerEpisode     []contest.Episode `json:"per_episode,omitempty"`
}

// newBoard ranks entries; nothing is what doing nothing scores on the same list.
func newBoard(l seedList, entries []flown, nothing contest.Score, perEpisode bool) board {
	rows, scores := make([]boardRow, len(entries)), make([]contest.Score, len(entries))
	for i, e := range entries {
		rows[i], scores[i] = boardRow{Agent: e.name, Zip: e.zip}, contest.NewScore(e.episodes)
		if bounds, ok := contest.NewBounds(e.episodes); ok {
			rows[i].Bounds = &bounds
		}
	}
	b := rankBoard(l, rows, scores, nothing)
	if perEpisode {
		for row, i := range contest.Rank(scores) {
			b.Rows[row].PerEpisode = entries[i].episodes
		}
	}
	return b
}

// rankBoard ranks entries, rows with their names, by their scores.
func rankBoard(l seedList, rows []boardRow, scores []contest.Score, nothing contest.Score) board {
	places := contest.Positions(scores)
	b := board{Ranking: l.ranking, Title: l.title, Episodes: len(l.seeds)}
	for _, i := range contest.Rank(scores) {
		row := rows[i]
		row.Position, row.Score, row.Packed = places[i], scores[i], scores[i].Pack()
		row.BeatsDoNothing = scores[i].Key().Compare(nothing.Key()) < 0
		b.Rows = append(b.Rows, row)
	}
	return b
}

// boards is what a command that ranks has found.
type boards struct {
	ScoreVersion    string   `json:"score_version"`
	OffLeaderboard  []string `json:"off_leaderboard,omitempty"` // why the figures do not count
	Boards          []board  `json:"boards"`
	NotReproducible string   `json:"not_reproducible,omitempty"` // why they may be others the next time
	Repeat          string   `json:"repeat"`                     // the command line that gives the same figures again
}

func (bs boards) print(w io.Writer) {
	for _, b := range bs.Boards {
		printStamp(w, bs.OffLeaderboard)
		b.print(w)
		fmt.Fprintf(w, "ranking: %s (%s) · score version %s · %s an entry\n", b.Ranking, b.Title, bs.ScoreVersion, count(b.Episodes, "episode"))
		b.printBounds(w)
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "Lower is better, compared from left to right; exit miss counts in steps of 0.005.")
	printRepeat(w, bs.NotReproducible, bs.Repeat)
}

// printRepeat ends an output with how it is repeated, and why that may give other figures, if it may.
func printRepeat(w io.Writer, notReproducible, command string) {
	if notReproducible != "" {
		fmt.Fprintf(w, "Not reproducible: %s.\n", notReproducible)
	}
	fmt.Fprintf(w, "To repeat: %s\n", command)
}

// printStamp marks a table whose figures do not count, and says why.
func printStamp(w io.Writer, offLeaderboard []string) {
	if len(offLeaderboard) > 0 {
		fmt.Fprintf(w, "OFF-LEADERBOARD: %s\n", strings.Join(offLeaderboard, ", "))
	}
}

// print writes the table in the shape of the published one.
func (b board) print(w io.Writer) {
	header := []string{"#", "submission", "failed", "congestion", "exit miss", "clearances", "touched", ""}
	files := slices.ContainsFunc(b.Rows, func(r boardRow) bool { return r.Zip != "" })
	if files {
		header = slices.Insert(header, 2, "zip")
	}
	t := newTable(header...)
	for _, r := range b.Rows {
		note := ""
		switch {
		case r.Clearances == 0:
			note = "does nothing"
		case !r.BeatsDoNothing:
			note = "! does not beat doing nothing"
		}
		row := table.Row{r.Position, r.Agent, r.Failed, r.Congestion, miss(r.ExitMiss), r.Clearances, r.Touched, note}
		if files {
			file := ""
			if r.Zip != "" {
				file = shown(filepath.Base(r.Zip))
			}
			row = slices.Insert(row, 2, any(file))
		}
		t.AppendRow(row)
	}
	printTable(w, t)
	for _, r := range b.Rows {
		if len(r.PerEpisode) > 0 {
			fmt.Fprintf(w, "\n%s, episode by episode (%d of %d without conflict):\n", r.Agent, r.ZeroConflict, r.Episodes)
			printEpisodes(w, r.PerEpisode)
			fmt.Fprintln(w)
		}
	}
}

// printBounds says how far each agent that knows is from what no agent can do better than.
func (b board) printBounds(w io.Writer) {
	for _, r := range b.Rows {
		if r.Bounds != nil {
			fmt.Fprintf(w, "%s: %s\n", r.Agent, boundsText(*r.Bounds, r.Episodes))
		}
	}
}

// boundsText compares an entry of so many episodes with its bounds.
func boundsText(b contest.Bounds, episodes int) string {
	var known, congestion string
	among := count(episodes, "episode")
	if b.Episodes < episodes {
		known = fmt.Sprintf("bounds are known of %d of %s; ", b.Episodes, among)
		among = fmt.Sprint(b.Episodes)
	}
	if b.Congestion > 0 {
		congestion = fmt.Sprintf("no agent can do with less congestion than %d; ", b.Congestion)
	}
	where := "at this congestion and exit miss, episode by episode, "
	switch b.Matched {
	case b.Episodes:
	case 0:
		return known + congestion + "none has as little congestion and no exit miss, so clearances are not compared"
	default:
		where = fmt.Sprintf("in %d of %s, with as little congestion and no exit miss, ", b.Matched, among)
	}
	excess := "none too many"
	if b.Gap != 0 {
		excess = fmt.Sprintf("at most %d too many", b.Gap)
	}
	return fmt.Sprintf("%s%s%sno agent can do with fewer than %s; %s; %s flown with as few",
		known, congestion, where, count(b.Clearances, "clearance"), excess, count(b.Least, "episode"))
}

func printEpisodes(w io.Writer, episodes []contest.Episode) {
	header := []string{"seed", "state", "steps", "congestion", "exit miss", "worst miss", "clearances", "touched", "invalid"}
	bounds, bounded := contest.NewBounds(episodes)
	if bounded {
		header = append(header, "at least", "gap")
	}
	if bounds.Congestion > 0 {
		header = append(header, "congestion at least")
	}
	t := newTable(header...)
	for _, e := range episodes {
		row := table.Row{e.Seed, stateOf(e), e.Steps, e.Congestion, miss(e.ExitMiss), miss(e.MaxExitMiss), e.Clearances, e.Touched, e.Invalids}
		if e.Bound != nil {
			gap := "" // not known
			if n, ok := e.Gap(); ok {
				gap = fmt.Sprint(n)
			}
			row = append(row, e.Bound.Clearances, gap)
			if bounds.Congestion > 0 {
				row = append(row, e.Bound.Congestion)
			}
		}
		t.AppendRow(row)
	}
	printTable(w, t)
}

func stateOf(e contest.Episode) string {
	if e.Completed {
		return "completed"
	}
	return "failed"
}

// miss shows an exit miss with the published board's four decimals.
func miss(v float64) string { return fmt.Sprintf("%.4f", v) }

// newTable returns a table without frames: names to the left, figures to the right.
func newTable(header ...string) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.Options{}
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	row := make(table.Row, len(header))
	columns := make([]table.ColumnConfig, len(header))
	for i, h := range header {
		row[i] = h
		align := text.AlignRight
		switch h {
		case "submission", "zip", "agent", "check", "code", "why", "hint", "pass", "state", "half", "trophy", "for", "winners", "episode", "environment", "level", "gate", "":
			align = text.AlignLeft
		}
		columns[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	t.SetColumnConfigs(columns)
	t.AppendHeader(row)
	return t
}

func printTable(w io.Writer, t table.Writer) {
	for line := range strings.Lines(t.Render()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

// printJSON writes the facts of a command.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// count says how many, with the noun in the right number.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// mostShown is how many runes of a foreign text a line has room for.
const mostShown = 4096

// shown makes a foreign text, such as a file's name, fit for a line on a terminal.
func shown(text string) string { return railcontest.Printable(text, mostShown) }
