package elementary

import "math"

// SinCos returns the sine and cosine of r, in radians, each correctly rounded
// (to nearest, ties to even) for every finite r. The sine of ±0 is ±0; both are
// NaN if r is NaN or infinite.
//
// Up to |r| = 8, a full turn and a little, the results come from double-double
// arithmetic; the few that lie too near a rounding boundary for its error
// bound, and all larger arguments, are decided in integer arithmetic of as many
// bits as it takes (Ziv 1991).
func SinCos(r float64) (sin, cos float64) {
	x := math.Abs(r)
	switch {
	case x < 0x1p-27:
		// r - sin r < |r|^3/6 and 1 - cos r < r^2/2 are below half a unit in
		// the last place of r and of the float64 under 1.
		return r, 1
	case x <= turnLimit:
		s, c := sinCosDouble(x)
		if settled(s, sinCosBound) && settled(c, sinCosBound) {
			return float64(math.Copysign(1, r) * s.hi), c.hi
		}
	case !(x <= math.MaxFloat64):
		return math.NaN(), math.NaN()
	}
	return sinCosExact(r)
}

// turnLimit is the largest argument of sinCosDouble.
const turnLimit = 8

// sinCosBound is above the relative error of both results of sinCosDouble, which
// is below 2^-74 by the estimate there and was 2^-75.6 at worst among the inputs
// of TestSinCosDoubleErrorBound. It sends one heading in 300 000 the slow way.
const sinCosBound = 0x1p-73

// pi/64 in three parts. The first two have 44 bits, so that their products with
// k <= 163, eight bits, are exact; all three together have more than 140.
const (
	step1       = 0x1.921fb54442cp-5
	step2       = 0x1.18469898cc4p-49
	step3       = 0x1.1701b839a252p-93
	stepInverse = 0x1.45f306dc9c883p+4 // 64/pi
)

// -1/6 as a double.
const (
	minusSixthHi = -0x1.5555555555555p-3
	minusSixthLo = -0x1.5555555555555p-57
)

// sinCosDouble returns sin x and cos x as normalised doubles, for
// 2^-27 <= x <= turnLimit.
//
// With k the integer nearest to x*64/pi and t = x - k*pi/64, |t| <= 0.02455,
// both follow from the sines of multiples of pi/64 by the addition theorems.
//
// The error comes from what is summed in plain float64. A result is never below
// half of the table value that starts its sum (or that is 0, and the result is
// sin t). The tail of cos t from t^4/24 on is 2^-25.98 of the table value at most
// and passes through 13 roundings of 2^-53, 2^-74.2 of the result; the tail of
// sin t from t^5/120 on is 2^-28.3 of sin t and passes through 18, 2^-77.1. The
// rest is below 2^-83: t itself is good to 2^-84, since no float64 up to 8 is
// nearer than 2^-54 to a nonzero multiple of pi/2; the first terms left out of the
// series are 2^-93. In all less than 2^-74.
func sinCosDouble(x float64) (sin, cos double) {
	const toInteger = 0x1.8p52 // adding and subtracting it rounds to an integer
	kf := (float64(x*stepInverse) + toInteger) - toInteger
	k := int(kf)

	// x - kf*step1 is exact: hardly larger than t, it is a multiple of the last bit
	// of x or of step1, whichever is smaller.
	r := twoSum(x-float64(kf*step1), -float64(kf*step2))
	t := quickSum(r.hi, r.lo-float64(kf*step3))

	// u = t^2
	u := twoProduct(t.hi, t.hi)
	u.lo += float64(2 * float64(t.hi*t.lo))

	// sinT = sin t = t + t*w, w = -u/6 + u^2/120 - ...
	const (
		s2 = 1.0 / 120
		s3 = -1.0 / 5040
		s4 = 1.0 / 362880
		s5 = -1.0 / 39916800
	)
	u2 := float64(u.hi * u.hi)
	tail := (s2 + float64(s3*u.hi)) + float64(u2*(s4+float64(s5*u.hi)))
	w := twoProduct(u.hi, minusSixthHi)
	w.lo += float64(u.hi*minusSixthLo) + float64(u.lo*minusSixthHi) + float64(u2*tail)
	tw := twoProduct(t.hi, w.hi)
	tw.lo += float64(t.hi*w.lo) + float64(t.lo*w.hi)
	sinT := quickSum(t.hi, tw.hi)
	sinT.lo += t.lo + tw.lo

	// cosT1 = cos t - 1 = -u/2 + u^2/24 - ...
	const (
		c2 = 1.0 / 24
		c3 = -1.0 / 720
		c4 = 1.0 / 40320
		c5 = -1.0 / 3628800
	)
	tail = (c2 + float64(c3*u.hi)) + float64(u2*(c4+float64(c5*u.hi)))
	cosT1 := double{float64(-0.5 * u.hi), float64(u2*tail) - float64(0.5*u.lo)}

	// sin(a + t) = sin a + (cos a sin t + sin a (cos t - 1)), and
	// cos(a + t) = cos a - (sin a sin t - cos a (cos t - 1)),
	// for a = (k mod 32)*pi/64 in [0, pi/2).
	a, b := sines[k&31], sines[32-k&31]
	sin = sum3(a, product(b, sinT), product(a, cosT1))
	cos = sum3(b, product(double{-a.hi, -a.lo}, sinT), product(b, cosT1))

	switch k >> 5 & 3 { // the quadrant
	case 1:
		sin, cos = cos, double{-sin.hi, -sin.lo}
	case 2:
		sin, cos = double{-sin.hi, -sin.lo}, double{-cos.hi, -cos.lo}
	case 3:
		sin, cos = double{-cos.hi, -cos.lo}, sin
	}
	return sin, cos
}

// product returns a * b to about 2^-103.
func product(a, b double) double {
	p := twoProduct(a.hi, b.hi)
	p.lo += float64(a.hi*b.lo) + float64(a.lo*b.hi)
	return p
}

// sum3 returns a + b + c, normalised, if a is zero or |a| is the largest and
// |a+b| >= |c|.
func sum3(a, b, c double) double {
	s := quickSum(a.hi, b.hi)
	t := quickSum(s.hi, c.hi)
	return quickSum(t.hi, t.lo+(s.lo+(a.lo+(b.lo+c.lo))))
}

// sines holds sin(k*pi/64) for k = 0..32 as doubles; TestSines recomputes it.
var sines = [33]double{
	{0x0p+0, 0x0p+0}, // 0
	{0x1.91f65f10dd814p-5, -0x1.912bd0d569a9p-61},  // 1
	{0x1.917a6bc29b42cp-4, -0x1.e2718d26ed688p-60}, // 2
	{0x1.2c8106e8e613ap-3, 0x1.13000a89a11ep-58},   // 3
	{0x1.8f8b83c69a60bp-3, -0x1.26d19b9ff8d82p-57}, // 4
	{0x1.f19f97b215f1bp-3, -0x1.42deef11da2c4p-57}, // 5
	{0x1.294062ed59f06p-2, -0x1.5d28da2c4612dp-56}, // 6
	{0x1.58f9a75ab1fddp-2, -0x1.efdc0d58cf62p-62},  // 7
	{0x1.87de2a6aea963p-2, -0x1.72cedd3d5a61p-57},  // 8
	{0x1.b5d1009e15ccp-2, 0x1.5b362cb974183p-57},   // 9
	{0x1.e2b5d3806f63bp-2, 0x1.e0d891d3c6841p-58},  // 10
	{0x1.073879922ffeep-1, -0x1.a5a014347406cp-55}, // 11
	{0x1.1c73b39ae68c8p-1, 0x1.b25dd267f66p-55},    // 12
	{0x1.30ff7fce17035p-1, -0x1.efcc626f74a6fp-57}, // 13
	{0x1.44cf325091dd6p-1, 0x1.8076a2cfdc6b3p-57},  // 14
	{0x1.57d69348cecap-1, -0x1.75720992bfbb2p-55},  // 15
	{0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55}, // 16
	{0x1.7b5df226aafafp-1, -0x1.0f537acdf0ad7p-56}, // 17
	{0x1.8bc806b151741p-1, -0x1.2c5e12ed1336dp-55}, // 18
	{0x1.9b3e047f38741p-1, -0x1.30ee286712474p-55}, // 19
	{0x1.a9b66290ea1a3p-1, 0x1.9f630e8b6dac8p-60},  // 20
	{0x1.b728345196e3ep-1, -0x1.bc69f324e6d61p-55}, // 21
	{0x1.c38b2f180bdb1p-1, -0x1.6e0b1757c8d07p-56}, // 22
	{0x1.ced7af43cc773p-1, -0x1.e7b6bb5ab58aep-58}, // 23
	{0x1.d906bcf328d46p-1, 0x1.457e610231ac2p-56},  // 24
	{0x1.e212104f686e5p-1, -0x1.014c76c126527p-55}, // 25
	{0x1.e9f4156c62ddap-1, 0x1.760b1e2e3f81ep-55},  // 26
	{0x1.f0a7efb9230d7p-1, 0x1.52c7adc6b4989p-56},  // 27
	{0x1.f6297cff75cbp-1, 0x1.562172a361fd3p-56},   // 28
	{0x1.fa7557f08a517p-1, -0x1.7a0a8ca13571fp-55}, // 29
	{0x1.fd88da3d12526p-1, -0x1.87df6378811c7p-55}, // 30
	{0x1.ff621e3796d7ep-1, -0x1.c57bc2e24aa15p-57}, // 31
	{0x1p+0, 0x0p+0}, // 32
}
