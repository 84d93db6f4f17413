package numpyrand

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestLogIsCorrectlyRounded(t *testing.T) {
	args := []float64{0x1p-1074, 0x1p-1022, 0x1p-53, 0.5, math.Sqrt2 / 2, math.Nextafter(math.Sqrt2/2, 0), math.Nextafter(1, 0), math.Nextafter(1, 2), math.Sqrt2, 2, math.E, 3, 10, math.MaxFloat64}
	r := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		args = append(args, r.Float64(), 1+(r.Float64()-0.5)*math.Pow(2, -float64(r.IntN(50))), math.Float64frombits(r.Uint64N(0x7ff<<52)))
	}
	for _, x := range args {
		if got, want := log(x), bigLog(x); got != want {
			t.Errorf("log(%v): got %v, want %v", x, got, want)
		}
	}
	for _, c := range []struct{ x, want float64 }{{0, math.Inf(-1)}, {1, 0}} {
		if got := log(c.x); got != c.want || math.Signbit(got) != math.Signbit(c.want) {
			t.Errorf("log(%v): got %v, want %v", c.x, got, c.want)
		}
	}
}

// bigLog is the logarithm from 250 bits, rounded once: of x = m * 2^e as e*2*atanh(1/3) + 2*atanh((m-1)/(m+1)).
func bigLog(x float64) float64 {
	m, e := math.Frexp(x)
	if m < 0.75 {
		m, e = 2*m, e-1
	}
	one, value := newBig(1), newBig(m)
	v := twiceAtanh(newBig(0).Quo(newBig(0).Sub(value, one), newBig(0).Add(value, one)))
	third := newBig(0).Quo(one, newBig(3))
	v.Add(v, newBig(0).Mul(newBig(float64(e)), twiceAtanh(third)))
	f, _ := v.Float64()
	return f
}

func twiceAtanh(s *big.Float) *big.Float {
	sum, power, square := newBig(0), newBig(0).Add(s, s), newBig(0).Mul(s, s)
	for n := 1.0; n < 160; n += 2 { // (1/3)^160 is below 2^-250
		sum.Add(sum, newBig(0).Quo(power, newBig(n)))
		power.Mul(power, square)
	}
	return sum
}

func newBig(v float64) *big.Float { return new(big.Float).SetPrec(250).SetFloat64(v) }
