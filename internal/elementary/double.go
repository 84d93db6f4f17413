package elementary

import "math"

// double is an unevaluated sum hi + lo of two float64s, about 106 bits. It is
// normalised when hi = round(hi + lo), as twoSum, quickSum and twoProduct return
// it.
type double struct{ hi, lo float64 }

// Every product in this package is written float64(a*b): the conversion forbids
// the compiler to fuse it with a sum, as it otherwise may on arm64, ppc64, riscv64,
// s390x, loong64 and GOAMD64=v3, and would give other bits there. TestNoProductCanFuse
// holds the source to it.

// twoSum returns a + b exactly (Knuth, The Art of Computer Programming, vol. 2, 4.2.2).
func twoSum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// quickSum returns a + b exactly if |a| >= |b| or a == 0 (Dekker 1971).
func quickSum(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

// twoProduct returns a * b exactly, if nothing under- or overflows (Dekker 1971,
// with Veltkamp's split). A fused multiply-add would give the same bits and make the
// functions here 20 to 30 % faster, but two to five times slower where it is done in
// software, on 32-bit x86 for instance.
func twoProduct(a, b float64) double {
	const split = 1<<27 + 1 // leaves halves of at most 26 bits, with exact products
	c := float64(split * a)
	ah := c - (c - a)
	al := a - ah
	c = float64(split * b)
	bh := c - (c - b)
	bl := b - bh
	p := float64(a * b)
	return double{p, ((float64(ah*bh) - p) + float64(ah*bl) + float64(al*bh)) + float64(al*bl)}
}

// plus returns a + b, normalised, to about 2^-104 of the larger of the two.
func plus(a, b double) double {
	s := twoSum(a.hi, b.hi)
	return quickSum(s.hi, s.lo+(a.lo+b.lo))
}

// times returns a * b, normalised, to about 2^-103.
func times(a, b double) double {
	p := twoProduct(a.hi, b.hi)
	return quickSum(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

// quotient returns num/den to about 2^-104; q.hi is num.hi/den.hi within 2 ulp.
func quotient(num, den double) double {
	inverse := 1 / den.hi
	q := float64(num.hi * inverse)
	back := twoProduct(q, den.hi)
	rest := (num.hi - back.hi) - back.lo + (num.lo - float64(q*den.lo))
	return double{q, float64(rest * inverse)}
}

// settled reports whether all numbers within bound*|v.hi| of v round to v.hi, for
// a normalised v. Addition with rounding is monotone, so when the two ends round
// alike all between them do. The bound must leave room for the rounding of the
// ends themselves, 2^-106.
func settled(v double, bound float64) bool {
	e := float64(bound * math.Abs(v.hi))
	return v.hi+(v.lo-e) == v.hi+(v.lo+e)
}

// powerOfTwo returns 2^n for -1022 <= n <= 1023.
func powerOfTwo(n int) float64 {
	return math.Float64frombits(uint64(n+1023) << 52)
}
