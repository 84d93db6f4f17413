package planner

import (
	"fmt"
	"math"

	"skyrail/flight"
	"skyrail/internal/elementary"
)

// sighting is one aircraft as an observation tells of it, within what is possible.
type sighting struct {
	flight.Aircraft         // a position within the sector's edge; a speed of at most 515, which may be 550
	ux, uy          float64 // unit vector of the heading
	above           int     // levels above its entry level
	miss            float64 // tanh(dt/(hold_steps*DT))
	count           int     // clearances given to it, 6 for more
	busy            int     // steps left of a manoeuvre
	pulses          bool    // a speed pulse is legal
	way             float64 // metres to the next of the lines that are the sector's edges
}

// look reads the aircraft from an observation.
func (b *belief) look(obs []float32) {
	mask := obs[b.globals()+2:]
	for i := range b.seen {
		o := obs[flight.Features*i:]
		v := sighting{
			Aircraft: flight.Aircraft{
				X: limited(o[0]) * flight.SectorHalfWidth, Y: limited(o[1]) * flight.SectorHalfWidth,
				Level:   flight.LowestLevel + float64(float64(whole(o[2], flight.Levels-1))*flight.LevelStep),
				Speed:   speedOf(o[3]),
				Heading: headingOf(limited(o[4]), limited(o[5])),
			},
			above:  int(math.Round(2 * elementary.Atanh(min(max(limited(o[7]), -0.9999), 0.9999)))),
			miss:   limited(o[6]),
			count:  whole(o[8], 6),
			busy:   whole(o[9], 2*b.cfg.HoldSteps),
			pulses: mask[flight.Action(i, flight.SpdDn)] == 1 || mask[flight.Action(i, flight.SpdUp)] == 1,
		}
		v.uy, v.ux = elementary.SinCos(v.Heading * degree)
		b.seen[i], b.placed[i] = v, v.Aircraft
	}
	// The environment tells the way of aircraft that begin here.
	if err := b.next.ResetTo(flight.Scenario{Aircraft: b.placed}); err != nil {
		panic(fmt.Sprintf("planner: a decoded scenario is refused: %v", err)) // limited likewise
	}
	for i := range b.seen {
		b.seen[i].way = b.next.Progress(i).DistanceToExit
	}
}

// reckon makes the state of an aircraft of what an observation tells of it, at a step.
//
// Within the sector that is all there is to know, but for a count beyond 6, and for the difference of a hold and the
// second half of a pulse at the lowest speed, which end alike. Of an aircraft that has left, the observation hides how
// far it is beyond the edge, and which manoeuvre it flies: it is put in the middle of where it may be, and on schedule.
func (b *belief) reckon(v *sighting, step int) flight.AircraftState {
	m := b.guess(v, step)
	entryLevel := v.Level - float64(float64(v.above)*flight.LevelStep)
	a := flight.AircraftState{
		Aircraft:   v.Aircraft,
		EntryLevel: min(max(entryLevel, flight.LowestLevel), flight.HighestLevel), EntrySpeed: m.entrySpeed,
		Flown: max(float64(m.entrySpeed*flight.DT*float64(step))+m.ahead, 0),
		Hold:  m.hold, Pulse: m.pulse, Sign: m.sign, Clearances: v.count,
	}
	a.Speed = m.speed
	if v.left(step) {
		a.DistanceToExit = a.Flown - v.leave(&a)
		a.TargetTime = a.DistanceToExit / a.EntrySpeed
		a.ExitTime = min(max(a.TargetTime+b.late(v), 1e-3), float64(step)*flight.DT)
		return a
	}
	a.DistanceToExit = a.Flown + v.way
	if v.outside() {
		v.stray(&a, step)
	}
	a.TargetTime = a.DistanceToExit / a.EntrySpeed
	return a
}

// outside reports whether an aircraft is past an edge that it flies to.
func (v *sighting) outside() bool { return beyond(v.X, v.ux) || beyond(v.Y, v.uy) }

func beyond(pos, u float64) bool { return math.Abs(pos) >= flight.SectorHalfWidth && pos*u > 0 }

// left reports whether an aircraft has left, as far as can be known: it is outside, and no mask tells of an exit to
// come. The mask forbids speed pulses shortly before the exit.
func (v *sighting) left(step int) bool { return step > 0 && v.outside() && (v.pulses || v.busy > 0) }

// leave puts an aircraft that has left in the middle of where it may be, and returns how many metres ago it left. It
// entered within the sector, so that it has crossed at most all of it.
func (v *sighting) leave(a *flight.AircraftState) (ago float64) {
	for _, axis := range []struct {
		pos *float64
		u   float64
	}{{&a.X, v.ux}, {&a.Y, v.uy}} {
		if beyond(*axis.pos, axis.u) {
			least := max(a.Flown-2*flight.SectorHalfWidth/math.Abs(axis.u), 0)
			middle := (least + a.Flown) / 2
			*axis.pos += float64(middle * axis.u)
			ago = max(ago, middle)
		}
	}
	return ago
}

// resetShift is how many steps a reset moves all aircraft at most to have every one in the sector at once. When that
// does not succeed, all have crossed the sector and flown on.
const resetShift = 400

// stray puts an aircraft that has been outside since the reset about where it is.
func (v *sighting) stray(a *flight.AircraftState, step int) {
	const behind = 1.5 * flight.SectorHalfWidth // of the sector's centre, about, before it was moved
	out := float64(a.EntrySpeed*flight.DT*float64(resetShift+step)) - behind
	if beyond(v.X, v.ux) {
		a.X = math.Copysign(max(out*math.Abs(v.ux), flight.SectorHalfWidth), v.ux)
	}
	if beyond(v.Y, v.uy) {
		a.Y = math.Copysign(max(out*math.Abs(v.uy), flight.SectorHalfWidth), v.uy)
	}
	if beyond(v.X, v.ux) && beyond(v.Y, v.uy) { // the way of an aircraft that meets no edge any more
		a.DistanceToExit = max(2*flight.SectorHalfWidth, a.Flown+1)
	}
}

// late returns dt: how many seconds after its target an aircraft leaves.
func (b *belief) late(v *sighting) float64 {
	return float64(b.unit() * elementary.Atanh(min(max(v.miss, -mostMiss), mostMiss)))
}

// unit is the time in which exit times are told.
func (b *belief) unit() float64 { return float64(float64(b.cfg.HoldSteps) * flight.DT) }

// mostMiss is the float32 before 1.
const mostMiss = 1 - 0x1p-24

// manoeuvre is what an aircraft may be flying.
type manoeuvre struct {
	hold, pulse, sign int
	entrySpeed, speed float64
	ahead             float64 // metres that speed pulses have put it ahead of its schedule so far
}

// guess returns what an aircraft flies: of all that it may fly, that which explains its exit time best.
func (b *belief) guess(v *sighting, step int) manoeuvre {
	b.maybe = b.maybe[:0]
	h := b.cfg.HoldSteps
	hold := manoeuvre{hold: v.busy, entrySpeed: v.Speed, speed: v.Speed}
	switch {
	case v.busy == 0:
		b.maybe = append(b.maybe, hold)
	case v.busy >= h:
		b.addPulses(v)
	case v.above != 0:
		b.maybe = append(b.maybe, hold)
		b.addPulses(v)
	default:
		b.addPulses(v)
		b.maybe = append(b.maybe, hold)
	}
	if v.left(step) { // its exit time does not change any more, whatever it flies
		return b.maybe[0]
	}
	best, least := manoeuvre{}, math.Inf(1)
	for _, m := range b.maybe {
		if d := b.contradiction(&m, v); d < least {
			best, least = m, d
		}
	}
	return best
}

// addPulses adds the speed pulses that have v.busy steps left.
func (b *belief) addPulses(v *sighting) {
	for sign := -1; sign <= 1; sign += 2 {
		step := float64(float64(sign) * flight.SpeedStep)
		switch {
		case v.busy > b.cfg.HoldSteps: // first half
			b.addPulse(v, sign, v.Speed-step, v.Speed)
		default:
			b.addPulse(v, sign, v.Speed+step, v.Speed)
			if sign > 0 && v.Speed == flight.LowSpeed {
				b.addPulse(v, sign, flight.LowSpeed, flight.LowSpeed) // the second half is clamped
			}
			if sign < 0 && v.Speed == flight.TopSpeed {
				b.addPulse(v, sign, flight.TopSpeed, flight.TopSpeed+flight.SpeedStep) // and looks as if it were
			}
		}
	}
}

func (b *belief) addPulse(v *sighting, sign int, entrySpeed, speed float64) {
	if entrySpeed < flight.LowSpeed || entrySpeed > flight.TopSpeed {
		return
	}
	h := b.cfg.HoldSteps
	flown := 2*h + 1 - v.busy
	first, second := min(flown, h), max(flown-h, 0)
	ahead := float64(float64(sign*first)*(flight.SpeedStep*flight.DT)) +
		float64((speed-entrySpeed)*float64(flight.DT*float64(second)))
	b.maybe = append(b.maybe, manoeuvre{0, v.busy, sign, entrySpeed, speed, ahead})
}

// contradiction tells how far the feature of the exit time is from what m makes it. Earlier manoeuvres have no part in
// it, save for faster speed pulses of an aircraft that then cannot fly slower by as much: m is given as many as it takes.
func (b *belief) contradiction(m *manoeuvre, v *sighting) float64 {
	dt := func() float64 { return float64(v.way*(1/m.speed-1/m.entrySpeed)) - m.ahead/m.entrySpeed }
	off := func() float64 { return math.Abs(elementary.Tanh(dt()/b.unit()) - v.miss) }
	if lost := flight.LowSpeed + flight.SpeedStep - m.entrySpeed; lost > 0 && off() > sameNumber {
		gain := float64(b.unit() * lost)
		m.ahead += float64(max(math.Round(float64((dt()-b.late(v))*m.entrySpeed)/gain), 0) * gain)
	}
	return off()
}

// limited is a feature within -1..1; what is not a number is -1.
func limited(feature float32) float64 {
	if !(feature > -1) {
		return -1
	}
	return min(float64(feature), 1)
}

// whole is the number of 0..top that a feature of -1..1 tells.
func whole(feature float32, top int) int {
	return int(math.Round(float64((limited(feature) + 1) / 2 * float64(top))))
}

// speedOf is the speed that a feature tells: one of the ten, if it is within the precision of an observation.
func speedOf(feature float32) float64 {
	const span = flight.TopSpeed - flight.LowSpeed
	notches := float64((limited(feature) + 1) / 2 * (span / flight.SpeedStep))
	if n := math.Round(notches); math.Abs(notches-n) <= 1e-6 {
		notches = n
	}
	return flight.LowSpeed + float64(notches*flight.SpeedStep)
}

const degree = 0.017453292519943295 // the double nearest to pi/180, by which the environment multiplies

// headingOf is the direction of (x, y) in degrees. It has the same bits everywhere, which math.Atan2 need not have.
func headingOf(x, y float64) float64 {
	if x == 0 && y == 0 {
		return 0
	}
	heading := 90.0 // at most 45 degrees off
	switch ax, ay := math.Abs(x), math.Abs(y); {
	case ax >= ay && x > 0:
		heading = 0
	case ax >= ay:
		heading = 180
	case y < 0:
		heading = -90
	}
	for range 5 { // the tangent of an error, less the error: from 45 degrees to nothing in four
		sin, cos := elementary.SinCos(heading * degree)
		heading += (float64(cos*y) - float64(sin*x)) / (float64(cos*x) + float64(sin*y)) / degree
	}
	return heading
}
