package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"skyrail/rail"
	"skyrail/rail/contest"
	"skyrail/rail/railfile"
)

// errDiffers is that a check found a difference, which has been printed.
var errDiffers = errors.New("what was recorded differs from what its actions lead to")

func newRailEvaluate(a *app) *cobra.Command {
	var f railFlags
	var c railCheck
	var env string
	cmd := &cobra.Command{
		Use:   "evaluate DIR [DIR …]",
		Short: "Verify trajectories by running them again",
		Long: `Run the recorded actions again, and compare every position, reward, done flag, info and result with what was
recorded. The figures are those of the run; nothing recorded is in them. A directory may hold several episodes, and folders
below it are searched.

The environment comes from --env, a grader's own copy: a file, or a folder that is searched for the name of the episode or
of its directory. Then the one that came with the trajectory is compared with it. Without --env the trajectory's own is
taken, and whoever recorded it may have changed it.

A missing action counts as MOVE_FORWARD and an unknown one as DO_NOTHING, as in flatland-rl, and is a difference;
with --lenient a missing one is none. Without --rewards the form of the recorded rewards decides: numbers are taken for default
ones.

Whatever is wrong with a trajectory is a difference of that one; the others are verified all the same.

Exit status: 0 everything agrees, 4 something differs.`,
		Example: `  skyrail rail evaluate run --rewards ecml2026
  skyrail rail evaluate submission --env levels --rewards ecml2026 --strict --json`,
		Args: atLeastOne("the directory of a trajectory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if c.rewards, err = f.chosen(); err != nil {
				return err
			}
			if c.source, err = newEnvSource(env); err != nil {
				return err
			}
			c.seed = f.resetSeed(cmd)
			found, err := searchTrajectories(args, f.episode)
			if err != nil {
				return err
			}
			p := a.startProgress(cmd.Context(), len(found))
			results, fault := c.all(cmd.Context(), found, f.jobs, p.one)
			a.stopRuns(p, cmd.Context().Err())
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if err := noneHasEnvironment(results); err != nil {
				return err
			}
			done := evaluated{Results: results, OwnEnvironments: c.source != nil, Repeat: repeat(cmd), rewardsGiven: c.rewards != nil,
				searched: c.source != nil && !c.source.one}
			if f.json {
				err = printJSON(a.out, done)
			} else {
				done.print(a.out)
			}
			if err := cmp.Or(err, fault); err != nil {
				return err
			}
			for _, r := range results {
				if !r.Agrees {
					return &exitError{exitDiffers, errDiffers}
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&env, "env", "", "the grader's environment: a file, or a folder to search (default: that of the trajectory)")
	f.reward(cmd, "", " (default: by the form of the recorded ones)")
	f.episodeID(cmd, "verify this episode only")
	f.reset(cmd)
	cmd.Flags().BoolVar(&c.lenient, "lenient", false, "an action that is not recorded is no difference")
	cmd.Flags().BoolVar(&c.strict, "strict", false, "action_required is compared too; older releases had another rule for it")
	cmd.Flags().BoolVar(&c.skipRewards, "skip-rewards-dones-infos", false, "leave the table of rewards, done flags and infos aside")
	positive(cmd, &c.end, "end-step", "", 0, "the run was ended after this step: verify up to there (default: the whole episode)")
	f.parallel(cmd)
	f.machine(cmd)
	return cmd
}

// atLeastOne demands arguments, called what they are.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s is missing", what)
		}
		return nil
	}
}

// railCheck is how trajectories are verified.
type railCheck struct {
	source      *envSource
	rewards     *rail.Rewards
	seed        *uint64
	lenient     bool
	strict      bool
	skipRewards bool
	end         int
}

// checkResult is the verification of one episode.
type checkResult struct {
	Directory   string `json:"directory"`
	Environment string `json:"environment"`
	Rewards     string `json:"rewards"` // that were computed; "" if nothing ran
	*contest.Report

	missing error // there is no environment to run it in
}

// ran says whether there are figures: whether what was handed in could be run at all.
func (r *checkResult) ran() bool { return r.Report != nil && r.Figures != (contest.Figures{}) }

// all verifies trajectories, jobs at a time, results in their order. Unless it was interrupted there is a report on each, also
// with an error, which is one of ours or of the grader's environments.
func (c *railCheck) all(ctx context.Context, all []trajectory, jobs int, done func()) ([]checkResult, error) {
	results := make([]checkResult, len(all))
	return results, each(ctx, len(all), jobs, func(ctx context.Context, i int) (err error) {
		if results[i], err = c.one(ctx, all[i]); results[i].ran() {
			done()
		}
		return err
	})
}

// one verifies an episode. Whatever is wrong with what was handed in is a difference; an error, beside which there is a report
// too, is an interrupt or about the grader's environment.
func (c *railCheck) one(ctx context.Context, t trajectory) (checkResult, error) {
	result := checkResult{Directory: t.dir}
	if t.fault != nil {
		result.Report = unreadable(t, t.fault)
		return result, nil
	}
	file, from, err := t.environment(c.source)
	result.Environment = from
	if err != nil {
		return c.unfit(t, result, err)
	}
	e, err := openEnvironment(file, c.seed)
	if err != nil {
		return c.unfit(t, result, c.blame(from, err))
	}
	o := contest.Options{
		Episode: t.episode, Others: t.siblings, Rewards: c.rewards, SkipRewards: c.skipRewards, EndStep: c.end,
		Lenient: c.lenient, Strict: c.strict,
	}
	if c.source != nil {
		o.Claimed, o.ClaimedFault = t.claimed()
	}
	rows, err := t.rows(e.Trains() * (e.MaxEpisodeSteps() + 1))
	if err != nil {
		result.Report = unreadable(t, err)
		return result, nil
	}
	report, err := contest.Verify(ctx, e, rows, o)
	if err := ctx.Err(); err != nil {
		return result, err
	}
	if err != nil {
		return c.unfit(t, result, c.blame(from, err))
	}
	result.Report, result.Rewards = report, rewardsName(report.Rewards)
	if report.Differences == nil {
		report.Differences = []contest.Kind{}
	}
	return result, nil
}

// blame says whose environment it is that cannot run.
func (c *railCheck) blame(path string, err error) error {
	if c.source == nil {
		return &ownEnvironmentError{path, err}
	}
	return usage(fmt.Errorf("%s: %w", path, err))
}

// unfit is what comes of a trajectory whose environment is not there, or cannot be read or run. If that is the grader's it is
// an error too.
func (c *railCheck) unfit(t trajectory, result checkResult, err error) (checkResult, error) {
	var own *ownEnvironmentError
	if errors.As(err, &own) {
		result.Report = t.clean(contest.Unfit(t.episode, own.err))
		return result, nil
	}
	result.Report = finding(t, "environment", "one to run the episode in", err)
	var missing *noEnvironmentError
	if errors.As(err, &missing) {
		result.missing = err
		return result, nil
	}
	return result, err
}

// unreadable is the report on a trajectory of which a table or a folder cannot be read.
func unreadable(t trajectory, err error) *contest.Report {
	if table := (*railfile.TableError)(nil); errors.As(err, &table) {
		return t.clean(contest.Unreadable(t.episode, err))
	}
	return finding(t, "directory", "the directory of a trajectory", err)
}

// finding is the report on a trajectory that is wrong as a whole.
func finding(t trajectory, what, expected string, err error) *contest.Report {
	d := contest.Difference{File: filepath.Base(t.dir), What: what, Expected: expected, Found: "none: " + err.Error()}
	return t.clean(&contest.Report{Episode: t.episode, First: &d, Differences: []contest.Kind{{What: what, Count: 1}}})
}

// clean makes the first difference fit to be printed, whatever is in what was handed in.
func (t trajectory) clean(r *contest.Report) *contest.Report {
	d := r.First
	d.File, d.Found = contest.Printable(d.File, mostFound), contest.Printable(t.relative(d.Found), mostFound)
	return r
}

// mostFound is how many runes are shown of what is wrong with a trajectory as a whole; there are paths in it.
const mostFound = 500

// noneHasEnvironment is the error that no trajectory that could be read has an environment to run in: then it is not the
// trajectories that are wrong.
func noneHasEnvironment(results []checkResult) error {
	var first error
	for _, r := range results {
		if r.Environment != "" {
			return nil
		}
		first = cmp.Or(first, r.missing)
	}
	return first
}

// claimed is the environment that came with a trajectory, or why it cannot be read; nothing if none came.
func (t trajectory) claimed() (*rail.Env, string) {
	f, _, err := t.environment(nil)
	var own *ownEnvironmentError
	if errors.As(err, &own) {
		return nil, "one that cannot be read: " + t.relative(own.err.Error())
	}
	if err != nil {
		return nil, "" // there is none
	}
	e, err := f.Open(nil)
	if err != nil {
		return nil, "one that cannot run: " + err.Error()
	}
	return e, ""
}

// evaluated is what a verification found.
type evaluated struct {
	Results         []checkResult `json:"results"`
	OwnEnvironments bool          `json:"environments_given"` // the environments are the grader's
	Repeat          string        `json:"repeat"`

	rewardsGiven bool
	searched     bool // the environments were found by name
}

func (v evaluated) print(w io.Writer) {
	t := newTable(append([]string{"episode", "trains", "steps", "arrived", "normalised reward"}, append(shareHeads(), "check")...)...)
	names := labels(len(v.Results), func(i int) (string, string) { return v.Results[i].Directory, v.Results[i].Episode })
	for i, r := range v.Results {
		t.AppendRow(append(append(figureCells(names[i], r.Figures), shareCells(r.Figures.Composition)...), r.verdict()))
	}
	printTable(w, t)
	fmt.Fprintln(w)
	for i, r := range v.Results {
		if v.searched && r.Environment != "" {
			fmt.Fprintf(w, "%s: run in %s\n", names[i], shown(r.Environment))
		}
	}
	printTotals(w, names, func(i int) *contest.Totals { return v.Results[i].Figures.Totals })
	for i, r := range v.Results {
		r.explain(w, names[i], v.rewardsGiven)
	}
	printEarly(w, names, func(i int) bool { return v.Results[i].ran() && !v.Results[i].Finished })
	if !v.OwnEnvironments {
		fmt.Fprintln(w, "The environments came with the trajectories: for a grade give your own copy with --env.")
	}
	fmt.Fprintf(w, "To repeat: %s\n", v.Repeat)
}

func (r checkResult) verdict() string {
	if r.Agrees {
		return "agrees"
	}
	return "DIFFERS"
}

// explain says what differs in what is called by a name.
func (r checkResult) explain(w io.Writer, name string, rewardsGiven bool) {
	if r.MissingActions > 0 {
		fmt.Fprintf(w, "%s: %s not recorded, taken for MOVE_FORWARD.\n", name, count(r.MissingActions, "action"))
	}
	if r.ActionRequired > 0 {
		fmt.Fprintf(w, "%s: action_required is another in %s; --strict makes that a difference.\n", name, count(r.ActionRequired, "row"))
	}
	if r.Agrees {
		return
	}
	var kinds []string
	for _, k := range r.Differences {
		times := "once"
		if k.Count > 1 {
			times = fmt.Sprintf("%d times", k.Count)
		}
		kinds = append(kinds, k.What+" "+times)
	}
	fmt.Fprintf(w, "%s: the first difference is in %s\n  In all: %s.\n", name, shown(r.First.String()), strings.Join(kinds, ", "))
	if !rewardsGiven && r.First.What == "reward" {
		fmt.Fprintln(w, "  Numbers were taken for default rewards; if the run used others, name them with --rewards.")
	}
}
