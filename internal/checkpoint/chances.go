package checkpoint

import (
	"slices"

	"skyrail/flight"
	"skyrail/internal/elementary"
)

// illegal is the logit of what the mask forbids: finite, so that no NaN comes of it, and far below any other.
const illegal = -1e8

// chances are probabilities of the actions, not yet made to add up to 1. What ranks them has float32 precision, so
// that what ties in Stable-Baselines3 ties here.
type chances struct{ p []float64 }

// best returns the most probable action, the first on ties; flight.Idle if the network overflowed.
func (c *chances) best() int {
	if !finite(c.p) {
		return flight.Idle
	}
	return first(c.p)
}

// write copies the chances, scaled to add up to 1; that keeps their order and their ties. If the network overflowed,
// all is on flight.Idle.
func (c *chances) write(p []float64) {
	if !finite(c.p) {
		clear(p)
		p[flight.Idle] = 1
		return
	}
	var sum float64
	for _, v := range c.p {
		sum += v
	}
	for i, v := range c.p {
		p[i] = v / sum
	}
}

// first returns the index of the largest value, the first on ties.
func first(values []float64) int {
	best := 0
	for i, v := range values {
		if v > values[best] {
			best = i
		}
	}
	return best
}

func finite(values []float64) bool {
	for _, v := range values {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// logSoftmax makes logarithms of probabilities of logits, rounded to float32.
func logSoftmax(logits []float64) {
	top := slices.Max(logits)
	var sum float64
	for _, l := range logits {
		sum += elementary.Exp(l - top)
	}
	norm := log(sum)
	for i, l := range logits {
		logits[i] = round((l - top) - norm)
	}
}
