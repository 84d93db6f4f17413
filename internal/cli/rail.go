package cli

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
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

Environments are files: pickles of every age of Flatland, MessagePack, or the JSON of a scene. They are read, never
executed.`,
		Example: "  skyrail rail run --env level_0/level_0_scenario_1.pkl --agent deadlock-avoidance --rewards ecml2026 --out run",
	},
		newRailRun(a), newRailEvaluate(a), newRailScore(a), newRailCompare(a), newRailAnalyse(a), newRailInspect(a), newRailRender(a),
		newRailGenerate(a), newRailSuite(a),
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
	cmd.Flags().Var(number[uint32]{&f.policy, parsePolicySeed}, "agent-seed", "the seed of the policy random")
}

func (f *railFlags) reset(cmd *cobra.Command) {
	cmd.Flags().Var(number[uint64]{&f.seed, parseResetSeed}, "seed", "reset the environment with this seed first, as the reference does after loading; bridges are then crossings (default: go on from the file)")
}

// parseResetSeed reads a seed of flatland-rl, which may be as large as a file can hold.
func parseResetSeed(text string) (uint64, error) {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("a seed is a whole number from 0 to %d", uint64(math.MaxUint64))
	}
	return seed, nil
}

func parsePolicySeed(text string) (uint32, error) {
	seed, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("a seed is a whole number from 0 to %d", uint32(math.MaxUint32))
	}
	return uint32(seed), nil
}

// rewardsName is what people call a reward function; "" for none that has a name.
func rewardsName(r rail.Rewards) string {
	for _, name := range rail.RewardNames() {
		if named, err := rail.RewardsByName(name); err == nil && named == r {
			return name
		}
	}
	return ""
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

// checkAgentSeed refuses a seed for policies that draw nothing.
func (f *railFlags) checkAgentSeed(cmd *cobra.Command, names ...string) error {
	if cmd.Flags().Changed("agent-seed") && !slices.Contains(names, "random") {
		return usage(errors.New("--agent-seed has no effect without --agent random"))
	}
	return nil
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

// errNothingRan is that of what was to run nothing could be run; what is wrong is told elsewhere.
var errNothingRan = errors.New("nothing ran")

// stopRuns ends the progress of runs, and says what they took if any ran.
func (a *app) stopRuns(p *progress, err error) {
	if err == nil && p.done == 0 {
		err = errNothingRan
	}
	a.stopProgress(p, "ran", err)
}

// maxFile bounds an environment file, compressed or not.
const maxFile = 64 << 20

// readEnvironment reads an environment file, which may be compressed with gzip.
func readEnvironment(name string) (*railfile.Environment, error) {
	data, err := readRailFile(name)
	if err != nil {
		return nil, err
	}
	f, err := railfile.ReadEnvironment(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// readRailFile is the content of a file, which may be compressed with gzip.
func readRailFile(name string) ([]byte, error) {
	file, err := openRegular(name)
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
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("more than %d MiB", maxFile>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
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

// ownEnvironments is the folder of a trajectory in which its environments are.
const ownEnvironments = "serialised_state"

// envSuffixes are what is looked for in folders. The JSON of a scene is read only if it is named, as folders hold other JSON
// too.
var (
	envSuffixes   = []string{".pkl", ".pkl.gz", ".mpk"}
	sceneSuffixes = []string{".json", ".json.gz"}
)

func trimEnvSuffix(name string) (string, bool) {
	for _, s := range envSuffixes {
		if t, ok := strings.CutSuffix(name, s); ok {
			return t, true
		}
	}
	return name, false
}

// envStem is the name of a file that was named as an environment, without folder and suffix.
func envStem(name string) string {
	name = filepath.Base(name)
	for _, s := range sceneSuffixes {
		if t, ok := strings.CutSuffix(name, s); ok {
			return t
		}
	}
	stem, _ := trimEnvSuffix(name)
	return stem
}

// findEnvironments returns the files that --env names: files, and all environment files below folders, sorted. Folders of
// trajectories' own environments are left out, so that what was written is not taken for what is to be run.
func findEnvironments(names []string) ([]envFile, error) {
	var all []envFile
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, usage(fmt.Errorf("--env: %w", plainly(err)))
		}
		if !info.IsDir() {
			all = append(all, envFile{name, envStem(name)})
			continue
		}
		before := len(all)
		err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == ownEnvironments && path != name {
				return fs.SkipDir
			}
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
			return nil, usage(fmt.Errorf("--env: %w", plainly(err)))
		}
		if len(all) == before {
			return nil, usage(fmt.Errorf("--env: there is no %s file below %s; folders named %s are left out",
				strings.Join(envSuffixes, " or "), name, ownEnvironments))
		}
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

// labels name the rows of a table: each by its episode, or where several have the same by its directory, and by both if the
// directory has several rows too.
func labels(n int, row func(int) (directory, episode string)) []string {
	episodes, directories := map[string]int{}, map[string]int{}
	for i := range n {
		directory, episode := row(i)
		episodes[episode]++
		directories[directory]++
	}
	names := make([]string, n)
	for i := range names {
		directory, episode := row(i)
		switch {
		case episodes[episode] == 1:
			names[i] = episode
		case directories[directory] == 1:
			names[i] = directory
		default:
			names[i] = directory + ": " + episode
		}
		names[i] = shown(names[i])
	}
	return names
}

// totalsLine says what the numbers of a function of several came to; "" of the others.
func totalsLine(t *contest.Totals) string {
	if t == nil {
		return ""
	}
	if v := t.Values; t.Kind == rail.PunctualityReward {
		return fmt.Sprintf("stops on time %.0f of %.0f", v[0], v[1])
	}
	return fmt.Sprintf("energy %.4f, smoothness %.4f", t.Values[1], t.Values[2])
}

// printTotals prints what is no column of the table: the totals of each row.
func printTotals(w io.Writer, names []string, totals func(int) *contest.Totals) {
	for i, name := range names {
		if line := totalsLine(totals(i)); line != "" {
			fmt.Fprintf(w, "%s: %s.\n", name, line)
		}
	}
}

// printEarly names the rows whose episode did not come to its end.
func printEarly(w io.Writer, names []string, early func(int) bool) {
	var all []string
	for i, name := range names {
		if early(i) {
			all = append(all, name)
		}
	}
	if len(all) > 0 {
		fmt.Fprintf(w, "Ended early: %s; the last part of the rewards, which the end of an episode brings, is missing.\n", strings.Join(all, ", "))
	}
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
func shareCells(composition *contest.Components) []any {
	cells := make([]any, len(shares))
	for k := range cells {
		cells[k] = "-"
	}
	if composition == nil {
		return cells
	}
	for k, s := range shares {
		cells[k] = percent(composition[s.component])
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
