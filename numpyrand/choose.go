package numpyrand

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// The choices that Generator and RandomState make alike, but for their draws. Those are passed as functions: behind an
// interface or a type parameter the stream would escape, and each of its copies that is drawn from be allocated.

// chooseN fills dst with indices of k items. upTo draws a number of 0 to last.
func chooseN(dst []int, k int, upTo func(last uint64) uint64) error {
	if err := checkItems(k, len(dst)); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = int(upTo(uint64(k) - 1))
	}
	return nil
}

// chooseWeighted is chooseNWeighted for one index, without a table.
func chooseWeighted(p []float64, random func() float64) (int, error) {
	if err := checkProbabilities(p); err != nil {
		return 0, err
	}
	total := 0.0
	for _, v := range p {
		total += v
	}
	x := random()
	i, sum := 0, p[0]
	for i < len(p)-1 && sum/total <= x { // the last quotient is exactly 1 and needs no test
		i++
		sum += p[i]
	}
	return i, nil
}

// chooseNWeighted fills dst with indices of p, each with its probability. random draws a fraction in [0, 1).
func chooseNWeighted(dst []int, p []float64, random func() float64) error {
	if err := checkProbabilities(p); err != nil {
		return err
	}
	cdf := make([]float64, len(p))
	cumulate(cdf, p)
	for i := range dst {
		dst[i] = search(cdf, random())
	}
	return nil
}

// chooseDistinctWeighted is chooseNWeighted for distinct indices.
func chooseDistinctWeighted(dst []int, p []float64, random func() float64) error {
	if err := checkProbabilities(p); err != nil {
		return err
	}
	if err := checkDistinct(len(p), len(dst)); err != nil {
		return err
	}
	positive := 0
	for _, v := range p {
		if v > 0 {
			positive++
		}
	}
	if positive < len(dst) {
		return fmt.Errorf("choose %d distinct items of %d with a positive probability", len(dst), positive)
	}
	left, cdf := slices.Clone(p), make([]float64, len(p))
	for n := 0; n < len(dst); {
		cumulate(cdf, left)
		for range len(dst) - n {
			if i := search(cdf, random()); left[i] > 0 {
				left[i] = 0
				dst[n] = i
				n++
			}
		}
	}
	return nil
}

// cumulate fills cdf with the running sums of weights, added from the left, each divided by the last.
func cumulate(cdf, weights []float64) {
	sum := 0.0
	for i, w := range weights {
		sum += w
		cdf[i] = sum
	}
	for i := range cdf {
		cdf[i] /= sum
	}
}

// search finds the first index with cdf > x. It exists, as the last value is 1 and x is less.
func search(cdf []float64, x float64) int {
	return sort.Search(len(cdf)-1, func(i int) bool { return cdf[i] > x })
}

func checkItems(k, n int) error {
	if k < 0 || k == 0 && n > 0 {
		return fmt.Errorf("choose %d of %d items: there must be an item to choose", n, k)
	}
	return nil
}

func checkDistinct(k, n int) error {
	if n > k {
		return fmt.Errorf("choose %d distinct items of %d", n, k)
	}
	return nil
}

// checkProbabilities refuses what NumPy refuses. The sum that must be near 1 is Kahan's compensated one, while the
// table that is searched is made of plain sums.
func checkProbabilities(p []float64) error {
	if len(p) == 0 {
		return errors.New("no probabilities: there must be an item to choose")
	}
	sum, excess := p[0], 0.0
	for i, v := range p {
		if v < 0 || math.IsNaN(v) {
			return fmt.Errorf("probability %d is %v", i, v)
		}
		if i > 0 {
			v -= excess
			next := sum + v
			excess = (next - sum) - v
			sum = next
		}
	}
	if !(math.Abs(sum-1) <= 0x1p-26) { // the square root of the float64 epsilon
		return fmt.Errorf("probabilities sum to %v, not 1", sum)
	}
	return nil
}
