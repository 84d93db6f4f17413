package elementary

import (
	"math"
	"math/big"
	"testing"
)

// checkError measures f against the reference on the inputs, logs the largest
// error and fails above the limit, both in ulp.
func checkError(t *testing.T, name string, inputs []float64, limit float64, f func(float64) float64, reference func(float64) *big.Float) {
	t.Helper()
	worst, at := 0.0, 0.0
	for _, x := range inputs {
		if d := ulps(f(x), reference(x)); !(d <= worst) {
			worst, at = d, x
		}
	}
	t.Logf("%s: largest error of %d inputs %.4f ulp, at %x; limit %v", name, len(inputs), worst, at, limit)
	if !(worst <= limit) {
		t.Errorf("%s: got an error of %v ulp at %x, want at most %v", name, worst, at, limit)
	}
}

// checkMonotone wants f to grow or stay from each input to the next float64s.
func checkMonotone(t *testing.T, name string, inputs []float64, f func(float64) float64) {
	t.Helper()
	for _, x := range inputs {
		y := f(x)
		for range 4 {
			next := math.Nextafter(x, math.Inf(1))
			z := f(next)
			if !(z >= y) {
				t.Fatalf("%s falls from %x at %x to %x at %x, want it to grow", name, y, x, z, next)
			}
			x, y = next, z
		}
	}
}

// checkValues compares f with exact wants, telling -0 from 0.
func checkValues(t *testing.T, name string, f func(float64) float64, cases [][2]float64) {
	t.Helper()
	for _, c := range cases {
		got, want := f(c[0]), c[1]
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s(%x): got %x, want %x", name, c[0], got, want)
		}
	}
}

// uniform returns n draws from [lo, hi).
func uniform(t testing.TB, n int, lo, hi float64) []float64 {
	rng := draws(t)
	all := make([]float64, n)
	for i := range all {
		all[i] = lo + float64((hi-lo)*rng.Float64())
	}
	return all
}

// allMagnitudes returns draws of either sign with exponents lo <= e < hi.
func allMagnitudes(t testing.TB, perExponent, lo, hi int) []float64 {
	rng := draws(t)
	var all []float64
	for e := lo; e < hi; e++ {
		for range perExponent {
			x := math.Ldexp(1+rng.Float64(), e)
			all = append(all, x, -x)
		}
	}
	return all
}
