package rail

import (
	"math"
	"strings"
	"testing"

	"skyrail/numpyrand"
)

// TestBlindnessQuirkLastsUntilReset compares with flatland-rl 4.2.5: RandomState(7), rate 0.1, 2 to 5 steps, 8 trains, a
// reset before the ninth look.
func TestBlindnessQuirkLastsUntilReset(t *testing.T) {
	want := strings.Fields(`00000010 00001010 00101010 00101010 00101010 00101010 00101011 00101111
		00000000 00000000 00000000 00010000`)
	rng := numpyrand.NewRandomState(7)
	b, err := NewBlindness(8, MalfunctionParameters{Rate: 0.1, MinDuration: 2, MaxDuration: 5})
	if err != nil {
		t.Fatal(err)
	}
	for k, w := range want {
		if k == 8 {
			b.Reset()
		}
		b.Strike(&rng)
		got := ""
		for i := range 8 {
			got += bit(b.Blind(i))
		}
		if got != w {
			t.Errorf("look %d: got %s blind, want %s", k, got, w)
		}
	}
	if got, want := rng.Random(), 0.3629146624975135; got != want {
		t.Errorf("got %v from the stream afterwards, want %v", got, want)
	}
}

func TestBlindnessCoversTheTree(t *testing.T) {
	b, err := NewBlindness(2, MalfunctionParameters{Rate: math.Inf(1), MinDuration: 1, MaxDuration: 1})
	if err != nil {
		t.Fatal(err)
	}
	tree := Tree{1, make([]float64, TreeFeatures*TreeNodes(1))}
	b.Cover(tree, 1, 7)
	if got := tree.At(TreeOwnTarget); got != 0 {
		t.Errorf("got %v of a train that sees, want 0", got)
	}
	rng := numpyrand.NewRandomState(1)
	b.Strike(&rng)
	b.Cover(tree, 1, 7)
	if child, _ := tree.Child(2); tree.At(TreeReadyToDepart) != 7 || !child.Missing() {
		t.Errorf("got root %v and child %v, want a root of 7 and no child", tree.Values[:TreeFeatures], child.Values)
	}
	if _, err := NewBlindness(2, MalfunctionParameters{MinDuration: 3, MaxDuration: 1}); err == nil {
		t.Error("got no error for durations of 3 to 1 steps")
	}
}

// TestPerturbQuirkIsStandardNormal compares with flatland-rl 4.2.5: RandomState(42), asked for mean 0.25 and deviation 2,
// two observations.
func TestPerturbQuirkIsStandardNormal(t *testing.T) {
	rng := numpyrand.NewRandomState(42)
	for _, want := range [][4]float64{
		{0.9967141530112327, math.Inf(-1), 3.6476885381006925, 3.5230298564080256},
		{0.26584662527666403, math.Inf(-1), 4.5792128155073915, 2.767434729152909},
	} {
		got := [4]float64{0.5, math.Inf(-1), 3, 2}
		Perturb(got[:], &rng)
		if got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if got, want := rng.Random(), 0.020584494295802447; got != want {
		t.Errorf("got %v from the stream afterwards, want %v", got, want)
	}
}
