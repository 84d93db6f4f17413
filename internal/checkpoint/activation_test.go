package checkpoint

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"

	"skyrail/flight"
	"skyrail/flight/agent"
)

// The functions are compared with package math, whose own accuracy is far beyond what is asked of them here.
func TestFunctions(t *testing.T) {
	for _, c := range []struct {
		name      string
		f, want   func(float64) float64
		lo, hi    float64
		tolerance float64 // relative, and absolute below 1e-300
	}{
		{"log", log, math.Log, 0x1p-20, 1e6, 1e-14},
		{"log near 1", log, math.Log, 0.9, 1.1, 1e-13},
		{"erf", erf, math.Erf, -7, 7, 1e-13},
		{"erf near 0", erf, math.Erf, -1e-3, 1e-3, 1e-13},
		{"elu", elu, func(x float64) float64 { return max(x, math.Expm1(min(x, 0))) }, -30, 2, 1e-10},
		{"elu near 0", elu, func(x float64) float64 { return max(x, math.Expm1(min(x, 0))) }, -3e-5, 1e-9, 1e-10},
		{"sigmoid", sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, -30, 30, 1e-13},
	} {
		const steps = 20_011
		for i := range steps {
			x := c.lo + (c.hi-c.lo)*float64(i)/(steps-1)
			got, want := c.f(x), c.want(x)
			if !(math.Abs(got-want) <= c.tolerance*math.Abs(want)+1e-300) {
				t.Errorf("%s(%v): got %v, want %v", c.name, x, got, want)
				break
			}
		}
	}
}

func TestFunctionsAtTheEnds(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name    string
		f       func(float64) float64
		x, want float64
	}{
		{"log", log, 1, 0}, {"erf", erf, inf, 1}, {"erf", erf, -inf, -1}, {"erf", erf, 0, 0},
		{"relu", relu, -1, 0}, {"leakyrelu", leakyReLU, -2, -2 * float64(float32(0.01))}, {"sigmoid", sigmoid, -inf, 0},
		{"identity", identity, -3, -3}, {"gelu", gelu, -40, 0}, {"silu", silu, -800, 0},
	} {
		if got := c.f(c.x); got != c.want {
			t.Errorf("%s(%v): got %v, want %v", c.name, c.x, got, c.want)
		}
	}
	for name, f := range map[string]func(float64) float64{"erf": erf, "relu": relu, "elu": elu, "gelu": gelu} {
		if got := f(math.NaN()); got == got {
			t.Errorf("%s(NaN): got %v, want NaN", name, got)
		}
	}
}

// TestSameBitsEverywhere pins the bits of every probability of every model by their hash. The hash is this package's
// own, from one platform, and says that the others agree with it; TestAnswersEqualStableBaselines3 says they are right.
func TestSameBitsEverywhere(t *testing.T) {
	const want = 0x8b06f29fa1cd50d5
	hash := fnv.New64a()
	p := make([]float64, flight.DefaultConfig().Actions())
	for _, model := range models(t) {
		pilot, err := open(t, model).Agent(flight.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		d, ok := pilot.(agent.Distribution)
		if !ok {
			continue
		}
		for _, obs := range observations(t) {
			d.Probabilities(obs, p)
			binary.Write(hash, binary.LittleEndian, p)
		}
	}
	if got := hash.Sum64(); got != want {
		t.Errorf("got %#016x, want %#016x", got, uint64(want))
	}
}
