package picture

import (
	"slices"
	"testing"

	"skyrail/flight"
)

func TestKeyMoments(t *testing.T) {
	agents := board(t)
	for e := range 20 {
		var films []Film
		for _, name := range []string{"noop", "rule-based"} {
			ep := agents[name][e]
			films = append(films, film(t, flight.DefaultConfig(), ep.Seed, ep.Actions, name))
		}
		got := keyMoments(films)
		end := max(films[0].last(), films[1].last())
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != columns {
			t.Errorf("seed %d: got the steps %v, want %d different ones, ascending", films[0].seed, got, columns)
		}
		if got[0] != 0 || got[len(got)-1] != end {
			t.Errorf("seed %d: got the steps %v, want them from 0 to %d", films[0].seed, got, end)
		}
		for i := range films {
			f := &films[i]
			if f.at(f.last()).state != completed && !slices.Contains(got, f.last()) {
				t.Errorf("seed %d: got the steps %v, want %d, at which %s ended", f.seed, got, f.last(), f.title)
			}
		}
	}
	for _, c := range []struct {
		steps int
		want  []int
	}{{1, []int{0, 1}}, {3, []int{0, 1, 2, 3}}, {40, []int{0, 10, 20, 30, 40}}} {
		f := film(t, small(1, c.steps), 1, nil, "")
		if got := keyMoments([]Film{f}); !slices.Equal(got, c.want) {
			t.Errorf("one aircraft, %d steps: got %v, want %v", c.steps, got, c.want)
		}
	}
}

func TestWorstLossIsOfMostPairsThenClosest(t *testing.T) {
	filmOf := func(moments ...[]loss) *Film {
		f := &Film{}
		for _, l := range moments {
			f.moments = append(f.moments, moment{losses: l})
		}
		return f
	}
	near, far := loss{distance: 200}, loss{distance: 900}
	for _, c := range []struct {
		is          string
		film        *Film
		first, step int
		ok          bool
	}{
		{"none", filmOf(nil, nil), 0, 0, false},
		{"the closer one", filmOf(nil, []loss{far}, []loss{near}, []loss{far}), 1, 2, true},
		{"the first of equals", filmOf(nil, nil, []loss{near}, []loss{near}), 2, 2, true},
		{"more pairs before closer ones", filmOf(nil, []loss{near}, []loss{far, far}), 1, 2, true},
	} {
		first, ok1 := c.film.firstLoss()
		worst, ok2 := c.film.worstLoss()
		if first != c.first || worst != c.step || ok1 != c.ok || ok2 != c.ok {
			t.Errorf("%s: got the first at %d (%t), the worst at %d (%t), want %d and %d (%t)",
				c.is, first, ok1, worst, ok2, c.first, c.step, c.ok)
		}
	}
}
