package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"skyrail/flight"
	"skyrail/flight/contest"
	"skyrail/internal/ingest"
)

// ceremony is what the score-zips command has found.
type ceremony struct {
	boards
	Unscored []ingest.Result `json:"unscored"`
	Results  []ingest.Result `json:"results"` // all, in the order of the zips' names
}

func newScoreZips(a *app) *cobra.Command {
	var f flightFlags
	var dir, results string
	var noContract bool
	cmd := &cobra.Command{
		Use:   "score-zips",
		Short: "Score every submission in a folder and print the board",
		Long: `Score every .zip of a folder, each in a cage of its own, and print the board, then those without a score and
why. With --private it is the board that decides.

What is found goes to the results file at once. A run that was interrupted goes on where it stopped, and a zip that
has not changed since is not flown again.`,
		Example: `  skyrail flight score-zips --dir submissions
  skyrail flight score-zips --dir submissions --private private.txt --results private.jsonl -j 4`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.intake.Contract = !noContract
			list, err := f.judgedList()
			if err != nil {
				return err
			}
			zips, err := zipsOf(dir)
			if err != nil {
				return err
			}
			known, err := knownResults(results)
			if err != nil {
				return err
			}
			save, closeResults, err := appendResults(results, f.private != "")
			if err != nil {
				return err
			}
			bar := a.startProgress(cmd.Context(), len(zips)*len(list.seeds))
			cfg := flight.DefaultConfig()
			records, err := ingest.New(f.intake).ScoreAll(cmd.Context(), zips, cfg, list.seeds, f.jobs, known, func(r ingest.Record) error {
				r.Result = f.discreet(r.Result)
				return save(r)
			}, bar.one)
			a.stopProgress(bar, err)
			if err = errors.Join(err, closeResults()); err != nil {
				return intakeFault(dir, err)
			}
			for i := range records {
				records[i].Result = f.discreet(records[i].Result)
			}
			if results != "" { // in order, and without what is out of date
				err := a.writeFiles(cmd, file{results, func(w io.Writer) error {
					for _, r := range records {
						if err := ingest.WriteRecord(w, r); err != nil {
							return err
						}
					}
					return nil
				}, resultsMode(f.private != "")})
				if err != nil {
					return err
				}
			}
			nothing, err := contest.Run(cmd.Context(), cfg, list.seeds, f.jobs, idle, nil)
			if err != nil {
				return err
			}
			found := newCeremony(list, records, contest.NewScore(nothing))
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
	cmd.Flags().StringVar(&results, "results", "", "keep the results in this file, and go on from it")
	f.list(cmd)
	f.instead(cmd)
	f.parallel(cmd)
	pythonFlags(cmd, &f.intake)
	zipFlags(cmd, &f.intake)
	f.machine(cmd)
	return cmd
}

// zipsOf returns the zips of a folder, by name.
func zipsOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, usage(fmt.Errorf("--dir: %w", err))
	}
	var zips []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".zip" {
			zips = append(zips, filepath.Join(dir, e.Name()))
		}
	}
	if len(zips) == 0 {
		return nil, usage(fmt.Errorf("--dir %s: no .zip in it", dir))
	}
	return zips, nil
}

// knownResults reads a results file; one that is not there yet has none.
func knownResults(name string) (map[string]ingest.Record, error) {
	if name == "" {
		return nil, nil
	}
	in, err := openInput(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usage(fmt.Errorf("--results: %w", err))
	}
	defer in.Close()
	known, err := ingest.ReadRecords(in)
	if err != nil {
		return nil, usage(fmt.Errorf("--results %s: %w", name, err))
	}
	return known, nil
}

// resultsMode is the mode of a new results file: that of a secret list is the organiser's alone.
func resultsMode(secret bool) os.FileMode {
	if secret {
		return 0o600
	}
	return 0o644
}

// appendResults returns what puts a record at the end of a results file. A line that a run was cut off in is taken
// away first.
func appendResults(name string, secret bool) (save func(ingest.Record) error, closeFile func() error, err error) {
	if name == "" {
		return func(ingest.Record) error { return nil }, func() error { return nil }, nil
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, resultsMode(secret))
	if err != nil {
		return nil, nil, usage(fmt.Errorf("--results: %w", err))
	}
	whole, err := io.ReadAll(f)
	if err == nil {
		end := int64(bytes.LastIndexByte(whole, '\n') + 1)
		err = f.Truncate(end)
		if err == nil {
			_, err = f.Seek(end, io.SeekStart)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("results %s: %w", name, err), f.Close())
	}
	return func(r ingest.Record) error { return ingest.WriteRecord(f, r) }, f.Close, nil
}

// newCeremony ranks those with a score and lists the others.
func newCeremony(list seedList, records []ingest.Record, nothing contest.Score) ceremony {
	c := ceremony{boards: boards{ScoreVersion: contest.ScoreVersion}, Unscored: []ingest.Result{}}
	var names []string
	var scores []contest.Score
	for _, r := range records {
		c.Results = append(c.Results, r.Result)
		if !r.Result.OK {
			c.Unscored = append(c.Unscored, r.Result)
			continue
		}
		name := r.Result.Team
		if slices.ContainsFunc(records, func(o ingest.Record) bool { return o.Result.Team == name && o.Result.Zip != r.Result.Zip }) {
			name = fmt.Sprintf("%s (%s)", name, filepath.Base(r.Result.Zip))
		}
		names, scores = append(names, name), append(scores, r.Total)
	}
	c.Boards = []board{rankBoard(list, names, scores, nothing)}
	return c
}

func (c ceremony) print(w io.Writer) {
	for _, r := range c.Results {
		for _, warning := range r.Warnings {
			fmt.Fprintf(w, "! %s: %s\n", nameOf(r), warning)
		}
		if r.Isolation == "process" {
			fmt.Fprintf(w, "! %s: its code ran without a cage (--isolation process)\n", nameOf(r))
		}
	}
	c.boards.print(w)
	if len(c.Unscored) == 0 {
		return
	}
	fmt.Fprintln(w, "\nUNSCORED, and what the team can do:")
	t := newTable("submission", "code", "why", "hint")
	for _, r := range c.Unscored {
		t.AppendRow(table.Row{nameOf(r), r.Code, r.Error, r.Hint})
	}
	printTable(w, t)
}

// nameOf is what a result is called: by its team if its manifest could be read.
func nameOf(r ingest.Result) string {
	if r.Team != "" {
		return r.Team
	}
	return filepath.Base(r.Zip)
}
