package elementary

import (
	"math"
	"testing"
)

// hardLogs have a logarithm within 2^-23.9 ulp of a midpoint of two float64s: the
// hardest of 120 million random arguments.
var hardLogs = []float64{
	0x1.2d8003d191a2p-01, 0x1.39137f7fe328p-541, 0x1.0195a0ca81dc3p+00, 0x1.c98851d2ddc1cp-668,
	0x1.858ffe2d8578p-02, 0x1.31d6afd622304p+07, 0x1.00d967411c56fp+00, 0x1.517316c3d8a69p+1023,
	0x1.b44dff363e424p+09, 0x1.fd3ae2607b51ep-01, 0x1.aed45226136e1p+07, 0x1.e55275e460de1p-01,
	0x1.00b58c40adefcp+00, 0x1.fe8e6e1b56404p-01, 0x1.3489497a2ab9ep-01, 0x1.5282bd697f894p+281,
	0x1.33e8cc08d72cp-03, 0x1.1ad8d834de247p-01, 0x1.ff3a6c92da9dap-01, 0x1.270b2702f213ep-636,
	0x1.4b4254374d5b2p+18, 0x1.e0575c8b5cf38p+09, 0x1.fde98abb30703p-01, 0x1.fc7eaef28061fp-01,
}

// nearOne returns 1 ± n*2^-j, whose logarithms ± n*2^-j - n^2*2^-(2j+1) often lie
// on a midpoint but for the cube.
func nearOne() []float64 {
	var all []float64
	for j := 20; j <= 53; j++ {
		for n := 1.0; n < 70; n++ {
			all = append(all, 1+math.Ldexp(n, -j), 1-math.Ldexp(n, -j))
		}
	}
	return all
}

// betweenLogSteps returns the float64s around the points where Log changes its
// table row, and around the powers of two.
func betweenLogSteps() []float64 {
	var all []float64
	for k := -200; k < 200; k++ {
		for _, x := range []float64{math.Exp2(float64(k) / 64), math.Exp2((float64(k) + 0.5) / 64)} {
			all = append(all, math.Nextafter(x, 0), x, math.Nextafter(x, 9))
		}
	}
	for e := -1074; e < 1024; e += 13 {
		x := math.Ldexp(1, e)
		all = append(all, math.Nextafter(x, 9), x)
	}
	return all
}

// positive returns draws with exponents lo <= e < hi.
func positive(t testing.TB, perExponent, lo, hi int) []float64 {
	all := allMagnitudes(t, perExponent, lo, hi)
	for i, x := range all {
		all[i] = math.Abs(x)
	}
	return all
}

func checkLog(t *testing.T, inputs ...float64) {
	t.Helper()
	for _, x := range inputs {
		if x <= 0 {
			continue
		}
		if got, want := Log(x), rounded(referenceLog(x)); got != want {
			t.Errorf("Log(%x): got %x, want %x", x, got, want)
		}
	}
}

func TestLogIsCorrectlyRounded(t *testing.T) {
	checkLog(t, uniform(t, 5_000, 0, 1)...)
	checkLog(t, uniform(t, 5_000, 0.5, 2)...)
	checkLog(t, positive(t, 2, -1074, 1024)...)
	checkLog(t, betweenLogSteps()...)
	checkLog(t, nearOne()...)
	checkLog(t, hardLogs...)
	checkLog(t, math.SmallestNonzeroFloat64, 0x1p-1022, math.Nextafter(0x1p-1022, 0), math.E, 10, math.MaxFloat64)
}

func TestLogOfSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	checkValues(t, "Log", Log, [][2]float64{
		{1, 0}, {0, -inf}, {math.Copysign(0, -1), -inf}, {inf, inf},
		{nan, nan}, {-inf, nan}, {-1, nan}, {-math.SmallestNonzeroFloat64, nan},
	})
}

func TestLogIsMonotone(t *testing.T) {
	checkMonotone(t, "Log", uniform(t, 20_000, 0, 2), Log)
	checkMonotone(t, "Log", positive(t, 5, -1074, 1023), Log)
	checkMonotone(t, "Log", betweenLogSteps(), Log)
}

// TestLogDoubleErrorBound measures what the rounding test relies on, and wants it
// to hold twice over.
func TestLogDoubleErrorBound(t *testing.T) {
	inputs := append(uniform(t, 8_000, 0, 1), uniform(t, 8_000, 0.98, 1.02)...)
	inputs = append(append(inputs, positive(t, 2, -1074, 1024)...), betweenLogSteps()...)
	inputs = append(append(inputs, nearOne()...), hardLogs...)
	worst, at := math.Inf(-1), 0.0
	for _, x := range inputs {
		if x <= 0 || x == 1 {
			continue
		}
		v := logDouble(x)
		if v.hi+v.lo != v.hi {
			t.Fatalf("logDouble(%x): %x is not normalised", x, v)
		}
		if b := relativeBits(v, referenceLog(x)); b > worst {
			worst, at = b, x
		}
	}
	t.Logf("largest relative error of logDouble: 2^%.2f, at %x; bound used: 2^%.0f", worst, at, math.Log2(logBound))
	if worst > math.Log2(logBound)-1 {
		t.Errorf("relative error: got 2^%.2f at %x, want below half of 2^%.0f", worst, at, math.Log2(logBound))
	}
}

// TestLogSettlesTheRest takes the slow path where it is needed: at 1 - 2^-52 the
// rounded result of the fast one is wrong.
func TestLogSettlesTheRest(t *testing.T) {
	const x = 1 - 0x1p-52
	v := logDouble(x)
	if want := rounded(referenceLog(x)); v.hi == want || settled(v, logBound) {
		t.Errorf("logDouble(%x): got %x, settled %v, want it undecided and not %x: the slow path is not tested", x, v, settled(v, logBound), want)
	}
	checkLog(t, x)
}

// TestLogExactAgrees takes the slow path where the fast one would do.
func TestLogExactAgrees(t *testing.T) {
	inputs := append(uniform(t, 500, 0, 2), positive(t, 1, -1074, 1024)...)
	for _, x := range append(append(inputs, hardLogs...), nearOne()...) {
		if x <= 0 || x == 1 {
			continue
		}
		if got, want := logExact(x), Log(x); got != want {
			t.Fatalf("logExact(%x): got %x, want %x", x, got, want)
		}
	}
}

// TestLogFixedErrorBound does as TestLogDoubleErrorBound for the integers of the
// slow path.
func TestLogFixedErrorBound(t *testing.T) {
	inputs := append(uniform(t, 500, 0, 2), hardLogs...)
	inputs = append(inputs, math.SmallestNonzeroFloat64, 1-0x1p-53, 1, 1+0x1p-52, 2, math.MaxFloat64)
	for _, x := range inputs {
		want := referenceLog(x)
		for _, bits := range []int{192, 224} {
			diff := number(0).SetInt(logFixed(x, bits))
			diff.Sub(diff, number(0).SetMantExp(want, bits))
			if d, _ := diff.Float64(); !(math.Abs(d) < float64(bits)/2) {
				t.Fatalf("logFixed(%x, %d): off by %v units, want less than half of %d", x, bits, d, bits)
			}
		}
	}
}
