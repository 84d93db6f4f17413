package rail

import (
	"fmt"
	"slices"
)

// Scenario is what stays while an episode runs: the tracks, the trains with their timetable, and the rules.
type Scenario struct {
	Width, Height   int
	Grid            []Transitions // row-major
	LevelFree       []Cell        // bridges: one train on each axis
	Trains          []Train
	MaxEpisodeSteps int // 0: the episode ends only when all trains have arrived

	Acceleration, Braking Delta // of a step; the zero values stand for +1.0 and -1.0
	KeepAtTarget          bool  // a train that has arrived stays standing on the grid
}

// Train is one train and its timetable. Its handle is its index in the scenario.
type Train struct {
	Initial  Configuration
	Target   Cell
	Stops    []Stop // the first is the start, the last the target
	MaxSpeed Fraction

	EarliestDeparture, LatestArrival int // steps; of the start and of the target
}

// Stop is one entry of a timetable: where the train has to stand once, and when.
type Stop struct {
	Alternatives                     []Configuration // any of them serves; the target has NoHeading
	LatestArrival, EarliestDeparture Time            // no arrival at the start, no departure at the target
}

func (s Stop) equal(o Stop) bool {
	return slices.Equal(s.Alternatives, o.Alternatives) &&
		s.LatestArrival == o.LatestArrival && s.EarliestDeparture == o.EarliestDeparture
}

// Time is a step of the timetable, or none.
type Time struct {
	Step  int
	Given bool
}

// At returns the time of a step.
func At(step int) Time { return Time{step, true} }

// Intermediate returns the stops between start and target.
func (t *Train) Intermediate() []Stop {
	if len(t.Stops) < 3 {
		return nil
	}
	return t.Stops[1 : len(t.Stops)-1]
}

// Delta is by how much a train may change its speed in a step: an exact fraction or a float. They differ, because a
// float is added to the rounded speed and snapped afterwards (see [Snap]).
type Delta struct {
	exact Fraction
	float float64
	kind  int8 // 0: the default of the place where it is used
}

const (
	deltaExact = 1 + iota
	deltaFloat
)

// ExactDelta is an exact change of speed.
func ExactDelta(f Fraction) Delta { return Delta{exact: f, kind: deltaExact} }

// FloatDelta is a change of speed as a float.
func FloatDelta(f float64) Delta { return Delta{float: f, kind: deltaFloat} }

func (d Delta) orDefault(f float64) Delta {
	if d.kind == 0 {
		return FloatDelta(f)
	}
	return d
}

func (d Delta) equal(o Delta) bool {
	return d.kind == o.kind && d.float == o.float && d.exact.Equal(o.exact)
}

// String shows the number as Python would: Fraction(1, 4) or 0.25.
func (d Delta) String() string {
	if d.kind == deltaExact {
		r := d.exact.Rat()
		return fmt.Sprintf("Fraction(%s, %s)", r.Num(), r.Denom())
	}
	return fmt.Sprint(d.float)
}

// MaxSteps bounds the steps of an episode and of a malfunction, and the step in which something happens.
const MaxSteps = 1 << 20

// What else bounds a scenario, so that nothing that is counted can overflow; the largest of the competition has 532 trains.
const (
	maxTrains = 1 << 20
	minTime   = -1 << 40
)

// check says what is wrong with a scenario, naming the train.
func (s *Scenario) check() error {
	if len(s.Trains) > maxTrains {
		return fmt.Errorf("%d trains: want at most %d", len(s.Trains), maxTrains)
	}
	if s.MaxEpisodeSteps < 0 || s.MaxEpisodeSteps > MaxSteps {
		return fmt.Errorf("max_episode_steps is %d, want 0 (none) to %d", s.MaxEpisodeSteps, MaxSteps)
	}
	inside := func(c Cell) bool { return c.Row >= 0 && c.Row < s.Height && c.Col >= 0 && c.Col < s.Width }
	for _, c := range s.LevelFree {
		if !inside(c) {
			return fmt.Errorf("level-free cell %s is outside the grid of %d rows and %d columns", c, s.Height, s.Width)
		}
	}
	one := Whole(1)
	for i := range s.Trains {
		t := &s.Trains[i]
		switch {
		case !inside(t.Initial.Cell):
			return fmt.Errorf("train %d starts at %s, outside the grid of %d rows and %d columns", i, t.Initial.Cell, s.Height, s.Width)
		case t.Initial.Heading < North || t.Initial.Heading > West:
			return fmt.Errorf("train %d starts with heading %d, want 0 to 3", i, t.Initial.Heading)
		case !inside(t.Target):
			return fmt.Errorf("train %d has its target at %s, outside the grid of %d rows and %d columns", i, t.Target, s.Height, s.Width)
		case t.MaxSpeed.Sign() < 0 || t.MaxSpeed.Cmp(one) > 0:
			return fmt.Errorf("train %d has maximum speed %s, want 0 to 1", i, t.MaxSpeed)
		case t.EarliestDeparture < minTime || t.LatestArrival < minTime:
			return fmt.Errorf("train %d departs from step %d and arrives by step %d: want %d or more", i, t.EarliestDeparture, t.LatestArrival, minTime)
		}
		for j, stop := range t.Stops {
			for _, a := range stop.Alternatives {
				if a.Heading < NoHeading || a.Heading > West {
					return fmt.Errorf("train %d, stop %d: heading %d, want 0 to 3 or none", i, j, a.Heading)
				}
			}
		}
		for j, stop := range t.Intermediate() {
			if min(stop.LatestArrival.Step, stop.EarliestDeparture.Step) < minTime {
				return fmt.Errorf("train %d, stop %d: a time before step %d", i, j+1, minTime)
			}
			if !stop.LatestArrival.Given || !stop.EarliestDeparture.Given {
				return fmt.Errorf("train %d, stop %d: an intermediate stop needs a latest arrival and an earliest departure", i, j+1)
			}
		}
	}
	return nil
}

// Clone returns an independent copy.
func (s *Scenario) Clone() *Scenario {
	c := *s
	c.Grid = slices.Clone(s.Grid)
	c.LevelFree = slices.Clone(s.LevelFree)
	c.Trains = slices.Clone(s.Trains)
	for i := range c.Trains {
		t := &c.Trains[i]
		t.Stops = slices.Clone(t.Stops)
		for j := range t.Stops {
			t.Stops[j].Alternatives = slices.Clone(t.Stops[j].Alternatives)
		}
	}
	return &c
}
