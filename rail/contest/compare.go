package contest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"skyrail/rail"
	"skyrail/rail/agent"
)

// Suite is a set of scenarios like those of a competition, for judging policies at home.
type Suite struct {
	// Levels are the places of the levels to be run, from 0 and ascending. nil: all.
	Levels []int
	// Open returns a fresh environment of a scenario: the places of its level and, in it, its own, both from 0. It is called
	// by several goroutines at once.
	Open func(level, scenario int) (*rail.Env, error)
	// Done, if not nil, is called after each episode, by several goroutines at once.
	Done func(level, scenario int)
}

// ErrNoLimit is that an episode need not end, and its reward cannot be normalised.
var ErrNoLimit = errors.New("the environment has no limit of steps")

// Run plays a policy in the scenarios of a suite, with the rewards of the competition and whatever the gate would say, jobs
// episodes at a time and each with a fresh policy. It returns the outcomes as Score takes them: by level and scenario, those
// of levels that were not run are missing. Their Seconds are 0: no limit of time is in them, so that they are the same
// on every machine and for every number of jobs.
//
// An error is that of the first scenario that has one; those before it are run all the same. An environment without trains
// is [ErrNoTrains], one without limit [ErrNoLimit]. A cancelled context ends the run with the context's error.
func (c *Competition) Run(ctx context.Context, s Suite, jobs int, fresh func() (agent.Policy, error)) ([][]Outcome, error) {
	rewards, err := rail.RewardsByName(c.Rewards)
	if err == nil && rewards.Kind == rail.PunctualityReward {
		err = fmt.Errorf("%s has no normalised reward", c.Rewards)
	}
	if err != nil {
		return nil, fmt.Errorf("rewards: %w", err)
	}
	outcomes := make([][]Outcome, len(c.Levels))
	type place struct{ level, scenario int }
	var all []place
	for l, level := range c.Levels {
		outcomes[l] = slices.Repeat([]Outcome{{Missing: true}}, len(level.Trains))
		for k := range level.Trains {
			if s.Levels == nil || slices.Contains(s.Levels, l) {
				all = append(all, place{l, k})
			}
		}
	}
	errs := make([]error, len(all))
	var failed atomic.Int64 // one of those with an error; none behind it is begun
	failed.Store(int64(len(all)))
	var g errgroup.Group
	g.SetLimit(max(jobs, 1))
	for i, p := range all {
		g.Go(func() error {
			if int64(i) > failed.Load() {
				return nil
			}
			figures, err := s.play(ctx, p.level, p.scenario, rewards, fresh)
			if err != nil {
				errs[i] = fmt.Errorf("%s: %w", c.Levels[p.level].Scenarios()[p.scenario], err)
				failed.Store(int64(i))
				return nil
			}
			outcomes[p.level][p.scenario] = Outcome{Figures: figures}
			if s.Done != nil {
				s.Done(p.level, p.scenario)
			}
			return nil
		})
	}
	_ = g.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

// play runs one episode.
func (s Suite) play(
	ctx context.Context, level, scenario int, rewards rail.Rewards, fresh func() (agent.Policy, error),
) (Figures, error) {
	p, err := fresh()
	if err != nil {
		return Figures{}, err
	}
	e, err := s.Open(level, scenario)
	switch {
	case err != nil:
		return Figures{}, err
	case e.MaxEpisodeSteps() == 0:
		return Figures{}, ErrNoLimit
	}
	return Play(ctx, e, p, PlayOptions{Rewards: rewards})
}

// Appraisal is what a policy came to on a suite.
type Appraisal struct {
	NormalizedReward float64  `json:"normalized_reward"` // the sum over all levels that were run, behind the gate too
	SuccessRate      *float64 `json:"success_rate"`      // the mean of these levels, null if there is none
	// Levels are those that were run, behind the gate too. What the gate says of each is about that level alone.
	Levels []LevelScore `json:"levels"`
	// Components are summed over these levels.
	Components Components `json:"components"`
	// Composition is the share of each component, null if there was no penalty.
	Composition *Components `json:"composition"`
	// Official is the score by the rules of the competition, up to the gate. nil: not all levels were run, so that there is
	// none.
	Official *SubmissionScore `json:"-"`
}

// Appraise adds up the outcomes of a Run. Levels that are not complete are left out.
func (c *Competition) Appraise(outcomes [][]Outcome) Appraisal {
	var s SubmissionScore
	a := Appraisal{Levels: []LevelScore{}}
	for l := range c.Levels {
		if level, ok := c.complete(l, outcomes); ok {
			level.judge(c.Gate)
			s.add(level)
			a.Levels = append(a.Levels, level)
			for k, v := range level.Components {
				a.Components[k] += v
			}
		}
	}
	s.mean()
	a.NormalizedReward, a.SuccessRate = s.NormalizedReward, s.SuccessRate
	a.Composition = Composition(a.Components)
	if len(a.Levels) == len(c.Levels) {
		official := c.Score(outcomes)
		a.Official = &official
	}
	return a
}

// complete adds up a level; ok is false if one of its scenarios does not count.
func (c *Competition) complete(l int, outcomes [][]Outcome) (level LevelScore, ok bool) {
	level = LevelScore{Name: c.Levels[l].Name, Scenarios: len(c.Levels[l].Trains)}
	if l >= len(outcomes) || len(outcomes[l]) < level.Scenarios {
		return level, false
	}
	for k, o := range outcomes[l][:level.Scenarios] {
		if c.stop(l, k, o, 0) != nil {
			return level, false
		}
		level.add(o.Figures)
	}
	return level, true
}

// OtherTrains tells which scenarios that were run are not those of the competition by their number of trains.
func (a Appraisal) OtherTrains(c *Competition) []OtherTrains {
	// A level that was not run is one without results.
	s := SubmissionScore{Levels: make([]LevelScore, len(c.Levels))}
	for l, level := range c.Levels {
		if k := slices.IndexFunc(a.Levels, func(run LevelScore) bool { return run.Name == level.Name }); k >= 0 {
			s.Levels[l] = a.Levels[k]
		}
	}
	return c.OtherTrains(s)
}
