package planner

import (
	"testing"

	"skyrail/flight"
)

// BenchmarkEvaluate flies whole plans in the engine; steps/s counts their steps.
func BenchmarkEvaluate(b *testing.B) {
	env := mustNew(flight.DefaultConfig())
	env.Reset(1829385696)
	var s Solver
	plan := s.Solve(env, Budget{Nodes: 20_000})
	b.ReportAllocs()
	b.ResetTimer()
	steps := 0
	for b.Loop() {
		o, err := s.Evaluate(env, plan.Actions)
		if err != nil {
			b.Fatal(err)
		}
		steps += o.Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}

// BenchmarkNodes looks at candidate plans as a search does: every clearance that changes a loss of separation, one after
// the other. An iteration is a candidate of 50 steps.
func BenchmarkNodes(b *testing.B) {
	env := mustNew(flight.DefaultConfig())
	env.Reset(1829385696)
	var s search
	s.open(env)
	s.anew(s.goalOf(0, 0), b.N)
	tr, _ := s.firstTrouble()
	l := &s.depth[0]
	s.choose(l, tr, 1)
	s.nodes = 0
	b.ReportAllocs()
	b.ResetTimer()
	for s.nodes < b.N {
		s.choose(l, tr, 1)
	}
	b.ReportMetric(float64(s.nodes)/b.Elapsed().Seconds(), "plans/s")
	b.ReportMetric(float64(s.nodes*s.window.steps)/b.Elapsed().Seconds(), "steps/s")
}

// BenchmarkSolve plans whole episodes within the default budget, one after the other.
func BenchmarkSolve(b *testing.B) {
	env := mustNew(flight.DefaultConfig())
	var s Solver
	b.ReportAllocs()
	nodes, seed := 0, uint64(0)
	for b.Loop() {
		env.Reset(seed)
		p := s.Solve(env, DefaultBudget())
		nodes += p.Nodes
		seed++
	}
	b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "plans/s")
	b.ReportMetric(float64(nodes)/float64(b.N), "plans/op")
}
