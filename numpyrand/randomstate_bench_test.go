package numpyrand

import "testing"

var sinkState RandomState

func BenchmarkNewHashedRandomState(b *testing.B) {
	b.ReportAllocs()
	for i := range b.N {
		sinkState = NewHashedRandomState(uint64(i))
	}
}

func BenchmarkRandomStateUint32(b *testing.B) {
	b.ReportAllocs()
	r := NewRandomState(1)
	for b.Loop() {
		sinkInt = int64(r.Uint32())
	}
}

func BenchmarkRandomStateRandom(b *testing.B) {
	b.ReportAllocs()
	r := NewRandomState(1)
	for b.Loop() {
		sinkFloat = r.Random()
	}
}

func BenchmarkRandint(b *testing.B) {
	b.ReportAllocs()
	r := NewRandomState(1)
	for b.Loop() {
		sinkInt = r.Randint(20, 51)
	}
}

func BenchmarkGauss(b *testing.B) {
	b.ReportAllocs()
	r := NewRandomState(1)
	for b.Loop() {
		sinkFloat = r.Gauss()
	}
}

func BenchmarkPoisson(b *testing.B) {
	for _, c := range []struct {
		name string
		mean float64
	}{{"multiplying", 5}, {"rejecting", 50}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			r := NewRandomState(1)
			for b.Loop() {
				sinkInt = r.Poisson(c.mean)
			}
		})
	}
}

func BenchmarkPermutation(b *testing.B) {
	b.ReportAllocs()
	r := NewRandomState(1)
	var dst [100]int
	for b.Loop() {
		r.Permutation(dst[:])
	}
}

// The two million words of a simulator that draws a million fractions in advance: drawn, passed over, and passed over
// by a stream that is not drawn from afterwards.
func BenchmarkMillionFractions(b *testing.B) {
	b.Run("drawn", func(b *testing.B) {
		b.ReportAllocs()
		r := NewRandomState(1)
		dst := make([]float64, 1_000_000)
		for b.Loop() {
			r.RandomN(dst)
		}
	})
	b.Run("skipped", func(b *testing.B) {
		b.ReportAllocs()
		r := NewRandomState(1)
		for b.Loop() {
			r.Skip(2_000_000)
			sinkInt = int64(r.Uint32())
		}
	})
	b.Run("skipped and dropped", func(b *testing.B) {
		b.ReportAllocs()
		r := NewRandomState(1)
		for b.Loop() {
			sinkState = r
			sinkState.Skip(2_000_000)
		}
	})
}
