package contest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"skyrail/flight"
	"skyrail/flight/agent"
)

// Episode is what one flown episode is judged by. The names in JSON are the reference's.
type Episode struct {
	Seed        uint64  `json:"seed"`
	Steps       int     `json:"steps"`
	Completed   bool    `json:"completed"`         // reached the horizon; a mid-air or a spent budget exactly there is no failure
	Congestion  int     `json:"congestion"`        // pairs too close, summed over the steps
	ExitMiss    float64 `json:"exit_miss"`         // at the last step, mean over the aircraft
	Clearances  int     `json:"clearances"`        //
	Touched     int     `json:"aircraft_involved"` // aircraft that were given a clearance
	Invalids    int     `json:"invalids"`          // actions that the mask forbade
	MaxExitMiss float64 `json:"max_exit_miss"`     // the worst single aircraft's miss
	Actions     []int   `json:"actions,omitempty"` // as answered, one a step

	Bound *agent.Bound `json:"bound,omitempty"` // what no agent can do better than, if the agent is an agent.Bounded and knows
}

// MomentError is what went wrong in an episode, and when.
type MomentError struct {
	Seed uint64
	Step int
	Err  error
}

func (e *MomentError) Error() string {
	return fmt.Sprintf("seed %d step %d: %v", e.Seed, e.Step, e.Err)
}

// Unwrap returns what went wrong.
func (e *MomentError) Unwrap() error { return e.Err }

// Play resets env to seed and flies the agent to the end of the episode. The error is a MomentError of a
// flight.ActionError, for an agent that answers outside the action space, or of what an agent.Remote failed with; the
// Episode then has the actions that were flown. An agent.Sighted is shown the state before each answer, and an
// agent.Bounded asked for its bound after the first.
func Play(env *flight.Env, a agent.Agent, seed uint64) (Episode, error) {
	env.Reset(seed)
	a.Reset()
	remote, isRemote := agent.RemoteOf(a)
	if isRemote {
		remote.Start(seed)
	}
	show := showing(a, env)
	var bound *agent.Bound
	obs := make([]float32, env.Config().ObservationLen())
	ep, err := fly(env, seed, func() (int, error) {
		env.Observe(obs)
		show()
		action := a.Act(obs)
		if env.StepCount() == 0 {
			bound = boundOf(a)
		}
		if isRemote {
			if err := remote.Err(); err != nil {
				return 0, err
			}
			remote.Flown(action)
		}
		return action, nil
	})
	ep.Bound = bound
	return ep, err
}

// showing returns what shows a the state of env, if it is an agent.Sighted. It is shown a copy, so that nothing it does
// with it reaches env.
func showing(a agent.Agent, env *flight.Env) func() {
	sighted, ok := agent.SightedOf(a)
	if !ok {
		return func() {}
	}
	shown := env.Clone()
	return func() {
		shown.CopyFrom(env)
		sighted.See(shown)
	}
}

// boundOf returns the bound that a knows of the episode it has just begun, nil if it knows none.
func boundOf(a agent.Agent) *agent.Bound {
	if bounded, ok := agent.BoundedOf(a); ok {
		if b, ok := bounded.Bound(); ok {
			return &b
		}
	}
	return nil
}

// Replay resets env to seed and flies recorded actions; when they run out it idles.
func Replay(env *flight.Env, actions []int, seed uint64) (Episode, error) {
	env.Reset(seed)
	return replay(env, actions, seed)
}

func replay(env *flight.Env, actions []int, seed uint64) (Episode, error) {
	return fly(env, seed, func() (int, error) {
		if i := env.StepCount(); i < len(actions) {
			return actions[i], nil
		}
		return flight.Idle, nil
	})
}

// fly flies env, which stands at step 0, to the end of the episode.
func fly(env *flight.Env, seed uint64, next func() (int, error)) (Episode, error) {
	ep := Episode{Seed: seed, Actions: make([]int, 0, env.Config().MaxSteps)}
	var status flight.Status
	for !status.Over() {
		action, err := next()
		if err == nil {
			status, err = env.Advance(action)
		}
		if err != nil {
			return ep, &MomentError{seed, env.StepCount(), err}
		}
		ep.Actions = append(ep.Actions, action)
	}
	var info flight.Info
	env.Info(&info)
	ep.Steps = env.StepCount()
	ep.Completed = ep.Steps >= env.Config().MaxSteps
	ep.Congestion, ep.ExitMiss = info.CongestionTotal, info.ExitMiss
	ep.Clearances, ep.Touched, ep.Invalids = info.Clearances, info.AircraftInvolved, info.Invalids
	ep.MaxExitMiss = env.MaxExitMiss()
	return ep, nil
}

// Run flies every seed, with one fresh agent a worker, and returns the episodes in the order of the
// seeds. flown, if not nil, is called after each episode, by several goroutines at once. Run ends early with
// ctx's error when ctx is cancelled.
func Run(ctx context.Context, cfg flight.Config, seeds []uint64, workers int, fresh func() (agent.Agent, error), flown func()) ([]Episode, error) {
	return each(ctx, cfg, seeds, workers, flown, func() (player, error) {
		a, err := fresh()
		if err != nil {
			return player{}, err
		}
		return player{func(env *flight.Env, seed uint64) (Episode, error) { return Play(env, a, seed) }, ending(a)}, nil
	})
}

// RunThrough flies every seed, one after the other with one agent, and goes on after a failure of an agent.Remote:
// the sector is idled from there to the end of the episode, and a fresh agent flies the next. A failure of fresh, or one
// that is hopeless, ends it.
func RunThrough(ctx context.Context, cfg flight.Config, seeds []uint64, fresh func() (agent.Agent, error), hopeless func(error) bool, flown func()) (episodes []Episode, failures []*MomentError, err error) {
	env, err := flight.New(cfg)
	if err != nil {
		return nil, nil, err
	}
	var a agent.Agent
	defer func() { err = errors.Join(err, ending(a)()) }()
	for _, seed := range seeds {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if a == nil {
			if a, err = fresh(); err != nil {
				return nil, nil, err
			}
		}
		ep, fault := Play(env, a, seed)
		if fault != nil {
			var failure *MomentError
			if !errors.As(fault, &failure) || hopeless(fault) {
				return nil, nil, fault
			}
			failures = append(failures, failure)
			if err := ending(a)(); err != nil {
				return nil, nil, err
			}
			a = nil
			if ep, err = Replay(env, ep.Actions, seed); err != nil {
				return nil, nil, err
			}
		}
		episodes = append(episodes, ep)
		if flown != nil {
			flown()
		}
	}
	return episodes, failures, nil
}

// ReplayAll scores a trace: every seed of the list, in its order, idle where the trace has no action.
func ReplayAll(ctx context.Context, cfg flight.Config, seeds []uint64, workers int, trace Trace, flown func()) ([]Episode, error) {
	return each(ctx, cfg, seeds, workers, flown, func() (player, error) {
		return player{func(env *flight.Env, seed uint64) (Episode, error) {
			return Replay(env, trace.Actions(seed), seed)
		}, func() error { return nil }}, nil
	})
}

// player flies episodes one after the other, until it is ended.
type player struct {
	play func(env *flight.Env, seed uint64) (Episode, error)
	end  func() error
}

// ending returns what ends an agent: the process of a Remote.
func ending(a agent.Agent) func() error {
	if remote, ok := agent.RemoteOf(a); ok {
		return remote.Close
	}
	return func() error { return nil }
}

// each runs one episode a seed on up to workers goroutines, each with its own environment and its own player.
// The seeds are dealt out by turns, so that which worker flies which is not a matter of timing.
func each(ctx context.Context, cfg flight.Config, seeds []uint64, workers int, flown func(),
	fresh func() (player, error)) ([]Episode, error) {

	episodes, faults := make([]Episode, len(seeds)), make([]error, len(seeds))
	workers = min(max(workers, 1), max(len(seeds), 1))
	// The first fault in the order of the seeds is the one told: those before it are still flown, those after are
	// not.
	var first atomic.Int64
	first.Store(int64(len(seeds)))
	group, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		group.Go(func() (err error) {
			env, err := flight.New(cfg)
			if err != nil {
				return err
			}
			p, err := fresh()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.end()) }()
			for i := w; i < len(seeds) && int64(i) < first.Load(); i += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				if episodes[i], faults[i] = p.play(env, seeds[i]); faults[i] != nil {
					for was := first.Load(); int64(i) < was && !first.CompareAndSwap(was, int64(i)); was = first.Load() {
					}
					return nil
				}
				if flown != nil {
					flown()
				}
			}
			return nil
		})
	}
	err := group.Wait()
	if i := int(first.Load()); i < len(seeds) {
		err = errors.Join(faults[i], err)
	}
	if err != nil {
		return nil, err
	}
	return episodes, nil
}
