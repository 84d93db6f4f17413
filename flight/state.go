package flight

import (
	"fmt"
	"math"
)

// State is all that decides how an episode goes on, but for the environment's stream: what [Env.Restore] needs to
// go on from.
type State struct {
	Step            int
	Clearances      int // given so far
	Invalids        int
	CongestionTotal int // losses of separation so far
	Aircraft        []AircraftState
}

// AircraftState is an aircraft within an episode: how it flies now, and how it entered.
type AircraftState struct {
	Aircraft
	EntryLevel     float64
	EntrySpeed     float64
	DistanceToExit float64 // s_total: metres from entry to the sector's edge
	TargetTime     float64 // t_target: seconds after the reset at which the exit is due
	Flown          float64 // s_flown: metres since entry; it has left once that is s_total or more
	ExitTime       float64 // seconds after the reset at which it left, 0 before
	Hold           int     // hold_left: steps left of a temporary level change
	Pulse          int     // pulse_left: steps left of a speed pulse
	Sign           int     // of the pulse: -1 slower first, +1 faster first, 0 no pulse
	Clearances     int     // given to it
}

// State writes the state of now into s; its slice is reused where it is large enough.
func (e *Env) State(s *State) {
	aircraft := s.Aircraft
	if cap(aircraft) < len(e.flights) {
		aircraft = make([]AircraftState, len(e.flights))
	}
	*s = State{Step: e.step, Clearances: e.clearances, Invalids: e.invalids, CongestionTotal: e.congestionTotal,
		Aircraft: aircraft[:len(e.flights)]}
	for i := range e.flights {
		f := &e.flights[i]
		s.Aircraft[i] = AircraftState{
			Aircraft:   e.Aircraft(i),
			EntryLevel: f.entryLevel, EntrySpeed: f.entrySpeed, DistanceToExit: f.total, TargetTime: f.target,
			Flown: f.flown, ExitTime: f.exitTime, Sign: f.sign, Clearances: f.count,
		}
		switch {
		case e.flying>>i&1 == 0:
		case f.sign == 0:
			s.Aircraft[i].Hold = e.ticksLeft(f)
		default:
			s.Aircraft[i].Pulse = e.ticksLeft(f)
		}
	}
}

// Restore goes on from s, whose figures are checked; what State writes is never refused. The environment's stream
// stays where it is, and the scenario keeps its name: how many aircraft converge, its seed and hotspot. Touched are
// the aircraft with a clearance. The error names the aircraft and the figure, and then nothing has changed.
func (e *Env) Restore(s *State) error {
	if err := s.check(e.cfg); err != nil {
		return err
	}
	e.step, e.clearances, e.invalids, e.touched = s.Step, s.Clearances, s.Invalids, 0
	e.congestionTotal, e.flying, e.quiet = s.CongestionTotal, 0, never
	for i := range s.Aircraft {
		a := &s.Aircraft[i]
		f := newAircraft(a.Aircraft)
		f.entryLevel, f.entrySpeed = a.EntryLevel, a.EntrySpeed
		f.total, f.target, f.flown, f.exitTime = a.DistanceToExit, a.TargetTime, a.Flown, a.ExitTime
		f.count = a.Clearances
		f.climbTo(a.Level)
		f.exitAt = f.total
		if f.flown >= f.total {
			f.exitAt = math.Inf(1)
		}
		if f.count > 0 {
			e.touched |= 1 << i
		}
		e.flights[i] = f
		if a.Hold > 0 || a.Pulse > 0 {
			e.manoeuvre(i, max(a.Hold, a.Pulse), a.Sign)
		}
	}
	e.pairUp()
	e.congestion, e.collided = 0, false
	if e.step > 0 { // a loss of separation is one after a step, not at the reset
		e.separate()
	}
	e.outlook.forget()
	return nil
}

// check says what is wrong with s for cfg.
func (s *State) check(cfg Config) error {
	if len(s.Aircraft) != cfg.Flights {
		return fmt.Errorf("state has %d aircraft, the environment %d", len(s.Aircraft), cfg.Flights)
	}
	for _, v := range []struct {
		name string
		v    int
	}{{"step", s.Step}, {"clearances", s.Clearances}, {"invalids", s.Invalids}, {"congestion_total", s.CongestionTotal}} {
		if v.v < 0 {
			return fmt.Errorf("%s is %d, it must not be negative", v.name, v.v)
		}
	}
	for i := range s.Aircraft {
		if err := s.Aircraft[i].check(cfg); err != nil {
			return fmt.Errorf("aircraft %d: %w", i, err)
		}
	}
	return nil
}

func (a *AircraftState) check(cfg Config) error {
	now := a.Aircraft
	now.X, now.Y = 0, 0 // it may have flown further than a scenario may place it: see below
	if err := now.Validate(); err != nil {
		return err
	}
	entry := Aircraft{Level: a.EntryLevel, Speed: a.EntrySpeed}
	if err := entry.Validate(); err != nil {
		return fmt.Errorf("at entry: %w", err)
	}
	for _, v := range []struct {
		name  string
		v, lo float64
	}{
		{"x", a.X, -maxWay}, {"y", a.Y, -maxWay},
		{"s_total", a.DistanceToExit, 0}, {"t_target", a.TargetTime, 0}, {"s_flown", a.Flown, 0}, {"exit time", a.ExitTime, 0},
	} {
		if !(v.v >= v.lo && v.v <= maxWay) { // false for NaN as well
			return fmt.Errorf("%s is %v, it must be within %v..%v", v.name, v.v, v.lo, maxWay)
		}
	}
	switch {
	case a.ExitTime != 0 && a.Flown < a.DistanceToExit:
		return fmt.Errorf("exit time is %v, it must be 0 while s_flown %v is less than s_total %v",
			a.ExitTime, a.Flown, a.DistanceToExit)
	case a.Hold < 0 || a.Hold > cfg.HoldSteps:
		return fmt.Errorf("hold_left is %d, it must be within 0..%d", a.Hold, cfg.HoldSteps)
	case a.Pulse < 0 || a.Pulse > 2*cfg.HoldSteps+1:
		return fmt.Errorf("pulse_left is %d, it must be within 0..%d", a.Pulse, 2*cfg.HoldSteps+1)
	case a.Hold > 0 && a.Pulse > 0:
		return fmt.Errorf("hold_left is %d and pulse_left %d; an aircraft never has both", a.Hold, a.Pulse)
	case a.Sign < -1 || a.Sign > 1 || (a.Sign != 0) != (a.Pulse > 0):
		return fmt.Errorf("the pulse's sign is %d, it must be -1 or 1 during a pulse, else 0", a.Sign)
	case a.Clearances < 0:
		return fmt.Errorf("clearances are %d, they must not be negative", a.Clearances)
	}
	return nil
}

// maxWay bounds what adds up along the way, in metres and seconds. The longest way to an exit is that of an aircraft
// placed 1e9 m away whose track has a slope of 1e-12; every sum and product of the engine stays finite.
const maxWay = 1e22
