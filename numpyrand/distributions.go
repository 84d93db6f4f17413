package numpyrand

import (
	"fmt"
	"math"

	"skyrail/internal/elementary"
)

// Gauss is standard_normal(): one of a pair of normal numbers that Marsaglia's polar method makes of two calls of
// Random, and of two more each time the point they give is outside the unit circle (or its centre). The other number
// of the pair waits and is the next one, for which nothing is drawn.
//
// NumPy takes the logarithm from the C library it runs on, whose last bit is not the same everywhere. Ours is correctly
// rounded (elementary.Log), and so the same everywhere. Beside glibc on x86-64, one number in some 2700 differs, by one or two ulps;
// what is taken from the stream is the same.
func (r *RandomState) Gauss() float64 {
	if r.hasGauss {
		v := r.gauss
		r.gauss, r.hasGauss = 0, false
		return v
	}
	for {
		x := 2*r.Random() - 1 // exact, like the product
		y := 2*r.Random() - 1
		square := float64(x*x) + float64(y*y)
		if square >= 1 || square == 0 {
			continue
		}
		scale := math.Sqrt(float64(-2*elementary.Log(square)) / square)
		r.gauss, r.hasGauss = float64(scale*x), true
		return float64(scale * y)
	}
}

// Normal is normal(mean, deviation), which draws as Gauss does; normal(mean, deviation, size) is as many calls.
//
// It panics where NumPy raises: if deviation is negative (or -0).
func (r *RandomState) Normal(mean, deviation float64) float64 {
	if math.Signbit(deviation) && !math.IsNaN(deviation) {
		panic(fmt.Sprintf("numpyrand: Normal(%v, %v): the deviation must not be negative", mean, deviation))
	}
	return mean + float64(deviation*r.Gauss())
}

// MaxPoissonMean is the largest mean that Poisson takes, NumPy's on systems with a long of 64 bits: from there on
// numbers could be too large for int64.
const MaxPoissonMean = 9223372006484770816.0

// Poisson is poisson(mean). It draws nothing for a mean of 0, calls of Random until their product is at most
// exp(-mean) below 10, and from there on two calls of Random each time a number is rejected.
//
// NumPy takes exponential and logarithm from the C library, ours are elementary.Exp and elementary.Log; their last bits
// can decide whether a number is rejected. Below a mean of 10 that takes a product next to exp(-mean), about one in
// 2^50. Above, the sums that are compared lose bits as the mean grows, and after a first difference the streams are at
// different places. Beside glibc on x86-64, eight million draws at each of several means up to 10^11 were the same; of
// twelve streams of a million draws, one came to differ at 10^12 and two at 10^13.
//
// It panics where NumPy raises: if mean is negative, not a number or larger than MaxPoissonMean.
func (r *RandomState) Poisson(mean float64) int64 {
	if !(mean >= 0 && mean <= MaxPoissonMean) {
		panic(fmt.Sprintf("numpyrand: Poisson(%v): the mean must be a number of 0 to %v", mean, MaxPoissonMean))
	}
	switch {
	case mean >= 10:
		return r.poissonRejecting(mean)
	case mean == 0:
		return 0
	}
	count, end := int64(0), elementary.Exp(-mean)
	for product := r.Random(); product > end; product *= r.Random() {
		count++
	}
	return count
}

// poissonRejecting is Wolfgang Hörmann's PTRS (The Transformed Rejection Method for Generating Poisson Random
// Variables, Insurance: Mathematics and Economics 12, 1993). The order of the operations is NumPy's.
func (r *RandomState) poissonRejecting(mean float64) int64 {
	b := 0.931 + float64(2.53*math.Sqrt(mean))
	a := -0.059 + float64(0.02483*b)
	inverseAlpha := 1.1239 + 1.1328/(b-3.4)
	squeeze := 0.9277 - 3.6224/(b-2)
	logMean := elementary.Log(mean)
	for {
		u := r.Random() - 0.5
		v := r.Random()
		edge := 0.5 - math.Abs(u)
		k := math.Floor(float64((2*a/edge+b)*u) + mean + 0.43)
		if edge >= 0.07 && v <= squeeze {
			return int64(k)
		}
		if k < 0 || k >= 1<<63 || edge < 0.013 && v > edge {
			continue // beyond int64, C's conversion gives a negative number
		}
		height := elementary.Log(v) + elementary.Log(inverseAlpha) - elementary.Log(a/float64(edge*edge)+b)
		if height <= -mean+float64(k*logMean)-logFactorial(k) {
			return int64(k)
		}
	}
}

// stirling are the coefficients of Stirling's series for log gamma in NumPy's digits, of 1/x, 1/x^3, ….
var stirling = [...]float64{
	8.333333333333333e-02, -2.777777777777778e-03, 7.936507936507937e-04, -5.952380952380952e-04, 8.417508417508418e-04,
	-1.917526917526918e-03, 6.410256410256410e-03, -2.955065359477124e-02, 1.796443723688307e-01, -1.39243221690590e+00,
}

// logFactorial is NumPy's loggam(k+1), whose rounding is part of the stream: Stirling's series from 7 on, and below
// that its value at 7, less the logarithms of the factors on the way down.
func logFactorial(k float64) float64 {
	const logTwoPi = 1.8378770664093453
	x := k + 1
	if x <= 2 {
		return 0
	}
	at := max(x, 7)
	inverseSquare := float64((1 / at) * (1 / at))
	series := 0.0
	for i := len(stirling) - 1; i >= 0; i-- {
		series = float64(series*inverseSquare) + stirling[i]
	}
	v := series/at + 0.5*logTwoPi + float64((at-0.5)*elementary.Log(at)) - at
	for ; at > x; at-- {
		v -= elementary.Log(at - 1)
	}
	return v
}
