package railfile

import (
	"fmt"

	"skyrail/internal/pyvalue"
	"skyrail/rail"
)

// RailProduct is what a rail generator made: tracks, and where its cities are.
type RailProduct struct {
	Width, Height int
	Grid          []rail.Transitions // row-major
	Stations
}

// Stations are the cities of a railway, as generators hint at them and as the starter kit's stations.pkl has them. All
// lists are by city.
type Stations struct {
	Cities       []rail.Cell
	Orientations []rail.Heading
	Tracks       [][]StationTrack
	LevelFree    []rail.Cell // of the whole railway
	Scenes       [][]string  // the scenes in which a city is a station; nil if the file does not say
}

// StationTrack is a cell of a city in which trains stop, and the number of its track.
type StationTrack struct {
	rail.Cell
	Track int
}

// LineProduct is what a line generator made: where each train stops, and its speed.
type LineProduct struct {
	Stops  [][][]rail.Configuration // of each train, of each stop, the alternatives
	Speeds []rail.Fraction
}

// TimetableProduct is what a timetable generator made, by train and stop.
type TimetableProduct struct {
	EarliestDepartures, LatestArrivals [][]rail.Time
	MaxEpisodeSteps                    int
}

// Coordinates are where the cells of a map are on the earth.
type Coordinates map[rail.Cell][2]float64 // latitude, longitude in degrees

// ReadProduct reads a file of any of these: it returns a *RailProduct, *LineProduct, *TimetableProduct, *Stations or
// Coordinates.
func ReadProduct(data []byte) (any, error) {
	top, err := decodeAuxiliary(data)
	if err != nil {
		return nil, err
	}
	switch product(top) {
	case isRail:
		return ReadRailProduct(data)
	case isLine:
		return ReadLineProduct(data)
	case isTimetable:
		return ReadTimetableProduct(data)
	case isStations:
		return ReadStations(data)
	case isCoordinates:
		return ReadCoordinates(data)
	}
	return nil, top.wrong("a product of a generator")
}

// decodeAuxiliary reads a file of one of the generators' products.
func decodeAuxiliary(data []byte) (cursor, error) {
	value, err := pyvalue.Decode(data, pyvalue.Options{Globals: globals})
	return at(value), err
}

// ReadRailProduct reads a rail generator's product: a dictionary of grid and hints.
func ReadRailProduct(data []byte) (*RailProduct, error) {
	top, err := decodeAuxiliary(data)
	if err != nil {
		return nil, err
	}
	var s rail.Scenario
	if err := readGrid(top.key("grid"), &s); err != nil {
		return nil, err
	}
	p := &RailProduct{Width: s.Width, Height: s.Height, Grid: s.Grid}
	hints := top.key("hints")
	if hints.isNone() {
		return p, nil
	}
	if p.Stations, err = readStations(hints.key("agents_hints")); err != nil {
		return nil, err
	}
	p.LevelFree, err = hints.key("level_free_positions").cells()
	return p, err
}

// ReadStations reads a stations.pkl.
func ReadStations(data []byte) (*Stations, error) {
	top, err := decodeAuxiliary(data)
	if err != nil {
		return nil, err
	}
	if top.key("city_positions").value == nil {
		return nil, top.wrong("a dictionary with city_positions")
	}
	s, err := readStations(top)
	if err != nil {
		return nil, err
	}
	return &s, nil
}

func readStations(c cursor) (s Stations, err error) {
	if s.Cities, err = c.key("city_positions").cells(); err != nil {
		return s, err
	}
	if s.LevelFree, err = c.key("level_free_positions").cells(); err != nil {
		return s, err
	}
	orientations, err := c.key("city_orientations").optionalItems()
	if err != nil {
		return s, err
	}
	for _, o := range orientations {
		h, err := o.heading()
		if err != nil {
			return s, err
		}
		s.Orientations = append(s.Orientations, h)
	}
	cities, err := c.key("train_stations").optionalItems()
	if err != nil {
		return s, err
	}
	for _, city := range cities {
		tracks, err := readTracks(city)
		if err != nil {
			return s, err
		}
		s.Tracks = append(s.Tracks, tracks)
	}
	scenes, err := c.key("scenes_with_station").optionalItems()
	if err != nil {
		return s, err
	}
	for _, city := range scenes {
		names, err := city.texts()
		if err != nil {
			return s, err
		}
		s.Scenes = append(s.Scenes, names)
	}
	for _, l := range []struct {
		name string
		n    int
	}{{"city_orientations", len(s.Orientations)}, {"train_stations", len(s.Tracks)}, {"scenes_with_station", len(s.Scenes)}} {
		if l.n != 0 && l.n != len(s.Cities) {
			return s, c.key(l.name).wrong(fmt.Sprintf("an entry for each of the %d cities", len(s.Cities)))
		}
	}
	return s, nil
}

func readTracks(city cursor) ([]StationTrack, error) {
	items, err := city.items()
	if err != nil {
		return nil, err
	}
	tracks := make([]StationTrack, 0, len(items))
	for _, item := range items {
		pair, err := item.items()
		if err != nil || len(pair) != 2 {
			return nil, item.wrong("a cell and the number of its track")
		}
		cell, err := pair[0].cell()
		if err != nil {
			return nil, err
		}
		track, err := pair[1].integer()
		if err != nil {
			return nil, err
		}
		tracks = append(tracks, StationTrack{cell, int(track)})
	}
	return tracks, nil
}

// ReadLineProduct reads a line generator's product.
func ReadLineProduct(data []byte) (*LineProduct, error) {
	args, err := readNamedTuple(data, lineClass)
	if err != nil {
		return nil, err
	}
	p := &LineProduct{}
	byTrain, err := args[0].entries()
	if err != nil {
		return nil, err
	}
	for i, e := range byTrain {
		if n, err := e.key.integer(); err != nil || n != int64(i) {
			return nil, e.key.wrong(fmt.Sprintf("train %d", i))
		}
		stops, err := e.value.items()
		if err != nil {
			return nil, err
		}
		var train [][]rail.Configuration
		for _, stop := range stops {
			alternatives, err := readAlternatives(stop)
			if err != nil {
				return nil, err
			}
			train = append(train, alternatives)
		}
		p.Stops = append(p.Stops, train)
	}
	speeds, err := args[1].items()
	if err != nil {
		return nil, err
	}
	for _, c := range speeds {
		f, err := c.fraction()
		if err != nil {
			return nil, err
		}
		p.Speeds = append(p.Speeds, f)
	}
	return p, nil
}

// ReadTimetableProduct reads a timetable generator's product.
func ReadTimetableProduct(data []byte) (*TimetableProduct, error) {
	args, err := readNamedTuple(data, timetableClass)
	if err != nil {
		return nil, err
	}
	p := &TimetableProduct{}
	for k, into := range []*[][]rail.Time{&p.EarliestDepartures, &p.LatestArrivals} {
		trains, err := args[k].items()
		if err != nil {
			return nil, err
		}
		for _, train := range trains {
			times, err := train.times(0)
			if err != nil {
				return nil, err
			}
			*into = append(*into, times)
		}
	}
	p.MaxEpisodeSteps, err = args[2].count()
	return p, err
}

// readNamedTuple reads a file that is one named tuple, as its fields.
func readNamedTuple(data []byte, of pyvalue.Class) ([]cursor, error) {
	top, err := decodeAuxiliary(data)
	if err != nil {
		return nil, err
	}
	o, ok := top.value.(*pyvalue.Object)
	if !ok || o.Class != of {
		return nil, top.wrong("an object " + of.String())
	}
	args := make([]cursor, len(o.Args))
	for i, v := range o.Args {
		args[i] = top.item(i, v)
	}
	return args, nil
}

// ReadCoordinates reads a position_to_latlon pickle.
func ReadCoordinates(data []byte) (Coordinates, error) {
	top, err := decodeAuxiliary(data)
	if err != nil {
		return nil, err
	}
	if !top.isDict() {
		return nil, top.wrong("a dictionary of cells")
	}
	entries, err := top.entries()
	if err != nil {
		return nil, err
	}
	all := make(Coordinates, len(entries))
	for _, e := range entries {
		cell, err := e.key.cell()
		if err != nil {
			return nil, err
		}
		pair, err := e.value.items()
		if err != nil || len(pair) != 2 {
			return nil, e.value.wrong("latitude and longitude")
		}
		var place [2]float64
		for k := range place {
			if place[k], err = pair[k].float(); err != nil {
				return nil, err
			}
		}
		all[cell] = place
	}
	return all, nil
}
