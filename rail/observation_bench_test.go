package rail

import "testing"

// observed returns the environment of a recorded episode after some of its steps.
func observed(t testing.TB, name string, steps int) *Env {
	t.Helper()
	e, actions := recorded(t, name)
	for _, a := range actions[:steps] {
		if err := e.Step(a); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// BenchmarkTree is a look and the trees of depth 2 of all trains, as they are, flattened, and normalised.
func BenchmarkTree(b *testing.B) {
	for _, name := range []string{"g08_sparse_100", "g09_sparse_200"} {
		e := observed(b, name, 50)
		o, err := NewTreeObserver(2)
		if err != nil {
			b.Fatal(err)
		}
		dst, flat := make([]float64, o.Len()), make([]float64, o.Len())
		bench := func(form string, then func(Tree)) {
			b.Run(name+"/"+form, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					o.Look(e)
					for i := range e.Trains() {
						then(o.Tree(dst, i))
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*e.Trains()), "ns/train")
			})
		}
		bench("tree", func(Tree) {})
		bench("flat", func(t Tree) { t.Flatten(flat) })
		bench("normalized", func(t Tree) { t.FlattenNormalized(flat, 2) })
	}
}

// BenchmarkPrediction is the default prediction of all trains.
func BenchmarkPrediction(b *testing.B) {
	e := observed(b, "g09_sparse_200", 50)
	dst := make([]Prediction, 21)
	var p ShortestPathPredictor
	b.ReportAllocs()
	for b.Loop() {
		for i := range e.Trains() {
			p.Predict(dst, e, i)
		}
	}
}

// BenchmarkGlobal is the global observation of one train.
func BenchmarkGlobal(b *testing.B) {
	e := observed(b, "g09_sparse_200", 50)
	cells := e.Network().Width() * e.Network().Height()
	state, targets := make([]float64, GlobalState*cells), make([]float64, GlobalTargets*cells)
	b.ReportAllocs()
	for b.Loop() {
		e.ObserveGlobal(state, targets, 0)
	}
}
