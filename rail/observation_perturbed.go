package rail

import (
	"fmt"
	"math"

	"skyrail/numpyrand"
)

// Perturb adds a standard normal number from the stream to each value of an observation, in their order
// (gauss_perturbation_observation_builder_wrapper).
//
// quirk: the reference takes a mean and a deviation, but drops them.
func Perturb(obs []float64, rng *numpyrand.RandomState) {
	for i := range obs {
		obs[i] += rng.Gauss()
	}
}

// Blindness takes the tree observation away from trains at random (perturbation_tree_observation_builder_wrapper), as
// [Breakdowns] stop them: after each [TreeObserver.Look], [Blindness.Strike], and for each tree [Blindness.Cover].
type Blindness struct {
	generator MalfunctionGenerator
	blind     []bool
}

// NewBlindness returns the perturbation for so many trains, all of which see. The durations are drawn, so the stream depends
// on them, but count for nothing; the reference's defaults are rate 0 and 1 step.
func NewBlindness(trains int, p MalfunctionParameters) (*Blindness, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("blindness: %w", err)
	}
	return &Blindness{NewMalfunctionGenerator(p), make([]bool, trains)}, nil
}

// Reset lets all trains see again. The random numbers go on.
func (b *Blindness) Reset() { clear(b.blind) }

// Strike draws for every train, also a blind one, whether it goes blind.
//
// quirk: the reference never counts the duration down, so a train stays blind until the next reset.
func (b *Blindness) Strike(rng *numpyrand.RandomState) {
	p := b.generator.probability()
	for i := range b.blind {
		if b.generator.draw(rng, p) > 0 {
			b.blind[i] = true
		}
	}
}

// Blind says whether a train sees nothing.
func (b *Blindness) Blind(i int) bool { return b.blind[i] }

// Cover makes the tree of a blind train a root with nothing below it, all of whose features are blank: -Inf by the reference's
// default, with which the whole tree is missing. Other trees stay as they are.
func (b *Blindness) Cover(t Tree, i int, blank float64) {
	if b.blind[i] {
		fill(t.Values, math.Inf(-1))
		fill(t.Values[:TreeFeatures], blank)
	}
}
