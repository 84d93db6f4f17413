package numpyrand

import "math"

// log is the natural logarithm of an x >= 0 that is finite. Unlike math.Log it has the same bits on every platform. It
// is evaluated to about 100 bits and then rounded, so it is the nearest float64 but for one in some 2^45 arguments,
// whose logarithm lies that close to the middle between two.
//
// With x = m * 2^e, where m is near 1, and s = (m-1)/(m+1), it is e*log(2) + 2*(s + s^3/3 + s^5/5 + …).
func log(x float64) float64 {
	if x == 0 {
		return math.Inf(-1)
	}
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := quotient(m-1, sum(m, 1))
	square := s.times(s)
	series := wide{}
	for i := len(oddInverses) - 1; i >= 0; i-- {
		if i >= wholeTerms {
			series.hi = float64(series.hi*square.hi) + oddInverses[i].hi
		} else {
			series = series.times(square).plus(oddInverses[i])
		}
	}
	v := series.times(s.plus(s))
	if e != 0 {
		n := float64(e)
		v = sum(float64(n*ln2High), float64(n*ln2Mid)).plus(wide{hi: float64(n * ln2Low)}).plus(v)
	}
	return v.hi + v.lo
}

// log(2) in three parts. The first two have 42 bits at most, so that their product with an exponent is exact.
const (
	ln2High = 0x2c5c85fdf47p-42
	ln2Mid  = 0xf79abc9e3bp-84
	ln2Low  = math.Ln2 - ln2High - ln2Mid
)

// oddInverses are 1, 1/3, 1/5, …: s^2 is less than 2^-5, so the first left out is 2^-110 of the sum. Those behind the
// first wholeTerms are small enough to need 53 bits only.
var oddInverses = func() (terms [22]wide) {
	for i := range terms {
		terms[i] = quotient(1, wide{hi: float64(2*i + 1)})
	}
	return terms
}()

const wholeTerms = 10

// wide is the unevaluated sum of two float64s, the second at most half an ulp of the first: about 106 bits. The
// products and quotients, and sums that do not cancel, are good to some 102. Products are fused with sums only by
// math.FMA, whose result does not depend on the platform.
type wide struct{ hi, lo float64 }

// sum is a + b exactly (Donald Knuth, The Art of Computer Programming, volume 2, 4.2.2).
func sum(a, b float64) wide {
	hi := a + b
	t := hi - a
	return wide{hi, (a - (hi - t)) + (b - t)}
}

// quotient is a / b.
func quotient(a float64, b wide) wide {
	hi := a / b.hi
	left := math.FMA(-hi, b.hi, a) - float64(hi*b.lo)
	return sum(hi, left/b.hi)
}

func (a wide) plus(b wide) wide {
	hi := sum(a.hi, b.hi)
	return sum(hi.hi, hi.lo+(a.lo+b.lo))
}

func (a wide) times(b wide) wide {
	hi := float64(a.hi * b.hi)
	lo := math.FMA(a.hi, b.hi, -hi)
	return sum(hi, lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}
