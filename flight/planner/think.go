package planner

import (
	"math/bits"
	"slices"

	"skyrail/flight"
)

// think looks for the best plan from the state of env, with so many nodes: it is left in best, its merit in merit. floor
// is then what no plan can do better than.
//
// Beams find plans, from the fewest losses up and with more and more plans kept; in between, complete searches from the
// floor up find the best one or raise the floor.
func (s *search) think(env *flight.Env, nodes int) {
	s.open(env)
	s.nodes, s.budget = 0, nodes
	s.limit = nodes
	s.take(s.judge())
	s.findFloor()
	s.first()
	for width := narrow; !s.over() && !s.proven() && width <= 1<<13; width *= 2 {
		s.improve(width)
		if width == 4*narrow {
			s.prove()
			s.limit = s.budget
		}
	}
	s.touchFewer()
	s.hurry()
}

// proven reports whether no plan has a better merit, but for the aircraft touched.
func (s *search) proven() bool {
	m, f := s.merit, s.floor
	return m.midAir == 0 && m.losses == f.losses && m.offLevels == 0 && m.clearances == f.clearances
}

// findFloor works out a first floor from the stacks, and from the losses of aircraft left alone.
func (s *search) findFloor() {
	s.floor = merit{}
	for k := range s.window.steps {
		st := s.stackAt(k, false)
		if len(st.aircraft) < 2 {
			continue
		}
		needs := s.needsAlone(&st)
		for losses := 0; st.least(needs, k+1, losses) >= never; losses++ {
			s.floor.losses++
		}
	}
	s.known = false
	s.raise(s.floor.losses, 0)
}

// raise sets the floor: so many losses, and at least so many clearances.
func (s *search) raise(losses, clearances int) {
	s.floor.losses = losses
	if s.clear(); s.more(losses) < never {
		clearances = max(clearances, s.more(losses))
	}
	s.floor.clearances = clearances
	if s.sure {
		s.sureOf, s.known = s.floor, true
	}
}

// goalOf is a goal without a limit of clearances or aircraft but that of the episode.
func (s *search) goalOf(losses, offLevels int) merit {
	most := min(maxClearances, s.cfg.MaxClearances-s.before.Clearances-1)
	return merit{losses: losses, offLevels: offLevels, clearances: max(most, 0), touched: s.n}
}

// narrow is the width of the first beams.
const narrow = 8

// first finds a plan to begin with, by narrow beams: with hardly more losses than there must be, or more and more.
func (s *search) first() {
	for more := 0; ; more = max(2*more, 1) {
		losses := min(s.floor.losses+more, maxBorne)
		if s.merit.midAir == 0 && losses >= s.merit.losses {
			return
		}
		for _, offLevels := range []int{0, anyLevels} {
			s.anew(s.goalOf(losses, offLevels), s.budget)
			if s.over() || s.beam(narrow, 1, 1) {
				s.bringBack()
				return
			}
		}
		if losses == maxBorne {
			return
		}
	}
}

// bringBack adds clearances to the plan for aircraft that end off their level, where that loses no separation.
func (s *search) bringBack() {
	for s.merit.offLevels > 0 {
		if s.addOne() {
			continue
		}
		s.anew(s.goalOf(s.merit.losses, s.merit.offLevels-1), s.budget)
		s.draw(s.best)
		for s.trouble > 0 {
			tr, _ := s.firstTrouble()
			s.bear(tr, true)
		}
		if s.over() || !s.descend() {
			return
		}
	}
}

// addOne adds the clearance to the plan, for an aircraft off its level, that betters it most. It returns false if none
// does.
func (s *search) addOne() bool {
	if len(s.best) >= s.goalOf(0, 0).clearances {
		return false
	}
	s.draw(s.best)
	was, used, off := s.merit, s.used, uint64(0)
	for i, t := range s.tracks {
		if t.end != 0 {
			off |= 1 << i
		}
	}
	plan := append(slices.Clone(s.best), told{})
	for ; off != 0; off &= off - 1 {
		i := bits.TrailingZeros64(off)
		for k := s.planes[i].free; k < s.window.steps && !s.over(); k++ {
			if used>>k&1 != 0 {
				continue
			}
			for c := range flight.Clearance(flight.Clearances) {
				plan[len(plan)-1] = told{order{int8(k), c}, int8(i)}
				if s.draw(plan) {
					s.node()
					s.take(s.judge())
				}
			}
		}
	}
	return s.merit != was
}

// improve betters the plan by beams of a width, in the order of what counts.
func (s *search) improve(width int) {
	dear := int32(0)
	if bits.TrailingZeros(uint(width))%2 != 0 {
		dear = 1
	}
	alike := 1
	if width > 64 {
		alike = 2 // beams this wide have room for more of the same
	}
	again := func(goal merit) bool {
		s.anew(goal, s.budget)
		found := !s.over() && s.beam(width, alike, dear)
		s.bringBack()
		return found
	}
	for losses := s.floor.losses; losses < s.merit.losses; {
		again(s.goalOf(losses, anyLevels))
		losses = max(losses+1, (losses+s.merit.losses)/2) // it is seldom as few as the floor
	}
	for s.merit.offLevels > 0 && again(s.goalOf(s.merit.losses, s.merit.offLevels-1)) {
	}
	for {
		goal := s.goalOf(s.merit.losses, s.merit.offLevels)
		goal.clearances = s.merit.clearances - 1
		if s.proven() || goal.clearances < 0 || !again(goal) {
			return
		}
	}
}

// prove searches for a better plan in every way there is, with half of the nodes left for it. It raises the floor with
// what it finds impossible.
func (s *search) prove() {
	limit := s.nodes + (s.budget-s.nodes)/2
	for s.floor.losses < s.merit.losses {
		s.anew(s.goalOf(s.floor.losses, anyLevels), limit)
		if s.descend() {
			break
		}
		if s.over() || s.cut || s.anySlow {
			return // or it could be done with a slow one out of time
		}
		s.raise(s.floor.losses+1, 0)
	}
	for s.merit.losses == s.floor.losses && s.merit.offLevels == 0 && s.floor.clearances < s.merit.clearances {
		goal := s.goalOf(s.floor.losses, 0)
		goal.clearances = s.floor.clearances
		s.anew(goal, limit)
		if s.descend() || s.over() {
			return
		}
		s.raise(s.floor.losses, s.floor.clearances+1)
	}
}

// touchFewer looks for a plan that is as good and touches fewer aircraft.
func (s *search) touchFewer() {
	limit := s.nodes + (s.budget-s.nodes)/2
	s.clear()
	for fewest := s.cover(s.merit.losses); s.merit.midAir == 0 && s.merit.touched > fewest; {
		goal := s.merit
		goal.touched--
		s.anew(goal, limit)
		if s.over() || !s.descend() {
			return
		}
	}
}

// hurry gives the clearances of the plan as early as they do as much good: if another action is flown in the place of
// one, there is time left for another. It takes the nodes it needs.
func (s *search) hurry() {
	for n := range s.best {
		c := &s.best[n]
		for was, k := c.step, int8(0); k < was && !s.expired; k++ {
			s.node()
			if slices.ContainsFunc(s.best, func(o told) bool { return o.step == k }) {
				continue
			}
			c.step = k
			if s.draw(s.best) && s.judge() == s.merit {
				break
			}
			c.step = was
		}
	}
	slices.SortFunc(s.best, func(a, b told) int { return int(a.step) - int(b.step) })
}
