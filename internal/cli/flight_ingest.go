package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skyrail/flight"
	"skyrail/flight/contest"
	"skyrail/internal/ingest"
)

func newIngest(a *app) *cobra.Command {
	var f flightFlags
	var zip, out string
	cmd := &cobra.Command{
		Use:   "ingest",
		Short: "Take a submission's zip apart and score it",
		Long: `Take a submission's zip apart, run its code in a cage and fly it in lockstep with the scored environment. The result
is JSON, as the organiser's run prints it: a team's own dry run is the very same check.

With --contract its environment must pass the contract suite first. --out writes its actions as submission.csv,
the way to the public board for a policy that observes an environment of its own. With --private it is flown over the
organiser's secret seeds instead of the published ones.`,
		Example: `  skyrail flight ingest --zip team.zip --contract --out submission.csv
  skyrail flight ingest --zip team.zip --contract --private private.txt`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case zip == "":
				return usage(errors.New("no zip; name one with --zip"))
			case out != "" && f.private != "":
				return usage(errors.New("--out writes what goes to the public board, whose seeds are published; leave --private or --out out"))
			case out == "-":
				return usage(errors.New("--out -: standard output holds the result"))
			}
			if err := checkSettings(cmd, &f.intake); err != nil {
				return err
			}
			list, err := f.judgedList()
			if err != nil {
				return err
			}
			bar := a.startProgress(cmd.Context(), len(list.seeds))
			result, err := ingest.New(f.intake).Score(cmd.Context(), zip, flight.DefaultConfig(), list.seeds, bar.one)
			a.stopProgress(bar, "flew", err)
			if err != nil {
				return intakeFault(zip, err)
			}
			told := struct {
				ingest.Result
				Submission *written `json:"submission,omitempty"`
			}{Result: result}
			if out != "" && result.OK {
				if list.ranking == "partial" {
					told.Warnings = append(told.Warnings, fmt.Sprintf("%s has only %s", out, list.title))
				}
				trace := contest.NewTrace(result.Episodes)
				steps := flight.DefaultConfig().MaxSteps
				csv := file{out, func(w io.Writer) error { return contest.WriteTrace(w, trace, steps) }, 0}
				if err := a.writeFiles(cmd, csv); err != nil {
					return err
				}
				told.Submission = &written{out, len(list.seeds) * steps, len(list.seeds)}
			}
			if err := printJSON(a.out, told); err != nil {
				return err
			}
			if !result.OK {
				return refused(errors.New("not scored: " + result.Error))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&zip, "zip", "", "the submission, or a bare checkpoint")
	cmd.Flags().BoolVar(&f.intake.Contract, "contract", false, "run the contract suite first; a submission that fails it is not scored")
	cmd.Flags().StringVar(&out, "out", "", "write the actions to this file, as submission.csv")
	cmd.Flags().StringVar(&f.intake.Workdir, "workdir", "", "unpack the zip below this folder and leave it there (default a temporary folder)")
	f.list(cmd)
	f.instead(cmd)
	pythonFlags(cmd, &f.intake)
	zipFlags(cmd, &f.intake)
	return cmd
}

// written is the action trace of a submission.
type written struct {
	Path  string `json:"path"`
	Rows  int    `json:"rows"`
	Seeds int    `json:"seeds"`
}

// instead adds the secret list as one that is flown in place of the published one.
func (f *flightFlags) instead(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.private, "private", "", "fly the organiser's secret seeds of this file instead of the published ones")
}

// judgedList returns the list on which submissions are judged: the organiser's, if it is named, else that of mainList.
func (f *flightFlags) judgedList() (seedList, error) {
	if f.private == "" {
		return f.mainList()
	}
	if f.seeds != "" {
		return seedList{}, usage(errors.New("--seeds and --private are two lists; name one"))
	}
	list, err := f.privateList()
	if err == nil && f.limit > 0 {
		list = list.first(f.limit)
	}
	return list, err
}
