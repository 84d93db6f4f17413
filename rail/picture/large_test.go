package picture

import (
	"bytes"
	"testing"

	"skyrail/rail"
)

// The largest case of the competition, made as hard to write short as can be: all trains move in every step.
const (
	largeRows, largeCols = 150, 120
	largeTrains          = 532
	largeSteps           = 1500
)

// large records 532 trains that go round loops of two rows for ever.
func large(t testing.TB, steps int) *Recording {
	t.Helper()
	s := &rail.Scenario{Width: largeCols, Height: largeRows, MaxEpisodeSteps: steps}
	for row := range largeRows {
		for col := range largeCols {
			kind := rail.Transitions(1025) // horizontal, and turns at the ends
			turned := map[[2]bool]rail.Transitions{{true, true}: 4608, {true, false}: 16386, {false, true}: 2064, {false, false}: 72}
			if col == 0 || col == largeCols-1 {
				kind = turned[[2]bool{row%2 == 0, col > 0}]
			}
			s.Grid = append(s.Grid, kind)
		}
	}
	speeds := []rail.Fraction{rail.Whole(1), rail.Frac(1, 2), rail.Frac(1, 3), rail.Frac(1, 4)}
	for i := range largeTrains {
		loop := i % (largeRows / 2)
		at := rail.Configuration{Cell: rail.Cell{Row: 2 * loop, Col: 5 + 7*(i/(largeRows/2))}, Heading: rail.East}
		// Nobody arrives: the target is on another loop. Trains of a loop are equally fast.
		s.Trains = append(s.Trains, rail.Train{
			Initial: at, Target: rail.Cell{Row: (at.Row + 2) % largeRows, Col: 1}, MaxSpeed: speeds[loop%len(speeds)], LatestArrival: steps,
		})
	}
	e, err := rail.New(s, rail.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := New(e)
	actions := make([]rail.Action, e.Trains())
	for i := range actions {
		actions[i] = rail.MoveForward
	}
	for range steps {
		if err := e.Step(actions); err != nil {
			t.Fatal(err)
		}
		if err := r.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestLargestPageIsAFewMegabytes(t *testing.T) {
	t.Parallel()
	r := large(t, largeSteps)
	if moving := r.count(largeSteps).states[rail.Moving]; moving != largeTrains {
		t.Fatalf("got %d trains moving in the last step, want all %d", moving, largeTrains)
	}
	var out bytes.Buffer
	if err := Write(&out, HTML, r, Options{}); err != nil {
		t.Fatal(err)
	}
	if most := 4_000_000; out.Len() > most {
		t.Errorf("got a page of %d bytes, want at most %d", out.Len(), most)
	}
	checkPage(t, r, out.Bytes(), 0, largeSteps)
}

func BenchmarkLargest(b *testing.B) {
	r := large(b, largeSteps)
	for _, f := range []Format{SVG, PNG, HTML} {
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				var out counter
				if err := Write(&out, f, r, Options{}); err != nil {
					b.Fatal(err)
				}
				size = int(out)
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

func BenchmarkRecord(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		large(b, 100)
	}
}

// counter is a writer that counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
