package elementary

import (
	"math"
	"math/big"
	"testing"
)

func TestTwoProductIsExact(t *testing.T) {
	rng := draws(t)
	for range 100_000 {
		a := math.Ldexp(rng.Float64()-0.5, rng.IntN(400)-200)
		b := math.Ldexp(rng.Float64()-0.5, rng.IntN(400)-200)
		got := twoProduct(a, b)
		if want := (double{a * b, math.FMA(a, b, -(a * b))}); got != want {
			t.Fatalf("twoProduct(%x, %x): got %x, want %x", a, b, got, want)
		}
	}
}

func TestSumsAreExact(t *testing.T) {
	rng := draws(t)
	for range 100_000 {
		a := math.Ldexp(rng.Float64()-0.5, rng.IntN(120)-60)
		b := math.Ldexp(rng.Float64()-0.5, rng.IntN(120)-60)
		want := number(a)
		want.Add(want, number(b)) // 320 bits hold any such sum
		sums := []double{twoSum(a, b)}
		if math.Abs(a) >= math.Abs(b) {
			sums = append(sums, quickSum(a, b))
		}
		for _, s := range sums {
			got := number(s.hi)
			if got.Add(got, number(s.lo)); got.Cmp(want) != 0 || s.hi != rounded(want) {
				t.Fatalf("%x + %x: got %x, want %s", a, b, s, want.Text('p', 0))
			}
		}
	}
}

func TestDoubleArithmetic(t *testing.T) {
	rng := draws(t)
	number106 := func() (double, *big.Float) {
		v := quickSum(1+rng.Float64(), 0x1p-53*(rng.Float64()-0.5))
		return v, number(0).Add(number(v.hi), number(v.lo))
	}
	worst := map[string]float64{"plus": -999, "times": -999, "quotient": -999}
	measure := func(name string, got double, want *big.Float) {
		worst[name] = max(worst[name], relativeBits(got, want))
		if name != "quotient" && got.hi+got.lo != got.hi {
			t.Fatalf("%s: %x is not normalised", name, got)
		}
	}
	for range 20_000 {
		a, wideA := number106()
		b, wideB := number106()
		measure("plus", plus(a, b), number(0).Add(wideA, wideB))
		measure("times", times(a, b), number(0).Mul(wideA, wideB))
		measure("quotient", quotient(a, b), number(0).Quo(wideA, wideB))
	}
	for name, limit := range map[string]float64{"plus": -104, "times": -103, "quotient": -100} {
		t.Logf("largest relative error of %s: 2^%.1f", name, worst[name])
		if worst[name] > limit {
			t.Errorf("relative error of %s: got 2^%.1f, want at most 2^%.0f", name, worst[name], limit)
		}
	}
}

func TestSettled(t *testing.T) {
	const bound = 0x1p-74
	cases := []struct {
		name string
		v    double
		want bool
	}{
		{"is settled at a float64", double{1, 0}, true},
		{"is settled a little off a float64", double{1, 0x1p-60}, true},
		{"is not settled at a midpoint", double{1, 0x1p-53}, false},
		{"is not settled at a midpoint below", double{1, -0x1p-54}, false},
		{"is not settled within the bound of a midpoint", double{1, 0x1p-53 - 0x1p-75}, false},
		{"is settled outside the bound of a midpoint", double{1, 0x1p-53 - 0x1p-73}, true},
		{"is not settled near a negative midpoint", double{-1, -0x1p-53 + 0x1p-75}, false},
	}
	for _, c := range cases {
		if got := settled(c.v, bound); got != c.want {
			t.Errorf("it %s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// checkTable compares a table of doubles with the reference.
func checkTable(t *testing.T, name string, i int, got double, want *big.Float) {
	t.Helper()
	hi := rounded(want)
	if lo := rounded(number(0).Sub(want, number(hi))); got != (double{hi, lo}) {
		t.Errorf("%s[%d]: got {%x, %x}, want {%x, %x}", name, i, got.hi, got.lo, hi, lo)
	}
}

func TestSines(t *testing.T) {
	checkTable(t, "sines", 0, sines[0], number(0))
	checkTable(t, "sines", 32, sines[32], number(1))
	checkTable(t, "sines", 16, sines[16], number(0).Sqrt(number(0.5)))

	// The others by going on from the sine and cosine of pi/64, which follow from
	// those of pi/4 by halving.
	cos := number(0).Sqrt(number(0.5))
	for range 4 { // pi/4 to pi/64
		cos.Add(cos, number(1)).Quo(cos, number(2)).Sqrt(cos)
	}
	sin := number(1)
	sin.Sub(sin, number(0).Mul(cos, cos)).Sqrt(sin)
	s, c := number(0), number(1)
	for i := range 32 {
		if i > 0 {
			checkTable(t, "sines", i, sines[i], s)
		}
		next := number(0).Mul(s, cos)
		next.Add(next, number(0).Mul(c, sin))
		c.Mul(c, cos).Sub(c, number(0).Mul(s, sin))
		s = next
	}
}

func TestRoots(t *testing.T) {
	root := number(2)
	for range 6 {
		root.Sqrt(root)
	}
	want := number(1)
	for i, got := range roots {
		checkTable(t, "roots", i, got, want)
		want.Mul(want, root)
	}
	if d := ulps(2, want); d > 1e-60 {
		t.Errorf("the 64th power of the 64th root of 2 is %v ulp off", d)
	}
}

// TestConstants recomputes the constants that are split in parts, and checks
// that the leading parts are short enough for exact products.
func TestConstants(t *testing.T) {
	pi64 := number(0).SetMantExp(narrowPi, -6)
	ln2 := referenceLn2()
	cases := []struct {
		name  string
		want  *big.Float
		short int // bits of every part but the last
		parts []float64
		err   int // log2 of what may be missing
	}{
		{"pi/64", pi64, 44, []float64{step1, step2, step3}, -146},
		{"ln(2)/64", number(0).SetMantExp(ln2, -6), 36, []float64{ln2Step1, ln2Step2}, -98},
		{"ln(2)/64 of Log", number(0).SetMantExp(ln2, -6), 53, []float64{ln2Step1, ln2Step2, ln2Step3}, -152},
		{"1/3", number(0).Quo(number(1), number(3)), 53, []float64{thirdHi, thirdLo}, -108},
		{"1/5", number(0).Quo(number(1), number(5)), 53, []float64{fifthHi, fifthLo}, -109},
		{"ln(2)/2", number(0).SetMantExp(ln2, -1), 46, []float64{halfLn2Hi, halfLn2Lo}, -100},
		{"-1/6", number(0).Quo(number(1), number(-6)), 53, []float64{minusSixthHi, minusSixthLo}, -108},
		{"64/pi", number(0).Quo(number(1), pi64), 53, []float64{stepInverse}, -48},
		{"64/ln(2)", number(0).Quo(number(64), ln2), 53, []float64{ln2StepInverse}, -46},
	}
	for _, c := range cases {
		sum := number(0)
		for i, part := range c.parts {
			sum.Add(sum, number(part))
			if bits := int(number(part).MinPrec()); i < len(c.parts)-1 && bits > c.short {
				t.Errorf("%s: part %d has %d bits, want at most %d", c.name, i, bits, c.short)
			}
		}
		if sum.Sub(sum, c.want); sum.Sign() != 0 && sum.MantExp(nil) > c.err {
			t.Errorf("%s: the parts are off by 2^%d, want at most 2^%d", c.name, sum.MantExp(nil), c.err)
		}
	}
}

// referenceLn2 returns ln 2 = sum of 1/(i*2^i).
func referenceLn2() *big.Float {
	sum := number(0)
	for i := 1; i <= referenceBits; i++ {
		term := number(1)
		sum.Add(sum, term.SetMantExp(term.Quo(term, number(float64(i))), -i))
	}
	return sum
}
