package planner

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"skyrail/flight"
	"skyrail/flight/contest"
	"skyrail/numpyrand"
)

// shapes are the environments that beliefs are tried on. The budget is never spent.
var shapes = []struct {
	flights, steps, hold int
	seeds                int // how many of the public ones
}{
	{5, 50, 5, 100},
	{1, 50, 5, 100},
	{2, 100, 1, 40}, // the shortest manoeuvres
	{8, 60, 2, 40},
	{5, 120, 12, 40},
	{5, 80, 1_000, 20},
	{5, 60, 1_000_000, 20}, // the longest
	{64, 50, 5, 4},
}

func eachShape(t *testing.T, test func(t *testing.T, cfg flight.Config, seeds []uint64)) {
	for _, s := range shapes {
		cfg := flight.DefaultConfig()
		cfg.Flights, cfg.MaxSteps, cfg.HoldSteps, cfg.MaxClearances = s.flights, s.steps, s.hold, 1_000
		cfg.NLo, cfg.NHi = 1, min(s.flights, 4)
		t.Run(fmt.Sprintf("%d flights, %d steps, hold %d", s.flights, s.steps, s.hold), func(t *testing.T) {
			test(t, cfg, contest.PublicSeeds()[:s.seeds])
		})
	}
}

// truth is an environment in an episode that a random pilot flies.
type truth struct {
	*flight.Env
	obs    []float32
	stream numpyrand.Generator
	state  flight.State
	inside uint64 // bit i: aircraft i was within the sector at the reset
}

func newTruth(cfg flight.Config) *truth {
	return &truth{Env: mustNew(cfg), obs: make([]float32, cfg.ObservationLen())}
}

func (w *truth) begin(seed uint64) {
	w.Reset(seed)
	w.stream = numpyrand.NewGenerator(seed)
	w.inside = w.within()
}

// within returns which aircraft are within the sector now.
func (w *truth) within() (bits uint64) {
	for i := range w.Config().Flights {
		if a := w.Aircraft(i); max(math.Abs(a.X), math.Abs(a.Y)) < flight.SectorHalfWidth {
			bits |= 1 << i
		}
	}
	return bits
}

func (w *truth) observe() []float32 {
	w.Observe(w.obs)
	w.State(&w.state)
	return w.obs
}

// choose idles, or draws a legal action, or one of all.
func (w *truth) choose() int {
	switch what := w.stream.Random(); {
	case what < 0.3:
		return flight.Idle
	case what < 0.5:
		return w.stream.Choice(w.Config().Actions())
	}
	for {
		if action := w.stream.Choice(w.Config().Actions()); w.Legal(action) {
			return action
		}
	}
}

func (w *truth) fly(t testing.TB, action int) {
	t.Helper()
	if _, err := w.Advance(action); err != nil {
		t.Fatal(err)
	}
}

// compare fails the test if b is wrong about the aircraft given: in anything but places at all, in places by more than
// 5 mm.
func (w *truth) compare(t *testing.T, b *belief, places uint64) {
	t.Helper()
	var s flight.State
	b.env.State(&s)
	if s.Step != w.state.Step || s.Clearances != w.state.Clearances {
		t.Fatalf("step %d: got step %d with %d clearances, want %d", w.state.Step, s.Step, s.Clearances, w.state.Clearances)
	}
	for i := range s.Aircraft {
		got, want := &s.Aircraft[i], &w.state.Aircraft[i]
		wrong := discrete(*got) != discrete(*want)
		if places>>i&1 != 0 {
			wrong = wrong || apart(got.X, want.X, 0.005) || apart(got.Y, want.Y, 0.005) ||
				apart(got.DistanceToExit, want.DistanceToExit, 0.02) || apart(got.TargetTime, want.TargetTime, 1e-4) ||
				apart(got.ExitTime, want.ExitTime, 1e-4)
		}
		if wrong {
			t.Fatalf("step %d, aircraft %d: got, want\n%+v\n%+v", s.Step, i, *got, *want)
		}
	}
	for action := range w.Config().Actions() {
		if got, want := b.env.Legal(action), w.Legal(action); got != want {
			t.Fatalf("step %d: action %d is legal: got %v, want %v", w.StepCount(), action, got, want)
		}
	}
}

// compareCounts fails the test if b has lost count of the losses of separation.
func (w *truth) compareCounts(t *testing.T, b *belief) {
	t.Helper()
	var got, want flight.Info
	b.env.Info(&got)
	w.Info(&want)
	if got.CongestionTotal != want.CongestionTotal || got.AircraftInvolved != want.AircraftInvolved {
		t.Fatalf("step %d: got, want\n%+v\n%+v", w.StepCount(), got, want)
	}
}

// discrete is s without what is only known to a few millimetres. Six clearances to one aircraft or more look alike.
func discrete(s flight.AircraftState) flight.AircraftState {
	s.X, s.Y, s.Heading, s.DistanceToExit, s.TargetTime, s.ExitTime = 0, 0, 0, 0, 0, 0
	s.Clearances = min(s.Clearances, 6)
	return s
}

func apart(a, b, tolerance float64) bool { return !(math.Abs(a-b) <= tolerance) }

func TestBeliefFliesAlong(t *testing.T) {
	eachShape(t, func(t *testing.T, cfg flight.Config, seeds []uint64) {
		w, b := newTruth(cfg), newBelief(cfg)
		for _, seed := range seeds {
			w.begin(seed)
			b.reset()
			for step := range cfg.MaxSteps {
				if got, want := b.see(w.observe()), step > 0; got != want {
					t.Fatalf("seed %d step %d: as expected: got %v, want %v", seed, step, got, want)
				}
				w.compare(t, b, w.inside)
				w.compareCounts(t, b)
				action := w.choose()
				b.answer(action)
				w.fly(t, action)
			}
			if b.see(w.observe()); b.env.Status().Truncated != w.Status().Truncated {
				t.Fatalf("seed %d: the end: got %+v, want %+v", seed, b.env.Status(), w.Status())
			}
		}
	})
}

// Another action may be flown than the one answered: the belief finds out which, unless it came to the same.
func TestBeliefFindsTheActionFlown(t *testing.T) {
	eachShape(t, func(t *testing.T, cfg flight.Config, seeds []uint64) {
		w, b := newTruth(cfg), newBelief(cfg)
		replaced, alike := 0, 0
		for _, seed := range seeds {
			w.begin(seed)
			b.reset()
			b.see(w.observe())
			for range cfg.MaxSteps {
				answer := w.choose()
				action := answer
				if w.stream.Random() < 0.2 {
					action = w.choose()
				}
				b.answer(answer)
				would := w.Clone()
				if _, err := would.Advance(answer); err != nil {
					t.Fatal(err)
				}
				w.fly(t, action)
				w.observe()
				want := same(would, w.state)
				if got := b.see(w.obs); got != want {
					t.Fatalf("seed %d step %d: answer %d, flown %d: as expected: got %v, want %v",
						seed, w.StepCount(), answer, action, got, want)
				}
				w.compare(t, b, w.inside)
				w.compareCounts(t, b)
				if action != answer {
					replaced++
					if want {
						alike++
					}
				}
			}
		}
		if alike == 0 || alike == replaced {
			t.Errorf("of %d replaced actions %d came to the same", replaced, alike)
		}
	})
}

// same reports whether env is in a state, but for what no observation tells: illegal actions, and clearances to an
// aircraft beyond six.
func same(env *flight.Env, want flight.State) bool {
	var got flight.State
	env.State(&got)
	alike := func(a, b flight.AircraftState) bool {
		a.Clearances, b.Clearances = min(a.Clearances, 6), min(b.Clearances, 6)
		return a == b
	}
	return got.Clearances == want.Clearances && slices.EqualFunc(got.Aircraft, want.Aircraft, alike)
}

// undecidable reports whether one of two states is a hold and the other the second half of a faster pulse, at the lowest
// speed. In the latter nothing is slower than the entry speed, and both put the aircraft back at the same step.
func undecidable(a, b *flight.AircraftState) bool {
	if a.Hold == 0 {
		a, b = b, a
	}
	return a.Hold > 0 && b.Pulse == a.Hold && b.Sign == 1 && a.EntrySpeed == flight.LowSpeed && b.Speed == flight.LowSpeed
}

// After a beginning in mid-episode, the aircraft that were within the sector then are known for good; those that had left
// are guessed, and guessed again, without harm to the others.
func TestBeliefKeepsWhatItKnows(t *testing.T) {
	cfg := flight.DefaultConfig()
	cfg.MaxSteps, cfg.MaxClearances = 100, 1_000
	w, b := newTruth(cfg), newBelief(cfg)
	var s flight.State
	unexpected, outside := 0, 0
	for _, seed := range contest.PublicSeeds() {
		w.begin(seed)
		for range 1 + w.stream.Choice(cfg.MaxSteps/2) {
			w.fly(t, w.choose())
		}
		b.reset()
		b.see(w.observe())
		known := w.within()
		for !w.Status().Truncated {
			action := w.choose()
			b.answer(action)
			w.fly(t, action)
			if !b.see(w.observe()) {
				unexpected++
			}
			b.env.State(&s)
			for i := range s.Aircraft {
				got, want := s.Aircraft[i], w.state.Aircraft[i]
				if known>>i&1 == 0 {
					continue
				}
				if got.Flown > got.DistanceToExit {
					outside++
				}
				if undecidable(&got, &want) {
					got.Hold, got.Pulse, got.Sign = want.Hold, want.Pulse, want.Sign
				}
				if discrete(got) != discrete(want) || apart(got.X, want.X, 0.02) || apart(got.Y, want.Y, 0.02) {
					t.Fatalf("seed %d step %d, aircraft %d: got, want\n%+v\n%+v", seed, w.StepCount(), i, got, want)
				}
			}
		}
	}
	if unexpected == 0 || outside == 0 {
		t.Errorf("%d observations were unexpected, %d aircraft known outside: there is nothing to keep", unexpected, outside)
	}
}

// What is not the observation after the last: each time the state must be right, and never is it as expected.
func TestBeliefOutOfTurn(t *testing.T) {
	cfg := flight.DefaultConfig()
	// At step 46 of the first, two aircraft are within the sector, and one is past two edges: it looks the same for ever.
	first, second := contest.PublicSeeds()[90], contest.PublicSeeds()[1]
	unanswered := func(*truth, *belief) {}
	answer := func(action int) func(*truth, *belief) {
		return func(_ *truth, b *belief) { b.answer(action) }
	}
	fly := func(actions ...int) func(*truth, *belief) {
		return func(w *truth, _ *belief) {
			for _, action := range actions {
				w.fly(t, action)
			}
		}
	}
	for name, c := range map[string]struct {
		after        int // steps
		answer, then func(w *truth, b *belief)
		places       bool // where aircraft outside are is still known
	}{
		"the same again":                     {46, answer(flight.Action(0, flight.FLInc)), fly(), true},
		"the same again, unanswered":         {46, unanswered, fly(), true},
		"a step without an answer":           {46, unanswered, fly(flight.Idle), true},
		"a clearance without an answer":      {20, unanswered, fly(flight.Action(2, flight.FLInc2)), true},
		"an answer outside the action space": {46, answer(cfg.Actions()), fly(flight.Idle), true},
		"two steps":                          {46, answer(flight.Idle), fly(flight.Idle, flight.Idle), false},
		"two steps with clearances": {4, answer(flight.Idle),
			fly(flight.Action(1, flight.SpdDn), flight.Action(2, flight.FLInc)), true},
		"another episode, without a reset": {46, answer(flight.Idle),
			func(w *truth, _ *belief) { w.begin(second) }, true},
		"a reset in mid-episode": {4, answer(flight.Idle),
			func(w *truth, b *belief) { b.reset(); w.fly(t, flight.Idle) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w, b := newTruth(cfg), newBelief(cfg)
			w.begin(first)
			for range c.after {
				b.see(w.observe())
				b.answer(flight.Idle)
				w.fly(t, flight.Idle)
			}
			b.see(w.observe())
			if c.after > 40 && w.within() == w.inside {
				t.Fatal("no aircraft has left")
			}
			env := b.env
			c.answer(w, b)
			c.then(w, b)
			for range 2 {
				if b.see(w.observe()) {
					t.Error("it is as expected")
				}
				places := w.inside
				if !c.places {
					places = w.within()
				}
				w.compare(t, b, places)
				if b.env != env {
					t.Error("env is another one")
				}
			}
			b.answer(flight.Idle)
			w.fly(t, flight.Idle)
			if !b.see(w.observe()) {
				t.Error("the next is not as expected")
			}
		})
	}
}

// Every feature is compared, as exactly as the largest environments need it; those of conflicts are not.
func TestBeliefMindsEveryFeature(t *testing.T) {
	cfg := flight.DefaultConfig()
	cfg.Flights, cfg.NLo, cfg.NHi = 1, 1, 1
	cfg.MaxSteps, cfg.HoldSteps, cfg.MaxClearances = 1_000_000, 1_000_000, 1_000_000
	b := newBelief(cfg)
	b.env.Observe(b.told)
	b.told[6] = 0.5
	const anyOther = -0.3
	for at, c := range []struct{ same, other float32 }{
		{1e-7, 1e-5}, {-1e-7, -1e-5}, // place
		{0, 2. / 9}, {1e-7, 2e-6}, // level, speed
		{1e-7, 1e-5}, {-1e-7, 1e-5}, // heading
		{6e-8, 1e-6},                      // exit time
		{0, 0.04}, {0, 1. / 3}, {0, 1e-6}, // exit level, clearances, busy
		{anyOther, 0}, {anyOther, 0}, {anyOther, 0},
		{0, 2e-6}, {0, -2e-6}, // steps flown, budget
		{0, 0}, // idle is always legal
		{0, 1}, {0, -1}, {0, 1}, {0, -1}, {0, 1}, {0, -1}, {0, 1},
	} {
		obs := slices.Clone(b.told)
		if obs[at] += c.same; !b.fits(obs) {
			t.Errorf("observation[%d]: %v instead of %v does not fit", at, obs[at], b.told[at])
		}
		if obs[at] = b.told[at] + c.other; c.other != 0 && b.fits(obs) {
			t.Errorf("observation[%d]: %v instead of %v fits", at, obs[at], b.told[at])
		}
		if obs[at] = float32(math.NaN()); c.other != 0 && b.fits(obs) {
			t.Errorf("observation[%d]: NaN fits", at)
		}
	}
}

func TestAShortObservationPanics(t *testing.T) {
	cfg := flight.DefaultConfig()
	b := newBelief(cfg)
	defer func() {
		if recover() == nil {
			t.Error("it did not")
		}
	}()
	b.see(make([]float32, cfg.ObservationLen())[:cfg.ObservationLen()-1])
}
