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

	"pgregory.net/rapid"

	"skyrail/internal/golden"
	"skyrail/rail"
)

// drawSceneScenario is any scenario that a scene can stand for, and stations of which some are where its trains stop.
func drawSceneScenario(t *rapid.T) (*rail.Scenario, *Stations) {
	width, height := rapid.IntRange(1, 6).Draw(t, "width"), rapid.IntRange(1, 6).Draw(t, "height")
	cell := rapid.Custom(func(t *rapid.T) rail.Cell {
		return rail.Cell{Row: rapid.IntRange(0, height-1).Draw(t, "row"), Col: rapid.IntRange(0, width-1).Draw(t, "col")}
	})
	heading := rapid.Custom(func(t *rapid.T) rail.Heading { return rail.Heading(rapid.IntRange(0, 3).Draw(t, "heading")) })
	when := rapid.Custom(func(t *rapid.T) rail.Time {
		if rapid.Bool().Draw(t, "given") {
			return rail.At(rapid.IntRange(-5, 60).Draw(t, "step"))
		}
		return rail.Time{}
	})
	transitions := rapid.Custom(func(t *rapid.T) rail.Transitions { return rail.Transitions(rapid.Uint16().Draw(t, "transitions")) })
	s := &rail.Scenario{
		Width: width, Height: height, MaxEpisodeSteps: rapid.IntRange(1, 60).Draw(t, "limit"),
		Grid:      rapid.SliceOfN(transitions, width*height, width*height).Draw(t, "grid"),
		LevelFree: rapid.SliceOfN(cell, 1, 4).Draw(t, "level free"),
		Trains:    []rail.Train{},
	}
	for range rapid.IntRange(0, 8).Draw(t, "trains") {
		n := rapid.IntRange(2, 4).Draw(t, "stops")
		train := rail.Train{Stops: make([]rail.Stop, n)}
		for k := range train.Stops {
			stop := rail.Stop{EarliestDeparture: when.Draw(t, "departure"), LatestArrival: when.Draw(t, "arrival")}
			places := 1
			if k < n-1 {
				places = rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "alternatives")
			}
			for range places {
				c := rail.Configuration{Cell: cell.Draw(t, "place"), Heading: rail.NoHeading}
				if k < n-1 {
					c.Heading = heading.Draw(t, "heading")
				}
				stop.Alternatives = append(stop.Alternatives, c)
			}
			train.Stops[k] = stop
		}
		first, last := &train.Stops[0], &train.Stops[n-1]
		train.EarliestDeparture = rapid.IntRange(-2, 40).Draw(t, "earliest")
		train.LatestArrival = rapid.IntRange(-2, 90).Draw(t, "latest")
		first.EarliestDeparture, last.LatestArrival = rail.At(train.EarliestDeparture), rail.At(train.LatestArrival)
		train.Initial, train.Target = first.Alternatives[0], last.Alternatives[0].Cell
		speed, err := rail.Snap(rapid.OneOf(rapid.SampledFrom([]float64{1, 0.8, 0.6, 0.5, 0.33, 0}), rapid.Float64Range(0, 1)).Draw(t, "speed"))
		if err != nil {
			t.Fatal(err)
		}
		train.MaxSpeed = speed
		s.Trains = append(s.Trains, train)
	}
	if !rapid.Bool().Draw(t, "with stations") {
		return s, nil
	}
	// One city, so that no alternatives lie in two.
	track := rapid.Custom(func(t *rapid.T) StationTrack { return StationTrack{Cell: cell.Draw(t, "platform")} })
	return s, &Stations{Cities: []rail.Cell{{}, {}}, Tracks: [][]StationTrack{{}, rapid.SliceOfN(track, 1, 6).Draw(t, "tracks")}}
}

// TestAScenarioIsThatOfItsScene: it comes back from the scene, and from the scene's file, whose parts fit together.
func TestAScenarioIsThatOfItsScene(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, stations := drawSceneScenario(t)
		scene, err := SceneOf(s, stations)
		if err != nil {
			t.Fatal(err)
		}
		if err := sceneFits(scene, s, stations); err != nil {
			t.Fatal(err)
		}
		var written bytes.Buffer
		if err := scene.Write(&written); err != nil {
			t.Fatal(err)
		}
		again, err := ReadScene(bytes.NewReader(written.Bytes()))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, written.Bytes())
		}
		if !reflect.DeepEqual(again, scene) {
			t.Fatalf("read again: got %+v, want %+v", again, scene)
		}
	})
}

// sceneFits says what is wrong with a scene of a scenario.
func sceneFits(scene *Scene, s *rail.Scenario, stations *Stations) error {
	back, err := scene.Scenario()
	if err != nil {
		return err
	}
	if err := scenarioDifference(back, s); err != nil {
		return err
	}
	at, ids := map[rail.Cell]uint64{}, map[uint64]bool{}
	for _, st := range scene.Stations {
		c := rail.Cell{Row: st.R, Col: st.C}
		if _, twice := at[c]; twice {
			return fmt.Errorf("cell %s is in two stations, or twice in one", c)
		}
		if st.ID < 1 || st.ID >= scene.NextStationID {
			return fmt.Errorf("station %d, and the next is to be %d", st.ID, scene.NextStationID)
		}
		at[c], ids[st.ID] = st.ID, true
	}
	if stations != nil {
		for city, tracks := range stations.Tracks {
			for _, track := range tracks {
				if at[track.Cell] != uint64(city+1) {
					return fmt.Errorf("platform %s of city %d is in station %d", track.Cell, city, at[track.Cell])
				}
			}
		}
	}
	lines, ways := map[uint64][]uint64{}, map[string]bool{}
	for _, l := range scene.Lines {
		if _, twice := lines[l.ID]; twice || ways[fmt.Sprint(l.StationIDs)] {
			return fmt.Errorf("two lines %d, or through %d", l.ID, l.StationIDs)
		}
		lines[l.ID], ways[fmt.Sprint(l.StationIDs)] = l.StationIDs, true
	}
	if len(scene.Timetables) != len(s.Trains) {
		return fmt.Errorf("%d timetables for %d trains", len(scene.Timetables), len(s.Trains))
	}
	names := map[string]bool{}
	for i, tt := range scene.Timetables {
		train := &s.Trains[i]
		if names[tt.Name] {
			return fmt.Errorf("two trains are called %s", tt.Name)
		}
		names[tt.Name] = true
		c := slices.IndexFunc(scene.TrainCategories, func(c TrainCategory) bool { return c.Name == tt.TrainCategory })
		if c < 0 || scene.TrainCategories[c].ID != tt.TrainCategoryID || !strings.HasPrefix(tt.Name, tt.TrainCategory+" ") {
			return fmt.Errorf("%s has category %q, %d", tt.Name, tt.TrainCategory, tt.TrainCategoryID)
		}
		if f, err := rail.Snap(scene.TrainCategories[c].Speed.Value); err != nil || !f.Equal(train.MaxSpeed) {
			return fmt.Errorf("%s has speed %s, not %s", tt.Name, f, train.MaxSpeed)
		}
		if len(tt.Stops) != len(train.Stops) {
			return fmt.Errorf("%s has %d stops, not %d", tt.Name, len(tt.Stops), len(train.Stops))
		}
		var way []uint64
		for k, stop := range train.Stops {
			way = append(way, tt.Stops[k].StationID)
			if timeOf(tt.Stops[k].EarliestDeparture) != stop.EarliestDeparture || timeOf(tt.Stops[k].LatestArrival) != stop.LatestArrival {
				return fmt.Errorf("%s has other times at stop %d", tt.Name, k)
			}
			for _, a := range stop.Alternatives {
				if at[a.Cell] != tt.Stops[k].StationID {
					return fmt.Errorf("%s stops at %s in station %d, not %d", tt.Name, a.Cell, at[a.Cell], tt.Stops[k].StationID)
				}
			}
		}
		if !slices.Equal(lines[tt.LineID], way) {
			return fmt.Errorf("%s is on a line through %d, not %d", tt.Name, lines[tt.LineID], way)
		}
	}
	return nil
}

// TestScenesOfRecordedEnvironments: every recorded environment becomes a scene that stands for it, or an error that says why
// it cannot.
func TestScenesOfRecordedEnvironments(t *testing.T) {
	cities, err := ReadStations(golden.Read(t, "testdata/files/auxiliary/stations.pkl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, path := range environmentFiles(t) {
		f, err := ReadEnvironment(golden.Read(t, path+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		var stations *Stations
		if f.Scenario.Height == 120 && f.Scenario.Width == 150 {
			stations = cities
		}
		scene, err := SceneOf(f.Scenario, stations)
		if err != nil {
			limitless := f.Scenario.MaxEpisodeSteps == 0 && strings.Contains(err.Error(), "no limit of steps")
			if !limitless && !strings.Contains(err.Error(), "without heading") {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		if err := sceneFits(scene, f.Scenario, stations); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		made++
	}
	if made < 20 {
		t.Errorf("%d scenes were made", made)
	}
}

// TestASceneIsLikeTheDrawn makes the sample scene of the environment that the reference made of it.
func TestASceneIsLikeTheDrawn(t *testing.T) {
	t.Parallel()
	s, _, err := readDump(golden.Read(t, "testdata/files/v4/competition_level_0_scenario_1_no_malfunction.pkl.loaded.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	stations, err := ReadStations(golden.Read(t, "testdata/files/auxiliary/stations.pkl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := SceneOf(s, stations)
	if err != nil {
		t.Fatal(err)
	}
	check := func(data []byte) error {
		want, err := ReadScene(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return sameButNames(*got, *want)
	}
	// What a scenario does not know: how things are called, which cells are platforms besides, and the factor. Of the grid one
	// row is enough.
	skip := func(path string) bool {
		p := strings.Split(path, ".")
		last := p[len(p)-1]
		return p[0] == "grid" && p[1] != "51" || p[0] == "stations" || p[0] == "nextStationId" ||
			slices.Contains([]string{"id", "name", "lineId", "stationId", "travelFactor"}, last) ||
			slices.Contains(p, "scene") || slices.Contains(p, "stationIds") ||
			last == "latestArrival" && p[len(p)-2] == "0" || last == "earliestDeparture" && p[len(p)-2] == "4"
	}
	golden.Mutate(t, golden.Read(t, filepath.Join(goldenJSON, "level_0_scenario_1.json.gz")), 120, skip, check)
}

// sameButNames compares scenes, with stations by their cells and lines as they come, whatever their ids and names are.
func sameButNames(got, want Scene) error {
	stations := func(s *Scene, id uint64, stop []SceneCell) bool {
		return !slices.ContainsFunc(stop, func(c SceneCell) bool { return !slices.Contains(s.Stations, Station{id, c.Row, c.Col}) })
	}
	for _, s := range []*Scene{&got, &want} {
		s.Overpasses = slices.SortedFunc(slices.Values(s.Overpasses), func(a, b SceneCell) int {
			return slices.Compare([]int{a.Row, a.Col}, []int{b.Row, b.Col})
		})
		s.Lines, s.Timetables, s.TrainCategories = slices.Clone(s.Lines), slices.Clone(s.Timetables), slices.Clone(s.TrainCategories)
		for i := range s.Timetables {
			tt := &s.Timetables[i]
			l := slices.IndexFunc(s.Lines, func(l Line) bool { return l.ID == tt.LineID })
			tt.Stops = slices.Clone(tt.Stops)
			for k := range tt.Stops {
				if l < 0 || k >= len(s.Lines[l].StationIDs) || s.Lines[l].StationIDs[k] != tt.Stops[k].StationID ||
					!stations(s, tt.Stops[k].StationID, s.FlatlandLine.AgentPositions[i][k]) {
					return fmt.Errorf("timetable %d, stop %d: another station", i, k)
				}
				tt.Stops[k].StationID = 0
			}
			tt.ID, tt.LineID, tt.Name, tt.TravelFactor, tt.Scene = 0, uint64(l), "", Number{}, nil
		}
		for i := range s.Lines {
			s.Lines[i].ID, s.Lines[i].Name, s.Lines[i].StationIDs = 0, "", nil
		}
		for i := range s.TrainCategories {
			s.TrainCategories[i].ID = 0
		}
		s.Stations, s.NextStationID = nil, 0
	}
	g, err := json.Marshal(&got)
	if err != nil {
		return err
	}
	w, err := json.Marshal(&want)
	if err != nil {
		return err
	}
	return sameValue(g, w)
}

// TestNamesOfTimetables: a number for each train of a line, whatever its category, and a category for each speed.
func TestNamesOfTimetables(t *testing.T) {
	train := func(speed rail.Fraction, cols ...int) rail.Train {
		train := rail.Train{MaxSpeed: speed, LatestArrival: 30}
		for k, col := range cols {
			c := rail.Configuration{Cell: rail.Cell{Row: 0, Col: col}, Heading: rail.East}
			stop := rail.Stop{EarliestDeparture: rail.At(10 * k), LatestArrival: rail.At(9*k - 1)}
			switch k {
			case 0:
				train.Initial, stop.LatestArrival = c, rail.Time{}
			case len(cols) - 1:
				c.Heading, stop.EarliestDeparture, stop.LatestArrival = rail.NoHeading, rail.Time{}, rail.At(30)
				train.Target = c.Cell
			}
			stop.Alternatives = []rail.Configuration{c}
			train.Stops = append(train.Stops, stop)
		}
		return train
	}
	s := &rail.Scenario{Width: 4, Height: 1, Grid: make([]rail.Transitions, 4), MaxEpisodeSteps: 50, Trains: []rail.Train{
		train(rail.Whole(1), 0, 3), train(rail.Frac(4, 5), 0, 1, 3), train(rail.Frac(1, 3), 0, 3), train(rail.Frac(1, 2), 1, 3),
		train(rail.Frac(3, 5), 0, 3), train(rail.Frac(1, 3), 0, 2, 1, 3),
	}}
	scene, err := SceneOf(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tt := range scene.Timetables {
		names = append(names, fmt.Sprintf("%s(%s)", tt.Name, tt.DwellTime))
	}
	if got, want := strings.Join(names, ", "), "IC 1.1(0), RE 2.1(2), V1/3 1.2(0), C 3.1(0), S 1.3(0), V1/3 4.1(2)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(scene.TrainCategories[4:]), "[{V1/3 5 1/3 cells a step 0.33}]"; got != want {
		t.Errorf("got categories %s, want %s", got, want)
	}
	// A city of the last two cells makes the stops there one station.
	scene, err = SceneOf(s, &Stations{Tracks: [][]StationTrack{{{Cell: rail.Cell{Row: 0, Col: 3}}, {Cell: rail.Cell{Row: 0, Col: 2}, Track: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(scene.Stations, scene.NextStationID, scene.Lines[3].StationIDs), "[{1 0 3} {1 0 2} {2 0 0} {3 0 1}] 4 [2 1 3 1]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSceneOfRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*rail.Scenario)
		want   string
	}{
		"no limit":             {func(s *rail.Scenario) { s.MaxEpisodeSteps = 0 }, "there is no limit of steps"},
		"trains that stay":     {func(s *rail.Scenario) { s.KeepAtTarget = true }, "trains stay at their target"},
		"an acceleration":      {func(s *rail.Scenario) { s.Acceleration = rail.ExactDelta(rail.Frac(1, 4)) }, "an acceleration of Fraction(1, 4)"},
		"a braking":            {func(s *rail.Scenario) { s.Braking = rail.FloatDelta(-0.5) }, "a braking of -0.5"},
		"a short grid":         {func(s *rail.Scenario) { s.Grid = s.Grid[1:] }, "a grid of 2 cells: want 1 rows of 3"},
		"no stops":             {func(s *rail.Scenario) { s.Trains[0].Stops = nil }, "train 0: 0 stops"},
		"another start":        {func(s *rail.Scenario) { s.Trains[0].Initial.Heading = rail.West }, "train 0: its first stop does not begin with its start"},
		"no start":             {func(s *rail.Scenario) { s.Trains[0].Stops[0].Alternatives = nil }, "train 0: its first stop does not begin"},
		"a stop anyhow":        {func(s *rail.Scenario) { s.Trains[0].Stops[1].Alternatives[0].Heading = rail.NoHeading }, "train 0: stop 1 has no heading at (0, 1)"},
		"a stop nowhere":       {func(s *rail.Scenario) { s.Trains[0].Stops[1].Alternatives = nil }, "train 0: stop 1 has no place"},
		"a target with one":    {func(s *rail.Scenario) { s.Trains[0].Stops[2].Alternatives[0].Heading = rail.East }, "train 0: its last stop is not its target (0, 2) alone"},
		"another target":       {func(s *rail.Scenario) { s.Trains[0].Target.Col = 1 }, "train 0: its last stop is not its target (0, 1)"},
		"another departure":    {func(s *rail.Scenario) { s.Trains[0].EarliestDeparture = 4 }, "train 0: its first stop has another earliest departure"},
		"another arrival":      {func(s *rail.Scenario) { s.Trains[0].Stops[2].LatestArrival = rail.Time{} }, "train 0: its last stop has another latest arrival"},
		"a speed of 2/3":       {func(s *rail.Scenario) { s.Trains[0].MaxSpeed = rail.Frac(2, 3) }, "train 0: no decimal stands for the speed 2/3"},
		"a speed near another": {func(s *rail.Scenario) { s.Trains[0].MaxSpeed = rail.Frac(17, 50) }, "train 0: no decimal stands for the speed 17/50"},
		"a stop in two cities": {func(s *rail.Scenario) { s.Trains[0].Stops[1].Alternatives[0].Col = 2 },
			"train 0, stop 1: its alternatives lie in the stations 1 and 2"},
	} {
		f, err := ReadEnvironment([]byte(strings.Replace(smallScene, "[[1], [1]]", "[[1], [1, 1]]", 1)))
		if err != nil {
			t.Fatal(err)
		}
		c.change(f.Scenario)
		cities := &Stations{Tracks: [][]StationTrack{{{Cell: rail.Cell{Row: 0, Col: 2}}}, {{Cell: rail.Cell{Row: 0, Col: 1}}}}}
		if _, err := SceneOf(f.Scenario, cities); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
}
