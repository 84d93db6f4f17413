package contest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/rail"
	"skyrail/rail/agent"
	"skyrail/rail/railfile"
)

// The tests in this file run flatland-rl 4.2.5 itself. SKYRAIL_FLATLAND is a Python that has it; `make test` makes one.

// flatland runs testdata/flatland_peer.py.
func flatland(t *testing.T, args ...string) error {
	t.Helper()
	python := golden.FlatlandPython(t)
	script, err := filepath.Abs("testdata/flatland_peer.py")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), python, append([]string{script}, args...)...).CombinedOutput()
	if err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if len(out) > 2000 {
			out = out[len(out)-2000:]
		}
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// readFresh reads a trajectory that flatland-rl has just recorded.
func readFresh(t *testing.T, dir, episode string) recording {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "serialised_state", episode+".pkl"))
	if err != nil {
		t.Fatal(err)
	}
	r := recording{episode: episode}
	if r.file, err = railfile.ReadEnvironment(data); err != nil {
		t.Fatal(err)
	}
	d := railfile.TrajectoryDir{Path: dir}
	if r.rows, err = d.Read(); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFreshTrajectoriesOfFlatland verifies what flatland-rl records of random policies in random environments, and
// finds one spoilt cell in each.
func TestFreshTrajectoriesOfFlatland(t *testing.T) {
	const episodes = 12
	seed := golden.Seed(t) % 1_000_000
	out := t.TempDir()
	if err := flatland(t, "record", out, fmt.Sprint(seed), fmt.Sprint(episodes)); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != episodes {
		t.Fatalf("%d trajectories, %v", len(entries), err)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, entry := range entries {
		t.Run(entry.Name(), func(t *testing.T) {
			dir := filepath.Join(out, entry.Name())
			r := readFresh(t, dir, entry.Name())
			name, _, _ := strings.Cut(entry.Name(), "_")
			rewards, err := rail.RewardsByName(name)
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Episode: r.episode, Rewards: &rewards, Strict: true}
			report, err := Verify(t.Context(), r.open(t), r.rows, o)
			if err != nil {
				t.Fatal(err)
			}
			if !report.Agrees || !report.Finished {
				t.Fatalf("%v\n%v", report.First, report.Differences)
			}
			sameBytes(t, dir, r, rewards)
			for range 10 {
				file := spoil(t, rng, dir)
				d := railfile.TrajectoryDir{Path: dir}
				rows, err := d.Read()
				var table *railfile.TableError
				if errors.As(err, &table) {
					file.restore(t)
					continue // found: it is no table any more
				}
				if err != nil {
					t.Fatal(err)
				}
				report, err := Verify(t.Context(), r.open(t), rows, o)
				if err != nil {
					t.Fatal(err)
				}
				if report.Agrees {
					t.Errorf("%s went unnoticed", file.what)
				}
				file.restore(t)
			}
		})
	}
}

// sameBytes runs the recorded actions again and compares the tables that we write with those of flatland-rl.
func sameBytes(t *testing.T, dir string, r recording, rewards rail.Rewards) {
	t.Helper()
	again := t.TempDir()
	play(t, r.open(t), Replay(r.rows.Actions), rewards, again, r.episode)
	for _, name := range []string{railfile.ActionsFile, railfile.PositionsFile, railfile.RewardsFile, railfile.ArrivedFile} {
		got, err := os.ReadFile(filepath.Join(again, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s has other bytes than flatland-rl's", name)
		}
	}
}

// play runs a policy and writes the trajectory with its environment.
func play(t *testing.T, e *rail.Env, p agent.Policy, rewards rail.Rewards, dir, episode string) Figures {
	t.Helper()
	w, err := railfile.CreateTrajectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	start := func() (*railfile.Recorder, error) {
		content, err := railfile.SaveEnvironment(e)
		if err != nil {
			return nil, err
		}
		return railfile.NewRecorder(w, e, episode, 0), os.WriteFile(filepath.Join(dir, "serialised_state", episode+".pkl"), content, 0o644)
	}
	figures, err := Play(t.Context(), e, p, PlayOptions{Rewards: rewards, Start: start})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return figures
}

// spoiltFile is a table with one changed cell.
type spoiltFile struct {
	path, what string
	was        []byte
}

func (f spoiltFile) restore(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(f.path, f.was, 0o644); err != nil {
		t.Fatal(err)
	}
}

// spoil changes one digit of one cell of a table that a run is compared with.
func spoil(t *testing.T, rng *rand.Rand, dir string) spoiltFile {
	t.Helper()
	name := []string{railfile.PositionsFile, railfile.RewardsFile, railfile.ArrivedFile}[rng.IntN(3)]
	f := spoiltFile{path: filepath.Join(dir, name)}
	var err error
	if f.was, err = os.ReadFile(f.path); err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(f.was, []byte("\n"))
	for {
		k := 1 + rng.IntN(len(lines)-1)
		cells := bytes.Split(lines[k], []byte("\t"))
		if len(cells) < 4 {
			continue
		}
		c := 1 + rng.IntN(min(len(cells)-1, 3)) // time, train, position or reward; of the result the time and the rates
		at := bytes.IndexAny(cells[c], "123456789")
		if at < 0 {
			continue
		}
		changed := bytes.Clone(cells[c])
		changed[at] = '1' + (changed[at]-'1'+1)%9
		f.what = fmt.Sprintf("%s, line %d: %s as %s", name, k+1, cells[c], changed)
		cells[c] = changed
		lines[k] = bytes.Join(cells, []byte("\t"))
		if err := os.WriteFile(f.path, bytes.Join(lines, nil), 0o644); err != nil {
			t.Fatal(err)
		}
		return f
	}
}

// TestFlatlandAgreesWithOurRuns has flatland-rl evaluate trajectories of ours.
func TestFlatlandAgreesWithOurRuns(t *testing.T) {
	source := readRecording(t, trajectories+"/ecml_level_0_scenario_1")
	for name, policy := range map[string]string{
		"ecml2026": "deadlock-avoidance", "default": "random", "base-default": "forward", "multi-objective": "shortest-path", "punctuality": "deadlock-avoidance-classic",
	} {
		t.Run(name, func(t *testing.T) {
			rewards, err := rail.RewardsByName(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := agent.New(policy, agent.Options{Seed: 5})
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			play(t, source.open(t), p, rewards, dir, "ours")
			if err := flatland(t, "evaluate", dir, "ours", name); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFlatlandGoesOnFromOurFiles saves environments before and in the middle of an episode; flatland-rl loads and runs
// them to their end, and the trajectory that it records agrees with what we make of the same file.
func TestFlatlandGoesOnFromOurFiles(t *testing.T) {
	seed := golden.Seed(t) % 1_000_000
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, name := range []string{"default_malfunction", "ecml_level_0_scenario_1", "basedefault_intermediate"} {
		source := readRecording(t, filepath.Join(trajectories, name))
		for _, steps := range []int{0, 1 + rng.IntN(80)} {
			t.Run(fmt.Sprintf("%s after %d", name, steps), func(t *testing.T) {
				e := source.open(t)
				replay := Replay(source.rows.Actions)
				if steps > 0 {
					if _, err := Play(t.Context(), e, replay, PlayOptions{Rewards: rail.ECML2026Rewards(), EndStep: rail.At(steps)}); err != nil {
						t.Fatal(err)
					}
				}
				content, err := railfile.SaveEnvironment(e)
				if err != nil {
					t.Fatal(err)
				}
				file, seed := filepath.Join(t.TempDir(), "saved.pkl"), fmt.Sprint(rng.IntN(1000))
				if err := os.WriteFile(file, content, 0o644); err != nil {
					t.Fatal(err)
				}
				// Where a train has visited several platforms of a stop, the order of a hash set decides in flatland-rl
				// whether it stood, and that differs from run to run. So it may run the same again.
				var report *Report
				for range 8 {
					if report = continued(t, file, content, seed); report.Agrees {
						break
					}
				}
				if !report.Agrees || !report.Finished {
					t.Errorf("%v\n%v", report.First, report.Differences)
				}
			})
		}
	}
}

// continued is what we make of a run of flatland-rl's from a file to the end.
func continued(t *testing.T, file string, content []byte, seed string) *Report {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	if err := flatland(t, "continue", file, out, seed); err != nil {
		t.Fatal(err)
	}
	r := readFresh(t, out, "continued")
	ours, err := railfile.ReadEnvironment(content)
	if err != nil {
		t.Fatal(err)
	}
	start, err := ours.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	ecml := rail.ECML2026Rewards()
	report, err := Verify(t.Context(), start, r.rows, Options{Episode: "continued", Rewards: &ecml, Strict: true, Claimed: r.open(t)})
	if err != nil {
		t.Fatal(err)
	}
	return report
}
