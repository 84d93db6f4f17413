package rail

import (
	"testing"

	"skyrail/internal/golden"
)

// recorded returns a recorded episode's environment before its first step, and its actions.
func recorded(t testing.TB, name string) (*Env, [][]Action) {
	t.Helper()
	var g goldenEpisode
	if err := golden.Decode(golden.Read(t, "testdata/engine/"+name+".json.gz"), &g); err != nil {
		t.Fatal(err)
	}
	e, err := g.env()
	if err != nil {
		t.Fatal(err)
	}
	actions := make([][]Action, len(g.Actions))
	for k, text := range g.Actions {
		actions[k] = make([]Action, len(text))
		for i := range text {
			if text[i] != '-' {
				actions[k][i] = Action(text[i] - '0')
			}
		}
	}
	return e, actions
}

// BenchmarkStep is one step of a recorded episode with the default reward; a new episode begins where one ends.
func BenchmarkStep(b *testing.B) {
	for _, name := range []string{"g01_sparse_30_7", "g07_sparse_60", "g09_sparse_200", "t50_tiles_200ag"} {
		b.Run(name, func(b *testing.B) {
			start, actions := recorded(b, name)
			start.SetRewards()
			e, k := start.Clone(), 0
			b.ReportAllocs()
			for b.Loop() {
				if e.AllDone() {
					b.StopTimer()
					e, k = start.Clone(), 0
					b.StartTimer()
				}
				if err := e.Step(actions[k]); err != nil {
					b.Fatal(err)
				}
				k++
			}
			b.ReportMetric(float64(b.N*e.Trains())/b.Elapsed().Seconds(), "trainsteps/s")
		})
	}
}

func BenchmarkClone(b *testing.B) {
	e, _ := recorded(b, "g09_sparse_200")
	b.ReportAllocs()
	for b.Loop() {
		e.Clone()
	}
}

func BenchmarkDistanceMaps(b *testing.B) {
	e, _ := recorded(b, "g09_sparse_200")
	b.ReportAllocs()
	for b.Loop() {
		clear(e.distances)
		for i := range e.trains {
			e.DistanceTo(i, e.Initial(i))
		}
	}
}
