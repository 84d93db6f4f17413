package numpyrand

import (
	"fmt"
	"math"
	"math/bits"
)

// Integer is a dtype of integers: the four that NumPy draws from whole words. For the same bounds they give the
// same numbers and take the same part of the stream.
type Integer interface {
	int32 | uint32 | int64 | uint64
}

// Integers is integers(low, high): one number of low <= v < high. What it takes depends on the count n = high - low
// of numbers to choose from:
//
//   - n = 1: nothing;
//   - n <= 2^32: a word, and another one each time it is rejected (never for n = 2^32);
//   - larger: an output, and another one each time it is rejected.
//
// It panics if low >= high.
func (g *Generator) Integers(low, high int64) int64 {
	if low >= high {
		panicEmpty("Integers", low, high)
	}
	return low + int64(g.upTo(uint64(high)-uint64(low)-1))
}

// IntegersClosed is integers(low, high, endpoint=True): high included. It draws as Integers does, and a plain
// output if asked for all of int64. It panics if low > high.
func (g *Generator) IntegersClosed(low, high int64) int64 {
	return IntegersClosedOf(g, low, high)
}

// IntegersOf is g.integers(low, high, dtype=T). It draws as Integers does and panics if low >= high.
func IntegersOf[T Integer](g *Generator, low, high T) T {
	if low >= high {
		panicEmpty("IntegersOf", low, high)
	}
	return low + T(g.upTo(uint64(high)-uint64(low)-1))
}

// IntegersClosedOf is g.integers(low, high, dtype=T, endpoint=True): high included, so that all of T can be drawn.
// It draws as Integers does and panics if low > high.
func IntegersClosedOf[T Integer](g *Generator, low, high T) T {
	if low > high {
		panicEmpty("IntegersClosed", low, high)
	}
	return low + T(g.upTo(uint64(high)-uint64(low)))
}

// panicEmpty stays out of the draws' own code, which is small enough to be inlined.
//
//go:noinline
func panicEmpty[T Integer](call string, low, high T) {
	panic(fmt.Sprintf("numpyrand: %s(%d, %d): no number to choose from", call, low, high))
}

// upTo draws a number of 0 <= v <= last, as NumPy's random_bounded_uint64 does without masking. The two full ranges
// have no count n = last+1 in their word size; for them a word or an output is the number.
func (g *Generator) upTo(last uint64) uint64 {
	switch {
	case last == 0:
		return 0
	case last < math.MaxUint32:
		return uint64(g.below32(uint32(last) + 1))
	case last == math.MaxUint32:
		return uint64(g.Uint32())
	case last == math.MaxUint64:
		return g.pcg64.next()
	}
	return g.below64(last + 1)
}

// below32 draws a number below n by Lemire's method (Fast Random Integer Generation in an Interval, 2019): the high
// half of word*n, where words whose low half is under 2^32 mod n are rejected, as they would favour some numbers.
// That threshold is less than n, so most draws are accepted without the division.
func (g *Generator) below32(n uint32) uint32 {
	product := uint64(g.Uint32()) * uint64(n)
	if uint32(product) < n {
		for threshold := -n % n; uint32(product) < threshold; {
			product = uint64(g.Uint32()) * uint64(n)
		}
	}
	return uint32(product >> 32)
}

// below64 is below32 for whole outputs.
func (g *Generator) below64(n uint64) uint64 {
	high, low := bits.Mul64(g.pcg64.next(), n)
	if low < n {
		for threshold := -n % n; low < threshold; {
			high, low = bits.Mul64(g.pcg64.next(), n)
		}
	}
	return high
}
