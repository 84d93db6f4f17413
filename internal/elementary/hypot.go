package elementary

import (
	"math"
	"math/big"
	"math/bits"
)

// Hypot returns sqrt(x^2 + y^2), correctly rounded (to nearest, ties to even),
// subnormal results included, with no overflow or underflow on the way. It is
// exactly |x| if y is 0; it is +Inf if either is infinite, even if the other is
// NaN, and otherwise NaN if either is NaN, the rules of IEEE 754 and of C's and
// Python's hypot.
func Hypot(x, y float64) float64 {
	const (
		power    = 1 << 52 // a factor of 2 in the bits of a float64
		smallest = (1023 - 450) * power
		largest  = (1023 + 500) * power
	)
	h := math.Sqrt(float64(x*x) + float64(y*y))
	// Without the signs, the bits of float64s are in the order of the numbers.
	xBits, yBits := math.Float64bits(x)<<1>>1, math.Float64bits(y)<<1>>1
	xBits, yBits = max(xBits, yBits), min(xBits, yBits)
	if yBits > xBits-28*power && yBits > smallest && xBits < largest {
		return hypotMiddle(h, xBits, yBits)
	}
	return hypotAtTheEnds(math.Float64frombits(xBits), math.Float64frombits(yBits))
}

// hypotAtTheEnds is Hypot for 0 <= y <= x, or NaN, where the squares may
// overflow, underflow or be out of proportion.
func hypotAtTheEnds(x, y float64) float64 {
	const shift = 0x1p600
	switch {
	case math.IsInf(x, 1) || math.IsInf(y, 1):
		return math.Inf(1)
	case x != x || y != y:
		return math.NaN()
	case y <= float64(0x1p-28*x):
		return x // y^2/2x is below half a unit in the last place of x
	case x >= 0x1p500:
		return float64(Hypot(x/shift, y/shift) * shift)
	case x >= 0x1p-1020:
		return Hypot(float64(x*shift), float64(y*shift)) / shift
	}
	return hypotExact(x, y)
}

// hypotMiddle is Hypot for 2^-450 < y <= x < 2^500 with y > 2^-28 x, given their bits and h, which is
// the root of x^2 + y^2 as float64s have it.
//
// h is off by less than 1.5 of its units in the last place: the sum's relative error is below 2^-52, the
// root's before its own rounding half of that, one unit at most. So the nearest float64 is h or one of its
// neighbours, and which one follows from x^2 + y^2 - h^2, in integers. In quarters of the unit's square
// that is less than 2^57, so the low 64 bits of each square will do.
func hypotMiddle(h float64, xBits, yBits uint64) float64 {
	var hBits uint64 = math.Float64bits(h)
	mh, mx, my := mantissa(hBits), mantissa(xBits), mantissa(yBits)
	dx, dy := 2*(hBits>>52-xBits>>52)&63, 2*(hBits>>52-yBits>>52)&63 // at most 2, at most 58

	x2 := (mx * mx) << (2 - dx)
	var hi, lo uint64 = bits.Mul64(2*my, 2*my)
	y2 := lo>>dy | hi<<1<<(63-dy) // rounded down
	rest := int64(x2 + y2 - 4*mh*mh)
	if mh == 1<<52 && rest < 0 {
		return hypotExact(math.Float64frombits(xBits), math.Float64frombits(yBits)) // the units below h are smaller
	}

	// Midway to the neighbours rest is 1 + 4*mh and 1 - 4*mh. In halves of that unit, 1 stands for what was
	// cut off y2, and an odd mh gives way to its even neighbour.
	rest *= 2
	if lo&(1<<dy-1) != 0 {
		rest++
	}
	odd := int64(mh & 1)
	up := uint64(2+8*int64(mh)-odd-rest) >> 63
	down := uint64(rest-odd-2+8*int64(mh)) >> 63
	return math.Float64frombits(hBits + up - down)
}

// mantissa returns the mantissa of a normal float64, given its bits, as an integer of 53 bits.
func mantissa(b uint64) uint64 { return b&(1<<52-1) | 1<<52 }

// hypotExact is Hypot in big integers, for 0 < y <= x < 2^600 y. Unlike a sine, this
// root may lie exactly midway between two float64s (of 3m and 4m, when 5m has 54
// bits), so it is not enough to add bits.
func hypotExact(x, y float64) float64 {
	mx, ex := integerAndExponent(x)
	my, ey := integerAndExponent(y) // ey <= ex
	a := new(big.Int).Lsh(big.NewInt(mx), uint(ex-ey))
	b := big.NewInt(my)
	sum := a.Mul(a, a)
	sum.Add(sum, b.Mul(b, b))

	// 64 bits beyond the point, then one more that says "and something": no
	// float64 and no midpoint has that last bit.
	const beyond = 64
	sum.Lsh(sum, 2*beyond)
	root := new(big.Int).Sqrt(sum)
	exact := b.Mul(root, root).Cmp(sum) == 0
	root.Lsh(root, 1)
	if !exact {
		root.SetBit(root, 0, 1)
	}
	return scaledFloat(root, ey-beyond-1)
}
