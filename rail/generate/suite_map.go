package generate

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"skyrail/rail"
	"skyrail/rail/railfile"
)

// Map is the railway on which [SuiteScene] lays lines: a scene of which grid, overpasses, stations and train categories
// count, and the regions of its stations. It does not change.
//
// A station has its platform cells in a row, each on a track of its own. A station of one cell is a border of the map:
// trains end there, and neither start nor stop.
type Map struct {
	Scene   *railfile.Scene
	Regions []MapRegion

	net       *rail.Network
	stations  []mapStation // by id, ascending
	stands    []mapStand
	platforms int       // how many cells
	between   [][]int32 // cells from stand to stand on the shortest way, both included; 0: there is none
}

// MapRegion is a part of a map. A station may be in several.
type MapRegion struct {
	Name     string   `json:"name"`
	Stations []uint64 `json:"stationIds"`
}

// mapStation is a station with its platform cells in the order of the file, and its stands.
type mapStation struct {
	id     uint64
	cells  []rail.Cell
	stands []int // by index
}

// mapStand is a platform cell with a heading in which a train can stand there.
type mapStand struct {
	rail.Configuration
	station  int // by index
	platform int // its number on the map
}

func (s *mapStation) border() bool { return len(s.cells) == 1 }

// regionsKey is the key of a map's regions in the JSON of its scene.
const regionsKey = "regions"

// ReadMap reads a map: the JSON of a scene, plain or gzipped, with one more key,
//
//	"regions": [{"name": "scene_1", "stationIds": [1, 6]}, …]
//
// Lines and timetables are not looked at. Errors name the place in the file.
func ReadMap(r io.Reader) (*Map, error) {
	b := bufio.NewReader(r)
	r = b
	if start, err := b.Peek(2); err == nil && bytes.Equal(start, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		r = z
	}
	scene, err := railfile.ReadScene(r)
	if err != nil {
		return nil, err
	}
	m := &Map{Scene: scene}
	if err := m.readRegions(); err != nil {
		return nil, err
	}
	bare := *scene // the network of a map is that of its scene without trains
	bare.FlatlandLine, bare.FlatlandTimetable = railfile.FlatlandLine{}, railfile.FlatlandTimetable{}
	s, err := bare.Scenario()
	if err != nil {
		return nil, err
	}
	if m.net, err = rail.NewNetwork(s.Width, s.Height, s.Grid); err != nil {
		return nil, err
	}
	if err := m.readStations(); err != nil {
		return nil, err
	}
	for _, c := range scene.TrainCategories {
		if v := c.Speed.Value; !(v > 0 && v <= 1) {
			return nil, fmt.Errorf("trainCategories.%s.speed is %s cells per step, want more than 0, at most 1", c.Name, c.Speed)
		}
	}
	if err := m.checkRegions(); err != nil {
		return nil, err
	}
	m.measure()
	return m, nil
}

func (m *Map) readRegions() error {
	for _, e := range m.Scene.Extra {
		if e.Key != regionsKey {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(e.Value))
		d.DisallowUnknownFields()
		if err := d.Decode(&m.Regions); err != nil {
			return fmt.Errorf(`%s: %w; want a list like [{"name": "scene_1", "stationIds": [1, 6]}]`, regionsKey, err)
		}
	}
	if len(m.Regions) == 0 {
		return fmt.Errorf(`there are no %s: add a list like [{"name": "scene_1", "stationIds": [1, 6]}] to the scene`, regionsKey)
	}
	return nil
}

// maxPlatforms bounds a map, whose stands all know each other.
const maxPlatforms = 1000

func (m *Map) readStations() error {
	if n := len(m.Scene.Stations); n > maxPlatforms {
		return fmt.Errorf("stations: there are %d platforms, want at most %d", n, maxPlatforms)
	}
	for i, s := range m.Scene.Stations {
		cell := rail.Cell{Row: s.R, Col: s.C}
		switch {
		case !m.net.Inside(cell):
			return fmt.Errorf("stations[%d]: %s is outside the grid of %d rows and %d columns", i, cell, m.net.Height(), m.net.Width())
		case slices.ContainsFunc(m.Scene.Stations[:i], func(o railfile.Station) bool { return o.R == s.R && o.C == s.C }):
			return fmt.Errorf("stations[%d]: %s is a platform already", i, cell)
		}
		at, known := m.station(s.ID)
		if !known {
			m.stations = slices.Insert(m.stations, at, mapStation{id: s.ID})
		}
		m.stations[at].cells = append(m.stations[at].cells, cell)
	}
	for i := range m.stations {
		s := &m.stations[i]
		for _, cell := range s.cells {
			track := false
			for h := rail.North; h <= rail.West; h++ {
				c := rail.Configuration{Cell: cell, Heading: h}
				if m.net.Valid(c) {
					s.stands = append(s.stands, len(m.stands))
					m.stands = append(m.stands, mapStand{c, i, m.platforms})
					track = true
				}
			}
			if !track {
				return fmt.Errorf("stations: there is no track at %s, a platform of station %d", cell, s.id)
			}
			m.platforms++
		}
	}
	return nil
}

// station is the place of a station among those of the map, or where it would be.
func (m *Map) station(id uint64) (int, bool) {
	return slices.BinarySearchFunc(m.stations, id, func(s mapStation, id uint64) int { return cmp.Compare(s.id, id) })
}

func (m *Map) checkRegions() error {
	for i, region := range m.Regions {
		place := fmt.Sprintf("%s[%d]", regionsKey, i)
		if region.Name == "" || slices.ContainsFunc(m.Regions[:i], func(r MapRegion) bool { return r.Name == region.Name }) {
			return fmt.Errorf("%s: its name is %q, want one of its own", place, region.Name)
		}
		for k, id := range region.Stations {
			if _, ok := m.station(id); !ok {
				return fmt.Errorf("%s: there is no station %d; the stations are those of the key stations", place, id)
			}
			if slices.Contains(region.Stations[:k], id) {
				return fmt.Errorf("%s: station %d is there twice", place, id)
			}
		}
	}
	return nil
}

// region is the region of a name.
func (m *Map) region(name string) (*MapRegion, error) {
	var names []string
	for i := range m.Regions {
		if m.Regions[i].Name == name {
			return &m.Regions[i], nil
		}
		names = append(names, m.Regions[i].Name)
	}
	return nil, fmt.Errorf("the map has no region %q; it has %q", name, names)
}

// category is the train category of a name.
func (m *Map) category(name string) (*railfile.TrainCategory, error) {
	var names []string
	for i := range m.Scene.TrainCategories {
		if c := &m.Scene.TrainCategories[i]; c.Name == name {
			return c, nil
		}
		names = append(names, m.Scene.TrainCategories[i].Name)
	}
	return nil, fmt.Errorf("the map has no train category %q; it has %q", name, names)
}

// measure works out the distances from stand to stand.
func (m *Map) measure() {
	m.between = make([][]int32, len(m.stands))
	s := mapSearch{net: m.net, cells: make([]int32, 4*m.net.Width()*m.net.Height())}
	for i, from := range m.stands {
		m.between[i] = make([]int32, len(m.stands))
		s.run(m.net.Node(from.Configuration))
		for k, to := range m.stands {
			m.between[i][k] = s.cells[m.net.Node(to.Configuration)]
		}
	}
}

// nearest is the length of the shortest way between two stations, 0 if there is none.
func (m *Map) nearest(from, to int) int {
	best := 0
	for _, i := range m.stations[from].stands {
		for _, k := range m.stations[to].stands {
			if d := int(m.between[i][k]); d > 0 && (best == 0 || d < best) {
				best = d
			}
		}
	}
	return best
}

// across is how far apart two stations are, in cells along rows and columns.
func (m *Map) across(from, to int) int {
	best := math.MaxInt
	for _, a := range m.stations[from].cells {
		for _, b := range m.stations[to].cells {
			best = min(best, distance(a, b))
		}
	}
	return best
}

// mapSearch finds the shortest ways from a configuration to all others.
type mapSearch struct {
	net   *rail.Network
	cells []int32 // by node: cells of the way there, both ends included; 0: there is none
	queue []rail.Node
}

func (s *mapSearch) run(from rail.Node) {
	for _, n := range s.queue {
		s.cells[n] = 0
	}
	s.cells[from] = 1
	s.queue = append(s.queue[:0], from)
	var next [3]rail.Node
	for at := 0; at < len(s.queue); at++ {
		n := s.queue[at]
		for _, to := range s.net.Successors(next[:0], n) {
			if s.cells[to] == 0 {
				s.cells[to] = s.cells[n] + 1
				s.queue = append(s.queue, to)
			}
		}
	}
}

// fromLeft orders platform cells as a train with a heading sees them, the leftmost first.
func fromLeft(h rail.Heading) func(a, b rail.Cell) int {
	left := rail.Cell{}.Toward((h + 3) % 4)
	offset := func(c rail.Cell) int { return c.Row*left.Row + c.Col*left.Col }
	return func(a, b rail.Cell) int { return cmp.Compare(offset(b), offset(a)) }
}
