package contest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

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
	// Composition is the share of each part, null if there was no penalty.
	Composition *Components `json:"composition"`
	// Totals are the numbers of a function of several objectives, summed over trains and steps; null for the others.
	Totals *Totals `json:"totals"`
}

// Totals are the sums of the punctuality or the multi-objective rewards.
type Totals struct {
	Kind   rail.RewardKind
	Values []float64 // as many as the function is wide
}

// totalNames are what the numbers of these functions are called.
var totalNames = map[rail.RewardKind][]string{
	rail.MultiObjectiveReward: {"default", "energy", "smoothness"},
	rail.PunctualityReward:    {"stops_on_time", "stops"},
}

// MarshalJSON writes them as an object by name.
func (t Totals) MarshalJSON() ([]byte, error) { return marshalNamed(totalNames[t.Kind], t.Values) }

// Components are the parts of the reward, in the order of rail.ComponentNames.
type Components [rail.Components]float64

// MarshalJSON writes them as an object with the reference's names.
func (c Components) MarshalJSON() ([]byte, error) { return marshalNamed(rail.ComponentNames(), c[:]) }

// marshalNamed writes numbers as an object, in their order.
func marshalNamed(names []string, values []float64) ([]byte, error) {
	b := []byte{'{'}
	for k, name := range names {
		if k > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(values[k])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b = append(append(strconv.AppendQuote(b, name), ':'), value...)
	}
	return append(b, '}'), nil
}

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
		functions = append(functions,
			rail.Rewards{Kind: rail.ComponentReward, Factors: r.Factors}, rail.Rewards{Kind: rail.ScalarReward, Factors: r.Factors})
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
	if kind := e.RewardFunctions()[0].Kind; totalNames[kind] != nil {
		width := len(totalNames[kind])
		f.Totals = &Totals{kind, make([]float64, width)}
		for k, v := range b.tally.Totals() {
			f.Totals.Values[k%width] += v
		}
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
	f.Composition = Composition(*f.Components)
	return f
}

// RecordedRewards is the reward function by the form in which an episode's rewards are recorded: components and tuples tell
// it, and numbers are taken for the default one.
func RecordedRewards(rows []railfile.RewardRow) rail.Rewards {
	if len(rows) > 0 {
		switch kind, _ := rows[0].Reward.Kind(); kind {
		case rail.ComponentReward, rail.MultiObjectiveReward:
			return rail.Rewards{Kind: kind, Factors: rail.DefaultFactors()}
		case rail.PunctualityReward:
			return rail.Rewards{Kind: kind}
		}
	}
	return rail.DefaultRewards()
}

// PlayOptions say how an episode is run.
type PlayOptions struct {
	// Rewards is the function that is computed, and recorded: function 0 of the environment. Others are behind it.
	Rewards rail.Rewards
	// EndStep, if given, ends the run when so many steps have elapsed.
	EndStep rail.Time
	// Start, if not nil, is called before the first step, when the reward functions are set. It may return a recorder, or
	// nil.
	Start func() (*railfile.Recorder, error)
	// After, if not nil, is called after every step.
	After func() error
}

// ErrNoTrains is that there is nobody to give actions to.
var ErrNoTrains = errors.New("the environment has no trains")

// Play runs a policy in an environment, from where it is to the end of the episode. One without trains is [ErrNoTrains].
func Play(ctx context.Context, e *rail.Env, p agent.Policy, o PlayOptions) (Figures, error) {
	if e.Trains() == 0 {
		return Figures{}, ErrNoTrains
	}
	b := newBout(e, o.Rewards)
	var rec *railfile.Recorder
	if o.Start != nil {
		var err error
		if rec, err = o.Start(); err != nil {
			return Figures{}, err
		}
	}
	if err := p.Reset(e); err != nil {
		return Figures{}, fmt.Errorf("the policy: %w", err)
	}
	actions := make([]rail.Action, e.Trains())
	for !e.AllDone() && (!o.EndStep.Given || e.Elapsed() < o.EndStep.Step) {
		if err := ctx.Err(); err != nil {
			return Figures{}, err
		}
		if err := p.Act(e, actions); err != nil {
			return Figures{}, fmt.Errorf("the policy, in step %d: %w", e.Elapsed()+1, err)
		}
		if err := b.record(rec, actions); err != nil {
			return Figures{}, err
		}
		if o.After != nil {
			if err := o.After(); err != nil {
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
func (b *bout) record(rec *railfile.Recorder, actions []rail.Action) error {
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
