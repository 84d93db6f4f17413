package rail

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// drawScenario is any world: regular cells at random, trains anywhere, with stops and speeds of every kind.
func drawScenario(t *rapid.T) *Scenario {
	width, height := rapid.IntRange(1, 9).Draw(t, "width"), rapid.IntRange(1, 9).Draw(t, "height")
	s := &Scenario{
		Width: width, Height: height, MaxEpisodeSteps: rapid.IntRange(0, 60).Draw(t, "limit"),
		KeepAtTarget: false,
		Acceleration: rapid.SampledFrom([]Delta{{}, FloatDelta(0.07), ExactDelta(Frac(1, 4)), FloatDelta(0)}).Draw(t, "acceleration"),
		Braking:      rapid.SampledFrom([]Delta{{}, FloatDelta(-0.33), ExactDelta(Frac(-1, 3))}).Draw(t, "braking"),
	}
	cell := rapid.Custom(func(t *rapid.T) Cell {
		return Cell{rapid.IntRange(0, height-1).Draw(t, "row"), rapid.IntRange(0, width-1).Draw(t, "col")}
	})
	heading := rapid.Custom(func(t *rapid.T) Heading { return Heading(rapid.IntRange(0, 3).Draw(t, "heading")) })
	kind := rapid.OneOf(rapid.SampledFrom(Kinds()), rapid.Custom(func(t *rapid.T) Transitions { return Transitions(rapid.Uint16().Draw(t, "cell")) }))
	s.Grid = rapid.SliceOfN(kind, width*height, width*height).Draw(t, "grid")
	s.LevelFree = rapid.SliceOfN(cell, 0, 4).Draw(t, "level free")
	for range rapid.IntRange(0, 8).Draw(t, "trains") {
		train := Train{
			Initial:  Configuration{cell.Draw(t, "start"), heading.Draw(t, "facing")},
			Target:   cell.Draw(t, "target"),
			MaxSpeed: rapid.SampledFrom([]Fraction{Whole(1), Frac(1, 2), Frac(1, 3), Frac(4, 5)}).Draw(t, "speed"),
		}
		train.EarliestDeparture = rapid.IntRange(0, 5).Draw(t, "earliest")
		train.LatestArrival = rapid.IntRange(0, 40).Draw(t, "latest")
		train.Stops = []Stop{{Alternatives: []Configuration{train.Initial}, EarliestDeparture: At(train.EarliestDeparture)}}
		for range rapid.IntRange(0, 2).Draw(t, "stops") {
			train.Stops = append(train.Stops, Stop{
				Alternatives:  []Configuration{{cell.Draw(t, "stop"), heading.Draw(t, "towards")}, {cell.Draw(t, "other"), NoHeading}},
				LatestArrival: At(10), EarliestDeparture: At(12),
			})
		}
		train.Stops = append(train.Stops, Stop{Alternatives: []Configuration{{train.Target, NoHeading}}, LatestArrival: At(train.LatestArrival)})
		s.Trains = append(s.Trains, train)
	}
	return s
}

func drawEffects(t *rapid.T) []Effect {
	p := MalfunctionParameters{Rate: 0.1, MinDuration: 1, MaxDuration: 4}
	return rapid.SampledFrom([][]Effect{
		nil, {NewBreakdowns(p)}, {NewDepartureMalfunctions(p, 2), NewBreakdowns(p)}, {&LegacyMalfunctions{MalfunctionParameters: p}},
	}).Draw(t, "effects")
}

func drawEnv(t *rapid.T) *Env {
	e, err := New(drawScenario(t), Options{
		Seed: rapid.Uint64().Draw(t, "seed"), Effects: drawEffects(t),
		Rewards: []Rewards{ECML2026Rewards(), {Kind: PunctualityReward}, {MultiObjectiveReward, DefaultFactors()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func drawActions(t *rapid.T, e *Env) []Action {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Action { return Action(rapid.IntRange(-1, 6).Draw(t, "action")) }),
		e.Trains(), e.Trains()).Draw(t, "actions")
}

// TestAnyWorld runs worlds that no generator would make.
func TestAnyWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEnv(t)
		start := e.Clone()
		var taken [][]Action
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if e.AllDone() {
				if err := e.Step(make([]Action, e.Trains())); !errors.Is(err, ErrDone) {
					t.Fatalf("a step after the end: got %v, want ErrDone", err)
				}
				return
			}
			actions := drawActions(t, e)
			taken = append(taken, actions)
			before := e.Clone()
			if err := e.Step(actions); err != nil {
				t.Fatal(err)
			}
			invariants(t, e)
			if before.Equal(e) {
				t.Fatal("it is equal to what it was a step ago")
			}
		}
		again := start.Clone()
		for _, actions := range taken {
			if err := again.Step(actions); err != nil {
				t.Fatal(err)
			}
		}
		if !again.Equal(e) || !e.Equal(again) {
			t.Fatal("the same actions from a clone gave another environment")
		}
		restored, err := New(start.Scenario(), Options{Rewards: e.RewardFunctions()})
		if err != nil {
			t.Fatal(err)
		}
		if err := restored.Restore(e.Snapshot()); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(restored.Snapshot(), e.Snapshot()) {
			t.Fatal("a snapshot put back differs")
		}
		goOn(t, e, restored)
	})
}

// goOn steps an environment, one that was restored from its snapshot, and a clone of it, all in the same way. The clone
// goes first: what it does must not show in the others.
func goOn(t *rapid.T, e, restored *Env) {
	e.ForgetVisits() // a snapshot does not keep them
	for range rapid.IntRange(0, 20).Draw(t, "more steps") {
		if e.AllDone() {
			return
		}
		clone, before := e.Clone(), e.Snapshot()
		actions := drawActions(t, e)
		for _, env := range []*Env{clone, restored} {
			if err := env.Step(actions); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(e.Snapshot(), before) {
			t.Fatal("a step of a clone changed the environment")
		}
		if err := e.Step(actions); err != nil {
			t.Fatal(err)
		}
		for name, env := range map[string]*Env{"the clone": clone, "the restored one": restored} {
			if !e.Equal(env) {
				t.Fatalf("%s became another environment", name)
			}
			for f := range e.RewardFunctions() {
				if !slices.Equal(e.Rewards(f), env.Rewards(f)) {
					t.Fatalf("%s has rewards %v, want %v", name, env.Rewards(f), e.Rewards(f))
				}
			}
		}
	}
}

func invariants(t *rapid.T, e *Env) {
	held := map[resource]int{}
	for i := range e.Trains() {
		c, on := e.Configuration(i)
		if on != e.State(i).OnMap() {
			t.Fatalf("train %d is %s, on the map: %v", i, e.State(i), on)
		}
		if on {
			r := e.resource(e.Node(i))
			if other, taken := held[r]; taken {
				t.Fatalf("trains %d and %d are at %s", other, i, c)
			}
			held[r] = i
		}
		if d := e.Travelled(i); d.Sign() < 0 || d.Cmp(Whole(1)) >= 0 {
			t.Fatalf("train %d has travelled %s of its cell", i, d)
		}
		if e.Speed(i).Cmp(e.MaxSpeed(i)) > 0 || e.Speed(i).Sign() < 0 {
			t.Fatalf("train %d has speed %s of %s", i, e.Speed(i), e.MaxSpeed(i))
		}
		if e.Rewards(0)[i] > 0 {
			t.Fatalf("train %d has reward %v", i, e.Rewards(0)[i])
		}
	}
}

// TestMotionIsTheSmallestSet compares the resolution of conflicts with its rules, applied until nothing changes.
func TestMotionIsTheSmallestSet(t *testing.T) {
	net, err := NewNetwork(20, 1, make([]Transitions, 20))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "trains")
		place := rapid.SampledFrom([]resource{noResource, 0, 1, 2, 3, 4, 5, 6, 7})
		m := newMotion(net, n)
		for i := range n {
			m.from[i], m.to[i] = place.Draw(t, "from"), place.Draw(t, "to")
		}
		want := make([]bool, n)
		for changed := true; changed; {
			changed = false
			for i := range n {
				if !want[i] && mustStay(&m, want, i) {
					want[i], changed = true, true
				}
			}
		}
		m.resolve()
		if !slices.Equal(m.blocked, want) {
			t.Fatalf("from %v to %v: got %v, want %v", m.from, m.to, m.blocked, want)
		}
		for _, v := range append(slices.Clone(m.holder), m.first...) {
			if v != 0 {
				t.Fatal("it left something behind")
			}
		}
	})
}

func mustStay(m *motion, blocked []bool, i int) bool {
	if m.from[i] == m.to[i] {
		return true
	}
	if m.to[i] == noResource {
		return false
	}
	for j := range m.from {
		switch {
		case j == i:
		case m.from[j] != m.to[j] && m.to[j] == m.to[i] && j < i,
			m.from[j] == m.to[i] && m.to[j] == m.from[i] && m.from[i] != noResource,
			m.from[j] == m.to[i] && blocked[j]:
			return true
		}
	}
	return false
}

// TestFractionsAreExact compares sums, products and order with math/big.
func TestFractionsAreExact(t *testing.T) {
	part := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-20, 20))
	rapid.Check(t, func(t *rapid.T) {
		draw := func() Fraction {
			den := part.Filter(func(d int64) bool { return d != 0 }).Draw(t, "denominator")
			return Frac(part.Draw(t, "numerator"), den)
		}
		a, b := draw(), draw()
		for range rapid.IntRange(0, 3).Draw(t, "growth") {
			a = a.Add(draw())
		}
		sum, product := a.Rat(), a.Rat()
		sum.Add(sum, b.Rat())
		product.Mul(product, b.Rat())
		if got := a.Add(b); got.Rat().Cmp(sum) != 0 || got.String() != sum.RatString() {
			t.Fatalf("%s + %s: got %s, want %s", a, b, got, sum.RatString())
		}
		if got := a.Mul(b); got.Rat().Cmp(product) != 0 {
			t.Fatalf("%s * %s: got %s, want %s", a, b, got, product.RatString())
		}
		if got, want := a.Cmp(b), a.Rat().Cmp(b.Rat()); got != want {
			t.Fatalf("%s against %s: got %d, want %d", a, b, got, want)
		}
		if a.Equal(b) != (a.Rat().Cmp(b.Rat()) == 0) || !a.Equal(a.Neg().Neg()) {
			t.Fatalf("%s and %s: equality", a, b)
		}
		f, _ := a.Rat().Float64()
		if a.Float64() != f || a.CmpFloat64(f) != a.Rat().Cmp(new(big.Rat).SetFloat64(f)) {
			t.Fatalf("%s as a float: got %v, want %v", a, a.Float64(), f)
		}
		if back, err := ParseFraction(a.String()); err != nil || !back.Equal(a) {
			t.Fatalf("%s read back: got %s, %v", a, back, err)
		}
	})
}

// TestFractionsBeyondExactFloats compares whole numbers with the float that they round to.
func TestFractionsBeyondExactFloats(t *testing.T) {
	if got := Whole(-9007199254740993).CmpFloat64(-9007199254740992); got != -1 {
		t.Errorf("got %d, want -1", got)
	}
}

func TestParseFractionRefuses(t *testing.T) {
	for _, text := range []string{"", "/", "1/", "/2", "1/0", "1/-2", "0x1", "1.5", "1e3", " 1", "1_0", "--1", strings.Repeat("9", 300)} {
		if f, err := ParseFraction(text); err == nil {
			t.Errorf("%.20q: got %s, want an error", text, f)
		}
	}
}

func TestNewRefusesWhatCannotRun(t *testing.T) {
	good := func() *Scenario {
		return &Scenario{
			Width: 2, Height: 1, Grid: []Transitions{1025, 1025},
			Trains: []Train{{Initial: Configuration{Heading: East}, Target: Cell{0, 1}, MaxSpeed: Whole(1)}},
		}
	}
	for name, c := range map[string]struct {
		spoil func(*Scenario)
		want  string
	}{
		"endless steps":       {func(s *Scenario) { s.MaxEpisodeSteps = 1 << 50 }, "max_episode_steps is 1125899906842624"},
		"a time before time":  {func(s *Scenario) { s.Trains[0].LatestArrival = math.MinInt64 }, "train 0 departs from step 0"},
		"no cell":             {func(s *Scenario) { s.Width = 0 }, "at least 1"},
		"a short grid":        {func(s *Scenario) { s.Grid = s.Grid[:1] }, "has 1 cells, want 2"},
		"a huge grid":         {func(s *Scenario) { s.Width, s.Height = 1<<40, 1<<40 }, "at most"},
		"a start outside":     {func(s *Scenario) { s.Trains[0].Initial.Row = 7 }, "train 0 starts at (7, 0)"},
		"a start nowhere":     {func(s *Scenario) { s.Trains[0].Initial.Heading = NoHeading }, "train 0 starts with heading -1"},
		"a target outside":    {func(s *Scenario) { s.Trains[0].Target.Col = -1 }, "train 0 has its target at (0, -1)"},
		"speed 2":             {func(s *Scenario) { s.Trains[0].MaxSpeed = Whole(2) }, "maximum speed 2"},
		"a bridge outside":    {func(s *Scenario) { s.LevelFree = []Cell{{5, 5}} }, "level-free cell (5, 5)"},
		"a negative limit":    {func(s *Scenario) { s.MaxEpisodeSteps = -1 }, "max_episode_steps is -1"},
		"a stop with no hour": {func(s *Scenario) { s.Trains[0].Stops = make([]Stop, 3) }, "train 0, stop 1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := good()
			c.spoil(s)
			if _, err := New(s, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if _, err := New(good(), Options{Effects: []Effect{NewBreakdowns(MalfunctionParameters{1, 5, 2})}}); err == nil {
		t.Error("a malfunction of 5 to 2 steps: got no error")
	}
	e, err := New(good(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Step(nil); err == nil {
		t.Error("a step without actions: got no error")
	}
}

// TestStepDoesNotAllocate runs recorded episodes, and clones of them, up to the step before the last.
func TestStepDoesNotAllocate(t *testing.T) {
	for _, name := range []string{"g07_sparse_60", "g09_sparse_200", "g05_sparse_effects"} {
		start, actions := recorded(t, name)
		for what, e := range map[string]*Env{"an environment": start.Clone(), "a clone in the middle": start} {
			k := 0
			if what != "an environment" {
				for ; k < len(actions)/2; k++ {
					if err := e.Step(actions[k]); err != nil {
						t.Fatal(err)
					}
				}
				e = e.Clone()
			}
			steps := len(actions) - 1 - k
			allocated := testing.AllocsPerRun(1, func() { // it runs twice
				for range steps / 2 {
					if err := e.Step(actions[k]); err != nil {
						t.Fatal(err)
					}
					k++
				}
			})
			if allocated != 0 {
				t.Errorf("%s: %d steps of %s allocate %v times", name, steps/2, what, allocated)
			}
		}
	}
}

// TestTravelTimeDoesNotOverflow has a speed whose denominator is as large as a float's can be.
func TestTravelTimeDoesNotOverflow(t *testing.T) {
	speed, err := Snap(0.30000000000000004)
	if err != nil {
		t.Fatal(err)
	}
	e := start(t, line(600).eastbound(1, 500, speed), Options{})
	want(t, "travel time of 500 cells", travel(t, e), 1667)
	tiny := Frac(1, math.MaxInt64)
	e = start(t, line(6).eastbound(1, 4, tiny), Options{})
	want(t, "travel time at hardly any speed", travel(t, e), Unreachable)
}

// TestClonesMayRunAtOnce steps clones in parallel; the race detector watches.
func TestClonesMayRunAtOnce(t *testing.T) {
	e, actions := recorded(t, "g07_sparse_60")
	var clones []*Env
	for range 4 {
		clones = append(clones, e.Clone())
	}
	var group sync.WaitGroup
	for _, c := range clones {
		group.Go(func() {
			for _, a := range actions {
				if err := c.Step(a); err != nil {
					t.Error(err)
					return
				}
				c.Deadlocked(nil)
			}
		})
	}
	group.Wait()
	for _, c := range clones[1:] {
		if !c.Equal(clones[0]) {
			t.Error("the same steps of clones gave other environments")
		}
	}
}

// TestRestoredTrainsStillStandInTheirStop goes on from the moment in which a train stands in its stop.
func TestRestoredTrainsStillStandInTheirStop(t *testing.T) {
	s := line(8).eastbound(1, 6, Whole(1)).via(3)
	e := start(t, s, Options{})
	run(t, e, MoveForward, MoveForward, MoveForward, MoveForward)
	restored := start(t, s, Options{})
	if err := restored.Restore(e.Snapshot()); err != nil {
		t.Fatal(err)
	}
	run(t, restored, StopMoving)
	if b := restored.book.visits[0]; !b.stood || len(b.arrivals) != 0 {
		t.Errorf("got %+v, want that it stood there without having come", b)
	}
}

func travel(t *testing.T, e *Env) int {
	t.Helper()
	steps, err := e.travelTime(0)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// TestNoSpeedIsAnError resets in the middle of an episode, which makes a standing train's speed of 0 its maximum.
func TestNoSpeedIsAnError(t *testing.T) {
	for _, r := range []Rewards{DefaultRewards(), ECML2026Rewards(), {MultiObjectiveReward, DefaultFactors()}} {
		e := start(t, line(8).eastbound(1, 6, Whole(1)), Options{Rewards: []Rewards{r}})
		run(t, e, MoveForward, MoveForward, StopMoving)
		e.Reload(nil)
		var err error
		for err == nil && !e.AllDone() {
			err = e.Step([]Action{DoNothing})
		}
		if err == nil || !strings.Contains(err.Error(), "train 0: its maximum speed is 0") {
			t.Errorf("got %v", err)
		}
	}
}
