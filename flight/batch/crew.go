package batch

import (
	"fmt"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/internal/memory"
	"skyrail/internal/workers"
)

// Crew is an agent for each of a number of sectors. Its methods must not be called at the same time.
type Crew struct {
	cfg     flight.Config
	agents  []agent.Agent
	seen    []*flight.Env // copies for agents that are shown the state; nil for others
	scratch []float32
	pool    *workers.Pool

	// The job at hand.
	batch        *Batch
	observations []float32
	actions      []int64
	act          func(i int)
}

// NewCrew returns n agents made by fresh, which answer by so many goroutines, 0 as many as Go runs at the same time.
// Close ends those.
func NewCrew(cfg flight.Config, n, threads int, fresh func() (agent.Agent, error)) (*Crew, error) {
	switch {
	case n < 1 || n > MaxEnvs:
		return nil, fmt.Errorf("number of agents is %d, it must be within 1..%d", n, MaxEnvs)
	case threads < 0:
		return nil, fmt.Errorf("threads are %d, they must not be negative", threads)
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Crew{cfg: cfg, agents: make([]agent.Agent, n), seen: make([]*flight.Env, n), scratch: make([]float32, n*cfg.ObservationLen())}
	for i := range c.agents {
		a, err := fresh()
		if err != nil {
			return nil, err
		}
		c.agents[i] = a
		if i == 1 { // the first two say what the others will take
			each := memory.Size(c.agents[:2]) - memory.Size(c.agents[:1])
			if err := memory.Fits(int64(n) * each); err != nil {
				return nil, err
			}
		}
	}
	if threads == 0 || threads > n {
		threads = min(n, workers.Threads())
	}
	c.pool = workers.New(threads)
	c.act = c.one
	return c, nil
}

// Close ends the goroutines. A closed crew must not be used again.
func (c *Crew) Close() { c.pool.Close() }

// Len is the number of agents.
func (c *Crew) Len() int { return len(c.agents) }

// Config is what the agents fly in.
func (c *Crew) Config() flight.Config { return c.cfg }

// Sighted says whether the agents must be shown the state, so that observations alone will not do.
func (c *Crew) Sighted() bool {
	_, ok := agent.SightedOf(c.agents[0])
	return ok
}

// Act answers the observations, Config.ObservationLen values each, with actions. An observation of step 0 begins an
// episode.
func (c *Crew) Act(observations []float32, actions []int64) error {
	if len(observations) != len(c.scratch) || len(actions) != len(c.agents) {
		return fmt.Errorf("%d values and room for %d actions, %d agents need %d and %d",
			len(observations), len(actions), len(c.agents), len(c.scratch), len(c.agents))
	}
	if c.Sighted() {
		return fmt.Errorf("this agent reads the true state: it needs the environments, not their observations")
	}
	idle := c.cfg.ObservationLen() - c.cfg.Actions() // where the mask begins
	for i := range c.agents {
		if row := row(observations, i, len(c.agents)); row[idle] != 1 {
			return fmt.Errorf("observation %d is none of the sector: value %d is %v, it must be 1, since idling is always legal", i, idle, row[idle])
		}
	}
	c.batch, c.observations, c.actions = nil, observations, actions
	return c.run()
}

// ActIn answers for the environments of a batch as they are now. Where the episode is over it idles.
func (c *Crew) ActIn(b *Batch, actions []int64) error {
	if b.Len() != len(c.agents) || len(actions) != len(c.agents) {
		return fmt.Errorf("%d environments and room for %d actions for %d agents", b.Len(), len(actions), len(c.agents))
	}
	was, is := c.cfg, b.Config()
	is.NLo, is.NHi = was.NLo, was.NHi
	if was != is {
		return fmt.Errorf("environments of %+v for agents of %+v", is, was)
	}
	c.batch, c.observations, c.actions = b, c.scratch, actions
	return c.run()
}

func (c *Crew) run() error {
	err := c.pool.Do(len(c.agents), c.act)
	c.batch, c.observations, c.actions = nil, nil, nil
	return err
}

func (c *Crew) one(i int) {
	a, observation := c.agents[i], row(c.observations, i, len(c.agents))
	if c.batch != nil {
		if c.batch.ended[i] {
			c.actions[i] = flight.Idle
			return
		}
		env := c.batch.envs[i]
		env.Observe(observation)
		if s, ok := agent.SightedOf(a); ok {
			if c.seen[i] == nil {
				c.seen[i] = env.Clone()
			}
			c.seen[i].CopyFrom(env)
			s.See(c.seen[i])
		}
	}
	if steps := flight.Features * c.cfg.Flights; observation[steps] == -1 { // the feature of the steps flown
		a.Reset()
	}
	c.actions[i] = int64(a.Act(observation))
}
