package batch

import (
	"compress/gzip"
	"io"
	"os"
	"slices"
	"testing"

	"skyrail/numpyrand"
	"skyrail/rail"
)

func TestStepDoesNotAllocate(t *testing.T) {
	data := plain(t)
	source, err := FromFile(data)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := begin(t, slices.Repeat([]*Source{source}, 4), Options{Rewards: rail.ECML2026Rewards(), Threads: 2, Autoreset: SameStep}, 2, false)
	actions := slices.Repeat([]int8{2, 1, 3, 2, 4, 2}, 4)
	for range 120 { // the first episode makes lists long enough
		_ = b.Step(actions)
	}
	if n := testing.AllocsPerRun(100, func() { _ = b.Step(actions) }); n > 0 {
		t.Errorf("a step of 4 environments allocates %v times", n)
	}
}

func plain(t testing.TB) []byte {
	t.Helper()
	file, err := os.Open(published)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// BenchmarkStep is a step of many environments, by the number of trains, of threads and what is observed.
func BenchmarkStep(bench *testing.B) {
	p := parameters(11, 50)
	p.Width, p.Height, p.Rail.Cities = 60, 60, 5
	fifty, err := Generated(p)
	if err != nil {
		bench.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		source  *Source
		n       int
		threads int
		trees   bool
	}{
		{"6x1", fileSource(bench), 1, 1, false}, {"6x1/trees", fileSource(bench), 1, 1, true},
		{"6x64/threads=1", fileSource(bench), 64, 1, false}, {"6x64/threads=2", fileSource(bench), 64, 2, false},
		{"50x1", fifty, 1, 1, false}, {"50x1/trees", fifty, 1, 1, true},
		{"50x16/trees/threads=1", fifty, 16, 1, true}, {"50x16/trees/threads=2", fifty, 16, 2, true},
	} {
		bench.Run(c.name, func(bench *testing.B) {
			b, err := New(slices.Repeat([]*Source{c.source}, c.n), Options{Rewards: rail.DefaultRewards(), Threads: c.threads, Autoreset: SameStep})
			if err != nil {
				bench.Fatal(err)
			}
			defer b.Close()
			all := everything(b, 2, false)
			w := Buffers{Rewards: all.Rewards, Terminated: all.Terminated, Truncated: all.Truncated, AllDone: all.AllDone, TreeDepth: 2, Radius: 2}
			w.Now = Arrays{State: all.Now.State, Malfunction: all.Now.Malfunction, Speed: all.Now.Speed, ActionRequired: all.Now.ActionRequired}
			if c.trees {
				w.Now.FlatTree = all.Now.FlatTree
			}
			if err := b.Bind(w); err != nil {
				bench.Fatal(err)
			}
			stream := numpyrand.NewGenerator(1)
			actions := make([][]int8, 64)
			for k := range actions {
				actions[k] = make([]int8, c.n*b.Trains())
				for i := range actions[k] {
					actions[k][i] = int8(stream.Choice(rail.Actions))
				}
			}
			bench.ReportAllocs()
			steps := 0
			for bench.Loop() {
				if err := b.Step(actions[steps%64]); err != nil {
					bench.Fatal(err)
				}
				steps++
			}
			bench.ReportMetric(float64(steps*c.n)/bench.Elapsed().Seconds(), "steps/s")
		})
	}
}
