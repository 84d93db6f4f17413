package planner_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/flight/contest"
	"skyrail/flight/planner"
	"skyrail/numpyrand"
)

// board flies an agent over seeds.
func board(t *testing.T, seeds []uint64, fresh func() agent.Agent) ([]contest.Episode, contest.Score) {
	t.Helper()
	episodes, err := contest.Run(t.Context(), flight.DefaultConfig(), seeds, 2, func() (agent.Agent, error) { return fresh(), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return episodes, contest.NewScore(episodes)
}

// TestThePublicRankKey pins what the planner scores on the published seeds, with a budget that is quick.
func TestThePublicRankKey(t *testing.T) {
	budget := planner.Budget{Nodes: 20_000}
	seeds := contest.PublicSeeds()
	episodes, score := board(t, seeds, func() agent.Agent { return planner.New(flight.DefaultConfig(), budget) })
	if got, want := score.Key(), (contest.Key{0, 3, 0, 409, 228}); got != want {
		t.Errorf("got the rank key %v, want %v", got, want)
	}
	if score.Invalids != 0 {
		t.Errorf("%d actions were forbidden", score.Invalids)
	}
	bounds, ok := contest.NewBounds(episodes)
	if want := (contest.Bounds{Episodes: 98, Congestion: 3, Matched: 98, Clearances: 361, Gap: 33, Least: 77}); !ok || bounds != want {
		t.Errorf("got the bounds %+v, want %+v", bounds, want)
	}
	// The true state is worth nothing: the observation tells it.
	_, oracle := board(t, seeds, func() agent.Agent { return planner.NewOracle(flight.DefaultConfig(), budget) })
	if oracle.Key() != score.Key() {
		t.Errorf("the oracle has the rank key %v, the planner %v", oracle.Key(), score.Key())
	}
}

// TestMoreNodesAreNoWorse flies with more and more nodes.
func TestMoreNodesAreNoWorse(t *testing.T) {
	seeds := contest.DeriveSeeds("planner-more", 40)
	var last contest.Key
	for i, nodes := range []int{1, 500, 2000, 5000, 50_000} {
		_, score := board(t, seeds, func() agent.Agent { return planner.New(flight.DefaultConfig(), planner.Budget{Nodes: nodes}) })
		key := score.Key()
		if i > 0 && key.Compare(last) >= 0 {
			t.Errorf("%d nodes: got the rank key %v, fewer had %v", nodes, key, last)
		}
		last = key
	}
}

// TestItPlansAgain replaces actions of the planner by random ones. Some of these no plan can make good: they send the
// aircraft that are to part to the same level in the last moment.
func TestItPlansAgain(t *testing.T) {
	fresh := func() (agent.Agent, error) {
		return planner.New(flight.DefaultConfig(), planner.Budget{Nodes: 20_000}), nil
	}
	report, err := contest.PostMortem(t.Context(), flight.DefaultConfig(), contest.PublicSeeds(), 2, "planner", fresh, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		eps                float64
		failed, congestion int
	}{{0.05, 2, 30}, {0.1, 8, 50}, {0.25, 15, 160}} {
		score, ok := report.Score(contest.EpsilonPass(c.eps))
		if !ok {
			t.Fatal("the pass is missing")
		}
		if score.Failed > c.failed || score.Congestion > c.congestion {
			t.Errorf("ε %v: %d failed, %d losses of separation; want at most %d and %d", c.eps, score.Failed, score.Congestion, c.failed, c.congestion)
		}
	}
}

// follower is what both agents have.
type follower interface {
	agent.Agent
	Plan() (planner.Plan, bool)
}

// TestThePlanIsWhatIsFlown flies environments of many shapes, some with actions replaced by random ones: no action is
// forbidden, and what a plan predicts is what is flown, if nothing else is.
func TestThePlanIsWhatIsFlown(t *testing.T) {
	stream := numpyrand.NewGenerator(3)
	kept, again := 0, 0
	for _, c := range []struct {
		flights, nLo, nHi, maxSteps, hold, clearances, nodes int
	}{
		{5, 2, 4, 50, 5, 40, 5000}, {5, 2, 4, 50, 5, 3, 2000}, {1, 1, 1, 50, 5, 40, 100}, {2, 2, 2, 1, 5, 1, 100},
		{8, 2, 8, 64, 4, 40, 2000}, {5, 5, 5, 65, 1, 40, 2000}, {6, 2, 6, 130, 7, 40, 2000}, {5, 2, 4, 50, 8, 40, 2000},
		{5, 3, 5, 40, 100, 40, 2000}, {24, 3, 12, 30, 5, 40, 300}, {64, 10, 64, 20, 5, 40, 100},
	} {
		cfg := flight.DefaultConfig()
		cfg.Flights, cfg.NLo, cfg.NHi, cfg.MaxSteps, cfg.HoldSteps, cfg.MaxClearances = c.flights, c.nLo, c.nHi, c.maxSteps, c.hold, c.clearances
		env, err := flight.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		budget := planner.Budget{Nodes: c.nodes}
		for _, a := range []follower{planner.New(cfg, budget), planner.NewOracle(cfg, budget)} {
			for seed := range uint64(6) {
				disturb := seed%3 == 2
				k, n := flyAndCompare(t, env, a, seed, func() bool { return disturb && stream.Choice(5) == 0 }, &stream)
				kept += k
				again += n
				if !disturb && cfg.MaxSteps <= 64 && n != 1 {
					t.Errorf("%+v seed %d: %T made %d plans, want 1", c, seed, a, n)
				}
			}
		}
	}
	if kept < 80 || again < 100 {
		t.Errorf("only %d plans were flown to their end, and %d made", kept, again)
	}
}

// flyAndCompare flies an episode. It returns how many plans were flown to their end, and how many were made.
func flyAndCompare(t *testing.T, env *flight.Env, a follower, seed uint64, disturb func() bool, stream *numpyrand.Generator) (kept, made int) {
	t.Helper()
	env.Reset(seed)
	a.Reset()
	cfg := env.Config()
	obs := make([]float32, cfg.ObservationLen())
	var plan planner.Plan
	untouched := false // all of the plan so far was flown
	for !env.Status().Over() {
		env.Observe(obs)
		if s, ok := a.(agent.Sighted); ok {
			s.See(env)
		}
		action := a.Act(obs)
		if !env.Legal(action) {
			t.Fatalf("%T, %d aircraft, seed %d step %d: action %d is forbidden", a, cfg.Flights, seed, env.StepCount(), action)
		}
		now, ok := a.Plan()
		if !ok {
			t.Fatalf("%T has no plan after an answer", a)
		}
		if now.Start == env.StepCount() {
			plan, untouched = now, true
			plan.Actions = slices.Clone(plan.Actions)
			made++
		}
		if want := plan.Actions[env.StepCount()-plan.Start]; untouched && action != want {
			t.Fatalf("%T, seed %d step %d: got action %d, planned was %d", a, seed, env.StepCount(), action, want)
		}
		if disturb() {
			legal := agent.LegalActions(nil, obs[len(obs)-cfg.Actions():])
			if other := legal[stream.Choice(len(legal))]; other != action {
				action, untouched = other, false
			}
		}
		if _, err := env.Advance(action); err != nil {
			t.Fatal(err)
		}
	}
	if !untouched || env.StepCount() != plan.Outcome.Steps {
		return kept, made
	}
	var info flight.Info
	env.Info(&info)
	got := planner.Outcome{
		Steps: env.StepCount(), MidAir: info.Collided, Congestion: info.CongestionTotal, ExitMiss: info.ExitMiss,
		Clearances: info.Clearances, Touched: info.AircraftInvolved, Invalids: info.Invalids,
	}
	want := plan.Outcome
	if math.Abs(got.ExitMiss-want.ExitMiss) < 1e-5 { // positions are float32
		got.ExitMiss = want.ExitMiss
	}
	if got != want {
		t.Errorf("%T, %d aircraft, seed %d: flown %+v, predicted %+v", a, cfg.Flights, seed, got, want)
	}
	return kept + 1, made
}

// TestATimeIsABudget plans for a time, however short.
func TestATimeIsABudget(t *testing.T) {
	env, err := flight.New(flight.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	var s planner.Solver
	for _, d := range []time.Duration{1, time.Millisecond, 20 * time.Millisecond} {
		env.Reset(1829385696)
		p := s.Solve(env, planner.Budget{Time: d})
		if len(p.Actions) != 50 || p.Nodes == 0 {
			t.Errorf("%v: got %d actions and %d nodes", d, len(p.Actions), p.Nodes)
		}
		if d > 10*time.Millisecond && (p.Outcome.MidAir || p.Outcome.Congestion > 0) {
			t.Errorf("%v: got %+v", d, p.Outcome)
		}
	}
	// Told to end, it does, however much it may think.
	done := make(chan struct{})
	close(done)
	env.Reset(1829385696)
	for _, b := range []planner.Budget{{Nodes: planner.MaxNodes, Done: done}, {Time: planner.MaxTime, Done: done}} {
		if p := s.Solve(env, b); len(p.Actions) != 50 || p.Nodes > 1000 {
			t.Errorf("told to end: got %d actions and %d nodes", len(p.Actions), p.Nodes)
		}
	}
	// A plan within nodes is the same after one within a time.
	var fresh planner.Solver
	env.Reset(5)
	got, want := s.Solve(env, planner.Budget{Nodes: 3000}), fresh.Solve(env, planner.Budget{Nodes: 3000})
	if !slices.Equal(got.Actions, want.Actions) || got.Nodes != want.Nodes {
		t.Errorf("got %v with %d nodes, a fresh solver %v with %d", got.Actions, got.Nodes, want.Actions, want.Nodes)
	}
}

// TestThereIsNothingToPlanAfterTheEnd plans from the end of an episode.
func TestThereIsNothingToPlanAfterTheEnd(t *testing.T) {
	env, err := flight.New(flight.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	for !env.Status().Over() {
		if _, err := env.Advance(flight.Idle); err != nil {
			t.Fatal(err)
		}
	}
	var s planner.Solver
	if p := s.Solve(env, planner.DefaultBudget()); len(p.Actions) != 0 || p.Outcome.Steps != env.StepCount() || p.Known {
		t.Errorf("got %+v", p)
	}
	if _, err := s.Evaluate(env, []int{-1}); err != nil {
		t.Errorf("got the error %v for an action after the end", err)
	}
	env.Reset(1)
	if _, err := s.Evaluate(env, []int{36}); err == nil {
		t.Error("got no error for an action that is none")
	}
}

// A planner is an agent: it answers observations.
func Example() {
	cfg := flight.DefaultConfig()
	env, err := flight.New(cfg)
	if err != nil {
		panic(err)
	}
	p := planner.New(cfg, planner.Budget{Nodes: 20_000})
	episode, err := contest.Play(env, p, 1225417723)
	if err != nil {
		panic(err)
	}
	fmt.Println(episode.Completed, episode.Congestion, episode.Clearances)
	// Output: true 0 8
}
