package flight

import (
	"fmt"
	"math"
	"math/bits"
)

// Clearance is what an aircraft can be told, in the order of the action index.
type Clearance int

// The clearances, spelled as in the reference.
const (
	FLDec  Clearance = iota // FL_DEC: one level down, permanent
	FLInc                   // FL_INC: one level up, permanent
	FLDec2                  // FL_DEC2_T: two levels down, restored by the hold_steps-th tick: hold_steps-1 moves
	FLInc2                  // FL_INC2_T: two levels up, likewise
	SpdDn                   // SPD_DN_T: one speed step slower, then as long one faster, then entry speed
	SpdUp                   // SPD_UP_T: one speed step faster, then as long one slower, then entry speed
	Resume                  // RESUME: entry level and speed

	Clearances = 7 // how many there are
)

var clearanceNames = [Clearances]string{"FL_DEC", "FL_INC", "FL_DEC2_T", "FL_INC2_T", "SPD_DN_T", "SPD_UP_T", "RESUME"}

// String returns the reference's name of the clearance.
func (c Clearance) String() string {
	if c < 0 || c >= Clearances {
		return fmt.Sprintf("Clearance(%d)", int(c))
	}
	return clearanceNames[c]
}

// Idle is the action that gives no clearance.
const Idle = 0

// Action returns the index of giving clearance c to an aircraft.
func Action(aircraft int, c Clearance) int { return 1 + Clearances*aircraft + int(c) }

// ParseAction is the inverse of [Action]; ok is false for Idle and negative indices.
func ParseAction(action int) (aircraft int, c Clearance, ok bool) {
	if action <= Idle {
		return 0, 0, false
	}
	return (action - 1) / Clearances, Clearance((action - 1) % Clearances), true
}

// ActionError is an action index outside the action space.
type ActionError struct{ Action, Actions int }

func (e *ActionError) Error() string {
	return fmt.Sprintf("action %d is outside 0..%d", e.Action, e.Actions-1)
}

// Status says whether an episode is over. Both can be true. Stepping on keeps flying, as in the reference.
type Status struct {
	Terminated bool // a mid-air
	Truncated  bool // the horizon is reached or the clearance budget spent
}

// Over reports whether the episode has ended.
func (s Status) Over() bool { return s.Terminated || s.Truncated }

// Step advances the sector by DT and returns the reward. It does the work of [Env.Advance], then of
// [Env.Reward]. The error is an [ActionError], and then nothing has changed.
func (e *Env) Step(action int) (reward float64, status Status, err error) {
	before := e.clearances
	status, err = e.Advance(action)
	if err != nil {
		return 0, status, err
	}
	return e.reward(e.clearances - before), status, nil
}

// Advance advances the sector by DT without a reward: the physics and the counters alone. The order of the
// phases is part of the contract. The error is an [ActionError], and then nothing has changed.
func (e *Env) Advance(action int) (Status, error) {
	if uint(action) >= uint(1+Clearances*len(e.flights)) {
		return e.Status(), &ActionError{action, e.cfg.Actions()}
	}
	if action != Idle {
		e.issue(action) // one clearance at most; a masked one is counted, not flown
	}
	e.tickHolds() // temporary manoeuvres run out
	e.move()
	e.separate() // loss of separation and mid-air, of this moment
	e.congestionTotal += e.congestion
	e.outlook.stale()
	return e.Status(), nil
}

// Status returns whether the episode is over as of now.
func (e *Env) Status() Status {
	return Status{
		Terminated: e.collided,
		Truncated:  e.step >= e.cfg.MaxSteps || e.clearances >= e.cfg.MaxClearances,
	}
}

// issue gives a clearance if it is legal.
func (e *Env) issue(action int) {
	i, c, _ := ParseAction(action)
	f := &e.flights[i]
	if e.maskOf(i)>>c&1 == 0 {
		e.invalids++
		return
	}
	e.clearances++
	f.count++
	e.touched |= 1 << i
	e.outlook.outdated |= 1 << i
	h := e.cfg.HoldSteps
	switch c {
	case FLDec:
		f.climb(-LevelStep)
	case FLInc:
		f.climb(LevelStep)
	case FLDec2:
		f.climb(-2 * LevelStep)
		e.manoeuvre(i, h, 0)
	case FLInc2:
		f.climb(2 * LevelStep)
		e.manoeuvre(i, h, 0)
	case SpdDn:
		f.accelerate(-SpeedStep)
		e.manoeuvre(i, 2*h+1, -1)
	case SpdUp:
		f.accelerate(SpeedStep)
		e.manoeuvre(i, 2*h+1, 1)
	case Resume:
		f.climbTo(f.entryLevel)
		f.fly(f.entrySpeed)
	}
	e.pairUpWith(i)
}

// manoeuvre begins a temporary manoeuvre of aircraft i, of so many ticks: a speed pulse of this sign, a hold if that
// is 0.
func (e *Env) manoeuvre(i, ticks, sign int) {
	f := &e.flights[i]
	f.until, f.sign = e.step+ticks, sign
	e.flying |= 1 << i
	e.quiet = min(e.quiet, e.quietOf(f, ticks))
}

// ticksLeft returns how many ticks are left of the manoeuvre that f flies.
func (e *Env) ticksLeft(f *aircraft) int { return f.until - e.step }

// quietOf returns how many ticks pass before the one that ends or turns the manoeuvre that f flies, which has so many
// left.
func (e *Env) quietOf(f *aircraft, left int) int {
	quiet := left - 1
	if f.sign != 0 && quiet >= e.cfg.HoldSteps {
		quiet -= e.cfg.HoldSteps // the second half begins
	}
	return quiet
}

// tickHolds counts down the temporary manoeuvres and ends those that have run out: first the holds, then the
// pulses. An aircraft never has both, so one pass over the aircraft serves; and none until one of them ends or turns.
func (e *Env) tickHolds() {
	if e.quiet > 0 {
		e.quiet--
		return
	}
	e.quiet = never
	for flying := e.flying; flying != 0; flying &= flying - 1 {
		i := bits.TrailingZeros64(flying)
		f := &e.flights[i]
		left := e.ticksLeft(f) - 1
		if left == 0 {
			e.restore(i)
			continue
		}
		if left == e.cfg.HoldSteps { // of a hold there are fewer left
			// quirk: clamped below only; the second half of a slow-down from 515 flies 550.
			f.fly(max(f.entrySpeed-float64(float64(f.sign)*SpeedStep), LowSpeed))
			e.outlook.outdated |= 1 << i
		}
		e.quiet = min(e.quiet, e.quietOf(f, left))
	}
}

// never is longer than any manoeuvre takes.
const never = math.MaxInt

// restore ends every temporary manoeuvre of aircraft i: entry level and entry speed.
func (e *Env) restore(i int) {
	f := &e.flights[i]
	moved := f.level != f.entryLevel
	f.climbTo(f.entryLevel)
	f.fly(f.entrySpeed)
	f.until, f.sign = 0, 0
	e.flying &^= 1 << i
	e.outlook.outdated |= 1 << i
	if moved {
		e.pairUpWith(i)
	}
}

// move flies every aircraft one step and records when it passes its exit.
func (e *Env) move() {
	e.step++
	flights := e.flights
	for i := range flights {
		f := &flights[i]
		f.x += f.dx
		f.y += f.dy
		f.flown += f.stride
		if f.flown >= f.exitAt {
			f.exitAt = math.Inf(1)
			f.exitTime = float64(e.step)*DT - (f.flown-f.total)/f.speed
		}
	}
}

// climb changes the level, clamped to the lowest one.
func (f *aircraft) climb(d float64) { f.climbTo(max(f.level+d, LowestLevel)) }

// accelerate changes the speed, clamped to the lowest one.
func (f *aircraft) accelerate(d float64) { f.fly(max(f.speed+d, LowSpeed)) }
