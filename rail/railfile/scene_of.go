package railfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"skyrail/rail"
)

// official are the drawing tool's own train categories, which every scene has.
var official = []TrainCategory{
	{"IC", 1, "High-Speed", WholeNumber(1)},
	{"RE", 2, "Express", Decimal(0.8)},
	{"S", 3, "Local", Decimal(0.6)},
	{"C", 4, "Cargo", Decimal(0.5)},
}

// cellSize is that of the drawing tool's scenes, on the screen.
const cellSize = 12

// SceneOf returns a scene that stands for a scenario, so that [Scene.Scenario] gives the scenario back.
//
// A station is a city of the given stations, with its platforms; the n-th has the id n, from 1. Stops elsewhere, or all
// if stations is nil, make stations of their own: one for each cell, where the alternatives of a stop are in one. Trains
// that call at the same stations are on one line, and each has a timetable of its own, named by its category, its line
// and its number there, such as IC 3.1. A speed that is none of the drawing tool's categories makes a category named by
// it, such as V1/3. What a scenario does not know is 1 for the factor of the travel times, and for the dwell time the
// shortest time between arrival and departure.
//
// What has no form in a scene is an error: other accelerations than the usual ones, trains that stay at their target, no
// limit of steps, a stop without heading or place, a target with one, a first stop that is not where the train starts,
// and a speed that is no decimal that [rail.Snap] makes the same of.
func SceneOf(s *rail.Scenario, stations *Stations) (*Scene, error) {
	switch {
	case s.KeepAtTarget:
		return nil, errors.New("trains stay at their target, for which a scene has no form")
	case !usual(s.Acceleration, 1):
		return nil, fmt.Errorf("an acceleration of %s, for which a scene has no form: want 1.0", s.Acceleration)
	case !usual(s.Braking, -1):
		return nil, fmt.Errorf("a braking of %s, for which a scene has no form: want -1.0", s.Braking)
	case s.MaxEpisodeSteps <= 0:
		return nil, errors.New("there is no limit of steps, and a scene needs one")
	case s.Width < 0 || s.Height < 0 || len(s.Grid) != s.Width*s.Height:
		return nil, fmt.Errorf("a grid of %d cells: want %d rows of %d columns", len(s.Grid), s.Height, s.Width)
	}
	scene := &Scene{
		GridDimensions: GridDimensions{Rows: s.Height, Cols: s.Width, CellSize: WholeNumber(cellSize)},
		Grid:           make([][]rail.Transitions, s.Height),
		Overpasses:     make([]SceneCell, len(s.LevelFree)),
	}
	for row := range scene.Grid {
		scene.Grid[row] = append([]rail.Transitions{}, s.Grid[row*s.Width:(row+1)*s.Width]...)
	}
	for i, c := range s.LevelFree {
		scene.Overpasses[i] = SceneCell(c)
	}
	if err := scene.setTrains(s); err != nil {
		return nil, err
	}
	places := newPlatforms(stations)
	for i := range s.Trains {
		for k, stop := range s.Trains[i].Stops {
			if err := places.add(stop.Alternatives); err != nil {
				return nil, fmt.Errorf("train %d, stop %d: %w", i, k, err)
			}
		}
	}
	scene.Stations, scene.NextStationID = places.list()
	scene.setTimetables(s, places)
	return scene, nil
}

// usual says whether a change of speed is what every loaded environment has.
func usual(d rail.Delta, f float64) bool { return d == rail.Delta{} || d == rail.FloatDelta(f) }

// setTrains fills in the line and timetable of flatland-rl, in the drawing tool's form: with the target as a last
// position.
func (s *Scene) setTrains(from *rail.Scenario) error {
	n := len(from.Trains)
	s.FlatlandLine = FlatlandLine{
		AgentPositions: make([][][]SceneCell, n), AgentDirections: make([][][]rail.Heading, n),
		AgentTargets: make([]SceneCell, n), AgentSpeeds: make([]Number, n),
	}
	s.FlatlandTimetable = FlatlandTimetable{
		EarliestDepartures: make([][]*int, n), LatestArrivals: make([][]*int, n), MaxEpisodeSteps: from.MaxEpisodeSteps,
	}
	for i := range from.Trains {
		if err := s.setTrain(i, &from.Trains[i]); err != nil {
			return fmt.Errorf("train %d: %w", i, err)
		}
	}
	return nil
}

func (s *Scene) setTrain(i int, t *rail.Train) error {
	if err := checkEnds(t); err != nil {
		return err
	}
	speed, ok := decimalOf(t.MaxSpeed)
	if !ok {
		return fmt.Errorf("no decimal stands for the speed %s, and a scene has no fractions", t.MaxSpeed)
	}
	line, times := &s.FlatlandLine, &s.FlatlandTimetable
	last := len(t.Stops) - 1
	directions := make([][]rail.Heading, last)
	for k, stop := range t.Stops {
		if len(stop.Alternatives) == 0 {
			return fmt.Errorf("stop %d has no place", k)
		}
		cells := make([]SceneCell, len(stop.Alternatives))
		for a, c := range stop.Alternatives {
			cells[a] = SceneCell(c.Cell)
			switch {
			case k == last:
			case c.Heading < rail.North || c.Heading > rail.West:
				return fmt.Errorf("stop %d has no heading at %s, and a scene needs one", k, c.Cell)
			default:
				directions[k] = append(directions[k], c.Heading)
			}
		}
		line.AgentPositions[i] = append(line.AgentPositions[i], cells)
		times.EarliestDepartures[i] = append(times.EarliestDepartures[i], stepOf(stop.EarliestDeparture))
		times.LatestArrivals[i] = append(times.LatestArrivals[i], stepOf(stop.LatestArrival))
	}
	line.AgentDirections[i], line.AgentTargets[i], line.AgentSpeeds[i] = directions, SceneCell(t.Target), speed
	return nil
}

// checkEnds says why the first and the last stop of a train cannot be those of a scene, which knows a start and a target
// only as these.
func checkEnds(t *rail.Train) error {
	last := len(t.Stops) - 1
	if last < 1 {
		return fmt.Errorf("%d stops, and a scene needs a start and a target", len(t.Stops))
	}
	first, target := &t.Stops[0], &t.Stops[last]
	switch {
	case len(first.Alternatives) == 0 || first.Alternatives[0] != t.Initial:
		return fmt.Errorf("its first stop does not begin with its start %s", t.Initial)
	case len(target.Alternatives) != 1 || target.Alternatives[0] != rail.Configuration{Cell: t.Target, Heading: rail.NoHeading}:
		return fmt.Errorf("its last stop is not its target %s alone, without heading", t.Target)
	case first.EarliestDeparture != rail.At(t.EarliestDeparture):
		return fmt.Errorf("its first stop has another earliest departure than the train's, step %d", t.EarliestDeparture)
	case target.LatestArrival != rail.At(t.LatestArrival):
		return fmt.Errorf("its last stop has another latest arrival than the train's, step %d", t.LatestArrival)
	}
	return nil
}

// stepOf is a time as it is written: nil if there is none.
func stepOf(t rail.Time) *int {
	if !t.Given {
		return nil
	}
	return &t.Step
}

// decimalOf is the shortest decimal that rail.Snap makes the fraction of. Not every fraction has one.
func decimalOf(f rail.Fraction) (n Number, ok bool) {
	near := f.Float64()
	for digits := range 21 { // 17 and the noughts before them
		v, err := strconv.ParseFloat(strconv.FormatFloat(near, 'f', digits, 64), 64)
		if err != nil {
			return Number{}, false
		}
		if snapped, err := rail.Snap(v); err == nil && snapped.Equal(f) {
			return Number{v, v == math.Trunc(v) && math.Abs(v) <= maxWhole}, true
		}
	}
	return Number{}, false
}

// setTimetables fills in lines, timetables and categories.
func (s *Scene) setTimetables(from *rail.Scenario, places *platforms) {
	s.TrainCategories = append([]TrainCategory{}, official...)
	s.Lines, s.Timetables = []Line{}, make([]Timetable, len(from.Trains))
	lines := map[string]int{} // by the stations, as text
	var trains []int          // by line
	for i := range from.Trains {
		t := &from.Trains[i]
		stations := make([]uint64, len(t.Stops))
		for k, stop := range t.Stops {
			stations[k] = places.station(stop)
		}
		way := fmt.Sprint(stations)
		l, known := lines[way]
		if !known {
			l = len(s.Lines)
			lines[way] = l
			trains = append(trains, 0)
			s.Lines = append(s.Lines, Line{
				ID: uint64(l + 1), Name: strconv.Itoa(l + 1), StationIDs: stations,
				StartCell: NamedCell{t.Initial.Row, t.Initial.Col}, EndCell: NamedCell{t.Target.Row, t.Target.Col},
			})
		}
		trains[l]++
		category := s.category(s.FlatlandLine.AgentSpeeds[i], t.MaxSpeed)
		timetable := Timetable{
			ID: uint64(i + 1), Name: fmt.Sprintf("%s %d.%d", category.Name, l+1, trains[l]), LineID: uint64(l + 1),
			TrainCategoryID: category.ID, TrainCategory: category.Name,
			TravelFactor: WholeNumber(1), DwellTime: dwellTime(t), Stops: make([]TimetableStop, len(t.Stops)),
		}
		for k, stop := range t.Stops {
			timetable.Stops[k] = TimetableStop{stations[k], stepOf(stop.EarliestDeparture), stepOf(stop.LatestArrival)}
		}
		s.Timetables[i] = timetable
	}
}

// category is that of a speed, a new one if there is none.
func (s *Scene) category(speed Number, exact rail.Fraction) *TrainCategory {
	for i := range s.TrainCategories {
		if s.TrainCategories[i].Speed == speed {
			return &s.TrainCategories[i]
		}
	}
	s.TrainCategories = append(s.TrainCategories, TrainCategory{
		"V" + exact.String(), uint64(len(s.TrainCategories) + 1), exact.String() + " cells a step", speed,
	})
	return &s.TrainCategories[len(s.TrainCategories)-1]
}

// dwellTime is the shortest time between arrival and departure at the stops between start and target, 0 without any.
func dwellTime(t *rail.Train) Number {
	shortest, known := 0, false
	for _, stop := range t.Intermediate() {
		if !stop.LatestArrival.Given || !stop.EarliestDeparture.Given {
			continue
		}
		if d := stop.EarliestDeparture.Step - stop.LatestArrival.Step; !known || d < shortest {
			shortest, known = d, true
		}
	}
	return WholeNumber(min(max(shortest, 0), maxWhole))
}

// platforms are the cells of stations. Cells that belong to one station are a tree of links to the cell that stands for
// all of them.
type platforms struct {
	cells  []platform // cities first, then stops as they come
	at     map[rail.Cell]int
	cities int
	ids    map[int]uint64 // of the cells that stand for a station; filled in by list
}

type platform struct {
	rail.Cell
	link int // itself: it stands for its station
	city int // of a cell that stands for a station, from 1; 0: it is no city
}

// newPlatforms are those of the cities, none if stations is nil. A cell of two cities belongs to the first.
func newPlatforms(stations *Stations) *platforms {
	p := &platforms{at: map[rail.Cell]int{}}
	if stations == nil {
		return p
	}
	p.cities = len(stations.Tracks)
	for city, tracks := range stations.Tracks {
		first := -1
		for _, track := range tracks {
			if _, taken := p.at[track.Cell]; taken {
				continue
			}
			i := p.cell(track.Cell)
			if first < 0 {
				first = i
				p.cells[i].city = city + 1
			}
			p.cells[i].link = first
		}
	}
	return p
}

// cell is the place of a cell in the list, at its end if it is new.
func (p *platforms) cell(c rail.Cell) int {
	i, ok := p.at[c]
	if !ok {
		i = len(p.cells)
		p.at[c] = i
		p.cells = append(p.cells, platform{Cell: c, link: i})
	}
	return i
}

// of is the cell that stands for the station of a cell.
func (p *platforms) of(i int) int {
	for p.cells[i].link != i {
		p.cells[i].link = p.cells[p.cells[i].link].link
		i = p.cells[i].link
	}
	return i
}

// add makes the alternatives of a stop one station. It is an error if they lie in two cities.
func (p *platforms) add(stop []rail.Configuration) error {
	station := p.of(p.cell(stop[0].Cell))
	for _, a := range stop[1:] {
		other := p.of(p.cell(a.Cell))
		if other == station {
			continue
		}
		one, two := p.cells[station].city, p.cells[other].city
		if one != 0 && two != 0 {
			return fmt.Errorf("its alternatives lie in the stations %d and %d, and a scene has one for a stop", min(one, two), max(one, two))
		}
		// The earlier cell stands for both, and that of a city in any case: cities are first.
		station, other = min(station, other), max(station, other)
		p.cells[other].link = station
	}
	return nil
}

// list is the stations by their ids, and the id after the last. It numbers the stations that are no cities.
func (p *platforms) list() (all []Station, next uint64) {
	next = uint64(p.cities) + 1
	p.ids = map[int]uint64{}
	members := map[int][]int{}
	var order []int
	for i := range p.cells {
		station := p.of(i)
		if station == i {
			order = append(order, i)
			p.ids[i] = uint64(p.cells[i].city)
			if p.cells[i].city == 0 {
				p.ids[i] = next
				next++
			}
		}
		members[station] = append(members[station], i)
	}
	all = make([]Station, 0, len(p.cells))
	for _, station := range order {
		for _, i := range members[station] {
			all = append(all, Station{p.ids[station], p.cells[i].Row, p.cells[i].Col})
		}
	}
	return all, next
}

// station is the id of a stop's station.
func (p *platforms) station(stop rail.Stop) uint64 {
	return p.ids[p.of(p.at[stop.Alternatives[0].Cell])]
}
