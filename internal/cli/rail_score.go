package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"skyrail/contests"
	"skyrail/rail"
	"skyrail/rail/contest"
)

func newRailScore(a *app) *cobra.Command {
	var f railFlags
	var check railCheck
	var env, file string
	cmd := &cobra.Command{
		Use:   "score DIR",
		Short: "Score a submission: levels, composition and sum by the rules of the competition",
		Long: `Verify the trajectories of a submission and add up its score by the rules of the competition: the sum of the
normalised rewards, level by level, until the gate stops it. DIR has a folder for each level and in it one for each
scenario, such as level_0/level_0_scenario_1. The first missing one ends the run; if a later one is there the submission failed.

Every figure is recomputed from the actions, and everything recorded is compared with it: the trajectories must be recorded
with the rewards of the competition (--rewards ecml2026). The environments come from --env, the organiser's folder of levels;
without it those that came with the trajectories are taken, and the score is worth as much as they are.

Exit status: 0 scored, 3 the submission failed: a trajectory is missing before another, or its trace is invalid. "Trace invalid"
is a trajectory that is malformed, or differs from what its actions lead to; what stands behind it is where, what was expected
and what was found.`,
		Example: `  skyrail rail score runs --env levels
  skyrail rail score runs --env levels --contest contests/ecml-2026.yaml --json`,
		Args: oneArgument("the folder of the submission"),
		RunE: func(cmd *cobra.Command, args []string) error {
			competition, err := readCompetition(file)
			if err != nil {
				return err
			}
			rewards, err := rail.RewardsByName(competition.Rewards)
			if err != nil {
				return err
			}
			check.rewards = &rewards
			if check.source, err = newEnvSource(env); err != nil {
				return err
			}
			if check.source != nil && check.source.one {
				return usage(fmt.Errorf("--env %s is one file; the folder of the levels is needed", env))
			}
			dir := args[0]
			if info, err := os.Stat(dir); err != nil {
				return usage(plainly(err))
			} else if !info.IsDir() {
				return usage(fmt.Errorf("%s is not a folder", dir))
			}
			p := a.startProgress(cmd.Context(), competition.Scenarios())
			outcomes, err := scenarioOutcomes(cmd.Context(), competition, dir, &check, f.jobs, p.one)
			a.stopRuns(p, err)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(outcomes, func(level []contest.Outcome) bool {
				return slices.ContainsFunc(level, func(o contest.Outcome) bool { return !o.Missing })
			}) {
				first := competition.Levels[0]
				return usage(fmt.Errorf("%s holds no scenario of the competition, such as %s", dir, filepath.Join(first.Name, first.Scenarios()[0])))
			}
			score := competition.Score(outcomes)
			done := scored{
				Competition: competition.Name, Rewards: competition.Rewards, SubmissionScore: score,
				OwnEnvironments: check.source != nil, Others: competition.OtherTrains(score), Foreign: foreignFolders(dir, competition),
				Repeat: repeat(cmd), competition: competition,
			}
			if f.json {
				err = printJSON(a.out, done)
			} else {
				done.print(a.out)
			}
			if err == nil && done.Failed {
				err = refused(errors.New(done.Termination.String()))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&check.lenient, "lenient", false, "an action that is not recorded is no difference")
	cmd.Flags().StringVar(&env, "env", "", "the organiser's folder of levels (default: the environments of the trajectories)")
	cmd.Flags().StringVar(&file, "contest", "", "the competition's file (default: contests/ecml-2026.yaml, which the program carries)")
	f.parallel(cmd)
	f.machine(cmd)
	return cmd
}

// maxContest bounds a competition's file.
const maxContest = 1 << 20

// readCompetition reads a competition's file, or the one that the program carries.
func readCompetition(name string) (*contest.Competition, error) {
	data := contests.ECML2026
	if name != "" {
		f, err := openRegular(name)
		if err != nil {
			return nil, usage(fmt.Errorf("--contest: %w", err))
		}
		defer f.Close()
		if data, err = io.ReadAll(io.LimitReader(f, maxContest+1)); err != nil {
			return nil, usage(fmt.Errorf("--contest: %w", err))
		}
		if len(data) > maxContest {
			return nil, usage(fmt.Errorf("--contest %s: more than %d MiB", name, maxContest>>20))
		}
	}
	c, err := contest.ReadCompetition(data)
	if err != nil {
		return nil, usage(fmt.Errorf("--contest %s: %w", name, err))
	}
	return c, nil
}

// scenarioOutcomes verifies all scenarios of a submission, jobs at a time.
func scenarioOutcomes(
	ctx context.Context, c *contest.Competition, dir string, check *railCheck, jobs int, done func(),
) ([][]contest.Outcome, error) {
	outcomes := make([][]contest.Outcome, len(c.Levels))
	type place struct{ level, scenario int }
	var all []place
	for l, level := range c.Levels {
		outcomes[l] = make([]contest.Outcome, len(level.Trains))
		for k := range level.Trains {
			all = append(all, place{l, k})
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, usage(err)
	}
	defer root.Close()
	return outcomes, each(ctx, len(all), jobs, func(ctx context.Context, i int) (err error) {
		level := c.Levels[all[i].level]
		o := &outcomes[all[i].level][all[i].scenario]
		if *o, err = outcomeOf(ctx, root, filepath.Join(level.Name, level.Scenarios()[all[i].scenario]), c.Rewards, check); !o.Missing {
			done()
		}
		return err
	})
}

// outcomeOf verifies the trajectory of one scenario, in the grader's environment of the same name and with the rewards of
// the competition. Whatever is wrong with the trajectory is a failure of the submission; an error is one of ours.
func outcomeOf(ctx context.Context, root *os.Root, scenario, rewards string, check *railCheck) (contest.Outcome, error) {
	// A level or a scenario may be a link, but not to what is outside of the submission.
	info, err := root.Stat(scenario)
	if errors.Is(err, os.ErrNotExist) {
		return contest.Outcome{Missing: true}, nil
	}
	switch {
	case err == nil && !info.IsDir():
		err = errors.New("it is a file; the directory of a trajectory is needed")
	case err != nil && errors.Is(err, errEscapes(root)):
		err = errors.New("a link out of the submission")
	}
	if err != nil {
		return contest.Outcome{Failure: fmt.Sprintf("trace invalid: %s: %v", filepath.ToSlash(scenario), baseError(err))}, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(root.Name(), scenario))
	if err != nil {
		return contest.Outcome{}, fmt.Errorf("%s: %w", scenario, err)
	}
	// The paths are the grader's own.
	place := trajectory{dir: dir, called: filepath.ToSlash(scenario)}
	invalid := func(what string) contest.Outcome {
		return contest.Outcome{Failure: "trace invalid: " + place.relative(what)}
	}
	found, err := findTrajectories([]string{dir}, "")
	if err != nil {
		return invalid(err.Error()), nil
	}
	if len(found) != 1 || found[0].dir != dir {
		return invalid(fmt.Sprintf("%d episodes at and below %s, want one in it", len(found), place.called)), nil
	}
	t := found[0]
	t.as, t.called = filepath.Base(scenario), place.called
	r, err := check.one(ctx, t)
	switch {
	case err != nil:
		return contest.Outcome{}, err
	case r.missing != nil && check.source != nil:
		return contest.Outcome{}, r.missing
	case !r.Agrees && slices.Contains([]string{"reward", "form of reward"}, r.First.What):
		return invalid(fmt.Sprintf("%s; the trajectories of the competition are recorded with its rewards, --rewards %s", r.First, rewards)), nil
	case !r.Agrees:
		return invalid(r.First.String()), nil
	}
	return contest.Outcome{Figures: r.Figures}, nil
}

// errEscapes is the error that a root has for every name out of it, which package os does not export.
func errEscapes(root *os.Root) error {
	_, err := root.Stat("..")
	return baseError(err)
}

// foreignFolders are the folders of a submission, of levels and of scenarios, that the competition does not have.
func foreignFolders(dir string, c *contest.Competition) []string {
	foreign := []string{}
	look := func(below string, known []string) {
		entries, _ := os.ReadDir(filepath.Join(dir, below)) // what cannot be read was a difference already, or is foreign
		for _, e := range entries {
			if e.IsDir() && !slices.Contains(known, e.Name()) {
				foreign = append(foreign, filepath.ToSlash(filepath.Join(below, e.Name())))
			}
		}
	}
	var levels []string
	for _, l := range c.Levels {
		levels = append(levels, l.Name)
	}
	look("", levels)
	for _, l := range c.Levels {
		if info, err := os.Lstat(filepath.Join(dir, l.Name)); err == nil && info.IsDir() { // a link may lead anywhere
			look(l.Name, l.Scenarios())
		}
	}
	return foreign
}

// baseError is an error without the operation and the path.
func baseError(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// scored is the score of a submission.
type scored struct {
	Competition string `json:"competition"`
	Rewards     string `json:"rewards"`
	contest.SubmissionScore
	OwnEnvironments bool                  `json:"environments_given"`
	Others          []contest.OtherTrains `json:"other_trains"`  // scenarios that are not those of the competition's table
	Foreign         []string              `json:"other_folders"` // folders of no level and no scenario
	Repeat          string                `json:"repeat"`

	competition *contest.Competition
}

func (s scored) print(w io.Writer) {
	t := newTable(append([]string{"level", "scenarios", "normalised reward", "success rate", "gate"}, shareHeads()...)...)
	for l, level := range s.Levels {
		gate := "-"
		switch {
		case level.Gate != nil && *level.Gate == contest.Stopped:
			gate = "STOPPED"
		case level.Gate != nil:
			gate = string(*level.Gate)
		}
		rate := percent(*level.SuccessRate) // a level that counts has one
		row := table.Row{l, fmt.Sprintf("%d of %d", level.Completed, level.Scenarios), fmt.Sprintf("%.4f", level.NormalizedReward), rate, gate}
		t.AppendRow(append(row, shareCells(level.Composition)...))
	}
	if len(s.Levels) == 0 {
		t.AppendRow(append(table.Row{s.Termination.Level, "-", "-", "-", "-"}, shareCells(nil)...))
	}
	printTable(w, t)
	fmt.Fprintf(w, "\n%s: %.4f of %d", s.Competition, s.NormalizedReward, s.competition.Scenarios())
	if s.SuccessRate != nil {
		fmt.Fprintf(w, ", success rate %s", percent(*s.SuccessRate))
	}
	fmt.Fprintln(w, ".")
	switch {
	case s.Failed:
		fmt.Fprintf(w, "FAILED, not to be ranked: %s.\n", s.Termination)
	case s.Termination != nil:
		fmt.Fprintf(w, "Ended: %s.\n", s.Termination)
	}
	if note := otherTrainsNote(s.Others); note != "" {
		fmt.Fprintln(w, note)
	}
	if n := len(s.Foreign); n > 0 {
		const most = 3
		names := shown(strings.Join(s.Foreign[:min(n, most)], ", "))
		if n > most {
			names += " and " + count(n-most, "more folder")
		}
		fmt.Fprintf(w, "Note: not part of the competition: %s.\n", names)
	}
	fmt.Fprintf(w, "The last columns are shares of the level's penalties. The gate is a mean success rate of %s.\n", percent(s.competition.Gate))
	if !s.OwnEnvironments {
		fmt.Fprintln(w, "The environments came with the trajectories: for a grade give the organiser's levels with --env.")
	}
	fmt.Fprintf(w, "To repeat: %s\n", s.Repeat)
}

// otherTrainsNote says which scenarios are not those of the competition; "" if all are.
func otherTrainsNote(others []contest.OtherTrains) string {
	if len(others) == 0 {
		return ""
	}
	of, such := "scenarios have other numbers of trains", "such as "
	if len(others) == 1 {
		of, such = "scenario has another number of trains", ""
	}
	first := others[0]
	return fmt.Sprintf("Note: %d %s than the competition, %s%s: %d instead of %d.",
		len(others), of, such, first.Scenario, first.Trains, first.Competition)
}
