package planner

import (
	"math"
	"testing"

	"skyrail/flight"
	"skyrail/numpyrand"
)

// exhaustion looks in every way there is, by the engine alone, for a plan to the end of an episode.
type exhaustion struct {
	congestion int                    // of the episode, at most
	ends       func(*flight.Env) bool // how it may end
	spare      []*flight.Env          // spare[k] is used k steps from the start
}

// finds reports whether there is one from a state on, with so many clearances more at most.
func (x *exhaustion) finds(t *testing.T, at *flight.Env, depth, clearances int) bool {
	t.Helper()
	cfg := at.Config()
	if at.StepCount() == cfg.MaxSteps {
		return x.ends(at)
	}
	if depth == len(x.spare) {
		x.spare = append(x.spare, at.Clone())
	}
	next, most := x.spare[depth], flight.Idle
	if clearances > 0 {
		most = cfg.Actions() - 1
	}
	var info flight.Info
	for action := flight.Idle; action <= most; action++ {
		if !at.Legal(action) {
			continue
		}
		next.CopyFrom(at)
		status, err := next.Advance(action)
		if err != nil {
			t.Fatal(err)
		}
		if next.Info(&info); info.CongestionTotal > x.congestion || status.Over() && next.StepCount() < cfg.MaxSteps {
			continue
		}
		left := clearances
		if action != flight.Idle {
			left--
		}
		if x.finds(t, next, depth+1, left) {
			return true
		}
	}
	return false
}

// onPlan reports whether an episode has an exit miss that the ranking does not see.
func onPlan(env *flight.Env) bool { return env.ExitMiss() <= missSlack }

// anyEnd accepts every end.
func anyEnd(*flight.Env) bool { return true }

// TestTheFloorIsOne compares what is called impossible, and the plans that are called the best, with a search that knows
// nothing but the engine, in ranked episodes in which that is quick: few clearances do, or the aircraft meet early.
func TestTheFloorIsOne(t *testing.T) {
	env := mustNew(flight.DefaultConfig())
	x := exhaustion{ends: onPlan}
	var s search
	early := []uint64{1296421857, 1712383432, 1503608660}
	tried := map[int]int{} // by clearances
	for i := range 120 {
		seed, most := uint64(i), 3
		if i < len(early) {
			seed, most = early[i], 5
		}
		env.Reset(seed)
		s.think(env, 50_000)
		if m := s.merit; !s.proven() || m.losses > 0 || m.clearances == 0 || m.clearances > most {
			continue
		}
		if x.finds(t, env, 0, s.floor.clearances-1) {
			t.Errorf("seed %d: fewer than %d clearances will do", seed, s.floor.clearances)
		}
		if !x.finds(t, env, 0, s.floor.clearances) {
			t.Errorf("seed %d: %d clearances will not do", seed, s.floor.clearances)
		}
		tried[s.merit.clearances]++
	}
	for k, atLeast := range []int{0, 10, 10, 4, 2, 1} {
		if tried[k] < atLeast {
			t.Errorf("only %d episodes of %d clearances were compared", tried[k], k)
		}
	}
}

// TestBoundsHoldInSmallEnvironments does so in small environments of every kind, at the start or in the middle of an
// episode, where losses of separation may be unavoidable: no plan of up to two clearances is better than a bound.
func TestBoundsHoldInSmallEnvironments(t *testing.T) {
	stream := numpyrand.NewGenerator(2)
	var x exhaustion
	known, lossy, dear := 0, 0, 0
	for trial := range 2500 {
		env := smallEnvironment(t, &stream)
		if env.Status().Over() {
			continue
		}
		var s Solver
		p := s.Solve(env, Budget{Nodes: 5000})
		m, before := s.search.merit, s.search.before
		if p.Outcome.MidAir != (m.midAir > 0) || p.Outcome.Invalids != before.Invalids || !p.Outcome.MidAir &&
			(p.Outcome.Congestion-before.CongestionTotal != m.losses || p.Outcome.Clearances-before.Clearances != m.clearances) {
			t.Errorf("trial %d: predicted %+v, flown %+v", trial, m, p.Outcome)
		}
		if !p.Known {
			continue
		}
		known++
		const most = 2
		if p.Least.Congestion > before.CongestionTotal {
			lossy++
			x.congestion, x.ends = p.Least.Congestion-1, anyEnd
			if x.finds(t, env, 0, most) {
				t.Errorf("trial %d: there is less congestion than %d", trial, p.Least.Congestion)
			}
		}
		if left := p.Least.Clearances - before.Clearances; left > 0 {
			dear++
			x.congestion, x.ends = p.Least.Congestion, onPlan
			if x.finds(t, env, 0, min(left-1, most)) {
				t.Errorf("trial %d: there is a plan of fewer than %d clearances", trial, p.Least.Clearances)
			}
		}
	}
	if known < 1500 || lossy < 150 || dear < 500 {
		t.Errorf("only %d bounds were compared, %d of congestion, %d of clearances", known, lossy, dear)
	}
}

// smallEnvironment draws a few aircraft that come close within a few steps, and flies some random steps of them.
func smallEnvironment(t *testing.T, stream *numpyrand.Generator) *flight.Env {
	t.Helper()
	cfg := flight.DefaultConfig()
	cfg.Flights = 2 + stream.Choice(3)
	cfg.NLo, cfg.NHi = 1, cfg.Flights
	cfg.HoldSteps = 1 + stream.Choice(maxPulse)
	if stream.Choice(6) == 0 {
		cfg.MaxClearances = 1 + stream.Choice(4)
	}
	flown, ahead := stream.Choice(2)*stream.Choice(12), 2+stream.Choice(7)
	cfg.MaxSteps = flown + ahead
	env := mustNew(cfg)
	x, y, level := stream.Uniform(-9800, 9800), stream.Uniform(-9800, 9800), stream.Choice(flight.Levels)
	near := stream.Uniform(200, 3000)
	var s flight.Scenario
	for range cfg.Flights {
		heading, speed := stream.Uniform(0, 360), flight.LowSpeed+flight.SpeedStep*float64(stream.Choice(2+8*stream.Choice(2)))
		way := speed * flight.DT * float64(flown+stream.Choice(ahead))
		sin, cos := math.Sincos(heading * math.Pi / 180)
		s.Aircraft = append(s.Aircraft, flight.Aircraft{
			X: x + stream.Uniform(-near, near) - way*cos, Y: y + stream.Uniform(-near, near) - way*sin,
			Level: altitudeOf(int8(min(max(level+stream.Choice(3)-1, 0), flight.Levels-1))), Speed: speed, Heading: heading,
		})
	}
	if err := env.ResetTo(s); err != nil {
		t.Fatal(err)
	}
	wander(env, stream, flown)
	return env
}

// TestNoBoundIsClaimedOfWhatIsNotSearched plans where some plans, or some of an episode, are not looked at.
func TestNoBoundIsClaimedOfWhatIsNotSearched(t *testing.T) {
	head := func(level, otherLevel, speed float64) flight.Scenario {
		return flight.Scenario{Converging: 2, Aircraft: []flight.Aircraft{
			{X: -5000, Level: level, Speed: speed, Heading: 0}, {X: 5000, Level: otherLevel, Speed: speed, Heading: 180}}}
	}
	for name, c := range map[string]struct {
		maxSteps, holdSteps int
		scenario            flight.Scenario
		want                bool
	}{
		"a ranked pair":                      {50, 5, head(350, 350, 305), true},
		"an episode longer than a plan":      {65, 5, head(350, 350, 305), false},
		"pulses too long to be planned":      {50, maxPulse + 1, head(350, 350, 305), false},
		"a level between two":                {50, 5, head(350, 351, 305), false},
		"a level above all":                  {50, 5, head(398, 422, 305), false},
		"a pulse that is nearly on schedule": {50, 5, head(350, 350, 234), false},
		"a slow pair that is not":            {50, 5, head(350, 350, 200), true},
		"a pair within a centimetre of losing": {50, 5, flight.Scenario{Aircraft: []flight.Aircraft{
			{X: 0, Y: 0, Level: 350, Speed: 305}, {X: 0, Y: 1000.005, Level: 350, Speed: 305}}}, false},
	} {
		cfg := flight.DefaultConfig()
		cfg.Flights, cfg.NLo, cfg.NHi, cfg.MaxSteps, cfg.HoldSteps = 2, 2, 2, c.maxSteps, c.holdSteps
		env := mustNew(cfg)
		if err := env.ResetTo(c.scenario); err != nil {
			t.Fatal(err)
		}
		var s Solver
		if p := s.Solve(env, Budget{Nodes: 5000}); p.Known != c.want {
			t.Errorf("%s: bound %+v known %v, want %v", name, p.Least, p.Known, c.want)
		}
	}
}

// TestMoreNodesLoseNoBound plans an episode in which a large search comes upon a pair within a centimetre of the
// separation radius, which a small one does not.
func TestMoreNodesLoseNoBound(t *testing.T) {
	env := mustNew(flight.DefaultConfig())
	env.Reset(3378)
	var s Solver
	few, many := s.Solve(env, Budget{Nodes: 10_000}), s.Solve(env, Budget{Nodes: 160_000})
	if s.search.sure {
		t.Fatal("there is no such pair")
	}
	if !few.Known || !many.Known || many.Least.Clearances < few.Least.Clearances {
		t.Errorf("got the bounds %+v (known %v), then %+v (known %v)", few.Least, few.Known, many.Least, many.Known)
	}
}

// TestASolverServesAnyEnvironment plans with one Solver what others plan afresh.
func TestASolverServesAnyEnvironment(t *testing.T) {
	stream := numpyrand.NewGenerator(4)
	var s Solver
	for trial := range 60 {
		cfg := flight.DefaultConfig()
		cfg.Flights = 2 + stream.Choice(8)
		cfg.NLo, cfg.NHi, cfg.HoldSteps, cfg.MaxSteps = 1, cfg.Flights, 1+stream.Choice(8), 10+stream.Choice(60)
		env := mustNew(cfg)
		env.Reset(uint64(trial))
		var fresh Solver
		got, want := s.Solve(env, Budget{Nodes: 500}), fresh.Solve(env, Budget{Nodes: 500})
		if got.Outcome != want.Outcome || got.Nodes != want.Nodes || got.Least != want.Least || got.Known != want.Known {
			t.Errorf("trial %d: got %+v, a fresh solver %+v", trial, got, want)
		}
	}
}
