package elementary

import (
	"math"
	"math/big"
	"testing"
)

// exactBits holds any sum of the squares of two float64s.
const exactBits = 4400

// isHypot reports whether h is sqrt(x^2 + y^2) rounded to the nearest float64,
// ties to even, by the definition: it compares, exactly, with the squares of the
// midpoints on both sides of h.
func isHypot(h, x, y float64) bool {
	exact := func(v float64) *big.Float {
		if math.IsInf(v, 1) { // stands for what would follow MaxFloat64
			return new(big.Float).SetMantExp(wide(exactBits, 1), 1024)
		}
		return wide(exactBits, v)
	}
	square := func(v *big.Float) *big.Float { return new(big.Float).SetPrec(exactBits).Mul(v, v) }
	sum := square(exact(x))
	sum.Add(sum, square(exact(y)))
	against := func(neighbour float64) int { // sum against the midpoint of h and its neighbour
		m := exact(h)
		m.Add(m, exact(neighbour))
		return sum.Cmp(square(m.SetMantExp(m, -1)))
	}

	even := math.Float64bits(h)&1 == 0
	if h > 0 {
		if c := against(math.Nextafter(h, 0)); c < 0 || c == 0 && !even {
			return false
		}
	}
	if !math.IsInf(h, 1) {
		if c := against(math.Nextafter(h, math.Inf(1))); c > 0 || c == 0 && !even {
			return false
		}
	}
	return true
}

// checkHypot wants Hypot of x and y correctly rounded, whatever the signs and order.
func checkHypot(t *testing.T, x, y float64) {
	t.Helper()
	h := Hypot(x, y)
	if !isHypot(h, x, y) {
		t.Errorf("Hypot(%x, %x): got %x, want the nearest float64 (math.Hypot says %x)", x, y, h, math.Hypot(x, y))
	}
	for _, again := range []float64{Hypot(y, x), Hypot(-x, y), Hypot(x, -y), Hypot(-y, -x)} {
		if again != h {
			t.Errorf("Hypot of ±%x, ±%x: got %x and %x, want one answer", x, y, again, h)
		}
	}
}

func TestIsHypot(t *testing.T) {
	cases := []struct {
		name    string
		h, x, y float64
		want    bool
	}{
		{"accepts 3, 4, 5", 5, 3, 4, true},
		{"refuses one above", math.Nextafter(5, 6), 3, 4, false},
		{"refuses one below", math.Nextafter(5, 4), 3, 4, false},
		{"accepts the even side of a tie", 0x1p53 + 4, 3 * tieUnit, 4 * tieUnit, true},
		{"refuses the odd side of a tie", 0x1p53 + 2, 3 * tieUnit, 4 * tieUnit, false},
		{"accepts overflow", math.Inf(1), math.MaxFloat64, math.MaxFloat64, true},
		{"refuses overflow", math.Inf(1), math.MaxFloat64, 1, false},
		{"refuses saturation", math.MaxFloat64, math.MaxFloat64, math.MaxFloat64, false},
	}
	for _, c := range cases {
		if got := isHypot(c.h, c.x, c.y); got != c.want {
			t.Errorf("it %s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// tieUnit makes 5*tieUnit = 2^53 + 3, midway between two float64s.
const tieUnit = (0x1p53 + 3) / 5

func TestHypotIsCorrectlyRounded(t *testing.T) {
	rng := draws(t)
	for range 30_000 { // positions in metres
		checkHypot(t, 20_000*rng.Float64()-10_000, 20_000*rng.Float64()-10_000)
	}
	for e := -1074; e <= 1023; e++ { // all magnitudes and proportions
		for range 4 {
			x := math.Ldexp(1+rng.Float64(), e)
			checkHypot(t, x, math.Ldexp(1+rng.Float64(), e-rng.IntN(60)))
			checkHypot(t, x, x)
		}
	}
	for range 5_000 { // subnormals
		checkHypot(t, math.Float64frombits(rng.Uint64()>>(11+rng.IntN(50))), math.Float64frombits(rng.Uint64()>>(11+rng.IntN(50))))
	}
}

// TestHypotOfTriples has roots that are exact, or ties that the slow path must decide.
func TestHypotOfTriples(t *testing.T) {
	triples := [][3]float64{{3, 4, 5}, {5, 12, 13}, {8, 15, 17}, {7, 24, 25}, {20, 21, 29}, {9, 40, 41}, {119, 120, 169}}
	rng := draws(t)
	for _, tr := range triples {
		a, b, c := tr[0], tr[1], tr[2]
		for range 50 {
			// A whole number m with b*m < 2^53 <= c*m: with m odd a tie, with m
			// even exact.
			m := math.Ceil(0x1p53/c + rng.Float64()*(0x1p53/b-0x1p53/c-2))
			for _, shift := range []int{0, -1124, -1110, -1060, -600, 400, 900, 970} {
				checkHypot(t, math.Ldexp(a*m, shift), math.Ldexp(b*m, shift))
			}
		}
	}
	checkHypot(t, 3*tieUnit, 4*tieUnit)
}

// TestHypotJustAboveMidpoints has x^2 + y^2 = m^2 + c, with m midway between an
// even x and the next float64 and c so small (1, 9, 17) that the root agrees with m
// for more than 64 bits beyond the point.
func TestHypotJustAboveMidpoints(t *testing.T) {
	for _, c := range [][2]float64{
		{0x1.4400000000002p+78, 0x1.2000000000001p+52},
		{0x1.e400000000008p+78, 0x1.6000000000003p+52},
		{0x1.9a5efd805abb8p+78, 0x1.441f333d326e9p+52},
	} {
		x, y := c[0], c[1]
		if got, want := Hypot(x, y), math.Nextafter(x, math.Inf(1)); got != want {
			t.Errorf("Hypot(%x, %x): got %x, want %x", x, y, got, want)
		}
		checkHypot(t, x, y)
	}
}

func TestHypotAtBoundaries(t *testing.T) {
	var edges []float64
	for _, x := range []float64{
		math.SmallestNonzeroFloat64, 0x1p-1022, 0x1p-1021, 0x1p-1020, 0x1p-479, 0x1p-478, 0x1p-451, 0x1p-450, 0x1p-422,
		0x1p-28, 0x1p-27, 1, 0x1p27, 0x1p28, 0x1p472, 0x1p499, 0x1p500, 0x1p501, 0x1p995, 0x1p1023, math.MaxFloat64 / math.Sqrt2, math.MaxFloat64,
	} {
		edges = append(edges, x, math.Nextafter(x, 0), math.Nextafter(x, math.MaxFloat64))
	}
	for _, x := range edges {
		for _, y := range edges {
			checkHypot(t, x, y)
		}
		checkHypot(t, x, 0x1p-28*x)
		checkHypot(t, x, math.Nextafter(0x1p-28*x, math.MaxFloat64))
	}
}

func TestHypotOfSpecialValues(t *testing.T) {
	inf, nan, zero, tiny := math.Inf(1), math.NaN(), math.Copysign(0, -1), math.SmallestNonzeroFloat64
	cases := [][3]float64{
		{600, 800, 1000}, {-600, 800, 1000}, {3, 4, 5}, {3e-320, 4e-320, 5e-320}, {3e300, 4e300, 5e300},
		{0, 0, 0}, {zero, zero, 0}, {zero, 0, 0}, {1.5, 0, 1.5}, {zero, -1.5, 1.5},
		{tiny, 0, tiny}, {tiny, tiny, tiny}, {0, -math.MaxFloat64, math.MaxFloat64},
		{math.MaxFloat64, math.MaxFloat64, inf},
		{inf, 1, inf}, {1, -inf, inf}, {inf, nan, inf}, {nan, -inf, inf}, {-inf, -inf, inf},
		{nan, 1, nan}, {0, nan, nan}, {nan, nan, nan},
	}
	for _, c := range cases {
		got, want := Hypot(c[0], c[1]), c[2]
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("Hypot(%v, %v): got %x, want %x", c[0], c[1], got, want)
		}
	}
}

// TestHypotExactAgrees takes the slow path where the fast one would do.
func TestHypotExactAgrees(t *testing.T) {
	rng := draws(t)
	for range 5_000 {
		x := 1 + rng.Float64()
		y := math.Ldexp(x*rng.Float64(), -rng.IntN(28))
		if got, want := hypotExact(x, y), Hypot(x, y); got != want {
			t.Fatalf("hypotExact(%x, %x): got %x, want %x", x, y, got, want)
		}
	}
}

// TestHypotBelowPowersOfTwo has roots within a unit below a power of two, where the
// float64s lie twice as dense as above.
func TestHypotBelowPowersOfTwo(t *testing.T) {
	rng := draws(t)
	above := 0
	for range 5_000 {
		y := 0.7 * rng.Float64()
		x := math.Sqrt((1 - y) * (1 + y))
		for _, x := range []float64{math.Nextafter(x, 0), x, math.Nextafter(x, 1)} {
			if float64(x*x)+float64(y*y) >= 1 && Hypot(x, y) < 1 {
				above++
			}
			checkHypot(t, x, y)
			checkHypot(t, 0x1p-470*x, 0x1p-470*y)
		}
	}
	if above < 10 {
		t.Errorf("only %d roots below 1 were 1 as float64s have it: the slow path is hardly tested", above)
	}
}
