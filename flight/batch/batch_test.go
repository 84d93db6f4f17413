package batch

import (
	"math"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"skyrail/flight"
	"skyrail/numpyrand"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// arrays are all that a batch can write.
func arrays(e int, cfg flight.Config) Buffers {
	n := cfg.Flights
	return Buffers{
		Observations: make([]float32, e*cfg.ObservationLen()), Masks: make([]bool, e*cfg.Actions()),
		Rewards: make([]float64, e), Terminated: make([]bool, e), Truncated: make([]bool, e),
		Actions: make([]int64, e), Issued: make([]int64, e),
		Counts: make([]int64, e*CountColumns), Figures: make([]float64, e*(1+2*n)),
		Aircraft: make([]float64, e*n*AircraftColumns), AircraftCounts: make([]int64, e*n*AircraftCountColumns),
		FinalObservations: make([]float32, e*cfg.ObservationLen()), FinalCounts: make([]int64, e*CountColumns), FinalFigures: make([]float64, e*(1+2*n)),
	}
}

func begin(t *testing.T, cfg flight.Config, n, threads int, mode Autoreset) (*Batch, Buffers) {
	t.Helper()
	b, err := New(cfg, n, threads, mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	w := arrays(n, cfg)
	if err := b.Bind(w); err != nil {
		t.Fatal(err)
	}
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = uint64(100 + i)
	}
	if err := b.Reset(seeds, nil, nil); err != nil {
		t.Fatal(err)
	}
	return b, w
}

// TestRowsAreThoseOfSingleEnvironments steps a batch beside environments of its own, in every mode.
func TestRowsAreThoseOfSingleEnvironments(t *testing.T) {
	cfg := flight.DefaultConfig()
	cfg.MaxSteps = 12 // several episodes
	for mode := range modes {
		const n = 37
		b, w := begin(t, cfg, n, 3, mode)
		own := make([]*flight.Env, n)
		over := make([]bool, n)
		for i := range own {
			own[i], _ = flight.New(cfg)
			own[i].Reset(uint64(100 + i))
		}
		stream := numpyrand.NewGenerator(uint64(mode))
		actions := make([]int64, n)
		finals := 0
		for step := range 60 {
			for i := range actions {
				actions[i] = int64(stream.Choice(cfg.Actions()))
			}
			before := slices.Clone(w.FinalObservations)
			if err := b.Step(actions); err != nil {
				t.Fatal(err)
			}
			for i, e := range own {
				var reward float64
				var status flight.Status
				var action, issued int64
				if over[i] && mode == NextStep {
					e.ResetNext()
					over[i] = false
				} else {
					given := e.Counts().Clearances
					reward, status, _ = e.Step(int(actions[i]))
					action, issued = actions[i], int64(e.Counts().Clearances-given)
					over[i] = status.Over()
				}
				final := row(before, i, n)
				if over[i] && mode == SameStep {
					final = make([]float32, cfg.ObservationLen())
					e.Observe(final)
					if c := row(w.FinalCounts, i, n); c[Step] != int64(e.StepCount()) || c[Clearances] == 0 && c[Invalids] == 0 {
						t.Fatalf("mode %d, step %d, environment %d: final counts %v", mode, step, i, c)
					}
					if got := row(w.FinalFigures, i, n)[0]; got != e.ExitMiss() {
						t.Fatalf("mode %d, step %d, environment %d: final exit_miss %v, want %v", mode, step, i, got, e.ExitMiss())
					}
					finals++
					e.ResetNext()
					over[i] = false
				}
				if !slices.Equal(row(w.FinalObservations, i, n), final) {
					t.Fatalf("mode %d, step %d, environment %d: not its final observation", mode, step, i)
				}
				if w.Rewards[i] != reward || w.Terminated[i] != status.Terminated || w.Truncated[i] != status.Truncated {
					t.Fatalf("mode %d, step %d, environment %d: got %v %v %v, want %v %v", mode, step, i,
						w.Rewards[i], w.Terminated[i], w.Truncated[i], reward, status)
				}
				if w.Actions[i] != action || w.Issued[i] != issued {
					t.Fatalf("mode %d, step %d, environment %d: action %d with %d clearances, want %d with %d", mode, step, i, w.Actions[i], w.Issued[i], action, issued)
				}
				if !b.Env(i).Equal(e) || b.Ended()[i] != over[i] {
					t.Fatalf("mode %d, step %d, environment %d is not where it should be", mode, step, i)
				}
				checkRow(t, w, e, i, n)
			}
		}
		if mode == SameStep && finals < n {
			t.Errorf("only %d episodes have ended", finals)
		}
	}
}

// checkRow compares row i of everything that tells of the present with the environment itself.
func checkRow(t *testing.T, w Buffers, e *flight.Env, i, rows int) {
	t.Helper()
	cfg := e.Config()
	observation, mask := make([]float32, cfg.ObservationLen()), make([]bool, cfg.Actions())
	e.Observe(observation)
	e.Mask(mask)
	if !slices.Equal(row(w.Observations, i, rows), observation) || !slices.Equal(row(w.Masks, i, rows), mask) {
		t.Fatalf("environment %d: another observation or mask", i)
	}
	var info flight.Info
	e.Info(&info)
	collided := int64(0)
	if info.Collided {
		collided = 1
	}
	want := []int64{int64(info.N), int64(info.M), int64(info.CongestionEvents), int64(info.CongestionTotal), int64(info.Clearances),
		int64(info.Invalids), int64(info.AircraftInvolved), collided, int64(e.StepCount())}
	if got := row(w.Counts, i, rows); !slices.Equal(got, want) {
		t.Fatalf("environment %d: counts %v, want %v", i, got, want)
	}
	if got, want := row(w.Figures, i, rows), append(append([]float64{info.ExitMiss}, info.DtExit...), info.DAltExit...); !slices.Equal(got, want) {
		t.Fatalf("environment %d: figures %v, want %v", i, got, want)
	}
	var s flight.State
	e.State(&s)
	for k, a := range s.Aircraft {
		got := row(w.Aircraft, i*len(s.Aircraft)+k, rows*len(s.Aircraft))
		if got[X] != a.X || got[Y] != a.Y || got[Level] != a.Level || got[Speed] != a.Speed || got[Heading] != a.Heading ||
			got[EntryLevel] != a.EntryLevel || got[EntrySpeed] != a.EntrySpeed || got[Distance] != a.DistanceToExit ||
			got[Flown] != a.Flown || got[TargetTime] != a.TargetTime {
			t.Fatalf("environment %d, aircraft %d: %v, want %+v", i, k, got, a)
		}
		if left := a.Flown >= a.DistanceToExit; math.IsNaN(got[ExitTime]) == left || left && got[ExitTime] != a.ExitTime {
			t.Fatalf("environment %d, aircraft %d: exit time %v, want %v after %v of %v", i, k, got[ExitTime], a.ExitTime, a.Flown, a.DistanceToExit)
		}
		severity, cpa := 0.0, math.Inf(1)
		for _, c := range e.Conflicts(nil) {
			if (c.I == k || c.J == k) && c.Severity > severity {
				severity, cpa = c.Severity, c.Cpa
			}
		}
		if got[Severity] != severity || got[ConflictTime] != cpa {
			t.Fatalf("environment %d, aircraft %d: threat %v in %v, want %v in %v", i, k, got[Severity], got[ConflictTime], severity, cpa)
		}
		if x, y := float64(observation[flight.Features*k+4]), float64(observation[flight.Features*k+5]); math.Abs(got[DirectionX]-x) > 1e-6 || math.Abs(got[DirectionY]-y) > 1e-6 {
			t.Fatalf("environment %d, aircraft %d: direction %v %v, want %v %v", i, k, got[DirectionX], got[DirectionY], x, y)
		}
		c := row(w.AircraftCounts, i*len(s.Aircraft)+k, rows*len(s.Aircraft))
		if !slices.Equal(c, []int64{int64(a.Hold), int64(a.Pulse), int64(a.Sign), int64(a.Clearances)}) {
			t.Fatalf("environment %d, aircraft %d: counts %v, want %+v", i, k, c, a)
		}
	}
}

func TestResultsDoNotDependOnThreads(t *testing.T) {
	cfg := flight.DefaultConfig()
	const n = 130
	one, w1 := begin(t, cfg, n, 1, SameStep)
	many, w5 := begin(t, cfg, n, 5, SameStep)
	if one.Threads() != 1 || many.Threads() != 5 {
		t.Fatalf("%d and %d threads", one.Threads(), many.Threads())
	}
	stream := numpyrand.NewGenerator(9)
	actions := make([]int64, n)
	for range 150 {
		for i := range actions {
			actions[i] = int64(stream.Choice(cfg.Actions()))
		}
		if one.Step(actions) != nil || many.Step(actions) != nil {
			t.Fatal("a step failed")
		}
		if !slices.Equal(w1.Observations, w5.Observations) || !slices.Equal(w1.Rewards, w5.Rewards) || !slices.Equal(w1.FinalFigures, w5.FinalFigures) {
			t.Fatal("five threads got something else")
		}
	}
}

func TestStepWritesIntoOtherArraysToo(t *testing.T) {
	cfg := flight.DefaultConfig()
	cfg.MaxSteps = 7 // several episodes
	for mode := range modes {
		const n = 9
		b, w := begin(t, cfg, n, 2, mode)
		stream := numpyrand.NewGenerator(uint64(mode))
		actions := make([]int64, n)
		for step := range 30 {
			for i := range actions {
				actions[i] = int64(stream.Choice(cfg.Actions()))
			}
			other := arrays(n, cfg)
			into := Into{Observations: other.Observations, Counts: other.Counts, Figures: other.Figures}
			switch step % 3 {
			case 1:
				into = Into{Observations: other.Observations}
			case 2:
				into = Into{Counts: other.Counts, Figures: other.Figures}
			}
			if err := b.StepInto(actions, into); err != nil {
				t.Fatal(err)
			}
			if into.Observations != nil && !slices.Equal(into.Observations, w.Observations) ||
				into.Counts != nil && !slices.Equal(into.Counts, w.Counts) || into.Figures != nil && !slices.Equal(into.Figures, w.Figures) {
				t.Fatalf("mode %d, step %d: not what the bound arrays got", mode, step)
			}
			for _, wrong := range []Into{{Observations: other.Observations[1:]}, {Counts: other.Counts[1:]}, {Figures: []float64{}}} {
				if err := b.StepInto(actions, wrong); err == nil || !strings.Contains(err.Error(), "9 environments need") {
					t.Fatalf("arrays that are too short: got %v", err)
				}
			}
			if mode == Disabled && slices.Contains(b.Ended(), true) {
				break
			}
		}
	}
}

func TestResetChooses(t *testing.T) {
	cfg := flight.DefaultConfig()
	b, w := begin(t, cfg, 3, 1, Disabled)
	if err := b.Step([]int64{1, 1, 1}); err != nil {
		t.Fatal(err)
	}
	// The first stays, the second goes on along its stream, the third starts from a seed.
	first, second := b.Env(0).Clone(), b.Env(1).Clone()
	if err := b.Reset([]uint64{5, 5, 5}, []bool{true, false, true}, []bool{false, true, true}); err != nil {
		t.Fatal(err)
	}
	second.ResetNext()
	third, _ := flight.New(cfg)
	third.Reset(5)
	for i, e := range []*flight.Env{first, second, third} {
		if !b.Env(i).Equal(e) {
			t.Errorf("environment %d is not where it should be", i)
		}
		checkRow(t, w, e, i, 3)
	}
	if w.Rewards[0] == 0 || w.Rewards[1] != 0 || w.Rewards[2] != 0 {
		t.Errorf("rewards are %v", w.Rewards)
	}
}

func TestSaveLoadAndClone(t *testing.T) {
	cfg := flight.DefaultConfig()
	b, _ := begin(t, cfg, 4, 2, NextStep)
	for !b.Ended()[3] {
		if err := b.Step([]int64{0, 1, 2, 0}); err != nil {
			t.Fatal(err)
		}
	}
	data, err := b.Save([]byte("x"), 3)
	if err != nil {
		t.Fatal(err)
	}
	c := b.Clone()
	defer c.Close()
	for i := range 4 {
		if !c.Env(i).Equal(b.Env(i)) || c.Ended()[i] != b.Ended()[i] {
			t.Errorf("environment %d of the clone is another", i)
		}
	}
	if err := c.Load(data[1:], 0); err != nil {
		t.Fatal(err)
	}
	if !c.Env(0).Equal(b.Env(3)) || !c.Ended()[0] {
		t.Error("what was loaded is not what was saved")
	}
	before := b.Env(0).Clone()
	other := cfg
	other.HoldSteps = 4
	o, _ := begin(t, other, 1, 1, NextStep)
	foreign, _ := o.Save(nil, 0)
	for name, bad := range map[string][]byte{"nothing": nil, "a wrong mark": append([]byte{2}, data[2:]...), "another configuration": foreign, "a part": data[1:50]} {
		if err := b.Load(bad, 0); err == nil {
			t.Errorf("%s was loaded", name)
		}
	}
	if b.Load(data[1:], 4) == nil || !b.Env(0).Equal(before) {
		t.Error("a refused load has changed something")
	}
}

func TestRefusals(t *testing.T) {
	cfg := flight.DefaultConfig()
	for _, c := range []struct {
		n, threads int
		mode       Autoreset
		cfg        flight.Config
	}{{0, 1, 0, cfg}, {MaxEnvs + 1, 1, 0, cfg}, {1, -1, 0, cfg}, {1, 1, 3, cfg}, {1, 1, -1, cfg}, {1, 1, 0, flight.Config{}}} {
		if _, err := New(c.cfg, c.n, c.threads, c.mode); err == nil {
			t.Errorf("%+v is a batch", c)
		}
	}
	b, w := begin(t, cfg, 2, 1, NextStep)
	kept := [2]*flight.Env{b.Env(0).Clone(), b.Env(1).Clone()}
	for _, err := range []error{b.Step([]int64{0}), b.Step([]int64{0, 36}), b.Step([]int64{-1, 0}), b.Reset([]uint64{1}, nil, nil), b.Reset(nil, []bool{true}, nil), b.Reset(nil, nil, []bool{true})} {
		if err == nil {
			t.Error("a wrong call was answered")
		}
	}
	if err := b.Step([]int64{0, 36}); err == nil || !strings.Contains(err.Error(), "environment 1: action 36 is outside 0..35") {
		t.Errorf("got %v", err)
	}
	for i, e := range kept {
		if !b.Env(i).Equal(e) {
			t.Errorf("environment %d has changed", i)
		}
	}
	short := w
	short.Figures = short.Figures[1:]
	if err := b.Bind(short); err == nil || !strings.Contains(err.Error(), "figures") {
		t.Errorf("got %v", err)
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	cfg := flight.DefaultConfig()
	actions := make([]int64, 256)
	for i := range actions {
		actions[i] = int64(i % cfg.Actions())
	}
	for mode, limit := range map[Autoreset]float64{
		Disabled: 0,
		SameStep: 8, // elementary.SinCos works one heading in 300 000 out in integers, which allocates; one is among these
	} {
		b, _ := begin(t, cfg, 256, 2, mode)
		if n := testing.AllocsPerRun(100, func() { _ = b.Step(actions) }); n > limit {
			t.Errorf("mode %d: a step of 256 environments allocates %v times", mode, n)
		}
	}
}

func BenchmarkStep(bench *testing.B) {
	cfg := flight.DefaultConfig()
	const n = 1024
	stream := numpyrand.NewGenerator(1)
	actions := make([][]int64, 64)
	for k := range actions {
		actions[k] = make([]int64, n)
		for i := range actions[k] {
			actions[k][i] = int64(stream.Choice(cfg.Actions()))
		}
	}
	for _, threads := range []struct {
		name string
		n    int
	}{{"threads=1", 1}, {"threads=2", 2}} {
		bench.Run(threads.name, func(bench *testing.B) {
			b, err := New(cfg, n, threads.n, SameStep)
			if err != nil {
				bench.Fatal(err)
			}
			defer b.Close()
			w := arrays(n, cfg)
			w.Aircraft, w.AircraftCounts = nil, nil
			if err := b.Bind(w); err != nil {
				bench.Fatal(err)
			}
			seeds := make([]uint64, n)
			for i := range seeds {
				seeds[i] = uint64(i)
			}
			_ = b.Reset(seeds, nil, nil)
			bench.ReportAllocs()
			steps := 0
			for bench.Loop() {
				_ = b.Step(actions[steps%64])
				steps++
			}
			bench.ReportMetric(float64(steps*n)/bench.Elapsed().Seconds(), "steps/s")
		})
	}
}
