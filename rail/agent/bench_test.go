package agent

import (
	"testing"

	"skyrail/rail"
)

// BenchmarkAct is one answer for all trains, on the recorded environments' way through an episode.
func BenchmarkAct(b *testing.B) {
	for _, name := range []string{"small", "jam", "large"} {
		start := recordedEnv(b, name)
		for _, policy := range Names() {
			b.Run(name+"/"+policy, func(b *testing.B) {
				p, err := New(policy, Options{})
				if err != nil {
					b.Fatal(err)
				}
				benchmarkAct(b, start, p)
			})
		}
	}
}

// BenchmarkActMany has more trains than the recorded environments: each of theirs several times, one after the other.
func BenchmarkActMany(b *testing.B) {
	for _, policy := range []string{"deadlock-avoidance", "deadlock-avoidance-classic"} {
		b.Run(policy+"/500", func(b *testing.B) {
			p, err := New(policy, Options{})
			if err != nil {
				b.Fatal(err)
			}
			benchmarkAct(b, crowd(b, 500), p)
		})
	}
}

// BenchmarkReset works out the paths of 500 trains.
func BenchmarkReset(b *testing.B) {
	e := crowd(b, 500)
	p := NewDeadlockAvoidance(CompetitionRules())
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Reset(e); err != nil {
			b.Fatal(err)
		}
	}
}

// crowd is the large recorded environment with more trains.
func crowd(b *testing.B, trains int) *rail.Env {
	s := recordedEnv(b, "large").Scenario().Clone()
	for n := len(s.Trains); len(s.Trains) < trains; {
		t := s.Trains[len(s.Trains)-n]
		t.EarliestDeparture += 20
		t.LatestArrival += 20
		s.Trains = append(s.Trains, t)
	}
	e, err := rail.New(s, rail.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// benchmarkAct measures Act alone; the steps between are not counted.
func benchmarkAct(b *testing.B, start *rail.Env, p Policy) {
	e := start.Clone()
	actions := make([]rail.Action, e.Trains())
	if err := p.Reset(e); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if err := p.Act(e, actions); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := e.Step(actions); err != nil {
			b.Fatal(err)
		}
		if e.AllDone() {
			e = start.Clone()
			if err := p.Reset(e); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
	}
}
