package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"skyrail/rail"
	"skyrail/rail/agent"
	"skyrail/rail/contest"
	"skyrail/rail/railfile"
)

func newRailRun(a *app) *cobra.Command {
	var f railFlags
	var r railRun
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run a policy in environments and record its trajectories",
		Long: `Run a policy in one or many environments, and record what happens as flatland-rl does: tables of actions,
positions, rewards and results, byte for byte as its trajectory tools write them, and the environment before the first
step. With one file the trajectory is written into --out itself, with several or a folder into a folder of its name
below --out. Without --out nothing is recorded.

--fork goes on from a recorded trajectory: its actions are given up to --start-step, then the policy takes over.`,
		Example: `  skyrail rail run --env level_0_scenario_1.pkl --agent deadlock-avoidance --rewards ecml2026 --out run
  skyrail rail run --env levels --agent shortest-path --rewards ecml2026 --out runs -j 4
  skyrail rail run --env level_0_scenario_1.pkl --fork run --start-step 100 --agent forward --out other`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.prepare(cmd, &f); err != nil {
				return err
			}
			p := a.startProgress(cmd.Context(), len(r.envs))
			results, err := r.all(cmd.Context(), f.jobs, p.one)
			a.stopRuns(p, cmd.Context().Err())
			if err := errors.Join(cmd.Context().Err(), err); errors.Is(err, context.Canceled) {
				return r.leftBehind(results, err)
			}
			done := ran{Agent: f.agent, Rewards: f.rewards, Runs: results, Repeat: repeat(cmd)}
			if len(results) == 0 {
				return err
			}
			var printed error
			if f.json {
				printed = printJSON(a.out, done)
			} else {
				done.print(a.out)
			}
			return cmp.Or(printed, err)
		},
	}
	cmd.Flags().StringArrayVar(&r.names, "env", nil, "an environment file, or a folder of them (repeat for several)")
	f.policyFlags(cmd, "")
	f.reward(cmd, "default", "")
	cmd.Flags().StringVar(&r.out, "out", "", "the folder to write to; it must not hold a trajectory yet")
	f.episodeID(cmd, "the name of the episode (default: that of the environment file)")
	f.reset(cmd)
	positive(cmd, &r.snapshots, "snapshot-interval", "", 0, "also save the environment before the first and after every Nth step (default: not)")
	positive(cmd, &r.end, "end-step", "", 0, "end the run after this step (default: when the episode is over)")
	cmd.Flags().StringVar(&r.fork, "fork", "", "the directory of a trajectory to go on from")
	cmd.Flags().StringVar(&r.forkEpisode, "fork-ep-id", "", "its episode (default: the only one)")
	positive(cmd, &r.start, "start-step", "", 0, "the number of steps to take from it")
	f.parallel(cmd)
	f.machine(cmd)
	return cmd
}

// railRun is what a run is asked to do.
type railRun struct {
	names     []string
	out       string
	snapshots int
	end       int

	fork, forkEpisode string
	start             int
	recorded          []railfile.ActionRow
	origin            *rail.Env // the environment that the trajectory was recorded in; nil: none came with it

	flags   *railFlags
	rewards rail.Rewards
	seed    *uint64
	envs    []envFile
	single  bool // one file: its trajectory goes into out itself
}

// prepare reads the flags.
func (r *railRun) prepare(cmd *cobra.Command, f *railFlags) error {
	r.flags, r.seed = f, f.resetSeed(cmd)
	if f.agent == "" {
		return usage(errors.New("--agent is missing"))
	}
	if _, err := f.newPolicy(); err != nil {
		return err
	}
	if err := f.checkAgentSeed(cmd, f.agent); err != nil {
		return err
	}
	rewards, err := f.chosen()
	if err != nil {
		return err
	}
	r.rewards = *rewards
	if len(r.names) == 0 {
		return usage(errors.New("--env is missing"))
	}
	if r.envs, err = findEnvironments(r.names); err != nil {
		return err
	}
	if len(r.names) == 1 {
		info, err := os.Stat(r.names[0])
		r.single = err == nil && !info.IsDir()
	}
	if f.episode != "" && len(r.envs) > 1 {
		return usage(fmt.Errorf("--ep-id names one episode, and there are %d environments", len(r.envs)))
	}
	for _, flag := range []string{"ep-id", "snapshot-interval"} {
		if cmd.Flags().Changed(flag) && r.out == "" {
			return usage(fmt.Errorf("--%s has no effect without --out", flag))
		}
	}
	seen := map[string]string{}
	for _, e := range r.envs {
		if err := railfile.CheckEpisodeID(r.episode(e)); err != nil {
			return usage(err)
		}
		if other, ok := seen[e.name]; ok && r.out != "" {
			return usage(fmt.Errorf("--env: %s and %s have the same name, so their runs would be written to one place", other, e.path))
		}
		seen[e.name] = e.path
	}
	return r.prepareFork(cmd)
}

// prepareFork reads the trajectory to go on from.
func (r *railRun) prepareFork(cmd *cobra.Command) error {
	if r.fork == "" {
		for _, flag := range []string{"fork-ep-id", "start-step"} {
			if cmd.Flags().Changed(flag) {
				return usage(fmt.Errorf("--%s has no effect without --fork", flag))
			}
		}
		return nil
	}
	if r.start == 0 {
		return usage(errors.New("--fork needs --start-step"))
	}
	if r.end > 0 && r.end <= r.start {
		return usage(fmt.Errorf("--end-step %d is not after --start-step %d", r.end, r.start))
	}
	if len(r.envs) > 1 {
		return usage(fmt.Errorf("--fork goes on from one trajectory, and there are %d environments", len(r.envs)))
	}
	found, err := findTrajectories([]string{r.fork}, r.forkEpisode)
	if err != nil {
		return err
	}
	if len(found) > 1 {
		return usage(fmt.Errorf("--fork: %s holds %d episodes, choose one with --fork-ep-id", r.fork, len(found)))
	}
	rows, err := found[0].rows(0)
	if err != nil {
		return usage(fmt.Errorf("--fork: %w", err))
	}
	r.recorded = rows.Of(found[0].episode).Actions
	steps := 0
	for _, a := range r.recorded {
		steps = max(steps, a.Time+1)
	}
	if r.start > steps {
		return usage(fmt.Errorf("--start-step %d: %s has the actions of %s", r.start, r.fork, count(steps, "step")))
	}
	file, from, err := found[0].environment(nil)
	if missing := (*noEnvironmentError)(nil); errors.As(err, &missing) {
		return nil
	}
	if err == nil {
		if r.origin, err = file.Open(nil); err != nil {
			err = fmt.Errorf("%s: %w", from, err)
		}
	}
	if err != nil {
		return usage(fmt.Errorf("--fork: %w", err))
	}
	return nil
}

// checkFork says why the trajectory cannot be one of an environment.
func (r *railRun) checkFork(e *rail.Env) error {
	if r.fork == "" {
		return nil
	}
	if r.origin != nil && !r.origin.Equal(e) {
		return usage(fmt.Errorf("--fork %s was recorded in another environment, or after another --seed", r.fork))
	}
	for _, a := range r.recorded {
		if a.Agent < 0 || a.Agent >= e.Trains() {
			return usage(fmt.Errorf("--fork %s has actions of train %d; the environment has the trains 0 to %d", r.fork, a.Agent, e.Trains()-1))
		}
	}
	return nil
}

func (r *railRun) episode(e envFile) string {
	if r.flags.episode != "" {
		return r.flags.episode
	}
	return e.stem()
}

// runResult is what one run came to.
type runResult struct {
	Env       string `json:"env"`
	Episode   string `json:"episode"`
	Directory string `json:"directory,omitempty"`
	Finished  bool   `json:"finished"` // the run came to the end of the episode
	contest.Figures
}

// all runs all environments, jobs at a time, and returns the results of those that ran to their end, in their order. The
// others are in the error, which has the status of the first; the folders that were made for them are removed.
func (r *railRun) all(ctx context.Context, jobs int, done func()) ([]runResult, error) {
	results, errs, whole := make([]runResult, len(r.envs)), make([]error, len(r.envs)), make([]bool, len(r.envs))
	fresh := r.freshFolders()
	_ = each(ctx, len(r.envs), jobs, func(ctx context.Context, i int) error {
		results[i], errs[i] = r.one(ctx, r.envs[i])
		if whole[i] = errs[i] == nil; whole[i] {
			done()
		}
		return nil
	})
	var ran []runResult
	for i, result := range results {
		if whole[i] {
			ran = append(ran, result)
			continue
		}
		for _, dir := range fresh[i] {
			_ = os.Remove(dir) // not if there is something in it, of another run
		}
	}
	return ran, severalFailures(errs)
}

// freshFolders are for each run the folders that are not there yet and that it will make, each before the one it is in.
func (r *railRun) freshFolders() [][]string {
	fresh := make([][]string, len(r.envs))
	if r.out == "" {
		return fresh
	}
	for i, e := range r.envs {
		dir := r.directory(e)
		below := []string{"event_logs", ownEnvironments, "outputs"}
		for k, name := range below {
			below[k] = filepath.Join(dir, name)
		}
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			below = append(below, dir)
		}
		for _, name := range below {
			if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
				fresh[i] = append(fresh[i], name)
			}
		}
	}
	return fresh
}

// severalFailures is the error of all that failed, with the status of the first; nil if nothing did.
func severalFailures(errs []error) error {
	var failed []error
	for _, err := range errs {
		if err != nil {
			failed = append(failed, err)
		}
	}
	switch {
	case len(failed) == 0:
		return nil
	case len(errs) == 1:
		return failed[0]
	}
	err := fmt.Errorf("%d of %d environments failed:\n%w", len(failed), len(errs), errors.Join(failed...))
	if first := (*exitError)(nil); errors.As(failed[0], &first) {
		return &exitError{first.status, err}
	}
	return &exitError{exitFault, err}
}

// leftBehind says what an interrupt has left.
func (r *railRun) leftBehind(whole []runResult, err error) error {
	if r.out == "" || len(whole) == 0 {
		return err // nothing
	}
	return &interrupted{fmt.Sprintf("interrupted; whole: %d of %s, in %s; of the others nothing was written",
		len(whole), count(len(r.envs), "run"), r.out), err}
}

// directory is where a run is written.
func (r *railRun) directory(e envFile) string {
	if r.single {
		return r.out
	}
	return filepath.Join(r.out, e.name)
}

func (r *railRun) one(ctx context.Context, f envFile) (runResult, error) {
	result := runResult{Env: f.path, Episode: r.episode(f)}
	file, err := readEnvironment(f.path)
	if err != nil {
		return result, usage(err)
	}
	e, err := openEnvironment(file, r.seed)
	if err != nil {
		return result, usage(fmt.Errorf("%s: %w", f.path, err))
	}
	if e.Trains() == 0 { // before anything is made
		return result, played(f.path, contest.ErrNoTrains)
	}
	if e.MaxEpisodeSteps() == 0 && r.end == 0 {
		return result, usage(fmt.Errorf("%s: %w, and may never end; give --end-step", f.path, contest.ErrNoLimit))
	}
	if err := r.checkFork(e); err != nil {
		return result, err
	}
	p, err := r.policy()
	if err != nil {
		return result, err
	}
	if r.out == "" {
		result.Figures, err = contest.Play(ctx, e, p, contest.PlayOptions{Rewards: r.rewards, EndStep: r.endStep()})
	} else {
		result.Directory = r.directory(f)
		result.Figures, err = r.record(ctx, e, p, result)
	}
	result.Finished = e.AllDone()
	return result, played(f.path, err)
}

func (r *railRun) endStep() rail.Time {
	if r.end == 0 {
		return rail.Time{}
	}
	return rail.At(r.end)
}

// played says which file an error of a run is about, and whose it is.
func played(path string, err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, contest.ErrNoTrains):
		return usage(fmt.Errorf("%s: %w", path, err))
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (r *railRun) policy() (agent.Policy, error) {
	p, err := r.flags.newPolicy()
	if err == nil && r.fork != "" {
		p = contest.Fork(r.recorded, r.start, p)
	}
	return p, err
}

// record runs a policy and writes the trajectory. If the run fails, what it wrote is removed.
func (r *railRun) record(ctx context.Context, e *rail.Env, p agent.Policy, to runResult) (figures contest.Figures, err error) {
	w, err := railfile.CreateTrajectory(to.Directory)
	if err != nil {
		return figures, usage(err)
	}
	var saved []string
	defer func() {
		w.Abort()
		if err != nil {
			for _, name := range saved {
				os.Remove(name)
			}
		}
	}()
	save := func(name string, err error) error {
		if err != nil {
			return err
		}
		content, err := railfile.SaveEnvironment(e)
		if err != nil {
			return err
		}
		path := filepath.Join(to.Directory, filepath.FromSlash(name))
		if _, err := os.Lstat(path); err == nil {
			return usage(fmt.Errorf("%s is already there; write into another directory", path))
		}
		saved = append(saved, path)
		return replace(path, content, 0o644)
	}
	start := func() (*railfile.Recorder, error) {
		if err := save(railfile.EnvironmentFile(to.Episode)); err != nil {
			return nil, err
		}
		if r.snapshots > 0 {
			if err := save(railfile.SnapshotFile(to.Episode, e.Elapsed())); err != nil {
				return nil, err
			}
		}
		return railfile.NewRecorder(w, e, to.Episode, 0), nil
	}
	after := func() error {
		if r.snapshots > 0 && e.Elapsed()%r.snapshots == 0 {
			return save(railfile.SnapshotFile(to.Episode, e.Elapsed()))
		}
		return nil
	}
	options := contest.PlayOptions{Rewards: r.rewards, EndStep: r.endStep(), Start: start, After: after}
	if figures, err = contest.Play(ctx, e, p, options); err != nil {
		return figures, err
	}
	return figures, w.Commit()
}

// ran is what a run came to.
type ran struct {
	Agent   string      `json:"agent"`
	Rewards string      `json:"rewards"`
	Runs    []runResult `json:"runs"`
	Repeat  string      `json:"repeat"`
}

func (r ran) print(w io.Writer) {
	t := newTable(append([]string{"episode", "trains", "steps", "arrived", "normalised reward"}, shareHeads()...)...)
	names := labels(len(r.Runs), func(i int) (string, string) { return cmp.Or(r.Runs[i].Directory, r.Runs[i].Env), r.Runs[i].Episode })
	for i, run := range r.Runs {
		t.AppendRow(append(figureCells(names[i], run.Figures), shareCells(run.Composition)...))
	}
	printTable(w, t)
	fmt.Fprintf(w, "\n%s, rewards %s; the last columns are shares of the penalties.\n", r.Agent, r.Rewards)
	printTotals(w, names, func(i int) *contest.Totals { return r.Runs[i].Totals })
	printEarly(w, names, func(i int) bool { return !r.Runs[i].Finished })
	for _, run := range r.Runs {
		if run.Directory != "" {
			fmt.Fprintf(w, "Wrote %s: episode %s.\n", shown(run.Directory), shown(run.Episode))
		}
	}
	fmt.Fprintf(w, "To repeat: %s\n", r.Repeat)
}

// figureCells are the figures of an episode, called by a name, as cells of a table.
func figureCells(name string, f contest.Figures) table.Row {
	if f == (contest.Figures{}) { // it was not run
		return table.Row{name, "-", "-", "-", "-"}
	}
	return table.Row{
		name, f.Trains, fmt.Sprintf("%d/%d", f.Steps, f.MaxEpisodeSteps),
		fmt.Sprintf("%d (%s)", f.Arrived, percent(f.SuccessRate)), reward4(f.NormalizedReward),
	}
}
