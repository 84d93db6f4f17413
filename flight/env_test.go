package flight

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sector is a random environment in mid-episode, with the actions that led there.
type sector struct {
	env     *Env
	seed    uint64
	actions []int
}

func drawSector(t *rapid.T) sector {
	cfg := DefaultConfig()
	cfg.Flights = rapid.IntRange(1, 12).Draw(t, "n_flights")
	cfg.NLo = rapid.IntRange(1, cfg.Flights).Draw(t, "n_lo")
	cfg.NHi = rapid.IntRange(cfg.NLo, cfg.Flights).Draw(t, "n_hi")
	cfg.MaxSteps = rapid.IntRange(1, 80).Draw(t, "max_steps")
	cfg.HoldSteps = rapid.IntRange(1, 12).Draw(t, "hold_steps")
	s := sector{mustNew(cfg), rapid.Uint64().Draw(t, "seed"), nil}
	s.env.Reset(s.seed)
	for range rapid.IntRange(0, cfg.MaxSteps).Draw(t, "steps") {
		s.step(t)
	}
	return s
}

func (s *sector) step(t *rapid.T) {
	action := rapid.IntRange(0, s.env.Config().Actions()-1).Draw(t, "action")
	s.actions = append(s.actions, action)
	if _, _, err := s.env.Step(action); err != nil {
		t.Fatal(err)
	}
}

func TestCloneHasTheSameFuture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSector(t)
		clone, copied := s.env.Clone(), mustNew(DefaultConfig())
		copied.CopyFrom(s.env)
		before := s.env.Clone()
		for range 10 {
			action := rapid.IntRange(0, s.env.Config().Actions()-1).Draw(t, "action")
			want, status, err := s.env.Step(action)
			for _, e := range []*Env{clone, copied} {
				got, gotStatus, gotErr := e.Step(action)
				if got != want || gotStatus != status || gotErr != err || !e.Equal(s.env) {
					t.Fatalf("got %v %v %v, want %v %v %v", got, gotStatus, gotErr, want, status, err)
				}
				if d := cmp.Diff(observe(e), observe(s.env)); d != "" {
					t.Fatal(d)
				}
			}
		}
		if s.env.Equal(before) {
			t.Fatal("ten steps later the environment equals what it was")
		}
		s.env.CopyFrom(before)
		if !s.env.Equal(before) {
			t.Fatal("gone back, the environment differs from what it was")
		}
		s.env.ResetNext()
		before.ResetNext()
		if !s.env.Equal(before) {
			t.Fatal("the next scenarios of equal environments differ")
		}
	})
}

func TestReplayEqualsRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSector(t)
		again := mustNew(s.env.Config())
		again.Reset(s.seed)
		for _, a := range s.actions {
			if _, err := again.Advance(a); err != nil { // the physics alone give the same state
				t.Fatal(err)
			}
		}
		if !again.Equal(s.env) {
			t.Fatal("a replay ends in another state")
		}
	})
}

func TestEveryMomentIsWellFormed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSector(t)
		e, cfg := s.env, s.env.Config()

		obs := observe(e)
		for i, v := range obs {
			if !(v >= -1 && v <= 1) {
				t.Fatalf("observation[%d] is %v", i, v)
			}
		}
		mask := make([]bool, cfg.Actions())
		e.Mask(mask)
		if !mask[Idle] {
			t.Fatal("idle is not legal")
		}
		for a, legal := range mask {
			inObs := obs[cfg.ObservationLen()-cfg.Actions()+a]
			if legal != (inObs == 1) || inObs != 0 && inObs != 1 || legal != e.Legal(a) || legal != e.Clone().Legal(a) {
				t.Fatalf("action %d: mask %v, observation %v, Legal %v", a, legal, inObs, e.Legal(a))
			}
		}

		// The pairs kept by level, counted anew.
		congestion, midAir := 0, false
		for i := range cfg.Flights {
			for j := range i {
				a, b := e.Aircraft(i), e.Aircraft(j)
				d, up := math.Hypot(a.X-b.X, a.Y-b.Y), math.Abs(a.Level-b.Level)
				if up < VerticalSeparation && d <= SeparationRadius {
					congestion++
				}
				midAir = midAir || up < LevelStep && d <= MidAirRadius
			}
		}
		if got, hit := e.Separation(); got != congestion || hit != midAir {
			t.Fatalf("separation: got %d %v, want %d %v", got, hit, congestion, midAir)
		}
		for _, c := range e.Conflicts(nil) {
			if c.I >= c.J || c.Enter < 0 || c.Cpa < c.Enter || c.Cpa > c.Enter+c.Duration*(1+1e-9)+1e-9 || c.Severity <= 0 || c.Severity > 1 ||
				c.Enter+c.Duration > cfg.horizon(e.step)*(1+1e-9) {
				t.Fatalf("conflict %+v", c)
			}
		}
		var info Info
		e.Info(&info)
		if info.ExitMiss < 0 || e.MaxExitMiss() < info.ExitMiss*(1-1e-12) || info.Clearances+info.Invalids > e.step {
			t.Fatalf("info %+v, max exit miss %v", info, e.MaxExitMiss())
		}
	})
}

func TestIllegalActionIsCountedNotFlown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSector(t)
		e := s.env
		idle := e.Clone()
		illegal := forbidden(e)
		if len(illegal) == 0 {
			// Then a pulse is legal, and while it runs nothing else is for that aircraft.
			if _, err := e.Advance(Action(0, SpdUp)); err != nil {
				t.Fatal(err)
			}
			illegal, idle = forbidden(e), e.Clone()
		}
		action := rapid.SampledFrom(illegal).Draw(t, "illegal")
		if _, err := e.Advance(action); err != nil {
			t.Fatal(err)
		}
		if _, err := idle.Advance(Idle); err != nil {
			t.Fatal(err)
		}
		idle.invalids++
		if !e.Equal(idle) {
			t.Fatal("a forbidden action changed more than the count of them")
		}
	})
}

func forbidden(e *Env) (actions []int) {
	for action := range e.Config().Actions() {
		if !e.Legal(action) {
			actions = append(actions, action)
		}
	}
	return actions
}

func TestMaskBoundsHoldOnBothSides(t *testing.T) {
	for _, c := range []struct {
		level, speed float64
		legal        []Clearance
	}{
		{250, 300, []Clearance{SpdDn, SpdUp}}, // one and two levels up are still below the lowest
		{500, 300, []Clearance{SpdDn, SpdUp}},
		{278, 600, []Clearance{FLInc, FLInc2}},
		{410, 130, []Clearance{FLDec, FLDec2}},
		{290, 200, []Clearance{FLInc, FLInc2, SpdUp}},
		{398, 515, []Clearance{FLDec, FLDec2, SpdDn}},
	} {
		e := placed(t, DefaultConfig(), Aircraft{X: -9000, Level: c.level, Speed: c.speed})
		for k := range Clearance(Clearances) {
			if got, want := e.Legal(Action(0, k)), slices.Contains(c.legal, k); got != want {
				t.Errorf("level %v speed %v: %v is legal %v, want %v", c.level, c.speed, k, got, want)
			}
		}
	}
}

func TestTheFirstOfEquallySevereConflictsIsTold(t *testing.T) {
	// Two faster aircraft on the same track run into the slow one, the nearer of them first.
	e := placed(t, DefaultConfig(),
		Aircraft{X: 0, Level: 350, Speed: 200},
		Aircraft{X: -4000, Level: 350, Speed: 515},
		Aircraft{X: -1500, Level: 350, Speed: 515})
	conflicts := e.Conflicts(nil)
	if len(conflicts) != 2 || conflicts[0].Severity != 1 || conflicts[1].Severity != 1 || conflicts[0].Cpa <= conflicts[1].Cpa {
		t.Fatalf("got conflicts %+v", conflicts)
	}
	cpa, horizon := conflicts[0].Cpa, 100.0
	if got, want := observe(e)[11], float32(2*(cpa/(cpa+horizon))-1); got != want {
		t.Errorf("got %v, want that of the first pair, %v", got, want)
	}
}

func TestSteppingOnAfterTheEnd(t *testing.T) {
	cfg := DefaultConfig()
	cfg.MaxSteps, cfg.MaxClearances = 4, 1
	// Side by side and too close: a conflict as long as there is a horizon, and then congestion alone.
	e := placed(t, cfg, Aircraft{X: -9000, Level: 350, Speed: 300}, Aircraft{X: -9000, Y: 500, Level: 350, Speed: 300})
	for step := 1; step <= 7; step++ {
		x := e.Aircraft(0).X
		reward, status, err := e.Step(Idle)
		if err != nil {
			t.Fatal(err)
		}
		if e.Aircraft(0).X != x+600 || e.StepCount() != step || e.congestionTotal != step {
			t.Fatalf("step %d: it does not fly on: %+v, congestion %d", step, e.Aircraft(0), e.congestionTotal)
		}
		over := step >= cfg.MaxSteps
		if status.Truncated != over || len(e.Conflicts(nil)) != map[bool]int{false: 1, true: 0}[over] || (reward > -1) != over {
			t.Errorf("step %d: truncated %v, %d conflicts, reward %v", step, status.Truncated, len(e.Conflicts(nil)), reward)
		}
		obs := observe(e)
		globals := obs[2*Features:]
		if want := float32(min(float64(2*step)/4-1, 1)); globals[0] != want {
			t.Errorf("step %d: got %v of the time, want %v", step, globals[0], want)
		}
		if over && (obs[10] != -1 || obs[11] != 1) {
			t.Errorf("step %d: severity %v, time %v, want no conflict", step, obs[10], obs[11])
		}
	}
	// A mid-air after the end costs nothing more, and a spent budget stays spent.
	e.flights[1].y = e.flights[0].y
	reward, status, err := e.Step(Action(0, SpdUp))
	if err != nil || !status.Terminated || reward < -4 {
		t.Errorf("mid-air after the end: got reward %v, %+v, %v", reward, status, err)
	}
	if _, _, err := e.Step(Action(1, FLInc)); err != nil || e.clearances < 1 || !e.Status().Truncated {
		t.Errorf("got %d clearances, %+v, %v", e.clearances, e.Status(), err)
	}
	if got := observe(e)[2*Features+1]; got != -1 {
		t.Errorf("budget: got %v, want -1", got)
	}
}

func TestActionOutsideTheSpaceChangesNothing(t *testing.T) {
	e := mustNew(DefaultConfig())
	e.Reset(1)
	before := e.Clone()
	for _, action := range []int{-1, 36, math.MaxInt, math.MinInt} {
		_, _, err := e.Step(action)
		var bad *ActionError
		if !errors.As(err, &bad) || bad.Action != action || !strings.Contains(err.Error(), "outside 0..35") {
			t.Errorf("action %d: got error %v", action, err)
		}
		if e.Legal(action) {
			t.Errorf("action %d is legal", action)
		}
		if !e.Equal(before) {
			t.Errorf("action %d changed the environment", action)
		}
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	e := mustNew(DefaultConfig())
	e.Reset(5)
	start := e.Clone()
	obs, mask := observe(e), make([]bool, e.Config().Actions())
	var info Info
	e.Info(&info)
	conflicts := make([]Conflict, 0, 10)
	action := 0
	allocs := testing.AllocsPerRun(500, func() {
		if e.Status().Over() {
			e.CopyFrom(start)
		}
		action = (action + 5) % len(mask)
		if _, _, err := e.Step(action); err != nil {
			t.Fatal(err)
		}
		e.Observe(obs)
		e.Mask(mask)
		e.Info(&info)
		conflicts = e.Conflicts(conflicts[:0])
	})
	if allocs != 0 {
		t.Errorf("got %v allocations a step, want 0", allocs)
	}
	if allocs := testing.AllocsPerRun(100, func() { e.Reset(9) }); allocs != 0 {
		t.Errorf("got %v allocations a reset, want 0", allocs)
	}
}

func TestAnyNumberOfAircraft(t *testing.T) {
	for n := 1; n <= MaxFlights; n++ {
		cfg := DefaultConfig()
		cfg.Flights, cfg.NLo, cfg.NHi = n, 1, n
		e := mustNew(cfg)
		e.Reset(uint64(n))
		for action := 0; !e.Status().Over(); action = (action + 11) % cfg.Actions() {
			if _, _, err := e.Step(action); err != nil {
				t.Fatal(err)
			}
			observe(e)
		}
		if s := e.Scenario(); len(s.Aircraft) != n || s.Converging < 1 || s.Converging > n {
			t.Errorf("%d aircraft: scenario %+v", n, s)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no aircraft":         {func(c *Config) { c.Flights = 0 }, "n_flights is 0, it must be within 1..64"},
		"too many aircraft":   {func(c *Config) { c.Flights = 65 }, "n_flights is 65"},
		"no step":             {func(c *Config) { c.MaxSteps = 0 }, "max_steps is 0"},
		"no hold":             {func(c *Config) { c.HoldSteps = 0 }, "hold_steps is 0"},
		"no clearance":        {func(c *Config) { c.MaxClearances = 0 }, "max_clearances is 0"},
		"none converging":     {func(c *Config) { c.NLo = 0 }, "n_range is (0, 4)"},
		"range upside down":   {func(c *Config) { c.NLo = 5 }, "n_range is (5, 4)"},
		"more than there are": {func(c *Config) { c.NHi = 6 }, "n_range is (2, 6)"},
		"weight not a number": {func(c *Config) { c.WSafe = math.NaN() }, "w_safe is NaN"},
		"weight infinite":     {func(c *Config) { c.CollisionRate = math.Inf(1) }, "collision_rate is +Inf"},
	} {
		cfg := DefaultConfig()
		c.change(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
}

func TestSetNRange(t *testing.T) {
	e := mustNew(DefaultConfig())
	if err := e.SetNRange(5, 5); err != nil {
		t.Fatal(err)
	}
	e.Reset(1)
	if got := e.Scenario().Converging; got != 5 {
		t.Errorf("got %d converging, want 5", got)
	}
	for _, r := range [][2]int{{0, 3}, {4, 3}, {2, 6}} {
		if err := e.SetNRange(r[0], r[1]); err == nil {
			t.Errorf("range %v was accepted", r)
		}
	}
	if got := e.Config(); got.NLo != 5 || got.NHi != 5 {
		t.Errorf("a refused range was taken over: %+v", got)
	}
}

func TestHandPlacedScenarioIsChecked(t *testing.T) {
	e := mustNew(DefaultConfig())
	e.Reset(3)
	before := e.Clone()
	for name, c := range map[string]struct {
		change func(*Scenario)
		want   string
	}{
		"one too few":    {func(s *Scenario) { s.Aircraft = s.Aircraft[:4] }, "scenario has 4 aircraft, the environment 5"},
		"position NaN":   {func(s *Scenario) { s.Aircraft[2].X = math.NaN() }, "aircraft 2: x is NaN"},
		"position huge":  {func(s *Scenario) { s.Aircraft[0].Y = 1e300 }, "aircraft 0: y is 1e+300"},
		"no speed":       {func(s *Scenario) { s.Aircraft[1].Speed = 0 }, "aircraft 1: speed is 0"},
		"heading":        {func(s *Scenario) { s.Aircraft[1].Heading = 361 }, "aircraft 1: heading is 361"},
		"level infinite": {func(s *Scenario) { s.Aircraft[1].Level = math.Inf(-1) }, "aircraft 1: level is -Inf"},
		"too many meet":  {func(s *Scenario) { s.Converging = 6 }, "scenario has 6 converging aircraft of 5"},
	} {
		s := e.Scenario()
		c.change(&s)
		if err := e.ResetTo(s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
		if !e.Equal(before) {
			t.Fatalf("%s: a refused scenario changed the environment", name)
		}
	}
	if err := e.ResetTo(before.Scenario()); err != nil || !e.Equal(before) {
		t.Errorf("its own scenario gives another state (error %v)", err)
	}
}

func TestDeviationIsClippedAtOne(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Flights, cfg.NLo, cfg.NHi, cfg.MaxSteps = 1, 1, 1, 3
	e := mustNew(cfg)
	// The exit is 19 km away; at a sixth of the speed it would be reached far beyond three steps.
	if err := e.ResetTo(Scenario{Aircraft: []Aircraft{{X: -9000, Level: 350, Speed: 300}}}); err != nil {
		t.Fatal(err)
	}
	e.flights[0].fly(50)
	got, _, err := e.Step(Idle)
	if want := -cfg.WSafe; err != nil || got != want {
		t.Errorf("reward: got %v (error %v), want %v", got, err, want)
	}
}

func TestSumIsNumPys(t *testing.T) {
	for _, c := range []struct {
		n    int
		want float64 // numpy.sum of the values below, NumPy 2.4
	}{
		{0, 0x0.0p+0},
		{1, 0x1.0000000000000p+0},
		{7, 0x1.ff15f15f15f16p+1},
		{8, 0x1.078af8af8af8bp+2},
		{9, 0x1.150dd0dd0dd0ep+2},
		{15, 0x1.87911056d6e1dp+2},
		{16, 0x1.91f776bd3d483p+2},
		{17, 0x1.af54d41a9aa59p+2},
		{100, 0x1.8e32b2c4977c3p+4},
		{127, 0x1.ea015ed883a5ep+4},
		{128, 0x1.ebbaf8721d3f8p+4},
		{129, 0x1.f2411f5785a1ep+4},
		{136, 0x1.04bf9337f031ap+5},
		{137, 0x1.06681fbcfbc78p+5},
		{200, 0x1.6e39684a2ba8fp+5},
		{256, 0x1.c9cb755f3294ap+5},
		{257, 0x1.cb6d0700c4364p+5},
		{1000, 0x1.9f2bc2d62da64p+7},
	} {
		v := make([]float64, c.n)
		for i := range v {
			v[i] = 1/float64(i+1) + float64(float64(i*i%7)*0.1)
		}
		if got := Sum(v); got != c.want {
			t.Errorf("%d values: got %x, want %x", c.n, got, c.want)
		}
	}
}
