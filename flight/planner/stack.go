package planner

import (
	"math/bits"
	"slices"

	"skyrail/flight"
)

// stack is a moment at which some pairs are too close however far each is off its schedule: only levels can part
// them. It bounds from below what a plan still needs.
type stack struct {
	step     int
	aircraft []int8
	hard     [maxStacked]uint8 // of aircraft[a]: bit b, it must be two levels from aircraft[b]
}

const (
	maxStacks  = 6
	maxStacked = 6
	never      = 100 // more clearances than there are
)

// need is how many clearances more an aircraft needs at least to be at each level at a moment: before that moment, and
// in all if it is to end at its entry level.
type need struct {
	before, all [flight.Levels]int8
	most        int8   // of all
	id          uint64 // of what it follows from
}

// stackUp finds the moments that bound best, by how many clearances they ask of aircraft left alone.
func (d *draft) stackUp() {
	w := &d.window
	w.stacks = w.stacks[:0]
	var worth []int
	for k := range w.steps {
		st := w.stackAt(k, true)
		if len(st.aircraft) < 2 {
			continue
		}
		b := st.least(d.needsAlone(&st), k+1, 0)
		at := 0 // most first, then the earliest
		for at < len(worth) && worth[at] >= b {
			at++
		}
		worth = slices.Insert(worth, at, b)
		w.stacks = slices.Insert(w.stacks, at, st)
	}
	w.stacks = w.stacks[:min(len(w.stacks), maxStacks)]
}

// needsAlone returns what the aircraft of a stack need if they are left alone so far.
func (d *draft) needsAlone(st *stack) *[maxStacked]need {
	var needs [maxStacked]need
	for a, i := range st.aircraft {
		needs[a] = *d.needed.of(&d.window, &d.alone[i], int(i), st.step, false)
	}
	return &needs
}

// stackAt returns the pairs that only levels part at step k, if everybody is to be in time or in any case; the first
// few aircraft of them.
func (w *window) stackAt(k int, inTime bool) stack {
	st := stack{step: k}
	place := func(i int) int {
		if a := slices.Index(st.aircraft, int8(i)); a >= 0 || len(st.aircraft) == maxStacked {
			return a
		}
		st.aircraft = append(st.aircraft, int8(i))
		return len(st.aircraft) - 1
	}
	for j := range w.planes {
		for i := range j {
			hard := w.pairs[pairAt(i, j)].hardest
			if inTime {
				hard = w.pairs[pairAt(i, j)].hard
			}
			if hard>>k&1 == 0 {
				continue
			}
			a, b := place(i), place(j)
			if a >= 0 && b >= 0 {
				st.hard[a] |= 1 << b
				st.hard[b] |= 1 << a
			}
		}
	}
	return st
}

// posture is what the needs of an aircraft follow from.
type posture struct {
	now, entry int8
	macro      int8   // levels it is off by a temporary clearance, -2 or 2; else 0
	returns    bool   // it comes back to its entry level afterwards
	endsOff    bool   // it does not end there yet, and must
	restored   uint32 // bit l+levelShift: at level l, if it is restored once more before
}

const levelShift = 12 // levels outside the grid have a place too

// needCache keeps what was worked out.
type needCache [512]struct {
	of   posture
	need need
}

// of returns what aircraft i needs more than the clearances of t to be at a level at step k. One that may end off its
// level need not come back.
func (c *needCache) of(w *window, t *track, i, k int, mayEndOff bool) *need {
	p := &w.planes[i]
	v := posture{now: int8(t.levelAt(k)), entry: p.entry, returns: mayEndOff || k < p.back, endsOff: t.end != 0 && !mayEndOff}
	past := -1 // the last clearance that is over by then, having restored the entry level
	for n, o := range t.commands[:t.n] {
		switch until := w.restoredAt(o); {
		case until < 0:
		case until <= k:
			past = n
		case int(o.step) > k || o.clearance == flight.SpdDn || o.clearance == flight.SpdUp:
			v.returns = true
		case o.clearance == flight.FLDec2:
			v.macro, v.returns = -2, true
		case o.clearance == flight.FLInc2:
			v.macro, v.returns = 2, true
		}
	}
	// Restored once more, it is off by the steps up and down after that.
	level := int(p.entry) + int(v.macro) + levelShift
	v.restored = 1 << level
	for n := int(t.n) - 1; n > past; n-- {
		if o := t.commands[n]; int(o.step) <= k && o.clearance <= flight.FLInc {
			level += 2*int(o.clearance) - 1 // FL_DEC is 0, FL_INC 1
			v.restored |= 1 << level
		}
	}
	h := uint64(v.restored)<<32 | uint64(v.now)<<16 | uint64(v.entry)<<8 | uint64(v.macro+2)<<2
	if v.returns {
		h |= 1
	}
	if v.endsOff {
		h |= 2
	}
	h = mix(h)
	at := &c[h%uint64(len(c))]
	if at.of != v {
		at.of = v
		v.work(&at.need)
		at.need.id = h
	}
	return &at.need
}

// work works out the needs.
func (v posture) work(n *need) {
	n.most = 0
	for l := range n.all {
		back := 1 // what it takes to come back afterwards
		if v.returns || l == int(v.entry) {
			back = 0
		}
		before, all := never, never
		via := func(level, cost int) {
			d := abs(l-level) + cost
			before, all = min(before, d), min(all, d+back)
			if v.macro == 0 {
				d := 1 + min(abs(l-level-2), abs(l-level+2)) + cost
				before, all = min(before, d), min(all, d)
			}
		}
		via(int(v.now), 0)
		for r := v.restored; r != 0; r &= r - 1 {
			via(bits.TrailingZeros32(r)-levelShift, 1)
		}
		if v.endsOff {
			all = max(all, 1)
		}
		n.before[l], n.all[l] = int8(before), int8(all)
		n.most = max(n.most, int8(all))
	}
}

// least returns how many clearances more it takes at least to put the aircraft of the stack on levels, if so many may
// be given until that moment and so many pairs may stay too close; never or more if it cannot be done.
func (st *stack) least(needs *[maxStacked]need, slots, tooClose int) int {
	var p placing
	p.stack, p.needs, p.best = st, needs, never
	p.place(0, 0, slots, tooClose)
	return p.best
}

// placing puts the aircraft of a stack on levels, one after the other.
type placing struct {
	*stack
	needs  *[maxStacked]need
	levels [maxStacked]int8
	best   int
}

func (p *placing) place(a, all, slots, tooClose int) {
	if a == len(p.aircraft) {
		p.best = all
		return
	}
	n := &p.needs[a]
	// The cheap levels first, so that the dear ones need not be tried.
	for cost := int8(0); all+int(cost) < p.best; cost++ {
		if cost > n.most {
			return
		}
		for l := range n.all {
			if n.all[l] != cost || int(n.before[l]) > slots {
				continue
			}
			left := tooClose
			for m := p.hard[a] & (1<<a - 1); m != 0; m &= m - 1 {
				if d := p.levels[bits.TrailingZeros8(m)] - int8(l); d > -2 && d < 2 {
					left--
				}
			}
			if left < 0 {
				continue
			}
			p.levels[a] = int8(l)
			p.place(a+1, all+int(cost), slots-int(n.before[l]), left)
			if all+int(cost) >= p.best {
				return
			}
		}
	}
}

// leastCache keeps what was found of the stacks.
type leastCache [1 << 13]struct {
	key   uint64
	least int32
}

func abs(v int) int { return max(v, -v) }
