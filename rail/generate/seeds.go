package generate

import (
	"math"

	"skyrail/numpyrand"
	"skyrail/rail/railfile"
)

// GlobalStream is NumPy's global legacy stream after numpy.random.seed(seed), or seed([low, high]) with the words of a
// seed that is too large for NumPy.
func GlobalStream(seed uint64) numpyrand.RandomState {
	if seed <= math.MaxUint32 {
		return numpyrand.NewRandomState(uint32(seed))
	}
	r, _ := numpyrand.NewRandomStateFrom([]uint32{uint32(seed), uint32(seed >> 32)}) // there are keys
	return r
}

// What of a seed's streams is for what, besides the environments of the scenarios, which count from 0.
const (
	forIDs      = 1 << 32   // of timetables
	forClosures = 1<<32 + 1 // of track, in one scenario
	forLines    = 1<<32 + 2 // of a suite
)

// ScenarioSeed is the seed of the environment of a scenario, by its place among all that are derived. The reference gives
// each environment a stream that nobody knows; this is ours.
func ScenarioSeed(seed uint64, scenario int) uint64 {
	var word [1]uint64
	s := numpyrand.SeedSequenceOf(seed, uint64(scenario))
	s.GenerateState64(word[:])
	return word[0]
}

// SeededLevels is [Levels] with all that is drawn from one seed: NumPy's global stream is seeded with it, and ids come
// from a stream of their own.
func SeededLevels(initial *railfile.Scene, m *railfile.Metadata, seed uint64) ([]Derived, error) {
	global, ids := GlobalStream(seed), numpyrand.NewHashedRandomState(ScenarioSeed(seed, forIDs))
	return Levels(initial, m, &global, &ids)
}
