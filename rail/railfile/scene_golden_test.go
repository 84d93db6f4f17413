package railfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/rail"
)

const goldenJSON = "testdata/files/scenario_json"

// sameValue compares two JSON values, numbers by how they are written.
func sameValue(got, want []byte) error {
	var g, w any
	for _, v := range []struct {
		data []byte
		to   *any
	}{{got, &g}, {want, &w}} {
		d := json.NewDecoder(bytes.NewReader(v.data))
		d.UseNumber()
		if err := d.Decode(v.to); err != nil {
			return err
		}
	}
	return golden.SameTree("", g, w)
}

// goldenJSONFiles are the names of the JSON files with a prefix, without .json.gz.
func goldenJSONFiles(t testing.TB, metadata bool) []string {
	t.Helper()
	paths, err := filepath.Glob(goldenJSON + "/*.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".json.gz")
		if strings.HasPrefix(name, "metadata") == metadata {
			names = append(names, name)
		}
	}
	if len(names) < 6 {
		t.Fatalf("got %d files", len(names))
	}
	return names
}

// TestScenesAreWrittenAsTheyWereRead: it gives the same bytes, and no value goes unread.
func TestScenesAreWrittenAsTheyWereRead(t *testing.T) {
	for _, name := range goldenJSONFiles(t, false) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := golden.Read(t, filepath.Join(goldenJSON, name+".json.gz"))
			s, err := ReadScene(bytes.NewReader(want))
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Extra) > 0 {
				t.Errorf("got keys that the format does not name: %v", s.Extra)
			}
			var got bytes.Buffer
			if err := s.Write(&got); err != nil {
				t.Fatal(err)
			}
			if err := difference(name, got.Bytes(), want); err != nil {
				t.Error(err)
			}
			golden.Mutate(t, want, 16, unwritten, func(data []byte) error {
				s, err := ReadScene(bytes.NewReader(data))
				if err != nil {
					return err
				}
				var got bytes.Buffer
				if err := s.Write(&got); err != nil {
					return err
				}
				return sameValue(got.Bytes(), want)
			})
		})
	}
}

// unwritten names values that are null, or may be, and so cannot be changed: times at the ends.
func unwritten(path string) bool {
	p := strings.Split(path, ".")
	last := p[len(p)-1]
	switch {
	case len(p) > 1 && p[1] == "earliest_departures":
		return last != "0"
	case len(p) > 1 && p[1] == "latest_arrivals", last == "latestArrival":
		return strings.Contains(path, "latestArrival") && p[len(p)-2] == "0" || last == "0"
	}
	return last == "earliestDeparture" && p[len(p)-2] != "0"
}

// scenarioDifference is the first difference of two scenarios. The order of level-free cells does not count.
func scenarioDifference(got, want *rail.Scenario) error {
	g, w := got.Clone(), want.Clone()
	for _, s := range []*rail.Scenario{g, w} {
		slices.SortFunc(s.LevelFree, func(a, b rail.Cell) int { return slices.Compare([]int{a.Row, a.Col}, []int{b.Row, b.Col}) })
	}
	if len(g.Trains) != len(w.Trains) {
		return fmt.Errorf("got %d trains, want %d", len(g.Trains), len(w.Trains))
	}
	for i := range w.Trains {
		if !reflect.DeepEqual(g.Trains[i], w.Trains[i]) {
			return fmt.Errorf("train %d:\n got %+v\nwant %+v", i, g.Trains[i], w.Trains[i])
		}
	}
	g.Trains, w.Trains = nil, nil
	if !reflect.DeepEqual(g, w) {
		return fmt.Errorf("got %d x %d, %d steps, level-free %v, want %d x %d, %d steps, level-free %v (or the grids differ)",
			g.Height, g.Width, g.MaxEpisodeSteps, g.LevelFree, w.Height, w.Width, w.MaxEpisodeSteps, w.LevelFree)
	}
	return nil
}

// TestScenesBecomeTheReferencesEnvironments: it is the scenario that the reference made of the JSON and stored.
func TestScenesBecomeTheReferencesEnvironments(t *testing.T) {
	for _, c := range []struct {
		scene, environment string
		adapt              func(scene, stored *rail.Scenario) // what is known to differ
	}{
		{"example_2_scenario", "v4/example_2_scenario", nil},
		{"example_3_scenario", "v4/example_3_scenario", nil},
		{"level_0_scenario_1", "v4/competition_level_0_scenario_1_no_malfunction", nil},
		// The stored environment has six trains, the JSON's two first.
		{"level_0_scenario_1", "v4/level_0_scenario_1", func(scene, stored *rail.Scenario) {
			stored.Trains = stored.Trains[:len(scene.Trains)]
			stored.MaxEpisodeSteps = scene.MaxEpisodeSteps
		}},
		// All six, as drawn: with departures from the target, that the generator drops.
		{"scene_sample_initial", "v4/level_0_scenario_1", func(scene, _ *rail.Scenario) {
			for i := range scene.Trains {
				scene.Trains[i].Stops[len(scene.Trains[i].Stops)-1].EarliestDeparture = rail.Time{}
			}
		}},
	} {
		t.Run(c.scene+" and "+filepath.Base(c.environment), func(t *testing.T) {
			t.Parallel()
			scene := golden.Read(t, filepath.Join(goldenJSON, c.scene+".json.gz"))
			stored := golden.Read(t, filepath.Join("testdata/files", c.environment+".pkl.loaded.json.gz"))
			check := func(scene, stored []byte) error {
				s, err := ReadScene(bytes.NewReader(scene))
				if err != nil {
					return err
				}
				got, err := s.Scenario()
				if err != nil {
					return err
				}
				want, _, err := readDump(stored)
				if err != nil {
					return err
				}
				if c.adapt != nil {
					c.adapt(got, want)
				}
				return scenarioDifference(got, want)
			}
			golden.Mutate(t, scene, 20, undecisive, func(data []byte) error { return check(data, stored) })
			if c.adapt == nil {
				golden.Mutate(t, stored, 20, unread, func(data []byte) error { return check(scene, data) })
			}
		})
	}
}

// undecisive names values of a scene that are no part of its scenario, or cannot be changed because they are null.
func undecisive(path string) bool {
	switch p := strings.Split(path, "."); p[0] {
	case "grid", "overpasses":
		return false
	case "gridDimensions":
		return p[1] == "cellSize"
	case "flatlandLine":
		return unpaired(p)
	case "flatlandTimetable":
		return unwritten(path)
	}
	return true
}

// unpaired names positions that may be the target as an extra stop, which has no direction and is dropped: all but the
// first.
func unpaired(path []string) bool { return path[1] == "agent_positions" && path[3] != "0" }

// unread names values of a dump that are no part of a scenario.
func unread(path string) bool {
	p := strings.Split(path, ".")
	if p[0] == "width" || p[0] == "height" || p[0] == "grid" || p[0] == "level_free_positions" || path == "max_episode_steps" {
		return false
	}
	return p[0] != "agents" || len(p) < 3 || p[2] != "initial" && p[2] != "target" && p[2] != "max_speed" &&
		p[2] != "earliest_departure" && p[2] != "latest_arrival"
}
