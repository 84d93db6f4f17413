package elementary

import (
	"math"
	"math/big"
	"testing"
)

const degree = 0.017453292519943295 // pi/180, as the simulator writes it

// headings returns n random headings in radians, drawn as h*degree for h
// uniform on [0, 360).
func headings(t testing.TB, n int) []float64 {
	rng := draws(t)
	all := make([]float64, n)
	for i := range all {
		h := 360 * rng.Float64()
		all[i] = h * degree
	}
	return all
}

// hardAngles have a sine or cosine within 2^-23 ulp of a midpoint of two
// float64s: the hardest of 60 million random headings.
var hardAngles = []float64{
	0x1.12b187dcc48ap-03, 0x1.0188602402d06p+02, 0x1.610a310ddec5dp+02,
	0x1.5f26f046bcd83p+02, 0x1.001df02db843ep+00, 0x1.bb6f55195cc61p+00,
	0x1.b7ad22db5d9f3p+00, 0x1.3c4e817ccd17bp+01, 0x1.2b3443c1c9399p+02,
	0x1.633801605d10bp-02, 0x1.09db02f163df5p+02, 0x1.748907893dc5cp-02,
	0x1.6b3d61b58d249p+00, 0x1.9bdaed1352133p+01, 0x1.4cb3d0078ac3cp+00,
	0x1.3f25e97b81534p+02, 0x1.4494ad27daad1p+00, 0x1.0adfaae311c84p+02,
	0x1.72599d6af5857p+02, 0x1.0e8eed0ff37bp+02, 0x1.b25ca61e499d2p+00,
	0x1.3b7a0d6f3b8f3p+02, 0x1.74569e5c236bbp+01, 0x1.98ca9d57b5986p+01,
}

// nearQuarters returns the float64s around the multiples of pi/64 up to 8, and of
// pi/2 somewhat further.
func nearQuarters() []float64 {
	var all []float64
	around := func(x float64, reach int) {
		lo, hi := x, x
		all = append(all, x)
		for range reach {
			lo, hi = math.Nextafter(lo, 0), math.Nextafter(hi, 9e9)
			all = append(all, lo, hi)
		}
	}
	for k := 1; k <= 163; k++ {
		around(float64(k)*math.Pi/64, 4)
		around((float64(k)-0.5)*math.Pi/64, 2) // where k of sinCosDouble changes
	}
	for k := 1; k <= 60; k++ {
		around(float64(k)*math.Pi/2, 8)
	}
	around(turnLimit, 8)
	return all
}

// checkSinCos compares SinCos with the reference, bit by bit, for r and -r.
func checkSinCos(t *testing.T, r float64) {
	t.Helper()
	s, c := referenceSinCos(r)
	wantSin, wantCos := rounded(s), rounded(c)
	gotSin, gotCos := SinCos(r)
	if gotSin != wantSin || gotCos != wantCos {
		t.Errorf("SinCos(%x): got %x, %x, want %x, %x", r, gotSin, gotCos, wantSin, wantCos)
	}
	gotSin, gotCos = SinCos(-r)
	if gotSin != -wantSin || gotCos != wantCos {
		t.Errorf("SinCos(%x): got %x, %x, want %x, %x", -r, gotSin, gotCos, -wantSin, wantCos)
	}
}

func TestSinCosOfHeadings(t *testing.T) {
	for _, r := range headings(t, 20_000) {
		checkSinCos(t, r)
	}
	for h := range 360 {
		checkSinCos(t, float64(h)*degree)
	}
}

func TestSinCosNearMultiplesOfQuarterTurns(t *testing.T) {
	for _, r := range nearQuarters() {
		checkSinCos(t, r)
	}
}

func TestSinCosOfHardAngles(t *testing.T) {
	for _, r := range hardAngles {
		s, c := sinCosDouble(r)
		if settled(s, sinCosBound) && settled(c, sinCosBound) {
			t.Errorf("sinCosDouble(%x) is settled, want it undecided: the slow path is not tested", r)
		}
		checkSinCos(t, r)
	}
}

func TestSinCosOfAllMagnitudes(t *testing.T) {
	rng := draws(t)
	for e := -40; e <= 1023; e++ {
		for range 3 {
			checkSinCos(t, math.Ldexp(1+rng.Float64(), e))
		}
	}
	for _, r := range []float64{
		0x1p-26, 0x1p-27, 0x1.fffffffffffffp-28, 0x1.6a09e667f3bcdp-27, 0x1.6a09e667f3bccp-27,
		1, 22, 355, 1e5, 1e22, 0x1p53, 0x1p1023, math.MaxFloat64,
		6381956970095103 * 0x1p797, // of all float64s the nearest to a multiple of pi/2
	} {
		checkSinCos(t, r)
	}
}

func TestSinCosOfSpecialValues(t *testing.T) {
	for _, r := range []float64{0, math.SmallestNonzeroFloat64, 0x1p-1030, 0x1p-1022, 1e-300, 1e-15, 0x1.fp-28} {
		for _, x := range []float64{r, math.Copysign(r, -1)} {
			sin, cos := SinCos(x)
			if math.Float64bits(sin) != math.Float64bits(x) || cos != 1 {
				t.Errorf("SinCos(%x): got %x, %x, want %x, 1", x, sin, cos, x)
			}
		}
	}
	for _, r := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if sin, cos := SinCos(r); sin == sin || cos == cos {
			t.Errorf("SinCos(%v): got %v, %v, want NaN, NaN", r, sin, cos)
		}
	}
}

// TestSinCosExactAgrees takes the slow path where the fast one would do.
func TestSinCosExactAgrees(t *testing.T) {
	for _, r := range append(headings(t, 2_000), 0x1p-27, 0x1.8p-20, 0.5, turnLimit) {
		for _, x := range []float64{r, -r} {
			wantSin, wantCos := SinCos(x)
			if sin, cos := sinCosExact(x); sin != wantSin || cos != wantCos {
				t.Fatalf("sinCosExact(%x): got %x, %x, want %x, %x", x, sin, cos, wantSin, wantCos)
			}
		}
	}
}

// TestSinCosDoubleErrorBound measures what the rounding test relies on, and
// wants it to hold twice over.
func TestSinCosDoubleErrorBound(t *testing.T) {
	worst := math.Inf(-1)
	measure := func(r float64) {
		s, c := sinCosDouble(r)
		wantSin, wantCos := referenceSinCos(r)
		worst = max(worst, relativeBits(s, wantSin), relativeBits(c, wantCos))
		for _, v := range []double{s, c} {
			if v.hi+v.lo != v.hi {
				t.Fatalf("sinCosDouble(%x): %x is not normalised", r, v)
			}
		}
	}
	for _, r := range headings(t, 6_000) {
		measure(r)
	}
	for _, r := range nearQuarters() {
		if r <= turnLimit {
			measure(r)
		}
	}
	rng := draws(t)
	for e := -27; e < 3; e++ {
		for range 50 {
			measure(math.Ldexp(1+rng.Float64(), e))
		}
	}
	t.Logf("largest relative error of sinCosDouble: 2^%.2f; bound used: 2^%.0f", worst, math.Log2(sinCosBound))
	if worst > math.Log2(sinCosBound)-1 {
		t.Errorf("relative error: got 2^%.2f, want below half of 2^%.0f", worst, math.Log2(sinCosBound))
	}
}

// TestSinCosFixedErrorBound does the same for the integers of the slow path.
func TestSinCosFixedErrorBound(t *testing.T) {
	inputs := append(headings(t, 500), hardAngles...)
	inputs = append(inputs, -1, 0x1p-27, 1e22, math.MaxFloat64)
	for _, r := range inputs {
		wantSin, wantCos := referenceSinCos(r)
		for _, bits := range []int{192, 224} {
			s, c := sinCosFixed(r, bits)
			for _, p := range []struct {
				got  *big.Int
				want *big.Float
			}{{s, wantSin}, {c, wantCos}} {
				diff := number(0).SetInt(p.got)
				diff.Sub(diff, number(0).SetMantExp(p.want, bits))
				if d, _ := diff.Float64(); !(math.Abs(d) < float64(bits)/2) {
					t.Fatalf("sinCosFixed(%x, %d): off by %v units, want less than half of %d", r, bits, d, bits)
				}
			}
		}
	}
}

func TestRoundFixed(t *testing.T) {
	const bits = 192
	unit := func(x float64) *big.Int {
		i, _ := number(0).SetMantExp(number(x), bits).Int(nil)
		return i
	}
	cases := []struct {
		name string
		v    *big.Int
		want float64
		ok   bool
	}{
		{"decides well inside", unit(0.75), 0.75, true},
		{"rounds a negative value", new(big.Int).Add(unit(-0.75), big.NewInt(5)), -0.75, true},
		{"refuses a midpoint", new(big.Int).Add(unit(0.5), unit(0x1p-54)), 0, false},
		{"refuses a value within its error of a midpoint", new(big.Int).Add(unit(0.5+0x1p-53), new(big.Int).Add(unit(0x1p-54), big.NewInt(bits-1))), 0, false},
		{"decides a value just outside its error of a midpoint", new(big.Int).Add(unit(0.5), new(big.Int).Add(unit(0x1p-54), big.NewInt(bits+1))), 0.5 + 0x1p-53, true},
		{"refuses a value that may be zero", big.NewInt(3), 0, false},
	}
	for _, c := range cases {
		got, ok := roundFixed(c.v, bits)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("it %s: got %x, %v, want %x, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

func TestPi(t *testing.T) {
	for _, bits := range []int{190, 300, sharedPiBits, sharedPiBits + 64, sharedPiBits + 150} {
		diff := new(big.Float).SetPrec(widePi.Prec()).SetInt(piFixed(bits))
		diff.Sub(diff, new(big.Float).SetMantExp(widePi, bits))
		if d, _ := diff.Float64(); !(math.Abs(d) < 1) {
			t.Errorf("piFixed(%d): off by %v units, want less than 1", bits, d)
		}
	}
}
