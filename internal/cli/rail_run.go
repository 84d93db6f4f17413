package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
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
			a.stopProgress(p, "ran", err)
			if err != nil {
				return err
			}
			done := ran{Agent: f.agent, Rewards: f.rewards, Runs: results, Repeat: repeat(cmd)}
			if f.json {
				return printJSON(a.out, done)
			}
			done.print(a.out)
			return nil
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
	for _, e := range r.envs {
		if err := railfile.CheckEpisodeID(r.episode(e)); err != nil {
			return usage(err)
		}
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
		return err
	}
	r.recorded = rows.Of(found[0].episode).Actions
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
	contest.Figures
}

// all runs all environments, jobs at a time, results in their order.
func (r *railRun) all(ctx context.Context, jobs int, done func()) ([]runResult, error) {
	results := make([]runResult, len(r.envs))
	return results, each(ctx, len(r.envs), jobs, func(ctx context.Context, i int) (err error) {
		results[i], err = r.one(ctx, r.envs[i])
		done()
		return err
	})
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
	p, err := r.policy()
	if err != nil {
		return result, err
	}
	if r.out == "" {
		result.Figures, err = contest.Play(ctx, e, p, contest.PlayOptions{Rewards: r.rewards, EndStep: r.end})
		return result, about(f.path, err)
	}
	result.Directory = r.out
	if !r.single {
		result.Directory = filepath.Join(r.out, f.name)
	}
	result.Figures, err = r.record(ctx, e, p, result)
	return result, about(f.path, err)
}

// about says which file an error is about.
func about(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
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
	options := contest.PlayOptions{Rewards: r.rewards, EndStep: r.end, Start: start, After: after}
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
	for _, run := range r.Runs {
		t.AppendRow(append(figureCells(run.Episode, run.Figures), shareCells(run.Components)...))
	}
	printTable(w, t)
	fmt.Fprintf(w, "\n%s, rewards %s; the last columns are shares of the penalties.\n", r.Agent, r.Rewards)
	for _, run := range r.Runs {
		if run.Directory != "" {
			fmt.Fprintf(w, "Wrote %s: episode %s.\n", run.Directory, run.Episode)
		}
	}
	fmt.Fprintf(w, "To repeat: %s\n", r.Repeat)
}

// figureCells are the figures of an episode as cells of a table.
func figureCells(episode string, f contest.Figures) table.Row {
	return table.Row{
		shown(episode), f.Trains, fmt.Sprintf("%d/%d", f.Steps, f.MaxEpisodeSteps),
		fmt.Sprintf("%d (%s)", f.Arrived, percent(f.SuccessRate)), reward4(f.NormalizedReward),
	}
}
