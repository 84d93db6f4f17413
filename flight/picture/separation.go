package picture

import (
	"math"

	"skyrail/flight"
	"skyrail/internal/elementary"
)

// loss is a pair of aircraft i < j that has lost separation. The rings of the two touch or overlap, as each
// has half the separation radius, and they are closer than the vertical separation.
type loss struct {
	i, j     int
	distance float64 // metres
	midAir   bool    // close enough to be one
}

// losses returns the pairs that have lost separation at this very moment, by the engine's rule: aircraft that
// have left the sector still count.
func losses(craft []craft) []loss {
	var lost []loss
	for i := range craft {
		for j := i + 1; j < len(craft); j++ {
			if l, ok := separation(craft[i].Aircraft, craft[j].Aircraft); ok {
				l.i, l.j = i, j
				lost = append(lost, l)
			}
		}
	}
	return lost
}

// separation reports whether a and b have lost separation: strictly closer than the vertical separation, and
// at most the separation radius apart. The distance is the engine's correctly rounded one, so that the
// picture and the counters never disagree.
func separation(a, b flight.Aircraft) (l loss, lost bool) {
	levels := math.Abs(a.Level - b.Level)
	l.distance = elementary.Hypot(b.X-a.X, b.Y-a.Y)
	l.midAir = levels < flight.LevelStep && l.distance <= flight.MidAirRadius
	return l, levels < flight.VerticalSeparation && l.distance <= flight.SeparationRadius
}

// inLoss reports whether aircraft i is one of a pair that has lost separation.
func (m *moment) inLoss(i int) bool {
	for _, l := range m.losses {
		if l.i == i || l.j == i {
			return true
		}
	}
	return false
}

// closest returns the smallest distance of a pair in loss, +Inf if there is none.
func (m *moment) closest() float64 {
	d := math.Inf(1)
	for _, l := range m.losses {
		d = min(d, l.distance)
	}
	return d
}
