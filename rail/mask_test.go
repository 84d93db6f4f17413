package rail

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMaskIsWhatStepsComeTo tries every action of a train that has any world for itself.
func TestMaskIsWhatStepsComeTo(t *testing.T) {
	offered := map[State]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		if len(s.Trains) == 0 {
			return
		}
		s.Trains, s.MaxEpisodeSteps = s.Trains[:1], 0
		s.KeepAtTarget = true // where a train that has arrived shows where it went
		e, err := New(s, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		mask := make([]bool, Actions)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if e.AllDone() {
				break
			}
			if rapid.IntRange(0, 9).Draw(t, "breaks") == 0 {
				e.trains[0].breakDown(rapid.IntRange(1, 4).Draw(t, "for"))
			}
			e.ActionMask(mask, 0)
			if want := maskBySteps(t, e); !slices.Equal(mask, want) {
				t.Fatalf("step %d, %s at %v: got %v, want %v", e.Elapsed(), e.State(0), e.Node(0), mask, want)
			}
			for a, ok := range mask {
				if ok && a > 0 {
					offered[e.State(0)]++
				}
			}
			if err := e.Step(drawActions(t, e)); err != nil {
				t.Fatal(err)
			}
		}
		if e.AllDone() {
			if e.ActionMask(mask, 0); !slices.Equal(mask, []bool{true, false, false, false, false}) {
				t.Fatalf("after the end: got %v", mask)
			}
		}
	})
	for _, s := range []State{ReadyToDepart, MalfunctionOffMap, Moving, Stopped, Malfunction} {
		if offered[s] == 0 {
			t.Errorf("no action was ever offered to a train that is %s", s)
		}
	}
	if offered[Waiting] > 0 {
		t.Errorf("an action was offered to a train that is %s", Waiting)
	}
}

// maskBySteps makes a step with each action and keeps the first of those that come to the same.
func maskBySteps(t *rapid.T, e *Env) []bool {
	want := make([]bool, Actions)
	var known []train
	for _, a := range []Action{DoNothing, MoveForward, MoveLeft, MoveRight, StopMoving} {
		c := e.Clone()
		if err := c.Step([]Action{a}); err != nil {
			t.Fatal(err)
		}
		o := c.trains[0]
		if !slices.ContainsFunc(known, func(k train) bool {
			return k.state == o.state && k.node == o.node && k.speed.Equal(o.speed) && k.distance.Equal(o.distance)
		}) {
			known, want[a] = append(known, o), true
		}
	}
	return want
}

func TestMaskOfAStepThroughASwitch(t *testing.T) {
	// A train on a straight track with a switch to the left behind it.
	s := &Scenario{Width: 4, Height: 2, Grid: []Transitions{
		0, 0, StraightTrack, 0,
		StraightTrack.Rotated(1), StraightTrack.Rotated(1), SwitchLeft.Rotated(1), StraightTrack.Rotated(1),
	}}
	s.Trains = []Train{{Initial: Configuration{Cell{1, 0}, East}, Target: Cell{1, 3}, MaxSpeed: Whole(1)}}
	e, err := New(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	yes := func(actions ...Action) []bool {
		m := make([]bool, Actions)
		for _, a := range actions {
			m[a] = true
		}
		return m
	}
	for k, want := range [][]bool{
		yes(DoNothing),                       // waiting
		yes(DoNothing, MoveForward),          // ready: whatever moves, it enters
		yes(DoNothing, StopMoving),           // under way
		yes(DoNothing, StopMoving),           // one cell on
		yes(DoNothing, MoveLeft, StopMoving), // in the switch
	} {
		mask := make([]bool, Actions)
		if e.ActionMask(mask, 0); !slices.Equal(mask, want) {
			t.Fatalf("step %d: got %v, want %v", k, mask, want)
		}
		if err := e.Step([]Action{MoveForward}); err != nil {
			t.Fatal(err)
		}
	}
}
