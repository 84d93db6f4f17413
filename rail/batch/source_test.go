package batch

import (
	"errors"
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

// uneven are parameters of which a railway comes, but none of the seed unevenSeed.
func uneven(t testing.TB) *Source {
	t.Helper()
	p := generate.DefaultParameters()
	p.Seed, p.Agents, p.Line.LineLength = 750, 3, 3
	p.Rail = generate.SparseRail{Cities: 3, RailPairsInCity: 2, RailsBetweenCities: 1, GridMode: true}
	s, err := Generated(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const unevenSeed = 323516

// TestNoRailway: a step that cannot make the next railway loses nothing, and is not the end.
func TestNoRailway(t *testing.T) {
	for _, mode := range []Autoreset{NextStep, SameStep} {
		for _, fresh := range []bool{false, true} {
			checkNoRailway(t, Options{Rewards: rail.DefaultRewards(), Autoreset: mode, Fresh: fresh})
		}
	}
}

func checkNoRailway(t *testing.T, o Options) {
	t.Helper()
	b, w := begin(t, []*Source{generated(t, 1, 3), uneven(t)}, o, 0, false)
	twin, _ := begin(t, []*Source{generated(t, 1, 3)}, o, 0, false) // the first alone
	// On a stream whose next railway is none.
	stream := numpyrand.NewHashedRandomState(unevenSeed)
	b.Env(1).SetStream(stream, rail.Seed{Value: unevenSeed, Given: true, History: []uint64{unevenSeed}})
	if err := b.Env(1).SetEffects(nil); err != nil { // they would draw from it
		t.Fatal(err)
	}
	actions := []int8{2, 2, 2, 2, 2, 2}
	step := func() error {
		err := b.Step(actions)
		if err == nil {
			err = twin.Step(actions[:3])
		}
		if !b.Env(0).Equal(twin.Env(0)) {
			t.Fatalf("%+v: the first environment is another than without the second", o)
		}
		return err
	}
	ends := 0
	for b.worlds[1].why == nil {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		if w.AllDone[1] {
			ends++
		}
	}
	last := b.Env(1)
	if ends != 1 || !last.AllDone() || w.Now.Elapsed[1] != int32(last.Elapsed()) || w.Now.State[3] != int8(last.State(0)) {
		t.Errorf("%+v: it has ended %d times, and is seen at step %d of %d", o, ends, w.Now.Elapsed[1], last.Elapsed())
	}
	if o.Autoreset == SameStep && !w.AllDone[1] || o.Autoreset == NextStep && (w.AllDone[1] || w.Truncated[3] || w.Terminated[3]) {
		t.Errorf("%+v: got ends %v, terminations %v, truncations %v", o, w.AllDone, w.Terminated, w.Truncated)
	}
	before := b.Env(0).Clone()
	c := b.Clone()
	defer c.Close()
	for _, stuck := range []*Batch{b, b, c} {
		err := stuck.Step(actions)
		if wrong := (*generate.ParameterError)(nil); !errors.As(err, &wrong) ||
			!strings.HasPrefix(err.Error(), "environment 1: the next railway after seed 323516: line_length 3: train 1 has 2 stops") {
			t.Fatalf("%+v: got %v", o, err)
		}
	}
	if !b.Env(0).Equal(before) {
		t.Errorf("%+v: the first environment was stepped", o)
	}
	if err := b.Reset(nil, nil, []bool{false, true}); err != nil {
		t.Fatal(err)
	}
	if b.Env(1).Elapsed() != 0 || !b.Env(0).Equal(before) || len(b.Live(1)) != 3 {
		t.Errorf("%+v: got another episode than one at its start, or of the first too", o)
	}
	if start := b.Env(1).Scenario().Trains[0].Initial.Cell; start != (rail.Cell{Row: 23, Col: 6}) {
		t.Errorf("%+v: train 0 starts at %v, not where it does on the railway after", o, start)
	}
	for range 50 {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	kept := b.Env(1).Elapsed()
	if err := b.Reset([]uint64{0, unevenSeed}, nil, []bool{false, true}); err == nil || !strings.HasPrefix(err.Error(), "environment 1: seed 323516: line_length 3") {
		t.Errorf("%+v: got %v", o, err)
	}
	if b.Env(1).Elapsed() != kept {
		t.Errorf("%+v: the episode was not kept", o)
	}
	if err := step(); err != nil {
		t.Errorf("%+v: after a reset that was refused: %v", o, err)
	}
}

// TestNoStepAfterTheEnd: environments whose source is at its end.
func TestNoStepAfterTheEnd(t *testing.T) {
	b, _ := begin(t, []*Source{generated(t, 1, 3), generated(t, 1, 3)}, Options{Rewards: rail.DefaultRewards(), Autoreset: Disabled}, 0, false)
	for !b.Env(1).AllDone() {
		if err := b.Step(make([]int8, 6)); err != nil {
			t.Fatal(err)
		}
	}
	same, err := Join([]*Batch{b}, Options{Rewards: rail.DefaultRewards(), Autoreset: SameStep})
	if err != nil {
		t.Fatal(err)
	}
	defer same.Close()
	if err := same.Reset(nil, nil, []bool{true, false}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := same.Step(make([]int8, 6)); !errors.Is(err, rail.ErrDone) || same.Env(0).Elapsed() != 0 {
			t.Errorf("got %v, the first is at step %d", err, same.Env(0).Elapsed())
		}
	}
}
