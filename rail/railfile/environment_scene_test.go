package railfile

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skyrail/internal/golden"
	"skyrail/rail"
)

// TestScenesAreOpenedAsTheReferencesEnvironments: an environment of a scene is what the reference made and stored of it, and
// goes the same way.
func TestScenesAreOpenedAsTheReferencesEnvironments(t *testing.T) {
	for scene, stored := range map[string]string{
		"level_0_scenario_1": "v4/competition_level_0_scenario_1_no_malfunction",
		"example_2_scenario": "v4/example_2_scenario",
		"example_3_scenario": "v4/example_3_scenario",
	} {
		t.Run(scene, func(t *testing.T) {
			t.Parallel()
			f, got := openFile(t, filepath.Join("testdata/files/scenario_json", scene+".json"))
			if f.Container != "json" || f.Scene == nil || f.HasStream || f.NeedsReset() || f.NeedsSeed() || len(f.State.Effects) > 0 || f.State.Seed.Given {
				t.Errorf("got %s, stream %v, effects %v, seed %v", f.Container, f.HasStream, f.State.Effects, f.State.Seed)
			}
			_, want := openFile(t, filepath.Join("testdata/files", stored+".pkl"))
			if err := want.SetEffects(nil); err != nil {
				t.Fatal(err)
			}
			if err := scenarioDifference(got.Scenario(), want.Scenario()); err != nil {
				t.Error(err)
			}
			for k := range 60 {
				// What the last step told a train is only known of trains that took one.
				g, w := got.Snapshot(), want.Snapshot()
				for i := range w.Trains {
					if k == 0 {
						g.Trains[i].Signals, w.Trains[i].Signals = rail.Signals{}, rail.Signals{}
						g.Trains[i].Next, w.Trains[i].Next = rail.NoState, rail.NoState
					}
					if diff := cmp.Diff(w.Trains[i], g.Trains[i], sameState); diff != "" {
						t.Fatalf("after %d steps: train %d (-want +got):\n%s", k, i, diff)
					}
				}
				actions := make([]rail.Action, got.Trains())
				for i := range actions {
					actions[i] = []rail.Action{rail.MoveForward, rail.MoveForward, rail.StopMoving, rail.MoveLeft, rail.MoveForward}[(i+k)%5]
				}
				if err := errors.Join(got.Step(actions), want.Step(actions)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestJSONIsToldByItsContent: blanks may come before it, and what is no scene is refused with its place.
func TestJSONIsToldByItsContent(t *testing.T) {
	f, err := ReadEnvironment([]byte(" \r\n\t" + smallScene))
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(7)
	if e, err := f.Open(&seed); err != nil || e.Seed().Value != 7 || e.Trains() != 1 {
		t.Errorf("with a seed: got %v", err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"a scene outside":  {strings.Replace(smallScene, `"agent_targets": [[0, 2]]`, `"agent_targets": [[0, 3]]`, 1), "train 0 has its target at (0, 3)"},
		"half a scene":     {smallScene[:40], "unexpected end"},
		"no heading":       {strings.Replace(smallScene, "[[[1], [1]]]", "[[[5], [1]]]", 1), "train 0: direction 5 at stop 0"},
		"no transitions":   {strings.Replace(smallScene, "1025", "70000", 1), "grid[0]: "},
		"another object":   {`{"a": 1}`, "there is no gridDimensions"},
		"a byte too early": {"x" + smallScene, "neither a pickle of protocol 2 to 5 nor a MessagePack map"},
	} {
		if _, err := ReadEnvironment([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
	_, err = ReadEnvironment(golden.Read(t, filepath.Join(goldenJSON, "metadata_competition_sample.json.gz")))
	var other *NotEnvironmentError
	if !errors.As(err, &other) || other.Product || other.Is != "metadata of scenarios" {
		t.Errorf("metadata: got error %v", err)
	}
}
