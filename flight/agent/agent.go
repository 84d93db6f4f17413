package agent

import (
	"fmt"
	"strings"

	"skyrail/flight"
)

// Agent gives one action a step. It is used by one episode at a time.
type Agent interface {
	// Reset tells that an episode begins.
	Reset()
	// Act answers an observation (flight.Config.ObservationLen float32 values, the mask at the end) with an
	// action index. It must not keep or change obs.
	Act(obs []float32) int
}

// Distribution is an Agent that can say how probable each of its actions is. Act is then the most probable
// one, the first on ties.
type Distribution interface {
	Agent
	// Probabilities writes the probability of every action into p, flight.Config.Actions values that add up
	// to 1. It must not change what Act answers later.
	Probabilities(obs []float32, p []float64)
}

// Remote is an Agent that lives elsewhere, in a process of its own, where it may observe an environment of its
// own and may fail. It is told what an Agent need not know.
type Remote interface {
	Agent
	// Start tells that the episode of a seed begins, after Reset.
	Start(seed uint64)
	// Flown tells the action that was flown in answer to the last observation, which another may have replaced.
	Flown(action int)
	// Err says why the last answer is none, nil if it is one.
	Err() error
	// Close ends the process.
	Close() error
}

// Sighted is an Agent that is shown the true state, of which an honest entry sees the observation only.
type Sighted interface {
	Agent
	// See shows the state that the next observation is of: a copy, to be flown at will until the next call.
	See(env *flight.Env)
}

// Bounded is an Agent that knows what no agent can do better than.
type Bounded interface {
	Agent
	// Bound tells it of the episode whose first observation has been answered; ok is false if it is not known.
	Bound() (b Bound, ok bool)
}

// Bound is what no agent can do better than in an episode, whatever it sees. It need not be within reach.
type Bound struct {
	Congestion int `json:"congestion"` // none has less
	Clearances int `json:"clearances"` // with that congestion, and an exit miss that the ranking does not see, none gives fewer
}

// Wrapper is an Agent made of another one.
type Wrapper interface{ Unwrap() Agent }

// RemoteOf returns the Remote that a is, or is made of; ok is false if there is none.
func RemoteOf(a Agent) (r Remote, ok bool) { return find[Remote](a) }

// SightedOf returns the Sighted that a is, or is made of; ok is false if there is none.
func SightedOf(a Agent) (s Sighted, ok bool) { return find[Sighted](a) }

// BoundedOf returns the Bounded that a is, or is made of; ok is false if there is none.
func BoundedOf(a Agent) (b Bounded, ok bool) { return find[Bounded](a) }

// find returns the first T among a and what it is made of.
func find[T Agent](a Agent) (t T, ok bool) {
	for {
		if t, ok := a.(T); ok {
			return t, true
		}
		w, ok := a.(Wrapper)
		if !ok {
			return t, false
		}
		a = w.Unwrap()
	}
}

// catalogue lists the agents in the order they are offered to people.
var catalogue = []struct {
	name string
	make func(flight.Config) Agent
}{
	{"noop", func(flight.Config) Agent { return Noop{} }},
	{"random", func(cfg flight.Config) Agent { return NewRandom(cfg) }},
	{"rule-based", func(cfg flight.Config) Agent { return NewRuleBased(cfg) }},
}

// Names returns the names that New knows.
func Names() []string {
	var names []string
	for _, c := range catalogue {
		names = append(names, c.name)
	}
	return names
}

// UnknownError is a name that no agent has.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown agent %q; the agents are %s", e.Name, strings.Join(Names(), ", "))
}

// New returns a fresh agent for environments of cfg. The error is an UnknownError.
func New(name string, cfg flight.Config) (Agent, error) {
	for _, c := range catalogue {
		if c.name == name {
			return c.make(cfg), nil
		}
	}
	return nil, &UnknownError{name}
}

// Noop idles.
type Noop struct{}

// Reset does nothing.
func (Noop) Reset() {}

// Act returns flight.Idle.
func (Noop) Act([]float32) int { return flight.Idle }
