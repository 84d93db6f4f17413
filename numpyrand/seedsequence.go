package numpyrand

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
)

// SeedSequence turns entropy of any size into well mixed words for a bit generator, as numpy.random.SeedSequence
// does for an integer or a list of integers (no spawn key). It is a comparable value; the zero value is no sequence.
//
// The method is Melissa O'Neill's seed_seq_fe in NumPy's variant: a pool of four words in which every entropy word
// reaches every pool word, read out as often as needed.
type SeedSequence struct {
	pool [poolSize]uint32
}

// NumPy's default pool and the constants of its two hashes (in and out) and of its mixing step.
const (
	poolSize = 4

	hashInKey, hashInMult   = 0x43b0d7e5, 0x931e8875
	hashOutKey, hashOutMult = 0x8b51f9dd, 0x58f38ded
	mixKept, mixAdded       = 0xca01f9dd, 0x4973f715
)

// NewSeedSequence is numpy.random.SeedSequence(entropy), for one integer or a list of them: each integer of a list
// counts with its own 32-bit words, least significant first, and zero is one word. So [0] and [0, 0, 0, 0] are the
// same sequence, as in NumPy, where missing words read as zero.
//
// No entropy, nil and negative integers are errors.
func NewSeedSequence(entropy ...*big.Int) (*SeedSequence, error) {
	if len(entropy) == 0 {
		return nil, errors.New("seed sequence without entropy: give at least one integer")
	}
	m := newMixer()
	for i, e := range entropy {
		if e == nil {
			return nil, fmt.Errorf("seed sequence entropy %d of %d is nil", i+1, len(entropy))
		}
		if e.Sign() < 0 {
			return nil, fmt.Errorf("seed sequence entropy %d of %d is negative: %v", i+1, len(entropy), e)
		}
		words := max(1, (e.BitLen()+31)/32)
		b := e.FillBytes(make([]byte, 4*words)) // big-endian, so the words are read from its end
		for end := len(b); end > 0; end -= 4 {
			m.add(binary.BigEndian.Uint32(b[end-4:]))
		}
	}
	return &SeedSequence{m.finish()}, nil
}

// SeedSequenceOf is NewSeedSequence for integers that fit a uint64. It does not allocate. A call without entropy
// is a programming error and panics.
func SeedSequenceOf(entropy ...uint64) SeedSequence {
	if len(entropy) == 0 {
		panic("numpyrand: SeedSequenceOf without entropy")
	}
	m := newMixer()
	for _, e := range entropy {
		m.add(uint32(e))
		if high := uint32(e >> 32); high != 0 {
			m.add(high)
		}
	}
	return SeedSequence{m.finish()}
}

// GenerateState fills dst with generate_state(len(dst)). The words depend on the sequence alone: a second call
// gives the same ones.
func (s *SeedSequence) GenerateState(dst []uint32) {
	r := reader{pool: s.pool, key: hashOutKey}
	for i := range dst {
		dst[i] = r.next()
	}
}

// GenerateState64 fills dst with generate_state(len(dst), dtype=uint64): pairs of the 32-bit words, low one first.
func (s *SeedSequence) GenerateState64(dst []uint64) {
	r := reader{pool: s.pool, key: hashOutKey}
	for i := range dst {
		low := uint64(r.next())
		dst[i] = uint64(r.next())<<32 | low
	}
}

// mixer takes entropy one word at a time. The first four words fill the pool, which is then stirred; a later word
// is mixed into all four.
type mixer struct {
	pool  [poolSize]uint32
	key   uint32 // of the next hash; changes with each
	words int    // in the pool, at most poolSize
}

func newMixer() mixer { return mixer{key: hashInKey} }

func (m *mixer) add(word uint32) {
	if m.words == poolSize {
		for i := range m.pool {
			m.pool[i] = mix(m.pool[i], m.hash(word))
		}
		return
	}
	m.pool[m.words] = m.hash(word)
	m.words++
	if m.words == poolSize {
		m.stir()
	}
}

// stir makes every pool word depend on every other one.
func (m *mixer) stir() {
	for from := range m.pool {
		for to := range m.pool {
			if from != to {
				m.pool[to] = mix(m.pool[to], m.hash(m.pool[from]))
			}
		}
	}
}

// finish pads with zero words up to the first stirring and returns the pool.
func (m *mixer) finish() [poolSize]uint32 {
	for m.words < poolSize {
		m.add(0)
	}
	return m.pool
}

func (m *mixer) hash(word uint32) uint32 {
	word ^= m.key
	m.key *= hashInMult
	word *= m.key
	return word ^ word>>16
}

func mix(kept, added uint32) uint32 {
	word := mixKept*kept - mixAdded*added
	return word ^ word>>16
}

// reader hashes the words of the pool, round and round, each time with a new key.
type reader struct {
	pool [poolSize]uint32
	key  uint32
	at   uint
}

func (r *reader) next() uint32 {
	word := r.pool[r.at%poolSize] ^ r.key
	r.at++
	r.key *= hashOutMult
	word *= r.key
	return word ^ word>>16
}
