package elementary

import (
	"math"
	"math/big"
	"testing"
)

func expOf(x float64) *big.Float { return referenceExp(number(x)) }

// betweenRoots returns the float64s around the points where Exp changes its table row.
func betweenRoots() []float64 {
	var all []float64
	for k := -68800; k < 65000; k += 97 {
		x := (float64(k) + 0.5) * (math.Ln2 / 64)
		all = append(all, math.Nextafter(x, -1e9), x, math.Nextafter(x, 1e9))
	}
	return all
}

func TestExpError(t *testing.T) {
	const limit = 0.52
	checkError(t, "Exp on [-1, 1)", uniform(t, 15_000, -1, 1), limit, Exp, expOf)
	checkError(t, "Exp on [-40, 0)", uniform(t, 15_000, -40, 0), limit, Exp, expOf)
	checkError(t, "Exp on [-708, 709)", uniform(t, 8_000, -708, 709), limit, Exp, expOf)
	checkError(t, "Exp, subnormal", uniform(t, 5_000, -745.2, -708.3), limit, Exp, expOf)
	checkError(t, "Exp around -708", uniform(t, 2_000, -709, -707), limit, Exp, expOf)
	checkError(t, "Exp around 709", uniform(t, 2_000, 708.5, 709.78), limit, Exp, expOf)
	checkError(t, "Exp, worst of a longer search", []float64{-0x1.3856da98e6acp-05}, limit, Exp, expOf)
	checkError(t, "Exp between table rows", betweenRoots(), limit, Exp, expOf)
	checkError(t, "Exp of small values", allMagnitudes(t, 10, -70, -1), limit, Exp, expOf)
}

func TestExpOfSpecialValues(t *testing.T) {
	inf, nan, tiny := math.Inf(1), math.NaN(), math.SmallestNonzeroFloat64
	checkValues(t, "Exp", Exp, [][2]float64{
		{0, 1}, {math.Copysign(0, -1), 1}, {tiny, 1}, {-tiny, 1}, {0x1p-54, 1}, {-0x1p-55, 1},
		{0x1p-52, 1 + 0x1p-52}, {-0x1p-53, 1 - 0x1p-53},
		{nan, nan}, {inf, inf}, {-inf, 0},
		{0x1.62e42fefa39efp+9, 0x1.fffffffffff2ap+1023}, // the last finite one
		{0x1.62e42fefa39f0p+9, inf}, {710, inf}, {1e300, inf},
		{-0x1.74910d52d3051p+9, tiny}, // the last one above 2^-1075
		{-0x1.74910d52d3052p+9, 0}, {-746, 0}, {-747, 0}, {-1000, 0}, {-1e300, 0},
	})
}

func TestExpIsMonotone(t *testing.T) {
	for _, r := range [][2]float64{{-1, 1}, {-40, 0}, {-708, 709}, {-745.2, -707.9}, {708.9, 709.9}} {
		checkMonotone(t, "Exp", uniform(t, 20_000, r[0], r[1]), Exp)
	}
	checkMonotone(t, "Exp", betweenRoots(), Exp)
}
