package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"skyrail/rail"
	"skyrail/rail/contest"
	"skyrail/rail/railfile"
)

const sample = "../../rail/railfile/testdata/files/v4/level_0_scenario_1.pkl.gz"

// interruptedAfter is a context that is cancelled when it has been asked so many times.
type interruptedAfter struct {
	context.Context
	asks int
}

func (c *interruptedAfter) Err() error {
	if c.asks--; c.asks < 0 {
		return context.Canceled
	}
	return nil
}

func TestAnInterruptedRunLeavesWholeTrajectoriesOnly(t *testing.T) {
	for name, c := range map[string]struct{ asks, whole int }{
		"in the first run": {10, 0}, "in the third run": {1200, 2},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "deep", "runs")
			r := railRun{out: out, flags: &railFlags{agent: "do-nothing"}, rewards: rail.DefaultRewards()}
			for i := range 4 {
				r.envs = append(r.envs, envFile{sample, fmt.Sprintf("level/e%d", i)})
			}
			whole, err := r.all(&interruptedAfter{t.Context(), c.asks}, 1, func() {})
			if !errors.Is(err, context.Canceled) || len(whole) != c.whole {
				t.Fatalf("got %d whole runs and %v, want %d and an interrupt", len(whole), err, c.whole)
			}
			var left []string
			err = filepath.WalkDir(filepath.Dir(out), func(path string, d fs.DirEntry, err error) error {
				if d != nil && d.IsDir() && len(files(t, path)) > 0 && filepath.Dir(filepath.Dir(path)) == out {
					left = append(left, filepath.Base(path))
				}
				return err
			})
			if c.whole == 0 {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("got %v, want nothing left at all", err)
				}
				return
			}
			if err != nil || strings.Join(left, " ") != "e0 e1" || len(files(t, filepath.Join(out, "level"))) != 2 {
				t.Errorf("got %v, %v; want e0 and e1 alone", left, err)
			}
			message := r.leftBehind(whole, context.Canceled).Error()
			if want := "interrupted; whole: 2 of 4 runs, in " + out + "; of the others nothing was written"; message != want {
				t.Errorf("got %q, want %q", message, want)
			}
		})
	}
}

func TestARunNeedsTrains(t *testing.T) {
	file, err := readEnvironment(sample)
	if err != nil {
		t.Fatal(err)
	}
	scenario := *file.Scenario
	scenario.Trains = nil
	e, err := rail.New(&scenario, rail.Options{})
	if err != nil {
		t.Fatal(err)
	}
	content, err := railfile.SaveEnvironment(e)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("empty.pkl", content, 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	status := run(t.Context(), []string{"rail", "run", "--env", "empty.pkl", "--agent", "forward", "--out", "run"}, &app{strings.NewReader(""), &out, &errs})
	if status != exitUsage || !strings.Contains(errs.String(), "empty.pkl: the environment has no trains") {
		t.Errorf("got status %d, %q; want %d", status, &errs, exitUsage)
	}
	if got := files(t, "."); len(got) != 1 {
		t.Errorf("got %v, want empty.pkl alone", got)
	}
}

func TestErrorsCannotSteerTheTerminal(t *testing.T) {
	var errs bytes.Buffer
	a := &app{err: &errs}
	a.complain(&cobra.Command{Use: "x"}, errors.New("a\x1b]0;b\a\u202ec\n\td"+strings.Repeat("e", 1<<20)))
	if got, want := errs.String(), "x: a\\x1b]0;b\\a\\u202ec\n\tdee"; !strings.HasPrefix(got, want) || len(got) > mostComplained+100 {
		t.Errorf("got %d bytes, %.60q; want %q and about %d", len(got), got, want, mostComplained)
	}
}

func TestADirectoryOfManyEpisodesNeedsItsEnvironments(t *testing.T) {
	dir := t.TempDir()
	rows := "episode_id\tenv_time\tagent_id\taction\n"
	for i := range mostEpisodes {
		rows += fmt.Sprintf("e%02d\t0\t0\t2\n", i)
	}
	write := func() {
		t.Helper()
		name := filepath.Join(dir, filepath.FromSlash(railfile.ActionsFile))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(rows), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if got := episodesOf(dir, ""); len(got) != mostEpisodes || got[0].fault != nil {
		t.Errorf("got %d trajectories, fault %v; want %d without", len(got), got[0].fault, mostEpisodes)
	}
	rows += "one more\t0\t0\t2\n"
	write()
	if got := episodesOf(dir, ""); len(got) != 1 || got[0].fault == nil || !strings.Contains(got[0].fault.Error(), "rows of 65 episodes") {
		t.Errorf("got %+v, want one with a fault", got)
	}
}

// A grader's environment that cannot be run is told, and the other trajectories are verified all the same.
func TestABrokenEnvironmentOfTheGraderStopsNoOther(t *testing.T) {
	content, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, content := range map[string][]byte{"envs/a.pkl.gz": content, "envs/b.pkl.gz": content, "broken/a.pkl": []byte("none"), "broken/b.pkl.gz": content} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, content, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	command := func(args ...string) int {
		out.Reset()
		errs.Reset()
		return run(t.Context(), args, &app{strings.NewReader(""), &out, &errs})
	}
	if status := command("rail", "run", "--env", "envs", "--agent", "forward", "--out", "runs"); status != exitDone {
		t.Fatalf("got status %d, %s", status, &errs)
	}
	status := command("rail", "evaluate", "runs", "--env", "broken")
	if status != exitUsage || !strings.Contains(out.String(), "agrees") || !strings.Contains(errs.String(), filepath.Join("broken", "a.pkl")) {
		t.Errorf("got status %d, %s%s; want %d, b verified and a named", status, &out, &errs, exitUsage)
	}
}

func TestAnInputThatIsNoFileIsNotOpened(t *testing.T) {
	device := "/dev/null"
	if runtime.GOOS == "windows" {
		device = "NUL"
	}
	if _, err := openRegular(device); err == nil {
		t.Errorf("%s was opened", device)
	}
	if _, err := openRegular(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: got %v", err)
	}
}

func TestLabels(t *testing.T) {
	rows := [][2]string{{"a", "x"}, {"b", "x"}, {"c", "y"}, {"d", "x"}, {"d", "z"}}
	got := strings.Join(labels(len(rows), func(i int) (string, string) { return rows[i][0], rows[i][1] }), ", ")
	if want := "a, b, y, d: x, z"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAReplayGoesAsFarAsIsRecorded(t *testing.T) {
	file, err := readEnvironment(sample)
	if err != nil {
		t.Fatal(err)
	}
	rows := railfile.Trajectory{}
	for step := range 40 {
		for train := range len(file.Scenario.Trains) {
			if step != 7 || train != 3 {
				rows.Actions = append(rows.Actions, railfile.ActionRow{Episode: "e", Time: step, Agent: train, Action: rail.MoveForward})
			}
		}
	}
	rows.Actions = append(rows.Actions, railfile.ActionRow{Episode: "e", Time: 90, Agent: len(file.Scenario.Trains)}, rows.Actions[0])
	arrived := rows
	arrived.Arrived = []railfile.ArrivedRow{{Episode: "e"}}
	endless := *file.Scenario
	endless.MaxEpisodeSteps = 0
	for name, c := range map[string]struct {
		rows           railfile.Trajectory
		scenario       *rail.Scenario
		to             rail.Time
		steps, missing int
		finished       bool
	}{
		"ends with the last action":                      {rows, file.Scenario, rail.Time{}, 40, 1, false},
		"counts what is missing of the run alone":        {rows, file.Scenario, rail.At(10), 10, 1, false},
		"goes to the end if that was recorded":           {arrived, file.Scenario, rail.Time{}, 494, 454*6 + 1, true},
		"ends with the last action if there is no limit": {arrived, &endless, rail.Time{}, 40, 1, false},
		"is nothing without an action":                   {railfile.Trajectory{}, file.Scenario, rail.Time{}, 0, 0, false},
	} {
		t.Run("it "+name, func(t *testing.T) {
			e, err := rail.New(c.scenario, rail.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := (trajectory{episode: "e"}).replay(e, &c.rows)
			if err != nil {
				t.Fatal(err)
			}
			s := shot{env: e, policy: contest.Replay(r.actions), replay: &r}
			if _, _, err := s.shoot(t.Context(), c.to); err != nil {
				t.Fatal(err)
			}
			if e.Elapsed() != c.steps || r.Missing != c.missing || r.Finished != c.finished {
				t.Errorf("got %d steps, %d actions missing, finished %v; want %d, %d, %v",
					e.Elapsed(), r.Missing, r.Finished, c.steps, c.missing, c.finished)
			}
		})
	}
}
