package generate

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// suiteSeeds are how many seeds the tests try.
const suiteSeeds = 20

// competitionLevels is the official table.
func competitionLevels() []SuiteLevel {
	few, some, many := []int{8, 11, 14, 26, 28}, []int{36, 50, 62, 118, 210}, []int{90, 125, 150, 300, 532}
	most := []int{532, 532, 532, 532, 532}
	stops, six := []int{3, 3, 4, 6, 6}, []int{6, 6, 6, 6, 6}
	return []SuiteLevel{
		{"level_0", few, stops}, {"level_1", some, stops}, {"level_2", many, stops}, {"level_3", some, stops},
		{"level_4", many, stops}, {"level_5", many, stops}, {"level_6", most, six},
	}
}

// suite makes scene and metadata of the public map.
func suite(t testing.TB, seed uint64) (*railfile.Scene, *railfile.Metadata) {
	t.Helper()
	levels, p := competitionLevels(), DefaultSuiteParameters()
	scene, err := SuiteScene(publicMap(t), levels, p, seed)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	m, err := SuiteMetadata(scene, levels, p)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return scene, m
}

// suiteScenarios are the scenarios that the competition's generator derives.
func suiteScenarios(t testing.TB, scene *railfile.Scene, m *railfile.Metadata) []Derived {
	t.Helper()
	if err := MarkScenes(scene); err != nil {
		t.Fatal(err)
	}
	global, ids := numpyrand.NewRandomState(1), numpyrand.NewRandomState(2)
	before := global
	all, err := Levels(scene, m, &global, &ids)
	if err != nil {
		t.Fatal(err)
	}
	if !global.Equal(&before) {
		t.Error("the metadata leave something to chance")
	}
	return all
}

// checkSuiteCounts compares the scenarios with the official table.
func checkSuiteCounts(all []Derived, levels []SuiteLevel) error {
	for l, level := range levels {
		for i, trains := range level.Trains {
			d := all[5*l+i]
			name := d.FileStem()
			if want := fmt.Sprintf("%s/%s_scenario_%d", level.Name, level.Name, i+1); name != want {
				return fmt.Errorf("got %s, want %s", name, want)
			}
			s, err := d.Scene.Scenario()
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if len(s.Trains) != trains {
				return fmt.Errorf("%s: got %d trains, want %d", name, len(s.Trains), trains)
			}
			stops := 0
			for k := range s.Trains {
				n := len(s.Trains[k].Intermediate())
				if n > level.Stops[i] {
					return fmt.Errorf("%s: train %d has %d stops between start and target, want at most %d", name, k, n, level.Stops[i])
				}
				stops += n
			}
			if stops < trains {
				return fmt.Errorf("%s: got %d stops of %d trains, want at least one on average", name, stops, trains)
			}
			if s.MaxEpisodeSteps > 3000 {
				return fmt.Errorf("%s: got %d steps, want at most 3000", name, s.MaxEpisodeSteps)
			}
		}
	}
	return nil
}

// TestSuiteIsThatOfTheOfficialTable: numbers of trains and stops come out by the competition's own rules.
func TestSuiteIsThatOfTheOfficialTable(t *testing.T) {
	levels := competitionLevels()
	for seed := range uint64(suiteSeeds) {
		scene, m := suite(t, seed)
		all := suiteScenarios(t, scene, m)
		if err := checkSuiteCounts(all, levels); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		for _, i := range []int{7, 12} { // another number of lines is noticed
			lines := scene.Timetables[i].TrainCategory
			scene.Timetables[i].TrainCategory = "none"
			if err := checkSuiteCounts(suiteScenarios(t, scene, m), levels); err == nil {
				t.Errorf("seed %d: a %s line less goes unnoticed", seed, lines)
			}
			scene.Timetables[i].TrainCategory = lines
		}
		p := DefaultSuiteParameters()
		for i, d := range all {
			if err := checkSuiteNumbers(&d, &p.Levels[i/5].Scenarios[i%5]); err != nil {
				t.Errorf("seed %d: %s: %v", seed, d.FileStem(), err)
			}
		}
	}
}

// checkSuiteNumbers compares what is asked of a scenario with its parameters and with what its level should be like.
func checkSuiteNumbers(d *Derived, p *SuiteScenario) error {
	low, high := math.Inf(1), 0.0
	for k, c := range d.Specs.Timetable.TrainCategories {
		got := [3]float64{c.InitialShift.Low.Value, c.Periodicity.Low.Value, c.TravelFactor.Low.Value}
		want := [3]float64{float64(k * p.Shift), float64(p.Periodicity), p.TravelFactor}
		if got != want || slices.Contains(p.Without, c.Name) {
			return fmt.Errorf("%s: got shift, periodicity and travel factor %v, want %v", c.Name, got, want)
		}
		times := c.Times.Low.Value
		low, high = min(low, times), max(high, times)
		if first := d.Level == "level_0"; first && (got[0] != 0 || got[2] != 1 || times != 1) ||
			!first && (got[0] != 0) != (k > 0) || !first && (got[1] < 20 || got[2] <= 1 || times < 2) {
			return fmt.Errorf("%s: %v of %v trains is not what its level is like", c.Name, got, times)
		}
	}
	if high-low > 1 {
		return fmt.Errorf("lines have from %v to %v trains, want nearly the same number", low, high)
	}
	disturbed := slices.Contains([]string{"level_3", "level_4", "level_5", "level_6"}, d.Level)
	delayed := slices.Contains([]string{"level_4", "level_5", "level_6"}, d.Level)
	s := d.Specs
	if (s.Malfunction != nil) != disturbed || (s.DepartureMalfunction != nil) != delayed || (s.Infrastructure != nil) != (d.Level == "level_6") {
		return errors.New("its disturbances are not those of its level")
	}
	for _, m := range []struct {
		got  *railfile.MalfunctionSpecs
		want *SuiteMalfunctions
	}{{s.Malfunction, p.Breakdowns}, {s.DepartureMalfunction, p.DepartureDelays}} {
		if m.want != nil && (SuiteMalfunctions{m.got.Interval.Value, *m.got.DurationMin, *m.got.DurationMax}) != *m.want {
			return fmt.Errorf("got other malfunctions than %v", *m.want)
		}
	}
	if c, i := p.Closures, s.Infrastructure; c != nil && (SuiteClosures{i.Interval.Value, *i.DurationMin, *i.DurationMax, *i.Length}) != *c {
		return fmt.Errorf("got other closures than %v", *c)
	}
	return nil
}

// ways are what checkSuiteLines finds out about the grid by itself.
type ways struct {
	net   *rail.Network
	found map[rail.Node]map[rail.Node]int
}

// publicWays are those of the published scene.
func publicWays(t testing.TB) *ways {
	t.Helper()
	scene, err := railfile.ReadScene(bytes.NewReader(golden.Read(t, publicScene)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := scene.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	net, err := rail.NewNetwork(s.Width, s.Height, s.Grid)
	if err != nil {
		t.Fatal(err)
	}
	return &ways{net, make(map[rail.Node]map[rail.Node]int)}
}

// from is how many moves it takes to all configurations that the moving actions lead to.
func (w *ways) from(c rail.Configuration) map[rail.Node]int {
	start := w.net.Node(c)
	if d, ok := w.found[start]; ok {
		return d
	}
	d := map[rail.Node]int{start: 0}
	for wave := []rail.Node{start}; len(wave) > 0; {
		var next []rail.Node
		for _, n := range wave {
			for _, a := range []rail.Action{rail.MoveLeft, rail.MoveForward, rail.MoveRight} {
				to, _ := w.net.Move(n, a)
				if _, been := d[to]; to != rail.NoNode && !been {
					d[to] = d[n] + 1
					next = append(next, to)
				}
			}
		}
		wave = next
	}
	w.found[start] = d
	return d
}

// moves is how many moves it takes from one stop to another, whose heading may be any; -1 if there is no way.
func (w *ways) moves(from, to rail.Configuration) int {
	best := -1
	for h := rail.North; h <= rail.West; h++ {
		if to.Heading != rail.NoHeading && to.Heading != h {
			continue
		}
		if d, ok := w.from(from)[w.net.Node(rail.Configuration{Cell: to.Cell, Heading: h})]; ok && (best < 0 || d < best) {
			best = d
		}
	}
	return best
}

// checkSuiteLines drives along every line: from every platform of a stop to every one of the next. It looks at platforms,
// names and times, too.
func checkSuiteLines(scene *railfile.Scene, w *ways, detour int) error {
	s, err := scene.Scenario()
	if err != nil {
		return err
	}
	ids := make(map[uint64]bool)
	if len(scene.Lines) != len(s.Trains) || len(scene.Timetables) != len(s.Trains) {
		return fmt.Errorf("%d lines, %d timetables and %d trains", len(scene.Lines), len(scene.Timetables), len(s.Trains))
	}
	for i := range s.Trains {
		if err := checkSuiteLine(scene, s, w, i, detour); err != nil {
			return fmt.Errorf("%s: %w", scene.Timetables[i].Name, err)
		}
		if id := scene.Timetables[i].ID; ids[id] || ids[scene.Lines[i].ID] {
			return fmt.Errorf("%s: an id comes twice", scene.Timetables[i].Name)
		}
		ids[scene.Timetables[i].ID], ids[scene.Lines[i].ID] = true, true
	}
	return nil
}

func checkSuiteLine(scene *railfile.Scene, s *rail.Scenario, w *ways, i, detour int) error {
	line, table, train := &scene.Lines[i], &scene.Timetables[i], &s.Trains[i]
	at := slices.IndexFunc(scene.TrainCategories, func(c railfile.TrainCategory) bool { return c.Name == table.TrainCategory })
	if at < 0 {
		return fmt.Errorf("there is no category %s", table.TrainCategory)
	}
	category := scene.TrainCategories[at]
	last := len(train.Stops) - 1
	positions := scene.FlatlandLine.AgentPositions[i]
	switch {
	case table.Name != table.TrainCategory+" "+line.Name+".1" || table.TrainCategoryID != category.ID || table.LineID != line.ID:
		return errors.New("timetable, category and line do not fit")
	case scene.FlatlandLine.AgentSpeeds[i] != category.Speed:
		return fmt.Errorf("its speed is %s, want %s", scene.FlatlandLine.AgentSpeeds[i], category.Speed)
	case len(line.StationIDs) != last+1 || len(table.Stops) != last+1 || len(positions) != last+1:
		return errors.New("another number of stops in line, timetable or flatlandLine")
	case train.EarliestDeparture != 0 || len(train.Stops[0].Alternatives) != 1:
		return errors.New("want one start at step 0")
	case line.StartCell != railfile.NamedCell{R: train.Initial.Row, C: train.Initial.Col} || line.EndCell != railfile.NamedCell{R: train.Target.Row, C: train.Target.Col}:
		return errors.New("startCell or endCell is another one")
	}
	onWay := 0
	for k, stop := range train.Stops {
		id := line.StationIDs[k]
		if table.Stops[k].StationID != id || slices.Contains(line.StationIDs[:k], id) {
			return fmt.Errorf("station %d is another one in the timetable, or comes twice", id)
		}
		if !reflect.DeepEqual(table.Stops[k].LatestArrival, scene.FlatlandTimetable.LatestArrivals[i][k]) ||
			!reflect.DeepEqual(table.Stops[k].EarliestDeparture, scene.FlatlandTimetable.EarliestDepartures[i][k]) {
			return fmt.Errorf("stop %d has other times in flatlandTimetable", k)
		}
		for a, c := range stop.Alternatives {
			if !slices.Contains(scene.Stations, railfile.Station{ID: id, R: c.Row, C: c.Col}) || positions[k][a] != railfile.SceneCell(c.Cell) {
				return fmt.Errorf("%s is no platform of station %d", c, id)
			}
			if c.Heading != stop.Alternatives[0].Heading || a > 0 && fromLeft(c.Heading)(stop.Alternatives[a-1].Cell, c.Cell) >= 0 {
				return fmt.Errorf("the platforms of stop %d are not all of one heading, from the left", k)
			}
		}
		if k == 0 {
			continue
		}
		if k < last && stop.EarliestDeparture.Step != stop.LatestArrival.Step+2 || stop.EarliestDeparture.Given != (k < last) {
			return fmt.Errorf("stop %d: latest arrival %v, earliest departure %v: want 2 steps between", k, stop.LatestArrival, stop.EarliestDeparture)
		}
		shortest, longest := math.MaxInt, 0 // moves
		for _, from := range train.Stops[k-1].Alternatives {
			for _, to := range stop.Alternatives {
				d := w.moves(from, to)
				if d <= 0 {
					return fmt.Errorf("there is no way from %s to %s", from, to)
				}
				shortest, longest = min(shortest, d), max(longest, d)
			}
		}
		if longest > shortest+2*detour {
			return fmt.Errorf("from stop %d on it is %d to %d moves: want no long detours", k-1, shortest, longest)
		}
		onWay += shortest
		travel := float64(stop.LatestArrival.Step - train.Stops[k-1].EarliestDeparture.Step)
		if at := float64(shortest+1) / category.Speed.Value * 1.1; travel < at || travel > float64(longest+1)/category.Speed.Value*1.1+1 {
			return fmt.Errorf("it has %v steps to stop %d, want 1.1 times the way's, %v or a little more", travel, k, at)
		}
	}
	if direct := w.moves(train.Initial, train.Stops[last].Alternatives[0]); onWay > direct+2*(last-1) {
		return fmt.Errorf("by its stops it is %d moves, want hardly more than the shortest way's, %d", onWay, direct)
	}
	return nil
}

// TestSuiteStopsNoMoreThanItMay where trains pass more stations: in the groups of a scene with a lower number.
func TestSuiteStopsNoMoreThanItMay(t *testing.T) {
	w := publicWays(t)
	for most := range 3 {
		levels, p := competitionLevels(), DefaultSuiteParameters()
		levels[4].Stops = slices.Clone(levels[4].Stops)
		levels[4].Stops[2] = most // of scene_3, in which group 3 is
		longest := make(map[byte]int)
		for seed := range uint64(suiteSeeds) {
			scene, err := SuiteScene(publicMap(t), levels, p, seed)
			if err != nil {
				t.Fatalf("most %d, seed %d: %v", most, seed, err)
			}
			if err := checkSuiteLines(scene, w, p.Detour); err != nil {
				t.Errorf("most %d, seed %d: %v", most, seed, err)
			}
			for _, l := range scene.Lines {
				longest[l.Name[0]] = max(longest[l.Name[0]], len(l.StationIDs)-2)
			}
		}
		for group, official := range map[byte]int{'1': 3, '2': 3, '3': most, '4': 6} {
			if n := longest[group]; n > official || n < min(3, official) {
				t.Errorf("most %d: trains of group %c stop up to %d times, want at most %d, and 3 where they may", most, group, n, official)
			}
		}
	}
}

// TestSuiteLinesCanBeDriven: of every line, from every platform it names to every next one.
func TestSuiteLinesCanBeDriven(t *testing.T) {
	w, m := publicWays(t), publicMap(t)
	for seed := range uint64(suiteSeeds) {
		scene, _ := suite(t, seed)
		if !reflect.DeepEqual(scene.Grid, m.Scene.Grid) || !reflect.DeepEqual(scene.Overpasses, m.Scene.Overpasses) || len(scene.Extra) > 0 {
			t.Errorf("seed %d: another railway, or keys that the format does not name", seed)
		}
		if err := checkSuiteLines(scene, w, DefaultSuiteParameters().Detour); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		ends := make(map[railfile.SceneCell]bool)
		for _, c := range scene.FlatlandLine.AgentTargets {
			ends[c] = true
		}
		if n := len(ends); n < 25 {
			t.Errorf("seed %d: %d lines end at %d platforms, want them spread over 25 or more", seed, len(scene.Lines), n)
		}
		starts := make(map[railfile.SceneCell]string)
		for i, p := range scene.FlatlandLine.AgentPositions {
			if scene.Timetables[i].TrainCategory == "C" {
				continue // not in scene_5, which has all others
			}
			if other := starts[p[0][0]]; other != "" {
				t.Errorf("seed %d: %s and %s both start at %v", seed, other, scene.Timetables[i].Name, p[0][0])
			}
			starts[p[0][0]] = scene.Timetables[i].Name
		}
	}
}

// TestSuiteCheckNotices that a line is wrong.
func TestSuiteCheckNotices(t *testing.T) {
	w := publicWays(t)
	scene, _ := suite(t, 0)
	var b bytes.Buffer
	if err := scene.Write(&b); err != nil {
		t.Fatal(err)
	}
	// Free numbers: of the drawing, of lines that nobody drives on, of the limit that is checked with the levels.
	free := func(path string) bool {
		top, _, _ := strings.Cut(path, ".")
		return slices.Contains([]string{"gridDimensions", "grid", "overpasses", "stations", "nextStationId", "trainCategories"}, top) ||
			strings.HasSuffix(path, "max_episode_steps") || strings.HasSuffix(path, "travelFactor") || strings.HasSuffix(path, "dwellTime") ||
			strings.HasSuffix(path, ".id") || strings.HasSuffix(path, "latest_arrivals.0")
	}
	golden.Mutate(t, b.Bytes(), 60, func(path string) bool { return free(path) || nullTime(path) }, func(data []byte) error {
		s, err := railfile.ReadScene(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return checkSuiteLines(s, w, DefaultSuiteParameters().Detour)
	})
}

// nullTime names times that are null.
func nullTime(path string) bool {
	p := strings.Split(path, ".")
	return strings.HasSuffix(path, ".stops.0.latestArrival") || len(p) == 4 && p[1] == "latest_arrivals" && p[3] == "0"
}

// TestSuiteIsAFunctionOfItsSeed: the same bytes for the same seed, and other lines for another.
func TestSuiteIsAFunctionOfItsSeed(t *testing.T) {
	write := func(seed uint64) [2]string {
		scene, m := suite(t, seed)
		var b, c bytes.Buffer
		if err := errors.Join(scene.Write(&b), m.Write(&c)); err != nil {
			t.Fatal(err)
		}
		read, err := railfile.ReadMetadata(bytes.NewReader(c.Bytes()))
		if err != nil || !reflect.DeepEqual(read, m) {
			t.Errorf("the metadata are others when they are read again: %v", err)
		}
		if _, err := railfile.ReadScene(bytes.NewReader(b.Bytes())); err != nil {
			t.Error(err)
		}
		return [2]string{b.String(), c.String()}
	}
	seen := make(map[string]uint64)
	for _, seed := range []uint64{0, 1, 2, 1 << 32, 1<<32 + 1, math.MaxUint64} {
		got := write(seed)
		if again := write(seed); again != got {
			t.Errorf("seed %d: another scene or other metadata at the second time", seed)
		}
		if other, ok := seen[got[0]]; ok {
			t.Errorf("seeds %d and %d make the same scene", other, seed)
		}
		seen[got[0]] = seed
		if first := write(0); got[1] != first[1] {
			t.Errorf("seed %d: the metadata are others, which say nothing of a seed", seed)
		}
	}
}

// TestPlatformsFromTheLeft: so they are listed in the published scene, and lists in another order are noticed.
func TestPlatformsFromTheLeft(t *testing.T) {
	scene, err := railfile.ReadScene(bytes.NewReader(golden.Read(t, publicScene)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := scene.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	several := 0
	for i := range s.Trains {
		for k, stop := range s.Trains[i].Intermediate() {
			cells := make([]rail.Cell, len(stop.Alternatives))
			for a, c := range stop.Alternatives {
				cells[a] = c.Cell
			}
			order := fromLeft(stop.Alternatives[0].Heading)
			if !slices.IsSortedFunc(cells, order) {
				t.Errorf("train %d, stop %d: got %v, want them from the left", i, k+1, cells)
			}
			if slices.Reverse(cells); len(cells) > 1 && slices.IsSortedFunc(cells, order) {
				t.Errorf("train %d, stop %d: from the right is from the left", i, k+1)
			}
			if len(cells) > 1 {
				several++
			}
		}
	}
	if several < 15 {
		t.Errorf("got %d stops with several platforms, want 15 or more", several)
	}
}

// TestTrainsPerLine are as equal as can be: beside all others that make the number.
func TestTrainsPerLine(t *testing.T) {
	for _, lines := range [][]int{{1}, {2}, {1, 2, 3, 2}, {2, 2, 5, 2}, {1, 4, 5, 4}, {3, 10, 14}, {2, 4}, {7, 3}} {
		for trains := 1; trains <= 60; trains++ {
			least, want := 0, -1
			total := 0
			for _, n := range lines {
				total += n
			}
			if trains >= total {
				least = 1
			}
			eachTimes(lines, trains, least, nil, func(times []int) {
				if spread := slices.Max(times) - slices.Min(times); want < 0 || spread < want {
					want = spread
				}
			})
			times, ok := trainsPerLine(lines, trains)
			if ok != (want >= 0) {
				t.Errorf("%d trains of %v: got %v, %v, want spread %d", trains, lines, times, ok, want)
				continue
			}
			if !ok {
				continue
			}
			sum := 0
			for k, n := range lines {
				sum += n * times[k]
			}
			if sum != trains || slices.Max(times)-slices.Min(times) != want || slices.Min(times) < least {
				t.Errorf("%d trains of %v: got %v, which are %d, want spread %d", trains, lines, times, sum, want)
			}
		}
	}
	if times, ok := trainsPerLine(nil, 5); ok {
		t.Errorf("no lines: got %v", times)
	}
}

// eachTimes shows all times by which lines have so many trains.
func eachTimes(lines []int, trains, least int, times []int, show func([]int)) {
	if len(lines) == 0 {
		if trains == 0 {
			show(times)
		}
		return
	}
	for n := least; n*lines[0] <= trains; n++ {
		eachTimes(lines[1:], trains-n*lines[0], least, append(times, n), show)
	}
}

// TestSuiteParametersAsYAML come back as they were, so a file of them can be adjusted.
func TestSuiteParametersAsYAML(t *testing.T) {
	want := DefaultSuiteParameters()
	data, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got SuiteParameters
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestSuiteRefuses what does not fit, and says what to do.
func TestSuiteRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*SuiteParameters, []SuiteLevel)
		want   string
	}{
		"a share of all":          {func(p *SuiteParameters, _ []SuiteLevel) { p.Apart = 1 }, "apart is 1, want 0 to less than 1"},
		"no number":               {func(p *SuiteParameters, _ []SuiteLevel) { p.Apart = math.NaN() }, "apart is NaN"},
		"a way shorter than none": {func(p *SuiteParameters, _ []SuiteLevel) { p.Roundabout = 0.5 }, "roundabout is 0.5, want 1 to"},
		"a negative detour":       {func(p *SuiteParameters, _ []SuiteLevel) { p.Detour = -1 }, "detour is -1"},
		"a negative step aside":   {func(p *SuiteParameters, _ []SuiteLevel) { p.Aside = -1 }, "aside is -1"},
		"no time":                 {func(p *SuiteParameters, _ []SuiteLevel) { p.TravelFactor = 0 }, "travel_factor is 0"},
		"a negative stay":         {func(p *SuiteParameters, _ []SuiteLevel) { p.DwellTime = -1 }, "dwell_time is -1"},
		"a group without a name":  {func(p *SuiteParameters, _ []SuiteLevel) { p.Groups[1].Name = "" }, `groups[1]: its name is ""`},
		"a group twice":           {func(p *SuiteParameters, _ []SuiteLevel) { p.Groups[1].Name = "1" }, `groups[1]: there is a group "1" already`},
		"an unknown region":       {func(p *SuiteParameters, _ []SuiteLevel) { p.Groups[0].Region = "x" }, `group 1: the map has no region "x"; it has`},
		"an unknown category":     {func(p *SuiteParameters, _ []SuiteLevel) { p.Groups[0].Lines[0].Category = "x" }, `group 1: the map has no train category "x"; it has`},
		"a negative count":        {func(p *SuiteParameters, _ []SuiteLevel) { p.Groups[2].Lines[0].Count = -1 }, "groups[2].lines[0]: count is -1"},
		"a level less":            {func(p *SuiteParameters, _ []SuiteLevel) { p.Levels = p.Levels[1:] }, "parameters for 6 levels, want 7"},
		"another level":           {func(p *SuiteParameters, _ []SuiteLevel) { p.Levels[2].Name = "x" }, `levels[2]: its name is "x", want "level_2"`},
		"a scenario less":         {func(p *SuiteParameters, _ []SuiteLevel) { p.Levels[2].Scenarios = p.Levels[2].Scenarios[1:] }, "level_2: 4 scenarios, want 5"},
		"stops of one less":       {func(_ *SuiteParameters, l []SuiteLevel) { l[2].Stops = l[2].Stops[1:] }, "level_2: 5 scenarios, want 5 as the competition has numbers of trains, and 4 of stops"},
		"an unknown scene":        {func(p *SuiteParameters, _ []SuiteLevel) { p.Levels[3].Scenarios[1].Scene = "x" }, `level_3: scenarios[1]: scene is "x"`},
		"no train":                {func(_ *SuiteParameters, l []SuiteLevel) { l[0].Trains[0] = 0 }, "level_0: scenarios[0]: the competition has 0 trains"},
		"a negative number of stops": {
			func(_ *SuiteParameters, l []SuiteLevel) { l[0].Stops[0] = -1 }, "level_0: scenarios[0]: the competition has -1 stops"},
		"trains before the first": {func(p *SuiteParameters, _ []SuiteLevel) { p.Levels[1].Scenarios[0].Periodicity = -1 }, "periodicity is -1"},
		"a negative shift":        {func(p *SuiteParameters, _ []SuiteLevel) { p.Levels[1].Scenarios[0].Shift = -1 }, "shift is -1"},
		"a factor of 0":           {func(p *SuiteParameters, _ []SuiteLevel) { p.Levels[1].Scenarios[0].TravelFactor = 0 }, "level_1: scenarios[0]: travel_factor is 0"},
		"two breakdowns a step":   {func(p *SuiteParameters, _ []SuiteLevel) { p.Levels[3].Scenarios[0].Breakdowns.Interval = 0.5 }, "level_3: scenarios[0]: breakdowns: interval is 0.5"},
		"durations in disorder":   {func(p *SuiteParameters, _ []SuiteLevel) { p.Levels[4].Scenarios[0].DepartureDelays.DurationMin = 9 }, "departure_delays: duration is 9 to 5"},
		"closures for ever":       {func(p *SuiteParameters, _ []SuiteLevel) { p.Levels[6].Scenarios[0].Closures.Interval = math.Inf(1) }, "closures: interval is +Inf"},
		"closures of nothing":     {func(p *SuiteParameters, _ []SuiteLevel) { p.Levels[6].Scenarios[0].Closures.Length = 0 }, "closures: length is 0"},
		"a category to leave out": {func(p *SuiteParameters, _ []SuiteLevel) { p.Levels[0].Scenarios[4].Without[0] = "x" }, `without: the scene has no train category "x"`},
		"trains not to be had": {
			func(_ *SuiteParameters, l []SuiteLevel) { l[0].Trains[1] = 1 }, // all numbers of lines are 2 or more
			"level_0: scenarios[1]: 1 trains cannot be had from lines of which [2 2 5 2] are IC, RE, S, C: change the counts in groups"},
		"pairs that are all the same": {func(p *SuiteParameters, _ []SuiteLevel) { p.Roundabout = 1 }, "no line can be laid in region"},
	} {
		levels, p := competitionLevels(), DefaultSuiteParameters()
		c.change(&p, levels)
		scene, err := SuiteScene(publicMap(t), levels, p, 1)
		if err == nil {
			_, err = SuiteMetadata(scene, levels, p)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}
