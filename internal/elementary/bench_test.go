package elementary

import "testing"

var sink float64 // keeps the benchmarked calls from being optimised away

func BenchmarkSinCos(b *testing.B) {
	in := headings(b, 1024)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		sin, cos := SinCos(in[i%len(in)])
		sink = sin + cos
	}
}

func BenchmarkSinCosExact(b *testing.B) {
	in := headings(b, 1024)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		sink, _ = sinCosExact(in[i%len(in)])
	}
}

func BenchmarkExp(b *testing.B)   { benchmark(b, uniform(b, 1024, -40, 0), Exp) }
func BenchmarkLog(b *testing.B)   { benchmark(b, uniform(b, 1024, 0, 1), Log) }
func BenchmarkTanh(b *testing.B)  { benchmark(b, uniform(b, 1024, -3, 3), Tanh) }
func BenchmarkAtanh(b *testing.B) { benchmark(b, uniform(b, 1024, -1, 1), Atanh) }

func BenchmarkLogExact(b *testing.B) { benchmark(b, uniform(b, 1024, 0, 1), logExact) }

func BenchmarkHypot(b *testing.B) {
	benchmark(b, uniform(b, 1024, -10_000, 10_000), func(x float64) float64 { return Hypot(x, 1234.5) })
}

func benchmark(b *testing.B, in []float64, f func(float64) float64) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		sink = f(in[i%len(in)])
	}
}

func TestFastPathsDoNotAllocate(t *testing.T) {
	allocs := testing.AllocsPerRun(100, func() {
		sin, cos := SinCos(1.5)
		sink = sin + cos + Exp(-1.5) + Log(1.5) + Tanh(1.5) + Atanh(0.5) + Hypot(1.5, 2.5) + Hypot(3*tieUnit, 4*tieUnit)
	})
	if allocs != 0 {
		t.Errorf("allocations: got %v, want 0", allocs)
	}
}
