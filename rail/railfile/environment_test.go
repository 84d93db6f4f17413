package railfile

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skyrail/internal/golden"
	"skyrail/internal/pyvalue"
	"skyrail/rail"
)

// openFile reads and opens a recorded environment, with a seed if it needs one.
func openFile(t testing.TB, path string) (*Environment, *rail.Env) {
	t.Helper()
	f, err := ReadEnvironment(golden.Read(t, path+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(5)
	e, err := f.Open(nil)
	if errors.Is(err, ErrNoStream) {
		e, err = f.Open(&seed)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f, e
}

// sameState compares snapshots; effects and streams are compared by Env.Equal.
var sameState = cmp.Options{
	cmp.Comparer(rail.Fraction.Equal), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(rail.Snapshot{}, "Effects", "Stream"),
}

// TestSavedEnvironmentsAreWhatTheyWere saves every recorded environment, and reads it again.
func TestSavedEnvironmentsAreWhatTheyWere(t *testing.T) {
	for _, path := range environmentFiles(t) {
		t.Run(strings.TrimPrefix(path, "testdata/files/"), func(t *testing.T) {
			t.Parallel()
			_, e := openFile(t, path)
			data, err := SaveEnvironment(e)
			if err != nil {
				t.Fatal(err)
			}
			f, err := ReadEnvironment(data)
			if err != nil {
				t.Fatal(err)
			}
			again, err := f.Open(nil)
			if err != nil {
				t.Fatal(err)
			}
			if !again.Equal(e) {
				t.Error("it became another environment")
			}
			if diff := cmp.Diff(e.Snapshot(), again.Snapshot(), sameState); diff != "" {
				t.Errorf("its state is another one (-was +is):\n%s", diff)
			}
			once, err := SaveEnvironment(again)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(once, data) {
				t.Error("saved once more it has other bytes")
			}
		})
	}
}

// TestSnapshotsAreTheReferences runs recorded actions from the file before the first step, and compares what it then saves
// with the snapshot that flatland-rl saved in that step.
func TestSnapshotsAreTheReferences(t *testing.T) {
	compared := 0
	for _, name := range []string{"default_malfunction", "basedefault_intermediate", "ecml_level_0_scenario_1"} {
		dir := "testdata/files/trajectories/" + name
		d := TrajectoryDir{Path: dir}
		episodes, err := d.Episodes()
		if err != nil {
			t.Fatal(err)
		}
		episode := episodes[0]
		steps, err := d.Snapshots(episode)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := d.Read()
		if err != nil {
			t.Fatal(err)
		}
		_, e := openFile(t, dir+"/serialised_state/"+episode+".pkl")
		for _, step := range steps {
			for e.Elapsed() < step {
				actions := make([]rail.Action, e.Trains())
				for _, r := range rows.Actions {
					if r.Time == e.Elapsed() {
						actions[r.Agent] = r.Action
					}
				}
				if err := e.Step(actions); err != nil {
					t.Fatal(err)
				}
			}
			snapshot, err := SnapshotFile(episode, step)
			if err != nil {
				t.Fatal(err)
			}
			f, want := openFile(t, dir+"/"+snapshot)
			compared++
			got, wanted := e.Snapshot(), want.Snapshot()
			for i := range got.Trains {
				if diff := cmp.Diff(wanted.Trains[i], got.Trains[i], sameState); diff != "" {
					t.Errorf("%s: train %d (-want +got):\n%s", snapshot, i, diff)
				}
			}
			if got.Elapsed != wanted.Elapsed || !got.Stream.Equal(&wanted.Stream) {
				t.Errorf("%s: another moment, or another stream", snapshot)
			}
			if breakdowns := f.State.Effects; len(breakdowns) == 1 && !e.Equal(want) { // the departure delays do not save their numbers
				t.Errorf("%s: another environment", snapshot)
			}
		}
	}
	if compared < 12 {
		t.Errorf("%d snapshots were compared", compared)
	}
}

// spoilt returns a recorded environment's dictionary after a change.
func spoilt(t *testing.T, change func(*pyvalue.Dict)) []byte {
	t.Helper()
	value, err := pyvalue.Decode(golden.Read(t, "testdata/files/generated/byvalue_step60.pkl.gz"), pyvalue.Options{Globals: globals})
	if err != nil {
		t.Fatal(err)
	}
	change(value.(*pyvalue.Dict))
	data, err := pyvalue.EncodePickle(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func agentOf(d *pyvalue.Dict, i int) *pyvalue.Object {
	agents, _ := d.Get("agents")
	return agents.(*pyvalue.List).Items[i].(*pyvalue.Object)
}

func TestReadEnvironmentRefuses(t *testing.T) {
	text := func(s string) pyvalue.Value { return pyvalue.Str(s) }
	for name, c := range map[string]struct {
		change func(*pyvalue.Dict)
		want   string
	}{
		"no grid":              {func(d *pyvalue.Dict) { d.Set("grid", pyvalue.None{}) }, "grid: want a list"},
		"a ragged grid":        {func(d *pyvalue.Dict) { grid(d).Items[3].(*pyvalue.List).Items = nil }, "grid[3]: want 35 cells"},
		"a cell too large":     {func(d *pyvalue.Dict) { grid(d).Items[3].(*pyvalue.List).Items[2] = pyvalue.Int(70000) }, "grid[3][2]: want a cell's transitions"},
		"a cell that is text":  {func(d *pyvalue.Dict) { grid(d).Items[3].(*pyvalue.List).Items[2] = text("x") }, "grid[3][2]"},
		"a bridge of three":    {func(d *pyvalue.Dict) { d.Set("level_free_positions", tupleOf(tupleOf(pyvalue.Int(1)))) }, "level_free_positions[0]: want a cell"},
		"agents that are none": {func(d *pyvalue.Dict) { d.Set("agents", tupleOf(text("train"))) }, "agents[0]: want an object flatland.envs.agent_utils.Agent"},
		"another handle":       {func(d *pyvalue.Dict) { agentOf(d, 2).Args[7] = pyvalue.Int(5) }, "agents[2].handle: want 2, its place in the list, got 5"},
		"a heading of 4":       {func(d *pyvalue.Dict) { agentOf(d, 1).Args[1] = pyvalue.Int(4) }, "agents[1].initial_direction: want a heading"},
		"a start outside":      {func(d *pyvalue.Dict) { agentOf(d, 1).Args[0] = tupleOf(pyvalue.Int(99), pyvalue.Int(0)) }, "train 1 starts at (99, 0)"},
		"a position outside":   {func(d *pyvalue.Dict) { agentOf(d, 0).Args[8] = tupleOf(pyvalue.Int(99), pyvalue.Int(0)) }, "train 0: it is at"},
		"a speed of 2": {func(d *pyvalue.Dict) {
			agentOf(d, 0).Args[12].(*pyvalue.Object).State.(*pyvalue.Dict).Set("max_speed", pyvalue.Int(2))
		}, "maximum speed 2"},
		"a speed without end": {func(d *pyvalue.Dict) {
			agentOf(d, 0).Args[12].(*pyvalue.Object).State.(*pyvalue.Dict).Set("speed", text("fast"))
		}, "agents[0].speed_counter.speed: want a fraction or a number"},
		"no state": {func(d *pyvalue.Dict) {
			agentOf(d, 0).Args[14].(*pyvalue.Object).State.(*pyvalue.Dict).Set("_state", pyvalue.None{})
		}, "agents[0].state_machine._state: want a train's state"},
		"too few times": {func(d *pyvalue.Dict) { agentOf(d, 0).Args[18] = tupleOf() }, "agents[0].waypoints_latest_arrival: want 3 times"},
		"a stop without hours": {func(d *pyvalue.Dict) {
			agentOf(d, 0).Args[17] = tupleOf(pyvalue.Int(1), pyvalue.None{}, pyvalue.None{})
		}, "train 0, stop 1"},
		"done of a train too much": {func(d *pyvalue.Dict) {
			dones, _ := d.Get("dones")
			dones.(*pyvalue.Dict).Entries[0].Key = pyvalue.Int(77)
		}, "a handle of one of the 6 trains"},
		"a negative seed":     {func(d *pyvalue.Dict) { d.Set("random_seed", pyvalue.Int(-1)) }, "random_seed: want a seed"},
		"a stream of another": {func(d *pyvalue.Dict) { d.Set("np_random_state", tupleOf(text("PCG64"))) }, "np_random_state: want a state of NumPy's MT19937"},
		"steps below 0":       {func(d *pyvalue.Dict) { d.Set("elapsed_steps", pyvalue.Int(-4)) }, "elapsed_steps: want a number of steps"},
		"an unknown effect":   {func(d *pyvalue.Dict) { d.Set("effects_generator", dictOf("cls", text("os.system"))) }, "effects_generator.cls: want one of the effects that are known"},
		"an index too large":  {func(d *pyvalue.Dict) { d.Set("malfunction_rand_idx", pyvalue.Int(1_000_000)) }, "malfunction_rand_idx is 1000000"},
		"durations upside down": {func(d *pyvalue.Dict) {
			d.Set("effects_generator", dictOf("cls", text(departureEffect), "specs", dictOf("kwargs", dictOf(
				"malfunction_rate", pyvalue.Float(1), "min_duration", pyvalue.Int(9), "max_duration", pyvalue.Int(2)))))
		}, "malfunctions last 9 to 2 steps"},
		"effects in effects": {func(d *pyvalue.Dict) {
			nested := dictOf("cls", text(noEffect))
			for range 12 {
				nested = dictOf("cls", text(multiEffect), "specs", dictOf("args", tupleOf(nested)))
			}
			d.Set("effects_generator", nested)
		}, "nest less deep"},
	} {
		t.Run("it refuses "+name, func(t *testing.T) {
			f, err := ReadEnvironment(spoilt(t, c.change))
			if err == nil {
				_, err = f.Open(nil)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func grid(d *pyvalue.Dict) *pyvalue.List {
	g, _ := d.Get("grid")
	return g.(*pyvalue.List)
}

func TestOpenNeedsAStream(t *testing.T) {
	f, err := ReadEnvironment(golden.Read(t, "testdata/files/v3/Test_9_Level_1.pkl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(nil); !errors.Is(err, ErrNoStream) {
		t.Errorf("got %v, want ErrNoStream", err)
	}
	seed := uint64(1001)
	e, err := f.Open(&seed)
	if err != nil || e.Seed().Value != 1001 {
		t.Errorf("with a seed: got %v", err)
	}
}

// TestEffectsWithoutAFormAreNotSaved asks for what no file can hold.
func TestEffectsWithoutAFormAreNotSaved(t *testing.T) {
	_, e := openFile(t, "testdata/files/generated/byvalue_initial.pkl")
	p := rail.MalfunctionParameters{Rate: 0.1, MinDuration: 1, MaxDuration: 2}
	for _, effect := range []rail.Effect{
		&rail.ConditionalMalfunctions{MalfunctionGenerator: rail.NewMalfunctionGenerator(p), Condition: rail.Condition{Kind: rail.OnMap}},
		&rail.LegacyMalfunctions{MalfunctionParameters: p},
	} {
		if err := e.SetEffects([]rail.Effect{effect}); err != nil {
			t.Fatal(err)
		}
		if _, err := SaveEnvironment(e); err == nil {
			t.Errorf("%T was saved", effect)
		}
	}
}

func FuzzReadEnvironment(f *testing.F) {
	for _, path := range environmentFiles(f) {
		if data := golden.Read(f, path+".gz"); len(data) < 20_000 {
			f.Add(data)
		}
	}
	e, _ := withClosures(f)
	if data, err := SaveEnvironment(e); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ReadEnvironment(data)
		if err != nil {
			return
		}
		seed := uint64(1)
		e, err := file.Open(&seed)
		if err != nil {
			return
		}
		if e.Network().Width()*e.Network().Height() > 1<<14 || e.Trains() > 100 {
			return
		}
		for k := range 5 {
			actions := make([]rail.Action, e.Trains())
			for i := range actions {
				actions[i] = rail.Action((i + k) % 5)
			}
			if e.Step(actions) != nil {
				return
			}
		}
		saved, err := SaveEnvironment(e)
		if err != nil {
			return
		}
		again, err := ReadEnvironment(saved)
		if err != nil {
			t.Fatalf("what we saved cannot be read: %v", err)
		}
		open, err := again.Open(nil)
		if err != nil {
			t.Fatalf("what we saved cannot be opened: %v", err)
		}
		if diff := cmp.Diff(e.Snapshot(), open.Snapshot(), sameState); diff != "" {
			t.Fatalf("what we saved is another moment (-was +is):\n%s", diff)
		}
	})
}

func FuzzReadAuxiliary(f *testing.F) {
	for _, name := range []string{"auxiliary/stations.pkl", "auxiliary/position_to_latlon_olten.pkl", "generated/line.pkl", "generated/timetable.pkl", "generated/rail_product.pkl"} {
		f.Add(golden.Read(f, "testdata/files/"+name+".gz"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = ReadCoordinates(data)
		_, _ = ReadProduct(data)
		savedIsRead(t, data, ReadStations, SaveStations)
		savedIsRead(t, data, ReadLineProduct, SaveLineProduct)
		savedIsRead(t, data, ReadTimetableProduct, SaveTimetableProduct)
		savedIsRead(t, data, ReadRailProduct, SaveRailProduct)
	})
}

func TestQuirkMalfunctionsCountOnlyWithAFloatRate(t *testing.T) {
	for _, rate := range []pyvalue.Value{pyvalue.Float(0.5), pyvalue.Int(1), pyvalue.Str("malfunction_rate")} {
		f, err := ReadEnvironment(spoilt(t, func(d *pyvalue.Dict) {
			d.Set("malfunction", &pyvalue.Object{Class: malfunctionClass, Args: []pyvalue.Value{rate, pyvalue.Int(1), pyvalue.Int(2)}})
			d.Entries = slices.DeleteFunc(d.Entries, func(e pyvalue.Entry) bool { return e.Key == pyvalue.Str("effects_generator") })
		}))
		if err != nil {
			t.Fatal(err)
		}
		_, float := rate.(pyvalue.Float)
		if got := len(f.State.Effects) == 1; got != float {
			t.Errorf("rate %v: got malfunctions %v, want %v", rate, got, float)
		}
	}
}

func TestQuirkTheOldestTrainsStandInTheirStart(t *testing.T) {
	f, err := ReadEnvironment(golden.Read(t, "testdata/files/legacy/test_001.pkl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	s := f.State.Trains[0]
	if s.State != rail.Waiting || s.Configuration != f.Scenario.Trains[0].Initial || !f.NeedsReset() {
		t.Errorf("got %s at %s, needs a reset: %v", s.State, s.Configuration, f.NeedsReset())
	}
}

func TestOtherFilesAreNotEnvironments(t *testing.T) {
	for name, want := range map[string]string{
		"generated/line.pkl":                     "this is a line generator's product, not an environment",
		"generated/timetable.pkl":                "this is a timetable generator's product, not an environment",
		"generated/rail_product.pkl":             "this is a rail generator's product, tracks without trains, not an environment",
		"auxiliary/stations.pkl":                 "this is a file of stations, not an environment",
		"auxiliary/position_to_latlon_olten.pkl": "this is a file of the places of cells, not an environment",
	} {
		_, err := ReadEnvironment(golden.Read(t, "testdata/files/"+name+".gz"))
		if err == nil || err.Error() != want {
			t.Errorf("%s: got the error %v, want %q", name, err, want)
		}
	}
}
