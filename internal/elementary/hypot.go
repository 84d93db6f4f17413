package elementary

import (
	"math"
	"math/big"
)

// Hypot returns sqrt(x^2 + y^2), correctly rounded (to nearest, ties to even),
// subnormal results included, with no overflow or underflow on the way. It is
// exactly |x| if y is 0; it is +Inf if either is infinite, even if the other is
// NaN, and otherwise NaN if either is NaN, the rules of IEEE 754 and of C's and
// Python's hypot.
func Hypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	if y > float64(0x1p-28*x) && y > 0x1p-450 && x < 0x1p500 {
		return hypotMiddle(x, y)
	}
	return hypotAtTheEnds(x, y)
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
		return float64(hypotMiddle(x/shift, y/shift) * shift)
	case x >= 0x1p-1020:
		return hypotMiddle(float64(x*shift), float64(y*shift)) / shift
	}
	return hypotExact(x, y)
}

// hypotBound is above the relative error of hypotDouble, which is below 2^-101;
// see TestHypotDoubleErrorBound.
const hypotBound = 0x1p-99

// hypotMiddle is Hypot for 2^-450 < y <= x < 2^500 with y > 2^-28 x.
func hypotMiddle(x, y float64) float64 {
	if h := hypotDouble(x, y); settled(h, hypotBound) {
		return h.hi
	}
	return hypotExact(x, y)
}

// hypotDouble returns sqrt(x^2 + y^2) as a normalised double: the square root
// of the rounded sum s, and one step of Newton's method against the whole sum.
// The step's own error is an eighth of the square of the correction, that is
// 2^-106; the few roundings of low parts are 2^-105 each.
func hypotDouble(x, y float64) double {
	x2, y2 := twoProduct(x, x), twoProduct(y, y)
	s := quickSum(x2.hi, y2.hi)
	s.lo += x2.lo + y2.lo

	h := math.Sqrt(s.hi)
	halfInverse := 0.5 / s.hi // h*halfInverse = 1/2h, without waiting for the root
	h2 := twoProduct(h, h)
	rest := ((s.hi - h2.hi) - h2.lo) + s.lo
	return quickSum(h, float64(float64(rest*halfInverse)*h))
}

// hypotExact is Hypot in integers, for 0 < y <= x < 2^600 y. Unlike a sine, this
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
