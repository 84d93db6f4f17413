package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skyrail/flight/contest"
)

func newSubmit(a *app) *cobra.Command {
	f := flightFlags{entries: true}
	var out string
	cmd := &cobra.Command{
		Use:   "submit",
		Short: "Fly an agent and write its actions as submission.csv",
		Long: `Fly an agent over the published seeds and write the actions it gave, the file that a hosted board takes.
'skyrail flight replay' scores such a file.`,
		Example: "  skyrail flight submit --agent rule-based --out submission.csv",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if out == "-" && f.json {
				return usage(errors.New("--json and --out -: standard output cannot hold both"))
			}
			p, err := f.plan(cmd)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.close()) }()
			if len(p.entrants) > 1 {
				return usage(errors.New("this command takes one --agent"))
			}
			results, err := a.fly(cmd.Context(), &f, p, []seedList{p.list})
			if err != nil {
				return err
			}
			r := results[0]
			trace := contest.NewTrace(r.entries[0].episodes)
			csv := file{out, func(w io.Writer) error { return contest.WriteTrace(w, trace, p.cfg.MaxSteps) }, 0}
			if err := a.writeFiles(cmd, csv); err != nil {
				return err
			}
			bs := boards{
				ScoreVersion: contest.ScoreVersion, OffLeaderboard: p.offLeaderboard,
				NotReproducible: f.notReproducible(), Repeat: repeat(cmd),
				Boards: []board{newBoard(p.list, r.entries, contest.NewScore(r.nothing), false)},
			}
			if out == "-" {
				return nil // standard output holds the file
			}
			if f.json {
				return printJSON(a.out, struct {
					boards
					File string `json:"file"`
					Rows int    `json:"rows"`
				}{bs, out, len(p.list.seeds) * p.cfg.MaxSteps})
			}
			bs.print(a.out)
			_, err = fmt.Fprintf(a.out, "Wrote %s: %s.\n", out, count(len(p.list.seeds)*p.cfg.MaxSteps, "row"))
			return err
		},
	}
	f.agent(cmd)
	f.list(cmd)
	f.scenario(cmd)
	f.parallel(cmd)
	f.machine(cmd)
	cmd.Flags().StringVar(&out, "out", "submission.csv", "the file to write; - is standard output")
	return cmd
}
