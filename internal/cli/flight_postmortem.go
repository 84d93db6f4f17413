package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"skyrail/flight/contest"
)

// autopsy is what the post-mortem command has found.
type autopsy struct {
	ScoreVersion    string           `json:"score_version"`
	OffLeaderboard  []string         `json:"off_leaderboard,omitempty"`
	Title           string           `json:"title"`
	Reports         []contest.Report `json:"reports"`
	Trophies        []contest.Trophy `json:"trophies"`
	NotReproducible string           `json:"not_reproducible,omitempty"`
	Repeat          string           `json:"repeat"`
}

func newPostmortem(a *app) *cobra.Command {
	var f flightFlags
	cmd := &cobra.Command{
		Use:   "postmortem",
		Short: "Shake agents: how robust is the score, and who wins which trophy",
		Long: `Fly each agent in every way there is: as it is; doing nothing instead; sampled from its action distribution;
always by its second choice; with 5, 10 and 25 % of its actions replaced by random legal ones; and the best
of 8 sampled episodes a seed. Agents without an action distribution skip the second choices and the
best of 8; sampled, they fly as they are.`,
		Example: "  skyrail flight postmortem --agent noop --agent random --agent rule-based",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			p, err := f.plan(cmd)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.close()) }()
			if f.private != "" {
				if p.list, err = f.judgedList(); err != nil {
					return err
				}
			}
			total := 0
			for _, e := range p.entrants {
				player, err := e.unsampled()()
				if err != nil {
					return err
				}
				total += contest.PostMortemEpisodes(player, p.cfg, len(p.list.seeds))
			}
			found := autopsy{
				ScoreVersion: contest.ScoreVersion, OffLeaderboard: p.offLeaderboard, Title: p.list.title,
				NotReproducible: f.notReproducible(), Repeat: repeat(cmd),
			}
			bar := a.startProgress(cmd.Context(), total)
			for _, e := range p.entrants {
				var r contest.Report
				if r, err = contest.PostMortem(cmd.Context(), p.cfg, p.list.seeds, f.jobs, e.label(), e.unsampled(), bar.one); err != nil {
					err = f.agentFault(e.label(), err)
					break
				}
				found.Reports = append(found.Reports, r)
			}
			a.stopProgress(bar, "flew", err)
			if err != nil {
				return err
			}
			found.Trophies = contest.Trophies(slices.DeleteFunc(slices.Clone(found.Reports), func(r contest.Report) bool {
				b, _ := builtInOf(r.Agent)
				return b.offLeaderboard != "" // no entry
			}))
			if f.json {
				return printJSON(a.out, found)
			}
			found.print(a.out)
			return nil
		},
	}
	f.agent(cmd)
	f.list(cmd)
	f.instead(cmd)
	f.converging(cmd)
	f.parallel(cmd)
	f.machine(cmd)
	return cmd
}

func (f autopsy) print(w io.Writer) {
	for _, r := range f.Reports {
		printStamp(w, f.OffLeaderboard)
		fmt.Fprintln(w, r.Agent)
		t := newTable("pass", "failed", "congestion", "exit miss", "clearances", "touched", "")
		for _, p := range r.Passes {
			s, note := p.Score, ""
			if p.Name == contest.Deterministic {
				note = "beats doing nothing"
				if !r.BeatsDoNothing {
					note = "! does not beat doing nothing"
				}
			}
			t.AppendRow(table.Row{p.Name, s.Failed, s.Congestion, miss(s.ExitMiss), s.Clearances, s.Touched, note})
		}
		printTable(w, t)
		if r.Distribution {
			fmt.Fprintf(w, "stochastic gap: %s (sampled minus as it is)\n", gapText(r.StochasticGap))
			fmt.Fprintf(w, "margin reliance: %s (second choice minus as it is)\n", gapText(*r.MarginReliance))
		} else {
			fmt.Fprintf(w, "stochastic gap: %s\nskipped: %s, since %s\n", gapText(r.StochasticGap), strings.Join(r.Skipped, " and "), r.SkippedWhy)
		}
		fmt.Fprintln(w)
	}
	printStamp(w, f.OffLeaderboard)
	t := newTable("trophy", "for", "winners")
	for _, tr := range f.Trophies {
		winners := strings.Join(tr.Winners, ", ")
		switch {
		case tr.Jury:
			winners = "a jury decides"
		case winners == "":
			winners = "nobody"
		}
		t.AppendRow(table.Row{tr.Name, tr.For, winners})
	}
	printTable(w, t)
	fmt.Fprintf(w, "\n%s · score version %s\n", f.Title, f.ScoreVersion)
	printRepeat(w, f.NotReproducible, f.Repeat)
}

func gapText(g contest.Gap) string {
	return fmt.Sprintf("%+d failed, %+d congestion", g.Failed, g.Congestion)
}
