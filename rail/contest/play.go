package contest

import (
	"context"
	"fmt"

	"skyrail/rail"
	"skyrail/rail/agent"
	"skyrail/rail/railfile"
)

// Figures are what one episode came to. They follow from the environment and the actions; nothing that a team recorded
// is in them.
type Figures struct {
	Trains           int      `json:"trains"`
	Arrived          int      `json:"arrived"`
	Steps            int      `json:"steps"`
	MaxEpisodeSteps  int      `json:"max_episode_steps"`
	Malfunctions     int      `json:"malfunctions"`
	NormalizedReward *float64 `json:"normalized_reward"` // null for reward functions that have none
	SuccessRate      float64  `json:"success_rate"`      // arrived trains of all
	// Components are the parts of the reward by name, summed over trains and steps, without the cap of a train's total;
	// null for reward functions that are not made of them.
	Components *Components `json:"components"`
}

// Components are the parts of the reward, in the order of rail.ComponentNames.
type Components [rail.Components]float64

// bout is an episode that is added up as it runs.
type bout struct {
	env    *rail.Env
	tally  *rail.Tally // of the function that was asked for
	whole  *rail.Tally // of its factors as one number
	parts  *rail.Tally // of its factors as components
	factor bool        // it has factors
}

// newBout sets the environment's reward functions: the one that was asked for is function 0.
func newBout(e *rail.Env, r rail.Rewards) *bout {
	b := &bout{env: e, factor: r.Kind != rail.PunctualityReward}
	functions := []rail.Rewards{r}
	if b.factor {
		functions = append(functions, rail.Rewards{Kind: rail.ComponentReward, Factors: r.Factors}, rail.Rewards{Kind: rail.ScalarReward, Factors: r.Factors})
	}
	e.SetRewards(functions...)
	b.tally = rail.NewTally(e, 0)
	if b.factor {
		b.parts, b.whole = rail.NewTally(e, 1), rail.NewTally(e, 2)
	}
	return b
}

func (b *bout) step(actions []rail.Action) error {
	if err := b.env.Step(actions); err != nil {
		return err
	}
	b.tally.Add(b.env.Rewards(0))
	if b.factor {
		b.parts.Add(b.env.Rewards(1))
		b.whole.Add(b.env.Rewards(2))
	}
	return nil
}

func (b *bout) figures() Figures {
	e := b.env
	f := Figures{Trains: e.Trains(), Steps: e.Elapsed(), MaxEpisodeSteps: e.MaxEpisodeSteps()}
	for i := range e.Trains() {
		if e.State(i) == rail.Done {
			f.Arrived++
		}
		f.Malfunctions += e.Malfunctions(i)
	}
	if f.Trains > 0 {
		f.SuccessRate = float64(f.Arrived) / float64(f.Trains)
	}
	if !b.factor {
		return f
	}
	if v, ok := b.whole.Normalized(); ok {
		f.NormalizedReward = &v
	}
	f.Components = new(Components)
	for k, v := range b.parts.Totals() {
		f.Components[k%rail.Components] += v
	}
	return f
}

// Recorder is told what happens in an episode. [railfile.Recorder] is one.
type Recorder interface {
	Action(train int, a rail.Action) error
	Step() error
	Finish() error
}

// Play runs a policy until the episode is over, or the step end is reached if it is above 0. The environment's reward
// functions become the one given, as function 0, and others behind it. start, if not nil, is called once they are set, and
// may return a recorder; after, if not nil, is called after every step.
func Play(ctx context.Context, e *rail.Env, p agent.Policy, r rail.Rewards, end int, start func() (Recorder, error), after func() error) (Figures, error) {
	b := newBout(e, r)
	var rec Recorder
	if start != nil {
		var err error
		if rec, err = start(); err != nil {
			return Figures{}, err
		}
	}
	if err := p.Reset(e); err != nil {
		return Figures{}, fmt.Errorf("the policy: %w", err)
	}
	actions := make([]rail.Action, e.Trains())
	for !e.AllDone() && (end <= 0 || e.Elapsed() < end) {
		if err := ctx.Err(); err != nil {
			return Figures{}, err
		}
		if err := p.Act(e, actions); err != nil {
			return Figures{}, fmt.Errorf("the policy, in step %d: %w", e.Elapsed()+1, err)
		}
		if err := b.record(rec, actions); err != nil {
			return Figures{}, err
		}
		if after != nil {
			if err := after(); err != nil {
				return Figures{}, err
			}
		}
	}
	if rec != nil {
		if err := rec.Finish(); err != nil {
			return Figures{}, err
		}
	}
	return b.figures(), nil
}

// record gives a step its actions and writes them and what came of them.
func (b *bout) record(rec Recorder, actions []rail.Action) error {
	if rec == nil {
		return b.step(actions)
	}
	for i, a := range actions {
		if err := rec.Action(i, a); err != nil {
			return err
		}
	}
	if err := b.step(actions); err != nil {
		return err
	}
	return rec.Step()
}

var _ Recorder = (*railfile.Recorder)(nil)
