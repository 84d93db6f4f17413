package numpyrand

import "testing"

// Results go to sinks of their own type, so that the compiler must compute them and the benchmark does not box them.
var (
	sinkGenerator Generator
	sinkFloat     float64
	sinkInt       int64
)

func BenchmarkNewGenerator(b *testing.B) {
	b.ReportAllocs()
	for i := range b.N {
		sinkGenerator = NewGenerator(uint64(i))
	}
}

func BenchmarkSeedSequenceOfFive(b *testing.B) {
	b.ReportAllocs()
	for i := range b.N {
		seq := SeedSequenceOf(1, 2, 3, 4, uint64(i))
		sinkGenerator = New(&seq)
	}
}

func BenchmarkUint64(b *testing.B) {
	b.ReportAllocs()
	g := NewGenerator(1)
	for b.Loop() {
		sinkInt = int64(g.Uint64())
	}
}

func BenchmarkRandom(b *testing.B) {
	b.ReportAllocs()
	g := NewGenerator(1)
	for b.Loop() {
		sinkFloat = g.Random()
	}
}

func BenchmarkUniform(b *testing.B) {
	b.ReportAllocs()
	g := NewGenerator(1)
	for b.Loop() {
		sinkFloat = g.Uniform(-9000, 9000)
	}
}

func BenchmarkIntegers(b *testing.B) {
	for _, c := range []struct {
		name      string
		low, high int64
	}{{"word", 2, 5}, {"output", 0, 1 << 40}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			g := NewGenerator(1)
			for b.Loop() {
				sinkInt = g.Integers(c.low, c.high)
			}
		})
	}
}

func BenchmarkChoice(b *testing.B) {
	b.ReportAllocs()
	g := NewGenerator(1)
	for b.Loop() {
		sinkInt = int64(g.Choice(10))
	}
}

func BenchmarkChoiceWeighted(b *testing.B) {
	b.ReportAllocs()
	g := NewGenerator(1)
	p := []float64{0.25, 0.125, 0.5, 0, 0.125}
	for b.Loop() {
		i, err := g.ChoiceWeighted(p)
		if err != nil {
			b.Fatal(err)
		}
		sinkInt = int64(i)
	}
}

func BenchmarkChoiceDistinct(b *testing.B) {
	b.ReportAllocs()
	g := NewGenerator(1)
	var dst [5]int
	for b.Loop() {
		if err := g.ChoiceDistinct(dst[:], 100, true); err != nil {
			b.Fatal(err)
		}
	}
}
