package planner

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"skyrail/flight"
)

const (
	unlimited     = maxSteps                          // clearances of a kind: there are no more
	maxClearances = 24                                // of a plan
	anyLevels     = flight.Levels * flight.MaxFlights // of a goal that does not mind how the aircraft end

	// missSlack is how much a plan may add to the exit miss: the ranking does not see so little.
	missSlack = 0.0025
)

// merit is what a plan is judged by, in the order of the official rank key: less is better.
type merit struct {
	midAir     int // 1 if there is one
	losses     int // of separation: pairs times steps
	offLevels  int // by how many levels the aircraft end off theirs, in all; one more for each that is late
	clearances int
	touched    int // aircraft with a clearance
}

func (m merit) compare(o merit) int {
	return cmp.Or(m.midAir-o.midAir, m.losses-o.losses, m.offLevels-o.offLevels, m.clearances-o.clearances, m.touched-o.touched)
}

// told is a clearance of a plan.
type told struct {
	order
	aircraft int8
}

// trouble is something that a plan has to change: aircraft i and j lose separation at a step or, with j < 0, i ends
// off its level.
type trouble struct{ i, j, step int8 }

// search looks for plans within a goal: with at most so many losses, and so on.
type search struct {
	draft
	goal  merit
	best  []told // the plan that was found, by step
	merit merit  // its merit

	floor  merit // no plan has fewer losses or, with these and nobody off its level, fewer clearances; but see sure
	sureOf merit // the last floor that is for sure
	known  bool  // there is one

	nodes    int             // candidate plans looked at
	budget   int             // how many may be
	limit    int             // how many may be in this search
	deadline time.Time       // if not zero, when to end
	done     <-chan struct{} // if closed, end at once
	expired  bool            // one of these has come
	cut      bool            // something was left out for the sake of the goal's clearances

	hash  uint64
	salt  uint64   // of this search
	seen  []uint64 // plans met in this search, by their hash; it may forget
	depth []depth
	beams [2][]sketch
	stage []branch // of a beam
	work  []track
}

// depth is what a search keeps of a clearance it tries.
type depth struct {
	track   track
	was     []uint64
	choices []choice
}

// choice is a clearance more and what then is left to do.
type choice struct {
	told
	more    int // clearances it needs more, at least
	trouble int // losses of separation
	like    uint64
}

func (c choice) compare(o choice) int { return cmp.Or(c.more-o.more, c.trouble-o.trouble) }

// open begins with the plan that does nothing, from the state of env.
func (s *search) open(env *flight.Env) {
	s.start(env)
	if len(s.work) != s.n {
		s.depth, s.work = make([]depth, maxClearances+1), make([]track, s.n)
		for i := range s.depth {
			s.depth[i].was = make([]uint64, s.n)
		}
	}
	if s.seen == nil {
		s.seen = make([]uint64, 1<<15)
	}
	clear(s.seen) // or what was met in another episode could be taken for this one's
	s.salt = 0
	s.merit, s.best = merit{midAir: 2}, s.best[:0]
}

// anew begins a search of its own.
func (s *search) anew(goal merit, limit int) {
	s.goal, s.limit, s.cut = goal, limit, false
	s.salt = mix(s.salt + 1)
	s.hash = 0
	s.clear()
}

// over reports whether the nodes, or the time, are used up.
func (s *search) over() bool { return s.nodes >= s.limit || s.expired }

// firstTrouble returns what to change first: the earliest loss of separation or, without one, an aircraft off its level at
// the end.
func (d *draft) firstTrouble() (tr trouble, ok bool) {
	if d.trouble > 0 {
		tr.step = maxSteps
		for i := range d.n {
			for j, steps := range d.lost[i*d.n : i*d.n+i] {
				if k := int8(bits.TrailingZeros64(steps)); k < tr.step {
					tr = trouble{int8(i), int8(j), k}
				}
			}
		}
		return tr, true
	}
	for i := range d.n {
		if d.endsOff(i) {
			return trouble{int8(i), -1, int8(d.window.steps - 1)}, true
		}
	}
	return tr, false
}

// descend looks for a plan within the goal by adding clearances and putting up with trouble, in every way there is.
// It returns false if there is no such plan, or the nodes are used up.
func (s *search) descend() bool {
	tr, ok := s.firstTrouble()
	if !ok {
		return s.keep()
	}
	if s.count < s.goal.clearances {
		l := &s.depth[s.count]
		s.choose(l, tr, unlimited)
		slices.SortStableFunc(l.choices, choice.compare)
		for _, c := range l.choices {
			if s.over() {
				return false
			}
			if s.met(s.hash^c.key()) || !s.try(l, c) {
				continue
			}
			return true
		}
	} else {
		s.cut = true
	}
	if s.over() || !s.bearable(tr) || s.met(s.hash^tr.key()) {
		return false
	}
	s.hash ^= tr.key()
	s.bear(tr, true)
	found := s.descend()
	s.bear(tr, false)
	s.hash ^= tr.key()
	return found
}

// try descends with a clearance more.
func (s *search) try(l *depth, c choice) bool {
	i := int(c.aircraft)
	t := s.tracks[i]
	s.with(&l.track, t, i, c.order)
	s.hash ^= c.key()
	s.put(i, &l.track, c.step, l.was)
	s.seeNeeds(i)
	found := s.descend()
	s.back(i, t, c.step, l.was)
	s.seeNeeds(i)
	s.hash ^= c.key()
	return found
}

// bearable reports whether the goal allows to put up with trouble.
func (s *search) bearable(tr trouble) bool {
	if tr.j < 0 {
		return s.offCount < s.goal.offLevels
	}
	i, j := int(tr.i), int(tr.j)
	return s.losses < s.goal.losses && !s.midAir(i, j, s.tracks[i], s.tracks[j], int(tr.step))
}

// keep takes the draft, which has no trouble left, as a plan. It returns false if what was put up with has become a
// mid-air, or the aircraft end too far from their plan.
func (s *search) keep() bool {
	m := s.judge()
	if m.midAir > 0 || m.offLevels > s.goal.offLevels {
		return false
	}
	s.take(m)
	return true
}

// judge returns the merit of the draft, whatever was put up with.
func (d *draft) judge() merit {
	m := merit{clearances: d.count, touched: bits.OnesCount64(d.touched)}
	late, lateOnes := 0.0, 0
	for i, t := range d.tracks {
		if more := t.late - d.planes[i].late; more > 0 {
			late += more
			lateOnes++
		}
		m.offLevels += abs(int(t.end))
		for j, o := range d.tracks[:i] {
			lost := d.window.losses(i, j, t, o)
			m.losses += bits.OnesCount64(lost)
			for ; lost != 0; lost &= lost - 1 {
				if d.midAir(i, j, t, o, bits.TrailingZeros64(lost)) {
					m.midAir = 1
				}
			}
		}
	}
	if late > d.slack() {
		m.offLevels += lateOnes
	}
	return m
}

// take notes the draft as the best plan, if it is.
func (s *search) take(m merit) {
	if m.compare(s.merit) >= 0 {
		return
	}
	s.merit, s.best = m, s.best[:0]
	for i, t := range s.tracks {
		for _, o := range t.commands[:t.n] {
			s.best = append(s.best, told{o, int8(i)})
		}
	}
	slices.SortFunc(s.best, func(a, b told) int { return int(a.step) - int(b.step) })
}

// choose lists the clearances that change where one of the aircraft in trouble is at that step, but for those that
// cannot lead to the goal. Of clearances of a kind that leave the same losses it lists so many, the latest.
func (s *search) choose(l *depth, tr trouble, alike int) {
	l.choices = l.choices[:0]
	s.chooseOf(l, int(tr.i), int(tr.step), alike)
	if tr.j >= 0 {
		s.chooseOf(l, int(tr.j), int(tr.step), alike)
	}
}

func (s *search) chooseOf(l *depth, i, step int, alike int) {
	t, p, h := s.tracks[i], &s.planes[i], s.cfg.HoldSteps
	if s.touched>>i&1 == 0 && bits.OnesCount64(s.touched) >= s.goal.touched {
		return
	}
	restorer := -1 // the last clearance that by then undoes what came before it
	for _, o := range t.commands[:t.n] {
		if r := s.restoredAt(o); r >= 0 && r <= step {
			restorer = int(o.step)
		}
	}
	offLevel := (s.full &^ t.at[p.entry]) << 1 // as a clearance at that step finds it
	if p.level != p.entry {
		offLevel |= 1
	}
	first := len(l.choices)
	for k := step; k >= p.free; k-- {
		if s.used>>k&1 != 0 {
			continue
		}
		off := offLevel>>k&1 != 0
		if k > restorer {
			s.consider(l, first, i, step, order{int8(k), flight.FLDec}, alike)
			s.consider(l, first, i, step, order{int8(k), flight.FLInc}, alike)
		}
		if k > step-h+1 || off && k+h-1 <= step {
			s.consider(l, first, i, step, order{int8(k), flight.FLDec2}, alike)
			s.consider(l, first, i, step, order{int8(k), flight.FLInc2}, alike)
		}
		if k > step-2*h+1 || off && k+2*h <= step {
			if p.slower>>k&1 != 0 {
				s.consider(l, first, i, step, order{int8(k), flight.SpdDn}, alike)
			}
			if p.faster>>k&1 != 0 {
				s.consider(l, first, i, step, order{int8(k), flight.SpdUp}, alike)
			}
		}
		if off {
			s.consider(l, first, i, step, order{int8(k), flight.Resume}, alike)
		}
	}
	s.seeNeeds(i)
}

// consider lists a clearance if it is legal, changes where the aircraft is at the step and may lead to the goal.
func (s *search) consider(l *depth, first, i, step int, o order, alike int) {
	t := s.tracks[i]
	if t.n == maxOrders {
		s.cut = true
		return
	}
	if !s.with(&l.track, t, i, o) || l.track.sameAt(t, step) || s.goal.offLevels < anyLevels && s.late(i, &l.track) {
		return
	}
	s.node()
	s.put(i, &l.track, o.step, l.was)
	c := choice{told: told{o, int8(i)}, trouble: s.trouble}
	losses := s.goal.losses - s.losses
	more := s.goal.clearances - s.count // that the goal allows
	c.more = s.cover(losses)
	if c.more <= more {
		s.seeNeeds(i)
		c.more = max(c.more, s.stacked(losses))
	}
	if c.more > more {
		s.cut = s.cut || c.more < never // else no number of clearances would do
	} else if alike == unlimited || s.another(&c, l.choices[first:], alike) {
		l.choices = append(l.choices, c)
	}
	s.back(i, t, o.step, l.was)
}

// late reports whether a track makes aircraft i too late or early for a plan that has nobody so.
func (d *draft) late(i int, t *track) bool { return t.late > d.planes[i].late+d.slack() }

// slack is how late or early a plan may make all aircraft together.
func (d *draft) slack() float64 { return float64(missSlack * float64(d.n)) }

// another reports whether fewer than so many clearances of that kind among the choices leave the same losses as c,
// which the draft has.
func (s *search) another(c *choice, choices []choice, alike int) bool {
	i := int(c.aircraft)
	c.like = uint64(c.clearance) + 1
	for _, steps := range s.lost[i*s.n : (i+1)*s.n] {
		c.like = mix(c.like ^ steps)
	}
	for n := range choices {
		if choices[n].like == c.like {
			alike--
		}
	}
	return alike > 0
}

// node counts a candidate plan, and looks now and then whether it is time to end.
func (s *search) node() {
	if s.nodes++; s.nodes%256 != 0 {
		return
	}
	select {
	case <-s.done:
		s.expired = true
	default:
		s.expired = s.expired || !s.deadline.IsZero() && time.Now().After(s.deadline)
	}
}

// met reports whether a plan was met in this search, and notes it.
func (s *search) met(hash uint64) bool {
	hash ^= s.salt
	at := &s.seen[hash%uint64(len(s.seen))]
	if *at == hash {
		return true
	}
	*at = hash
	return false
}

// key is the hash of a clearance within a plan.
func (t told) key() uint64 {
	return mix(uint64(t.aircraft)<<16 | uint64(t.step)<<8 | uint64(t.clearance) + 1)
}

// key is the hash of trouble that is put up with.
func (tr trouble) key() uint64 {
	return mix(uint64(tr.i+1)<<40 | uint64(tr.j+1)<<32 | uint64(tr.step)<<24)
}

func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	return x ^ x>>32
}
