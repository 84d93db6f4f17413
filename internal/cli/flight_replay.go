package cli

import (
	"io"

	"github.com/spf13/cobra"

	"skyrail/flight/contest"
)

func newReplay(a *app) *cobra.Command {
	var f flightFlags
	var submission string
	var strict, perEpisode bool
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Score a submission.csv by flying its actions again",
		Long: `Fly the actions of a submission.csv again and print its score. Steps without a row are idle. A seed of the
list that has no row is an error, and with --strict a seed that is not on the list too.`,
		Example: "  skyrail flight replay --submission submission.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, off, err := f.config()
			if err != nil {
				return err
			}
			list, err := f.mainList()
			if err != nil {
				return err
			}
			var trace contest.Trace
			if err := a.readInput("submission", submission, func(r io.Reader) (err error) {
				if trace, err = contest.ReadTrace(r, cfg); err == nil {
					err = trace.Check(list.seeds, strict)
				}
				return refusedUnlessNil(err)
			}); err != nil {
				return err
			}
			p := a.startProgress(cmd.Context(), 2*len(list.seeds))
			episodes, err := contest.ReplayAll(cmd.Context(), cfg, list.seeds, f.jobs, trace, p.one)
			var nothing []contest.Episode
			if err == nil {
				nothing, err = contest.ReplayAll(cmd.Context(), cfg, list.seeds, f.jobs, contest.Trace{}, p.one)
			}
			a.stopProgress(p, "flew", err)
			if err != nil {
				return err
			}
			bs := boards{
				ScoreVersion: contest.ScoreVersion, OffLeaderboard: off, Repeat: repeat(cmd),
				Boards: []board{newBoard(list, []flown{{submission, "", episodes}}, contest.NewScore(nothing), perEpisode)},
			}
			if f.json {
				return printJSON(a.out, bs)
			}
			bs.print(a.out)
			return nil
		},
	}
	f.list(cmd)
	f.converging(cmd)
	f.parallel(cmd)
	f.machine(cmd)
	cmd.Flags().StringVar(&submission, "submission", "submission.csv", "the file to score; - is standard input")
	cmd.Flags().BoolVar(&strict, "strict", false, "refuse seeds that are not on the list")
	cmd.Flags().BoolVar(&perEpisode, "per-episode", false, "show the figures of every episode too")
	return cmd
}

func refusedUnlessNil(err error) error {
	if err == nil {
		return nil
	}
	return refused(err)
}
