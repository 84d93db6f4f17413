package planner

import (
	"math"
	"math/bits"

	"skyrail/flight"
)

// maxOrders is how many clearances a plan gives one aircraft at most.
const maxOrders = 12

// order is a clearance at a step of the window.
type order struct {
	step      int8
	clearance flight.Clearance
}

// track is what an aircraft does in a window under its clearances. The words are masks of steps.
type track struct {
	commands [maxOrders]order // the first n, by step
	n        int8
	end      int8                  // levels off the entry level at the end
	notches  uint16                // bit m: it is ever at notch m
	late     float64               // its lateness at the exit, without sign, in units of exit miss
	at       [flight.Levels]uint64 // at[l]: at level l
	near     [flight.Levels]uint64 // near[l]: less than two levels from l
	off      [notches]uint64       // off[m]: at notch m
}

// from is the mask of the steps from k on.
func from(k int) uint64 { return ^uint64(0) << uint(k) } // 0 from 64 on, by Go's rule

// with makes dst of t, with one clearance more for aircraft i. It returns false if that one, or one after it, is not
// legal. T has room for it.
func (w *window) with(dst, t *track, i int, o order) bool {
	k := int(t.n)
	for k > 0 && t.commands[k-1].step > o.step {
		k--
	}
	copy(dst.commands[:k], t.commands[:k])
	dst.commands[k] = o
	copy(dst.commands[k+1:], t.commands[k:t.n])
	dst.n = t.n + 1
	return w.fly(dst, i)
}

// fly works out the track of aircraft i from its clearances. It returns false if one of them is not legal.
func (w *window) fly(t *track, i int) bool {
	p := &w.planes[i]
	h := w.cfg.HoldSteps
	t.at, t.off = [flight.Levels]uint64{}, [notches]uint64{}
	onTimeSteps := w.full
	level := p.level
	since, back, free := 0, p.back, p.free // flown at level since; at entry level again from back on, if back > 0
	pulses := false
	for _, o := range t.commands[:t.n] {
		k := int(o.step)
		if k < free {
			return false
		}
		if back > 0 {
			t.at[level] |= from(since) &^ from(back)
			level, since, back = p.entry, back, 0
		}
		next := level
		free = k + 1
		switch o.clearance {
		case flight.FLDec:
			next--
		case flight.FLInc:
			next++
		case flight.FLDec2:
			next -= 2
			back, free = k+h-1, k+h
		case flight.FLInc2:
			next += 2
			back, free = k+h-1, k+h
		case flight.SpdDn, flight.SpdUp:
			legal, sign := p.slower, -1
			if o.clearance == flight.SpdUp {
				legal, sign = p.faster, 1
			}
			if legal>>k&1 == 0 {
				return false
			}
			pulses = true
			back, free = k+2*h, k+2*h+1
			for m := 1; m < 2*h && k+m <= w.steps; m++ {
				b := uint64(1) << (k + m - 1)
				t.off[onTime+sign*min(m, 2*h-m)] |= b
				onTimeSteps &^= b
			}
		case flight.Resume:
			if level == p.entry {
				return false
			}
			next = p.entry
		}
		if next < 0 || next >= flight.Levels {
			return false
		}
		if h == 1 && (o.clearance == flight.FLDec2 || o.clearance == flight.FLInc2) {
			next, back = p.entry, 0 // it is put back before it moves
		}
		if next != level {
			t.at[level] |= from(since) &^ from(k)
			level, since = next, k
		}
	}
	if back > 0 {
		t.at[level] |= from(since) &^ from(back)
		level, since = p.entry, back
	}
	t.at[level] |= from(since)

	t.off[onTime] = onTimeSteps
	t.notches = 1 << onTime
	if pulses {
		for m := range t.off {
			if t.off[m] != 0 {
				t.notches |= 1 << m
			}
		}
	}
	below := uint64(0)
	for l := range t.at {
		t.at[l] &= w.full
		t.near[l] = below | t.at[l]
		if l > 0 {
			t.near[l-1] |= t.at[l]
		}
		below = t.at[l]
		if t.at[l]>>(w.steps-1) != 0 {
			t.end = int8(l) - p.entry
		}
	}
	t.late = p.late
	if pulses {
		t.late = w.lateness(t, p)
	}
	return true
}

// restoredAt returns the step at which a clearance puts its aircraft back to entry level and speed by itself or, for
// RESUME, at once; -1 for one that does not.
func (w *window) restoredAt(o order) int {
	switch o.clearance {
	case flight.FLDec2, flight.FLInc2:
		return int(o.step) + w.cfg.HoldSteps - 1
	case flight.SpdDn, flight.SpdUp:
		return int(o.step) + 2*w.cfg.HoldSteps
	case flight.Resume:
		return int(o.step)
	}
	return -1
}

// levelAt returns the level at step k.
func (t *track) levelAt(k int) int {
	for l := range t.at {
		if t.at[l]>>k&1 != 0 {
			return l
		}
	}
	panic("planner: an aircraft without a level")
}

// notchAt returns the notch at step k.
func (t *track) notchAt(k int) int {
	for x := t.notches; x != 0; x &= x - 1 {
		if m := bits.TrailingZeros16(x); t.off[m]>>k&1 != 0 {
			return m
		}
	}
	panic("planner: an aircraft without a notch")
}

// sameAt reports whether aircraft on tracks t and o are at the same place at step k.
func (t *track) sameAt(o *track, k int) bool {
	differ := uint64(0)
	for l := range t.at {
		differ |= t.at[l] ^ o.at[l]
	}
	for x := t.notches | o.notches; x != 0; x &= x - 1 {
		m := bits.TrailingZeros16(x)
		differ |= t.off[m] ^ o.off[m]
	}
	return differ>>k&1 == 0
}

// lateness returns how late or early an aircraft with speed pulses is at its exit, in units of exit miss.
func (w *window) lateness(t *track, p *plane) float64 {
	unit := float64(w.cfg.HoldSteps) * flight.DT
	if p.exitTime != 0 {
		return p.late
	}
	// It is off its schedule by less than two steps' worth, so it leaves less than two steps before or after the step
	// at which it would leave in time.
	last := w.steps - 1
	first := max(bits.TrailingZeros64(p.left|1<<last)-2, 0)
	before := 0
	if first > 0 {
		before = t.notchAt(first-1) - onTime
	}
	for k := first; ; k++ {
		d := t.notchAt(k) - onTime
		flown := p.flown[k] + float64(float64(d)*notch)
		if flown >= p.total || k == last {
			speed := p.speed[k] + float64(float64(d-before)*flight.SpeedStep)
			exit := float64(float64(w.start+k+1)*flight.DT) - (flown-p.total)/speed
			return math.Abs(exit-p.target) / unit
		}
		before = d
	}
}
