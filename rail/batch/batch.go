// Package batch steps many railways at once, into arrays.
//
// A [Batch] is a number of environments, each from a [Source]: a file, parameters of the generators or a suite. They may
// differ in everything; rows are as long as the largest needs, and what is beyond an environment's own trains is padding.
// [Batch.Bind] gives the batch the arrays of a [Buffers], and from then on every [Batch.Reset] and [Batch.Step] writes
// there what is asked for, and works out nothing else: rewards, endings, state, masks, observations. Environments are
// stepped in parallel; a row depends on its environment alone, so the result is the same for any number of threads. A
// step does not allocate, but at the end of an episode.
//
//	source, err := batch.FromFile(data)
//	b, err := batch.New(slices.Repeat([]*batch.Source{source}, 64), batch.Options{Rewards: rail.DefaultRewards()})
//	err = b.Bind(batch.Buffers{Rewards: rewards, AllDone: over, Now: batch.Arrays{State: states}})
//	err = b.Reset(seeds, nil, nil)
//	err = b.Step(actions)
//
// What happens at the end of an episode is one of Gymnasium's three autoreset modes ([Autoreset]).
package batch

import (
	"errors"
	"fmt"

	"skyrail/internal/memory"
	"skyrail/internal/workers"
	"skyrail/rail"
)

// Autoreset says what follows the end of an episode. A step that cannot reset an environment, as no railway comes of its
// stream, leaves it at its end and is no error itself, so that nobody loses what came of it. The steps after it are, in which
// nothing moves, until Reset.
type Autoreset int

// The modes, as Gymnasium's AutoresetMode.
const (
	NextStep Autoreset = iota // the next step resets: its actions are not looked at, its rewards 0, nothing ended
	SameStep                  // the step that ends the episode also resets; what was is final
	Disabled                  // nothing: another step is an error, until Reset

	modes
)

// MaxEnvs is the largest number of environments in a batch.
const MaxEnvs = 1 << 20

// Options are what all environments of a batch have in common.
type Options struct {
	Rewards   rail.Rewards // what is computed
	Threads   int          // that step; 0: as many as Go runs at the same time
	Autoreset Autoreset
	// Fresh begins every episode as the source was at first: effects, speeds and the bookkeeping of rewards too. Then an
	// episode is a function of its seed, and one without a seed is another only by its random numbers. Otherwise resets are
	// the reference's, in which these go on.
	Fresh bool
	// Leave does not observe trains any more that were done before the step: their rows stay as they are. The punctuality of a
	// train is rewarded in the step in which it arrives, instead of the last.
	Leave bool
}

func (o *Options) check(n int) error {
	switch {
	case n < 1 || n > MaxEnvs:
		return fmt.Errorf("number of environments is %d, it must be within 1..%d", n, MaxEnvs)
	case o.Threads < 0:
		return fmt.Errorf("threads are %d, they must not be negative", o.Threads)
	case o.Autoreset < 0 || o.Autoreset >= modes:
		return fmt.Errorf("autoreset mode is %d, it must be 0 (next step), 1 (same step) or 2 (disabled)", o.Autoreset)
	}
	return nil
}

// Batch is a number of environments. Its methods must not be called at the same time.
type Batch struct {
	worlds  []world
	trains  int // of the largest
	options Options
	pool    *workers.Pool
	buffers Buffers

	// The job at hand, for the parts that the pool runs.
	bytes   []int8
	words   []int64
	seeds   []uint64
	seeded  []bool
	which   []bool
	stepOne func(i int)
	reset   func(i int)
	write   func(i int)
}

// world is an environment with what belongs to it.
type world struct {
	env     *rail.Env
	source  *Source
	live    []int32 // the trains that are not done, by handle
	alive   []bool  // of each train whether it is one of them
	ended   bool    // the episode is over
	begun   bool    // it may be stepped
	why     error   // if not: why the step before could not begin another episode; nil: none has begun
	episode int     // counts what the environment has been, so that others notice a change
	err     error   // of the job at hand
	actions []rail.Action

	trees     *rail.TreeObserver
	tree      []float64
	deadlocks []bool
	network   *rail.Network // whose transitions are in the global observations
}

// New returns a batch with an environment for each source; one source may be there several times. The environments are as
// their sources have them, and may be stepped if those may. It keeps goroutines; Close ends them. The error is a
// [memory.Error] if there is no room for them.
func New(sources []*Source, o Options) (*Batch, error) {
	if err := o.check(len(sources)); err != nil {
		return nil, err
	}
	if err := fits(sources); err != nil {
		return nil, err
	}
	worlds := make([]world, len(sources))
	for i, s := range sources {
		worlds[i] = world{env: s.first.Clone(), source: s, begun: s.begun}
		worlds[i].env.SetRewards(o.Rewards)
	}
	return of(worlds, o), nil
}

// fits says whether there is room for an environment of each source.
func fits(sources []*Source) error {
	if len(sources) == 1 {
		return nil // it is there already
	}
	each, total := sizes{}, int64(0)
	for _, s := range sources {
		total += each.of(s, s.first)
	}
	return memory.Fits(total)
}

// sizes is about how many bytes one more environment of a source takes.
type sizes map[*Source]int64

func (all sizes) of(s *Source, e *rail.Env) int64 {
	size, known := all[s]
	if !known {
		size = memory.Size(e)
		if s.parameters == nil { // what copies share stays shared; what is generated is soon each one's own
			size = memory.Size(e, e.Clone()) - size
		}
		all[s] = size
	}
	return size
}

func of(worlds []world, o Options) *Batch {
	n := len(worlds)
	if o.Threads == 0 || o.Threads > n {
		o.Threads = min(n, workers.Threads())
	}
	b := &Batch{worlds: worlds, options: o, pool: workers.New(o.Threads)}
	for i := range worlds {
		w := &worlds[i]
		b.trains = max(b.trains, w.env.Trains())
		w.actions, w.alive = make([]rail.Action, w.env.Trains()), make([]bool, w.env.Trains())
		w.ended = w.env.AllDone() && w.why == nil
		w.countLive()
	}
	b.stepOne = func(i int) {
		w := &b.worlds[i]
		if b.bytes != nil {
			take(w.actions, b.bytes[i*b.trains:])
		} else {
			take(w.actions, b.words[i*b.trains:])
		}
		w.err = b.step(i)
	}
	b.reset = func(i int) {
		if b.which == nil || b.which[i] {
			var seed *uint64
			if b.seeds != nil && (b.seeded == nil || b.seeded[i]) {
				seed = &b.seeds[i]
			}
			b.worlds[i].err = b.restart(i, seed)
		}
	}
	b.write = b.report
	return b
}

func take[T int8 | int64](actions []rail.Action, from []T) {
	for k := range actions {
		actions[k] = rail.Action(from[k])
	}
}

// countLive finds the trains that are not done.
func (w *world) countLive() {
	w.live = w.live[:0]
	for k := range w.alive {
		if w.alive[k] = !w.env.Done(k); w.alive[k] {
			w.live = append(w.live, int32(k))
		}
	}
}

// Close ends the goroutines. A closed batch must not be used again.
func (b *Batch) Close() { b.pool.Close() }

// Len is the number of environments.
func (b *Batch) Len() int { return len(b.worlds) }

// Trains is the number of trains in the largest environment.
func (b *Batch) Trains() int { return b.trains }

// Options are those it was made with; Threads is how many there are.
func (b *Batch) Options() Options { return b.options }

// Env returns an environment. Who changes it calls [Batch.Report], so that the arrays follow.
func (b *Batch) Env(i int) *rail.Env { return b.worlds[i].env }

// Source is where environment i comes from.
func (b *Batch) Source(i int) *Source { return b.worlds[i].source }

// Live are the trains of environment i that are not done, by handle. It is the batch's own list: do not change it.
func (b *Batch) Live(i int) []int32 { return b.worlds[i].live }

// Size is about how many bytes a copy takes, for who makes some. To find out takes longer than to copy one environment.
func (b *Batch) Size() int64 {
	each, total := sizes{}, int64(0)
	for i := range b.worlds {
		total += each.of(b.worlds[i].source, b.worlds[i].env)
	}
	return total
}

// Clone returns an independent copy: same states, same streams, same future. It has goroutines of its own, and no arrays.
func (b *Batch) Clone() *Batch { return join([]*Batch{b}, b.options) }

// Join returns a batch of copies of all environments of some batches, in the order of these.
func Join(batches []*Batch, o Options) (*Batch, error) {
	n := 0
	for _, b := range batches {
		n += len(b.worlds)
	}
	if err := o.check(n); err != nil {
		return nil, err
	}
	return join(batches, o), nil
}

func join(batches []*Batch, o Options) *Batch {
	var worlds []world
	for _, b := range batches {
		for i := range b.worlds {
			w := &b.worlds[i]
			c := world{env: w.env.Clone(), source: w.source, begun: w.begun, why: w.why}
			if f := c.env.RewardFunctions(); len(f) != 1 || f[0] != o.Rewards {
				c.env.SetRewards(o.Rewards)
			}
			worlds = append(worlds, c)
		}
	}
	return of(worlds, o)
}

// Put makes environment i equal to e, and writes its row. It must have as many trains as the one before.
func (b *Batch) Put(i int, e *rail.Env) error {
	if err := b.Check(i); err != nil {
		return err
	}
	w := &b.worlds[i]
	if was, is := w.env.Trains(), e.Trains(); was != is {
		return fmt.Errorf("an environment of %d trains for one of %d", is, was)
	}
	if b.buffers.global() && !sameSize(e, w.env) {
		return fmt.Errorf("an environment of %d rows and %d columns for one of %d and %d, whose global observations have another length",
			e.Network().Height(), e.Network().Width(), w.env.Network().Height(), w.env.Network().Width())
	}
	w.env.CopyFrom(e)
	w.begun, w.why = true, nil
	w.episode++
	if f := w.env.RewardFunctions(); len(f) != 1 || f[0] != b.options.Rewards {
		w.env.SetRewards(b.options.Rewards)
	}
	w.ended = w.env.AllDone()
	w.countLive()
	b.began(i)
	b.report(i)
	return nil
}

func sameSize(a, b *rail.Env) bool {
	return a.Network().Width() == b.Network().Width() && a.Network().Height() == b.Network().Height()
}

// Check says whether there is an environment i.
func (b *Batch) Check(i int) error {
	if i < 0 || i >= len(b.worlds) {
		return fmt.Errorf("environment %d is outside 0..%d", i, len(b.worlds)-1)
	}
	return nil
}

// Reset begins an episode in the environments chosen by which, all if it is nil, and writes their rows. Environment i
// is reset with seeds[i]; where seeded is false, or if there are no seeds, its stream goes on. If seeded is nil, all are
// seeded. The error is that of the first environment that has one, which keeps the episode it had; the others are reset. If
// no railway could be made, another Reset without a seed tries the next one along the stream.
func (b *Batch) Reset(seeds []uint64, seeded, which []bool) error {
	for _, a := range []struct {
		name string
		len  int
		none bool
	}{{"seeds", len(seeds), seeds == nil}, {"marks who is seeded", len(seeded), seeded == nil}, {"marks who is reset", len(which), which == nil}} {
		if !a.none && a.len != len(b.worlds) {
			return fmt.Errorf("%d %s for %d environments", a.len, a.name, len(b.worlds))
		}
	}
	b.seeds, b.seeded, b.which = seeds, seeded, which
	err := b.do(b.reset)
	b.seeds, b.seeded, b.which = nil, nil, nil
	return err
}

// do runs a part for every environment, and returns the first error of one.
func (b *Batch) do(part func(i int)) error {
	if err := b.pool.Do(len(b.worlds), part); err != nil {
		return err
	}
	var first error
	for i := range b.worlds {
		w := &b.worlds[i]
		if w.err != nil && first == nil {
			first = b.of(i, w.err)
		}
		w.err = nil
	}
	return first
}

// of says which environment an error is of, if there are several.
func (b *Batch) of(i int, err error) error {
	if len(b.worlds) == 1 {
		return err
	}
	return fmt.Errorf("environment %d: %w", i, err)
}

// restart begins an episode and writes row i.
func (b *Batch) restart(i int, seed *uint64) error {
	w := &b.worlds[i]
	e, err := w.source.again(w.env, seed, b.options.Fresh)
	if err != nil {
		return err
	}
	w.env = e
	w.begun, w.why, w.ended = true, nil, false
	w.episode++
	w.countLive()
	b.began(i)
	b.report(i)
	return nil
}

// ActionError is an action that there is not.
type ActionError struct {
	Train  int
	Action int64
}

func (e *ActionError) Error() string {
	return fmt.Sprintf("train %d: action %d is outside 0..%d", e.Train, e.Action, rail.Actions-1)
}

// ErrNotBegun is the error of a step before the first reset of an environment that needs one.
var ErrNotBegun = errors.New("no episode has begun: reset first")

// Step gives every train its action, E x N of them, and writes all rows. Those of padding and of trains that are done are
// not looked at. If another is not an action, the error says which; it is an error too if an environment needs a reset,
// could not be reset by the step before, or is over and the mode is Disabled. Then nothing has changed. Another error is the
// first one of [rail.Env.Step]; the other environments are stepped, and that one has to be reset.
func (b *Batch) Step(actions []int8) error {
	if err := ready(b, actions); err != nil {
		return err
	}
	b.bytes = actions
	err := b.do(b.stepOne)
	b.bytes = nil
	return err
}

// StepWords is Step for actions of 64 bits.
func (b *Batch) StepWords(actions []int64) error {
	if err := ready(b, actions); err != nil {
		return err
	}
	b.words = actions
	err := b.do(b.stepOne)
	b.words = nil
	return err
}

// ready says why a step cannot be made.
func ready[T int8 | int64](b *Batch, actions []T) error {
	if len(actions) != len(b.worlds)*b.trains {
		return fmt.Errorf("%d actions for %d environments of %d trains", len(actions), len(b.worlds), b.trains)
	}
	for i := range b.worlds {
		w := &b.worlds[i]
		if w.ended && b.options.Autoreset == NextStep {
			continue
		}
		if err := b.standing(i); err != nil {
			return err
		}
		row := actions[i*b.trains:][:b.trains]
		for _, k := range w.live {
			if a := row[k]; a < 0 || int(a) >= rail.Actions {
				return b.of(i, &ActionError{int(k), int64(a)})
			}
		}
	}
	return nil
}

func (b *Batch) standing(i int) error {
	switch w := &b.worlds[i]; {
	case !w.begun && w.why != nil:
		return b.of(i, w.why)
	case !w.begun:
		return b.of(i, ErrNotBegun)
	case w.ended && b.options.Autoreset != NextStep:
		return b.of(i, rail.ErrDone)
	}
	return nil
}

// Outcome is what a step came to, as bits.
type Outcome int32

// What a step may come to.
const (
	Rewarded Outcome = 1 << iota // a reward is not 0
	Left                         // trains are done that were not before
	Over                         // the episode is over
)

// StepLive steps environment i alone, by an action for each of the trains that [Batch.Live] lists.
func (b *Batch) StepLive(i int, actions []byte) (Outcome, error) {
	w := &b.worlds[i]
	if !(w.ended && b.options.Autoreset == NextStep) {
		if err := b.standing(i); err != nil {
			return 0, err
		}
		if len(actions) != len(w.live) {
			return 0, fmt.Errorf("%d actions for %d trains that are not done", len(actions), len(w.live))
		}
		for k, train := range w.live {
			a := actions[k]
			if int(a) >= rail.Actions {
				return 0, &ActionError{int(train), int64(int8(a))}
			}
			w.actions[train] = rail.Action(a)
		}
	}
	before := len(w.live)
	if err := b.step(i); err != nil {
		return 0, err
	}
	var o Outcome
	for _, r := range w.env.Rewards(0) {
		if r != 0 {
			o = Rewarded
			break
		}
	}
	if len(w.live) != before {
		o |= Left
		if b.settles() {
			o |= Rewarded
		}
	}
	if w.ended {
		o |= Over
	}
	return o, nil
}

// step steps an environment by the actions it has taken.
func (b *Batch) step(i int) error {
	w := &b.worlds[i]
	if w.ended && b.options.Autoreset == NextStep {
		if err := b.restart(i, nil); err != nil {
			b.stuck(i, err)
			b.nothing(i)
		}
		return nil
	}
	if err := w.env.Step(w.actions); err != nil {
		w.begun = false
		return err
	}
	b.outcome(i)
	if w.env.AllDone() {
		w.ended = true
		if b.options.Autoreset == SameStep {
			b.reportTo(&b.buffers.Final, i)
			b.restartSame(i)
			return nil
		}
	}
	b.report(i)
	b.leave(i)
	return nil
}

// restartSame resets within a step, which has written its outcome.
func (b *Batch) restartSame(i int) {
	w := &b.worlds[i]
	e, err := w.source.again(w.env, nil, b.options.Fresh)
	if err != nil {
		b.stuck(i, err)
		return
	}
	w.env, w.ended = e, false
	w.episode++
	w.countLive()
	b.report(i)
}

// stuck leaves an environment that a step could not reset at its end.
func (b *Batch) stuck(i int, err error) {
	w := &b.worlds[i]
	w.begun, w.ended = false, false
	w.why = fmt.Errorf("%w; it stands at its end until it is reset", err)
	w.countLive()
	b.report(i)
}

// leave takes the trains that are done off the list of the others.
func (b *Batch) leave(i int) {
	w := &b.worlds[i]
	n := 0
	for _, k := range w.live {
		if w.env.Done(int(k)) {
			w.alive[k] = false
			if b.settles() && b.buffers.Rewards != nil {
				r := row(i, len(b.worlds), b.buffers.Rewards)[2*k:]
				onTime, stops := w.env.Punctuality(int(k))
				r[0], r[1] = float64(onTime), float64(stops)
			}
			continue
		}
		w.live[n] = k
		n++
	}
	w.live = w.live[:n]
}

// settles says whether trains that leave are paid what others get at the end.
func (b *Batch) settles() bool {
	return b.options.Leave && b.options.Rewards.Kind == rail.PunctualityReward
}

// Report writes all rows but rewards and endings anew.
func (b *Batch) Report() error { return b.do(b.write) }

// Save appends everything that makes environment i what it is to dst; [FromFile] and Load read it.
func (b *Batch) Save(dst []byte, i int) ([]byte, error) {
	if err := b.Check(i); err != nil {
		return nil, err
	}
	return b.worlds[i].env.AppendBinary(dst)
}

// Load makes environment i equal to the one that Save wrote, as Put does. On an error nothing has changed.
func (b *Batch) Load(data []byte, i int) error {
	var e rail.Env
	if err := e.UnmarshalBinary(data); err != nil {
		return err
	}
	return b.Put(i, &e)
}
