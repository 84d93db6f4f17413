package batch

import (
	"errors"
	"strings"
	"testing"

	"skyrail/rail"
	"skyrail/rail/agent"
)

// TestCrewAnswersAsItsPolicies over several episodes, which it has to notice.
func TestCrewAnswersAsItsPolicies(t *testing.T) {
	for _, name := range agent.Names() {
		b, _ := begin(t, []*Source{generated(t, 1, 4), fileSource(t)}, Options{Rewards: rail.DefaultRewards(), Autoreset: SameStep}, 0, false)
		crew, err := NewCrew(name, 5)
		if err != nil {
			t.Fatal(err)
		}
		var own [2]agent.Policy
		begins := func(i int) {
			own[i], _ = agent.New(name, agent.Options{Seed: 5 + uint32(i)})
			if err := own[i].Reset(b.Env(i)); err != nil {
				t.Fatal(err)
			}
		}
		begins(0)
		begins(1)
		actions := make([]int8, 2*b.Trains())
		ends := 0
		for step := range 700 {
			if err := crew.Act(b, actions); err != nil {
				t.Fatalf("%s, step %d: %v", name, step, err)
			}
			for i := range own {
				want := make([]rail.Action, b.Env(i).Trains())
				if err := own[i].Act(b.Env(i), want); err != nil {
					t.Fatal(err)
				}
				for k, a := range want {
					if got := actions[i*b.Trains()+k]; got != int8(a) {
						t.Fatalf("%s, step %d, environment %d, train %d: got %d, want %d", name, step, i, k, got, a)
					}
				}
			}
			if err := b.Step(actions); err != nil {
				t.Fatal(err)
			}
			for i := range own {
				if b.Env(i).Elapsed() == 0 {
					ends++
					begins(i)
				}
			}
		}
		if ends == 0 {
			t.Errorf("%s: no episode has ended", name)
		}
		// Another episode at the same step is noticed too.
		other := generated(t, 9, 4).first.Clone()
		for other.Elapsed() < b.Env(0).Elapsed() {
			if err := other.Step(make([]rail.Action, 4)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Put(0, other); err != nil {
			t.Fatal(err)
		}
		begins(0)
		want := make([]rail.Action, 4)
		if err := errors.Join(own[0].Act(b.Env(0), want), crew.Act(b, actions)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for k, a := range want {
			if actions[k] != int8(a) {
				t.Errorf("%s, in another episode, train %d: got %d, want %d", name, k, actions[k], a)
			}
		}
		if err := crew.Act(b, actions[1:]); err == nil {
			t.Error("too few actions were filled in")
		}
	}
	if _, err := NewCrew("nobody", 0); err == nil || !strings.Contains(err.Error(), "deadlock-avoidance") {
		t.Errorf("got %v", err)
	}
}
