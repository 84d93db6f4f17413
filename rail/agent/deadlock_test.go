package agent

import (
	"errors"
	"slices"
	"testing"

	"skyrail/rail"
)

func TestDeadlockAvoidanceLetsTheLastEnter(t *testing.T) {
	for _, one := range []bool{false, true} {
		s := straight(8)
		s.Trains = []rail.Train{from(at(1, rail.East), 6), from(at(6, rail.West), 1)}
		e, _ := drive(t, s, NewDeadlockAvoidance(DeadlockRules{OneEnters: one}))
		arrived := []bool{e.State(0) == rail.Done, e.State(1) == rail.Done}
		if want := []bool{one, one}; !slices.Equal(arrived, want) { // the first waits for the second's arrival
			t.Errorf("one enters %v: got arrivals %v, want %v", one, arrived, want)
		}
	}
}

func TestQuirkWaitingTrainKeepsItsOpponents(t *testing.T) {
	s := straight(8)
	s.Trains = []rail.Train{from(at(1, rail.East), 6), from(at(6, rail.West), 1)}
	s.Trains[0].EarliestDeparture = 20
	e, err := rail.New(s, rail.Options{})
	if err != nil {
		t.Fatal(err)
	}
	state := e.Snapshot()
	state.Elapsed = 3
	state.Trains[0].State = rail.MalfunctionOffMap
	state.Trains[1].State = rail.Moving
	state.Trains[1].Configuration = at(4, rail.West)
	p := NewDeadlockAvoidance(DeadlockRules{})
	actions := make([]rail.Action, 2)
	var got []rail.Action
	for k, first := range []rail.State{rail.Waiting, rail.MalfunctionOffMap, rail.Waiting} {
		state.Trains[0].State = first
		if err := e.Restore(state); err != nil {
			t.Fatal(err)
		}
		if k == 0 {
			err = p.Reset(e)
		}
		if err = errors.Join(err, p.Act(e, actions)); err != nil {
			t.Fatal(err)
		}
		got = append(got, actions[0])
	}
	if want := []rail.Action{rail.MoveForward, rail.StopMoving, rail.StopMoving}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestQuirkOneTrainSeenOnABridge(t *testing.T) {
	const eastWest, northSouth = 1025, 32800
	for _, c := range []struct {
		name     string
		oncoming int // its handle; the other one is that of the train that crosses
		want     rail.Action
	}{{"sees the oncoming one", 2, rail.StopMoving}, {"sees the crossing one", 1, rail.MoveForward}} {
		s := &rail.Scenario{Width: 7, Height: 5, Grid: make([]rail.Transitions, 35), MaxEpisodeSteps: 40}
		for col := range 7 {
			s.Grid[14+col] = eastWest
		}
		for row := range 5 {
			s.Grid[7*row+3] = northSouth
		}
		s.Grid[17] = rail.DiamondCrossing
		s.LevelFree = []rail.Cell{{Row: 2, Col: 3}}
		place := func(row, col int, h rail.Heading) rail.Configuration {
			return rail.Configuration{Cell: rail.Cell{Row: row, Col: col}, Heading: h}
		}
		oncoming := rail.Train{Initial: place(2, 5, rail.West), Target: rail.Cell{Row: 2}, MaxSpeed: rail.Whole(1)}
		crossing := rail.Train{Initial: place(4, 3, rail.North), Target: rail.Cell{Col: 3}, MaxSpeed: rail.Whole(1)}
		first := rail.Train{Initial: place(2, 1, rail.East), Target: rail.Cell{Row: 2, Col: 6}, MaxSpeed: rail.Whole(1)}
		s.Trains = []rail.Train{first, crossing, crossing}
		s.Trains[c.oncoming] = oncoming
		e, err := rail.New(s, rail.Options{})
		if err != nil {
			t.Fatal(err)
		}
		state := e.Snapshot()
		state.Elapsed = 5
		for i := range state.Trains {
			state.Trains[i].State = rail.Moving
			state.Trains[i].Configuration = place(2, 3, rail.North)
		}
		state.Trains[0].Configuration = s.Trains[0].Initial
		state.Trains[c.oncoming].Configuration = place(2, 3, rail.West)
		p := NewDeadlockAvoidance(DeadlockRules{})
		actions := make([]rail.Action, 3)
		if err := errors.Join(e.Restore(state), p.Reset(e), p.Act(e, actions)); err != nil {
			t.Fatal(err)
		}
		if actions[0] != c.want {
			t.Errorf("it %s: got %s, want %s", c.name, actions[0], c.want)
		}
	}
}

func TestDeadlockAvoidanceStopsATrainOffItsPath(t *testing.T) {
	s := junction()
	place := func(row, col int, h rail.Heading) rail.Configuration {
		return rail.Configuration{Cell: rail.Cell{Row: row, Col: col}, Heading: h}
	}
	s.Trains = []rail.Train{
		{Initial: place(1, 1, rail.East), Target: rail.Cell{Col: 3}, MaxSpeed: rail.Whole(1)},
		{Initial: place(0, 3, rail.South), Target: rail.Cell{Row: 1}, MaxSpeed: rail.Whole(1)},
	}
	e, err := rail.New(s, rail.Options{})
	if err != nil {
		t.Fatal(err)
	}
	state := e.Snapshot()
	state.Trains[0].State, state.Trains[0].Configuration = rail.Moving, place(1, 3, rail.East)
	state.Trains[1].State, state.Trains[1].Configuration = rail.Stopped, place(0, 3, rail.South)
	p := NewDeadlockAvoidance(DeadlockRules{})
	if err := errors.Join(e.Restore(state), p.Reset(e)); err != nil {
		t.Fatal(err)
	}
	actions := make([]rail.Action, 2)
	for !e.AllDone() {
		if err := p.Act(e, actions); err != nil {
			t.Fatal(err)
		}
		if actions[0] != rail.StopMoving {
			t.Fatalf("step %d: got %s, want STOP_MOVING", e.Elapsed(), actions[0])
		}
		if err := e.Step(actions); err != nil {
			t.Fatal(err)
		}
	}
	if c, _ := e.Configuration(0); c != place(1, 4, rail.East) {
		t.Errorf("got the train at %s, want it off its path at %s", c, place(1, 4, rail.East))
	}
}

// TestDeadlockAvoidanceCountsACellOnce has a train that turns round at the end of the line, with two behind it: where it
// comes by twice is room for one.
func TestDeadlockAvoidanceCountsACellOnce(t *testing.T) {
	s := straight(8)
	s.Trains = []rail.Train{from(at(5, rail.East), 0), from(at(4, rail.East), 5), from(at(3, rail.East), 4)}
	e, err := rail.New(s, rail.Options{})
	if err != nil {
		t.Fatal(err)
	}
	state := e.Snapshot()
	for i := range state.Trains {
		state.Trains[i].State = rail.Moving
		state.Trains[i].Configuration = s.Trains[i].Initial
	}
	for _, c := range []struct {
		rules DeadlockRules
		want  rail.Action
	}{
		{DeadlockRules{}, rail.MoveForward},
		{DeadlockRules{RoomForEach: true}, rail.StopMoving}, // cells 6 and 7 are beside the path to 5, and 3 are asked for
	} {
		p := NewDeadlockAvoidance(c.rules)
		actions := make([]rail.Action, 3)
		if err := errors.Join(e.Restore(state), p.Reset(e), p.Act(e, actions)); err != nil {
			t.Fatal(err)
		}
		if actions[0] != c.want {
			t.Errorf("%+v: got %s, want %s", c.rules, actions[0], c.want)
		}
	}
}

func TestDeadlockAvoidanceBeginsAnewElsewhere(t *testing.T) {
	p := NewDeadlockAvoidance(DeadlockRules{})
	act := func(e *rail.Env, steps int) {
		t.Helper()
		actions := make([]rail.Action, e.Trains())
		if err := p.Reset(e); err != nil {
			t.Fatal(err)
		}
		for range steps {
			if err := errors.Join(p.Act(e, actions), e.Step(actions)); err != nil {
				t.Fatal(err)
			}
		}
	}
	act(recordedEnv(t, "jam"), 30)
	s := straight(8) // what is kept of the other railway has no place on this one
	s.Trains = []rail.Train{from(at(1, rail.East), 6)}
	e, err := rail.New(s, rail.Options{})
	if err != nil {
		t.Fatal(err)
	}
	act(e, 3)
	if e.State(0) != rail.Moving {
		t.Errorf("the train is %s, want moving", e.State(0))
	}
}
