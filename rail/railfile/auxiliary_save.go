package railfile

import (
	"errors"
	"fmt"

	"skyrail/internal/pyvalue"
	"skyrail/rail"
)

// SaveRailProduct returns the file of a rail generator's product, as flatland-rl 4.2.5 loads it: a pickle of protocol 4.
// Without cities there are no hints about them, and without bridges either no hints at all.
//
// Whole numbers are Python's, where flatland-rl may have NumPy's. It is an error if the lists do not fit together.
func SaveRailProduct(p *RailProduct) ([]byte, error) {
	if p.Width < 1 || p.Height < 1 || len(p.Grid)/p.Width != p.Height || len(p.Grid)%p.Width != 0 {
		return nil, fmt.Errorf("a grid of %d cells: want %d rows of %d columns", len(p.Grid), p.Height, p.Width)
	}
	if err := p.Stations.check(); err != nil {
		return nil, err
	}
	hints := pyvalue.Value(pyvalue.None{})
	if len(p.Cities) > 0 || len(p.LevelFree) > 0 {
		d := &pyvalue.Dict{}
		if len(p.Cities) > 0 {
			cities := dictOf(
				"city_positions", cellsValue(p.Cities),
				"train_stations", tracksValue(p.Tracks),
				"city_orientations", orientationsValue(p.Orientations),
			)
			if p.Scenes != nil {
				cities.Set("scenes_with_station", scenesValue(p.Scenes))
			}
			d.Set("agents_hints", cities)
		}
		d.Set("level_free_positions", bridgesValue(p.LevelFree))
		hints = d
	}
	return pyvalue.EncodePickle(dictOf("grid", gridValue(p.Width, p.Height, p.Grid), "hints", hints))
}

// SaveStations returns a stations.pkl as the starter kit loads it: a pickle of protocol 4. It is an error if the lists are
// not about as many cities.
func SaveStations(s *Stations) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	d := dictOf(
		"city_positions", cellsValue(s.Cities),
		"city_orientations", orientationsValue(s.Orientations),
		"train_stations", tracksValue(s.Tracks),
		"level_free_positions", bridgesValue(s.LevelFree),
	)
	if s.Scenes != nil {
		d.Set("scenes_with_station", scenesValue(s.Scenes))
	}
	return pyvalue.EncodePickle(d)
}

// SaveLineProduct returns the file of a line generator's product, as flatland-rl 4.2.5 loads it: a pickle of protocol 4.
// A speed is the shortest float that [rail.Snap] makes the same of, such as 0.33 for 1/3, and a Fraction if there is none.
func SaveLineProduct(p *LineProduct) ([]byte, error) {
	if len(p.Stops) != len(p.Speeds) {
		return nil, fmt.Errorf("stops of %d trains and speeds of %d: want as many", len(p.Stops), len(p.Speeds))
	}
	trains := &pyvalue.Dict{}
	for i, stops := range p.Stops {
		for k, stop := range stops {
			for _, a := range stop {
				if a.Heading < rail.NoHeading || a.Heading > rail.West {
					return nil, fmt.Errorf("train %d, stop %d: heading %d, want 0 to 3 or none", i, k, a.Heading)
				}
			}
		}
		trains.Entries = append(trains.Entries, pyvalue.Entry{
			Key: pyvalue.Int(i), Value: listOf(len(stops), func(k int) pyvalue.Value { return waypointsValue(stops[k]) }),
		})
	}
	speeds := listOf(len(p.Speeds), func(i int) pyvalue.Value {
		if n, ok := decimalOf(p.Speeds[i]); ok {
			return pyvalue.Float(n.Value)
		}
		return fractionValue(p.Speeds[i])
	})
	return pyvalue.EncodePickle(&pyvalue.Object{Class: lineClass, Args: []pyvalue.Value{trains, speeds}})
}

// SaveTimetableProduct returns the file of a timetable generator's product, as flatland-rl 4.2.5 loads it: a pickle of
// protocol 4.
func SaveTimetableProduct(p *TimetableProduct) ([]byte, error) {
	if len(p.EarliestDepartures) != len(p.LatestArrivals) {
		return nil, fmt.Errorf("earliest departures of %d trains and latest arrivals of %d: want as many",
			len(p.EarliestDepartures), len(p.LatestArrivals))
	}
	if p.MaxEpisodeSteps < 0 {
		return nil, fmt.Errorf("max_episode_steps is %d, want 0 or more", p.MaxEpisodeSteps)
	}
	times := func(trains [][]rail.Time) pyvalue.Value {
		return listOf(len(trains), func(i int) pyvalue.Value {
			return listOf(len(trains[i]), func(k int) pyvalue.Value { return timeValue(trains[i][k]) })
		})
	}
	return pyvalue.EncodePickle(&pyvalue.Object{Class: timetableClass, Args: []pyvalue.Value{
		times(p.EarliestDepartures), times(p.LatestArrivals), pyvalue.Int(p.MaxEpisodeSteps),
	}})
}

// check says which list is not about the cities.
func (s *Stations) check() error {
	n := len(s.Cities)
	for _, l := range []struct {
		what string
		n    int
	}{{"orientations", len(s.Orientations)}, {"tracks", len(s.Tracks)}, {"scenes", len(s.Scenes)}} {
		if l.n != 0 && l.n != n {
			return fmt.Errorf("%s of %d cities, want those of %d", l.what, l.n, n)
		}
	}
	for i, h := range s.Orientations {
		if h < rail.NoHeading || h > rail.West {
			return fmt.Errorf("city %d has orientation %d, want 0 to 3", i, h)
		}
	}
	if n == 0 && s.Scenes != nil {
		return errors.New("scenes without cities")
	}
	return nil
}

func cellsValue(cells []rail.Cell) pyvalue.Value {
	return listOf(len(cells), func(i int) pyvalue.Value { return cellValue(cells[i]) })
}

// bridgesValue is a set, in which a cell is once.
func bridgesValue(cells []rail.Cell) pyvalue.Value {
	set, seen := &pyvalue.Set{}, make(map[rail.Cell]bool, len(cells))
	for _, c := range cells {
		if !seen[c] {
			seen[c] = true
			set.Items = append(set.Items, cellValue(c))
		}
	}
	return set
}

func orientationsValue(headings []rail.Heading) pyvalue.Value {
	return listOf(len(headings), func(i int) pyvalue.Value {
		if headings[i] == rail.NoHeading {
			return pyvalue.None{}
		}
		return &pyvalue.Member{Class: headingClass, Number: int64(headings[i])}
	})
}

func tracksValue(cities [][]StationTrack) pyvalue.Value {
	return listOf(len(cities), func(i int) pyvalue.Value {
		return listOf(len(cities[i]), func(k int) pyvalue.Value {
			return tupleOf(cellValue(cities[i][k].Cell), pyvalue.Int(cities[i][k].Track))
		})
	})
}

func scenesValue(cities [][]string) pyvalue.Value {
	return listOf(len(cities), func(i int) pyvalue.Value {
		return listOf(len(cities[i]), func(k int) pyvalue.Value { return pyvalue.Str(cities[i][k]) })
	})
}
