package numpyrand

import (
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// RandomState is NumPy's numpy.random.RandomState, the legacy stream over MT19937 that NumPy has frozen. Every method
// that draws says how much it takes from the stream, in words: 32-bit outputs.
//
// It is a value of 2.5 KB. Assignment copies the stream with its position, also one with a Skip that is not worked out
// yet. Compare with Equal, not with ==. Scalar draws do not allocate. It is not safe for concurrent use; the zero
// value is not seeded and must not be drawn from.
type RandomState struct {
	mt       mt19937
	gauss    float64 // NumPy's gauss: the second number of a pair, 0 once it has been used
	hasGauss bool    // NumPy's has_gauss: gauss is waiting
}

// NewRandomState is numpy.random.RandomState(seed), or what seed(seed) makes of one, for an integer of 0 to 2^32-1.
func NewRandomState(seed uint32) RandomState {
	return RandomState{mt: mtFromSeed(seed)}
}

// NewRandomStateFrom is numpy.random.RandomState(keys) for a list of integers of 0 to 2^32-1. A list of one key is
// another stream than its key alone is. (Beware of NumPy's arrays of one key: NumPy takes them for the key alone.)
//
// It is an error if there is no key.
func NewRandomStateFrom(keys []uint32) (RandomState, error) {
	if len(keys) == 0 {
		return RandomState{}, errors.New("random state without keys: give at least one")
	}
	return RandomState{mt: mtFromArray(keys)}, nil
}

// NewHashedRandomState is the stream that Flatland makes of a seed, in the way of early Gym: the first 64 bits of the
// SHA-512 of the seed's decimal text, little-endian, as one or two keys, low word first. Flatland reduces seeds that
// are longer modulo 2^64.
func NewHashedRandomState(seed uint64) RandomState {
	sum := sha512.Sum512(strconv.AppendUint(make([]byte, 0, 20), seed, 10))
	keys := hashedKeys(binary.LittleEndian.Uint64(sum[:8]))
	return RandomState{mt: mtFromArray(keys)}
}

// hashedKeys are the 32-bit digits of a number without leading zeros; that of 0 is one zero.
func hashedKeys(hash uint64) []uint32 {
	if high := uint32(hash >> 32); high != 0 {
		return []uint32{uint32(hash), high}
	}
	return []uint32{uint32(hash)}
}

// Uint32 takes one word and returns it: randint(0, 2**32, dtype=uint32).
func (r *RandomState) Uint32() uint32 { return r.mt.next() }

// Random is random_sample(), or rand(): two words, 27 bits of the first and 26 of the second as a fraction in [0, 1).
func (r *RandomState) Random() float64 {
	high, low := r.mt.next()>>5, r.mt.next()>>6
	return float64(uint64(high)<<26|uint64(low)) * (1.0 / (1 << 53)) // exact, so it may be fused with what the caller does
}

// RandomN is random_sample(len(dst)), or rand(len(dst)): as many calls of Random.
func (r *RandomState) RandomN(dst []float64) {
	for i := range dst {
		dst[i] = r.Random()
	}
}

// Skip passes over n words, as if they had been drawn and thrown away. A waiting second normal number stays.
//
// It only counts. The work, about a nanosecond a word, is done by the first draw after it, so a stream that is dropped,
// or a copy that is never drawn from, costs nothing. State and Equal do the work each time, on a copy, and leave the
// stream as it is.
func (r *RandomState) Skip(n uint64) { r.mt.skip(n) }

// Equal reports whether the states of both, as State has them, are the same, and so all draws from here on. A gauss
// that is not waiting does not count.
func (r *RandomState) Equal(other *RandomState) bool {
	if r.hasGauss != other.hasGauss || r.hasGauss && math.Float64bits(r.gauss) != math.Float64bits(other.gauss) {
		return false
	}
	if r.mt == other.mt {
		return true
	}
	a, b := r.mt, other.mt
	a.settle()
	b.settle()
	return a == b
}

// MT19937State is what NumPy returns from get_state(), under the same names.
type MT19937State struct {
	Key      [624]uint32
	Pos      int     // of the next word in Key; 624 is that Key is used up
	HasGauss bool    // whether Gauss waits to be the next normal number, before its scaling; NumPy's is 0 or 1
	Gauss    float64 // 0 once it is used
}

// State returns a copy of the state, at any time the same as NumPy's. SetState of it, here or in NumPy, continues the
// stream from here.
func (r *RandomState) State() MT19937State {
	mt := r.mt
	mt.settle()
	return MT19937State{Key: mt.block, Pos: int(mt.at), HasGauss: r.hasGauss, Gauss: r.gauss}
}

// SetState replaces the state. It is an error, and changes nothing, if Pos is not one of 0 to 624, if Gauss is
// infinite or not a number, or if Key is zero in all the bits that the stream goes on from, which no seed leads to:
// all words would be 0, and a normal number never found.
func (r *RandomState) SetState(s MT19937State) error {
	if s.Pos < 0 || s.Pos > blockWords {
		return fmt.Errorf("mt19937 pos is %d, not one of 0 to %d", s.Pos, blockWords)
	}
	if math.IsNaN(s.Gauss) || math.IsInf(s.Gauss, 0) {
		return fmt.Errorf("mt19937 gauss is %v, not a finite number", s.Gauss)
	}
	if s.Key[0]>>31 == 0 && !slices.ContainsFunc(s.Key[1:], func(w uint32) bool { return w != 0 }) {
		return errors.New("mt19937 key is zero: its stream would be zeros only")
	}
	*r = RandomState{mt19937{block: s.Key, at: uint64(s.Pos)}, s.Gauss, s.HasGauss}
	return nil
}
