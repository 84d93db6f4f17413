package agent

import "skyrail/flight"

// Random draws uniformly from the legal actions. Its stream is seeded by the first observation of the
// episode, so the same episode gets the same actions.
type Random struct {
	maskAt int // where the mask begins in an observation
	stream episodeStream
	legal  []int
}

// NewRandom returns a Random for environments of cfg.
func NewRandom(cfg flight.Config) *Random {
	return &Random{
		maskAt: cfg.ObservationLen() - cfg.Actions(),
		legal:  make([]int, 0, cfg.Actions()),
	}
}

// Reset makes the next observation seed the stream.
func (r *Random) Reset() { r.stream.seeded = false }

// Act draws once from the agent's stream: a choice among the legal indices in ascending order.
func (r *Random) Act(obs []float32) int {
	r.legal = LegalActions(r.legal[:0], obs[r.maskAt:])
	return r.legal[r.stream.of(0, obs).Choice(len(r.legal))]
}

// LegalActions appends the indices that are legal by the mask of an observation, ascending, to dst.
func LegalActions(dst []int, mask []float32) []int {
	for i, v := range mask {
		if v != 0 {
			dst = append(dst, i)
		}
	}
	return dst
}
