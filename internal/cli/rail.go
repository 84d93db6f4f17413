package cli

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"skyrail/rail"
	"skyrail/rail/agent"
	"skyrail/rail/contest"
	"skyrail/rail/railfile"
)

func newRail(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "rail",
		Short: "The railway challenge: Flatland, with stops, time windows and malfunctions",
		Long: `The railway challenge (Flatland): up to 532 trains on a grid of tracks, with stops, time windows and
malfunctions. A policy gives every train an action in every step and is scored by the normalised reward.

Environments are files: pickles of every age of Flatland, or MessagePack. They are read, never executed.`,
		Example: "  skyrail rail run --env level_0/level_0_scenario_1.pkl --agent deadlock-avoidance --rewards ecml2026 --out run",
	},
		newRailRun(a), newRailEvaluate(a), newRailScore(a), newRailAnalyse(a), newRailInspect(a), newRailRender(a),
	)
}

// railFlags are the flags that the rail commands share.
type railFlags struct {
	rewards string
	episode string
	agent   string
	policy  uint32
	seed    uint64
	jobs    int
	json    bool
}

func (f *railFlags) machine(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "print the same facts as JSON")
}

func (f *railFlags) parallel(cmd *cobra.Command) {
	positive(cmd, &f.jobs, "jobs", "j", runtime.NumCPU(), "episodes run at once; the results are the same for every number")
}

func (f *railFlags) reward(cmd *cobra.Command, def, without string) {
	cmd.Flags().StringVar(&f.rewards, "rewards", def, "the reward function: "+strings.Join(rail.RewardNames(), ", ")+without)
}

func (f *railFlags) episodeID(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&f.episode, "ep-id", "", what)
}

func (f *railFlags) policyFlags(cmd *cobra.Command, def string) {
	cmd.Flags().StringVar(&f.agent, "agent", def, "the policy: "+strings.Join(agent.Names(), ", "))
	cmd.Flags().Uint32Var(&f.policy, "agent-seed", 0, "the seed of the policy random")
}

func (f *railFlags) reset(cmd *cobra.Command) {
	seedFlag(cmd, &f.seed, "seed", "reset the environment with this seed first, as the reference does after loading; bridges are then crossings (default: go on from the file)")
}

// chosen returns the reward function, nil if the flag was not given and has no default.
func (f *railFlags) chosen() (*rail.Rewards, error) {
	if f.rewards == "" {
		return nil, nil
	}
	r, err := rail.RewardsByName(f.rewards)
	if err != nil {
		return nil, usage(fmt.Errorf("--rewards: %w", err))
	}
	return &r, nil
}

func (f *railFlags) newPolicy() (agent.Policy, error) {
	p, err := agent.New(f.agent, agent.Options{Seed: f.policy})
	if err != nil {
		return nil, usage(fmt.Errorf("--agent: %w", err))
	}
	return p, nil
}

// resetSeed is the seed of --seed, nil if it was not given.
func (f *railFlags) resetSeed(cmd *cobra.Command) *uint64 {
	if !cmd.Flags().Changed("seed") {
		return nil
	}
	return &f.seed
}

// each does n pieces of work, jobs at a time, and returns the error of the first of them that has one; the others are done
// all the same. An interrupt ends it.
func each(ctx context.Context, n, jobs int, work func(ctx context.Context, i int) error) error {
	errs := make([]error, n)
	var g errgroup.Group
	g.SetLimit(jobs)
	for i := range n {
		g.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = work(ctx, i)
			}
			return nil
		})
	}
	_ = g.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// maxFile bounds an environment file, compressed or not.
const maxFile = 64 << 20

// readEnvironment reads an environment file, which may be compressed with gzip.
func readEnvironment(name string) (*railfile.Environment, error) {
	file, err := openInput(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r = z
	}
	f, err := readEnvironmentFrom(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

func readEnvironmentFrom(r io.Reader) (*railfile.Environment, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("more than %d MiB", maxFile>>20)
	}
	return railfile.ReadEnvironment(data)
}

// openEnvironment returns the environment of a file, reset with the seed if that is not nil.
func openEnvironment(f *railfile.Environment, seed *uint64) (*rail.Env, error) {
	if seed == nil && f.NeedsReset() {
		return nil, errors.New("its trains stand on the map before their start, as in the oldest files: reset it with --seed")
	}
	e, err := f.Open(seed)
	if errors.Is(err, railfile.ErrNoStream) {
		err = fmt.Errorf("%w with --seed", err)
	}
	return e, err
}

// envFile is an environment file that a run is made of.
type envFile struct {
	path string
	name string // its place below the folder that was named, without .pkl: where its run goes
}

// stem is the name of the file without suffix: the episode's, if none is given.
func (e envFile) stem() string { return filepath.Base(e.name) }

var envSuffixes = []string{".pkl", ".pkl.gz", ".mpk"}

func trimEnvSuffix(name string) (string, bool) {
	for _, s := range envSuffixes {
		if t, ok := strings.CutSuffix(name, s); ok {
			return t, true
		}
	}
	return name, false
}

// findEnvironments returns the files that --env names: files, and all environment files below folders, sorted.
func findEnvironments(names []string) ([]envFile, error) {
	var all []envFile
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, usage(fmt.Errorf("--env: %w", err))
		}
		if !info.IsDir() {
			stem, _ := trimEnvSuffix(filepath.Base(name))
			all = append(all, envFile{name, stem})
			continue
		}
		before := len(all)
		err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if stem, ok := trimEnvSuffix(path); ok {
				rel, err := filepath.Rel(name, stem)
				if err != nil {
					return err
				}
				all = append(all, envFile{path, rel})
			}
			return nil
		})
		if err != nil {
			return nil, usage(fmt.Errorf("--env: %w", err))
		}
		if len(all) == before {
			return nil, usage(fmt.Errorf("--env: there is no %s file below %s", strings.Join(envSuffixes, " or "), name))
		}
	}
	seen := map[string]string{}
	for _, e := range all {
		if other, ok := seen[e.name]; ok {
			return nil, usage(fmt.Errorf("--env: %s and %s have the same name, so their runs would be written to one place", other, e.path))
		}
		seen[e.name] = e.path
	}
	return all, nil
}

// envSource is where a grader's environments come from: one file, a folder that is searched by name, or nothing.
type envSource struct {
	flag  string
	files []envFile
	one   bool
}

func newEnvSource(name string) (*envSource, error) {
	if name == "" {
		return nil, nil
	}
	files, err := findEnvironments([]string{name})
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	return &envSource{name, files, err == nil && !info.IsDir()}, nil
}

// find returns the environment file for one of some names: the file itself, or the one below the folder that has the
// first of the names that any has.
func (s *envSource) find(names ...string) (string, error) {
	if s.one {
		return s.files[0].path, nil
	}
	for _, want := range names {
		var found []string
		for _, f := range s.files {
			if f.stem() == want {
				found = append(found, f.path)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return "", fmt.Errorf("--env: below %s there are several environments %s: %s", s.flag, want, strings.Join(found, ", "))
		}
	}
	return "", fmt.Errorf("--env: below %s there is no environment %s", s.flag, strings.Join(names, " or "))
}

// trajectory is a recorded episode that a command works on.
type trajectory struct {
	dir     string
	episode string
	others  []string // episodes of the same directory that are worked on too
	as      string   // the name of its environment in a grader's folder; "": that of the directory or the episode
}

// findTrajectories returns the episodes of the directories, and of those below them, in order. With an episode's name
// only that one.
func findTrajectories(dirs []string, episode string) ([]trajectory, error) {
	var all []trajectory
	for _, root := range dirs {
		if info, err := os.Stat(root); err != nil {
			return nil, usage(err)
		} else if !info.IsDir() {
			return nil, usage(fmt.Errorf("%s is a file; the directory of a trajectory is needed", root))
		}
		found, err := railfile.FindTrajectories(root)
		if err != nil {
			return nil, usage(err)
		}
		if len(found) == 0 {
			return nil, usage(fmt.Errorf("%s holds no trajectory: it has no event_logs, nor has any folder below it", root))
		}
		for _, dir := range found {
			episodes, err := episodesOf(dir, episode)
			if err != nil {
				return nil, err
			}
			all = append(all, episodes...)
		}
	}
	if len(all) == 0 {
		return nil, usage(fmt.Errorf("no episode is named %q", episode))
	}
	return all, nil
}

// episodesOf are the episodes of a directory that are to be worked on: those with an environment in it, or else those with
// rows.
func episodesOf(dir, episode string) ([]trajectory, error) {
	d := railfile.TrajectoryDir{Path: dir}
	names, err := d.Episodes()
	if err != nil {
		var table *railfile.TableError
		if !errors.As(err, &table) {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		names, err = d.Environments() // a table that cannot be read is a finding, not the end
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	own, err := d.Environments()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if len(own) > 0 {
		names = own
	}
	var all []trajectory
	for _, name := range names {
		if episode != "" && name != episode {
			continue
		}
		t := trajectory{dir: dir, episode: name}
		for _, other := range names {
			if other != name {
				t.others = append(t.others, other)
			}
		}
		all = append(all, t)
	}
	if episode != "" && len(all) == 0 && len(own) == 0 {
		all = append(all, trajectory{dir: dir, episode: episode})
	}
	return all, nil
}

// environment returns the environment of an episode: from the source, or else from its own directory.
func (t trajectory) environment(source *envSource) (f *railfile.Environment, from string, err error) {
	if source != nil {
		names := []string{t.as}
		if t.as == "" {
			names = []string{filepath.Base(filepath.Clean(t.dir)), t.episode}
		}
		if from, err = source.find(names...); err != nil {
			return nil, "", usage(err)
		}
		if f, err = readEnvironment(from); err != nil {
			err = usage(err)
		}
		return f, from, err
	}
	d := railfile.TrajectoryDir{Path: t.dir}
	r, err := d.Environment(t.episode)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", usage(fmt.Errorf("%s has no environment of episode %s; give it with --env", t.dir, t.episode))
	}
	if err != nil {
		return nil, "", &ownEnvironmentError{t.dir, err}
	}
	defer r.Close()
	name, err := railfile.EnvironmentFile(t.episode)
	if err != nil {
		return nil, "", usage(err)
	}
	from = filepath.Join(t.dir, filepath.FromSlash(name))
	if f, err = readEnvironmentFrom(r); err != nil {
		return nil, from, &ownEnvironmentError{from, err}
	}
	return f, from, nil
}

// ownEnvironmentError is that the environment that came with a trajectory cannot be read or run.
type ownEnvironmentError struct {
	path string
	err  error
}

func (e *ownEnvironmentError) Error() string { return e.path + ": " + e.err.Error() }
func (e *ownEnvironmentError) Unwrap() error { return e.err }

// enoughRows are always read, so that a table that is too long can be told from one of another environment.
const enoughRows = 200_000

// rows reads the tables of an episode's directory: no more rows of each than twice those that an episode of the grader's has,
// or any number if most is 0.
func (t trajectory) rows(most int) (*railfile.Trajectory, error) {
	d := railfile.TrajectoryDir{Path: t.dir, Limits: railfile.DefaultTableLimits()}
	if most > 0 {
		d.Limits.Rows = min(d.Limits.Rows, max(2*most*(len(t.others)+1), enoughRows))
	}
	rows, err := d.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.dir, err)
	}
	return rows, nil
}

// shares are the parts of the reward that people are shown, with the heads of their columns.
var shares = []struct {
	head      string
	component int
}{
	{"collision", rail.Collision}, {"late", rail.TargetLateArrival}, {"cancelled", rail.Cancellation},
	{"not reached", rail.TargetNotReached}, {"stop missed", rail.IntermediateNotServed},
	{"stop late", rail.IntermediateLateArrival}, {"left early", rail.IntermediateEarlyDeparture},
}

// shareCells are the shares of the components as cells of a table.
func shareCells(c *contest.Components) []any {
	cells := make([]any, len(shares))
	for k := range cells {
		cells[k] = "-"
	}
	if c == nil {
		return cells
	}
	parts, ok := contest.Composition(*c)
	if !ok {
		return cells
	}
	for k, s := range shares {
		cells[k] = fmt.Sprintf("%.1f %%", 100*parts[s.component])
	}
	return cells
}

func shareHeads() []string {
	var heads []string
	for _, s := range shares {
		heads = append(heads, s.head)
	}
	return heads
}

// reward4 shows a normalised reward.
func reward4(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", *v)
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
