package flight

import (
	"math"

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
	for _, p := range e.near {
		a, b := &e.flights[p.i], &e.flights[p.j]
		enter, exit, cpa, ok := encounter(a, b, horizon)
		if !ok {
			continue
		}
		c := Conflict{I: int(p.i), J: int(p.j), Enter: enter, Cpa: cpa, Duration: exit - enter, DAlt: math.Abs(a.level - b.level)}
		c.Distance = distanceAt(a, b, cpa)
		c.Severity = severity(c.Distance, c.DAlt)
		ax, ay := a.x+float64(a.vx*cpa), a.y+float64(a.vy*cpa)
		bx, by := b.x+float64(b.vx*cpa), b.y+float64(b.vy*cpa)
		c.Centre = [2]float64{0.5 * (ax + bx), 0.5 * (ay + by)}
		dst = append(dst, c)
	}
	return dst
}

// encounter returns when a and b are closer than the separation radius within the horizon, and when they
// are closest in that time; ok is false if they are never so close.
func encounter(a, b *aircraft, horizon float64) (enter, exit, cpa float64, ok bool) {
	rx, ry := b.x-a.x, b.y-a.y
	wx, wy := b.vx-a.vx, b.vy-a.vy
	qa := float64(wx*wx) + float64(wy*wy)
	qb := 2 * (float64(rx*wx) + float64(ry*wy))
	qc := float64(rx*rx) + float64(ry*ry) - SeparationRadius*SeparationRadius
	if qa < 1e-12 { // side by side at the same velocity
		return 0, horizon, 0, qc <= 0
	}
	if qb >= 0 && qc > 0 {
		return 0, 0, 0, false // apart and parting: both roots would be <= 0
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

// distanceAt returns the horizontal distance of a and b after t seconds.
func distanceAt(a, b *aircraft, t float64) float64 {
	return elementary.Hypot(
		(b.x-a.x)+float64((b.vx-a.vx)*t),
		(b.y-a.y)+float64((b.vy-a.vy)*t))
}

var severityOneLevel = elementary.Exp(-LevelStep / VerticalSeparation)

func severity(distance, dAlt float64) float64 {
	s := elementary.Exp(-distance / SeparationRadius)
	switch dAlt { // aircraft on the grid of levels are 0 or 12 apart when in conflict
	case 0:
		return s
	case LevelStep:
		return float64(s * severityOneLevel)
	}
	return float64(s * elementary.Exp(-dAlt/VerticalSeparation))
}

// pairUp notes which pairs are within the vertical separation. Levels change seldom, positions always.
func (e *Env) pairUp() {
	near, n := e.near[:cap(e.near)], 0
	for i := range e.flights {
		level := e.flights[i].level
		for j := i + 1; j < len(e.flights); j++ {
			near[n] = pair{int32(i), int32(j)}
			// Whether a pair is near is as good as random, so count instead of branching.
			n += int(bit(math.Abs(level-e.flights[j].level) < VerticalSeparation))
		}
	}
	e.near = near[:n]
}

// separate counts the pairs that have lost separation at this moment and looks for a mid-air.
//
// quirk: aircraft that have left the sector still count.
func (e *Env) separate() {
	e.congestion, e.collided = 0, false
	for _, p := range e.near {
		a, b := &e.flights[p.i], &e.flights[p.j]
		dx, dy := b.x-a.x, b.y-a.y
		if float64(dx*dx)+float64(dy*dy) > (SeparationRadius*SeparationRadius)*(1+squareSlack) {
			continue
		}
		if within(dx, dy, SeparationRadius) {
			e.congestion++
			if math.Abs(a.level-b.level) < LevelStep && within(dx, dy, MidAirRadius) {
				e.collided = true
			}
		}
	}
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
