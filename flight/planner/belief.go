package planner

import (
	"fmt"
	"math"

	"skyrail/flight"
)

// belief is the sector as the observations so far tell it: an environment of its own that flies along.
//
// Where there is a memory, an observation only decides which action was flown; the state then is the remembered one
// flown on, so that what was once known exactly stays so, and positions are as good as the first observation was: within
// 1 mm, and 5 cm more for every 1000 km. Without a memory the state is decoded; see reckon for what cannot be known then.
type belief struct {
	env *flight.Env // the state at the last observation, as believed; always the same Env

	cfg   flight.Config
	known bool // something was seen since the reset
	last  int  // the answer to the last observation, unanswered if there is none

	// What follows is scratch.
	next     *flight.Env
	told     []float32 // what next tells
	seen     []sighting
	placed   []flight.Aircraft
	maybe    []manoeuvre
	decoded  flight.State
	recalled flight.State
}

// unanswered is no action.
const unanswered = -1

// newBelief returns a belief about environments of cfg, which must be valid. It has seen nothing.
func newBelief(cfg flight.Config) *belief {
	return &belief{
		env: mustNew(cfg), cfg: cfg, last: unanswered,
		next: mustNew(cfg), told: make([]float32, cfg.ObservationLen()),
		seen: make([]sighting, cfg.Flights), placed: make([]flight.Aircraft, cfg.Flights),
		decoded: flight.State{Aircraft: make([]flight.AircraftState, cfg.Flights)},
	}
}

// reset forgets: an episode begins.
func (b *belief) reset() { b.known, b.last = false, unanswered }

// answer notes what was answered to the last observation. Normally it is what is flown; see finds out if it was not.
func (b *belief) answer(action int) { b.last = action }

// see makes env the state in which obs is observed, flight.Config.ObservationLen values. asExpected tells that it is the
// state the answer to the last observation led to. It is false for the first observation, after another action, and for
// the last observation again. Values that no environment tells give some state. It panics if obs is shorter.
func (b *belief) see(obs []float32) (asExpected bool) {
	_ = obs[b.cfg.ObservationLen()-1]
	switch {
	case b.known && b.follow(b.last, obs):
		asExpected = true
	case b.known && b.followAny(obs):
	default:
		b.decode(obs)
	}
	b.known, b.last = true, unanswered
	return asExpected
}

// follow flies an action in env if obs is what is observed then. It is false for an action outside the action space.
func (b *belief) follow(action int, obs []float32) bool {
	if !b.try(action) || !b.fits(obs) {
		return false
	}
	b.env.CopyFrom(b.next)
	return true
}

// followAny follows whichever action leads to obs, or none if obs is what is observed already.
func (b *belief) followAny(obs []float32) bool {
	for action := range b.cfg.Actions() {
		if b.follow(action, obs) {
			return true
		}
	}
	b.env.Observe(b.told)
	return b.fits(obs)
}

// try flies an action in next, from the state of env, and observes what is told then.
func (b *belief) try(action int) bool {
	b.next.CopyFrom(b.env)
	if _, err := b.next.Advance(action); err != nil {
		return false
	}
	b.next.Observe(b.told)
	return true
}

// How far apart two observations of the same may be. A float32 is within 6e-8 of what it stands for.
const (
	sameNumber = 2e-7 // of a whole number; the steps of none are smaller than 1e-6
	samePlace  = 1e-6 // 1 cm of a position, which is told and predicted to a few millimetres
	sameTime   = 1e-3 // seconds of an exit time, whose way may be wrong by much more than that where it grazes an edge
)

// fits reports whether obs may be what was told.
func (b *belief) fits(obs []float32) bool {
	for i := range b.cfg.Flights {
		if !b.aircraftFits(i, obs) {
			return false
		}
	}
	g := b.globals()
	return near(obs[g], b.told[g], sameNumber) && near(obs[g+1], b.told[g+1], sameNumber)
}

// aircraftFits reports whether obs may be what was told of aircraft i. Its conflicts are not looked at: they follow from
// the rest, and a millimetre makes one.
func (b *belief) aircraftFits(i int, obs []float32) bool {
	o, t := obs[flight.Features*i:][:flight.Features], b.told[flight.Features*i:][:flight.Features]
	mask := b.globals() + 2
	for a := flight.Action(i, 0); a < flight.Action(i+1, 0); a++ {
		if obs[mask+a] != b.told[mask+a] {
			return false
		}
	}
	miss := float64(t[6])
	return near(o[0], t[0], samePlace) && near(o[1], t[1], samePlace) &&
		near(o[2], t[2], sameNumber) && near(o[3], t[3], sameNumber) &&
		near(o[4], t[4], samePlace) && near(o[5], t[5], samePlace) &&
		near(o[6], t[6], float64(sameNumber*math.Abs(miss))+(1-float64(miss*miss))*sameTime/b.unit()) &&
		near(o[7], t[7], sameNumber) && near(o[8], t[8], sameNumber) && near(o[9], t[9], sameNumber)
}

// near is false for what is not a number.
func near(a, b float32, tolerance float64) bool { return math.Abs(float64(a)-float64(b)) <= tolerance }

// globals is where in an observation the globals are: steps flown, clearance budget. The mask comes next.
func (b *belief) globals() int { return flight.Features * b.cfg.Flights }

// decode makes env of obs alone, save for the aircraft that the memory still explains. What was counted and is not told,
// losses of separation and illegal actions, begins anew.
func (b *belief) decode(obs []float32) {
	g, s := b.globals(), &b.decoded
	*s = flight.State{
		Step:       whole(obs[g], b.cfg.MaxSteps),
		Clearances: b.cfg.MaxClearances - whole(obs[g+1], b.cfg.MaxClearances),
		Aircraft:   s.Aircraft,
	}
	b.look(obs)
	for i := range s.Aircraft {
		s.Aircraft[i] = b.reckon(&b.seen[i], s.Step)
	}
	if b.known {
		b.recall(obs, s)
	}
	if err := b.env.Restore(s); err != nil {
		panic(fmt.Sprintf("planner: a decoded state is refused: %v", err)) // its figures were limited to what is not
	}
}

// recall puts into s, for every aircraft, the state in which an action leads to what obs tells of it. So one that was
// guessed wrongly does not take the others' memory with it.
func (b *belief) recall(obs []float32, s *flight.State) {
	for action := range b.cfg.Actions() {
		b.try(action)
		if g := b.globals(); !near(obs[g], b.told[g], sameNumber) {
			return // another step
		}
		b.next.State(&b.recalled)
		for i := range s.Aircraft {
			if b.aircraftFits(i, obs) {
				s.Aircraft[i] = b.recalled.Aircraft[i]
			}
		}
	}
}
