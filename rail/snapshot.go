package rail

import (
	"fmt"
	"slices"

	"skyrail/numpyrand"
)

// Snapshot is the state of an environment at one moment, as files keep it. The bookkeeping of rewards is not part of it,
// as in the reference's files.
type Snapshot struct {
	Elapsed int
	AllDone bool
	Trains  []TrainState // by handle
	Stream  numpyrand.RandomState
	Seed    Seed
	Effects []Effect
}

// Nowhere stands for no configuration in a [TrainState].
var Nowhere = Configuration{Heading: NoHeading}

// TrainState is the state of one train.
type TrainState struct {
	Configuration, Old    Configuration // where it is, and was before the last step; Nowhere off the map
	State, Previous, Next State
	Speed, Distance       Fraction
	CellEntry             bool // it crossed into its cell in the last step
	Malfunction           int  // steps left
	Malfunctions          int
	Arrival               Time
	Done                  bool
	Signals               Signals // of the last step
}

// Snapshot returns the state of the environment.
func (e *Env) Snapshot() Snapshot {
	s := Snapshot{
		Elapsed: e.elapsed, AllDone: e.allDone, Stream: e.rng, Seed: e.seed, Effects: e.Effects(), Trains: make([]TrainState, len(e.trains)),
	}
	for i := range e.trains {
		t := &e.trains[i]
		s.Trains[i] = TrainState{
			Configuration: e.configuration(t.node), Old: e.configuration(t.old),
			State: t.state, Previous: t.previous, Next: t.next,
			Speed: t.speed, Distance: t.distance, CellEntry: t.entered,
			Malfunction: t.malfunction, Malfunctions: t.malfunctions,
			Arrival: Time{max(t.arrival, 0), t.arrival >= 0},
			Done:    t.done, Signals: t.signals,
		}
	}
	return s
}

func (e *Env) configuration(n Node) Configuration {
	if n == NoNode {
		return Nowhere
	}
	return e.net.Configuration(n)
}

// Restore puts the environment into a state. It is an error if the state is not one of its scenario's trains; the
// environment is then left as it was.
func (e *Env) Restore(s Snapshot) error {
	if len(s.Trains) != len(e.trains) {
		return fmt.Errorf("the state of %d trains for %d trains", len(s.Trains), len(e.trains))
	}
	if s.Elapsed < 0 || s.Elapsed > MaxSteps {
		return fmt.Errorf("elapsed_steps is %d, want 0 to %d", s.Elapsed, MaxSteps)
	}
	for i := range s.Trains {
		if err := e.checkState(&s.Trains[i]); err != nil {
			return fmt.Errorf("train %d: %w", i, err)
		}
	}
	if err := e.SetEffects(s.Effects); err != nil {
		return err
	}
	for i := range s.Trains {
		t, from := &e.trains[i], &s.Trains[i]
		t.node, t.old = e.net.Node(from.Configuration), e.net.Node(from.Old)
		t.state, t.previous, t.next = from.State, from.Previous, from.Next
		t.speed, t.distance, t.entered = from.Speed, from.Distance, from.CellEntry
		t.malfunction, t.malfunctions = from.Malfunction, from.Malfunctions
		t.arrival = -1
		if from.Arrival.Given {
			t.arrival = from.Arrival.Step
		}
		t.done, t.signals = from.Done, from.Signals
	}
	e.elapsed, e.allDone = s.Elapsed, s.AllDone
	e.rng, e.seed = s.Stream, s.Seed
	e.ForgetVisits()
	return nil
}

func (e *Env) checkState(t *TrainState) error {
	for _, c := range []Configuration{t.Configuration, t.Old} {
		if c.Heading != NoHeading && e.net.Node(c) == NoNode {
			return fmt.Errorf("it is at %s, outside the grid of %d rows and %d columns", c, e.net.height, e.net.width)
		}
	}
	one := Whole(1)
	switch {
	case t.State < Waiting || t.State > Done:
		return fmt.Errorf("state %d, want 0 to 6", t.State)
	case t.State.OnMap() && t.Configuration.Heading == NoHeading:
		return fmt.Errorf("it is %s without a place on the map", t.State)
	case t.Previous < NoState || t.Previous > Done || t.Next < NoState || t.Next > Done:
		return fmt.Errorf("previous state %d and next state %d, want 0 to 6 or none", t.Previous, t.Next)
	case t.Speed.Sign() < 0 || t.Speed.Cmp(one) > 0:
		return fmt.Errorf("speed %s, want 0 to 1", t.Speed)
	case t.Distance.Sign() < 0 || t.Distance.Cmp(one) >= 0:
		return fmt.Errorf("distance %s in its cell, want at least 0 and below 1", t.Distance)
	case t.Malfunction < 0 || t.Malfunction > MaxSteps+1 || t.Malfunctions < 0:
		return fmt.Errorf("%d steps of malfunction left, %d malfunctions: want 0 or more, and at most %d steps", t.Malfunction, t.Malfunctions, MaxSteps+1)
	case t.Arrival.Given && (t.Arrival.Step < 0 || t.Arrival.Step > MaxSteps):
		return fmt.Errorf("arrival in step %d, want 0 to %d", t.Arrival.Step, MaxSteps)
	}
	return nil
}

// Equal says whether two environments have the same state and the same future. Which reward functions they compute does
// not count.
func (e *Env) Equal(o *Env) bool {
	if e.net.width != o.net.width || e.net.height != o.net.height || len(e.trains) != len(o.trains) ||
		e.elapsed != o.elapsed || e.allDone != o.allDone || len(e.effects) != len(o.effects) || !e.rng.Equal(&o.rng) ||
		e.scenario.KeepAtTarget != o.scenario.KeepAtTarget || e.scenario.MaxEpisodeSteps != o.scenario.MaxEpisodeSteps ||
		!e.accelerate.equal(o.accelerate) || !e.brake.equal(o.brake) {
		return false
	}
	for i, f := range e.effects {
		if !f.equal(o.effects[i]) {
			return false
		}
	}
	return e.sameTrack(o) && e.sameTrains(o)
}

func (e *Env) sameTrack(o *Env) bool {
	if !slices.Equal(e.net.grid, o.net.grid) {
		return false
	}
	for c := range e.net.grid {
		if (e.levelFree != nil && e.levelFree[c]) != (o.levelFree != nil && o.levelFree[c]) {
			return false
		}
	}
	return true
}

func (e *Env) sameTrains(o *Env) bool {
	for i := range e.trains {
		a, b := &e.trains[i], &o.trains[i]
		if a.node != b.node || a.old != b.old || a.initial != b.initial || a.state != b.state || a.previous != b.previous ||
			a.done != b.done || a.malfunction != b.malfunction || a.malfunctions != b.malfunctions ||
			!a.speed.Equal(b.speed) || !a.distance.Equal(b.distance) || !a.maxSpeed.Equal(b.maxSpeed) ||
			a.earliest != b.earliest || a.latest != b.latest || a.target != b.target || a.arrival != b.arrival ||
			!slices.EqualFunc(e.scenario.Trains[i].Stops, o.scenario.Trains[i].Stops, Stop.equal) {
			return false
		}
	}
	return e.book.equal(&o.book) && e.punctuality.equal(&o.punctuality)
}
