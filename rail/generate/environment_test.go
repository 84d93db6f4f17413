package generate

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

func TestParametersRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Parameters)
		about  string // the parameter, and the way out
	}{
		"a grid too small for two cities": {func(p *Parameters) { p.Width, p.Height = 29, 15 }, "x_dim, y_dim 29, 15: two cities do not fit: with max_rail_pairs_in_city 4 a city takes 14 rows and columns"},
		"one city":                        {func(p *Parameters) { p.Rail.Cities = 1 }, "n_cities 1: a railway needs two cities"},
		"no grid":                         {func(p *Parameters) { p.Width = 0 }, "x_dim, y_dim 0, 30"},
		"too large a grid":                {func(p *Parameters) { p.Height = 1 << 20 }, "x_dim, y_dim 30, 1048576"},
		"more than all bridges":           {func(p *Parameters) { p.Rail.LevelFree = 1.5 }, "p_level_free 1.5"},
		"no share of bridges":             {func(p *Parameters) { p.Rail.LevelFree = math.NaN() }, "p_level_free NaN"},
		"no rail between cities":          {func(p *Parameters) { p.Rail.RailsBetweenCities = 0 }, "max_rails_between_cities 0"},
		"too many pairs":                  {func(p *Parameters) { p.Rail.RailPairsInCity = math.MaxInt }, "max_rail_pairs_in_city"},
		"no train":                        {func(p *Parameters) { p.Agents = 0 }, "n_agents 0"},
		"too many trains":                 {func(p *Parameters) { p.Agents = math.MaxInt }, "n_agents"},
		"a line of one city":              {func(p *Parameters) { p.Line.LineLength = 1 }, "line_length 1"},
		"shares that do not add up":       {func(p *Parameters) { p.Line.SpeedRatios = []railfile.SpeedRatio{{Speed: 1, Share: 0.5}} }, "speed_ratios [0.5]: probabilities sum to 0.5"},
		"no speeds":                       {func(p *Parameters) { p.Line.SpeedRatios = []railfile.SpeedRatio{} }, "speed_ratios"},
		"a speed of 0":                    {func(p *Parameters) { p.Line.SpeedRatios = []railfile.SpeedRatio{{Speed: 0, Share: 1}} }, "speed_ratios 0: want speeds above 0"},
		"a speed above 1":                 {func(p *Parameters) { p.Line.SpeedRatios = []railfile.SpeedRatio{{Speed: 2, Share: 1}} }, "speed_ratios 2: want speeds above 0"},
		"a speed that counts as 0":        {func(p *Parameters) { p.Line.SpeedRatios = []railfile.SpeedRatio{{Speed: 1e-9, Share: 1}} }, "speed_ratios 1e-09: it counts as 0"},
		"a legacy seed too large":         {func(p *Parameters) { p.Legacy, p.Seed = true, 1<<32 }, "seed 4294967296: the legacy generator"},
	} {
		p := DefaultParameters()
		c.change(&p)
		_, err := Environment(p)
		if wrong := (*ParameterError)(nil); !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), c.about) {
			t.Errorf("%s: got error %v, want a ParameterError: %s…", name, err, c.about)
		}
	}
	p := DefaultParameters()
	p.Malfunction.MinDuration = 60
	if _, err := Environment(p); err == nil {
		t.Error("malfunctions of 60 to 50 steps were taken")
	}
}

// TestQuirkRunsHaveTheDefaultSpeeds holds FromRun to a row of a metadata.csv.
func TestQuirkRunsHaveTheDefaultSpeeds(t *testing.T) {
	const table = "test_id,env_id,n_agents,x_dim,y_dim,n_cities,max_rail_pairs_in_city,n_envs_run,seed,grid_mode,max_rails_between_cities,malfunction_duration_min,malfunction_duration_max,malfunction_interval,speed_ratios\n" +
		"Test_01,Level_2,3,41,32,5,1,10,99,True,3,21,52,250,\"{0.7: 1.0}\"\n"
	rows, err := railfile.ReadRuns(strings.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	want := Parameters{
		Agents: 3, Width: 41, Height: 32, Seed: 99,
		Rail:        SparseRail{Cities: 5, GridMode: true, RailsBetweenCities: 3, RailPairsInCity: 1},
		Line:        SparseLine{SpeedRatios: DefaultSpeedRatios(), LineLength: 2},
		Malfunction: rail.MalfunctionParameters{Rate: 1. / 250, MinDuration: 21, MaxDuration: 52},
	}
	if got := FromRun(&rows[0]); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestGivenProducts: products of files stand for the generators, and nothing is drawn for them.
func TestGivenProducts(t *testing.T) {
	p := DefaultParameters()
	p.Seed = 11
	made, err := Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	p.Given.Rail, p.Given.Line, p.Given.Timetable = made.Rail, made.Line, made.Timetable
	given, err := Environment(p)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := made.Environment()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(given.Scenario(), whole.Scenario()) {
		t.Error("the products of a scenario make another one")
	}
	fresh := numpyrand.NewHashedRandomState(11)
	if rng := given.Stream(); !rng.Equal(&fresh) {
		t.Error("numbers were drawn for products that were given")
	}
	p.Given.Line, p.Given.Timetable, p.Agents = nil, nil, 3
	if e, err := Environment(p); err != nil || e.Trains() != 3 || !reflect.DeepEqual(e.Scenario().Grid, made.Rail.Grid) {
		t.Errorf("other trains on the same rails: %v", err)
	}
	p.Given.Rail = EmptyRail(20, 10)
	if _, err := Environment(p); err == nil || !strings.Contains(err.Error(), "cities 0: lines lead from city to city") {
		t.Errorf("lines without cities: got error %v", err)
	}
	p.Given.Rail = &railfile.RailProduct{Width: 3, Height: 3, Grid: make([]rail.Transitions, 8)}
	if _, err := Environment(p); err == nil {
		t.Error("a grid that is not whole was taken")
	}
	outside := *made.Rail
	outside.Tracks = [][]railfile.StationTrack{{{Cell: rail.Cell{Row: -1}}}, {}}
	p.Given.Rail = &outside
	if _, err := Environment(p); err == nil || !strings.Contains(err.Error(), "station (-1, 0) of city 0 is outside the grid") {
		t.Errorf("a station outside: got error %v", err)
	}
}

// TestRegenerateForgetsVisits: what trains did before counts for nothing on a new railway.
func TestRegenerateForgetsVisits(t *testing.T) {
	p := DefaultParameters()
	p.Seed = 3
	e, err := Environment(p)
	if err != nil {
		t.Fatal(err)
	}
	actions := make([]rail.Action, e.Trains())
	for i := range actions {
		actions[i] = rail.MoveForward
	}
	for !e.AllDone() {
		if err := e.Step(actions); err != nil {
			t.Fatal(err)
		}
	}
	before := e.Clone()
	seed := uint64(4)
	again, err := Regenerate(e, p, &seed)
	if err != nil {
		t.Fatal(err)
	}
	if !e.Equal(before) {
		t.Error("the environment was changed")
	}
	effects, ok := again.Effects()[0].(*rail.Breakdowns)
	if !ok || len(again.Effects()) != 1 {
		t.Fatalf("got effects %v", again.Effects())
	}
	if origin, _ := effects.Origin(); origin == nil {
		t.Error("the breakdowns have lost their numbers")
	}
	p.Seed = 4
	fresh, err := Environment(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(again.SetEffects(nil), fresh.SetEffects(nil)); err != nil {
		t.Fatal(err)
	}
	if !again.Equal(fresh) || !reflect.DeepEqual(again.Seed().History, []uint64{3, 4}) {
		t.Errorf("got another environment than a fresh one, or seeds %v", again.Seed().History)
	}
}

func TestFlatland2Timetable(t *testing.T) {
	p := DefaultParameters()
	made, err := Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	made.Timetable = Flatland2Timetable(made.Line)
	e, err := made.Environment()
	if err != nil {
		t.Fatal(err)
	}
	for i := range e.Scenario().Trains {
		train := &e.Scenario().Trains[i]
		if train.EarliestDeparture != 0 || train.LatestArrival != 1000 || train.Stops[0].LatestArrival.Given || train.Stops[1].EarliestDeparture.Given {
			t.Errorf("train %d: got %+v", i, train)
		}
	}
	if e.MaxEpisodeSteps() != 1000 {
		t.Errorf("got %d steps, want 1000", e.MaxEpisodeSteps())
	}
}

func TestScenarioRefuses(t *testing.T) {
	made, err := Generate(DefaultParameters())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		line      func(*railfile.LineProduct)
		timetable func(*railfile.TimetableProduct)
		want      string
	}{
		"a stop off the tracks":  {func(l *railfile.LineProduct) { l.Stops[4][1][0].Cell = rail.Cell{} }, nil, "train 4, stop 1: there is no track at (0, 0)"},
		"a stop off the grid":    {func(l *railfile.LineProduct) { l.Stops[4][0][0].Row = 30 }, nil, "train 4, stop 0: there is no track at (30, "},
		"no steps":               {nil, func(p *railfile.TimetableProduct) { p.MaxEpisodeSteps = 0 }, "max_episode_steps 0, want at least 1"},
		"speeds of fewer trains": {func(l *railfile.LineProduct) { l.Speeds = l.Speeds[1:] }, nil, "the line has 7 trains and 6 speeds"},
		"times of fewer trains":  {nil, func(p *railfile.TimetableProduct) { p.LatestArrivals = p.LatestArrivals[1:] }, "and 6 latest arrivals"},
		"one stop":               {func(l *railfile.LineProduct) { l.Stops[2] = l.Stops[2][:1] }, nil, "train 2: 1 stops"},
		"a stop without a place": {func(l *railfile.LineProduct) { l.Stops[2][0] = nil }, nil, "train 2, stop 0: it has no place"},
		"times of fewer stops":   {nil, func(p *railfile.TimetableProduct) { p.EarliestDepartures[3] = p.EarliestDepartures[3][:1] }, "train 3: 1 earliest departures and 2 latest arrivals, want 2"},
		"no time at the target":  {nil, func(p *railfile.TimetableProduct) { p.LatestArrivals[1][1] = rail.Time{} }, "train 1: want an earliest departure"},
		"no time from the start": {nil, func(p *railfile.TimetableProduct) { p.EarliestDepartures[1][0] = rail.Time{} }, "train 1: want an earliest departure"},
	} {
		again, err := Generate(DefaultParameters())
		if err != nil {
			t.Fatal(err)
		}
		if c.line != nil {
			c.line(again.Line)
		}
		if c.timetable != nil {
			c.timetable(again.Timetable)
		}
		if _, err := Scenario(made.Rail, again.Line, again.Timetable); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %s", name, err, c.want)
		}
	}
}

// TestUnevenLinesAreRefused: the reference's timetable needs as many stops of every train.
func TestUnevenLinesAreRefused(t *testing.T) {
	made, err := Generate(DefaultParameters())
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRailway(made.Rail)
	if err != nil {
		t.Fatal(err)
	}
	rng := numpyrand.NewRandomState(1)
	line := *made.Line
	line.Stops = append([][][]rail.Configuration{append([][]rail.Configuration{line.Stops[0][0]}, line.Stops[0]...)}, line.Stops[1:]...)
	_, err = Timetable(r, &line, &rng)
	if err == nil || !strings.HasPrefix(err.Error(), "train 1 has 2 stops and train 0 has 3") {
		t.Errorf("got error %v", err)
	}
	if _, err := timetable(r, &line, &rng); err != nil {
		t.Errorf("the sampling generator's timetable: %v", err)
	}
}

// TestAnotherRailwayComesAfterNone: flatland-rl ends with an exception in this reset, and makes another railway in the next;
// the starts of its trains and the places of its stream are recorded from there.
func TestAnotherRailwayComesAfterNone(t *testing.T) {
	p := DefaultParameters()
	p.Seed, p.Agents, p.Line.LineLength = 750, 3, 3
	p.Rail = SparseRail{Cities: 3, RailPairsInCity: 2, RailsBetweenCities: 1, GridMode: true}
	e, err := Environment(p)
	if err != nil {
		t.Fatal(err)
	}
	before := e.Clone()
	seed := uint64(323516)
	_, err = Regenerate(e, p, &seed)
	if wrong := (*ParameterError)(nil); !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), "line_length 3: train 1 has 2 stops") {
		t.Fatalf("got error %v", err)
	}
	stream := e.Stream()
	if got := stream.State().Pos; got != 43 || !reflect.DeepEqual(e.Seed().History, []uint64{750, seed}) {
		t.Errorf("got place %d in the stream and seeds %v, want 43 and [750 %d]", got, e.Seed().History, seed)
	}
	e.SetStream(before.Stream(), before.Seed())
	if !e.Equal(before) {
		t.Error("more than the stream of the environment was changed")
	}
	e.SetStream(stream, e.Seed())
	if e, err = Regenerate(e, p, nil); err != nil {
		t.Fatal(err)
	}
	stream = e.Stream()
	var starts []rail.Cell
	for i := range e.Scenario().Trains {
		starts = append(starts, e.Scenario().Trains[i].Initial.Cell)
	}
	if want := []rail.Cell{{Row: 23, Col: 6}, {Row: 7, Col: 6}, {Row: 6, Col: 25}}; stream.State().Pos != 88 || !slices.Equal(starts, want) {
		t.Errorf("got place %d in the stream and starts %v, want 88 and %v", stream.State().Pos, starts, want)
	}
}

// TestCutOffLines: stops that no way leads to are cut off, and a line of nothing but a start is an error.
func TestCutOffLines(t *testing.T) {
	// Two straight tracks, one above the other; nothing leads from one to the other.
	const east = 1025
	grid := make([]rail.Transitions, 3*5)
	for col := range 5 {
		grid[col], grid[2*5+col] = east, east
	}
	r, err := NewRailway(&railfile.RailProduct{Width: 5, Height: 3, Grid: grid})
	if err != nil {
		t.Fatal(err)
	}
	at := func(row, col int, h rail.Heading) []rail.Configuration {
		return []rail.Configuration{{Cell: rail.Cell{Row: row, Col: col}, Heading: h}}
	}
	got := follow(r, [][]rail.Configuration{at(0, 0, rail.East), at(0, 2, rail.North), at(2, 3, rail.East), at(2, 4, rail.NoHeading)})
	if want := [][]rail.Configuration{at(0, 0, rail.East), at(0, 2, rail.NoHeading)}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	got = follow(r, [][]rail.Configuration{at(0, 0, rail.East), at(0, 2, rail.North), at(0, 4, rail.NoHeading)})
	if want := [][]rail.Configuration{at(0, 0, rail.East), at(0, 2, rail.East), at(0, 4, rail.NoHeading)}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	stations := railfile.Stations{
		Cities: []rail.Cell{{Row: 0, Col: 2}, {Row: 2, Col: 2}}, Orientations: []rail.Heading{rail.East, rail.East},
		Tracks: [][]railfile.StationTrack{{{Cell: rail.Cell{Row: 0, Col: 2}}}, {{Cell: rail.Cell{Row: 2, Col: 2}}}},
	}
	r.Stations = stations
	rng := numpyrand.NewRandomState(1)
	_, err = SparseLine{LineLength: 3}.Generate(r, 1, &rng)
	if wrong := (*ParameterError)(nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "no way leads train 0 from its start to its first stop") {
		t.Errorf("got error %v", err)
	}
	line, err := SparseLine{LineLength: 2}.Generate(r, 1, &rng)
	if err != nil || line.Stops[0][0][0].Heading != rail.North {
		t.Errorf("without a way: got %v, error %v, want a train that starts north", line, err)
	}
}

// TestNoWayAtAllIsAnError: without a way for any train the episode would have no steps.
func TestNoWayAtAllIsAnError(t *testing.T) {
	const east, north = 1025, 32800
	r, err := NewRailway(&railfile.RailProduct{Width: 2, Height: 1, Grid: []rail.Transitions{east, north}})
	if err != nil {
		t.Fatal(err)
	}
	line := &railfile.LineProduct{
		Stops:  [][][]rail.Configuration{{{{Heading: rail.West}}, {{Cell: rail.Cell{Col: 1}, Heading: rail.NoHeading}}}},
		Speeds: []rail.Fraction{rail.Whole(1)},
	}
	rng := numpyrand.NewRandomState(1)
	_, err = Timetable(r, line, &rng)
	if wrong := (*ParameterError)(nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "no way leads any of the trains to its target") {
		t.Errorf("got error %v", err)
	}
	line.Speeds = nil
	if _, err = Timetable(r, line, &rng); err == nil || !strings.Contains(err.Error(), "the line has 1 trains and 0 speeds") {
		t.Errorf("no speeds: got error %v", err)
	}
}

// TestSaveRoundTrip: what is generated is the same after it was saved and read.
func TestSaveRoundTrip(t *testing.T) {
	p := DefaultParameters()
	p.Seed, p.Rail.LevelFree, p.Rail.RailPairsInCity, p.Width, p.Rail.Cities, p.Line.LineLength = 1<<63+5, 1, 2, 50, 3, 3
	made, err := Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	e, err := made.Environment()
	if err != nil {
		t.Fatal(err)
	}
	saved, err := railfile.SaveEnvironment(e)
	if err != nil {
		t.Fatal(err)
	}
	file, err := railfile.ReadEnvironment(saved)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := file.Open(nil); err != nil || !back.Equal(e) {
		t.Errorf("another environment after saving: %v", err)
	}
	scene, err := railfile.SceneOf(e.Scenario(), &made.Rail.Stations)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := scene.Write(&b); err != nil {
		t.Fatal(err)
	}
	if file, err = railfile.ReadEnvironment(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(file.Scenario.Trains, e.Scenario().Trains) {
		t.Error("other trains after saving as a scene")
	}
}

func TestSamplingRefuses(t *testing.T) {
	stations, err := railfile.ReadStations(golden.Read(t, "../railfile/testdata/files/auxiliary/stations.pkl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	e := openSample(t)
	before := e.Snapshot()
	for name, c := range map[string]struct {
		s      Sampling
		trains int
		want   string
	}{
		"an unknown scene":      {Sampling{stations, "scene_6", 2}, 1, "scene scene_6: no station is part of it; want one of [scene_1 scene_2 scene_3 scene_4 scene_5]"},
		"no trains":             {Sampling{stations, "", 2}, 0, "n_agents 0"},
		"a short line":          {Sampling{stations, "", 1}, 1, "line_length 1"},
		"a file without tracks": {Sampling{without(stations, func(s *railfile.Stations) { s.Tracks = nil }), "", 2}, 1, "the stations file has 25 city_positions, 25 city_orientations, 0 train_stations"},
		"a file without scenes": {Sampling{without(stations, func(s *railfile.Stations) { s.Scenes = nil }), "scene_1", 2}, 1, "the stations file has"},
		"no stations":           {Sampling{&railfile.Stations{}, "", 2}, 1, "cities 0"},
	} {
		if _, err := c.s.Sample(e, c.trains, nil); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %s…", name, err, c.want)
		}
	}
	if !reflect.DeepEqual(e.Snapshot(), before) {
		t.Error("the environment was changed")
	}
}

func without(s *railfile.Stations, change func(*railfile.Stations)) *railfile.Stations {
	c := *s
	change(&c)
	return &c
}
