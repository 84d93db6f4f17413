package picture

import (
	"math"

	"skyrail/internal/elementary"
)

// place returns where the centres of the labels go. was holds, as offsets from the aircraft, where they were
// in the moment before; nil if there was none. Labels take turns in choosing the cheapest of their places given
// all others, until none wants to move. Ties go to the earlier place, so that the same labels always land at the
// same places.
func place(labels []label, around surroundings, was []xy) []xy {
	places := make([][]spot, len(labels))
	choice := make([]int, len(labels))
	for i := range labels {
		places[i] = labels[i].spots(around)
		if was != nil {
			for k := range places[i] {
				move := places[i][k].at.minus(labels[i].anchor).minus(was[i])
				places[i][k].cost += min(float64(costMove*move.length()), costMoveMost)
			}
		}
		choice[i] = -1
	}
	passes := 6
	if len(labels) > rowLabels {
		passes = 3
	}
	for moved := true; moved && passes > 0; passes-- {
		moved = false
		for i := range labels {
			best, least := choice[i], math.Inf(1)
			for k := range places[i] {
				cost := places[i][k].cost
				for j := 0; j < len(labels) && cost < least; j++ {
					if j != i && choice[j] >= 0 {
						cost += places[i][k].conflict(&places[j][choice[j]])
					}
				}
				if cost < least {
					best, least = k, cost
				}
			}
			moved = moved || best != choice[i]
			choice[i] = best
		}
	}
	centres := make([]xy, len(labels))
	for i := range labels {
		centres[i] = places[i][choice[i]].at
	}
	return centres
}

// surroundings is what labels should not hide.
type surroundings struct {
	bounds box   // labels stay inside
	boxes  []box // other text
	discs  []disc
	lines  []segment
}

type disc struct {
	centre xy
	r      float64
}

type segment struct {
	a, b xy
	cost float64 // of hiding it
}

// The prices of a place of a label. The unit is a point of distance from its aircraft, more or less. Legibility
// comes first, then that the picture is not hidden, then that a label is near its aircraft and does not jump
// between moments.
const (
	costOutside  = 20_000
	costOverlap  = 2_000 // with a label or other text
	costDisc     = 300   // an aircraft hidden
	costCross    = 150   // a leader through a label, other text or another leader
	costPass     = 60    // a leader through an aircraft
	costDistance = 1.5   // a point from the aircraft
	costMove     = 0.5   // a point of movement relative to the aircraft
	costMoveMost = 45
)

// compass is the directions a label may have from its aircraft, standoffs the distances, in points.
var (
	compass = func() (ways [16]xy) {
		for i := range ways {
			sin, cos := elementary.SinCos(float64(i) * (2 * math.Pi / 16))
			ways[i] = xy{cos, sin}
		}
		return ways
	}()
	standoffs = [...]float64{3, 12, 24, 40, 60, 85}
)

// spot is a place that a label can have.
type spot struct {
	at       xy // its centre
	area     box
	from, to xy // its leader, up to what is the aircraft's
	leads    bool
	cost     float64 // without regard to other labels
}

// spots returns the places that a label can have.
func (l *label) spots(around surroundings) []spot {
	spots := make([]spot, 0, len(standoffs)*len(compass))
	for _, standoff := range standoffs {
		for _, way := range compass {
			// From the edge of the label to its centre, in this direction.
			reach := min(l.w/2/max(math.Abs(way.x), 1e-9), l.h/2/max(math.Abs(way.y), 1e-9))
			s := spot{at: l.anchor.toward(way, l.clear+standoff+reach)}
			s.area = boxAt(s.at, l.w, l.h)
			s.from, s.to, s.leads = l.leaderLine(s.at, l.clear)
			s.cost = float64(costDistance*standoff) + s.hides(l.anchor, around)
			spots = append(spots, s)
		}
	}
	return spots
}

// hides returns what it costs that the label and its leader cover their surroundings.
func (s *spot) hides(anchor xy, around surroundings) (cost float64) {
	whole := float64(s.area.width() * s.area.height())
	if in := s.area.overlap(around.bounds); in < whole-1e-6 {
		cost += costOutside + whole - in
	}
	for _, b := range around.boxes {
		if s.area.overlap(b) > 0 {
			cost += costOverlap
		}
		if s.leads && b.crossed(s.from, s.to) {
			cost += costCross
		}
	}
	for _, d := range around.discs {
		if s.area.nearest(d.centre).minus(d.centre).length() < d.r {
			cost += costDisc
		}
		square := boxAt(d.centre, 2*d.r, 2*d.r)
		if s.leads && !square.holds(anchor) && square.crossed(s.from, s.to) {
			cost += costPass
		}
	}
	for _, line := range around.lines {
		if s.area.crossed(line.a, line.b) {
			cost += line.cost
		}
	}
	return cost
}

// conflict returns what two labels cost together.
func (s *spot) conflict(o *spot) (cost float64) {
	const air = 1.5 // points between labels
	if shared := s.area.grow(air).overlap(o.area); shared > 0 {
		cost += costOverlap + shared
	}
	if s.leads && o.area.crossed(s.from, s.to) {
		cost += costCross
	}
	if o.leads && s.area.crossed(o.from, o.to) {
		cost += costCross
	}
	if s.leads && o.leads && cross(s.from, s.to, o.from, o.to) {
		cost += costCross
	}
	return cost
}

// cross reports whether the lines from a to b and from c to d cross.
func cross(a, b, c, d xy) bool {
	side := func(p, q, r xy) bool {
		u, v := q.minus(p), r.minus(p)
		return float64(u.x*v.y) > float64(u.y*v.x)
	}
	return side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b)
}
