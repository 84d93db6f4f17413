package contest

import (
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"skyrail/flight"
	"skyrail/flight/agent"
)

// witness is an agent.Sighted and agent.Bounded that gives one clearance and remembers what it was shown and asked.
type witness struct {
	agent.Noop
	t      *testing.T
	action int
	shown  int // times since the reset
	asked  []int
	unsure bool
	ruin   bool // spoils what it is shown
}

func (w *witness) Reset() { w.shown = 0 }

func (w *witness) See(env *flight.Env) {
	w.shown++
	if env.StepCount() != w.shown-1 {
		w.t.Errorf("shown step %d at answer %d", env.StepCount(), w.shown-1)
	}
	if w.ruin {
		env.Advance(flight.Action(1, flight.FLInc))
	}
}

func (w *witness) Act(obs []float32) int {
	if w.shown == 3 {
		return w.action
	}
	return flight.Idle
}

func (w *witness) Bound() (agent.Bound, bool) {
	w.asked = append(w.asked, w.shown)
	return agent.Bound{Congestion: 1, Clearances: 2}, !w.unsure
}

func TestASightedIsShownTheStateBeforeEachAnswer(t *testing.T) {
	env, err := flight.New(flight.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	seed := PublicSeeds()[0]
	actions := []int{0, 0, 2}
	want, err := Replay(env, actions, seed)
	if err != nil {
		t.Fatal(err)
	}
	want.Bound = &agent.Bound{Congestion: 1, Clearances: 2}
	for name, w := range map[string]*witness{
		"only looks":              {t: t, action: 2},
		"spoils what it is shown": {t: t, action: 2, ruin: true},
	} {
		for _, wrapped := range []agent.Agent{w, newEpsilonRandom(w, env.Config(), 0)} {
			got, err := Play(env, wrapped, seed)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("an agent that %s: want (-), got (+):\n%s", name, diff)
			}
			if w.shown != got.Steps {
				t.Errorf("an agent that %s: shown %d states in %d steps", name, w.shown, got.Steps)
			}
		}
		if !slices.Equal(w.asked, []int{1, 1}) {
			t.Errorf("an agent that %s: asked for its bound after %v answers, want once an episode, after the first", name, w.asked)
		}
	}
}

func TestABoundThatIsNotKnownIsNone(t *testing.T) {
	env, err := flight.New(flight.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]agent.Agent{
		"an unsure agent":         &witness{t: t, unsure: true},
		"an agent without bounds": agent.Noop{},
	} {
		ep, err := Play(env, a, PublicSeeds()[0])
		if err != nil || ep.Bound != nil {
			t.Errorf("%s: got bound %v, error %v, want none", name, ep.Bound, err)
		}
	}
}

func TestBoundsCompareEpisodesThatTheyAreAbout(t *testing.T) {
	bound := func(congestion, clearances int) *agent.Bound {
		return &agent.Bound{Congestion: congestion, Clearances: clearances}
	}
	type gap struct {
		Clearances int
		OK         bool
	}
	var all []Episode
	for _, c := range []struct {
		name string
		e    Episode
		want gap
	}{
		{"is nothing too many", Episode{Completed: true, Clearances: 3, Bound: bound(0, 3)}, gap{0, true}},
		{"is what is beyond it", Episode{Completed: true, Clearances: 7, Bound: bound(0, 4)}, gap{3, true}},
		{"counts where congestion is inevitable", Episode{Completed: true, Congestion: 2, Clearances: 6, Bound: bound(2, 5)}, gap{1, true}},
		{"passes over an exit miss that ranks as none", Episode{Completed: true, ExitMiss: 0.0025, Bound: bound(0, 0)}, gap{0, true}},
		{"is unknown with an exit miss", Episode{Completed: true, ExitMiss: math.Nextafter(0.0025, 1), Clearances: 2, Bound: bound(0, 3)}, gap{}},
		{"is unknown with more congestion", Episode{Completed: true, Congestion: 3, Clearances: 2, Bound: bound(2, 3)}, gap{}},
		{"is unknown in a failed episode", Episode{Clearances: 2, Bound: bound(0, 1)}, gap{}},
		{"is unknown without a bound", Episode{Completed: true, Clearances: 2}, gap{}},
	} {
		clearances, ok := c.e.Gap()
		if got := (gap{clearances, ok}); got != c.want {
			t.Errorf("the gap %s: got %v, want %v", c.name, got, c.want)
		}
		all = append(all, c.e)
	}
	got, ok := NewBounds(all)
	if want := (Bounds{Episodes: 7, Congestion: 4, Matched: 4, Clearances: 12, Gap: 4, Least: 2}); got != want || !ok {
		t.Errorf("got %+v %v, want %+v", got, ok, want)
	}
	if got, ok := NewBounds([]Episode{{Completed: true}}); ok {
		t.Errorf("episodes without bounds: got %+v", got)
	}
}
