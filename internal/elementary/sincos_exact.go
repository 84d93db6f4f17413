package elementary

import (
	"math"
	"math/big"
	"sync"
)

// sinCosExact returns the correctly rounded sine and cosine of a finite r with
// |r| >= 2^-27, however long that takes: it computes both to ever more bits
// until the interval that is known to hold each of them rounds to one float64.
// It ends because the sine and cosine of a nonzero float64 are transcendental
// (Lindemann), so neither is a float64 or lies midway between two.
func sinCosExact(r float64) (sin, cos float64) {
	for bits := 192; ; bits *= 2 {
		s, c := sinCosFixed(r, bits)
		sin, sinOK := roundFixed(s, bits)
		cos, cosOK := roundFixed(c, bits)
		if sinOK && cosOK {
			return sin, cos
		}
	}
}

// roundFixed rounds v * 2^-bits to the nearest float64, and reports whether
// everything within the error of sinCosFixed and logFixed, bits units, rounds
// alike.
func roundFixed(v *big.Int, bits int) (float64, bool) {
	slack := big.NewInt(int64(bits))
	lo := scaledFloat(new(big.Int).Sub(v, slack), -bits)
	hi := scaledFloat(new(big.Int).Add(v, slack), -bits)
	return lo, lo == hi
}

// sinCosFixed returns sin r and cos r in units of 2^-bits, each off by less
// than that many units as there are bits. bits is at least 192.
func sinCosFixed(r float64, bits int) (sin, cos *big.Int) {
	mantissa, exponent := integerAndExponent(r)

	// x = r and quarter = pi/2 in units of 2^-(bits+guard). The quotient n is
	// below 2^(guard-8), so an error of one unit in quarter costs 2^-8 of a unit
	// of the result.
	guard := 8 + max(0, exponent+53)
	x := new(big.Int).Lsh(big.NewInt(mantissa), uint(bits+guard+exponent))
	quarter := piFixed(bits + guard - 1)
	n := new(big.Int).Rsh(quarter, 1)
	n.Add(n, x)
	n.Div(n, quarter) // floor(x/quarter + 1/2)
	t := x.Sub(x, quarter.Mul(quarter, n))
	t.Rsh(t, uint(guard)) // |t| <= pi/4

	// Taylor's series, each term from the one before. A term is off by less than
	// 3 units: two roundings towards something, and the errors of t and of the
	// term before, both shrunk. The terms end after fewer than bits/4, since
	// (pi/4)^(bits/4) / (bits/4)! < 2^-bits from bits = 192 on.
	sin, cos = new(big.Int), new(big.Int)
	term := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	for i := int64(0); term.Sign() != 0; {
		switch i & 3 {
		case 0:
			cos.Add(cos, term)
		case 1:
			sin.Add(sin, term)
		case 2:
			cos.Sub(cos, term)
		case 3:
			sin.Sub(sin, term)
		}
		i++
		term.Mul(term, t)
		term.Rsh(term, uint(bits))
		term.Quo(term, big.NewInt(i))
	}

	switch new(big.Int).And(n, big.NewInt(3)).Int64() { // the quadrant
	case 1:
		sin, cos = cos, sin.Neg(sin)
	case 2:
		sin, cos = sin.Neg(sin), cos.Neg(cos)
	case 3:
		sin, cos = cos.Neg(cos), sin
	}
	return sin, cos
}

// piFixed returns pi in units of 2^-bits, off by less than one.
func piFixed(bits int) *big.Int {
	if bits <= sharedPiBits {
		return new(big.Int).Rsh(sharedPi(), uint(sharedPiBits-bits))
	}
	return machinPi(bits)
}

// sharedPiBits is enough for the first round of sinCosExact at any argument.
const sharedPiBits = 192 + 8 + 1024

var sharedPi = sync.OnceValue(func() *big.Int { return machinPi(sharedPiBits) })

// machinPi returns pi = 16 arctan(1/5) - 4 arctan(1/239) (Machin 1706) in units
// of 2^-bits, off by less than one. Each of the at most bits/4 + 8 terms of the
// two series is off by less than two units of 2^-(bits+32), so the sum is for
// any bits below 2^24.
func machinPi(bits int) *big.Int {
	const guard = 32
	a := arctanInverse(5, bits+guard)
	b := arctanInverse(239, bits+guard)
	a.Mul(a, big.NewInt(16))
	a.Sub(a, b.Mul(b, big.NewInt(4)))
	return a.Rsh(a, guard)
}

// arctanInverse returns arctan(1/q) in units of 2^-bits, by Gregory's series.
func arctanInverse(q int64, bits int) *big.Int {
	sum := new(big.Int)
	power := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	power.Quo(power, big.NewInt(q))
	term, square := new(big.Int), big.NewInt(q*q)
	for i := int64(1); power.Sign() != 0; i += 2 {
		term.Quo(power, big.NewInt(i))
		if i&3 == 1 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
		power.Quo(power, square)
	}
	return sum
}

// integerAndExponent returns m and e with x = m * 2^e, for finite x.
func integerAndExponent(x float64) (m int64, e int) {
	bits := math.Float64bits(x)
	e = int(bits >> 52 & 0x7ff)
	m = int64(bits & (1<<52 - 1))
	if e == 0 {
		e = 1 // subnormal: no implicit bit
	} else {
		m |= 1 << 52
	}
	if math.Signbit(x) {
		m = -m
	}
	return m, e - 1075
}

// scaledFloat returns the float64 nearest to v * 2^exponent, ties to even.
func scaledFloat(v *big.Int, exponent int) float64 {
	f := new(big.Float).SetInt(v) // exact: SetInt takes all the bits
	f.SetMantExp(f, exponent)
	nearest, _ := f.Float64()
	return nearest
}
