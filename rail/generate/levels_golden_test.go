package generate

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

const (
	goldenLevels = "testdata/scenarios"
	goldenScenes = "../railfile/testdata/files/scenario_json"
)

func readLevelScene(t testing.TB, data []byte) *railfile.Scene {
	t.Helper()
	s, err := railfile.ReadScene(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// levelRun is a recorded run of the reference's generator. Results are compared as JSON, key by key.
type levelRun struct {
	Name     string            `json:"name"`
	Initial  string            `json:"initial"`
	Mark     bool              `json:"add_scene_attribute"`
	Seed     *uint32           `json:"numpy_global_seed"` // nil: nothing is drawn
	Metadata railfile.Metadata `json:"metadata"`
	Results  []map[string]any  `json:"results"`
}

func readLevelRun(data []byte) (*levelRun, error) {
	run := &levelRun{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	d.UseNumber()
	return run, d.Decode(run)
}

// initial is the scene that the run begins with.
func (run *levelRun) initial(t testing.TB) *railfile.Scene {
	t.Helper()
	s := readLevelScene(t, golden.Read(t, filepath.Join(goldenScenes, run.Initial+".gz")))
	if run.Mark {
		if err := MarkScenes(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// levelDifference is the first difference of what is derived from a scene and a recorded run.
func levelDifference(initial *railfile.Scene, data []byte) error {
	run, err := readLevelRun(data)
	if err != nil {
		return err
	}
	const anySeed = 5
	global, ids := numpyrand.NewRandomState(anySeed), numpyrand.NewRandomState(1)
	if run.Seed != nil {
		global = numpyrand.NewRandomState(*run.Seed)
	}
	start := global
	all, err := Levels(initial, &run.Metadata, &global, &ids)
	if err != nil {
		return err
	}
	if len(all) != len(run.Results) {
		return fmt.Errorf("got %d scenarios, want %d", len(all), len(run.Results))
	}
	if run.Seed == nil && !global.Equal(&start) {
		return fmt.Errorf("numbers were drawn where the reference draws none")
	}
	// The same once more, one scenario at a time, to see the stream after each.
	i, again := 0, start
	for _, level := range run.Metadata.Levels {
		for _, s := range level.Scenarios {
			one := level
			one.Scenarios = []railfile.ScenarioSpecs{s}
			if _, err := Levels(initial, &railfile.Metadata{Levels: []railfile.MetadataLevel{one}}, &again, &ids); err != nil {
				return err
			}
			if err := levelResultDifference(&all[i], run.Results[i], &again); err != nil {
				return fmt.Errorf("%s, %s%w", all[i].Level, all[i].Scenario, err)
			}
			i++
		}
	}
	if !again.Equal(&global) {
		return fmt.Errorf("the stream is elsewhere than after the scenarios one by one")
	}
	return nil
}

func levelResultDifference(d *Derived, want map[string]any, stream *numpyrand.RandomState) error {
	got := map[string]any{
		"level": d.Level, "scenario": d.Scenario, "seed": d.Seed,
		"lines": d.Scene.Lines, "flatlandLine": d.Scene.FlatlandLine, "flatlandTimetable": d.Scene.FlatlandTimetable,
	}
	timetables := []any{}
	for _, t := range d.Scene.Timetables {
		var m map[string]json.RawMessage
		data, err := t.MarshalJSON()
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &m); err != nil {
			return err
		}
		delete(m, "id") // random in the reference
		timetables = append(timetables, m)
	}
	got["timetables"] = timetables
	for key, specs := range map[string]*railfile.MalfunctionSpecs{
		"malfunction": d.Specs.Malfunction, "departure_malfunction": d.Specs.DepartureMalfunction,
	} {
		got[key] = nil
		if specs != nil {
			p, err := specs.Parameters()
			if err != nil {
				return err
			}
			got[key] = recordedMalfunction(p)
		}
	}
	if _, ok := want["numpy_global_rng_after"]; ok {
		got["numpy_global_rng_after"] = recordedStream(*stream)
	}
	if _, ok := want["env"]; ok {
		e, err := d.Environment(42)
		if err != nil {
			return err
		}
		got["env"] = recordedEnvironment(e)
	} else if len(d.Scene.Timetables) > 0 {
		return fmt.Errorf(": got %d trains, want none", len(d.Scene.Timetables))
	}
	data, err := json.Marshal(got)
	if err != nil {
		return err
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return err
	}
	return golden.SameTree("", tree, want)
}

// recordedMalfunction has the rate as Python writes it: 0 of no malfunctions is whole.
func recordedMalfunction(p rail.MalfunctionParameters) map[string]any {
	rate := railfile.Decimal(p.Rate)
	if p.Rate == 0 {
		rate = railfile.WholeNumber(0)
	}
	return map[string]any{"malfunction_rate": rate, "min_duration": p.MinDuration, "max_duration": p.MaxDuration}
}

func recordedStream(r numpyrand.RandomState) map[string]any {
	s := r.State()
	key := make([]byte, 0, 4*len(s.Key))
	for _, w := range s.Key {
		key = binary.LittleEndian.AppendUint32(key, w)
	}
	next := []uint32{r.Uint32(), r.Uint32(), r.Uint32()}
	return map[string]any{"pos": s.Pos, "next3": next, "key_sha256": fmt.Sprintf("%x", sha256.Sum256(key))[:16]}
}

func recordedEnvironment(e *rail.Env) map[string]any {
	s := e.Scenario()
	at := func(t rail.Time) any {
		if !t.Given {
			return nil
		}
		return t.Step
	}
	speeds, departures, arrivals := []string{}, [][]any{}, [][]any{}
	for i := range s.Trains {
		n, d, _ := e.MaxSpeed(i).Int64s()
		speeds = append(speeds, fmt.Sprintf("%d/%d", n, d))
		var ed, la []any
		for _, stop := range s.Trains[i].Stops {
			ed, la = append(ed, at(stop.EarliestDeparture)), append(la, at(stop.LatestArrival))
		}
		departures, arrivals = append(departures, ed), append(arrivals, la)
	}
	bridges := [][2]int{}
	for row := range s.Height {
		for col := range s.Width {
			if e.LevelFree(rail.Cell{Row: row, Col: col}) {
				bridges = append(bridges, [2]int{row, col})
			}
		}
	}
	type object = map[string]any
	var effects []any
	for _, f := range e.Effects() {
		switch f := f.(type) {
		case *rail.Breakdowns:
			_, index := f.Origin()
			effects = append(effects, object{"cls": "flatland.envs.malfunction_effects_generators.MalfunctionEffectsGenerator",
				"specs": object{"kwargs": object{"param_malfunction_gen": recordedMalfunction(f.MalfunctionParameters),
					"malfunction_cached_random_state": nil, "malfunction_rand_idx": index}}})
		case *rail.ConditionalMalfunctions:
			kwargs := recordedMalfunction(f.MalfunctionParameters)
			kwargs["earliest_malfunction"] = at(f.Earliest)
			effects = append(effects, object{"cls": "flatland.envs.malfunction_effects_generators.IntermediateStopMalfunctionEffectsGenerator",
				"specs": object{"kwargs": kwargs}})
		}
	}
	effect := effects[0]
	if len(effects) > 1 {
		effect = object{"cls": "flatland.core.effects_generator.MultiEffectsGeneratorWrapped", "specs": object{"args": effects}}
	}
	return object{"n_agents": e.Trains(), "max_episode_steps": e.MaxEpisodeSteps(), "speeds": speeds, "ed": departures, "la": arrivals,
		"level_free": bridges, "effects_generator": effect}
}

// TestLevelsEqualTheReferences: it derives the same scenarios, in every recorded value.
func TestLevelsEqualTheReferences(t *testing.T) {
	paths, err := filepath.Glob(goldenLevels + "/*.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) != 9 {
		t.Fatalf("got %d files, want 9", len(paths))
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json.gz"), func(t *testing.T) {
			t.Parallel()
			data := golden.Read(t, path)
			run, err := readLevelRun(data)
			if err != nil {
				t.Fatal(err)
			}
			initial := run.initial(t)
			tries := 60
			if len(run.Results) > 1 {
				tries = 20
			}
			given := func(path string) bool { return !strings.HasPrefix(path, "results.") }
			golden.Mutate(t, data, tries, given, func(data []byte) error { return levelDifference(initial, data) })
		})
	}
}
