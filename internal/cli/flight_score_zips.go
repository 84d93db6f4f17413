package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"skyrail/flight"
	"skyrail/flight/contest"
	"skyrail/internal/ingest"
	"skyrail/internal/sandbox"
)

// ceremony is what the score-zips command has found.
type ceremony struct {
	boards
	Unscored []ingest.Result `json:"unscored"`
	Results  []ingest.Result `json:"results"` // all, in the order of the zips' names
}

func newScoreZips(a *app) *cobra.Command {
	var f flightFlags
	var dir, resultsName string
	var noContract bool
	cmd := &cobra.Command{
		Use:   "score-zips",
		Short: "Score every submission in a folder and print the board",
		Long: `Score every .zip of a folder, each in a cage of its own, and print the board, then those without a score and
why. With --private it is the board that decides.

With --results what is found goes to that file at once. A run that was interrupted goes on where it stopped, and a
zip that has not changed since is not flown again, unless what it failed by depends on the machine.`,
		Example: `  skyrail flight score-zips --dir submissions
  skyrail flight score-zips --dir submissions --private private.txt --results private.jsonl -j 4`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			f.intake.Contract = !noContract
			if err := checkSettings(cmd, &f.intake); err != nil {
				return err
			}
			list, err := f.judgedList()
			if err != nil {
				return err
			}
			zips, err := zipsOf(dir)
			if err != nil {
				return err
			}
			results, err := openResults(resultsName, f.private != "")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, results.close()) }()
			bar := a.startProgress(cmd.Context(), len(zips)*len(list.seeds))
			cfg := flight.DefaultConfig()
			records, err := ingest.New(f.intake).ScoreAll(cmd.Context(), zips, cfg, list.seeds, f.jobs, results.known, results.save, bar.one)
			a.stopProgress(bar, "flew", err)
			if errors.Is(err, context.Canceled) && results.file != nil {
				if replaced := results.inPlace(); replaced != nil {
					return replaced
				}
				return &interrupted{fmt.Sprintf("interrupted; %s in %s, and the same command goes on", count(results.kept, "result"), resultsName), err}
			}
			if err != nil {
				return intakeFault(dir, err)
			}
			nothing, err := contest.Run(cmd.Context(), cfg, list.seeds, f.jobs, idle, nil)
			if err != nil {
				return err
			}
			found := newCeremony(list, records, contest.NewScore(nothing), f.private != "")
			found.Repeat = repeat(cmd)
			if f.json {
				return printJSON(a.out, found)
			}
			found.print(a.out)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "submissions", "the folder with the zips")
	cmd.Flags().BoolVar(&noContract, "no-contract", false, "score without the contract suite")
	cmd.Flags().StringVar(&resultsName, "results", "", "put every result in this file at once, and go on from it")
	f.list(cmd)
	f.instead(cmd)
	positive(cmd, &f.jobs, "jobs", "j", runtime.NumCPU(), "submissions scored at once; the results are the same for every number")
	pythonFlags(cmd, &f.intake)
	zipFlags(cmd, &f.intake)
	f.machine(cmd)
	return cmd
}

// zipsOf returns what a folder has by the name of a zip, sorted. What macOS puts beside files is none.
func zipsOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, usage(fmt.Errorf("--dir: %w", err))
	}
	var zips []string
	for _, e := range entries {
		if strings.EqualFold(filepath.Ext(e.Name()), ".zip") && !strings.HasPrefix(e.Name(), "._") {
			zips = append(zips, filepath.Join(dir, e.Name()))
		}
	}
	if len(zips) == 0 {
		return nil, usage(fmt.Errorf("--dir %s: no .zip in it", dir))
	}
	return zips, nil
}

// newCeremony ranks those with a score and lists the others. Of a secret list it tells nothing that a team's code has said.
func newCeremony(list seedList, records []ingest.Record, nothing contest.Score, secret bool) ceremony {
	c := ceremony{boards: boards{ScoreVersion: contest.ScoreVersion}, Unscored: []ingest.Result{}}
	var rows []boardRow
	var scores []contest.Score
	for _, r := range records {
		result := r.Result
		if secret {
			result = result.Discreet()
		}
		c.Results = append(c.Results, result)
		if !result.OK {
			c.Unscored = append(c.Unscored, result)
			continue
		}
		rows, scores = append(rows, boardRow{Agent: result.Team, Zip: result.Zip}), append(scores, r.Total)
	}
	c.Boards = []board{rankBoard(list, rows, scores, nothing)}
	return c
}

// The widths at which the cells of the unscored are broken.
const (
	whyWidth  = 60
	hintWidth = 40
)

func (c ceremony) print(w io.Writer) {
	for _, r := range c.Results {
		file := shown(filepath.Base(r.Zip))
		for _, warning := range r.Warnings {
			fmt.Fprintf(w, "! %s: %s\n", file, warning)
		}
		if r.Isolation == string(sandbox.Process) {
			fmt.Fprintf(w, "! %s: its code ran without a cage\n", file)
		}
		if n := len(r.Failures); n > 0 {
			fmt.Fprintf(w, "! %s: its code failed in %s (%s), which were flown to their end without clearances\n", file, count(n, "episode"), r.Failures[0].Code)
		}
	}
	c.boards.print(w)
	if len(c.Unscored) == 0 {
		return
	}
	fmt.Fprintln(w, "\nUNSCORED, and what the team can do:")
	t := newTable("submission", "zip", "code", "why", "hint")
	for _, r := range c.Unscored {
		t.AppendRow(table.Row{r.Team, shown(filepath.Base(r.Zip)), r.Code, text.WrapSoft(r.Error, whyWidth), text.WrapSoft(r.Hint, hintWidth)})
	}
	printTable(w, t)
}
