package cli

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"skyrail/flight"
	"skyrail/flight/contest"
)

func newKaggleExport(a *app) *cobra.Command {
	var f flightFlags
	var out string
	holdout := contest.DefaultHoldout
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write solution.csv and sample_submission.csv for the hosted board",
		Long: `Write the two files that a hosted board is set up with: solution.csv, the state every published episode
begins with and which half it counts for, and sample_submission.csv, a submission that does nothing.`,
		Example: "  skyrail flight kaggle export --out board --holdout 0.4",
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := f.mainList()
			if err != nil {
				return err
			}
			if err := checkHoldout(cmd, holdout, list); err != nil {
				return err
			}
			cfg := flight.DefaultConfig()
			live, hidden := contest.Split(list.seeds, holdout)
			solution, err := contest.NewSolution(cfg, live, hidden)
			if err != nil {
				return err
			}
			var idle []contest.Episode
			for _, seed := range list.seeds {
				idle = append(idle, contest.Episode{Seed: seed})
			}
			if err := makeFolder(out); err != nil {
				return err
			}
			files := []file{
				{filepath.Join(out, "solution.csv"), func(w io.Writer) error { return contest.WriteSolution(w, solution) }, 0},
				{filepath.Join(out, "sample_submission.csv"), func(w io.Writer) error {
					return contest.WriteTrace(w, contest.NewTrace(idle), cfg.MaxSteps)
				}, 0},
			}
			if err := a.writeFiles(cmd, files...); err != nil {
				return err
			}
			written := []string{files[0].name, files[1].name}
			if f.json {
				return printJSON(a.out, struct {
					Files  []string `json:"files"`
					Live   int      `json:"live_seeds"`
					Hidden int      `json:"hidden_seeds"`
					Repeat string   `json:"repeat"`
				}{written, len(live), len(hidden), repeat(cmd)})
			}
			for _, name := range written {
				fmt.Fprintf(a.out, "Wrote %s\n", name)
			}
			_, err = fmt.Fprintf(a.out, "%s: %s Public, %d Private\nTo repeat: %s\n", list.title, count(len(live), "seed"), len(hidden), repeat(cmd))
			return err
		},
	}
	f.list(cmd)
	f.machine(cmd)
	cmd.Flags().StringVar(&out, "out", ".", "the folder to write to")
	cmd.Flags().Float64Var(&holdout, "holdout", holdout, "the share of seeds that is hidden until the close")
	return cmd
}

func newKaggleScore(a *app) *cobra.Command {
	var f flightFlags
	var solutionFile, submission string
	cmd := &cobra.Command{
		Use:   "score",
		Short: "Score a submission against a solution, as the hosted board does",
		Long: `Fly the actions of a submission from the states in a solution file and print the packed scores of the public
and the private half. Every row of the solution must have its counterpart in the submission.`,
		Example: "  skyrail flight kaggle score --solution board/solution.csv --submission submission.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg := flight.DefaultConfig()
			var solution *contest.Solution
			if err := a.readInput("solution", solutionFile, func(r io.Reader) (err error) {
				if solution, err = contest.ReadSolution(r, cfg); err != nil {
					return usage(err)
				}
				if len(solution.Seeds("")) == 0 {
					return usage(fmt.Errorf("every seed is %s, so there is nothing to score", contest.Ignored))
				}
				return nil
			}); err != nil {
				return err
			}
			var trace contest.Trace
			if err := a.readInput("submission", submission, func(r io.Reader) (err error) {
				if trace, err = contest.ReadTrace(r, cfg); err == nil {
					err = solution.CheckCells(trace)
				}
				return refusedUnlessNil(err)
			}); err != nil {
				return err
			}
			return a.printHalves(cmd, solution, trace, f.json)
		},
	}
	f.machine(cmd)
	cmd.Flags().StringVar(&solutionFile, "solution", "solution.csv", "the organiser's file; - is standard input")
	cmd.Flags().StringVar(&submission, "submission", "submission.csv", "the file to score; - is standard input")
	return cmd
}

// printHalves scores and prints each half, and both together.
func (a *app) printHalves(cmd *cobra.Command, solution *contest.Solution, trace contest.Trace, asJSON bool) error {
	type half struct {
		Usage string `json:"usage"`
		contest.Score
		Packed contest.Packed `json:"packed"`
	}
	var halves []half
	for _, usage := range []contest.Usage{contest.Public, contest.Private, ""} {
		if len(solution.Seeds(usage)) == 0 {
			continue
		}
		score, _, err := solution.Score(cmd.Context(), trace, usage)
		if err != nil {
			return err
		}
		name := string(usage)
		if usage == "" {
			name = "both"
		}
		halves = append(halves, half{name, score, score.Pack()})
	}
	if asJSON {
		return printJSON(a.out, struct {
			ScoreVersion string `json:"score_version"`
			Halves       []half `json:"halves"`
			Repeat       string `json:"repeat"`
		}{contest.ScoreVersion, halves, repeat(cmd)})
	}
	t := newTable("half", "packed score", "episodes", "failed", "congestion", "exit miss", "clearances", "touched")
	for _, h := range halves {
		t.AppendRow([]any{h.Usage, h.Packed, h.Episodes, h.Failed, h.Congestion, miss(h.ExitMiss), h.Clearances, h.Touched})
	}
	printTable(a.out, t)
	_, err := fmt.Fprintf(a.out, "score version %s · 'skyrail flight decode N' takes a packed score apart\nTo repeat: %s\n", contest.ScoreVersion, repeat(cmd))
	return err
}
