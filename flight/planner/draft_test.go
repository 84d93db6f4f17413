package planner

import (
	"math"
	"testing"

	"skyrail/flight"
	"skyrail/numpyrand"
)

// TestADraftComesToWhatTheEngineFlies lays random plans on random moments of random episodes and flies them: the masks of
// a draft and the engine must agree on every figure.
func TestADraftComesToWhatTheEngineFlies(t *testing.T) {
	var s search
	var solver Solver
	stream := numpyrand.NewGenerator(1)
	losses, midAirs, offEnds, illegal := 0, 0, 0, 0
	for seed := range uint64(600) {
		env := randomMoment(seed, &stream)
		if env.Status().Over() {
			continue
		}
		s.open(env)
		before, err := solver.Evaluate(env, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			plan, legal := randomPlan(&s, &stream)
			if !legal {
				illegal++
				continue
			}
			s.draw(plan)
			got := s.judge()
			actions := make([]int, s.window.steps)
			for _, c := range plan {
				actions[c.step] = flight.Action(int(c.aircraft), c.clearance)
			}
			lost, hit, ends := fly(t, env, actions)
			if got.losses != lost || got.midAir != hit || got.clearances != len(plan) {
				t.Fatalf("seed %d step %d plan %v: got %+v, flown %d losses, %d mid-air, %d clearances",
					seed, env.StepCount(), plan, got, lost, hit, len(plan))
			}
			if ends != offLevel(&s) {
				t.Fatalf("seed %d step %d plan %v: %d aircraft end off their level, flown %d", seed, env.StepCount(), plan, offLevel(&s), ends)
			}
			after, err := solver.Evaluate(env, actions)
			if err != nil {
				t.Fatal(err)
			}
			if hit == 0 && after.Congestion != before.Congestion+lost {
				t.Fatalf("seed %d: Evaluate has %d losses, flown %d", seed, after.Congestion-before.Congestion, lost)
			}
			if hit == 0 && after.Invalids != before.Invalids {
				t.Fatalf("seed %d step %d plan %v: the engine refused a clearance", seed, env.StepCount(), plan)
			}
			if hit == 0 && math.Abs(exitMiss(&s)-after.ExitMiss) > 1e-9 {
				t.Fatalf("seed %d step %d plan %v: exit miss %v, flown %v", seed, env.StepCount(), plan, exitMiss(&s), after.ExitMiss)
			}
			losses += lost
			midAirs += hit
			offEnds += ends
		}
	}
	if losses < 1000 || midAirs < 20 || offEnds < 1000 || illegal > 2000 {
		t.Errorf("only %d losses, %d mid-airs, %d ends off the level were compared, and %d plans were not legal", losses, midAirs, offEnds, illegal)
	}
}

// TestEveryClearanceThatMattersIsTried lays random plans and asks for the clearances that change where an aircraft is at a
// step: all that do, and no other, whatever has to be left out for a goal.
func TestEveryClearanceThatMattersIsTried(t *testing.T) {
	var s search
	stream := numpyrand.NewGenerator(5)
	kinds := map[flight.Clearance]int{}
	for seed := range uint64(300) {
		env := randomMoment(seed, &stream)
		if env.Status().Over() {
			continue
		}
		s.open(env)
		for range 10 {
			plan, legal := randomPlan(&s, &stream)
			if !legal {
				continue
			}
			s.anew(merit{losses: never * never, offLevels: anyLevels, clearances: never, touched: s.n}, never)
			s.draw(plan)
			i, step := stream.Choice(s.n), stream.Choice(s.window.steps)
			want := map[order]bool{}
			var next track
			for k := 0; k <= step; k++ {
				for c := range flight.Clearance(flight.Clearances) {
					o := order{int8(k), c}
					if s.used>>k&1 == 0 && s.with(&next, s.tracks[i], i, o) && !next.sameAt(s.tracks[i], step) {
						want[o] = true
						kinds[c]++
					}
				}
			}
			l := &s.depth[0]
			s.choose(l, trouble{int8(i), -1, int8(step)}, unlimited)
			for _, c := range l.choices {
				if !want[c.order] {
					t.Errorf("seed %d plan %v aircraft %d step %d: %+v is tried and changes nothing", seed, plan, i, step, c.order)
				}
				delete(want, c.order)
			}
			if len(want) > 0 {
				t.Errorf("seed %d plan %v aircraft %d step %d: not tried are %v", seed, plan, i, step, want)
			}
		}
	}
	for c := range flight.Clearance(flight.Clearances) {
		if kinds[c] < 500 {
			t.Errorf("only %d of %v were looked for", kinds[c], c)
		}
	}
}

// exitMiss is that of the draft's tracks.
func exitMiss(s *search) float64 {
	sum := 0.0
	for _, tr := range s.tracks {
		sum += tr.late + math.Abs(float64(tr.end))
	}
	return sum / float64(s.n)
}

// randomMoment draws a hold_steps, and flies some random steps of the episode of a seed, which may end it.
func randomMoment(seed uint64, stream *numpyrand.Generator) *flight.Env {
	cfg := flight.DefaultConfig()
	if stream.Choice(2) == 1 {
		cfg.HoldSteps = 1 + stream.Choice(maxPulse)
	}
	env := mustNew(cfg)
	env.Reset(seed)
	wander(env, stream, stream.Choice(45))
	return env
}

// wander flies so many random steps, most of them idle, unless the episode ends before.
func wander(env *flight.Env, stream *numpyrand.Generator, steps int) {
	mask := make([]bool, env.Config().Actions())
	for range steps {
		if env.Status().Over() {
			return
		}
		action := flight.Idle
		if stream.Choice(4) == 0 {
			env.Mask(mask)
			for action = stream.Choice(len(mask)); !mask[action]; {
				action = stream.Choice(len(mask))
			}
		}
		if _, err := env.Advance(action); err != nil {
			panic(err)
		}
	}
}

// randomPlan draws a plan of up to six clearances; legal is false if some of it is not.
func randomPlan(s *search, stream *numpyrand.Generator) (plan []told, legal bool) {
	s.clear()
	tracks := make([]track, s.n)
	for i := range tracks {
		tracks[i] = s.alone[i]
	}
	used := uint64(0)
	most := min(6, s.cfg.MaxClearances-s.before.Clearances-1)
	for tries := 0; tries < 60 && len(plan) < most; tries++ {
		c := told{order{int8(stream.Choice(s.window.steps)), flight.Clearance(stream.Choice(flight.Clearances))}, int8(stream.Choice(s.n))}
		if used>>c.step&1 != 0 {
			continue
		}
		var next track
		if s.with(&next, &tracks[c.aircraft], int(c.aircraft), c.order) {
			tracks[c.aircraft] = next
			used |= 1 << c.step
			plan = append(plan, c)
		}
	}
	return plan, len(plan) > 0
}

func offLevel(s *search) (n int) {
	for _, tr := range s.tracks {
		if tr.end != 0 {
			n++
		}
	}
	return n
}

// fly flies actions to the end of the window, mid-air or not, and counts the losses of separation, whether there was a
// mid-air, and the aircraft off their level at the end.
func fly(t *testing.T, env *flight.Env, actions []int) (lost, midAir, offLevel int) {
	t.Helper()
	e := env.Clone()
	for _, action := range actions {
		if _, err := e.Advance(action); err != nil {
			t.Fatal(err)
		}
		now, hit := e.Separation()
		lost += now
		if hit {
			midAir = 1
		}
	}
	for i := range e.Config().Flights {
		if p := e.Progress(i); p.EntryLevel != e.Aircraft(i).Level {
			offLevel++
		}
	}
	return lost, midAir, offLevel
}
