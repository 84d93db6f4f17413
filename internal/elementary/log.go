package elementary

import (
	"math"
	"math/big"
)

// Log returns the natural logarithm of x, correctly rounded (to nearest, ties to
// even) for every x. Log(±0) is -Inf, Log(+Inf) is +Inf; below 0 and for NaN it is
// NaN.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	if v := logDouble(x); settled(v, logBound) {
		return v.hi
	}
	return logExact(x)
}

// logBound is above the relative error of logDouble, which is below 2^-99 by the
// estimate there and was 2^-101.6 at worst among the inputs of
// TestLogDoubleErrorBound. It sends one argument in 2^44 the slow way, and a few
// next to 1, where the series itself passes close to midpoints.
const logBound = 0x1p-98

// ln2Step3 is what ln2Step1 + ln2Step2 lacks to ln(2)/64.
const ln2Step3 = -0x1.ff0342542fc33p-100

// 1/3 and 1/5 as doubles.
const (
	thirdHi = 0x1.5555555555555p-2
	thirdLo = 0x1.5555555555555p-56
	fifthHi = 0x1.999999999999ap-3
	fifthLo = -0x1.999999999999ap-57
)

// logDouble returns ln x as a normalised double, for finite x > 0.
//
// With k the integer nearest to 64*log2(x), or next to it, and r = 2^(k/64) from
// the table of Exp,
//
//	ln x = k*ln(2)/64 + 2 atanh s, s = (x-r)/(x+r),
//
// |s| < 0.00304. Near 1, k is 0 and r exactly 1, so nothing cancels there; further
// out the two summands cancel half of the first at most.
//
// Of atanh s = s + s*u*(1/3 + u/5 + ...), u = s^2 < 2^-16.7, only what is within
// 2^-53 of 1 needs doubles: the terms from u^3/7 on are 2^-52.9 of the sum, their
// roundings 2^-105, and the first one left out, u^6/13, is 2^-103.9. The table is
// good to 2^-107 of 1, which is 2^-99.5 of the smallest logarithm that it is used
// for, 0.0048; the other roundings are of parts in 2^-104.
func logDouble(x float64) double {
	e := 0
	if x < 0x1p-1022 {
		x, e = float64(x*0x1p54), -54
	}
	bits := math.Float64bits(x)
	e += int(bits>>52) - 1023
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52) // x = m * 2^e, 1 <= m < 2

	// A cubic within 0.06 of 64*log2(m). Where it says 64, the root is 1 of the
	// next power of two.
	const toInteger = 0x1.8p52 // adding and subtracting it rounds to an integer
	estimate := -136.72 + float64(m*(192.715+float64(m*(-65.716+float64(m*9.773)))))
	k := int((estimate + toInteger) - toInteger)
	if k == 64 {
		m = float64(m * 0.5)
	}
	root := &roots[k&63]

	num := twoSum(m-root.hi, -root.lo) // m-root.hi is exact (Sterbenz)
	den := twoSum(m, root.hi)
	den.lo += root.lo
	s := quotient(num, den)
	s = quickSum(s.hi, s.lo)
	u := times(s, s)
	const (
		c3 = 1.0 / 7
		c4 = 1.0 / 9
		c5 = 1.0 / 11
	)
	tail := c3 + float64(u.hi*(c4+float64(u.hi*c5)))
	w := quickSum(fifthHi, fifthLo+float64(u.hi*tail))
	w = times(u, w)
	w = plus(double{thirdHi, thirdLo}, w)
	w = times(s, times(u, w))
	atanh := plus(s, w)

	kf := float64(64*e + k)
	high, middle := float64(kf*ln2Step1), twoProduct(kf, ln2Step2) // exact
	v := quickSum(high, middle.hi)
	v.lo += middle.lo + float64(kf*ln2Step3)
	return plus(v, double{float64(2 * atanh.hi), float64(2 * atanh.lo)})
}

// logExact returns the correctly rounded logarithm of a finite x > 0 other than 1,
// in the manner of sinCosExact: the logarithm of such a float64 is transcendental
// too.
func logExact(x float64) float64 {
	for bits := 192; ; bits *= 2 {
		if v, ok := roundFixed(logFixed(x, bits), bits); ok {
			return v
		}
	}
}

// logFixed returns ln x in units of 2^-bits, off by less than that many units as
// there are bits, for finite x > 0. bits is at least 192.
//
// With x = m/d * 2^e, where d is the power of two above m, it is
// e * 2 atanh(1/3) - 2 atanh((d-m)/(d+m)). Of the first, |e| <= 1074 makes 2148
// times the error, and 16 bits of guard are 65536 times finer.
func logFixed(x float64, bits int) *big.Int {
	const guard = 16
	mantissa, exponent := integerAndExponent(x)
	m := big.NewInt(mantissa)
	d := new(big.Int).Lsh(big.NewInt(1), uint(m.BitLen()))
	e := big.NewInt(int64(exponent + m.BitLen()))

	sum := atanhFixed(big.NewInt(1), big.NewInt(3), bits+guard)
	sum.Mul(sum, e)
	sum.Sub(sum, atanhFixed(new(big.Int).Sub(d, m), new(big.Int).Add(d, m), bits+guard))
	return sum.Rsh(sum, guard-1) // and twice
}

// atanhFixed returns atanh(p/q), 0 < p/q <= 1/3, in units of 2^-bits, by its Taylor
// series. Each of the at most bits/3 + 1 terms is off by less than 3 units, so the
// sum is by less than bits + 3.
func atanhFixed(p, q *big.Int, bits int) *big.Int {
	power := new(big.Int).Lsh(p, uint(bits))
	power.Quo(power, q)
	square := new(big.Int).Mul(power, power)
	square.Rsh(square, uint(bits))
	sum, term := new(big.Int), new(big.Int)
	for i := int64(1); power.Sign() != 0; i += 2 {
		sum.Add(sum, term.Quo(power, big.NewInt(i)))
		power.Mul(power, square)
		power.Rsh(power, uint(bits))
	}
	return sum
}
