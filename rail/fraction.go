package rail

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Fraction is an exact rational number: a speed in cells per step, or the part of a cell already travelled. It is
// always in lowest terms, and its zero value is 0. Fractions are values and may be compared with [Fraction.Equal].
//
// Numerator and denominator are small integers as long as they fit into an int64, which takes no memory. Sums of odd
// decimals may outgrow that; such a Fraction goes on exactly, but slower, as a big.Rat.
type Fraction struct {
	num, den int64    // den 0 stands for 1
	big      *big.Rat // if not nil the value, and never changed
}

// Frac returns num/den. It panics if den is 0.
func Frac(num, den int64) Fraction {
	if den == 0 {
		panic("rail: Frac with denominator 0")
	}
	if num == math.MinInt64 || den == math.MinInt64 {
		return fromRat(big.NewRat(num, den))
	}
	if den < 0 {
		num, den = -num, -den
	}
	return reduce(num, den)
}

// Whole returns the integer n.
func Whole(n int64) Fraction { return Fraction{num: n, den: 1} }

// reduce needs den > 0 and num other than the smallest int64.
func reduce(num, den int64) Fraction {
	a, b := num, den
	if a < 0 {
		a = -a
	}
	for b != 0 {
		a, b = b, a%b
	}
	return Fraction{num: num / a, den: den / a}
}

func fromRat(r *big.Rat) Fraction {
	if r.Num().IsInt64() && r.Denom().IsInt64() && r.Num().Int64() != math.MinInt64 {
		return Fraction{num: r.Num().Int64(), den: r.Denom().Int64()}
	}
	return Fraction{big: r}
}

// Rat returns the value as a new big.Rat.
func (a Fraction) Rat() *big.Rat {
	if a.big != nil {
		return new(big.Rat).Set(a.big)
	}
	return big.NewRat(a.num, a.denom())
}

// Int64s returns numerator and denominator; ok is false if one of them is too large.
func (a Fraction) Int64s() (num, den int64, ok bool) { return a.num, a.denom(), a.big == nil }

func (a Fraction) denom() int64 {
	if a.den == 0 {
		return 1
	}
	return a.den
}

// Sign is -1, 0 or 1.
func (a Fraction) Sign() int {
	switch {
	case a.big != nil:
		return a.big.Sign()
	case a.num > 0:
		return 1
	case a.num < 0:
		return -1
	}
	return 0
}

// Neg returns -a.
func (a Fraction) Neg() Fraction {
	if a.big != nil {
		return fromRat(new(big.Rat).Neg(a.big))
	}
	return Fraction{num: -a.num, den: a.den}
}

// Add returns a+b.
func (a Fraction) Add(b Fraction) Fraction {
	if a.big == nil && b.big == nil {
		ad, bd := a.denom(), b.denom()
		if ad == bd {
			if sum, ok := add64(a.num, b.num); ok {
				return reduce(sum, ad)
			}
		} else if x, ok := mul64(a.num, bd); ok {
			if y, ok := mul64(b.num, ad); ok {
				if den, ok := mul64(ad, bd); ok {
					if sum, ok := add64(x, y); ok {
						return reduce(sum, den)
					}
				}
			}
		}
	}
	return fromRat(new(big.Rat).Add(a.Rat(), b.Rat()))
}

// Mul returns a*b.
func (a Fraction) Mul(b Fraction) Fraction {
	if a.big == nil && b.big == nil {
		if num, ok := mul64(a.num, b.num); ok {
			if den, ok := mul64(a.denom(), b.denom()); ok {
				return reduce(num, den)
			}
		}
	}
	return fromRat(new(big.Rat).Mul(a.Rat(), b.Rat()))
}

// Cmp is -1 if a < b, 0 if they are equal, 1 if a > b.
func (a Fraction) Cmp(b Fraction) int {
	if a.big == nil && b.big == nil {
		if a.den == b.den {
			return compare(a.num, b.num)
		}
		if x, ok := mul64(a.num, b.denom()); ok {
			if y, ok := mul64(b.num, a.denom()); ok {
				return compare(x, y)
			}
		}
	}
	return a.Rat().Cmp(b.Rat())
}

// Equal says whether a and b are the same number.
func (a Fraction) Equal(b Fraction) bool {
	if a.big == nil && b.big == nil {
		return a.num == b.num && a.denom() == b.denom()
	}
	return a.big != nil && b.big != nil && a.big.Cmp(b.big) == 0
}

// exactInts is the greatest whole number up to which all are a float64.
const exactInts = 1 << 53

// Float64 is the nearest float64.
func (a Fraction) Float64() float64 {
	if a.big == nil && -exactInts <= a.num && a.num <= exactInts && a.den <= exactInts {
		return float64(a.num) / float64(a.denom()) // both exact, so rounded once
	}
	f, _ := a.Rat().Float64()
	return f
}

// CmpFloat64 compares a with the exact value of f, which must not be NaN.
func (a Fraction) CmpFloat64(f float64) int {
	// Rounding to nearest keeps the order, so the rounded value decides unless it ties.
	if near := a.Float64(); near != f {
		return compare(near, f)
	}
	if a.big == nil && a.denom() == 1 && -exactInts <= a.num && a.num <= exactInts {
		return 0
	}
	return a.Rat().Cmp(new(big.Rat).SetFloat64(f))
}

// String is "n/d", or "n" for an integer.
func (a Fraction) String() string {
	if a.big != nil {
		return a.big.RatString()
	}
	if a.denom() == 1 {
		return strconv.FormatInt(a.num, 10)
	}
	return strconv.FormatInt(a.num, 10) + "/" + strconv.FormatInt(a.den, 10)
}

// maxFractionText bounds what ParseFraction reads: 2^53 steps of odd decimals do not need more.
const maxFractionText = 256

// ParseFraction reads "n/d" or "n" in decimal digits, as Python's Fraction prints it.
func ParseFraction(text string) (Fraction, error) {
	num, den, slash := strings.Cut(text, "/")
	if len(text) > maxFractionText || !decimalInteger(num) || slash && (!decimalInteger(den) || den[0] == '-') {
		return Fraction{}, fmt.Errorf("%.40q is not a fraction like 1/3", text)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return Fraction{}, fmt.Errorf("%.40q is not a fraction like 1/3", text)
	}
	return fromRat(r), nil
}

func decimalInteger(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Snap makes a fraction of a float as the reference does: an integer within 1e-8, else an inverse of an integer
// within 1%, else exactly the shortest decimal that reads back as v. So 0.33 is 1/3, 0.15 is 1/7 and 0.3 is 3/10.
//
// It is an error if v is not finite.
func Snap(v float64) (Fraction, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Fraction{}, fmt.Errorf("%v is no speed", v)
	}
	floor := math.Floor(v)
	part := floorMod1(v)
	if isClose(part, 0, 1e-8) {
		return fromRat(new(big.Rat).SetFloat64(floor)), nil
	}
	if k := math.RoundToEven(1 / part); isClose(1/k, part, 0.01) {
		return fromRat(new(big.Rat).Add(inverse(k), new(big.Rat).SetFloat64(floor))), nil
	}
	if v < 0 {
		part := floorMod1(-v)
		if k := math.RoundToEven(1 / part); isClose(1/k, part, 0.01) {
			return fromRat(new(big.Rat).Sub(new(big.Rat).SetFloat64(math.Floor(-v)), inverse(k))), nil
		}
	}
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	if !ok {
		return Fraction{}, fmt.Errorf("%v is no speed", v)
	}
	return fromRat(r), nil
}

func inverse(k float64) *big.Rat {
	r := new(big.Rat).SetFloat64(k)
	return r.Inv(r)
}

// floorMod1 is v mod 1 with the sign of Python's operator: never negative.
func floorMod1(v float64) float64 {
	m := math.Mod(v, 1)
	if m < 0 {
		m += 1
	}
	return m
}

// isClose is NumPy's with its relative tolerance of 1e-5.
func isClose(a, b, absolute float64) bool {
	return math.Abs(a-b) <= absolute+float64(1e-5*math.Abs(b))
}

func compare[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func add64(a, b int64) (int64, bool) {
	sum := a + b
	return sum, (sum > a) == (b > 0) && sum != math.MinInt64
}

func mul64(a, b int64) (int64, bool) {
	x, y := uint64(a), uint64(b)
	if a < 0 {
		x = -x
	}
	if b < 0 {
		y = -y
	}
	hi, lo := bits.Mul64(x, y)
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(lo), true
	}
	return int64(lo), true
}

// ceilDiv is ceil(n/f) of a positive f, at most Unreachable.
func ceilDiv(n int, f Fraction) int {
	q := new(big.Rat).Quo(new(big.Rat).SetInt64(int64(n)), f.Rat())
	up := new(big.Int).Add(q.Num(), new(big.Int).Sub(q.Denom(), big.NewInt(1)))
	up.Div(up, q.Denom())
	if !up.IsInt64() || up.Int64() > Unreachable {
		return Unreachable
	}
	return int(up.Int64())
}
