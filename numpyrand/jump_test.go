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

// TestWordsAfterALongSkipAreDrawn reads as many words after a skip as are looked up, and more, with skips in between.
func TestWordsAfterALongSkipAreDrawn(t *testing.T) {
	for _, n := range []uint64{blockWords*(jumpBlocks+1) - 1, blockWords * (jumpBlocks + 1), 2_000_000, blockWords*(jumpBlocks+4) - 3, blockWords * (jumpBlocks + 4)} {
		for _, before := range []int{0, 300, 624} {
			skipped := NewRandomState(7)
			for range before {
				skipped.Uint32()
			}
			drawn := skipped
			skipped.Skip(n)
			for range n {
				drawn.Uint32()
			}
			for k := range 3 * peekWords {
				if k%7 == 6 {
					skipped.Skip(2)
					drawn.Uint32()
					drawn.Uint32()
				}
				if got, want := skipped.Uint32(), drawn.Uint32(); got != want {
					t.Fatalf("word %d of %d after %d: got %d, want %d", k, n, before, got, want)
				}
				if k%5 == 4 && !skipped.Equal(&drawn) {
					t.Fatalf("word %d of %d after %d: another state", k, n, before)
				}
			}
		}
	}
}

func BenchmarkLookUp(b *testing.B) {
	m := mtFromSeed(1)
	m.at = blockWords * (jumpBlocks + 1)
	b.ReportAllocs()
	for b.Loop() {
		m.lookUp(0)
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
