package flight

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRestoredStateFliesOnToTheSameBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSector(t)
		var state, again State
		s.env.State(&state)
		elsewhere := mustNew(s.env.Config())
		elsewhere.Reset(rapid.Uint64().Draw(t, "elsewhere"))
		for range rapid.IntRange(0, 20).Draw(t, "steps elsewhere") {
			if _, err := elsewhere.Advance(rapid.IntRange(0, s.env.Config().Actions()-1).Draw(t, "action elsewhere")); err != nil {
				t.Fatal(err)
			}
		}
		observe(elsewhere) // what it has worked out there must not stay
		if err := elsewhere.Restore(&state); err != nil {
			t.Fatal(err)
		}
		if elsewhere.State(&again); !cmp.Equal(again, state) {
			t.Fatal(cmp.Diff(again, state))
		}
		for step := range 25 {
			if d := cmp.Diff(figures(elsewhere), figures(s.env)); d != "" {
				t.Fatalf("%d steps later: %s", step, d)
			}
			if d := cmp.Diff(observe(elsewhere), observe(s.env)); d != "" {
				t.Fatalf("%d steps later: %s", step, d)
			}
			action := rapid.IntRange(0, s.env.Config().Actions()-1).Draw(t, "action")
			want, wantStatus, _ := s.env.Step(action)
			got, status, err := elsewhere.Step(action)
			if err != nil || got != want || status != wantStatus {
				t.Fatalf("%d steps later: got %v %+v %v, want %v %+v", step+1, got, status, err, want, wantStatus)
			}
		}
	})
}

// moment is what an environment tells of now, but for the name of its scenario.
type moment struct {
	Info      Info
	Status    Status
	MaxMiss   float64
	Progress  []Progress
	Conflicts []Conflict
}

func figures(e *Env) (m moment) {
	e.Info(&m.Info)
	m.Info.N, m.Info.M = 0, 0
	m.Status, m.MaxMiss, m.Conflicts = e.Status(), e.MaxExitMiss(), e.Conflicts(nil)
	for i := range e.flights {
		m.Progress = append(m.Progress, e.Progress(i))
	}
	return m
}

func TestRestoringAnEnvironmentsOwnStateGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSector(t)
		before := s.env.Clone()
		var state State
		s.env.State(&state)
		for range rapid.IntRange(1, 10).Draw(t, "further steps") {
			s.step(t)
		}
		if err := s.env.Restore(&state); err != nil {
			t.Fatal(err)
		}
		if !s.env.Equal(before) {
			t.Fatal("gone back, the environment differs from what it was")
		}
	})
}

// A pair too close right after the reset is no loss of separation yet: those are counted after each step.
func TestRestoredResetHasNoLossOfSeparation(t *testing.T) {
	e := placed(t, DefaultConfig(), Aircraft{Level: 350, Speed: 200}, Aircraft{X: 50, Level: 350, Speed: 200})
	want := figures(e)
	var state State
	e.State(&state)
	advance(t, e, Idle)
	if len(figures(e).Conflicts) == 0 || !e.Status().Terminated {
		t.Fatal("there is no mid-air after the step")
	}
	if err := e.Restore(&state); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(figures(e), want); d != "" {
		t.Error(d)
	}
}

// An exit time of 0 is possible for a fast aircraft placed at the very edge. It has left all the same.
func TestRestoredAircraftThatLeftAtOnceHasLeft(t *testing.T) {
	e := placed(t, DefaultConfig(), Aircraft{X: math.Nextafter(SectorHalfWidth, 0), Level: 350, Speed: 1e6})
	advance(t, e, Idle)
	var state State
	e.State(&state)
	if state.Aircraft[0].ExitTime != 0 || !e.Progress(0).Left {
		t.Fatalf("got %+v, left %v, want an exit at 0", state.Aircraft[0], e.Progress(0).Left)
	}
	want := figures(e)
	if err := e.Restore(&state); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(figures(e), want); d != "" {
		t.Error(d)
	}
}

// Whatever State writes, Restore takes: the farthest and the longest there is.
func TestRestoreTakesWhatAnEnvironmentReaches(t *testing.T) {
	for name, e := range map[string]*Env{
		"beyond where a scenario may place": placed(t, DefaultConfig(),
			Aircraft{X: 1e9, Y: -1e9, Level: 1e6, Speed: 1e6, Heading: -45}),
		"a way of 60 000 light years": placed(t, DefaultConfig(),
			Aircraft{X: -1e9, Y: 1e9, Level: 350, Speed: 1, Heading: 90 - 1e-10}),
	} {
		var state State
		advance(t, e, Idle, Idle)
		e.State(&state)
		if err := e.Restore(&state); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStateReusesItsSlice(t *testing.T) {
	e := mustNew(DefaultConfig())
	var state State
	e.State(&state)
	if allocs := testing.AllocsPerRun(20, func() {
		e.State(&state)
		if err := e.Restore(&state); err != nil {
			t.Fatal(err)
		}
	}); allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
	state.Aircraft = state.Aircraft[:2]
	if e.State(&state); len(state.Aircraft) != 5 {
		t.Errorf("got %d aircraft, want 5", len(state.Aircraft))
	}
	state.Aircraft[0].X++ // the state is the caller's own
	if e.Aircraft(0).X == state.Aircraft[0].X {
		t.Error("the state shares the environment's aircraft")
	}
}

func TestStateIsChecked(t *testing.T) {
	e := mustNew(DefaultConfig())
	e.Reset(4)
	for _, a := range []int{Action(0, FLInc2), Action(1, SpdDn), Idle} {
		if _, err := e.Advance(a); err != nil {
			t.Fatal(err)
		}
	}
	before := e.Clone()
	observe(e)
	nan := math.NaN()
	refused := func(name, want string, change func(s *State)) {
		t.Helper()
		var s State
		e.State(&s)
		change(&s)
		if err := e.Restore(&s); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", name, err, want)
		}
		if !e.Equal(before) {
			t.Fatalf("%s: a refused state changed the environment", name)
		}
	}
	refused("one too few", "state has 4 aircraft, the environment 5", func(s *State) { s.Aircraft = s.Aircraft[:4] })
	refused("step", "step is -1, it must not be negative", func(s *State) { s.Step = -1 })
	refused("clearances", "clearances is -2, it must", func(s *State) { s.Clearances = -2 })
	refused("invalids", "invalids is -3, it must", func(s *State) { s.Invalids = -3 })
	refused("congestion", "congestion_total is -4, it must", func(s *State) { s.CongestionTotal = -4 })
	for name, c := range map[string]struct {
		change func(a *AircraftState)
		want   string
	}{
		"x":           {func(a *AircraftState) { a.X = nan }, "x is NaN, it must be within -1e+22..1e+22"},
		"y":           {func(a *AircraftState) { a.Y = 1e23 }, "y is 1e+23"},
		"level":       {func(a *AircraftState) { a.Level = nan }, "level is NaN"},
		"speed":       {func(a *AircraftState) { a.Speed = 0 }, "speed is 0"},
		"heading":     {func(a *AircraftState) { a.Heading = 361 }, "heading is 361"},
		"entry level": {func(a *AircraftState) { a.EntryLevel = math.Inf(1) }, "at entry: level is +Inf"},
		"entry speed": {func(a *AircraftState) { a.EntrySpeed = -5 }, "at entry: speed is -5"},
		"way":         {func(a *AircraftState) { a.DistanceToExit = -1 }, "s_total is -1, it must be within 0..1e+22"},
		"target":      {func(a *AircraftState) { a.TargetTime = nan }, "t_target is NaN"},
		"flown":       {func(a *AircraftState) { a.Flown = math.Inf(1) }, "s_flown is +Inf"},
		"exit time":   {func(a *AircraftState) { a.ExitTime = -1 }, "exit time is -1"},
		"exit before the exit": {
			func(a *AircraftState) { a.Flown, a.DistanceToExit, a.ExitTime = 10, 20, 3 },
			"exit time is 3, it must be 0 while s_flown 10 is less than s_total 20",
		},
		"hold":          {func(a *AircraftState) { a.Hold = 6 }, "hold_left is 6, it must be within 0..5"},
		"hold below 0":  {func(a *AircraftState) { a.Hold = -1 }, "hold_left is -1"},
		"pulse":         {func(a *AircraftState) { a.Pulse, a.Sign = 12, 1 }, "pulse_left is 12, it must be within 0..11"},
		"pulse below 0": {func(a *AircraftState) { a.Pulse = -1 }, "pulse_left is -1"},
		"both": {
			func(a *AircraftState) { a.Hold, a.Pulse, a.Sign = 2, 3, 1 },
			"hold_left is 2 and pulse_left 3; an aircraft never has both",
		},
		"pulse without sign": {func(a *AircraftState) { a.Pulse = 3 }, "the pulse's sign is 0"},
		"sign without pulse": {func(a *AircraftState) { a.Sign = -1 }, "the pulse's sign is -1"},
		"sign of 2":          {func(a *AircraftState) { a.Pulse, a.Sign = 3, 2 }, "the pulse's sign is 2"},
		"its clearances":     {func(a *AircraftState) { a.Clearances = -1 }, "clearances are -1"},
	} {
		refused(name, "aircraft 3: "+c.want, func(s *State) { c.change(&s.Aircraft[3]) })
	}
}
