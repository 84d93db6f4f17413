package rail

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func columns(from, to int) []Cell {
	var cells []Cell
	for col := from; col <= to; col++ {
		cells = append(cells, Cell{0, col})
	}
	return cells
}

func closed(closures ...Closure) Options {
	return Options{Effects: []Effect{&TrackClosures{Closures: closures}}}
}

// story runs a line with all trains told to go ahead, and writes for each step the column, state and counter of a train.
func story(t *testing.T, e *Env, train, steps int) string {
	t.Helper()
	var lines []string
	for range steps {
		run(t, e, MoveForward)
		col := "-"
		if c, on := e.Configuration(train); on {
			col = fmt.Sprint(c.Col)
		}
		lines = append(lines, fmt.Sprintf("%s %s %d", col, e.State(train), e.Malfunction(train)))
	}
	return strings.Join(lines, "\n")
}

func TestClosures(t *testing.T) {
	for name, c := range map[string]struct {
		closures []Closure
		want     string // from step 1 on, of a train that enters in column 1
	}{
		"it stops a train until the end": {[]Closure{{5, 8, columns(3, 3)}}, `
- READY_TO_DEPART 0
1 MOVING 0
2 MOVING 0
3 MOVING 0
3 MALFUNCTION 2
3 MALFUNCTION 1
3 MALFUNCTION 0
4 MOVING 0
5 MOVING 0`},
		"it catches a train that drives in, a step later": {[]Closure{{0, 7, columns(3, 4)}}, `
- READY_TO_DEPART 0
1 MOVING 0
2 MOVING 0
3 MOVING 0
3 MALFUNCTION 1
3 MALFUNCTION 0
4 MOVING 0
5 MOVING 0
6 MOVING 0`},
		"it lets a train enter, and catches it": {[]Closure{{1, 5, columns(1, 1)}}, `
- READY_TO_DEPART 0
1 MOVING 0
1 MALFUNCTION 1
1 MALFUNCTION 0
2 MOVING 0
3 MOVING 0
4 MOVING 0
5 MOVING 0
6 MOVING 0`},
		"it lasts to the latest end, in any order": {[]Closure{{9, 12, columns(3, 3)}, {6, 7, columns(2, 3)}, {3, 9, columns(3, 3)}, {5, 6, columns(0, 8)}}, `
- READY_TO_DEPART 0
1 MOVING 0
2 MOVING 0
3 MOVING 0
3 MALFUNCTION 3
3 MALFUNCTION 2
3 MALFUNCTION 1
3 MALFUNCTION 0
3 MALFUNCTION 2`},
		"it leaves what is open or elsewhere alone": {[]Closure{{1, 4, columns(3, 3)}, {1, 9, columns(0, 0)}, {6, 9, columns(1, 4)}}, `
- READY_TO_DEPART 0
1 MOVING 0
2 MOVING 0
3 MOVING 0
4 MOVING 0
4 MALFUNCTION 2
4 MALFUNCTION 1
4 MALFUNCTION 0
5 MOVING 0`},
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, line(12).eastbound(1, 10, Whole(1)), closed(c.closures...))
			before := e.Stream()
			first := story(t, e, 0, 9)
			want(t, "steps", "\n"+first, c.want)
			if after := e.Stream(); !after.Equal(&before) {
				t.Error("it drew random numbers")
			}
			e.Reset(nil)
			want(t, "steps after a reset", story(t, e, 0, 9), first)
		})
	}
}

func TestClosureCountsOneMalfunction(t *testing.T) {
	e := start(t, line(12).eastbound(1, 10, Whole(1)), closed(Closure{5, 9, columns(3, 3)}, Closure{7, 12, columns(3, 3)}))
	run(t, e, MoveForward, MoveForward, MoveForward, MoveForward)
	want(t, "malfunctions before", e.Malfunctions(0), 0)
	run(t, e, MoveForward, MoveForward)
	want(t, "counter", e.Malfunction(0), 2)
	run(t, e, MoveForward)
	want(t, "counter, raised", e.Malfunction(0), 4)
	want(t, "malfunctions", e.Malfunctions(0), 1)
}

func TestClosureOfABrokenTrain(t *testing.T) {
	for counter, after := range map[int]int{1: 3, 3: 3, 4: 3, 9: 8} {
		e := start(t, line(12).eastbound(1, 10, Whole(1)), closed(Closure{5, 9, columns(3, 3)}))
		run(t, e, MoveForward, MoveForward, MoveForward, MoveForward)
		e.trains[0].breakDown(counter)
		run(t, e, MoveForward)
		want(t, fmt.Sprintf("counter of one broken for %d", counter), e.Malfunction(0), after)
		want(t, "malfunctions", e.Malfunctions(0), 1)
	}
}

func TestClosureHoldsThoseBehind(t *testing.T) {
	s := line(12).eastbound(1, 10, Whole(1)).eastbound(1, 10, Whole(1))
	e := start(t, s, closed(Closure{5, 8, columns(3, 3)}))
	want(t, "the second train", "\n"+story(t, e, 1, 9), `
- READY_TO_DEPART 0
- READY_TO_DEPART 0
1 MOVING 0
2 MOVING 0
2 STOPPED 0
2 STOPPED 0
2 STOPPED 0
3 MOVING 0
4 MOVING 0`)
}

func TestClosureLeavesArrivedTrainsAlone(t *testing.T) {
	s := line(12).eastbound(1, 3, Whole(1)).eastbound(5, 10, Whole(1))
	s.KeepAtTarget = true
	e := start(t, s, closed(Closure{6, 20, columns(3, 3)}))
	run(t, e, MoveForward, MoveForward, MoveForward, MoveForward)
	want(t, "state", e.State(0), Done)
	run(t, e, MoveForward, MoveForward, MoveForward)
	want(t, "counter", e.Malfunction(0), 0)
}

// plainClosures are TrackClosures as their description reads.
type plainClosures struct{ TrackClosures }

func (p *plainClosures) stepStart(e *Env) {
	for i := range e.trains {
		c, on := e.Configuration(i)
		for _, shut := range p.Closures {
			left := shut.Until - e.elapsed
			if !on || e.trains[i].state == Done || e.elapsed < shut.From || left <= 0 || !slices.Contains(shut.Cells, c.Cell) {
				continue
			}
			if e.trains[i].malfunction == 0 {
				e.trains[i].malfunctions++
			}
			e.trains[i].malfunction = max(e.trains[i].malfunction, left)
		}
	}
}

func (p *plainClosures) clone() Effect { return p }

func drawClosures(t *rapid.T, s *Scenario) []Closure {
	cell := rapid.Custom(func(t *rapid.T) Cell {
		return Cell{rapid.IntRange(0, s.Height-1).Draw(t, "row"), rapid.IntRange(0, s.Width-1).Draw(t, "col")}
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Closure {
		from := rapid.IntRange(0, 30).Draw(t, "from")
		return Closure{from, from + rapid.IntRange(1, 12).Draw(t, "steps"), rapid.SliceOfN(cell, 1, 6).Draw(t, "cells")}
	}), 0, 12).Draw(t, "closures")
}

// TestClosuresInAnyWorld compares them with their description, among other effects and through clones and resets.
func TestClosuresInAnyWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, around := drawScenario(t), drawEffects(t)
		closures, before := drawClosures(t, s), rapid.Bool().Draw(t, "before the others")
		with := func(f Effect) *Env {
			o := Options{Seed: 5, Effects: append(slices.Clone(around), f)}
			if before {
				o.Effects = append([]Effect{f}, around...)
			}
			e, err := New(s, o)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		got, plain := with(&TrackClosures{Closures: closures}), with(&plainClosures{TrackClosures{Closures: closures}})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if got.AllDone() {
				got.Reset(nil)
				plain.Reset(nil)
			}
			if rapid.IntRange(0, 4).Draw(t, "clone") == 0 {
				got = got.Clone()
			}
			actions := drawActions(t, got)
			if err := got.Step(actions); err != nil {
				t.Fatal(err)
			}
			if err := plain.Step(actions); err != nil {
				t.Fatal(err)
			}
			if !got.sameTrains(plain) {
				t.Fatalf("after step %d got %+v, want %+v", got.Elapsed(), got.Snapshot().Trains, plain.Snapshot().Trains)
			}
		}
	})
}

func TestClosureRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		closure Closure
		want    string
	}{
		"no end":              {Closure{5, 5, columns(1, 1)}, "effect 1: closure 1: from step 5 until step 5: want 0 <= from_step < until_step <= 1048576"},
		"an end before":       {Closure{5, 4, columns(1, 1)}, "until step 4"},
		"a negative step":     {Closure{-1, 4, columns(1, 1)}, "from step -1"},
		"an end too far":      {Closure{0, MaxSteps + 1, columns(1, 1)}, "until step 1048577"},
		"no cells":            {Closure{1, 2, nil}, "it has no cells"},
		"a row outside":       {Closure{1, 2, []Cell{{0, 1}, {1, 0}}}, "cell (1, 0) is outside the grid of 1 rows and 6 columns"},
		"a column outside":    {Closure{1, 2, columns(5, 6)}, "cell (0, 6) is outside"},
		"a negative position": {Closure{1, 2, columns(-1, 2)}, "cell (0, -1) is outside"},
	} {
		good := Closure{0, MaxSteps, columns(0, 5)}
		effects := []Effect{&TrackClosures{}, &TrackClosures{Closures: []Closure{good, c.closure}}}
		_, err := New(line(6), Options{Effects: effects})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
}

func TestEqualLooksAtClosures(t *testing.T) {
	c := Closure{3, 5, columns(1, 2)}
	e := start(t, line(6), closed(c))
	if !e.Equal(start(t, line(6), closed(Closure{3, 5, columns(1, 2)}))) {
		t.Error("equal closures make a difference")
	}
	for name, o := range map[string]Options{
		"begin":  closed(Closure{2, 5, c.Cells}),
		"end":    closed(Closure{3, 6, c.Cells}),
		"cells":  closed(Closure{3, 5, columns(1, 3)}),
		"number": closed(c, c),
		"kind":   {Effects: []Effect{NewBreakdowns(MalfunctionParameters{})}},
	} {
		if other := start(t, line(6), o); e.Equal(other) || other.Equal(e) {
			t.Errorf("another %s makes no difference", name)
		}
	}
}

// TestClosuresOfAnotherEnvironment takes an effect that has run to another grid, and changes its list.
func TestClosuresOfAnotherEnvironment(t *testing.T) {
	lower := func(n int) *Scenario { // an empty row above
		s := line(n).eastbound(1, n-2, Whole(1))
		s.Height, s.Grid = 2, append(make([]Transitions, n), s.Grid...)
		s.Trains[0].Initial.Row, s.Trains[0].Target.Row = 1, 1
		return s
	}
	e := start(t, lower(12), closed(Closure{5, 8, []Cell{{1, 3}}}))
	story(t, e, 0, 5)
	want(t, "counter", e.Malfunction(0), 2)
	effects := e.Effects()
	other := start(t, lower(7), Options{Effects: effects})
	story(t, other, 0, 5)
	want(t, "counter on another grid", other.Malfunction(0), 2)
	effects[0].(*TrackClosures).Closures = []Closure{{5, 10, []Cell{{1, 3}}}}
	if err := e.SetEffects(effects); err != nil {
		t.Fatal(err)
	}
	e.Reset(nil)
	story(t, e, 0, 5)
	want(t, "counter with another list", e.Malfunction(0), 4)
}

func TestClosuresDoNotAllocate(t *testing.T) {
	e := start(t, line(12).eastbound(1, 10, Whole(1)), closed(Closure{1, 500, columns(3, 3)}, Closure{20, 400, columns(0, 11)}))
	e.scenario.MaxEpisodeSteps = 0
	run(t, e, MoveForward, MoveForward)
	actions := []Action{MoveForward}
	if n := testing.AllocsPerRun(100, func() { _ = e.Step(actions) }); n != 0 {
		t.Errorf("a step makes %v allocations, want 0", n)
	}
}

// BenchmarkClosures is the start of a step of 200 trains with some closures open.
func BenchmarkClosures(b *testing.B) {
	e, actions := recorded(b, "g09_sparse_200")
	var closures []Closure
	for k := range 40 {
		c := e.Network().Cell(e.Initial(k))
		closures = append(closures, Closure{From: 20 * k, Until: 20*k + 60, Cells: []Cell{c}})
	}
	if err := e.SetEffects([]Effect{&TrackClosures{Closures: closures}}); err != nil {
		b.Fatal(err)
	}
	for _, a := range actions[:50] {
		if err := e.Step(a); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		e.effects[0].stepStart(e)
	}
}
