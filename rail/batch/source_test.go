package batch

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/generate"
)

func TestParseParameters(t *testing.T) {
	p, err := ParseParameters([]byte(`{"n_agents": 3, "x_dim": 25, "y_dim": 26, "seed": 18446744073709551615, "malfunction_interval": 100,
		"speed_ratios": [[1, 0.5], [0.5, 0.5]], "grid_mode": true, "post_seed": 4, "line_length": 3, "p_level_free": 0.5}`))
	if err != nil {
		t.Fatal(err)
	}
	if p.Agents != 3 || p.Width != 25 || p.Height != 26 || p.Seed != math.MaxUint64 || p.Malfunction.Rate != generate.MalfunctionRate(100) ||
		len(p.Line.SpeedRatios) != 2 || p.Line.SpeedRatios[1].Speed != 0.5 || !p.Rail.GridMode || *p.PostSeed != 4 || p.Line.LineLength != 3 ||
		p.Rail.LevelFree != 0.5 || p.Rail.Cities != generate.DefaultParameters().Rail.Cities {
		t.Errorf("got %+v", p)
	}
	for text, want := range map[string]string{
		`{"n_agent": 3}`: `unknown field "n_agent"`, `{"n_agents": 2.5}`: "n_agents", `{"seed": -1}`: "seed", `{} {}`: "more than one", `[]`: "parameters", ``: "parameters",
	} {
		if _, err := ParseParameters([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want something about %s", text, err, want)
		}
	}
}

func TestFromSuite(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "level_2"), 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	stem := filepath.Join(dir, "level_2", "level_2_scenario_1.pkl")
	if _, err := FromSuite(dir, 2, 1); err == nil || !strings.Contains(err.Error(), "skyrail rail suite") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(stem+".gz", data, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := FromSuite(dir, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !s.first.Equal(fileSource(t).first) {
		t.Error("it is another environment")
	}
	if err := os.WriteFile(stem, []byte("none"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := FromSuite(dir, 2, 1); err == nil || !strings.Contains(err.Error(), "both there") {
		t.Errorf("got %v", err)
	}
}

// TestFilesThatNeedAReset: the oldest files have no stream, or trains on the map before their start.
func TestFilesThatNeedAReset(t *testing.T) {
	source := fileSource(t)
	source.first = source.first.Clone()
	state := source.first.Snapshot()
	state.Stream = numpyrand.RandomState{}
	state.Seed = rail.Seed{}
	state.Effects = []rail.Effect{rail.NewBreakdowns(rail.MalfunctionParameters{Rate: 0.1, MinDuration: 1, MaxDuration: 2})}
	if err := source.first.Restore(state); err != nil {
		t.Fatal(err)
	}
	data, _ := source.first.MarshalBinary()
	old, err := FromFile(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, fresh := range []bool{false, true} {
		b, err := New([]*Source{old}, Options{Rewards: rail.DefaultRewards(), Fresh: fresh})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		actions := make([]int8, b.Trains())
		if err := b.Step(actions); err != ErrNotBegun {
			t.Errorf("a step before the reset: got %v, want ErrNotBegun", err)
		}
		if err := b.Reset(nil, nil, nil); err == nil || !strings.Contains(err.Error(), "seed") {
			t.Errorf("a reset without a seed: got %v", err)
		}
		if err := b.Reset([]uint64{1}, nil, nil); err != nil {
			t.Error(err)
		}
		if err := b.Step(actions); err != nil {
			t.Error(err)
		}
		if err := b.Reset(nil, nil, nil); err != nil {
			t.Errorf("the stream goes on: got %v", err)
		}
	}
}
