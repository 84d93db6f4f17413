package agent

import (
	"errors"
	"math"
	"slices"
	"testing"

	"skyrail/flight"
)

// The reference agents are held to the recorded board, action for action, in package contest.

func TestNewKnowsEveryName(t *testing.T) {
	for _, name := range Names() {
		a, err := New(name, flight.DefaultConfig())
		if err != nil || a == nil {
			t.Errorf("%s: got %v, %v", name, a, err)
		}
	}
	_, err := New("nobody", flight.DefaultConfig())
	var unknown *UnknownError
	if !errors.As(err, &unknown) || unknown.Name != "nobody" {
		t.Errorf("got error %v, want an UnknownError", err)
	}
}

// Agents must serve environments of any shape, and an episode flown again gives the same actions, whatever was
// flown between.
func TestAgentsServeAnyEnvironment(t *testing.T) {
	for _, n := range []int{1, 2, 8, 64} {
		cfg := flight.DefaultConfig()
		cfg.Flights, cfg.NLo, cfg.NHi, cfg.MaxSteps = n, 1, n, 30
		env, err := flight.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		obs := make([]float32, cfg.ObservationLen())
		for _, name := range Names() {
			a, err := New(name, cfg)
			if err != nil {
				t.Fatal(err)
			}
			fly := func(seed uint64) (actions []int) {
				env.Reset(seed)
				a.Reset()
				for !env.Status().Over() {
					env.Observe(obs)
					action := a.Act(obs)
					if !env.Legal(action) {
						t.Fatalf("%s, %d aircraft: action %d is illegal", name, n, action)
					}
					if _, err := env.Advance(action); err != nil {
						t.Fatal(err)
					}
					actions = append(actions, action)
				}
				return actions
			}
			first := fly(7)
			fly(8)
			if again := fly(7); !slices.Equal(again, first) {
				t.Errorf("%s, %d aircraft: got %v, then %v", name, n, first, again)
			}
		}
	}
}

// seer is a Sighted and Bounded; veil is made of another agent.
type seer struct{ Noop }

func (seer) See(*flight.Env)      {}
func (seer) Bound() (Bound, bool) { return Bound{Clearances: 3}, true }

type veil struct{ Agent }

func (v veil) Unwrap() Agent { return v.Agent }

func TestWhatAnAgentIsMadeOfIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		a    Agent
		want bool
	}{
		"itself":             {seer{}, true},
		"through a wrapper":  {veil{seer{}}, true},
		"through two":        {veil{veil{seer{}}}, true},
		"nothing":            {Noop{}, false},
		"nothing in wrapper": {veil{Noop{}}, false},
	} {
		s, sighted := SightedOf(c.a)
		b, bounded := BoundedOf(c.a)
		if sighted != c.want || bounded != c.want || c.want && (s != Agent(seer{}) || b != Agent(seer{})) {
			t.Errorf("it finds %s: got %v %v, %v %v, want %v", name, s, sighted, b, bounded, c.want)
		}
		if r, ok := RemoteOf(c.a); ok || r != nil {
			t.Errorf("it finds %s: got a Remote, %v", name, r)
		}
	}
}

// fixed is a Distribution that always answers the same.
type fixed []float64

func (fixed) Reset() {}
func (f fixed) Act([]float32) int {
	best := 0
	for i, p := range f {
		if p > f[best] {
			best = i
		}
	}
	return best
}
func (f fixed) Probabilities(_ []float32, p []float64) { clear(p); copy(p, f) }

func TestNextBest(t *testing.T) {
	for name, c := range map[string]struct {
		p    fixed
		want int
	}{
		"takes the second most probable":          {fixed{0.1, 0.6, 0.3}, 2},
		"takes the later of two equal best":       {fixed{0.4, 0.2, 0.4}, 2},
		"takes the first of two equal second":     {fixed{0.5, 0.25, 0.25}, 1},
		"finds it before the best":                {fixed{0.3, 0.7}, 0},
		"takes the only possible one":             {fixed{0, 0, 1}, 2},
		"takes none of probability zero":          {fixed{0, 1, 0}, 1},
		"idles where nothing is possible":         {fixed{0, 0}, 0},
		"keeps the former best as the second one": {fixed{0.2, 0.3, 0.5}, 1},
	} {
		if got := NewNextBest(c.p, flight.DefaultConfig()).Act(nil); got != c.want {
			t.Errorf("it %s: got %d, want %d", name, got, c.want)
		}
	}
}

func TestSampledFollowsTheDistribution(t *testing.T) {
	p := fixed{0.5, 0, 0.2, 0.3}
	s := NewSampled(p, flight.DefaultConfig(), 0)
	s.Reset()
	obs := []float32{1, 2, 3}
	const draws = 20_000
	counts := make([]int, len(p))
	for range draws {
		counts[s.Act(obs)]++
	}
	for i, c := range counts {
		share := float64(c) / draws
		if sd := math.Sqrt(p[i] * (1 - p[i]) / draws); math.Abs(share-p[i]) > 5*sd {
			t.Errorf("action %d: got share %v, want %v", i, share, p[i])
		}
	}
}

func TestSampledIsAFunctionOfEpisodeAndRollout(t *testing.T) {
	p := fixed{0.25, 0.25, 0.25, 0.25}
	draw := func(rollout uint64, first float32) (actions []int) {
		s := NewSampled(p, flight.DefaultConfig(), rollout)
		s.Reset()
		for i := range 40 {
			actions = append(actions, s.Act([]float32{first, float32(i)}))
		}
		return actions
	}
	if !slices.Equal(draw(3, 1), draw(3, 1)) {
		t.Error("the same rollout of the same episode differs")
	}
	if slices.Equal(draw(3, 1), draw(4, 1)) || slices.Equal(draw(3, 1), draw(3, 2)) {
		t.Error("another rollout or another episode is the same")
	}
}
