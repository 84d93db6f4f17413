package railfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/internal/pyvalue"
	"skyrail/rail"
)

// savers read a product and save it again.
var savers = map[string]func([]byte) ([]byte, error){
	"generated/rail_product.pkl": saver(ReadRailProduct, SaveRailProduct),
	"generated/line.pkl":         saver(ReadLineProduct, SaveLineProduct),
	"generated/timetable.pkl":    saver(ReadTimetableProduct, SaveTimetableProduct),
	"auxiliary/stations.pkl":     saver(ReadStations, SaveStations),
}

// saver also reads what it saved, which must be the same.
func saver[P any](read func([]byte) (*P, error), save func(*P) ([]byte, error)) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) {
		p, err := read(data)
		if err != nil {
			return nil, err
		}
		saved, err := save(p)
		if err != nil {
			return nil, err
		}
		again, err := read(saved)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(again, p) {
			return nil, fmt.Errorf("saved and read: got %+v, want %+v", again, p)
		}
		twice, err := save(again)
		if err == nil && !bytes.Equal(twice, saved) {
			err = errors.New("saved twice it has other bytes")
		}
		return saved, err
	}
}

// savedIsRead saves what can be read of any data and can be saved; it is the same when read again.
func savedIsRead[P any](t *testing.T, data []byte, read func([]byte) (*P, error), save func(*P) ([]byte, error)) {
	t.Helper()
	p, err := read(data)
	if err != nil {
		return
	}
	saved, err := save(p)
	if err != nil {
		return
	}
	again, err := read(saved)
	if err != nil {
		t.Fatalf("what was saved cannot be read: %v", err)
	}
	// Cells that are there twice, and hints about no cities, are read but not saved: so look from the second time on.
	saved, err = save(again)
	if err != nil {
		t.Fatalf("what was saved and read cannot be saved: %v", err)
	}
	if third, err := read(saved); err != nil || !reflect.DeepEqual(third, again) {
		t.Fatalf("got %+v, want %+v, error %v", third, again, err)
	}
}

var numpyInteger = regexp.MustCompile(`\{"\$np":"<i8","value":(\d+)\}`)

// TestProductsAreSavedAsRecorded reads and saves flatland-rl's files. What is saved has the same values of the same Python
// types in the same order, but for NumPy's integers, which become Python's.
func TestProductsAreSavedAsRecorded(t *testing.T) {
	for name, save := range savers {
		t.Run(name, func(t *testing.T) {
			saved, err := save(golden.Read(t, "testdata/files/"+name+".gz"))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(saved, []byte{0x80, 4}) {
				t.Errorf("it begins with % x, want a pickle of protocol 4", saved[:2])
			}
			got := dumpOf(t, saved)
			dump := golden.Read(t, "testdata/files/"+name+".json.gz")
			if err := difference(name, got, bytes.TrimSpace(numpyInteger.ReplaceAll(dump, []byte("$1")))); err != nil {
				t.Error(err)
			}
			golden.Mutate(t, dump, 60, nil, func(dump []byte) error { return sameDump(got, dump) })
		})
	}
}

// dumpOf shows a pickle in the form of the recorded dumps.
func dumpOf(t *testing.T, data []byte) []byte {
	t.Helper()
	value, err := pyvalue.Decode(data, pyvalue.Options{Globals: globals})
	if err != nil {
		t.Fatal(err)
	}
	return append(pyvalue.AppendJSON([]byte(`{"container":"pickle","value":`), value), '}')
}

// sameDump compares dumps, with NumPy's integers as plain ones.
func sameDump(got, want []byte) error {
	return sameValue(got, numpyInteger.ReplaceAll(want, []byte("$1")))
}

// TestAProductWithoutHints: no cities and no bridges are None, as flatland-rl has it.
func TestAProductWithoutHints(t *testing.T) {
	plain := RailProduct{Width: 2, Height: 1, Grid: []rail.Transitions{4, 256}}
	bridge := plain
	bridge.LevelFree = []rail.Cell{{Row: 0, Col: 1}, {Row: 0, Col: 1}}
	for want, p := range map[string]*RailProduct{
		`{"grid":[[4,256]],"hints":null}`:                                                 &plain,
		`{"grid":[[4,256]],"hints":{"level_free_positions":{"$set":[{"$tuple":[0,1]}]}}}`: &bridge,
	} {
		saved, err := SaveRailProduct(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := dumpOf(t, saved); string(got) != `{"container":"pickle","value":`+want+`}` {
			t.Errorf("got %s, want %s", got, want)
		}
		if again, err := ReadRailProduct(saved); err != nil || !slices.Equal(again.Grid, p.Grid) || again.Cities != nil {
			t.Errorf("read again: got %+v, %v", again, err)
		}
	}
}

// TestSpeedsAreSavedExactly: each is read back as it was, as a float where one stands for it.
func TestSpeedsAreSavedExactly(t *testing.T) {
	p := &LineProduct{}
	wants := []string{"1.0", "0.5", "0.33", "0.25", "0.14", "0.3", "0.8", "0.05", "0.0", "2/3", "17/50"}
	for _, f := range []rail.Fraction{
		rail.Whole(1), rail.Frac(1, 2), rail.Frac(1, 3), rail.Frac(1, 4), rail.Frac(1, 7), rail.Frac(3, 10), rail.Frac(4, 5),
		rail.Frac(1, 20), rail.Whole(0), rail.Frac(2, 3), rail.Frac(17, 50),
	} {
		p.Speeds, p.Stops = append(p.Speeds, f), append(p.Stops, nil)
	}
	saved, err := SaveLineProduct(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadLineProduct(saved)
	if err != nil || !reflect.DeepEqual(again.Speeds, p.Speeds) {
		t.Errorf("got %v, want %v, error %v", again.Speeds, p.Speeds, err)
	}
	var dump struct {
		Value struct{ Args [2]json.RawMessage }
	}
	if err := json.Unmarshal(dumpOf(t, saved), &dump); err != nil {
		t.Fatal(err)
	}
	var speeds []json.RawMessage
	if err := json.Unmarshal(dump.Value.Args[1], &speeds); err != nil {
		t.Fatal(err)
	}
	for i, want := range wants {
		if num, den, ok := strings.Cut(want, "/"); ok {
			want = fmt.Sprintf(`{"$obj":"fractions.Fraction","args":[%s,%s]}`, num, den)
		}
		if string(speeds[i]) != want {
			t.Errorf("speed %s: got %s, want %s", p.Speeds[i], speeds[i], want)
		}
	}
}

func TestSaveProductsRefuse(t *testing.T) {
	cells := []rail.Cell{{Row: 1, Col: 2}, {Row: 3, Col: 4}}
	for want, save := range map[string]func() ([]byte, error){
		"a grid of 3 cells: want 2 rows of 2 columns": func() ([]byte, error) {
			return SaveRailProduct(&RailProduct{Width: 2, Height: 2, Grid: make([]rail.Transitions, 3)})
		},
		"a grid of 0 cells: want 0 rows of 0 columns": func() ([]byte, error) { return SaveRailProduct(&RailProduct{}) },
		"tracks of 1 cities, want those of 2": func() ([]byte, error) {
			return SaveStations(&Stations{Cities: cells, Tracks: make([][]StationTrack, 1)})
		},
		"orientations of 3 cities, want those of 2": func() ([]byte, error) {
			return SaveRailProduct(&RailProduct{1, 1, make([]rail.Transitions, 1), Stations{Cities: cells, Orientations: make([]rail.Heading, 3)}})
		},
		"city 1 has orientation 4, want 0 to 3": func() ([]byte, error) {
			return SaveStations(&Stations{Cities: cells, Orientations: []rail.Heading{0, 4}})
		},
		"scenes of 1 cities, want those of 2": func() ([]byte, error) { return SaveStations(&Stations{Cities: cells, Scenes: make([][]string, 1)}) },
		"scenes without cities":               func() ([]byte, error) { return SaveStations(&Stations{Scenes: [][]string{}}) },
		"stops of 1 trains and speeds of 0": func() ([]byte, error) {
			return SaveLineProduct(&LineProduct{Stops: make([][][]rail.Configuration, 1)})
		},
		"train 0, stop 1: heading 5, want 0 to 3 or none": func() ([]byte, error) {
			return SaveLineProduct(&LineProduct{Stops: [][][]rail.Configuration{{{}, {{Heading: 5}}}}, Speeds: make([]rail.Fraction, 1)})
		},
		"earliest departures of 1 trains and latest arrivals of 0": func() ([]byte, error) {
			return SaveTimetableProduct(&TimetableProduct{EarliestDepartures: make([][]rail.Time, 1)})
		},
		"max_episode_steps is -1": func() ([]byte, error) { return SaveTimetableProduct(&TimetableProduct{MaxEpisodeSteps: -1}) },
	} {
		if _, err := save(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}

// TestReadProductTellsThemApart reads each of the generators' files, and no environment.
func TestReadProductTellsThemApart(t *testing.T) {
	for name, want := range map[string]any{
		"generated/rail_product.pkl": &RailProduct{}, "generated/line.pkl": &LineProduct{}, "generated/timetable.pkl": &TimetableProduct{},
		"auxiliary/stations.pkl": &Stations{}, "auxiliary/position_to_latlon_olten.pkl": Coordinates{},
	} {
		p, err := ReadProduct(golden.Read(t, "testdata/files/"+name+".gz"))
		if err != nil || reflect.TypeOf(p) != reflect.TypeOf(want) {
			t.Errorf("%s: got %T, want %T, error %v", name, p, want, err)
		}
	}
	_, err := ReadProduct(golden.Read(t, "testdata/files/generated/gen_425_initial.pkl.gz"))
	if err == nil || !strings.Contains(err.Error(), "want a product of a generator") {
		t.Errorf("an environment: got error %v", err)
	}
}
