package generate

import (
	"fmt"
	"slices"

	"skyrail/rail"
	"skyrail/rail/railfile"
)

// Sampling sends trains over the map of the ECML 2026 competition: the sampling generator of its starter kit. The tracks
// are those of an environment file, the stations those of stations.pkl, and all trains have speed 1.
type Sampling struct {
	Stations   *railfile.Stations
	Scene      string // the part of the map, such as scene_1; "" is all of it, as is one that has every station
	LineLength int    // cities on a line, start and target included
}

// Sample is an environment as its reset leaves it: with so many new trains, and bridges where the stations file has
// them. Its effects and rewards, and the state of its stream if there is no seed, are those of e, which stays as it is.
//
// It draws as [SparseLine.Generate] and [Timetable], though trains may have different numbers of stops here.
func (s Sampling) Sample(e *rail.Env, trains int, seed *uint64) (*rail.Env, error) {
	hints, err := s.hints()
	if err != nil {
		return nil, err
	}
	from := e.Scenario()
	r, err := NewRailway(&railfile.RailProduct{Width: from.Width, Height: from.Height, Grid: from.Grid, Stations: hints})
	if err != nil {
		return nil, err
	}
	state := e.Snapshot()
	reseed(&state, seed)
	rng := state.Stream
	line, err := SparseLine{LineLength: s.LineLength}.Generate(r, trains, &rng)
	if err != nil {
		return nil, err
	}
	times, err := timetable(r, line, &rng)
	if err != nil {
		return nil, err
	}
	scenario, err := Scenario(r.RailProduct, line, times)
	if err != nil {
		return nil, err
	}
	scenario.Acceleration, scenario.Braking, scenario.KeepAtTarget = from.Acceleration, from.Braking, from.KeepAtTarget
	return begin(scenario, state, rng, e.RewardFunctions())
}

// hints are the stations of the scene.
func (s Sampling) hints() (railfile.Stations, error) {
	all := s.Stations
	if n := len(all.Cities); len(all.Orientations) != n || len(all.Tracks) != n || s.Scene != "" && len(all.Scenes) != n {
		return *all, fmt.Errorf("the stations file has %d city_positions, %d city_orientations, %d train_stations and %d scenes_with_station: want as many of each",
			n, len(all.Orientations), len(all.Tracks), len(all.Scenes))
	}
	if s.Scene == "" {
		return *all, nil
	}
	hints := railfile.Stations{LevelFree: all.LevelFree}
	for i := range all.Scenes {
		if slices.Contains(all.Scenes[i], s.Scene) {
			hints.Cities = append(hints.Cities, all.Cities[i])
			hints.Orientations = append(hints.Orientations, all.Orientations[i])
			hints.Tracks = append(hints.Tracks, all.Tracks[i])
		}
	}
	if len(hints.Cities) == 0 {
		return hints, &ParameterError{"scene", s.Scene, fmt.Sprintf("no station is part of it; want one of %v", sceneNames(all))}
	}
	return hints, nil
}

// sceneNames are the scenes that a stations file knows, in the order in which they come.
func sceneNames(s *railfile.Stations) []string {
	var names []string
	for _, scenes := range s.Scenes {
		for _, name := range scenes {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
