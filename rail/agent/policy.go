package agent

import (
	"fmt"
	"strings"

	"skyrail/rail"
)

// View is what a policy may know of an environment: everything but its random stream and its effects, which would tell
// it the breakdowns to come. A *rail.Env is one. What the methods return belongs to the environment and must not be
// changed.
type View interface {
	Scenario() *rail.Scenario
	Network() *rail.Network
	Trains() int
	Elapsed() int
	MaxEpisodeSteps() int
	LevelFree(c rail.Cell) bool

	State(i int) rail.State
	Initial(i int) rail.Node
	Node(i int) rail.Node // rail.NoNode off the map
	Speed(i int) rail.Fraction
	MaxSpeed(i int) rail.Fraction
	Travelled(i int) rail.Fraction
	Malfunction(i int) int
	AtTarget(i int, n rail.Node) bool
	DistanceTo(i int, from rail.Node) int
}

var _ View = (*rail.Env)(nil)

// Policy answers for all trains of an environment. It is used by one episode at a time.
type Policy interface {
	// Reset tells that an episode begins, or goes on from where the environment is. It is to be called before Act, and
	// is the place for what takes long.
	Reset(v View) error
	// Act fills in an action for every train, by handle, for the next step of the environment that Reset was given. All
	// actions are 0 to 4. It should be called in every step.
	//
	// An error means that there is no answer, and what actions holds is of no use. The policies of this package have one
	// only for a wrong call: actions that are not one for each train, or an environment with other trains than that of
	// Reset. A policy that lives elsewhere may fail at any time, and then fails until the next Reset.
	Act(v View, actions []rail.Action) error
}

// Options are what policies can be given.
type Options struct {
	Seed uint32 // of random
}

// catalogue lists the policies in the order they are offered to people.
var catalogue = []struct {
	name string
	make func(Options) Policy
}{
	{"do-nothing", func(Options) Policy { return Always(rail.DoNothing) }},
	{"random", func(o Options) Policy { return NewRandom(o.Seed) }},
	{"forward", func(Options) Policy { return Always(rail.MoveForward) }},
	{"shortest-path", func(Options) Policy { return ShortestPath{} }},
	{"shortest-path-reference", func(Options) Policy { return new(SetPath) }},
	{"shortest-path-stops", func(Options) Policy { return new(StoppingPath) }},
	{"deadlock-avoidance", func(Options) Policy { return NewDeadlockAvoidance(CompetitionRules()) }},
	{"deadlock-avoidance-classic", func(Options) Policy { return NewDeadlockAvoidance(ClassicRules()) }},
}

// Names returns the names that New knows.
func Names() []string {
	var names []string
	for _, c := range catalogue {
		names = append(names, c.name)
	}
	return names
}

// UnknownError is a name that no policy has.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown policy %q; the policies are %s", e.Name, strings.Join(Names(), ", "))
}

// New returns a fresh policy. The error is an UnknownError.
func New(name string, o Options) (Policy, error) {
	for _, c := range catalogue {
		if c.name == name {
			return c.make(o), nil
		}
	}
	return nil, &UnknownError{name}
}

// checkCall says what is wrong with a call of Act by a policy that was reset for a number of trains.
func checkCall(v View, actions []rail.Action, trains int) error {
	switch n := v.Trains(); {
	case len(actions) != n:
		return fmt.Errorf("room for %d actions, want one for each of the %d trains", len(actions), n)
	case trains != n:
		return fmt.Errorf("the policy was reset for %d trains and is asked for %d: call Reset first", trains, n)
	}
	return nil
}

// Always gives one action to every train in every step.
type Always rail.Action

// Reset does nothing.
func (Always) Reset(View) error { return nil }

// Act answers the action.
func (a Always) Act(v View, actions []rail.Action) error {
	if err := checkCall(v, actions, v.Trains()); err != nil {
		return err
	}
	for i := range actions {
		actions[i] = rail.Action(a)
	}
	return nil
}
