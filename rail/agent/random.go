package agent

import (
	"skyrail/numpyrand"
	"skyrail/rail"
)

// Random draws each action uniformly from all five. Its stream is numpy.random.RandomState(seed), one choice(5) for each
// train in the order of the handles, also for trains that have arrived; it begins anew with every episode.
type Random struct {
	seed   uint32
	stream numpyrand.RandomState
}

// NewRandom returns a Random with a seed.
func NewRandom(seed uint32) *Random {
	return &Random{seed, numpyrand.NewRandomState(seed)}
}

// Reset begins the stream anew.
func (r *Random) Reset(View) error {
	r.stream = numpyrand.NewRandomState(r.seed)
	return nil
}

// Act draws.
func (r *Random) Act(v View, actions []rail.Action) error {
	if err := checkCall(v, actions, v.Trains()); err != nil {
		return err
	}
	for i := range actions {
		actions[i] = rail.Action(r.stream.Choice(5))
	}
	return nil
}
