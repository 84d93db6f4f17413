package numpyrand

import "fmt"

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
	return chooseN(dst, k, g.upTo)
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
	return chooseWeighted(p, g.Random)
}

// ChoiceNWeighted is choice(len(p), size=len(dst), p=p), with replacement. It draws as len(dst) calls of
// ChoiceWeighted, and has the same errors.
func (g *Generator) ChoiceNWeighted(dst []int, p []float64) error {
	return chooseNWeighted(dst, p, g.Random)
}

// ChoiceDistinctWeighted is choice(len(p), size=len(dst), replace=False, p=p). It goes in rounds: as many outputs as
// indices are missing, looked up in the same table; an index met for the first time is kept, and its probability is
// 0 from the next round on.
//
// It is an error if dst is longer than the number of positive probabilities, and where ChoiceWeighted has one.
func (g *Generator) ChoiceDistinctWeighted(dst []int, p []float64) error {
	return chooseDistinctWeighted(dst, p, g.Random)
}
