package elementary

import "math"

// Tanh returns the hyperbolic tangent of x within 0.55 ulp. It is odd, is x itself
// for |x| < 2^-28, keeps the sign of zero, and is exactly ±1 from |x| = 20 on.
// Tanh(NaN) is NaN.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < 0x1p-28:
		return x
	case a < 0.125:
		return tanhSeries(x)
	case a < 20:
		return math.Copysign(tanhQuotient(a), x)
	case a >= 20:
		return math.Copysign(1, x) // 1 - tanh 20 < 2^-56
	}
	return math.NaN()
}

// tanhSeries is tanh's Taylor series to x^17, for |x| <= 1/8, where the rest is
// below 2^-58 of it.
func tanhSeries(x float64) float64 {
	const (
		c1 = -1.0 / 3
		c2 = 2.0 / 15
		c3 = -17.0 / 315
		c4 = 62.0 / 2835
		c5 = -1382.0 / 155925
		c6 = 21844.0 / 6081075
		c7 = -929569.0 / 638512875
		c8 = 6404582.0 / 10854718875
	)
	u := float64(x * x)
	u2 := float64(u * u)
	low := (c1 + float64(u*c2)) + float64(u2*(c3+float64(u*c4)))
	high := (c5 + float64(u*c6)) + float64(u2*(c7+float64(u*c8)))
	return x + float64(float64(x*u)*(low+float64(float64(u2*u2)*high)))
}

// tanhQuotient returns tanh x = (e^2x - 1) / (e^2x + 1), for 1/8 <= x <= 20,
// with numerator, denominator and quotient as doubles. The numerator is good to
// 2^-57 of itself where it is smallest, at x = 1/8.
func tanhQuotient(x float64) float64 {
	y, n := expScaled(float64(2 * x))
	one := powerOfTwo(-n)
	num := quickSum(y.hi, -one) // e^2x > 1, hence y.hi >= one
	num = quickSum(num.hi, num.lo+y.lo)
	den := quickSum(y.hi, one)
	den = quickSum(den.hi, den.lo+y.lo)
	q := quotient(num, den)
	return q.hi + q.lo
}

// Atanh returns the inverse hyperbolic tangent of x within 0.55 ulp. It is odd,
// is x itself for |x| < 2^-28, keeps the sign of zero, is ±Inf at ±1 and NaN
// outside [-1, 1] and for NaN.
func Atanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < 0x1p-28:
		return x
	case a < 0.17: // where the reduction has k = 0 and s = x
		return x + atanhTail(x)
	case a < 1:
		return math.Copysign(atanhReduced(a), x)
	case a == 1:
		return math.Inf(int(math.Copysign(1, x)))
	}
	return math.NaN()
}

// ln(2)/2 in two parts, the first of 46 bits.
const (
	halfLn2Hi = 0x1.62e42fefa398p-2
	halfLn2Lo = 0x1.bcd5e4f1d9ccp-48
)

// atanhReduced returns atanh x for 0 < x < 1.
//
// As atanh(tanh u + tanh v) adds up to u + v: with k an integer that brings
// (1+x)/(1-x)/2^k into [0.7, 1.42],
//
//	atanh x = k*ln(2)/2 + atanh s, s = (1+x - 2^k(1-x)) / (1+x + 2^k(1-x)),
//
// and |s| < 0.1734. It needs no table, and nothing cancels.
func atanhReduced(x float64) float64 {
	a, b := quickSum(1, x), quickSum(1, -x)
	k := 1023 - int(math.Float64bits(b.hi)>>52)
	scale := powerOfTwo(k)
	b.hi, b.lo = float64(b.hi*scale), float64(b.lo*scale) // now 1 <= b.hi < 2 and 1 <= a.hi <= 2
	switch {
	case a.hi > float64(1.41*b.hi):
		b.hi, b.lo, k = float64(2*b.hi), float64(2*b.lo), k+1
	case float64(1.41*a.hi) < b.hi:
		b.hi, b.lo, k = float64(0.5*b.hi), float64(0.5*b.lo), k-1
	}
	num := twoSum(a.hi-b.hi, a.lo-b.lo) // a.hi-b.hi is exact (Sterbenz)
	den := twoSum(a.hi, b.hi)
	den.lo += a.lo + b.lo
	s := quotient(num, den)
	s = quickSum(s.hi, s.lo) // the tail below takes s.hi for s

	kf := float64(k)
	r := quickSum(float64(kf*halfLn2Hi), s.hi)
	return r.hi + (r.lo + (s.lo + float64(kf*halfLn2Lo) + atanhTail(s.hi)))
}

// atanhTail returns atanh s - s, by its Taylor series to s^23, for |s| < 0.1734,
// where the rest is below 2^-60 of s.
func atanhTail(s float64) float64 {
	const (
		c1  = 1.0 / 3
		c2  = 1.0 / 5
		c3  = 1.0 / 7
		c4  = 1.0 / 9
		c5  = 1.0 / 11
		c6  = 1.0 / 13
		c7  = 1.0 / 15
		c8  = 1.0 / 17
		c9  = 1.0 / 19
		c10 = 1.0 / 21
		c11 = 1.0 / 23
	)
	u := float64(s * s)
	u2 := float64(u * u)
	u4 := float64(u2 * u2)
	low := (c1 + float64(u*c2)) + float64(u2*(c3+float64(u*c4)))
	middle := (c5 + float64(u*c6)) + float64(u2*(c7+float64(u*c8)))
	high := (c9 + float64(u*c10)) + float64(u2*c11)
	return float64(float64(s*u) * (low + float64(u4*(middle+float64(u4*high)))))
}
