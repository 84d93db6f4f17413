package agent

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"skyrail/rail"
)

func straight(n int) *rail.Scenario {
	const eastWest, westEnd, eastEnd = 1025, 4, 256 // headings east and west; west turns east; east turns west
	s := &rail.Scenario{Width: n, Height: 1, Grid: slices.Repeat([]rail.Transitions{eastWest}, n), MaxEpisodeSteps: 40}
	s.Grid[0], s.Grid[n-1] = westEnd, eastEnd
	return s
}

func at(col int, h rail.Heading) rail.Configuration {
	return rail.Configuration{Cell: rail.Cell{Col: col}, Heading: h}
}

func from(start rail.Configuration, target int, between ...rail.Stop) rail.Train {
	t := rail.Train{Initial: start, Target: rail.Cell{Col: target}, MaxSpeed: rail.Whole(1), LatestArrival: 30}
	t.Stops = append(t.Stops, rail.Stop{Alternatives: []rail.Configuration{start}, EarliestDeparture: rail.At(0)})
	t.Stops = append(t.Stops, between...)
	t.Stops = append(t.Stops, rail.Stop{
		Alternatives: []rail.Configuration{at(target, rail.NoHeading)}, LatestArrival: rail.At(30),
	})
	return t
}

func stopAt(c rail.Configuration, leave int) rail.Stop {
	return rail.Stop{Alternatives: []rail.Configuration{c}, LatestArrival: rail.At(20), EarliestDeparture: rail.At(leave)}
}

func drive(t *testing.T, s *rail.Scenario, p Policy) (*rail.Env, []int) {
	t.Helper()
	e, err := rail.New(s, rail.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Reset(e); err != nil {
		t.Fatal(err)
	}
	var places []int
	actions := make([]rail.Action, e.Trains())
	for !e.AllDone() {
		if err := p.Act(e, actions); err != nil {
			t.Fatal(err)
		}
		if err := e.Step(actions); err != nil {
			t.Fatal(err)
		}
		places = append(places, -1)
		if c, ok := e.Configuration(0); ok {
			places[len(places)-1] = c.Col
		}
	}
	return e, places
}

func TestStoppingPathStandsAtItsStops(t *testing.T) {
	for name, c := range map[string]struct {
		stops  []rail.Stop
		places []int
	}{
		"stands for one step if it is late": {
			[]rail.Stop{stopAt(at(3, rail.East), 0)}, []int{-1, 1, 2, 3, 3, 4, 5, -1},
		},
		"stands until it may leave": {
			[]rail.Stop{stopAt(at(3, rail.East), 9)}, []int{-1, 1, 2, 3, 3, 3, 3, 3, 4, 5, -1},
		},
		"stands once for two stops at once": {
			[]rail.Stop{stopAt(at(3, rail.East), 0), stopAt(at(3, rail.East), 7)}, []int{-1, 1, 2, 3, 3, 3, 4, 5, -1},
		},
		"leaves out a stop without alternative": {
			[]rail.Stop{{LatestArrival: rail.At(9), EarliestDeparture: rail.At(20)}}, []int{-1, 1, 2, 3, 4, 5, -1},
		},
	} {
		s := straight(8)
		s.Trains = []rail.Train{from(at(1, rail.East), 6, c.stops...)}
		_, places := drive(t, s, new(StoppingPath))
		if !slices.Equal(places, c.places) {
			t.Errorf("it %s: got %v, want %v", name, places, c.places)
		}
	}
}

func TestStoppingPathServesWhatSetPathPasses(t *testing.T) {
	for _, name := range []string{"stops3", "stops4"} {
		start := recordedEnv(t, name)
		start.SetRewards(rail.Rewards{Kind: rail.ComponentReward, Factors: rail.DefaultFactors()})
		missed := func(p Policy) (missed, early float64) {
			e := start.Clone()
			if err := p.Reset(e); err != nil {
				t.Fatal(err)
			}
			actions := make([]rail.Action, e.Trains())
			for !e.AllDone() {
				if err := p.Act(e, actions); err != nil {
					t.Fatal(err)
				}
				if err := e.Step(actions); err != nil {
					t.Fatal(err)
				}
				for i := range actions {
					missed -= e.Rewards(0)[rail.Components*i+rail.IntermediateNotServed]
					early -= e.Rewards(0)[rail.Components*i+rail.IntermediateEarlyDeparture]
				}
			}
			return missed, early
		}
		passing, _ := missed(new(SetPath))
		stopping, early := missed(new(StoppingPath))
		if stopping >= passing || early != 0 {
			t.Errorf("%s: got %v stops missed and %v for leaving early, want fewer than %v and 0", name, stopping, early, passing)
		}
	}
}

func TestQuirksOfTrainsWithoutAWay(t *testing.T) {
	for name, c := range map[string]struct {
		train rail.Train
		want  map[string]rail.Action
	}{
		"does nothing without a path": {
			rail.Train{Initial: at(1, rail.North), Target: rail.Cell{Col: 6}, MaxSpeed: rail.Whole(1)},
			map[string]rail.Action{
				"shortest-path": 0, "shortest-path-reference": 0, "shortest-path-stops": 0, "deadlock-avoidance": 0,
			},
		},
		"never enters if a configuration comes twice on its path": {
			from(at(1, rail.East), 6, stopAt(at(7, rail.East), 0), stopAt(at(0, rail.West), 0)),
			map[string]rail.Action{
				"shortest-path": 2, "shortest-path-reference": 2, "shortest-path-stops": 2, "deadlock-avoidance": 0,
				"deadlock-avoidance-classic": 2,
			},
		},
		"quirk: has no path to a stop that it would first pass the other way": {
			from(at(1, rail.East), 0, stopAt(at(3, rail.West), 0)),
			map[string]rail.Action{
				"shortest-path": 2, "shortest-path-reference": 0, "shortest-path-stops": 0, "deadlock-avoidance": 0,
				"deadlock-avoidance-classic": 2,
			},
		},
		"quirk: is told to stop where it is to end": {
			from(at(1, rail.East), 1),
			map[string]rail.Action{
				"shortest-path-reference": 2, "shortest-path-stops": 0, "deadlock-avoidance": 4,
				"deadlock-avoidance-classic": 4,
			},
		},
	} {
		s := straight(8)
		s.Trains = []rail.Train{c.train}
		e, err := rail.New(s, rail.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for policy, want := range c.want {
			p, err := New(policy, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := make([]rail.Action, 1)
			if err := errors.Join(p.Reset(e), p.Act(e, got)); err != nil {
				t.Fatal(err)
			}
			if got[0] != want {
				t.Errorf("it %s: %s got %s, want %s", name, policy, got[0], want)
			}
		}
	}
}

func TestLegIsTheFirstShortest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := drawEnv(rt)
		var s search
		s.reset(e.Network())
		for i := range e.Trains() {
			start, target := e.Initial(i), e.Scenario().Trains[i].Target
			path, ok := s.leg([]rail.Node{start}, rail.Configuration{Cell: target, Heading: rail.NoHeading}, 0)
			if d := e.DistanceTo(i, start); d < rail.Unreachable && (!ok || len(path) > d+1) {
				rt.Fatalf("train %d: got %d configurations, %v, want at most %d", i, len(path), ok, d+1)
			}
			for k := 1; ok && k < len(path); k++ {
				c := e.Network().Configuration(path[k-1])
				h := path[k].Heading()
				if !e.Network().At(c.Cell).Allows(c.Heading, h) || e.Network().Cell(path[k]) != c.Toward(h) {
					rt.Fatalf("train %d: no way leads from %s to %s", i, c, e.Network().Configuration(path[k]))
				}
			}
			if ok {
				_, within := s.leg([]rail.Node{start}, rail.Configuration{Cell: target, Heading: rail.NoHeading}, len(path))
				_, beyond := s.leg([]rail.Node{start}, rail.Configuration{Cell: target, Heading: rail.NoHeading}, len(path)-1)
				if !within || beyond && len(path) > 1 {
					rt.Fatalf("train %d, %d configurations: with as many allowed %v, with one less %v", i, len(path), within, beyond)
				}
			}
		}
	})
}

func junction() *rail.Scenario {
	const northSouth, eastNorth = 32800, 3089
	line := straight(7)
	s := &rail.Scenario{Width: 7, Height: 2, Grid: append(make([]rail.Transitions, 7), line.Grid...), MaxEpisodeSteps: 80}
	s.Grid[3], s.Grid[7+3] = northSouth, eastNorth
	s.Braking = rail.FloatDelta(-0.25)
	return s
}

func TestStoppingPathFindsAnotherWayIfBrakesAreWeak(t *testing.T) {
	s := junction()
	place := func(col int) rail.Configuration {
		return rail.Configuration{Cell: rail.Cell{Row: 1, Col: col}, Heading: rail.East}
	}
	s.Trains = []rail.Train{from(place(1), 3, stopAt(place(3), 0))}
	s.Trains[0].Target = rail.Cell{Col: 3}
	s.Trains[0].Stops[2].Alternatives[0].Cell = s.Trains[0].Target
	e, places := drive(t, s, new(StoppingPath))
	if e.State(0) != rail.Done || !slices.Contains(places, 6) {
		t.Errorf("got state %s and places %v, want DONE by the dead end at 6", e.State(0), places)
	}
}
