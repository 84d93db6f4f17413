package railfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"skyrail/internal/golden"
)

// analysisFiles are the tables of the analysis.
var analysisFiles = []string{
	"all_actions.csv", "all_trains_positions.csv", "all_trains_arrived.csv", "all_trains_rewards_dones_infos.csv", "env_stats.csv", "agent_stats.csv",
}

// analysed are the trajectories below a root with what is stored of their environments.
func analysed(t testing.TB, root string) ([]*TrajectoryDir, []EnvStats) {
	t.Helper()
	var found []string // in the order of the reference: by the names of the folders
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == serialisedState {
			found = append(found, filepath.Dir(path))
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("got %d trajectories below %s, error %v", len(found), root, err)
	}
	var dirs []*TrajectoryDir
	var envs []EnvStats
	for _, path := range found {
		d := &TrajectoryDir{Path: path}
		episodes, err := d.Environments()
		if err != nil || len(episodes) != 1 {
			t.Fatalf("%s: episodes %q, %v", path, episodes, err)
		}
		episode := episodes[0]
		environment, err := filepath.Rel("testdata/files", filepath.Join(path, serialisedState, episode))
		if err != nil {
			t.Fatal(err)
		}
		s, l := dumpedScenario(t, environment)
		dirs = append(dirs, d)
		envs = append(envs, EnvStats{episode, s, l.Breakdown[0], int(l.Breakdown[1].Value), int(l.Breakdown[2].Value)})
	}
	return dirs, envs
}

// TestAnalysisEqualsTheReferences: it writes the tables of flatland-trajectory-analysis.
func TestAnalysisEqualsTheReferences(t *testing.T) {
	for name, root := range map[string]string{
		"all": goldenTrajectories, "old": filepath.Join(goldenTrajectories, "malfunction_deadlock_avoidance_heuristics"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dirs, envs := analysed(t, root)
			out := filepath.Join(t.TempDir(), "new")
			if err := WriteAnalysis(out, dirs, envs); err != nil {
				t.Fatal(err)
			}
			for _, file := range analysisFiles {
				got, err := os.ReadFile(filepath.Join(out, file))
				if err != nil {
					t.Fatal(err)
				}
				want := golden.Read(t, filepath.Join("testdata/analysis", name, file+".gz"))
				if file == "all_trains_arrived.csv" {
					err = sameArrivals(string(got), string(want))
				} else {
					err = difference(file, got, want)
				}
				if err != nil {
					t.Error(err)
				}
			}
			if err := WriteAnalysis(out, dirs, envs); err == nil || !strings.Contains(err.Error(), "is not empty") {
				t.Errorf("into a directory that is not empty: got error %v", err)
			}
		})
	}
}

// sameArrivals compares a table of results with the reference's, which is off in last digits and keeps the old name of a
// column beside the new one.
func sameArrivals(got, want string) error {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) || g[0] != "episode_id,env_time,success_rate,normalized_reward" {
		return fmt.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i := 1; i < len(g)-1; i++ {
		a, b := strings.Split(g[i], ","), strings.Split(w[i], ",")
		if len(b) == 5 { // of the two columns one is empty
			b = append(b[:3], b[3]+b[4])
		}
		for k := range max(len(a), len(b)) {
			if len(a) != 4 || len(b) != 4 || a[k] != b[k] && (k != 3 || !sameDigits(a[k], b[k])) {
				return fmt.Errorf("line %d:\n got %s\nwant %s", i+1, g[i], w[i])
			}
		}
	}
	return nil
}

// sameDigits says whether two decimals are the same but for what pandas' fast parser gets wrong.
func sameDigits(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && math.Abs(x-y) <= 2e-16
}

// TestEveryCellOfAnOldTrajectoryCounts: it finds one changed cell of a table that an older version wrote.
func TestEveryCellOfAnOldTrajectoryCounts(t *testing.T) {
	dirs, _ := analysed(t, filepath.Join(goldenTrajectories, "malfunction_deadlock_avoidance_heuristics"))
	type table struct {
		csv   string
		write func(*bytes.Buffer, ...*TrajectoryDir) error
	}
	for name, to := range map[string]table{
		ActionsFile:   {analysisFiles[0], func(b *bytes.Buffer, d ...*TrajectoryDir) error { return WriteActionsCSV(b, d...) }},
		PositionsFile: {analysisFiles[1], func(b *bytes.Buffer, d ...*TrajectoryDir) error { return WritePositionsCSV(b, d...) }},
		ArrivedFile:   {analysisFiles[2], func(b *bytes.Buffer, d ...*TrajectoryDir) error { return WriteArrivedCSV(b, d...) }},
		RewardsFile:   {analysisFiles[3], func(b *bytes.Buffer, d ...*TrajectoryDir) error { return WriteRewardsCSV(b, d...) }},
	} {
		want := golden.Read(t, filepath.Join("testdata/analysis/old", to.csv+".gz"))
		for i, d := range dirs {
			changedDir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(changedDir, eventLogs), 0o755); err != nil {
				t.Fatal(err)
			}
			mutateTable(t, golden.Read(t, filepath.Join(d.Path, name+".gz")), 8, func(data []byte) error {
				if err := os.WriteFile(filepath.Join(changedDir, name), data, 0o644); err != nil {
					t.Fatal(err)
				}
				with := append([]*TrajectoryDir{}, dirs...)
				with[i] = &TrajectoryDir{Path: changedDir}
				var got bytes.Buffer
				if err := to.write(&got, with...); err != nil {
					return err
				}
				if name == ArrivedFile {
					return sameArrivals(got.String(), string(want))
				}
				return difference(to.csv, got.Bytes(), want)
			})
		}
	}
}

func compressed(t testing.TB, data string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(data))
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
