package picture

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"skyrail/flight"
	"skyrail/internal/drawing"
	"skyrail/internal/golden"
)

// flown is an episode of the golden board.
type flown struct {
	Seed       uint64
	Steps      int
	Completed  bool
	Congestion int
	Clearances int
	Invalids   int
	Actions    []int
}

func board(t *testing.T) map[string][]flown {
	t.Helper()
	var agents map[string][]flown
	if err := json.Unmarshal(golden.Read(t, "../testdata/board.json.gz"), &agents); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"noop", "random", "rule-based"} {
		if len(agents[name]) == 0 {
			t.Fatalf("the golden board has no episodes of %s", name)
		}
	}
	return agents
}

func film(t *testing.T, cfg flight.Config, seed uint64, actions []int, title string) Film {
	t.Helper()
	f, err := Record(cfg, seed, actions, title)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// two is the films of the idle and the rule-based agent on the first seed of the board: a mid-air at step 15, and
// a completed episode with ten clearances.
func two(t *testing.T) []Film {
	t.Helper()
	agents := board(t)
	var films []Film
	for _, name := range []string{"noop", "rule-based"} {
		e := agents[name][0]
		films = append(films, film(t, flight.DefaultConfig(), e.Seed, e.Actions, name))
	}
	return films
}

// brief is two films of the same five aircraft and three steps, the first with three clearances.
func brief(t *testing.T) []Film {
	t.Helper()
	const seed = 1829385696
	cfg := small(5, 3)
	told := []int{flight.Action(0, flight.FLInc), flight.Action(1, flight.FLInc), flight.Action(2, flight.SpdUp)}
	return []Film{film(t, cfg, seed, told, "told"), film(t, cfg, seed, nil, "idle")}
}

// small returns a configuration of n aircraft and few steps.
func small(n, steps int) flight.Config {
	cfg := flight.DefaultConfig()
	cfg.Flights, cfg.NLo, cfg.NHi, cfg.MaxSteps = n, 1, n, steps
	return cfg
}

func TestFilmHoldsTheEnginesFigures(t *testing.T) {
	for name, episodes := range board(t) {
		for _, e := range episodes {
			f := film(t, flight.DefaultConfig(), e.Seed, e.Actions, name)
			end := f.at(f.last())
			if f.last() != e.Steps || (end.state == completed) != e.Completed ||
				end.congestion != e.Congestion || end.clearances != e.Clearances {
				t.Errorf("%s, seed %d: got %d steps, %v, congestion %d, %d clearances, want %d, completed %t, %d, %d",
					name, e.Seed, f.last(), end.state, end.congestion, end.clearances,
					e.Steps, e.Completed, e.Congestion, e.Clearances)
			}
			refused := 0
			for k := range f.moments {
				m := &f.moments[k]
				if m.order.refused {
					refused++
				}
				if k > 0 && len(m.losses) != m.events {
					t.Errorf("%s, seed %d, step %d: got %d pairs in loss, want the engine's %d", name, e.Seed, k, len(m.losses), m.events)
				}
				hit := false
				for _, l := range m.losses {
					hit = hit || l.midAir
				}
				if k > 0 && hit != m.midAir {
					t.Errorf("%s, seed %d, step %d: got mid-air %t, want the engine's %t", name, e.Seed, k, hit, m.midAir)
				}
			}
			if refused != e.Invalids {
				t.Errorf("%s, seed %d: got %d refused clearances, want %d", name, e.Seed, refused, e.Invalids)
			}
		}
	}
}

func TestFilmIdlesWhenActionsRunOut(t *testing.T) {
	cfg := flight.DefaultConfig()
	got := film(t, cfg, 12146695, []int{1}, "")
	want := film(t, cfg, 12146695, append([]int{1}, make([]int, cfg.MaxSteps-1)...), "")
	if !reflect.DeepEqual(got, want) {
		t.Error("a film of one action differs from that of the action and idling")
	}
	if o := got.moments[1].order; !o.given || o.refused || o.aircraft != 0 || o.clearance != flight.FLDec {
		t.Errorf("got the order %+v at step 1, want FL_DEC to aircraft 0", o)
	}
}

func TestFilmTellsARefusedClearance(t *testing.T) {
	// While a speed pulse runs the mask forbids everything else.
	f := film(t, small(1, 3), 1, []int{flight.Action(0, flight.SpdUp), flight.Action(0, flight.FLInc)}, "")
	for k, want := range []order{
		{},
		{given: true, clearance: flight.SpdUp},
		{given: true, clearance: flight.FLInc, refused: true},
		{},
	} {
		if got := f.moments[k].order; got != want {
			t.Errorf("step %d: got the order %+v, want %+v", k, got, want)
		}
	}
	if got := f.at(f.last()).clearances; got != 1 {
		t.Errorf("got %d clearances, want 1", got)
	}
}

func TestFilmEndsInTheStateOfItsEpisode(t *testing.T) {
	one := small(1, 3)
	spent := one
	spent.MaxClearances = 1
	climb := flight.Action(0, flight.FLInc)
	for _, c := range []struct {
		does    string
		cfg     flight.Config
		actions []int
		steps   int
		state   state
		outcome string
	}{
		{"completes at the horizon", one, nil, 3, completed, "completed"},
		{"is cut by the budget", spent, []int{climb, climb}, 1, budgetSpent, "budget spent at step 1"},
		{"completes when the budget is spent at the horizon", spent, []int{0, 0, climb}, 3, completed, "completed"},
	} {
		f := film(t, c.cfg, 1, c.actions, "")
		if got := f.at(f.last()).state; f.last() != c.steps || got != c.state {
			t.Errorf("it %s: got %v at step %d, want %v at step %d", c.does, got, f.last(), c.state, c.steps)
		}
		if got := f.outcome(); !strings.HasPrefix(got, c.outcome+dot) {
			t.Errorf("it %s: got the outcome %q, want it to begin with %q", c.does, got, c.outcome)
		}
		if got := f.moments[0].state; got != flying {
			t.Errorf("it %s: got %v at step 0, want %v", c.does, got, flying)
		}
	}
}

func TestRecordRefuses(t *testing.T) {
	cfg := flight.DefaultConfig()
	bad, long := cfg, cfg
	bad.Flights = 0
	long.MaxSteps = MaxSteps + 1
	for _, c := range []struct {
		what    string
		cfg     flight.Config
		actions []int
		title   string
		want    string
	}{
		{"a bad configuration", bad, nil, "", "n_flights is 0"},
		{"an action too large", cfg, []int{0, 0, 36}, "", "step 2: action 36 is outside 0..35"},
		{"a negative action", cfg, []int{-1}, "", "step 0: action -1 is outside 0..35"},
		{"a bad action after the end", cfg, append(make([]int, 49), 99), "", "step 49: action 99 is outside 0..35"},
		{"too many actions", cfg, make([]int, 51), "", "51 actions were recorded, the episode has at most 50 steps"},
		{"too many steps", long, nil, "", "max_steps is 201, a film holds at most 200"},
		{"a line break in the title", cfg, nil, "a\nb", `"a\nb" holds characters that cannot be drawn`},
		{"a title that is no text", cfg, nil, "\xff", "cannot be drawn"},
		{"a title without end", cfg, nil, strings.Repeat("x", drawing.MaxTitle+1), "the title has 201 bytes"},
	} {
		_, err := Record(c.cfg, 1829385696, c.actions, c.title)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got the error %v, want one that says %q", c.what, err, c.want)
		}
		var action *flight.ActionError
		if got, want := errors.As(err, &action), strings.Contains(c.want, "outside"); got != want {
			t.Errorf("%s: got an ActionError %t, want %t", c.what, got, want)
		}
	}
}
