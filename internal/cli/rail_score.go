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

Every figure is recomputed from the actions. The environments come from --env, the organiser's folder of levels; without it
those that came with the trajectories are taken, and the score is worth as much as they are.

Exit status: 0 scored, 3 the submission failed: a trajectory is malformed, differs from what its actions lead to, or is
missing before another.`,
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
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return usage(errors.Join(err, fmt.Errorf("%s is not a folder", dir)))
			}
			p := a.startProgress(cmd.Context(), competition.Scenarios())
			outcomes, err := scenarioOutcomes(cmd.Context(), competition, dir, &check, f.jobs, p.one)
			a.stopProgress(p, "ran", err)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(outcomes, func(level []contest.Outcome) bool {
				return slices.ContainsFunc(level, func(o contest.Outcome) bool { return !o.Missing })
			}) {
				first := competition.Levels[0]
				return usage(fmt.Errorf("%s holds no scenario of the competition, such as %s", dir, filepath.Join(first.Name, first.Scenarios()[0])))
			}
			done := scored{
				Competition: competition.Name, SubmissionScore: competition.Score(outcomes),
				OwnEnvironments: check.source != nil, Others: competition.OtherTrains(outcomes), Repeat: repeat(cmd), competition: competition,
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
		if *o, err = outcomeOf(ctx, root, filepath.Join(level.Name, level.Scenarios()[all[i].scenario]), check); !o.Missing {
			done()
		}
		return err
	})
}

// outcomeOf verifies the trajectory of one scenario, in the grader's environment of the same name. Whatever is wrong with
// the trajectory is a failure of the submission; an error is one of ours.
func outcomeOf(ctx context.Context, root *os.Root, scenario string, check *railCheck) (contest.Outcome, error) {
	// A level or a scenario may be a link, but not to what is outside of the submission.
	info, err := root.Stat(scenario)
	if errors.Is(err, os.ErrNotExist) {
		return contest.Outcome{Missing: true}, nil
	}
	if err == nil && !info.IsDir() {
		err = errors.New("it is a file; the directory of a trajectory is needed")
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
	case !r.Agrees:
		return invalid(r.First.String()), nil
	}
	return contest.Outcome{Figures: r.Figures}, nil
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
	contest.SubmissionScore
	OwnEnvironments bool     `json:"environments_given"`
	Others          []string `json:"other_trains"` // scenarios that are not those of the competition's table
	Repeat          string   `json:"repeat"`

	competition *contest.Competition
}

func (s scored) print(w io.Writer) {
	t := newTable(append([]string{"level", "scenarios", "normalised reward", "success rate", "gate"}, shareHeads()...)...)
	for l, level := range s.Levels {
		rate, gate := "-", "-"
		if level.Gate != nil {
			rate, gate = percent(*level.SuccessRate), string(*level.Gate)
			if *level.Gate == contest.Stopped {
				gate = "STOPPED"
			}
		}
		row := table.Row{l, fmt.Sprintf("%d of %d", level.Completed, level.Scenarios), fmt.Sprintf("%.4f", level.NormalizedReward), rate, gate}
		t.AppendRow(append(row, shareCells(level.Composition)...))
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
	for _, other := range s.Others {
		fmt.Fprintf(w, "Note: %s.\n", other)
	}
	fmt.Fprintf(w, "The last columns are shares of the level's penalties. The gate is a mean success rate of %s.\n", percent(s.competition.Gate))
	if !s.OwnEnvironments {
		fmt.Fprintln(w, "The environments came with the trajectories: for a grade give the organiser's levels with --env.")
	}
	fmt.Fprintf(w, "To repeat: %s\n", s.Repeat)
}
