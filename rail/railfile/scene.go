package railfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"skyrail/rail"
)

// Scene is a drawing of a railway with its timetables, in the JSON form that the drawing tool saves and the scenario
// generator derives scenarios in. [Scene.Scenario] is the scenario it stands for; the lines, timetables and stations
// are what the generator works with.
//
// Keys that the format does not name are kept and written back at the top and in the timetables, where the generator may
// filter by them, and passed over elsewhere.
type Scene struct {
	GridDimensions    GridDimensions
	Grid              [][]rail.Transitions // rows of columns
	Overpasses        []SceneCell          // level-free cells
	Stations          []Station
	NextStationID     uint64 // a counter of the drawing tool
	Lines             []Line
	Timetables        []Timetable
	TrainCategories   []TrainCategory // in their order in the file
	FlatlandLine      FlatlandLine
	FlatlandTimetable FlatlandTimetable
	Extra             []Member
}

// GridDimensions is the size of a grid.
type GridDimensions struct {
	Rows     int    `json:"rows"`
	Cols     int    `json:"cols"`
	CellSize Number `json:"cellSize"` // on the screen
}

// SceneCell is a cell, written as [row, col].
type SceneCell rail.Cell

// NamedCell is a cell, written as {r, c}.
type NamedCell struct {
	R int `json:"r"`
	C int `json:"c"`
}

// Station is one platform cell. Cells with the same id form one station.
type Station struct {
	ID uint64 `json:"id"`
	R  int    `json:"r"`
	C  int    `json:"c"`
}

// Line is a way through stations.
type Line struct {
	ID         uint64
	Name       string
	StationIDs []uint64
	StartCell  NamedCell
	EndCell    NamedCell
}

// Timetable is one train on a line. In derived scenarios the id is random.
type Timetable struct {
	ID              uint64
	Name            string
	LineID          uint64
	TrainCategoryID uint64
	TrainCategory   string
	TravelFactor    Number // what its travel times were multiplied with
	DwellTime       Number // steps
	Stops           []TimetableStop
	Scene           []string // nil: the key is not there
	Extra           []Member
}

// TimetableStop is when a train stops at a station: null at the ends.
type TimetableStop struct {
	StationID         uint64 `json:"stationId"`
	EarliestDeparture *int   `json:"earliestDeparture"`
	LatestArrival     *int   `json:"latestArrival"`
}

// TrainCategory is a kind of train. Ids of categories that users made may repeat.
type TrainCategory struct {
	Name        string
	ID          uint64
	Description string
	Speed       Number // cells per step
}

// FlatlandLine says where the trains go, in parallel lists over the trains.
type FlatlandLine struct {
	AgentPositions  [][][]SceneCell    `json:"agent_positions"`  // by train, stop, alternative; the target may be an extra last stop
	AgentDirections [][][]rail.Heading `json:"agent_directions"` // by train, stop, alternative; never of the target
	AgentTargets    []SceneCell        `json:"agent_targets"`
	AgentSpeeds     []Number           `json:"agent_speeds"` // cells per step
}

// FlatlandTimetable says when, in parallel lists over the trains.
type FlatlandTimetable struct {
	EarliestDepartures [][]*int `json:"earliest_departures"` // by train and stop
	LatestArrivals     [][]*int `json:"latest_arrivals"`     // by train and stop
	MaxEpisodeSteps    int      `json:"max_episode_steps"`
}

// UnmarshalJSON reads [row, col].
func (c *SceneCell) UnmarshalJSON(data []byte) error {
	var pair []*int
	if err := json.Unmarshal(data, &pair); err != nil || len(pair) != 2 || pair[0] == nil || pair[1] == nil {
		return fmt.Errorf("%s is not a cell like [row, col]", quote(string(data)))
	}
	*c = SceneCell{*pair[0], *pair[1]}
	return nil
}

// MarshalJSON writes [row, col].
func (c SceneCell) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%d]", c.Row, c.Col), nil
}

// UnmarshalJSON reads the object.
func (g *GridDimensions) UnmarshalJSON(data []byte) error {
	_, err := readObject(data, field{"rows", &g.Rows, must}, field{"cols", &g.Cols, must}, field{"cellSize", &g.CellSize, must})
	return err
}

// UnmarshalJSON reads the object.
func (c *NamedCell) UnmarshalJSON(data []byte) error {
	_, err := readObject(data, field{"r", &c.R, must}, field{"c", &c.C, must})
	return err
}

// UnmarshalJSON reads the object.
func (s *Station) UnmarshalJSON(data []byte) error {
	_, err := readObject(data, field{"id", &s.ID, must}, field{"r", &s.R, must}, field{"c", &s.C, must})
	return err
}

// UnmarshalJSON reads the object.
func (l *Line) UnmarshalJSON(data []byte) error {
	_, err := readObject(data,
		field{"id", &l.ID, must},
		field{"name", &l.Name, must},
		field{"stationIds", &l.StationIDs, must},
		field{"startCell", &l.StartCell, must},
		field{"endCell", &l.EndCell, must},
	)
	return err
}

// UnmarshalJSON reads the object.
func (t *TimetableStop) UnmarshalJSON(data []byte) error {
	_, err := readObject(data,
		field{"stationId", &t.StationID, must},
		field{"earliestDeparture", &t.EarliestDeparture, nulls},
		field{"latestArrival", &t.LatestArrival, nulls},
	)
	return err
}

// UnmarshalJSON reads the object.
func (f *FlatlandLine) UnmarshalJSON(data []byte) error {
	_, err := readObject(data,
		field{"agent_positions", &elements[[][]SceneCell]{&f.AgentPositions}, must},
		field{"agent_directions", &elements[[][]rail.Heading]{&f.AgentDirections}, must},
		field{"agent_targets", &elements[SceneCell]{&f.AgentTargets}, must},
		field{"agent_speeds", &elements[Number]{&f.AgentSpeeds}, must},
	)
	return err
}

// UnmarshalJSON reads the object.
func (f *FlatlandTimetable) UnmarshalJSON(data []byte) error {
	_, err := readObject(data,
		field{"earliest_departures", &elements[[]*int]{&f.EarliestDepartures}, nulls},
		field{"latest_arrivals", &elements[[]*int]{&f.LatestArrivals}, nulls},
		field{"max_episode_steps", &f.MaxEpisodeSteps, must},
	)
	return err
}

// ReadScene reads the JSON of a scene or scenario. Every key of the format must be there, once, and of its type.
func ReadScene(r io.Reader) (*Scene, error) {
	data, err := readJSON(r)
	if err != nil {
		return nil, err
	}
	s := &Scene{}
	if err := s.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return s, nil
}

// UnmarshalJSON reads the object.
func (s *Scene) UnmarshalJSON(data []byte) (err error) {
	s.Extra, err = readObject(data,
		field{"gridDimensions", &s.GridDimensions, must},
		field{"grid", &elements[[]rail.Transitions]{&s.Grid}, must},
		field{"overpasses", &elements[SceneCell]{&s.Overpasses}, must},
		field{"stations", &elements[Station]{&s.Stations}, must},
		field{"nextStationId", &s.NextStationID, must},
		field{"lines", &elements[Line]{&s.Lines}, must},
		field{"timetables", &elements[Timetable]{&s.Timetables}, must},
		field{"trainCategories", (*categories)(&s.TrainCategories), must},
		field{"flatlandLine", &s.FlatlandLine, must},
		field{"flatlandTimetable", &s.FlatlandTimetable, must},
	)
	return err
}

// MarshalJSON writes the keys in the reference's order.
func (l Line) MarshalJSON() ([]byte, error) {
	var o object
	o.put("id", l.ID)
	o.put("name", l.Name)
	o.put("stationIds", l.StationIDs)
	o.put("startCell", l.StartCell)
	o.put("endCell", l.EndCell)
	return o.json()
}

// MarshalJSON writes the keys in the reference's order, those that the format does not name last.
func (s *Scene) MarshalJSON() ([]byte, error) {
	var o object
	o.put("gridDimensions", s.GridDimensions)
	o.put("grid", s.Grid)
	o.put("overpasses", s.Overpasses)
	o.put("stations", s.Stations)
	o.put("nextStationId", s.NextStationID)
	o.put("lines", s.Lines)
	o.put("timetables", s.Timetables)
	o.put("trainCategories", categories(s.TrainCategories))
	o.put("flatlandLine", s.FlatlandLine)
	o.put("flatlandTimetable", s.FlatlandTimetable)
	o.putAll(s.Extra)
	return o.json()
}

// Write writes the scene as the reference's tools do: indented by two blanks.
func (s *Scene) Write(w io.Writer) error {
	data, err := indented(s)
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// UnmarshalJSON reads the object.
func (t *Timetable) UnmarshalJSON(data []byte) (err error) {
	t.Extra, err = readObject(data,
		field{"id", &t.ID, must},
		field{"name", &t.Name, must},
		field{"lineId", &t.LineID, must},
		field{"trainCategoryId", &t.TrainCategoryID, must},
		field{"trainCategory", &t.TrainCategory, must},
		field{"travelFactor", &t.TravelFactor, must},
		field{"dwellTime", &t.DwellTime, must},
		field{"stops", &elements[TimetableStop]{&t.Stops}, must},
		field{"scene", &elements[string]{&t.Scene}, may},
	)
	return err
}

// MarshalJSON writes the keys in the reference's order.
func (t Timetable) MarshalJSON() ([]byte, error) {
	var o object
	o.put("id", t.ID)
	o.put("name", t.Name)
	o.put("lineId", t.LineID)
	o.put("trainCategoryId", t.TrainCategoryID)
	o.put("trainCategory", t.TrainCategory)
	o.put("travelFactor", t.TravelFactor)
	o.put("dwellTime", t.DwellTime)
	o.put("stops", t.Stops)
	if t.Scene != nil {
		names := make([]text, len(t.Scene))
		for i, name := range t.Scene {
			names[i] = text(name)
		}
		o.put("scene", names)
	}
	o.putAll(t.Extra)
	return o.json()
}

// categories are written as an object with the names as keys.
type categories []TrainCategory

func (c *categories) UnmarshalJSON(data []byte) error {
	all, err := members(data)
	if err != nil {
		return err
	}
	*c = make(categories, len(all))
	for i, m := range all {
		t := &(*c)[i]
		t.Name = m.Key
		_, err := readObject(m.Value,
			field{"id", &t.ID, must},
			field{"description", &t.Description, must},
			field{"speed", &t.Speed, must},
		)
		if err != nil {
			return within(m.Key, err)
		}
	}
	return nil
}

func (c categories) MarshalJSON() ([]byte, error) {
	var all object
	for _, t := range c {
		var o object
		o.put("id", t.ID)
		o.put("description", t.Description)
		o.put("speed", t.Speed)
		data, err := o.json()
		if err != nil {
			return nil, err
		}
		all.put(t.Name, json.RawMessage(data))
	}
	return all.json()
}

// Scenario is the scenario that the scene stands for. Positions and directions are paired stop by stop and alternative by
// alternative, as far as both go, and the target is appended as the last stop; times are taken as they are; speeds become
// fractions by [rail.Snap].
//
// It is an error if the lists over the trains, or over the stops of a train, do not fit together.
func (s *Scene) Scenario() (*rail.Scenario, error) {
	rows, cols := s.GridDimensions.Rows, s.GridDimensions.Cols
	if len(s.Grid) != rows {
		return nil, fmt.Errorf("grid has %d rows, want %d as in gridDimensions", len(s.Grid), rows)
	}
	sc := &rail.Scenario{Width: cols, Height: rows, MaxEpisodeSteps: s.FlatlandTimetable.MaxEpisodeSteps}
	for i, row := range s.Grid {
		if len(row) != cols {
			return nil, fmt.Errorf("grid[%d] has %d columns, want %d as in gridDimensions", i, len(row), cols)
		}
		sc.Grid = append(sc.Grid, row...)
	}
	for _, c := range s.Overpasses {
		sc.LevelFree = append(sc.LevelFree, rail.Cell(c))
	}
	line, times := &s.FlatlandLine, &s.FlatlandTimetable
	n := len(line.AgentPositions)
	for _, l := range []struct {
		name string
		n    int
	}{
		{"flatlandLine.agent_directions", len(line.AgentDirections)}, {"flatlandLine.agent_targets", len(line.AgentTargets)},
		{"flatlandLine.agent_speeds", len(line.AgentSpeeds)}, {"flatlandTimetable.earliest_departures", len(times.EarliestDepartures)},
		{"flatlandTimetable.latest_arrivals", len(times.LatestArrivals)},
	} {
		if l.n != n {
			return nil, fmt.Errorf("%s is about %d trains, want %d as in flatlandLine.agent_positions", l.name, l.n, n)
		}
	}
	sc.Trains = make([]rail.Train, n)
	for i := range sc.Trains {
		if err := s.train(i, &sc.Trains[i]); err != nil {
			return nil, fmt.Errorf("train %d: %w", i, err)
		}
	}
	return sc, nil
}

func (s *Scene) train(i int, t *rail.Train) error {
	line := &s.FlatlandLine
	departures, arrivals := s.FlatlandTimetable.EarliestDepartures[i], s.FlatlandTimetable.LatestArrivals[i]
	t.Target = rail.Cell(line.AgentTargets[i])
	for k := range min(len(line.AgentPositions[i]), len(line.AgentDirections[i])) {
		positions, directions := line.AgentPositions[i][k], line.AgentDirections[i][k]
		var stop rail.Stop
		for a := range min(len(positions), len(directions)) {
			if directions[a] < rail.North || directions[a] > rail.West {
				return fmt.Errorf("direction %d at stop %d, want 0 to 3", directions[a], k)
			}
			stop.Alternatives = append(stop.Alternatives, rail.Configuration{Cell: rail.Cell(positions[a]), Heading: directions[a]})
		}
		t.Stops = append(t.Stops, stop)
	}
	t.Stops = append(t.Stops, rail.Stop{Alternatives: []rail.Configuration{{Cell: t.Target, Heading: rail.NoHeading}}})
	last := len(t.Stops) - 1
	switch {
	case last == 0 || len(t.Stops[0].Alternatives) == 0:
		return errors.New("it has no start: want a position with its direction")
	case len(departures) != len(t.Stops) || len(arrivals) != len(t.Stops):
		return fmt.Errorf("%d earliest departures and %d latest arrivals, want %d, one a stop", len(departures), len(arrivals), len(t.Stops))
	case departures[0] == nil || arrivals[last] == nil:
		return errors.New("want an earliest departure from the start and a latest arrival at the target")
	}
	for k := range t.Stops {
		t.Stops[k].EarliestDeparture, t.Stops[k].LatestArrival = timeOf(departures[k]), timeOf(arrivals[k])
	}
	t.Initial = t.Stops[0].Alternatives[0]
	t.EarliestDeparture, t.LatestArrival = *departures[0], *arrivals[last]
	speed, err := rail.Snap(line.AgentSpeeds[i].Value)
	t.MaxSpeed = speed
	return err
}

func timeOf(step *int) rail.Time {
	if step == nil {
		return rail.Time{}
	}
	return rail.At(*step)
}
