package planner

import (
	"testing"

	"skyrail/flight"
)

// exhaust looks in every way there is, by the engine alone, for a plan of at most so many clearances without a loss of
// separation and with an exit miss that the ranking does not see. at is the sector that was reached, spare[k] is there
// to be used at depth k.
func exhaust(t *testing.T, at *flight.Env, spare []*flight.Env, clearances int) bool {
	t.Helper()
	if at.StepCount() == at.Config().MaxSteps {
		return at.ExitMiss() <= missSlack
	}
	next := spare[0]
	most := flight.Idle
	if clearances > 0 {
		most = at.Config().Actions() - 1
	}
	for action := flight.Idle; action <= most; action++ {
		if !at.Legal(action) {
			continue
		}
		next.CopyFrom(at)
		if _, err := next.Advance(action); err != nil {
			t.Fatal(err)
		}
		if lost, _ := next.Separation(); lost > 0 {
			continue
		}
		left := clearances
		if action != flight.Idle {
			left--
		}
		if exhaust(t, next, spare[1:], left) {
			return true
		}
	}
	return false
}

// TestTheFloorIsOne compares what is called impossible, and the plans that are called the best, with a search that knows
// nothing but the engine, in episodes in which that is quick: few clearances do, or the aircraft meet early.
func TestTheFloorIsOne(t *testing.T) {
	env := mustNew(flight.DefaultConfig())
	var spare []*flight.Env
	for range env.Config().MaxSteps {
		spare = append(spare, env.Clone())
	}
	var s search
	early := []uint64{1296421857, 1712383432, 1503608660}
	tried := map[int]int{} // by clearances
	for i := range 120 {
		seed, most := uint64(i), 3
		if i < len(early) {
			seed, most = early[i], 5
		}
		env.Reset(seed)
		s.think(env, 50_000)
		if m := s.merit; !s.proven() || m.losses > 0 || m.clearances == 0 || m.clearances > most {
			continue
		}
		if exhaust(t, env, spare, s.floor.clearances-1) {
			t.Errorf("seed %d: fewer than %d clearances will do", seed, s.floor.clearances)
		}
		if !exhaust(t, env, spare, s.floor.clearances) {
			t.Errorf("seed %d: %d clearances will not do", seed, s.floor.clearances)
		}
		tried[s.merit.clearances]++
	}
	for k, atLeast := range []int{0, 10, 10, 4, 2, 1} {
		if tried[k] < atLeast {
			t.Errorf("only %d episodes of %d clearances were compared", tried[k], k)
		}
	}
}
