package numpyrand

import (
	"fmt"
	"math"
	"math/bits"
)

// Randint is randint(low, high): one number of low <= v < high. The n = high - low numbers to choose from are told
// apart by as many bits as n-1 has, the lowest of a word; what they say is taken if it is below n, and otherwise the
// next word is tried:
//
//   - n = 1: nothing is taken;
//   - n <= 2^32: a word each try (the first one always does for a power of two);
//   - larger: two words each try, the first one high.
//
// It panics if low >= high.
func (r *RandomState) Randint(low, high int64) int64 {
	if low >= high {
		panicEmpty("Randint", low, high)
	}
	return low + int64(r.upTo(uint64(high)-uint64(low)-1))
}

// RandintDType is a dtype that Randint draws from words or parts of words. Booleans have methods of their own.
type RandintDType interface {
	Integer | int8 | uint8 | int16 | uint16
}

// RandintClosedOf is randint(low, last+1, dtype=T), last included so that all of T can be drawn. It takes what
// Randint takes, except that an 8- or 16-bit dtype tries the parts of one word in turn, lowest first, before it takes
// another. What is left of the word is lost.
//
// It panics if low > last.
func RandintClosedOf[T RandintDType](r *RandomState, low, last T) T {
	if low > last {
		panicNoneOf("RandintClosedOf", low, last)
	}
	if width := widthOf[T](); width < 32 {
		parts := parts{r: r, width: width}
		return low + T(parts.upTo(uint32(last)-uint32(low)))
	}
	return low + T(r.upTo(uint64(last)-uint64(low)))
}

// FillRandint is randint(low, last+1, size=len(dst), dtype=T), last included so that all of T can be drawn. From 32
// bits on it is len(dst) calls of RandintClosedOf. Smaller dtypes go on with the parts of a word from one number to
// the next; what is left after the last number is lost.
//
// It panics if low > last.
func FillRandint[T RandintDType](r *RandomState, dst []T, low, last T) {
	if low > last {
		panicNoneOf("FillRandint", low, last)
	}
	if width := widthOf[T](); width < 32 {
		parts := parts{r: r, width: width}
		for i := range dst {
			dst[i] = low + T(parts.upTo(uint32(last)-uint32(low)))
		}
		return
	}
	for i := range dst {
		dst[i] = low + T(r.upTo(uint64(last)-uint64(low)))
	}
}

// Bool is randint(2, dtype=bool): a word, its lowest bit.
func (r *RandomState) Bool() bool { return r.mt.next()&1 == 1 }

// FillBools is randint(2, size=len(dst), dtype=bool): the bits of a word, lowest first, and a word for every 32 of
// them. What is left after the last one is lost.
func (r *RandomState) FillBools(dst []bool) {
	parts := parts{r: r, width: 1}
	for i := range dst {
		dst[i] = parts.upTo(1) == 1
	}
}

// panicNoneOf is panicEmpty for all dtypes.
//
//go:noinline
func panicNoneOf[T RandintDType](call string, low, last T) {
	panic(fmt.Sprintf("numpyrand: %s(%d, %d): no number to choose from", call, low, last))
}

// widthOf is the number of bits of T.
func widthOf[T RandintDType]() uint {
	width := uint(8)
	for T(1)<<(width-1)<<1 != 0 {
		width *= 2
	}
	return width
}

// upTo draws a number of 0 <= v <= last, as NumPy's masked draws and its random_interval do.
func (r *RandomState) upTo(last uint64) uint64 {
	mask := maskOf(last)
	switch {
	case last == 0:
		return 0
	case last <= math.MaxUint32:
		for {
			if v := uint64(r.mt.next()) & mask; v <= last {
				return v
			}
		}
	}
	for {
		if v := r.mt.next64() & mask; v <= last {
			return v
		}
	}
}

// maskOf is the smallest 2^b - 1 that is not below last.
func maskOf(last uint64) uint64 { return math.MaxUint64 >> bits.LeadingZeros64(last) }

// parts cuts words into parts of width bits, lowest first.
type parts struct {
	r     *RandomState
	width uint
	word  uint32 // its lowest part has been used
	left  uint   // parts above that
}

// upTo draws a number of 0 <= v <= last, which fits a part.
func (p *parts) upTo(last uint32) uint32 {
	if last == 0 {
		return 0
	}
	mask := uint32(maskOf(uint64(last)))
	for {
		if p.left == 0 {
			p.word, p.left = p.r.mt.next(), 32/p.width
		} else {
			p.word >>= p.width
		}
		p.left--
		if v := p.word & mask; v <= last {
			return v
		}
	}
}
