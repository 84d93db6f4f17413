package numpyrand

import "fmt"

// Choice is choice(k): the index of one of k items. It is, and draws as, Randint(0, k). It panics if k <= 0.
func (r *RandomState) Choice(k int) int {
	if k <= 0 {
		panic(fmt.Sprintf("numpyrand: Choice(%d): no item to choose from", k))
	}
	return int(r.upTo(uint64(k) - 1))
}

// ChoiceN is choice(k, size=len(dst)): indices of k items, with replacement. It draws as len(dst) calls of Choice.
//
// It is an error if k is negative, or 0 with a dst to fill.
func (r *RandomState) ChoiceN(dst []int, k int) error {
	return chooseN(dst, k, r.upTo)
}

// ChoiceDistinct is choice(k, size=len(dst), replace=False): indices of k items, none twice. They are the first of a
// permutation of all k, which is always drawn whole, and takes memory for k indices.
//
// It is an error if dst is longer than k, or k negative.
func (r *RandomState) ChoiceDistinct(dst []int, k int) error {
	if err := checkItems(k, len(dst)); err != nil {
		return err
	}
	if err := checkDistinct(k, len(dst)); err != nil {
		return err
	}
	all := dst
	if len(dst) < k {
		all = make([]int, k)
	}
	r.Permutation(all)
	copy(dst, all)
	return nil
}

// ChoiceWeighted is choice(len(p), p=p): the index i with probability p[i]. It draws as Random and does not allocate.
//
// It is an error if p is empty, holds a negative number or NaN, or if its sum is not 1 within 2^-26.
func (r *RandomState) ChoiceWeighted(p []float64) (int, error) {
	return chooseWeighted(p, r.Random)
}

// ChoiceNWeighted is choice(len(p), size=len(dst), p=p), with replacement. It draws as len(dst) calls of
// ChoiceWeighted, and has the same errors.
func (r *RandomState) ChoiceNWeighted(dst []int, p []float64) error {
	return chooseNWeighted(dst, p, r.Random)
}

// ChoiceDistinctWeighted is choice(len(p), size=len(dst), replace=False, p=p). It goes in rounds: as many calls of
// Random as indices are missing, looked up in the same table; an index met for the first time is kept, and its
// probability is 0 from the next round on.
//
// It is an error if dst is longer than the number of positive probabilities, and where ChoiceWeighted has one.
func (r *RandomState) ChoiceDistinctWeighted(dst []int, p []float64) error {
	return chooseDistinctWeighted(dst, p, r.Random)
}

// Permutation is permutation(len(dst)): the numbers from 0 on in random order. It draws as Shuffle.
func (r *RandomState) Permutation(dst []int) {
	for i := range dst {
		dst[i] = i
	}
	for i := len(dst) - 1; i > 0; i-- {
		j := r.upTo(uint64(i))
		dst[i], dst[j] = dst[j], dst[i]
	}
}

// Shuffle is shuffle(x) for an x of n items, of which swap swaps two: a Fisher-Yates shuffle from the end, which
// draws Choice(n), Choice(n-1), …, Choice(2). With fewer than two items, or a negative n, nothing is drawn.
func (r *RandomState) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(r.upTo(uint64(i))))
	}
}
