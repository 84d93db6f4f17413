package flight

import (
	"testing"

	"skyrail/numpyrand"
)

// recorded is one episode to fly again: the state after the reset and the actions.
type recorded struct {
	start   *Env
	actions []int
}

// record draws episodes of the ranked scenario in which every action is a uniformly drawn one: of the legal
// ones, or of all.
func record(b *testing.B, episodes int, legalOnly bool) (all []recorded, steps int) {
	b.Helper()
	stream := numpyrand.NewGenerator(1)
	e := mustNew(DefaultConfig())
	mask := make([]bool, e.Config().Actions())
	for seed := range episodes {
		e.Reset(uint64(seed))
		r := recorded{start: e.Clone()}
		for status := e.Status(); !status.Over(); {
			e.Mask(mask)
			action := stream.Choice(len(mask))
			for legalOnly && !mask[action] {
				action = stream.Choice(len(mask))
			}
			r.actions = append(r.actions, action)
			var err error
			if status, err = e.Advance(action); err != nil {
				b.Fatal(err)
			}
		}
		steps += len(r.actions)
		all = append(all, r)
	}
	return all, steps
}

// benchmarkSteps flies recorded episodes over and over; every b.N is a step. Going back to an episode's start
// is part of the time.
func benchmarkSteps(b *testing.B, legalOnly bool, step func(e *Env, action int)) {
	episodes, _ := record(b, 256, legalOnly)
	e := mustNew(DefaultConfig())
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for n < b.N {
		for i := range episodes {
			e.CopyFrom(episodes[i].start)
			for _, action := range episodes[i].actions {
				step(e, action)
			}
			n += len(episodes[i].actions)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "steps/s")
}

// BenchmarkStep is the whole step: physics, reward, observation and mask into the caller's buffers.
func BenchmarkStep(b *testing.B) {
	obs := make([]float32, DefaultConfig().ObservationLen())
	mask := make([]bool, DefaultConfig().Actions())
	full := func(e *Env, action int) {
		if _, _, err := e.Step(action); err != nil {
			b.Fatal(err)
		}
		e.Observe(obs)
		e.Mask(mask)
	}
	b.Run("legal", func(b *testing.B) { benchmarkSteps(b, true, full) })
	b.Run("any", func(b *testing.B) { benchmarkSteps(b, false, full) })
}

// BenchmarkStepPhysics is the step of a search: physics and counters alone.
func BenchmarkStepPhysics(b *testing.B) {
	physics := func(e *Env, action int) {
		if _, err := e.Advance(action); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("legal", func(b *testing.B) { benchmarkSteps(b, true, physics) })
	b.Run("any", func(b *testing.B) { benchmarkSteps(b, false, physics) })
	b.Run("idle", func(b *testing.B) {
		benchmarkSteps(b, true, func(e *Env, _ int) { physics(e, Idle) })
	})
}

func BenchmarkReset(b *testing.B) {
	e := mustNew(DefaultConfig())
	b.ReportAllocs()
	seed := uint64(0)
	for b.Loop() {
		e.Reset(seed)
		seed++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "resets/s")
}
