package numpyrand

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestSkipIsDrawing(t *testing.T) {
	for _, before := range []int{0, 1, 623, 624, 700} {
		for _, n := range []int{0, 1, 623, 624, 625, 1247, 1248, 1249, 5000} {
			drawn := NewRandomState(9)
			drawn.gauss, drawn.hasGauss = 1, true
			for range before {
				drawn.Uint32()
			}
			skipped := drawn
			skipped.Skip(uint64(n / 3))
			skipped.Skip(uint64(n - n/3))
			for range n {
				drawn.Uint32()
			}
			if !skipped.Equal(&drawn) || skipped.State() != drawn.State() {
				t.Errorf("skip %d after %d: got another state (pos %d), want the one after drawing (pos %d)", n, before, skipped.State().Pos, drawn.State().Pos)
			}
			clone := skipped
			if got, want := clone.Uint32(), drawn.Uint32(); got != want {
				t.Errorf("word of a copy after skip %d after %d: got %d, want %d", n, before, got, want)
			}
			skipped.Uint32()
			if !skipped.Equal(&drawn) {
				t.Errorf("skip %d after %d and a draw: got another state, want the drawn one", n, before)
			}
		}
	}
}

// What two skips pass over together may be more than a uint64 counts.
func TestSkipDoesNotOverflow(t *testing.T) {
	r := NewRandomState(4)
	r.Uint32()
	r.Skip(1000)
	want := r
	r.Skip(math.MaxUint64)
	want.mt.twist(2) // the block of word 1001, and one more
	want.mt.at = 1001 - 624 + math.MaxUint64 - 624
	if r != want {
		t.Errorf("got at %d, want %d and two more blocks", r.mt.at, want.mt.at)
	}
}

func TestRandomStateCopyContinuesTheSame(t *testing.T) {
	a := NewRandomState(7)
	a.Gauss()
	b := a
	draws := func(r *RandomState) []uint64 {
		var all []uint64
		for range 1000 {
			all = append(all, uint64(r.Uint32()), math.Float64bits(r.Gauss()), math.Float64bits(r.Random()))
		}
		return all
	}
	if fromA, fromB := draws(&a), draws(&b); !slices.Equal(fromA, fromB) {
		t.Errorf("draws from the copy: got %v, want %v", fromB, fromA)
	}
	if !a.Equal(&b) {
		t.Error("copy after the same draws: got another state, want the same")
	}
}

func TestRandomStateEquality(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r *RandomState)
		equal  bool
	}{
		{"sees another seed", func(r *RandomState) { *r = NewRandomState(8) }, false},
		{"sees a word taken", func(r *RandomState) { r.Uint32() }, false},
		{"sees a word passed over", func(r *RandomState) { r.Skip(1) }, false},
		{"sees a waiting gauss", func(r *RandomState) { r.hasGauss = true }, false},
		{"ignores a used gauss", func(r *RandomState) { r.gauss = 1 }, true},
		{"ignores a range of one value, which draws nothing", func(r *RandomState) { r.Randint(4, 5) }, true},
		{"ignores a full range of one value in parts", func(r *RandomState) { FillRandint(r, make([]int8, 9), -3, -3) }, true},
		{"ignores the choice of one item, which draws nothing", func(r *RandomState) { r.Choice(1) }, true},
		{"ignores a mean of 0, which draws nothing", func(r *RandomState) { r.Poisson(0) }, true},
		{"ignores a skip of nothing", func(r *RandomState) { r.Skip(0) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, same := NewRandomState(7), NewRandomState(7)
			c.change(&r)
			if got, back := r.Equal(&same), same.Equal(&r); got != c.equal || back != c.equal {
				t.Errorf("got equal %v and %v, want %v", got, back, c.equal)
			}
		})
	}
	a := NewRandomState(7)
	a.Gauss()
	b := a
	b.gauss++
	if a.Equal(&b) {
		t.Error("with another waiting gauss: got equal, want not")
	}
}

func TestRandomStateContinues(t *testing.T) {
	r := NewHashedRandomState(11)
	r.Gauss()
	r.Skip(3000)
	var restored RandomState
	if err := restored.SetState(r.State()); err != nil {
		t.Fatal(err)
	}
	if !restored.Equal(&r) || restored.State() != r.State() {
		t.Errorf("restored: got pos %d, gauss %v, want pos %d, gauss %v", restored.State().Pos, restored.gauss, r.State().Pos, r.gauss)
	}
}

func TestRandomStateSetStateRefuses(t *testing.T) {
	seeded := NewRandomState(1)
	good := seeded.State()
	for _, c := range []struct {
		name   string
		change func(s *MT19937State)
		want   string
	}{
		{"negative pos", func(s *MT19937State) { s.Pos = -1 }, "mt19937 pos is -1, not one of 0 to 624"},
		{"pos beyond the key", func(s *MT19937State) { s.Pos = 625 }, "mt19937 pos is 625"},
		{"infinite gauss", func(s *MT19937State) { s.Gauss = math.Inf(-1) }, "mt19937 gauss is -Inf"},
		{"gauss that is no number", func(s *MT19937State) { s.HasGauss, s.Gauss = true, math.NaN() }, "mt19937 gauss is NaN"},
		{"key of zeros", func(s *MT19937State) { s.Key = [624]uint32{} }, "mt19937 key is zero"},
		{"key of zeros but for bits that no twist reads", func(s *MT19937State) { s.Key = [624]uint32{0: 1<<31 - 1} }, "mt19937 key is zero"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s := NewRandomState(2), good
			c.change(&s)
			err := r.SetState(s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
			if r != NewRandomState(2) {
				t.Error("got another state after a refusal, want the old one")
			}
		})
	}
	for _, key := range [][624]uint32{{0: 1 << 31}, {623: 1}} {
		var r RandomState
		if err := r.SetState(MT19937State{Key: key}); err != nil {
			t.Errorf("a key with one bit that counts: got %v, want no error", err)
		}
	}
}

func TestRandomStateMisusePanics(t *testing.T) {
	for _, c := range []struct {
		want string // start of the message
		call func(r *RandomState)
	}{
		{"numpyrand: Randint(5, 5):", func(r *RandomState) { r.Randint(5, 5) }},
		{"numpyrand: Randint(5, -5):", func(r *RandomState) { r.Randint(5, -5) }},
		{"numpyrand: RandintClosedOf(7, -7):", func(r *RandomState) { RandintClosedOf[int8](r, 7, -7) }},
		{"numpyrand: RandintClosedOf(18446744073709551615, 7):", func(r *RandomState) { RandintClosedOf[uint64](r, math.MaxUint64, 7) }},
		{"numpyrand: FillRandint(7, 6):", func(r *RandomState) { FillRandint(r, make([]uint16, 1), 7, 6) }},
		{"numpyrand: Choice(0):", func(r *RandomState) { r.Choice(0) }},
		{"numpyrand: Choice(-1):", func(r *RandomState) { r.Choice(-1) }},
		{"numpyrand: Normal(1, -2):", func(r *RandomState) { r.Normal(1, -2) }},
		{"numpyrand: Normal(1, -0):", func(r *RandomState) { r.Normal(1, math.Copysign(0, -1)) }},
		{"numpyrand: Poisson(-1):", func(r *RandomState) { r.Poisson(-1) }},
		{"numpyrand: Poisson(NaN):", func(r *RandomState) { r.Poisson(math.NaN()) }},
		{"numpyrand: Poisson(9.223372006484772e+18):", func(r *RandomState) { r.Poisson(math.Nextafter(MaxPoissonMean, math.Inf(1))) }},
	} {
		t.Run(c.want, func(t *testing.T) {
			r := NewRandomState(1)
			defer func() {
				got, _ := recover().(string)
				if !strings.HasPrefix(got, c.want) {
					t.Errorf("got panic %q, want one that starts with %q", got, c.want)
				}
				if r != NewRandomState(1) {
					t.Error("got another state after the panic, want the old one")
				}
			}()
			c.call(&r)
		})
	}
}

func TestRandomStateRefuses(t *testing.T) {
	two := make([]int, 2)
	for _, c := range []struct {
		name string
		call func(r *RandomState) error
		want string
	}{
		{"no items", func(r *RandomState) error { return r.ChoiceN(two, 0) }, "choose 2 of 0 items"},
		{"negative items", func(r *RandomState) error { return r.ChoiceDistinct(nil, -1) }, "choose 0 of -1 items"},
		{"more than there are", func(r *RandomState) error { return r.ChoiceDistinct(two, 1) }, "choose 2 distinct items of 1"},
		{"no probabilities", func(r *RandomState) error { _, err := r.ChoiceWeighted(nil); return err }, "no probabilities"},
		{"a negative probability", func(r *RandomState) error { return r.ChoiceNWeighted(two, []float64{2, -1}) }, "probability 1 is -1"},
		{"too few probabilities", func(r *RandomState) error { return r.ChoiceDistinctWeighted(two, []float64{1}) }, "choose 2 distinct items of 1"},
		{"too few positive ones", func(r *RandomState) error { return r.ChoiceDistinctWeighted(two, []float64{1, 0}) }, "choose 2 distinct items of 1 with a positive probability"},
		{"no keys", func(*RandomState) error { _, err := NewRandomStateFrom(nil); return err }, "random state without keys"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewRandomState(1)
			err := c.call(&r)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
			if r != NewRandomState(1) {
				t.Error("got another state after a refusal, want the old one")
			}
		})
	}
	r := NewRandomState(1)
	if err := r.ChoiceN(nil, 0); err != nil {
		t.Errorf("none of no items: got %v, want no error", err)
	}
}

// A key that hashes to less than 2^32 is met once in four billion seeds, and to 0 never.
func TestHashedKeysDropHighZero(t *testing.T) {
	for _, c := range []struct {
		hash uint64
		want []uint32
	}{{0, []uint32{0}}, {5, []uint32{5}}, {math.MaxUint32, []uint32{math.MaxUint32}}, {1 << 32, []uint32{0, 1}}} {
		if got := hashedKeys(c.hash); !slices.Equal(got, c.want) {
			t.Errorf("keys of %#x: got %v, want %v", c.hash, got, c.want)
		}
	}
}

// An index is chosen where the cumulative probability is above the fraction drawn, not where it is equal. The
// probabilities are such that their sum is 1 but for rounding, so that it shows whether they are divided by it.
func TestWeightedChoicesAtTheEdge(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, size := range []int{2, 3, 5, 8, 8, 8} {
		p, sum := roundedProbabilities(random, size)
		cumulative := 0.0
		for i, v := range p[:size-1] {
			cumulative += v
			if cumulative < 0.5 {
				continue // may be no fraction that can be drawn
			}
			edge := uint64(cumulative / sum * (1 << 53))
			for below := range uint64(2) {
				at, want := beforeFraction(edge-below), i+1-int(below)
				one, several, distinct := at, at, at
				if got, err := one.ChoiceWeighted(p); err != nil || got != want {
					t.Errorf("choice by %v, %d below edge %d: got %d, %v, want %d", p, below, i, got, err, want)
				}
				var dst [1]int
				if err := several.ChoiceNWeighted(dst[:], p); err != nil || dst[0] != want {
					t.Errorf("choice of one by %v, %d below edge %d: got %d, %v, want %d", p, below, i, dst[0], err, want)
				}
				if err := distinct.ChoiceDistinctWeighted(dst[:], p); err != nil || dst[0] != want {
					t.Errorf("distinct choice by %v, %d below edge %d: got %d, %v, want %d", p, below, i, dst[0], err, want)
				}
			}
		}
	}
}

// A product equal to exp(-mean) ends the count.
func TestPoissonAtTheEdge(t *testing.T) {
	for below := range uint64(2) {
		r := beforeFraction(1<<52 + 1 - below)
		got := r.Poisson(math.Ln2)
		if want := int64(1 - below); min(got, 1) != want {
			t.Errorf("%d below the fraction after 0.5: got %d, want %d (or more, if 1)", below, got, want)
		}
	}
}

// beforeFraction is a stream whose next fraction is n * 2^-53.
func beforeFraction(n uint64) RandomState {
	r := NewRandomState(1)
	r.Uint32()
	r.mt.block[r.mt.at], r.mt.block[r.mt.at+1] = untempered(uint32(n>>26)<<5), untempered(uint32(n&(1<<26-1))<<6)
	return r
}

// Two numbers outside the unit circle, on it or in its centre are drawn again.
func TestGaussRejects(t *testing.T) {
	const half, full = 1 << 31, math.MaxUint32 // words of the fractions 0.5 and nearly 1
	for _, c := range []struct {
		name  string
		words [4]uint32
	}{
		{"the centre", [4]uint32{half, 0, half, 0}},
		{"the circle", [4]uint32{0, 0, half, 0}},
		{"a corner", [4]uint32{full, full, full, full}},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := NewRandomState(3)
			at.Uint32()
			want := at
			want.Skip(4)
			for i, w := range c.words {
				at.mt.block[1+i] = untempered(w)
			}
			if got, want := at.Gauss(), want.Gauss(); got != want || at.mt.at != 9 {
				t.Errorf("got %v at word %d, want %v at word 9", got, at.mt.at, want)
			}
		})
	}
}

// untempered is the word of the block that gives w as output: each shift is undone a few bits at a time.
func untempered(w uint32) uint32 {
	undo := func(w uint32, shifted func(uint32) uint32) uint32 {
		v := w
		for range 32 {
			v = w ^ shifted(v)
		}
		return v
	}
	w = undo(w, func(v uint32) uint32 { return v >> 18 })
	w = undo(w, func(v uint32) uint32 { return v << 15 & 0xefc60000 })
	w = undo(w, func(v uint32) uint32 { return v << 7 & 0x9d2c5680 })
	return undo(w, func(v uint32) uint32 { return v >> 11 })
}

func TestRandomStateScalarsDoNotAllocate(t *testing.T) {
	r := NewRandomState(1)
	p := []float64{0.25, 0.75}
	fraction, indices := make([]float64, 4), make([]int, 4)
	if got := testing.AllocsPerRun(1000, func() {
		r.Uint32()
		r.Random()
		r.RandomN(fraction)
		r.Randint(2, 51)
		RandintClosedOf[int8](&r, -128, 127)
		r.Bool()
		r.Choice(10)
		r.Normal(0, 1)
		r.Poisson(5)
		r.Poisson(50)
		r.Skip(2000)
		if _, err := r.ChoiceWeighted(p); err != nil {
			t.Fatal(err)
		}
		clone := r
		clone.Uint32()
		if _, err := clone.ChoiceWeighted(p); err != nil {
			t.Fatal(err)
		}
		if err := clone.ChoiceN(indices, 10); err != nil {
			t.Fatal(err)
		}
	}); got != 0 {
		t.Errorf("got %v allocations a round, want none", got)
	}
}
