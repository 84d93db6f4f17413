package numpyrand

import "testing"

func TestLeapIsManyTwists(t *testing.T) {
	for seed := range uint32(5) {
		m := mtFromSeed(seed)
		m.twist(1 + uint64(seed))
		want := m
		for range jumpBlocks {
			want.twist(1)
		}
		if m.leap(); m.block != want.block {
			t.Errorf("seed %d: it came to another block", seed)
		}
	}
}

func TestLongSkipsAreDrawing(t *testing.T) {
	for _, n := range []uint64{blockWords * jumpBlocks, blockWords*jumpBlocks + 1, blockWords * (jumpBlocks + 1), 2_000_000, 4_100_000} {
		for _, before := range []int{0, 1, 623, 624, 700} {
			skipped := NewRandomState(42)
			for range before {
				skipped.Uint32()
			}
			drawn := skipped
			skipped.Skip(n)
			for range n {
				drawn.Uint32()
			}
			if skipped.State() != drawn.State() {
				t.Errorf("%d words after %d: it came to another state", n, before)
			}
		}
	}
}

func BenchmarkLeap(b *testing.B) {
	m := mtFromSeed(1)
	m.twist(1)
	b.ReportAllocs()
	for b.Loop() {
		m.leap()
	}
}

func BenchmarkTwists(b *testing.B) {
	m := mtFromSeed(1)
	for b.Loop() {
		m.twist(jumpBlocks)
	}
}
