package planner

import (
	"cmp"
	"slices"
)

// sketch is a plan that a beam keeps: what it tells, and what it puts up with.
type sketch struct {
	told    [maxClearances]told
	borne   [maxBorne]trouble
	n, bore int8
	hash    uint64
}

// maxBorne is how much trouble a plan of a beam puts up with at most.
const maxBorne = 16

// branch is one clearance more, or one trouble more that is put up with, than a sketch of the stage before.
type branch struct {
	from    int32 // that sketch
	bear    bool
	told    told
	borne   trouble
	needs   int32 // clearances in all, at least, and what trouble that is put up with counts
	trouble int32
	hash    uint64
}

// load makes the draft the plan of a sketch.
func (s *search) load(b *sketch) {
	s.draw(b.told[:b.n])
	for _, tr := range b.borne[:b.bore] {
		s.bear(tr, true)
	}
	s.hash = b.hash
}

// draw makes the draft the plan of these clearances, in any order. It returns false if one of them is not legal,
// or they are too many for one aircraft.
func (s *search) draw(plan []told) bool {
	for i := range s.work {
		s.work[i].n = 0
	}
	for _, c := range plan {
		t := &s.work[c.aircraft]
		if t.n == maxOrders {
			return false
		}
		k := t.n
		for ; k > 0 && t.commands[k-1].step > c.step; k-- {
			t.commands[k] = t.commands[k-1]
		}
		t.commands[k] = c.order
		t.n++
	}
	for i := range s.work {
		s.tracks[i] = &s.alone[i]
		if s.work[i].n > 0 {
			s.tracks[i] = &s.work[i]
			if !s.fly(&s.work[i], i) {
				return false
			}
		}
	}
	s.begin()
	return true
}

// beam looks for a plan within the goal, keeping so many plans of each length, the most promising. It returns false if
// it finds none. Trouble that is put up with counts as so many clearances: neither none nor one is always the best guide.
func (s *search) beam(width, alike int, dear int32) bool {
	cur, next := append(s.beams[0][:0], sketch{}), s.beams[1][:0]
	defer func() { s.beams = [2][]sketch{cur, next} }()
	l := &s.depth[0]
	for len(cur) > 0 {
		s.stage = s.stage[:0]
		for b := range cur {
			if s.over() {
				return false
			}
			from := &cur[b]
			s.load(from)
			tr, ok := s.firstTrouble()
			if !ok {
				if s.keep() {
					return true
				}
				continue
			}
			if from.bore < maxBorne && s.bearable(tr) && !s.met(s.hash^tr.key()) {
				s.bear(tr, true)
				br := branch{from: int32(b), bear: true, borne: tr, hash: s.hash ^ tr.key()}
				br.needs = int32(s.count+s.more(s.goal.losses-s.losses)) + dear*int32(from.bore+1)
				br.trouble = int32(s.trouble)
				s.stage = append(s.stage, br)
				s.bear(tr, false)
			}
			if s.count >= s.goal.clearances {
				continue
			}
			s.choose(l, tr, alike)
			for _, c := range l.choices {
				if h := s.hash ^ c.key(); !s.met(h) {
					s.stage = append(s.stage, branch{from: int32(b), told: c.told,
						needs: int32(s.count+1+c.more) + dear*int32(from.bore), trouble: int32(c.trouble), hash: h})
				}
			}
		}
		slices.SortStableFunc(s.stage, func(a, b branch) int {
			return cmp.Or(cmp.Compare(a.needs, b.needs), cmp.Compare(a.trouble, b.trouble))
		})
		next = next[:0]
		for _, br := range s.stage[:min(len(s.stage), width)] {
			n := cur[br.from]
			n.hash = br.hash
			if br.bear {
				n.borne[n.bore] = br.borne
				n.bore++
			} else {
				n.told[n.n] = br.told
				n.n++
			}
			next = append(next, n)
		}
		if len(next) > 0 { // it may be better than what there is, whatever trouble it has left
			s.load(&next[0])
			s.take(s.judge())
		}
		cur, next = next, cur
	}
	return false
}
