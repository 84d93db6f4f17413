package elementary

import (
	"math"
	"testing"
)

// around returns the float64s near the points and their negatives.
func around(points ...float64) []float64 {
	var all []float64
	for _, x := range points {
		lo, hi := x, x
		all = append(all, x, -x)
		for range 20 {
			lo, hi = math.Nextafter(lo, 0), math.Nextafter(hi, 99)
			all = append(all, lo, -lo, hi, -hi)
		}
	}
	return all
}

func TestTanhError(t *testing.T) {
	const limit = 0.55
	checkError(t, "Tanh on [-1/8, 1/8)", uniform(t, 10_000, -0.125, 0.125), limit, Tanh, referenceTanh)
	checkError(t, "Tanh on [1/8, 1/4)", uniform(t, 15_000, 0.125, 0.25), limit, Tanh, referenceTanh)
	checkError(t, "Tanh on [-1, 1)", uniform(t, 8_000, -1, 1), limit, Tanh, referenceTanh)
	checkError(t, "Tanh on [-20, 20)", uniform(t, 8_000, -20, 20), limit, Tanh, referenceTanh)
	checkError(t, "Tanh of small values", allMagnitudes(t, 10, -40, -3), limit, Tanh, referenceTanh)
	checkError(t, "Tanh, worst of a longer search", []float64{0x1.6791f1f5035b4p-03}, limit, Tanh, referenceTanh)
	checkError(t, "Tanh between branches", around(0x1p-28, 0.125, 19.06, 20), limit, Tanh, referenceTanh)
}

func TestTanhOfSpecialValues(t *testing.T) {
	inf, nan, tiny, zero := math.Inf(1), math.NaN(), math.SmallestNonzeroFloat64, math.Copysign(0, -1)
	checkValues(t, "Tanh", Tanh, [][2]float64{
		{0, 0}, {zero, zero}, {tiny, tiny}, {-tiny, -tiny}, {0x1p-1022, 0x1p-1022},
		{1.25e-15, 1.25e-15}, {-1.25e-15, -1.25e-15}, {0x1.fffffffffffffp-29, 0x1.fffffffffffffp-29},
		{19.1, 1}, {-19.1, -1}, {20, 1}, {-20, -1}, {1e300, 1}, {inf, 1}, {-inf, -1}, {nan, nan},
		{0x1.30fc1931f09c9p+4, 1 - 0x1p-53}, {0x1.30fc1931f09cap+4, 1}, // ln(2^55-1)/2, the last one that rounds below 1
	})
}

func TestTanhIsOddAndMonotone(t *testing.T) {
	checkOdd(t, "Tanh", uniform(t, 20_000, 0, 22), Tanh)
	checkOdd(t, "Tanh", allMagnitudes(t, 5, -60, -1), Tanh)
	checkMonotone(t, "Tanh", uniform(t, 50_000, -0.3, 0.3), Tanh)
	checkMonotone(t, "Tanh", uniform(t, 50_000, -20.5, 20.5), Tanh)
	checkMonotone(t, "Tanh", around(0x1p-28, 0.125, 20), Tanh)
}

func TestAtanhError(t *testing.T) {
	const limit = 0.55
	checkError(t, "Atanh on [-0.17, 0.17)", uniform(t, 5_000, -0.17, 0.17), limit, Atanh, referenceAtanh)
	checkError(t, "Atanh on [0.17, 0.6)", uniform(t, 8_000, 0.17, 0.6), limit, Atanh, referenceAtanh)
	checkError(t, "Atanh on (-1, 1)", uniform(t, 8_000, -1, 1), limit, Atanh, referenceAtanh)
	checkError(t, "Atanh of small values", allMagnitudes(t, 10, -40, -3), limit, Atanh, referenceAtanh)
	var nearOne []float64
	for _, d := range allMagnitudes(t, 20, -53, -3) {
		nearOne = append(nearOne, math.Copysign(1-math.Abs(d), d))
	}
	checkError(t, "Atanh, worst of a longer search", []float64{0x1.79bad60856d1p-03}, limit, Atanh, referenceAtanh)
	checkError(t, "Atanh near ±1", nearOne, limit, Atanh, referenceAtanh)
	// tanh((k-1/2) ln(2)/2): where the reduction takes another k
	var steps []float64
	for k := 1; k < 51; k++ {
		steps = append(steps, math.Tanh((float64(k)-0.5)*math.Ln2/2))
	}
	checkError(t, "Atanh between branches", around(append(steps, 0x1p-28, 0.17, 0.5, 0.999999)...), limit, Atanh, referenceAtanh)
}

func TestAtanhOfSpecialValues(t *testing.T) {
	inf, nan, tiny, zero := math.Inf(1), math.NaN(), math.SmallestNonzeroFloat64, math.Copysign(0, -1)
	checkValues(t, "Atanh", Atanh, [][2]float64{
		{0, 0}, {zero, zero}, {tiny, tiny}, {-tiny, -tiny}, {1.25e-15, 1.25e-15},
		{1, inf}, {-1, -inf}, {math.Nextafter(1, 2), nan}, {-2, nan}, {inf, nan}, {-inf, nan}, {nan, nan},
	})
}

func TestAtanhIsOddAndMonotone(t *testing.T) {
	checkOdd(t, "Atanh", uniform(t, 20_000, 0, 1), Atanh)
	checkMonotone(t, "Atanh", uniform(t, 50_000, -0.3, 0.3), Atanh)
	checkMonotone(t, "Atanh", uniform(t, 50_000, -1, 0.999), Atanh)
}

func checkOdd(t *testing.T, name string, inputs []float64, f func(float64) float64) {
	t.Helper()
	for _, x := range inputs {
		if plus, minus := f(x), f(-x); minus != -plus {
			t.Fatalf("%s(%x): got %x, want %x, minus that of %x", name, -x, minus, -plus, x)
		}
	}
}
