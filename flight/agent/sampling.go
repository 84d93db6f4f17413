package agent

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"skyrail/flight"
	"skyrail/numpyrand"
)

// Sampled flies a Distribution by drawing each action by its probability. Its stream is seeded by the first
// observation of the episode and the number of the rollout, so that the same rollout of the same episode
// gets the same actions, and different rollouts different ones.
type Sampled struct {
	d       Distribution
	rollout uint64
	stream  episodeStream
	p       []float64
}

// NewSampled returns d sampled, for environments of cfg.
func NewSampled(d Distribution, cfg flight.Config, rollout uint64) *Sampled {
	return &Sampled{d: d, rollout: rollout, p: make([]float64, cfg.Actions())}
}

// Reset makes the next observation seed the stream.
func (s *Sampled) Reset() {
	s.d.Reset()
	s.stream.seeded = false
}

// Act draws once from the agent's stream. An action of probability 0 is never drawn.
func (s *Sampled) Act(obs []float32) int {
	stream := s.stream.of(1+s.rollout, obs)
	s.d.Probabilities(obs, s.p)
	left, last := stream.Random(), flight.Idle
	for i, p := range s.p {
		if p <= 0 {
			continue
		}
		if last = i; left < p {
			break
		}
		left -= p
	}
	return last
}

// NextBest flies a Distribution by its second most probable action, among those that are possible at all;
// where there is but one, by that.
type NextBest struct {
	d Distribution
	p []float64
}

// NewNextBest returns d flown by its second choice, for environments of cfg.
func NewNextBest(d Distribution, cfg flight.Config) *NextBest {
	return &NextBest{d, make([]float64, cfg.Actions())}
}

// Reset tells the agent.
func (n *NextBest) Reset() { n.d.Reset() }

// Act returns the second choice; on ties the first index ranks before the later.
func (n *NextBest) Act(obs []float32) int {
	n.d.Probabilities(obs, n.p)
	best, second := -1, -1
	for i, p := range n.p {
		switch {
		case p <= 0:
		case best < 0 || p > n.p[best]:
			best, second = i, best
		case second < 0 || p > n.p[second]:
			second = i
		}
	}
	if second < 0 {
		return max(best, flight.Idle)
	}
	return second
}

// episodeStream is a random stream that the first observation of an episode seeds.
type episodeStream struct {
	stream numpyrand.Generator
	seeded bool
	bytes  []byte
}

// of returns the stream, seeded with SeedSequence([tag, CRC-32 of the observation]) if it is not yet. The
// checksum is the IEEE one of the observation's little-endian bytes.
func (s *episodeStream) of(tag uint64, obs []float32) *numpyrand.Generator {
	if !s.seeded {
		s.bytes = s.bytes[:0]
		for _, v := range obs {
			s.bytes = binary.LittleEndian.AppendUint32(s.bytes, math.Float32bits(v))
		}
		seq := numpyrand.SeedSequenceOf(tag, uint64(crc32.ChecksumIEEE(s.bytes)))
		s.stream, s.seeded = numpyrand.New(&seq), true
	}
	return &s.stream
}
