// Package batch steps many sectors at once, into arrays.
//
// A [Batch] is a number of environments of one configuration. [Batch.Bind] gives it the arrays of a [Buffers], one row
// an environment, and from then on every [Batch.Reset] and [Batch.Step] writes there what is asked for: observations,
// masks, rewards, endings, figures and state. Environments are stepped in parallel; a row depends on its environment
// alone, so the result is the same for any number of threads. Neither step nor reset allocates.
//
//	b, err := batch.New(flight.DefaultConfig(), 1024, 2, batch.SameStep)
//	err = b.Bind(batch.Buffers{Observations: obs, Rewards: rewards, Terminated: terminated, Truncated: truncated})
//	err = b.Reset(seeds, nil)
//	err = b.Step(actions)
//
// What happens at the end of an episode is one of Gymnasium's three autoreset modes ([Autoreset]).
package batch

import (
	"errors"
	"fmt"

	"skyrail/flight"
	"skyrail/internal/memory"
	"skyrail/internal/workers"
)

// Autoreset says what follows the end of an episode.
type Autoreset int

// The modes, as Gymnasium's AutoresetMode.
const (
	NextStep Autoreset = iota // the next step resets: its action is not looked at, its reward 0, nothing ended
	SameStep                  // the step that ends the episode also resets; the last observation is a final one
	Disabled                  // nothing: whoever steps on keeps flying, until Reset

	modes
)

// MaxEnvs is the largest number of environments in a batch.
const MaxEnvs = 1 << 20

// Batch is a number of environments of one configuration. Its methods must not be called at the same time.
type Batch struct {
	envs    []*flight.Env
	ended   []bool // the episode is over
	mode    Autoreset
	pool    *workers.Pool
	buffers Buffers
	scratch []flight.State // one an environment
	width   struct{ observation, mask, figures, aircraft, aircraftCounts int }

	// The job at hand, for the parts that the pool runs.
	actions []int64
	seeds   []uint64
	seeded  []bool
	which   []bool
	into    Into
	stepOne func(i int)
	reset   func(i int)
	write   func(i int)
}

// New returns n environments of cfg, in which no episode has begun: call [Batch.Reset] first. It keeps so many
// goroutines, 0 as many as Go runs at the same time; Close ends them. The error is a [memory.Error] if there is no room.
func New(cfg flight.Config, n, threads int, mode Autoreset) (*Batch, error) {
	switch {
	case n < 1 || n > MaxEnvs:
		return nil, fmt.Errorf("number of environments is %d, it must be within 1..%d", n, MaxEnvs)
	case threads < 0:
		return nil, fmt.Errorf("threads are %d, they must not be negative", threads)
	case mode < 0 || mode >= modes:
		return nil, fmt.Errorf("autoreset mode is %d, it must be 0 (next step), 1 (same step) or 2 (disabled)", mode)
	}
	first, err := flight.New(cfg)
	if err != nil {
		return nil, err
	}
	if err := fits(first, n); err != nil {
		return nil, err
	}
	envs := make([]*flight.Env, n)
	envs[0] = first
	for i := 1; i < n; i++ {
		envs[i] = first.Clone()
	}
	return of(envs, threads, mode), nil
}

// fits says whether there is room for n copies of an environment and the arrays they write into.
func fits(e *flight.Env, n int) error {
	if n == 1 {
		return nil // it is there already
	}
	return memory.Fits(int64(n) * size(e))
}

func size(e *flight.Env) int64 {
	cfg := e.Config()
	each := memory.Size(e, e.Clone()) - memory.Size(e)
	each += 2 * int64(4*cfg.ObservationLen()+cfg.Actions()+8*(CountColumns+1+2*cfg.Flights)) // and again as final ones
	each += int64(8 * cfg.Flights * (AircraftColumns + AircraftCountColumns))
	return each
}

func of(envs []*flight.Env, threads int, mode Autoreset) *Batch {
	n := len(envs)
	if threads == 0 || threads > n {
		threads = min(n, workers.Threads())
	}
	b := &Batch{envs: envs, ended: make([]bool, n), mode: mode, pool: workers.New(threads),
		scratch: make([]flight.State, n)}
	cfg := b.Config()
	b.width.observation, b.width.mask, b.width.figures = cfg.ObservationLen(), cfg.Actions(), 1+2*cfg.Flights
	b.width.aircraft, b.width.aircraftCounts = cfg.Flights*AircraftColumns, cfg.Flights*AircraftCountColumns
	b.stepOne = func(i int) {
		b.step(i, int(b.actions[i]))
		b.observe(b.into.Observations, i)
		b.tell(b.into.Counts, b.into.Figures, i)
	}
	b.reset = func(i int) {
		if b.which == nil || b.which[i] {
			b.restart(i)
		}
	}
	b.write = b.report
	return b
}

// Close ends the goroutines. A closed batch must not be used again.
func (b *Batch) Close() { b.pool.Close() }

// Len is the number of environments.
func (b *Batch) Len() int { return len(b.envs) }

// Config is that of all environments. After [Batch.SetNRange] it has the new range.
func (b *Batch) Config() flight.Config { return b.envs[0].Config() }

// Env returns an environment. Who changes it calls [Batch.Report], so that the arrays follow.
func (b *Batch) Env(i int) *flight.Env { return b.envs[i] }

// Threads is the number of goroutines that step.
func (b *Batch) Threads() int { return b.pool.Threads() }

// Size is about how many bytes a copy takes, with arrays it is bound to.
func (b *Batch) Size() int64 { return int64(len(b.envs)) * size(b.envs[0]) }

// Clone returns an independent copy: same states, same streams, same future. It has goroutines of its own, and no arrays.
func (b *Batch) Clone() *Batch {
	envs := make([]*flight.Env, len(b.envs))
	for i, e := range b.envs {
		envs[i] = e.Clone()
	}
	c := of(envs, b.pool.Threads(), b.mode)
	copy(c.ended, b.ended)
	return c
}

// Copy returns a copy of environment i, and whether its episode is over.
func (b *Batch) Copy(i int) (e *flight.Env, ended bool, err error) {
	if err := b.Check(i); err != nil {
		return nil, false, err
	}
	return b.envs[i].Clone(), b.ended[i], nil
}

// Put makes environment i equal to e, whose episode is over if ended is true, and writes its row. The configuration
// must be that of the batch, but for the range of converging aircraft. On an error nothing has changed.
func (b *Batch) Put(i int, e *flight.Env, ended bool) error {
	if err := b.Check(i); err != nil {
		return err
	}
	was, is := b.envs[i].Config(), e.Config()
	is.NLo, is.NHi = was.NLo, was.NHi
	if was != is {
		return fmt.Errorf("an environment of %+v for a batch of %+v", is, was)
	}
	b.envs[i].CopyFrom(e)
	b.ended[i] = ended
	b.report(i)
	return nil
}

// Check says whether there is an environment i.
func (b *Batch) Check(i int) error {
	if i < 0 || i >= len(b.envs) {
		return fmt.Errorf("environment %d is outside 0..%d", i, len(b.envs)-1)
	}
	return nil
}

// SetNRange is [flight.Env.SetNRange] for all environments.
func (b *Batch) SetNRange(lo, hi int) error {
	for _, e := range b.envs {
		if err := e.SetNRange(lo, hi); err != nil {
			return err
		}
	}
	return nil
}

// Reset begins an episode in the environments chosen by which, all if it is nil, and writes their rows. Environment i
// is reset with seeds[i]; where seeded is false, or if there are no seeds, it goes on along its own stream. If seeded
// is nil, all are.
func (b *Batch) Reset(seeds []uint64, seeded, which []bool) error {
	for _, a := range []struct {
		name string
		len  int
		none bool
	}{{"seeds", len(seeds), seeds == nil}, {"marks who is seeded", len(seeded), seeded == nil}, {"marks who is reset", len(which), which == nil}} {
		if !a.none && a.len != len(b.envs) {
			return fmt.Errorf("%d %s for %d environments", a.len, a.name, len(b.envs))
		}
	}
	b.seeds, b.seeded, b.which = seeds, seeded, which
	err := b.pool.Do(len(b.envs), b.reset)
	b.seeds, b.seeded, b.which = nil, nil, nil
	return err
}

func (b *Batch) restart(i int) {
	if b.seeds != nil && (b.seeded == nil || b.seeded[i]) {
		b.envs[i].Reset(b.seeds[i])
	} else {
		b.envs[i].ResetNext()
	}
	b.begun(i)
}

// begun writes row i right after a reset.
func (b *Batch) begun(i int) {
	b.ended[i] = false
	b.outcome(i, outcome{})
	b.report(i)
}

// Step gives every environment its action and writes all rows. If an action is outside the action space, the error says
// which, and then nothing has changed.
func (b *Batch) Step(actions []int64) error { return b.StepInto(actions, Into{}) }

// StepInto is Step, and writes these arrays too. If one of them has not the length it needs, nothing has changed.
func (b *Batch) StepInto(actions []int64, to Into) error {
	if err := b.checkInto(to); err != nil {
		return err
	}
	if len(actions) != len(b.envs) {
		return fmt.Errorf("%d actions for %d environments", len(actions), len(b.envs))
	}
	n := b.Config().Actions()
	for i, a := range actions {
		if uint64(a) >= uint64(n) {
			return fmt.Errorf("environment %d: %w", i, &flight.ActionError{Action: int(a), Actions: n})
		}
	}
	b.actions, b.into = actions, to
	err := b.pool.Do(len(b.envs), b.stepOne)
	b.actions, b.into = nil, Into{}
	return err
}

// StepOne steps environment i alone. The error is a [flight.ActionError], and then nothing has changed.
func (b *Batch) StepOne(i, action int) (flight.Status, error) {
	if n := b.Config().Actions(); uint(action) >= uint(n) {
		return flight.Status{}, &flight.ActionError{Action: action, Actions: n}
	}
	return b.step(i, action), nil
}

// step steps an environment by an action of the action space.
func (b *Batch) step(i, action int) flight.Status {
	e := b.envs[i]
	if b.ended[i] && b.mode == NextStep {
		e.ResetNext()
		b.begun(i)
		return flight.Status{}
	}
	before := e.Clearances()
	reward, status, _ := e.Step(action) // the action has been checked
	b.ended[i] = status.Over()
	b.outcome(i, outcome{status, reward, action, e.Clearances() - before})
	if b.ended[i] && b.mode == SameStep {
		b.reportFinal(i)
		e.ResetNext()
		b.ended[i] = false
	}
	b.report(i)
	return status
}

// Report writes all rows but rewards and endings anew.
func (b *Batch) Report() error { return b.pool.Do(len(b.envs), b.write) }

// Ended says of each environment whether its episode is over. It is the batch's own array: do not change it.
func (b *Batch) Ended() []bool { return b.ended }

// Save appends everything that makes environment i what it is to dst; Load reads it.
func (b *Batch) Save(dst []byte, i int) ([]byte, error) {
	if err := b.Check(i); err != nil {
		return nil, err
	}
	over := byte(0)
	if b.ended[i] {
		over = 1
	}
	return b.envs[i].AppendBinary(append(dst, over))
}

// Load makes environment i equal to the one that Save wrote, as Put does. On an error nothing has changed.
func (b *Batch) Load(data []byte, i int) error {
	if len(data) == 0 || data[0] > 1 {
		return errors.New("this is not the state of an environment of a batch")
	}
	var e flight.Env
	if err := e.UnmarshalBinary(data[1:]); err != nil {
		return err
	}
	return b.Put(i, &e, data[0] == 1)
}
