package generate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

func TestGoldenArgsort(t *testing.T) {
	for _, item := range golden.Items(t, golden.Read(t, "testdata/prim_argsort.json.gz")) {
		var values, want []int
		if err := json.Unmarshal(item, &[]any{&values, &want}); err != nil {
			t.Fatal(err)
		}
		if err := differ("order", argsort(values), want); err != nil {
			t.Fatalf("%v: %v", values, err)
		}
	}
}

func TestGoldenHash(t *testing.T) {
	for _, item := range golden.Items(t, golden.Read(t, "testdata/prim_tuple_hash.json.gz")) {
		var c rail.Cell
		var want string
		if err := json.Unmarshal(item, &[]any{&c.Row, &c.Col, &want}); err != nil {
			t.Fatal(err)
		}
		if got := strconv.FormatUint(hashCell(c), 10); got != want {
			t.Errorf("hash of %s: got %s, want %s", c, got, want)
		}
	}
}

func TestGoldenSetOrder(t *testing.T) {
	for i, item := range golden.Items(t, golden.Read(t, "testdata/prim_set_order.json.gz")) {
		var want struct {
			Radius  int
			Centers [][2]int
			Order   [][2]int `json:"iteration_order"`
			First   [][2]int `json:"first20"`
			Sum     string   `json:"order_sha256"`
		}
		if err := golden.Decode(item, &want); err != nil {
			t.Fatal(err)
		}
		b := &builder{radius: want.Radius}
		for _, c := range want.Centers {
			b.cities = append(b.cities, city{center: rail.Cell{Row: c[0], Col: c[1]}})
		}
		got := pairs(b.cityCells())
		if want.Order != nil {
			if err := differ("order", got, want.Order); err != nil {
				t.Errorf("set %d: %v", i, err)
			}
			continue
		}
		compact, _ := json.Marshal(got)
		sum := sha256.Sum256(compact)
		if err := errors.Join(differ("first", got[:20], want.First), differ("all", hex.EncodeToString(sum[:]), want.Sum)); err != nil {
			t.Errorf("set %d: %v", i, err)
		}
	}
}

func TestGoldenEvenPositions(t *testing.T) {
	for _, item := range golden.Items(t, golden.Read(t, "testdata/prim_even_city_positions.json.gz")) {
		var want struct {
			Width, Height int
			Radius        int `json:"city_radius"`
			Cities        int `json:"num_cities"`
			Positions     [][2]int
		}
		if err := golden.Decode(item, &want); err != nil {
			t.Fatal(err)
		}
		if err := differ("positions", pairs(evenPositions(want.Width, want.Height, want.Radius, want.Cities)), want.Positions); err != nil {
			t.Errorf("%s: %v", item, err)
		}
	}
}

func TestGoldenSpeeds(t *testing.T) {
	for _, item := range golden.Items(t, golden.Read(t, "testdata/prim_speed_fraction.json.gz")) {
		var v float64
		var want string
		if err := json.Unmarshal(item, &[]any{&v, &want}); err != nil {
			t.Fatal(err)
		}
		f, err := rail.Snap(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s/%s", f.Rat().Num(), f.Rat().Denom()); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}

func TestGoldenSampling(t *testing.T) {
	stations, err := railfile.ReadStations(golden.Read(t, "../railfile/testdata/files/auxiliary/stations.pkl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	e := openSample(t)
	files, err := filepath.Glob("testdata/sampling/*.json.gz")
	if err != nil || len(files) != 8 {
		t.Fatalf("%d files, want 8: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json.gz"), func(t *testing.T) {
			check := func(data []byte) error { return checkSample(data, e, stations) }
			data := golden.Read(t, file)
			if err := check(data); err != nil {
				t.Fatal(err)
			}
			golden.Mutate(t, data, 60, func(path string) bool {
				return path == "line_length" || path == "scene" // a line of few cities, or a part of all, may be the same
			}, check)
		})
	}
}

func openSample(t testing.TB) *rail.Env {
	t.Helper()
	file, err := railfile.ReadEnvironment(golden.Read(t, "../railfile/testdata/files/v4/level_0_scenario_1.pkl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := file.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func checkSample(data []byte, e *rail.Env, stations *railfile.Stations) error {
	var want struct {
		LineLength int                    `json:"line_length"`
		Scene      *string                `json:"scene"`
		Trains     int                    `json:"number_of_agents"`
		Seed       *uint64                `json:"seed"`
		RNG        map[string]fingerprint `json:"rng"`
		Steps      int                    `json:"max_episode_steps"`
		LevelFree  [][2]int               `json:"level_free_positions"`
		Agents     []recordedAgent
	}
	if err := golden.Decode(data, &want); err != nil {
		return err
	}
	s := Sampling{Stations: stations, LineLength: want.LineLength}
	if want.Scene != nil {
		s.Scene = *want.Scene
	}
	sampled, err := s.Sample(e, want.Trains, want.Seed)
	if err != nil {
		return err
	}
	rng := e.Stream()
	if want.Seed != nil {
		rng = numpyrand.NewHashedRandomState(*want.Seed)
	}
	if err := differ("before_line", fingerprintOf(rng), want.RNG["before_line"]); err != nil {
		return err
	}
	hints, err := s.hints()
	if err != nil {
		return err
	}
	from := e.Scenario()
	r, err := NewRailway(&railfile.RailProduct{Width: from.Width, Height: from.Height, Grid: from.Grid, Stations: hints})
	if err != nil {
		return err
	}
	if _, err := (SparseLine{LineLength: want.LineLength}).Generate(r, want.Trains, &rng); err != nil {
		return err
	}
	for _, d := range []struct {
		what      string
		got, want any
	}{
		{"after_line", fingerprintOf(rng), want.RNG["after_line"]},
		{"after_timetable", fingerprintOf(sampled.Stream()), want.RNG["after_timetable"]}, {"fingerprints", 3, len(want.RNG)},
		{"max_episode_steps", sampled.MaxEpisodeSteps(), want.Steps}, {"level_free_positions", sorted(sampled.Scenario().LevelFree), want.LevelFree},
		{"agents", sampled.Trains(), len(want.Agents)},
	} {
		if err := differ(d.what, d.got, d.want); err != nil {
			return err
		}
	}
	for i := range want.Agents {
		if err := want.Agents[i].check(sampled, i); err != nil {
			return fmt.Errorf("train %d: %w", i, err)
		}
	}
	return nil
}

func TestMalfunctionRate(t *testing.T) {
	for interval, want := range map[int]float64{540: 1. / 540, 0: 1 / float64(math.MaxInt64), -1: -1} {
		if got := MalfunctionRate(interval); got != want {
			t.Errorf("interval %d: got %v, want %v", interval, got, want)
		}
	}
}
