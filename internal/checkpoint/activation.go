package checkpoint

import (
	"math"

	"skyrail/internal/elementary"
)

// activations are torch's modules that are read, with their default settings: policy_kwargs name a class, so they
// cannot have others.
var activations = map[class]func(float64) float64{
	{"torch.nn.modules.activation", "Tanh"}:      elementary.Tanh,
	{"torch.nn.modules.activation", "ReLU"}:      relu,
	{"torch.nn.modules.activation", "ELU"}:       elu,
	{"torch.nn.modules.activation", "LeakyReLU"}: leakyReLU,
	{"torch.nn.modules.activation", "SiLU"}:      silu,
	{"torch.nn.modules.activation", "GELU"}:      gelu,
	{"torch.nn.modules.activation", "Sigmoid"}:   sigmoid,
	{"torch.nn.modules.linear", "Identity"}:      identity,
}

func identity(x float64) float64 { return x }

func relu(x float64) float64 {
	if x < 0 {
		return 0
	}
	return x
}

func leakyReLU(x float64) float64 {
	if x < 0 {
		return float64(x * float64(float32(0.01)))
	}
	return x
}

func elu(x float64) float64 {
	switch {
	case x > 0:
		return x
	case x > -1e-5: // e^x - 1 would cancel
		return x + float64(float64(x*x)*(0.5+float64(x/6)))
	}
	return elementary.Exp(x) - 1
}

func sigmoid(x float64) float64 { return 1 / (1 + elementary.Exp(-x)) }

func silu(x float64) float64 { return float64(x * sigmoid(x)) }

// gelu is x times the normal distribution function, not its approximation by tanh.
func gelu(x float64) float64 { return float64(float64(0.5*x) * (1 + erf(float64(x*math.Sqrt2/2)))) }

// erf is the error function to 2^-45, by the series 2/sqrt(pi) e^(-x²) sum of 2^n x^(2n+1) / (1·3·…·(2n+1)), whose
// terms are all of one sign.
func erf(x float64) float64 {
	switch {
	case x != x:
		return x
	case math.Abs(x) >= 6: // 1 - erf(6) < 2^-55
		return math.Copysign(1, x)
	}
	u := float64(x * x)
	sum, term := x, x
	for n := 3.0; math.Abs(term) > float64(0x1p-54*math.Abs(sum)); n += 2 {
		term = float64(term*float64(2*u)) / n
		sum += term
	}
	return float64(float64(2/math.Sqrt(math.Pi)*elementary.Exp(-u)) * sum)
}

// log is the natural logarithm of a positive number to 2^-50 or so, the same bits everywhere.
func log(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = float64(2*m), e-1
	}
	s := (m - 1) / (m + 1) // |s| < 0.18, log m = 2 atanh s
	u := float64(s * s)
	sum := 0.0
	for n := 23.0; n >= 1; n -= 2 {
		sum = 1/n + float64(u*sum)
	}
	return float64(float64(2*s)*sum) + float64(float64(e)*math.Ln2)
}
