package planner

import (
	"skyrail/flight"
	"skyrail/flight/agent"
)

// Planner is an agent that plans an episode when it begins, flies the plan, and makes another if something else was
// flown than it answered. It sees observations only.
type Planner struct {
	pilot
	belief *belief
}

// New returns a Planner for environments of cfg. Cfg must be valid.
func New(cfg flight.Config, b Budget) *Planner {
	return &Planner{pilot{budget: b}, newBelief(cfg)}
}

// Reset makes the next observation the first of an episode.
func (p *Planner) Reset() {
	p.forget()
	p.belief.reset()
}

// Act answers an observation with the plan's next action, legal by the observation's mask.
func (p *Planner) Act(obs []float32) int {
	asExpected := p.belief.see(obs)
	action := p.next(p.belief.env, asExpected)
	if mask := obs[len(obs)-p.belief.env.Config().Actions():]; mask[action] == 0 {
		action = p.refused() // what is believed is wrong, or the mask is
	}
	p.belief.answer(action)
	return action
}

// Oracle plans as a Planner does, but from the true state. It is no honest entry: it tells what the observation costs.
type Oracle struct {
	pilot
	seen     *flight.Env // the true state of now
	expected *flight.Env // what the last answer was to lead to
}

// NewOracle returns an Oracle for environments of cfg. Cfg must be valid.
func NewOracle(cfg flight.Config, b Budget) *Oracle {
	return &Oracle{pilot: pilot{budget: b}, seen: mustNew(cfg), expected: mustNew(cfg)}
}

// Reset makes the next answer the first of an episode.
func (o *Oracle) Reset() { o.forget() }

// See tells the true state of now. It is copied.
func (o *Oracle) See(env *flight.Env) { o.seen.CopyFrom(env) }

// Act answers with the plan's next action from the state that was last seen.
func (o *Oracle) Act([]float32) int {
	action := o.next(o.seen, o.expected.Equal(o.seen))
	o.expected.CopyFrom(o.seen)
	if _, err := o.expected.Advance(action); err != nil {
		panic(err) // plans are made of actions
	}
	return action
}

func mustNew(cfg flight.Config) *flight.Env {
	env, err := flight.New(cfg)
	if err != nil {
		panic(err) // as documented
	}
	return env
}

// pilot follows a plan.
type pilot struct {
	budget Budget
	solver Solver
	plan   Plan
	begun  bool // there is a plan
	first  Plan // of the episode; has no actions before
}

func (p *pilot) forget() {
	p.begun, p.first = false, Plan{}
}

// refused drops a plan whose next action is forbidden, and idles.
func (p *pilot) refused() int {
	p.begun = false
	return flight.Idle
}

// next returns what to do in the state of env, which is as the last answer was to make it, or not.
func (p *pilot) next(env *flight.Env, asExpected bool) int {
	at := env.StepCount() - p.plan.Start
	// A plan that does not reach the end of the episode is followed half the way.
	follow := len(p.plan.Actions)
	if p.plan.Start+follow < env.Config().MaxSteps {
		follow /= 2
	}
	if !p.begun || !asExpected || at < 0 || at >= follow {
		p.plan = p.solver.Solve(env, p.budget)
		at = 0
		if p.first.Actions == nil {
			p.first = p.plan
		}
		p.begun = true
	}
	if at >= len(p.plan.Actions) {
		return flight.Idle // the episode is over
	}
	if !env.Legal(p.plan.Actions[at]) {
		return p.refused() // aircraft off the grid of levels do not fly as planned
	}
	return p.plan.Actions[at]
}

// Plan returns the plan that is being followed; ok is false before the first answer of an episode.
func (p *pilot) Plan() (plan Plan, ok bool) { return p.plan, p.begun }

// Bound returns what no agent can do better than in the episode, by its first plan; ok is false before that, or if it
// is not known.
func (p *pilot) Bound() (b agent.Bound, ok bool) { return p.first.Least, p.first.Known }

var (
	_ agent.Bounded = (*Planner)(nil)
	_ agent.Bounded = (*Oracle)(nil)
	_ agent.Sighted = (*Oracle)(nil)
)
