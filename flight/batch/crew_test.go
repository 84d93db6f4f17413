package batch

import (
	"slices"
	"strings"
	"testing"

	"skyrail/flight"
	"skyrail/flight/agent"
)

// TestACrewAnswersAsItsAgentsDo flies a batch with a crew, from observations and from the batch, beside single agents.
func TestACrewAnswersAsItsAgentsDo(t *testing.T) {
	cfg := flight.DefaultConfig()
	for _, name := range agent.Names() {
		const n = 9
		fresh := func() (agent.Agent, error) { return agent.New(name, cfg) }
		b, w := begin(t, cfg, n, 2, SameStep)
		var crews [2]*Crew
		for k := range crews {
			c, err := NewCrew(cfg, n, 1+2*k, fresh)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			crews[k] = c
		}
		single := make([]agent.Agent, n)
		for i := range single {
			single[i], _ = fresh()
			single[i].Reset()
		}
		actions, same, want := make([]int64, n), make([]int64, n), make([]int64, n)
		for step := range 120 {
			if crews[0].Act(w.Observations, actions) != nil || crews[1].ActIn(b, same) != nil {
				t.Fatal("the crew does not answer")
			}
			for i, a := range single {
				want[i] = int64(a.Act(row(w.Observations, i, n)))
			}
			if !slices.Equal(actions, want) || !slices.Equal(same, want) {
				t.Fatalf("%s, step %d: %v and %v, want %v", name, step, actions, same, want)
			}
			if err := b.Step(actions); err != nil {
				t.Fatal(err)
			}
			for i := range single {
				if w.Terminated[i] || w.Truncated[i] {
					single[i].Reset()
				}
			}
		}
	}
}

// seer answers with what it is shown.
type seer struct{ env *flight.Env }

func (s *seer) Reset()              {}
func (s *seer) See(env *flight.Env) { s.env = env }
func (s *seer) Act([]float32) int   { return min(s.env.StepCount()+1, 35) }

func TestASightedCrewNeedsTheEnvironments(t *testing.T) {
	cfg := flight.DefaultConfig()
	b, w := begin(t, cfg, 2, 1, Disabled)
	c, err := NewCrew(cfg, 2, 1, func() (agent.Agent, error) { return &seer{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	actions := make([]int64, 2)
	if err := c.Act(w.Observations, actions); err == nil || !strings.Contains(err.Error(), "true state") {
		t.Errorf("got %v", err)
	}
	for k := range 3 {
		if err := c.ActIn(b, actions); err != nil || actions[1] != int64(k+1) {
			t.Fatalf("got %v, %v", actions, err)
		}
		if err := b.Step([]int64{0, 0}); err != nil {
			t.Fatal(err)
		}
	}
	for !b.Ended()[0] {
		_ = b.Step([]int64{0, 0})
	}
	if err := c.ActIn(b, actions); err != nil || actions[0] != flight.Idle {
		t.Errorf("after the end: %v, %v", actions, err)
	}
}

func TestACrewRefuses(t *testing.T) {
	cfg := flight.DefaultConfig()
	fresh := func() (agent.Agent, error) { return agent.New("noop", cfg) }
	for _, c := range []struct{ n, threads int }{{0, 1}, {MaxEnvs + 1, 1}, {1, -1}} {
		if _, err := NewCrew(cfg, c.n, c.threads, fresh); err == nil {
			t.Errorf("%+v is a crew", c)
		}
	}
	c, err := NewCrew(cfg, 2, 1, fresh)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Act(make([]float32, 103), make([]int64, 2)) == nil || c.Act(make([]float32, 206), make([]int64, 1)) == nil {
		t.Error("arrays of another length were taken")
	}
	other := cfg
	other.HoldSteps = 3
	b, _ := begin(t, other, 2, 1, NextStep)
	if err := c.ActIn(b, make([]int64, 2)); err == nil {
		t.Error("environments of another configuration were taken")
	}
}
