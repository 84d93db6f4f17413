package agent

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skyrail/internal/golden"
	"skyrail/rail"
)

func TestNewKnowsEveryName(t *testing.T) {
	for _, name := range Names() {
		if p, err := New(name, Options{}); err != nil || p == nil {
			t.Errorf("%s: got %v, %v", name, p, err)
		}
	}
	_, err := New("nobody", Options{})
	var unknown *UnknownError
	if !errors.As(err, &unknown) || unknown.Name != "nobody" {
		t.Fatalf("got error %v, want an UnknownError", err)
	}
	for _, name := range Names() {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("got error %q, want it to list %s", err, name)
		}
	}
}

// policies are fresh ones: the catalogue's, and the other rules of deadlock avoidance.

func policies(t testing.TB) map[string]Policy {
	all := make(map[string]Policy)
	for _, name := range append(Names(), "heuristics-direct", "classic-by-stops") {
		p, err := recordedPolicy(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = p
	}
	return all
}

func recordedEnv(t testing.TB, name string) *rail.Env {
	t.Helper()
	var g episode
	if err := golden.Decode(golden.Read(t, "testdata/"+name+".json.gz"), &g); err != nil {
		t.Fatal(err)
	}
	e, err := g.env()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestActRefusesAWrongCall(t *testing.T) {
	small, large := recordedEnv(t, "small"), recordedEnv(t, "jam")
	for name, p := range policies(t) {
		if err := p.Reset(small); err != nil {
			t.Fatal(err)
		}
		if err := p.Act(small, make([]rail.Action, 3)); err == nil {
			t.Errorf("%s: got no error for 3 actions", name)
		}
		switch p.(type) {
		case *SetPath, *StoppingPath, *DeadlockAvoidance:
			if err := p.Act(large, make([]rail.Action, large.Trains())); err == nil {
				t.Errorf("%s: got no error for an environment with other trains", name)
			}
		}
	}
}

func TestRandomDrawsFromItsStream(t *testing.T) {
	e := recordedEnv(t, "small")
	p, err := New("random", Options{Seed: 42})
	if err != nil {
		t.Fatal(err)
	}
	// numpy.random.RandomState(42).choice(5), 14 times, from NumPy 1.26.4
	want := []rail.Action{3, 4, 2, 4, 4, 1, 2, 2, 2, 4, 3, 2, 4, 1}
	for range 2 { // a new episode begins the stream anew
		if err := p.Reset(e); err != nil {
			t.Fatal(err)
		}
		got := make([]rail.Action, len(want))
		for k := 0; k < len(got); k += e.Trains() {
			if err := p.Act(e, got[k:k+e.Trains()]); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func TestActDoesNotAllocate(t *testing.T) {
	start := recordedEnv(t, "jam")
	for name, p := range policies(t) {
		e := start.Clone()
		if err := p.Reset(e); err != nil {
			t.Fatal(err)
		}
		actions := make([]rail.Action, e.Trains())
		for range 150 {
			if err := errors.Join(p.Act(e, actions), e.Step(actions)); err != nil {
				t.Fatal(err)
			}
		}
		if got := testing.AllocsPerRun(10, func() {
			if err := p.Act(e, actions); err != nil {
				t.Error(err)
			}
		}); got != 0 {
			t.Errorf("%s: got %v allocations, want 0", name, got)
		}
	}
}

// drawScenario is any world: regular and irregular cells at random, trains anywhere, with stops of every kind.

func drawScenario(t *rapid.T) *rail.Scenario {
	width, height := rapid.IntRange(1, 9).Draw(t, "width"), rapid.IntRange(1, 9).Draw(t, "height")
	s := &rail.Scenario{
		Width: width, Height: height, MaxEpisodeSteps: 60,
		Acceleration: rapid.SampledFrom([]rail.Delta{{}, rail.FloatDelta(0.25)}).Draw(t, "acceleration"),
		Braking:      rapid.SampledFrom([]rail.Delta{{}, rail.FloatDelta(-0.25), rail.FloatDelta(0)}).Draw(t, "braking"),
	}
	cell := rapid.Custom(func(t *rapid.T) rail.Cell {
		return rail.Cell{Row: rapid.IntRange(0, height-1).Draw(t, "row"), Col: rapid.IntRange(0, width-1).Draw(t, "col")}
	})
	place := rapid.Custom(func(t *rapid.T) rail.Configuration {
		c := rail.Configuration{Cell: cell.Draw(t, "cell"), Heading: rail.Heading(rapid.IntRange(-1, 3).Draw(t, "heading"))}
		if rapid.IntRange(0, 19).Draw(t, "inside") == 0 {
			c.Row = -1
		}
		return c
	})
	kind := rapid.OneOf(rapid.SampledFrom(rail.Kinds()), rapid.Custom(func(t *rapid.T) rail.Transitions {
		return rail.Transitions(rapid.Uint16().Draw(t, "cell"))
	}))
	s.Grid = rapid.SliceOfN(kind, width*height, width*height).Draw(t, "grid")
	s.LevelFree = rapid.SliceOfN(cell, 0, 3).Draw(t, "level free")
	for range rapid.IntRange(0, 8).Draw(t, "trains") {
		train := rail.Train{
			Initial: rail.Configuration{Cell: cell.Draw(t, "start"), Heading: rail.Heading(rapid.IntRange(0, 3).Draw(t, "facing"))},
			Target:  cell.Draw(t, "target"),
			MaxSpeed: rapid.SampledFrom([]rail.Fraction{
				rail.Whole(1), rail.Frac(1, 2), rail.Frac(1, 3), rail.Frac(4, 5),
			}).Draw(t, "speed"),
			EarliestDeparture: rapid.IntRange(0, 5).Draw(t, "earliest"), LatestArrival: 40,
		}
		for range rapid.IntRange(0, 4).Draw(t, "stops") {
			train.Stops = append(train.Stops, rail.Stop{
				Alternatives:  rapid.SliceOfN(place, 0, 3).Draw(t, "alternatives"),
				LatestArrival: rail.At(10), EarliestDeparture: rail.At(rapid.IntRange(0, 30).Draw(t, "leave")),
			})
		}
		s.Trains = append(s.Trains, train)
	}
	return s
}

func drawEnv(t *rapid.T) *rail.Env {
	p := rail.MalfunctionParameters{Rate: 0.1, MinDuration: 1, MaxDuration: 4}
	e, err := rail.New(drawScenario(t), rail.Options{
		Seed:    rapid.Uint64().Draw(t, "seed"),
		Effects: rapid.SampledFrom([][]rail.Effect{nil, {rail.NewBreakdowns(p)}}).Draw(t, "effects"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestAnyWorld runs every policy in worlds that no generator would make: it answers 0 to 4, and the same again.

func TestAnyWorld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		start := drawEnv(rt)
		begin := rapid.IntRange(0, 10).Draw(rt, "begin") // where the policy takes over
		for range begin {
			if err := start.Step(slices.Repeat([]rail.Action{rail.MoveForward}, start.Trains())); err != nil {
				return // the world has come to its end
			}
		}
		for name, p := range policies(t) {
			first := play(rt, start, name, p)
			if again := play(rt, start, name, p); !slices.Equal(first, again) {
				rt.Fatalf("%s: got %v, then %v", name, first, again)
			}
		}
	})
}

// play runs a policy to the end of an episode and returns all its actions.

func play(t *rapid.T, start *rail.Env, name string, p Policy) (all []rail.Action) {
	e := start.Clone()
	if err := p.Reset(e); err != nil {
		t.Fatal(err)
	}
	actions := make([]rail.Action, e.Trains())
	for !e.AllDone() {
		for i := range actions {
			actions[i] = -1
		}
		if err := p.Act(e, actions); err != nil {
			t.Fatal(err)
		}
		for i, a := range actions {
			if a < rail.DoNothing || a > rail.StopMoving {
				t.Fatalf("%s: got %s for train %d", name, a, i)
			}
		}
		all = append(all, actions...)
		if err := e.Step(actions); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// straight is a line of n cells from west to east, with a dead end on either side.

// drive runs a policy until an episode ends, and returns the places of train 0 after each step, -1 off the map.

// TestDeadlockAvoidanceLetsTheLastEnter shows that the rule matters: on a line two trains that enter together meet.

// TestQuirkWaitingTrainKeepsItsOpponents: a train that breaks down off the map after its departure was due is looked at,

// one that waits is not, and keeps what was seen.

// TestLegIsTheFirstShortest compares a leg's length with the distances of the engine, and its steps with the network.

// TestQuirkOneTrainSeenOnABridge: of two trains on a bridge the one with the higher handle hides the other, here one that

// comes head-on behind one that crosses.

// junction is a line of seven cells from west to east with a dead end on either side, and in its middle a switch to the

// cell north of it. The brakes are so weak that a train at full speed does not stop within a cell.
