package elementary

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The reference: the same functions in big.Float, by other methods than the
// package's own (pi by the arithmetic-geometric mean, halving and doubling of
// the argument, logarithms by inverting the exponential), good to more than 250
// bits.

const referenceBits = 320

// number returns a big.Float of the precision of the reference that holds x.
func number(x float64) *big.Float { return wide(referenceBits, x) }

func wide(bits uint, x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }

// referencePi returns pi to nearly the given bits (Gauss and Legendre).
func referencePi(bits uint) *big.Float {
	a, g, t, p := wide(bits, 1), wide(bits, 0.5), wide(bits, 0.25), wide(bits, 1)
	g.Sqrt(g)
	for n := uint(1); n < bits; n *= 2 {
		mean := wide(bits, 0).Add(a, g)
		mean.Quo(mean, wide(bits, 2))
		g.Mul(g, a).Sqrt(g)
		a.Sub(a, mean)
		a.Mul(a, a).Mul(a, p)
		t.Sub(t, a)
		a = mean
		p.Mul(p, wide(bits, 2))
	}
	pi := wide(bits, 0).Add(a, g)
	pi.Mul(pi, pi).Quo(pi, t)
	return pi.Quo(pi, wide(bits, 4))
}

var (
	narrowPi = referencePi(referenceBits + 64)
	widePi   = referencePi(referenceBits + 1100)
)

// referenceSinCos returns sin r and cos r, |r| >= 2^-100 or 0.
func referenceSinCos(r float64) (sin, cos *big.Float) {
	pi, bits := narrowPi, uint(referenceBits+64)
	if math.Abs(r) > 0x1p60 {
		pi, bits = widePi, referenceBits+1100
	}
	quarter := wide(bits, 0).SetMantExp(pi, -1)
	t := wide(bits, r)
	q := wide(bits, 0).Quo(t, quarter)
	n, _ := q.Add(q, wide(bits, math.Copysign(0.5, r))).Int(nil)
	t.Sub(t, quarter.Mul(quarter, wide(bits, 0).SetInt(n)))
	t.SetPrec(referenceBits)

	// Taylor at t/2^8, then eight times sin 2a = 2 sin a cos a and
	// 1 - cos 2a = 2 (sin a)^2.
	const halvings = 8
	a := number(0).SetMantExp(t, -halvings)
	a2 := number(0).Mul(a, a)
	sin, dip := number(0).Set(a), number(0)
	dip.SetMantExp(a2, -1)
	sinTerm, dipTerm := number(0).Set(sin), number(0).Set(dip)
	for i := 2.0; i < 60; i += 2 {
		sinTerm.Mul(sinTerm, a2).Quo(sinTerm, number(-i*(i+1)))
		sin.Add(sin, sinTerm)
		dipTerm.Mul(dipTerm, a2).Quo(dipTerm, number(-(i+1)*(i+2)))
		dip.Add(dip, dipTerm)
	}
	for range halvings {
		cos := number(1)
		cos.Sub(cos, dip)
		dip.Mul(sin, sin)
		dip.SetMantExp(dip, 1)
		sin.Mul(sin, cos)
		sin.SetMantExp(sin, 1)
	}
	cos = number(1)
	cos.Sub(cos, dip)

	switch new(big.Int).And(n, big.NewInt(3)).Int64() {
	case 1:
		sin, cos = cos, sin.Neg(sin)
	case 2:
		sin, cos = sin.Neg(sin), cos.Neg(cos)
	case 3:
		sin, cos = cos.Neg(cos), sin
	}
	return sin, cos
}

// referenceExp returns e^x for |x| < 2^12: Taylor at x/2^20, then squared.
func referenceExp(x *big.Float) *big.Float {
	const halvings = 20
	t := number(0).SetMantExp(x, -halvings)
	sum, term := number(1), number(1)
	for i := 1.0; i < 32; i++ {
		term.Mul(term, t).Quo(term, number(i))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// referenceTanh returns (e^2x - 1) / (e^2x + 1); it loses the bits by which |x|
// is below 1.
func referenceTanh(x float64) *big.Float {
	e := referenceExp(number(2 * x))
	num := number(0).Sub(e, number(1))
	return num.Quo(num, e.Add(e, number(1)))
}

// referenceAtanh returns ln((1+x)/(1-x)) / 2.
func referenceAtanh(x float64) *big.Float {
	ratio := number(1)
	ratio.Add(ratio, number(x)).Quo(ratio, number(0).Sub(number(1), number(x)))
	log := invertedExp(ratio, 2*math.Atanh(x))
	return log.SetMantExp(log, -1)
}

// referenceLog returns ln x. math.Log is far off for subnormals on some processors.
func referenceLog(x float64) *big.Float {
	m, e := math.Frexp(x)
	if m < 0.75 {
		m, e = 2*m, e-1
	}
	return invertedExp(number(x), math.Log(m)+float64(e)*math.Ln2)
}

// invertedExp returns ln x from a float64 near it, by Halley's iteration on the
// exponential, which triples the good bits.
func invertedExp(x *big.Float, near float64) *big.Float {
	log := number(near)
	for range 2 {
		e := referenceExp(log)
		num := number(0).Sub(x, e)
		num.SetMantExp(num, 1)
		log.Add(log, num.Quo(num, e.Add(e, x)))
	}
	return log
}

// rounded returns the float64 nearest to x, ties to even.
func rounded(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// ulps returns |got - want| in units of the last place of a float64 as large as
// want, never smaller than the smallest subnormal.
func ulps(got float64, want *big.Float) float64 {
	diff := new(big.Float).Sub(number(got), want)
	unit := max(want.MantExp(nil)-53, -1074)
	d, _ := diff.SetMantExp(diff, -unit).Float64()
	return math.Abs(d)
}

// relativeBits returns log2 |v - want| / |want|, -Inf where they are equal.
func relativeBits(v double, want *big.Float) float64 {
	diff := number(v.hi)
	diff.Add(diff, number(v.lo)).Sub(diff, want)
	if diff.Sign() == 0 {
		return math.Inf(-1)
	}
	diff.Quo(diff, want)
	f, _ := diff.Float64()
	return math.Log2(math.Abs(f))
}

// draws returns a random stream of its own for a test, the same in every run.
func draws(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(1, 2))
}

// TestReference holds the reference to published digits.
func TestReference(t *testing.T) {
	sin, cos := referenceSinCos(1)
	cases := []struct {
		name string
		got  *big.Float
		want string
	}{
		{"pi", narrowPi, "3.14159265358979323846264338327950288419716939937510582097494459230781640629"},
		{"wide pi", widePi, "3.14159265358979323846264338327950288419716939937510582097494459230781640629"},
		{"sin 1", sin, "0.841470984807896506652502321630298999622563060798371065672751709991910404391"},
		{"cos 1", cos, "0.540302305868139717400936607442976603732310420617922227670097255381100394774"},
		{"exp 1", referenceExp(number(1)), "2.71828182845904523536028747135266249775724709369995957496696762772407663035"},
		{"tanh 1", referenceTanh(1), "0.761594155955764888119458282604793590412768597257936551596810500121953244577"},
		{"log 10", referenceLog(10), "2.30258509299404568401799145468436420760110148862877297603332790096757260967735"},
		{"atanh 0.5", referenceAtanh(0.5), "0.549306144334054845697622618461262852323745278911374725867347166818747146609"},
	}
	for _, c := range cases {
		want, _, err := big.ParseFloat(c.want, 10, referenceBits, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		diff := number(0).Sub(c.got, want)
		if diff.Sign() != 0 && diff.MantExp(nil)-want.MantExp(nil) > -240 {
			t.Errorf("%s: got %s, want %s", c.name, c.got.Text('g', 75), c.want)
		}
	}
}
