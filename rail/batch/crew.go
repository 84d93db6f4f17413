package batch

import (
	"fmt"

	"skyrail/rail"
	"skyrail/rail/agent"
)

// Crew answers for the environments of a batch by a policy of package agent, one for each environment. It finds out itself
// where an episode begins.
type Crew struct {
	name    string
	seed    uint32
	drivers []driver

	// The job at hand.
	batch *Batch
	into  []int8
	part  func(i int)
}

// driver is the policy of one environment.
type driver struct {
	policy  agent.Policy
	batch   *Batch // that it was reset for
	episode int    // of that, then
	elapsed int    // when it was asked last
	actions []rail.Action
	err     error
}

// NewCrew returns the policies of a name. The seed counts for random alone: environment i has seed+i, which wraps around.
func NewCrew(name string, seed uint32) (*Crew, error) {
	if _, err := agent.New(name, agent.Options{}); err != nil {
		return nil, err
	}
	c := &Crew{name: name, seed: seed}
	c.part = func(i int) { c.drivers[i].err = c.drive(i, c.into[i*c.batch.trains:][:c.batch.trains]) }
	return c, nil
}

// Act writes an action for every train of every environment into actions, E x N; 0 for padding. It should be called in every
// step. One that is called for an environment out of turn begins anew from where that is.
func (c *Crew) Act(b *Batch, actions []int8) error {
	if want := len(b.worlds) * b.trains; len(actions) != want {
		return fmt.Errorf("room for %d actions, want %d", len(actions), want)
	}
	if n := len(b.worlds); len(c.drivers) != n {
		c.drivers = make([]driver, n)
	}
	c.batch, c.into = b, actions
	err := b.pool.Do(len(b.worlds), c.part)
	c.batch, c.into = nil, nil
	for i := range c.drivers {
		if e := c.drivers[i].err; e != nil && err == nil {
			err = b.of(i, e)
		}
		c.drivers[i].err = nil
	}
	return err
}

func (c *Crew) drive(i int, into []int8) error {
	d, w := &c.drivers[i], &c.batch.worlds[i]
	e := w.env
	now := e.Elapsed()
	if d.batch != c.batch || d.episode != w.episode || now != d.elapsed && now != d.elapsed+1 {
		var err error // a fresh policy, as wherever episodes are judged
		if d.policy, err = agent.New(c.name, agent.Options{Seed: c.seed + uint32(i)}); err != nil {
			return err
		}
		if err := d.policy.Reset(e); err != nil {
			return err
		}
		d.batch, d.episode = c.batch, w.episode
		if len(d.actions) != e.Trains() {
			d.actions = make([]rail.Action, e.Trains())
		}
	}
	d.elapsed = now
	if err := d.policy.Act(e, d.actions); err != nil {
		return err
	}
	for k, a := range d.actions {
		into[k] = int8(a)
	}
	pad(into, len(d.actions), 0)
	return nil
}
