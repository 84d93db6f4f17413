package flight

import (
	"math"
	"math/bits"

	"skyrail/internal/elementary"
)

// Conflict is a predicted loss of separation of the aircraft I < J, flying on as they do now. Times are
// seconds from now.
type Conflict struct {
	I, J     int
	Enter    float64    // t_enter: when their distance falls below the separation radius
	Cpa      float64    // t_cpa: when they are closest while in conflict and within the horizon
	Duration float64    // from Enter until they part or the horizon is reached
	Distance float64    // d_cpa: metres, at Cpa
	DAlt     float64    // altitude units between them, never negative
	Severity float64    // exp(-Distance/R) * exp(-DAlt/24)
	Centre   [2]float64 // their midpoint at Cpa
}

// Conflicts appends the conflicts predicted within the rest of the episode to dst, in the order of pairs
// (0,1), (0,2), …, and returns it. There are none at or after the last step.
func (e *Env) Conflicts(dst []Conflict) []Conflict {
	horizon := e.cfg.horizon(e.step)
	if horizon == 0 {
		return dst
	}
	for w, near := range e.near {
		for ; near != 0; near &= near - 1 {
			p := e.pairs[64*w+bits.TrailingZeros64(near)]
			a, b := &e.flights[p.i], &e.flights[p.j]
			r := seenFrom(a, b)
			enter, exit, cpa, ok := r.encounter(horizon)
			if !ok {
				continue
			}
			c := Conflict{I: int(p.i), J: int(p.j), Enter: enter, Cpa: cpa, Duration: exit - enter}
			c.Distance, c.DAlt = r.distanceAt(cpa), math.Abs(a.level-b.level)
			c.Severity = severity(c.Distance, c.DAlt)
			ax, ay := a.x+float64(a.vx*cpa), a.y+float64(a.vy*cpa)
			bx, by := b.x+float64(b.vx*cpa), b.y+float64(b.vy*cpa)
			c.Centre = [2]float64{0.5 * (ax + bx), 0.5 * (ay + by)}
			dst = append(dst, c)
		}
	}
	return dst
}

// relative is where an aircraft is and how it flies, as seen from another one: metres and m/s.
type relative struct{ x, y, vx, vy float64 }

// seenFrom returns b as a sees it.
func seenFrom(a, b *aircraft) relative {
	return relative{b.x - a.x, b.y - a.y, b.vx - a.vx, b.vy - a.vy}
}

// encounter returns when the two are closer than the separation radius within the horizon, and when they
// are closest in that time; ok is false if they are never so close.
func (r relative) encounter(horizon float64) (enter, exit, cpa float64, ok bool) {
	qb := 2 * (float64(r.x*r.vx) + float64(r.y*r.vy))
	qc := float64(r.x*r.x) + float64(r.y*r.y) - SeparationRadius*SeparationRadius
	if qb >= 0 && qc > 0 {
		return 0, 0, 0, false // apart and not closing in: both roots would be <= 0
	}
	qa := float64(r.vx*r.vx) + float64(r.vy*r.vy)
	if qa < 1e-12 { // side by side at the same velocity
		return 0, horizon, 0, qc <= 0
	}
	disc := float64(qb*qb) - float64(4*qa*qc)
	if disc <= 0 {
		return 0, 0, 0, false
	}
	root := math.Sqrt(disc)
	enter, exit, cpa = (-qb-root)/(2*qa), (-qb+root)/(2*qa), -qb/(2*qa)
	// The limits seldom act; a branch is cheaper than min and max, which mind NaN and the sign of zero.
	if enter < 0 {
		enter = 0
	}
	if exit > horizon {
		exit = horizon
	}
	if exit <= enter {
		return 0, 0, 0, false
	}
	if cpa < enter {
		cpa = enter
	}
	if cpa > exit {
		cpa = exit
	}
	return enter, exit, cpa, true
}

// closest returns when the two are closest in the time in which they are too close, as encounter does.
func (r relative) closest(horizon float64) (cpa float64, ok bool) {
	qb := 2 * (float64(r.x*r.vx) + float64(r.y*r.vy))
	qc := float64(r.x*r.x) + float64(r.y*r.y) - SeparationRadius*SeparationRadius
	if qb >= 0 && qc > 0 {
		return 0, false
	}
	qa := float64(r.vx*r.vx) + float64(r.vy*r.vy)
	disc := float64(qb*qb) - float64(4*qa*qc)
	if disc <= 0 && qa >= 1e-12 {
		return 0, false
	}
	// Mostly the closest moment lies within, between two moments that are surely not the same one. Then those need not be
	// known: rounding keeps the three in order.
	cpa = -qb / (2 * qa)
	if qa >= 1e-12 && cpa > 0 && cpa < horizon && disc > float64(0x1p-80*float64(qb*qb)) {
		return cpa, true
	}
	_, _, cpa, ok = r.encounter(horizon)
	return cpa, ok
}

// distanceAt returns the horizontal distance after t seconds.
func (r relative) distanceAt(t float64) float64 {
	return elementary.Hypot(r.x+float64(r.vx*t), r.y+float64(r.vy*t))
}

// severityOfLevels is the vertical part of the severity for aircraft on one level, and one apart.
var severityOfLevels = [2]float64{1, elementary.Exp(-LevelStep / VerticalSeparation)}

func severity(distance, dAlt float64) float64 {
	s := elementary.Exp(-distance / SeparationRadius)
	if same, one := bit(dAlt == 0), bit(dAlt == LevelStep); same|one != 0 { // those on the grid of levels, when in conflict
		return float64(s * severityOfLevels[one])
	}
	return float64(s * elementary.Exp(-dAlt/VerticalSeparation))
}

// pairs returns the pairs of n aircraft in order: (0,1), (0,2), …
func pairs(n int) []pair {
	all := make([]pair, 0, n*(n-1)/2)
	for i := range n {
		for j := i + 1; j < n; j++ {
			all = append(all, pair{uint8(i), uint8(j)})
		}
	}
	return all
}

// newNear has a bit for each pair of n aircraft.
func newNear(n int) []uint64 { return make([]uint64, (n*(n-1)/2+63)/64) }

// pairUp notes which pairs are within the vertical separation. Levels change seldom, positions always.
func (e *Env) pairUp() {
	for k := range e.flights {
		e.pairUpWith(k)
	}
}

// pairUpWith notes with whom aircraft k is within the vertical separation.
func (e *Env) pairUpWith(k int) {
	flights := e.flights
	level := flights[k].level
	at := k - 1 // the place of pair (0, k) in e.pairs
	for j := range flights[:k] {
		e.setNear(uint(at), level-flights[j].level)
		at += len(flights) - j - 2
	}
	for j := range flights[k+1:] {
		at++
		e.setNear(uint(at), level-flights[k+1+j].level)
	}
}

// setNear notes whether the pair at this place is within the vertical separation: whether its levels differ by less.
func (e *Env) setNear(place uint, difference float64) {
	// That is as good as random, so compute instead of branching.
	near := bit(difference < VerticalSeparation) & bit(difference > -VerticalSeparation)
	word := &e.near[place/64]
	*word = *word&^(1<<(place%64)) | uint64(near)<<(place%64)
}

// separate counts the pairs that have lost separation at this moment and looks for a mid-air.
//
// quirk: aircraft that have left the sector still count.
func (e *Env) separate() {
	e.congestion, e.collided = 0, false
	flights := e.flights
	for w, near := range e.near {
		if len(e.near) == 1 {
			near &= e.closeBy()
		}
		for ; near != 0; near &= near - 1 {
			p := e.pairs[64*w+bits.TrailingZeros64(near)]
			a, b := &flights[p.i], &flights[p.j]
			dx, dy := b.x-a.x, b.y-a.y
			if within(dx, dy, SeparationRadius) {
				e.congestion++
				if math.Abs(a.level-b.level) < LevelStep && within(dx, dy, MidAirRadius) {
					e.collided = true
				}
			}
		}
	}
}

// closeBy has a bit for each pair whose distance may be within the separation radius, of 64 pairs at most. So few are all
// looked at, since that takes no branches; which are near and close is as good as random.
func (e *Env) closeBy() (pairs uint64) {
	place := 0
	for rest := e.flights; len(rest) > 1; rest = rest[1:] {
		a, others := &rest[0], rest[1:]
		for j := range others {
			b := &others[j]
			dx, dy := b.x-a.x, b.y-a.y
			closeBy := bit(float64(dx*dx)+float64(dy*dy) <= (SeparationRadius*SeparationRadius)*(1+squareSlack))
			pairs |= uint64(closeBy) << (place & 63)
			place++
		}
	}
	return pairs
}

// squareSlack is many times the relative rounding error of a squared distance: outside this margin the
// square decides, inside it the correctly rounded distance does.
const squareSlack = 1e-12

// within reports whether the distance (dx, dy) is at most radius.
func within(dx, dy, radius float64) bool {
	square := float64(dx*dx) + float64(dy*dy)
	if square > radius*radius*(1+squareSlack) {
		return false
	}
	return square < radius*radius*(1-squareSlack) || elementary.Hypot(dx, dy) <= radius
}

// Separation returns, of this very moment, the number of pairs closer than the separation radius and level
// separation, and whether a pair is in a mid-air. After a step these are the figures of that step.
func (e *Env) Separation() (congestion int, midAir bool) {
	was, hit := e.congestion, e.collided
	e.separate()
	congestion, midAir = e.congestion, e.collided
	e.congestion, e.collided = was, hit
	return congestion, midAir
}
