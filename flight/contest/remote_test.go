package contest

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skyrail/flight"
	"skyrail/flight/agent"
)

// script is an agent.Remote that gives the same action until it fails, and remembers what it was told.
type script struct {
	action, failsAt int
	asked           int
	seeds           []uint64
	flown           []int
	err             error
	closed          int
}

var errTired = errors.New("tired")

func (s *script) Reset()            {}
func (s *script) Start(seed uint64) { s.seeds = append(s.seeds, seed) }
func (s *script) Flown(action int)  { s.flown = append(s.flown, action) }
func (s *script) Err() error        { return s.err }
func (s *script) Close() error      { s.closed++; return nil }
func (s *script) Act([]float32) int {
	if s.asked++; s.asked == s.failsAt {
		s.err = errTired
	}
	return s.action
}

func TestARemoteIsToldSeedsAndWhatWasFlown(t *testing.T) {
	s := &script{action: 3}
	seeds := PublicSeeds()[:2]
	episodes, err := Run(t.Context(), flight.DefaultConfig(), seeds, 1, func() (agent.Agent, error) { return s, nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.seeds, seeds) {
		t.Errorf("told seeds %v, want %v", s.seeds, seeds)
	}
	if want := slices.Concat(episodes[0].Actions, episodes[1].Actions); !slices.Equal(s.flown, want) {
		t.Errorf("told %v, want %v", s.flown, want)
	}
	if s.closed != 1 {
		t.Errorf("closed %d times, want once", s.closed)
	}
}

func TestARemoteBehindAWrapperIsToldWhatReplacedItsAction(t *testing.T) {
	s := &script{action: 3}
	env, err := flight.New(flight.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	ep, err := Play(env, newEpsilonRandom(s, flight.DefaultConfig(), 0.5), PublicSeeds()[0])
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.flown, ep.Actions) || !slices.ContainsFunc(s.flown, func(a int) bool { return a != 3 }) {
		t.Errorf("told %v, want %v with other actions than its own", s.flown, ep.Actions)
	}
	if !slices.Equal(s.seeds, PublicSeeds()[:1]) {
		t.Errorf("told seeds %v", s.seeds)
	}
}

func TestAFailureOfARemoteEndsTheRunAndClosesIt(t *testing.T) {
	s := &script{failsAt: 7}
	_, err := Run(t.Context(), flight.DefaultConfig(), PublicSeeds()[:2], 1, func() (agent.Agent, error) { return s, nil }, nil)
	if !errors.Is(err, errTired) {
		t.Errorf("got error %v, want its own", err)
	}
	if s.closed != 1 {
		t.Errorf("closed %d times, want once", s.closed)
	}
	if _, err := PostMortem(t.Context(), flight.DefaultConfig(), PublicSeeds()[:1], 1, "script", func() (agent.Agent, error) { return &script{failsAt: 7}, nil }, nil); !errors.Is(err, errTired) {
		t.Errorf("a post-mortem gave %v, want the agent's error", err)
	}
}

func TestRunThroughIdlesAFailedEpisodeAndGoesOnAnew(t *testing.T) {
	cfg := flight.DefaultConfig()
	seeds := PublicSeeds()[:3]
	var made []*script
	episodes, failures, err := RunThrough(t.Context(), cfg, seeds, func() (agent.Agent, error) {
		s := &script{action: 2}
		if len(made) == 0 {
			s.failsAt = 5
		}
		made = append(made, s)
		return s, nil
	}, func(error) bool { return false }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(failures) != 1 || failures[0].Seed != seeds[0] || failures[0].Step != 4 || !errors.Is(failures[0], errTired) {
		t.Errorf("got failures %v, want the first seed's", failures)
	}
	env, err := flight.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	idled, err := Replay(env, []int{2, 2, 2, 2}, seeds[0])
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Run(t.Context(), cfg, seeds[1:], 1, func() (agent.Agent, error) { return &script{action: 2}, nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append([]Episode{idled}, whole...), episodes); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	if len(made) != 2 || made[0].closed != 1 || made[1].closed != 1 {
		t.Errorf("made %d agents, want 2, each closed once", len(made))
	}
}
