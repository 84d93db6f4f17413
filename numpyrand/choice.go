package numpyrand

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Choice is choice(k): the index of one of k items. It is, and draws as, Integers(0, k). It panics if k <= 0.
func (g *Generator) Choice(k int) int {
	if k <= 0 {
		panic(fmt.Sprintf("numpyrand: Choice(%d): no item to choose from", k))
	}
	return int(g.upTo(uint64(k) - 1))
}

// ChoiceN is choice(k, size=len(dst)): indices of k items, with replacement. It draws as len(dst) calls of Choice.
//
// It is an error if k is negative, or 0 with a dst to fill.
func (g *Generator) ChoiceN(dst []int, k int) error {
	if err := checkItems(k, len(dst)); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = int(g.upTo(uint64(k) - 1))
	}
	return nil
}

// ChoiceDistinct is choice(k, size=len(dst), replace=False, shuffle=shuffle): indices of k items, none twice.
// Without shuffle every subset is equally likely, but not every order of it; it draws less.
//
// NumPy has two methods, and picks the second if k > 10000 and len(dst) > k/50 (k/20 without shuffle):
//
//   - Floyd's: for each item one draw as Choice(k-len(dst)+1), … Choice(k); then, with shuffle, a Fisher-Yates
//     shuffle of them, drawing Choice(len(dst)), … Choice(1);
//   - the last len(dst) steps of a Fisher-Yates shuffle of all k, drawing Choice(k), Choice(k-1), …, with or
//     without shuffle; this takes memory for k indices.
//
// It is an error if dst is longer than k, or k negative.
func (g *Generator) ChoiceDistinct(dst []int, k int, shuffle bool) error {
	if err := checkItems(k, len(dst)); err != nil {
		return err
	}
	if err := checkDistinct(k, len(dst)); err != nil {
		return err
	}
	few := 20
	if shuffle {
		few = 50
	}
	if k > 10_000 && len(dst) > k/few {
		all := make([]int, k)
		for i := range all {
			all[i] = i
		}
		g.shuffleTail(all, k-len(dst))
		copy(dst, all[k-len(dst):])
		return nil
	}
	g.floyd(dst, k)
	if shuffle {
		g.shuffleTail(dst, 0)
	}
	return nil
}

// floyd fills dst with distinct indices below k (Bentley and Floyd, A Sample of Brilliance, 1987): the i-th step
// draws from one index more than the step before, and takes that newest index if the drawn one is taken already.
func (g *Generator) floyd(dst []int, k int) {
	taken := make(map[int]struct{}, len(dst))
	for i := range dst {
		newest := k - len(dst) + i
		v := int(g.upTo(uint64(newest)))
		if _, found := taken[v]; found {
			v = newest
		}
		taken[v] = struct{}{}
		dst[i] = v
	}
}

// shuffleTail does the first steps of a Fisher-Yates shuffle, which settle the items from index from on.
func (g *Generator) shuffleTail(items []int, from int) {
	for i := len(items) - 1; i >= from; i-- {
		j := g.upTo(uint64(i))
		items[i], items[j] = items[j], items[i]
	}
}

// ChoiceWeighted is choice(len(p), p=p): the index i with probability p[i]. It takes one output and does not
// allocate.
//
// It is an error if p is empty, holds a negative number or NaN, or if its sum is not 1 within 2^-26.
func (g *Generator) ChoiceWeighted(p []float64) (int, error) {
	if err := checkProbabilities(p); err != nil {
		return 0, err
	}
	total := 0.0
	for _, v := range p {
		total += v
	}
	x := g.Random()
	i, sum := 0, p[0]
	for i < len(p)-1 && sum/total <= x { // the last quotient is exactly 1 and needs no test
		i++
		sum += p[i]
	}
	return i, nil
}

// ChoiceNWeighted is choice(len(p), size=len(dst), p=p), with replacement. It draws as len(dst) calls of
// ChoiceWeighted, and has the same errors.
func (g *Generator) ChoiceNWeighted(dst []int, p []float64) error {
	if err := checkProbabilities(p); err != nil {
		return err
	}
	cdf := make([]float64, len(p))
	cumulate(cdf, p)
	for i := range dst {
		dst[i] = search(cdf, g.Random())
	}
	return nil
}

// ChoiceDistinctWeighted is choice(len(p), size=len(dst), replace=False, p=p). It goes in rounds: as many outputs as
// indices are missing, looked up in the same table; an index met for the first time is kept, and its probability is
// 0 from the next round on.
//
// It is an error if dst is longer than the number of positive probabilities, and where ChoiceWeighted has one.
func (g *Generator) ChoiceDistinctWeighted(dst []int, p []float64) error {
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
			if i := search(cdf, g.Random()); left[i] > 0 {
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
