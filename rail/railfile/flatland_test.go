package railfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"skyrail/internal/golden"
	"skyrail/rail"
)

// TestFlatlandLoadsOurProducts has flatland-rl 4.2.5 load the products that we save with its file generators: its own save
// of each is the same as ours, and its environment has their tracks, trains and times. SKYRAIL_FLATLAND is a Python that has
// it; `make test` makes one.
func TestFlatlandLoadsOurProducts(t *testing.T) {
	python := golden.FlatlandPython(t)
	track, line, timetable, stations := recordedProducts(t)
	// What a generator may make besides: more alternatives, a speed that no float stands for.
	line.Stops[0][1] = append(slices.Clone(line.Stops[0][1]), rail.Configuration{Cell: rail.Cell{Row: 5, Col: 28}, Heading: rail.South})
	line.Speeds[1], line.Speeds[2] = rail.Frac(2, 3), rail.Frac(1, 7)

	in, out := t.TempDir(), t.TempDir()
	ours := map[string][]byte{}
	for name, save := range map[string]func() ([]byte, error){
		"rail.pkl":      func() ([]byte, error) { return SaveRailProduct(track) },
		"line.pkl":      func() ([]byte, error) { return SaveLineProduct(line) },
		"timetable.pkl": func() ([]byte, error) { return SaveTimetableProduct(timetable) },
		"stations.pkl":  func() ([]byte, error) { return SaveStations(stations) },
	} {
		data, err := save()
		if err != nil {
			t.Fatal(err)
		}
		ours[name] = data
		if err := os.WriteFile(filepath.Join(in, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := exec.CommandContext(t.Context(), python, "testdata/flatland_products.py", in, out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for name, data := range ours {
		again := []string{name, "wrapped_" + name}
		if name == "stations.pkl" {
			again = again[:1]
		}
		for _, other := range again {
			if err := difference(other, dumpOf(t, read(other)), dumpOf(t, data)); err != nil {
				t.Error(err)
			}
		}
	}
	f, err := ReadEnvironment(read("environment.pkl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := scenarioDifference(f.Scenario, scenarioOf(track, line, timetable)); err != nil {
		t.Error(err)
	}
}

// recordedProducts are those of one recorded environment, and the stations of the starter kit.
func recordedProducts(t *testing.T) (*RailProduct, *LineProduct, *TimetableProduct, *Stations) {
	t.Helper()
	var all [4]any
	for i, name := range []string{"generated/rail_product", "generated/line", "generated/timetable", "auxiliary/stations"} {
		p, err := ReadProduct(golden.Read(t, "testdata/files/"+name+".pkl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		all[i] = p
	}
	return all[0].(*RailProduct), all[1].(*LineProduct), all[2].(*TimetableProduct), all[3].(*Stations)
}

// scenarioOf is what an environment is made of products.
func scenarioOf(track *RailProduct, line *LineProduct, timetable *TimetableProduct) *rail.Scenario {
	s := &rail.Scenario{
		Width: track.Width, Height: track.Height, Grid: track.Grid, LevelFree: track.LevelFree, MaxEpisodeSteps: timetable.MaxEpisodeSteps,
	}
	for i, stops := range line.Stops {
		last := len(stops) - 1
		train := rail.Train{Initial: stops[0][0], Target: stops[last][0].Cell, MaxSpeed: line.Speeds[i]}
		for k, alternatives := range stops {
			train.Stops = append(train.Stops, rail.Stop{
				Alternatives:      alternatives,
				EarliestDeparture: timetable.EarliestDepartures[i][k], LatestArrival: timetable.LatestArrivals[i][k],
			})
		}
		train.EarliestDeparture, train.LatestArrival = train.Stops[0].EarliestDeparture.Step, train.Stops[last].LatestArrival.Step
		s.Trains = append(s.Trains, train)
	}
	return s
}

// TestProductsMakeTheRecordedEnvironment: what was kept of the generators makes the environment that was recorded.
func TestProductsMakeTheRecordedEnvironment(t *testing.T) {
	track, line, timetable, _ := recordedProducts(t)
	want, _, err := readDump(golden.Read(t, "testdata/files/generated/byvalue_initial.pkl.loaded.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := scenarioDifference(scenarioOf(track, line, timetable), want); err != nil {
		t.Error(err)
	}
}
