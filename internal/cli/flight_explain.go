package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"skyrail/flight"
	"skyrail/flight/contest"
)

func newExplain(a *app) *cobra.Command {
	var f flightFlags
	var seed uint64
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Tell in words why each clearance of an episode was given",
		Long: `Fly an episode and tell each clearance in words: when, to whom, what, and why. Why is found out from the actions
alone, so it can be told of every agent: the same actions are flown without the clearance, and with every other one in its
place. Each clearance is judged by itself: of two that do the same, neither changes a figure. The best other clearance is
told if it is better than saying nothing.

Steps are those of submission.csv, two seconds each: a clearance is given as its step begins, and a loss of separation is
counted as its step ends. A picture of 'skyrail flight render' shows what comes of a step under the next number.`,
		Example: `  skyrail flight explain --agent rule-based --seed 1829385696
  skyrail flight explain --agent planner --seed 780996595`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cfg, off, err := f.config()
			if err != nil {
				return err
			}
			entrants, err := f.entrants(cmd, cfg)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, closeAll(entrants)) }()
			if len(entrants) > 1 {
				return usage(errors.New("this command takes one --agent"))
			}
			if !cmd.Flags().Changed("seed") {
				seed = contest.PublicSeeds()[0]
			}
			e := entrants[0]
			episode, err := f.flyOne(cmd.Context(), cfg, e, seed)
			if err != nil {
				return err
			}
			accounts, err := contest.Explain(cfg, seed, episode.Actions)
			if err != nil {
				return err
			}
			env, err := flight.New(cfg)
			if err != nil {
				return err
			}
			env.Reset(seed)
			x := explained{
				Seed: seed, OffLeaderboard: off, Converging: env.Scenario().Converging, Aircraft: cfg.Flights,
				Episode: agentEpisode{e.name, episode}, Accounts: accountFactsOf(accounts), accounts: accounts, hold: cfg.HoldSteps,
				NotReproducible: f.notReproducible(), Repeat: repeat(cmd),
			}
			if bounds, ok := contest.NewBounds([]contest.Episode{episode}); ok {
				x.Bounds = &bounds
			}
			if f.json {
				return printJSON(a.out, x)
			}
			x.print(a.out)
			return nil
		},
	}
	f.agent(cmd)
	f.scenario(cmd)
	f.machine(cmd)
	seedFlag(cmd, &seed, "seed", "the episode's seed (default the first published one)")
	return cmd
}

// explained is an episode and the account of its clearances.
type explained struct {
	Seed            uint64          `json:"seed"`
	OffLeaderboard  []string        `json:"off_leaderboard,omitempty"`
	Converging      int             `json:"converging"`
	Aircraft        int             `json:"aircraft"` // in the sector
	Episode         agentEpisode    `json:"episode"`
	Bounds          *contest.Bounds `json:"bounds,omitempty"` // where the agent knows some
	Accounts        []accountFacts  `json:"accounts"`
	NotReproducible string          `json:"not_reproducible,omitempty"`
	Repeat          string          `json:"repeat"`

	accounts []contest.Account
	hold     int // hold_steps
}

// orderFacts is a contest.Order with all that its words tell.
type orderFacts struct {
	Step      int    `json:"step"`
	Seconds   int    `json:"seconds"`
	Aircraft  int    `json:"aircraft"`
	Action    int    `json:"action"`
	Clearance string `json:"clearance"`
}

type accountFacts struct {
	orderFacts
	Forbidden       bool              `json:"forbidden"`
	*contest.Effect                   // nil for a forbidden one
	Alternative     *alternativeFacts `json:"alternative,omitempty"`
}

type alternativeFacts struct {
	orderFacts
	Figures contest.Episode `json:"figures"`
	Cost    contest.Change  `json:"cost"`
	Drops   []int           `json:"drops,omitempty"`
}

func accountFactsOf(accounts []contest.Account) []accountFacts {
	all := []accountFacts{}
	for _, a := range accounts {
		facts := accountFacts{orderFacts: orderFactsOf(a.Order), Forbidden: a.Forbidden}
		if !a.Forbidden {
			facts.Effect = &a.Effect
		}
		if o := a.Alternative; o != nil {
			facts.Alternative = &alternativeFacts{orderFactsOf(o.Order), o.Episode, o.Cost, o.Drops}
		}
		all = append(all, facts)
	}
	return all
}

func orderFactsOf(o contest.Order) orderFacts {
	return orderFacts{o.Step, secondsAt(o.Step), o.Aircraft, o.Action(), o.Clearance.String()}
}

func secondsAt(step int) int { return step * int(flight.DT) }

func (x explained) print(w io.Writer) {
	printStamp(w, x.OffLeaderboard)
	fmt.Fprintf(w, "seed %d: %d of %d aircraft converge (%s)\n\n", x.Seed, x.Converging, x.Aircraft, rangeWords("aircraft", 0, x.Converging-1))
	t := newTable("agent", "state", "steps", "congestion", "exit miss", "clearances", "touched", "invalid")
	e := x.Episode
	t.AppendRow(table.Row{e.Agent, stateOf(e.Episode), e.Steps, e.Congestion, miss(e.ExitMiss), e.Clearances, e.Touched, e.Invalids})
	printTable(w, t)
	switch b, _ := builtInOf(e.Agent); {
	case x.Bounds != nil:
		fmt.Fprintf(w, "%s: %s\n", e.Agent, boundsText(*x.Bounds, 1))
	case b.plans:
		fmt.Fprintf(w, "%s: no bound is known of this episode\n", e.Agent)
	}
	fmt.Fprintln(w)
	if len(x.accounts) == 0 {
		fmt.Fprintln(w, "No clearance was given.")
	}
	for _, a := range x.accounts {
		when := fmt.Sprintf("step %2d %-8s", a.Step, fmt.Sprintf("(%d s)", secondsAt(a.Step)))
		fmt.Fprintf(w, "%saircraft %d: %s (%s)\n", when, a.Aircraft, clearanceWords(a.Clearance, x.hold), a.Clearance)
		for _, line := range accountWords(a) {
			fmt.Fprintf(w, "%*s%s\n", len(when), "", line)
		}
	}
	fmt.Fprintln(w)
	printRepeat(w, x.NotReproducible, x.Repeat)
}

// accountWords tells why a clearance was given, a fact a line.
func accountWords(a contest.Account) []string {
	if a.Forbidden {
		return []string{"forbidden: counted as invalid, not flown"}
	}
	lines := troubleWords(a.Resolves, "keeps it from ", "makes a mid-air a mere loss of separation: ", "without it, it ")
	lines = append(lines, troubleWords(a.Brings, "brings it too close to ", "makes a loss of separation a mid-air: ", "so it ")...)
	if len(a.NeededBy) > 0 {
		lines = append(lines, "without it, "+notLegalWords(a.NeededBy)+", and not flown")
	}
	outcome := a.Cost.Outcome()
	switch sign := outcome.Sign(); {
	case sign < 0:
		lines = append(lines, "makes it worse; without it: "+changeWords(outcome))
	case sign == 0 && a.Resolves.None() && a.Brings.None():
		lines = append(lines, "changes no figure")
	case sign == 0:
		lines = append(lines, "changes no figure in all")
	case a.Resolves.None() || !a.Brings.None():
		lines = append(lines, "is worth it; without it: "+changeWords(outcome))
	}
	switch o := a.Alternative; {
	case o != nil:
		lines = append(lines, alternativeWords(o))
	case outcome.Sign() > 0:
		lines = append(lines, "no other clearance does it")
	}
	return lines
}

// troubleWords tells what goes wrong in one flight and not in the other; the phrases begin the lines.
func troubleWords(t contest.Trouble, losses, midAirs, exit string) (lines []string) {
	if lost := lossWords(t.Losses, false); len(lost) > 0 {
		lines = append(lines, losses+listWords(lost))
	}
	if hit := lossWords(t.Losses, true); len(hit) > 0 {
		lines = append(lines, midAirs+listWords(hit))
	}
	if t.Exit != nil {
		lines = append(lines, exit+exitWords(*t.Exit))
	}
	return lines
}

// lossWords tells when which aircraft are too close, those that are anyway or the others: "aircraft 0 (step 6, steps 11
// to 14)".
func lossWords(losses []contest.Loss, anyway bool) (words []string) {
	for i, l := range losses {
		seen := func(o contest.Loss) bool { return o.Anyway == anyway && o.Aircraft == l.Aircraft }
		if !seen(l) || slices.ContainsFunc(losses[:i], seen) {
			continue
		}
		var when []string
		for _, o := range losses[i:] {
			if !seen(o) {
				continue
			}
			when = append(when, rangeWords("step", o.First, o.Last))
			if o.MidAir && !anyway {
				when = append(when, "a mid-air")
			}
		}
		words = append(words, fmt.Sprintf("aircraft %d (%s)", l.Aircraft, strings.Join(when, ", ")))
	}
	return words
}

// exitWords tells how an aircraft ends: "ends two levels up instead of one and leaves 1.4 s late".
func exitWords(e contest.Exit) string {
	var parts []string
	add := func(verb string, is, other float64, words func(float64) string) {
		if is == 0 {
			return
		}
		part := verb + words(is)
		if math.Abs(other) >= 0.05 { // else it is as planned
			part += " instead of " + words(other)
		}
		parts = append(parts, part)
	}
	add("ends ", e.Levels, e.OtherLevels, levelsWords)
	add("leaves ", e.Seconds, e.OtherSeconds, func(s float64) string {
		if s < 0 {
			return fmt.Sprintf("%.1f s early", -s)
		}
		return fmt.Sprintf("%.1f s late", s)
	})
	return listWords(parts)
}

func levelsWords(v float64) string {
	way := " up"
	if v < 0 {
		way = " down"
	}
	return numberWords(math.Abs(v), "level") + way
}

// numberWords says how many, small whole numbers in a word.
func numberWords(v float64, noun string) string {
	small := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	number := strconv.FormatFloat(v, 'g', 4, 64)
	if v == math.Trunc(v) && v < float64(len(small)) {
		number = small[int(v)]
	}
	if v != 1 {
		noun += "s"
	}
	return number + " " + noun
}

// changeWords tells by how much an episode would differ. Where it decides whether the episode fails, that is all.
func changeWords(c contest.Change) string {
	switch {
	case c.Failed > 0:
		return "the episode fails"
	case c.Failed < 0:
		return "the episode is completed"
	}
	var parts []string
	differ := func(size int, words, fewer string) {
		switch {
		case size > 0:
			parts = append(parts, words+" more")
		case size < 0:
			parts = append(parts, words+" "+fewer)
		}
	}
	size := func(v int) int { return max(v, -v) }
	losses := "losses"
	if size(c.Congestion) == 1 {
		losses = "loss"
	}
	differ(c.Congestion, fmt.Sprintf("%d %s of separation", size(c.Congestion), losses), "fewer")
	differ(cmp.Compare(c.ExitMiss, 0), fmt.Sprintf("exit miss %g", math.Abs(c.ExitMiss)), "less")
	differ(c.Clearances, count(size(c.Clearances), "clearance"), "fewer")
	if n := size(c.Touched); c.Touched > 0 {
		parts = append(parts, fmt.Sprintf("%d aircraft more touched", n))
	} else if c.Touched < 0 {
		parts = append(parts, fmt.Sprintf("%d aircraft fewer touched", n))
	}
	return listWords(parts)
}

func alternativeWords(o *contest.Alternative) string {
	line := fmt.Sprintf("instead: aircraft %d %s at step %d, ", o.Aircraft, shortWords[o.Clearance], o.Step)
	switch change := changeWords(o.Cost); {
	case o.Cost.Sign() < 0:
		line += "better: " + change
	case o.Cost.Sign() > 0:
		line += "but " + change
	default:
		line += "just as good"
	}
	if len(o.Drops) > 0 {
		line += "; " + notLegalWords(o.Drops) + " then"
	}
	return line
}

// shortWords are the clearances without how long they last.
var shortWords = [flight.Clearances]string{"one level down", "one level up", "two levels down", "two levels up",
	"slower, then faster", "faster, then slower", "back to entry level and speed"}

// clearanceWords says what an aircraft is told.
func clearanceWords(c flight.Clearance, hold int) string {
	switch c {
	case flight.FLDec2, flight.FLInc2:
		return shortWords[c] + " for " + count(hold-1, "move")
	case flight.SpdDn:
		return fmt.Sprintf("slower for %s, then faster for %d", count(hold, "step"), hold)
	case flight.SpdUp:
		return fmt.Sprintf("faster for %s, then slower for %d", count(hold, "step"), hold)
	}
	return shortWords[c]
}

// rangeWords is "step 5" or "steps 5 to 6".
func rangeWords(noun string, first, last int) string {
	if first == last {
		return fmt.Sprintf("%s %d", noun, first)
	}
	if noun != "aircraft" {
		noun += "s"
	}
	return fmt.Sprintf("%s %d to %d", noun, first, last)
}

// notLegalWords is "the clearance of step 5 is not legal", or likewise of several.
func notLegalWords(steps []int) string {
	if len(steps) == 1 {
		return fmt.Sprintf("the clearance of step %d is not legal", steps[0])
	}
	words := make([]string, len(steps))
	for i, k := range steps {
		words[i] = strconv.Itoa(k)
	}
	return "the clearances of steps " + listWords(words) + " are not legal"
}

// listWords is "a", "a and b", or "a, b and c".
func listWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
