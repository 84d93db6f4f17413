package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skyrail/rail"
	"skyrail/rail/railfile"
)

// trajectory is a recorded episode that a command works on.
type trajectory struct {
	dir      string
	episode  string
	siblings []string // all episodes of the directory that have business there, this one too
	as       string   // the name of its environment in a grader's folder; "": that of the directory or the episode
	called   string   // what messages call the directory; "": by its path
	fault    error    // why nothing can be known of the directory; it stands for all its episodes then
}

// findTrajectories returns the episodes of the directories, and of those below them, in order. With an episode's name
// only that one. A directory that cannot be read is an error.
func findTrajectories(roots []string, episode string) ([]trajectory, error) {
	all, err := searchTrajectories(roots, episode)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.fault != nil {
			return nil, usage(fmt.Errorf("%s: %w", t.dir, t.fault))
		}
	}
	return all, nil
}

// errNoTrajectory is that a folder that was named holds nothing to work on.
var errNoTrajectory = errors.New("it holds no trajectory: it has no event_logs, nor has any folder below it")

// searchTrajectories is findTrajectories for who wants to know of every directory: one that cannot be read is a trajectory
// with a fault. An error is one of the command line.
func searchTrajectories(roots []string, episode string) ([]trajectory, error) {
	var all []trajectory
	empty := true
	for _, root := range roots {
		if info, err := os.Stat(root); err != nil {
			return nil, usage(plainly(err))
		} else if !info.IsDir() {
			return nil, usage(fmt.Errorf("%s is a file; the directory of a trajectory is needed", root))
		}
		dirs, faults := trajectoryDirs(root)
		all = append(all, faults...)
		for _, dir := range dirs {
			all = append(all, episodesOf(dir, episode)...)
		}
		if len(dirs)+len(faults) == 0 {
			all = append(all, faulty(root, errNoTrajectory))
			continue
		}
		empty = false
	}
	if empty {
		return nil, usage(fmt.Errorf("%s: %w", roots[0], errNoTrajectory))
	}
	if len(all) == 0 {
		return nil, usage(fmt.Errorf("no episode is named %q", episode))
	}
	return all, nil
}

// faulty stands for the episodes of a directory of which nothing can be known.
func faulty(dir string, err error) trajectory {
	name := dir
	if absolute, err := filepath.Abs(dir); err == nil {
		name = absolute
	}
	return trajectory{dir: dir, episode: filepath.Base(name), fault: err}
}

// trajectoryDirs are the directories at and below a root that have something of the name of a trajectory's parts, whatever
// it is, in order; and the folders that cannot be read.
func trajectoryDirs(root string) (dirs []string, faults []trajectory) {
	_ = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			faults = append(faults, faulty(name, err))
		case e.Name() == ownEnvironments || e.Name() == "event_logs":
			dirs = append(dirs, filepath.Dir(name))
		default:
			return nil
		}
		if e != nil && e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	parts := func(name string) []string { return strings.Split(filepath.ToSlash(name), "/") }
	slices.SortFunc(dirs, func(a, b string) int { return slices.Compare(parts(a), parts(b)) })
	return slices.Compact(dirs), faults
}

// mostEpisodes may have rows in a directory without environments: the tables are read once for each.
const mostEpisodes = 64

// episodesOf are the episodes of a directory that are to be worked on: those with an environment in it, or else those with
// rows.
func episodesOf(dir, episode string) []trajectory {
	d := railfile.TrajectoryDir{Path: dir}
	names, err := d.Environments()
	if err == nil && len(names) == 0 {
		if names, err = d.Episodes(); err == nil && len(names) > mostEpisodes {
			err = fmt.Errorf("it has rows of %d episodes and no environment of any; without one it may have %d", len(names), mostEpisodes)
		}
		if err == nil && episode != "" && !slices.Contains(names, episode) {
			names = append(names, episode) // to be told that it has no row
		}
	}
	if err == nil && len(names) == 0 {
		err = errors.New("it holds no episode: no environment and no row")
	}
	if err != nil {
		return []trajectory{faulty(dir, err)}
	}
	var all []trajectory
	for _, name := range names {
		if episode == "" || name == episode {
			all = append(all, trajectory{dir: dir, episode: name, siblings: names})
		}
	}
	return all
}

// relative takes the path of the directory out of a message that is not for those who know it.
func (t trajectory) relative(text string) string {
	if t.called == "" {
		return text
	}
	return strings.ReplaceAll(text, t.dir, t.called)
}

// environment returns the environment of an episode: from the source, or else from its own directory. There may be none,
// which is a noEnvironmentError.
func (t trajectory) environment(source *envSource) (f *railfile.Environment, from string, err error) {
	if source != nil {
		names := []string{t.as}
		if t.as == "" {
			names = []string{filepath.Base(filepath.Clean(t.dir)), t.episode}
		}
		if from, err = source.find(names...); err != nil {
			return nil, "", usage(&noEnvironmentError{err})
		}
		if f, err = readEnvironment(from); err != nil {
			err = usage(err)
		}
		return f, from, err
	}
	d := railfile.TrajectoryDir{Path: t.dir}
	name, err := railfile.EnvironmentFile(t.episode)
	if err != nil {
		return nil, "", usage(err)
	}
	from = filepath.Join(t.dir, filepath.FromSlash(name))
	data, err := d.Environment(t.episode)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", usage(&noEnvironmentError{fmt.Errorf("%s has no environment of episode %s; give it with --env", t.dir, t.episode)})
	}
	if err == nil {
		f, err = railfile.ReadEnvironment(data)
	}
	if err != nil {
		return nil, from, &ownEnvironmentError{from, err}
	}
	return f, from, nil
}

// noEnvironmentError is that there is none to run an episode in.
type noEnvironmentError struct{ err error }

func (e *noEnvironmentError) Error() string { return e.err.Error() }
func (e *noEnvironmentError) Unwrap() error { return e.err }

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
		d.Limits.Rows = min(d.Limits.Rows, max(2*most*len(t.siblings), enoughRows))
	}
	rows, err := d.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.dir, err)
	}
	return rows, nil
}

// replay is an episode's recorded actions, to be run again as far as they go.
type replay struct {
	Recorded int  `json:"recorded_steps"`  // elapsed when the last recorded action was given
	Missing  int  `json:"missing_actions"` // of the run, taken for MOVE_FORWARD
	Finished bool `json:"finished"`        // the run came to the end of the episode

	actions []railfile.ActionRow
	whole   bool // it was recorded to its end
	start   int
}

// replay returns the recorded actions of the episode, whose rows are given, to be run in an environment.
func (t trajectory) replay(e *rail.Env, mine *railfile.Trajectory) (replay, error) {
	if slices.Contains(mine.Missing, railfile.ActionsFile) {
		return replay{}, usage(fmt.Errorf("%s: there is no %s, so nothing is known of what the trains did", t.dir, railfile.ActionsFile))
	}
	r := replay{actions: mine.Actions, start: e.Elapsed(), Recorded: e.Elapsed()}
	for _, a := range r.actions {
		if a.Agent >= 0 && a.Agent < e.Trains() {
			r.Recorded = max(r.Recorded, a.Time+1)
		}
	}
	if most := e.MaxEpisodeSteps(); most > 0 { // without a limit a foreign result could make the run endless
		r.Recorded = min(r.Recorded, max(most, r.start))
		r.whole = len(mine.Arrived) > 0
	}
	return r, nil
}

// end is where the run ends: with the last recorded action, if the episode was not recorded to its end.
func (r *replay) end() rail.Time {
	if r.whole {
		return rail.Time{}
	}
	return rail.At(r.Recorded)
}

// ran takes down how far a run came.
func (r *replay) ran(e *rail.Env) {
	r.Finished = e.AllDone()
	given := map[[2]int]bool{}
	for _, a := range r.actions {
		if a.Agent >= 0 && a.Agent < e.Trains() && a.Time >= r.start && a.Time < e.Elapsed() {
			given[[2]int{a.Time, a.Agent}] = true
		}
	}
	r.Missing = (e.Elapsed()-r.start)*e.Trains() - len(given)
}

// print says what is not recorded of a run of some steps.
func (r *replay) print(w io.Writer, name string, steps int) {
	switch {
	case r.Recorded < steps:
		fmt.Fprintf(w, "%s: actions are recorded of %d of its %s.\n", name, r.Recorded, count(steps, "step"))
	case r.Recorded == steps && !r.Finished:
		fmt.Fprintf(w, "%s: %s recorded, and the episode has more.\n", name, count(steps, "step"))
	}
	if r.Missing > 0 {
		fmt.Fprintf(w, "%s: %s not recorded, taken for MOVE_FORWARD.\n", name, count(r.Missing, "action"))
	}
}
