package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/flight/contest"
	"skyrail/flight/planner"
)

func TestTheRosterHasEveryAgentOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range roster() {
		if seen[b.name] {
			t.Errorf("%s is there twice", b.name)
		}
		seen[b.name] = true
		a, err := b.fresh(flight.DefaultConfig(), planner.DefaultBudget())
		if err != nil || a == nil {
			t.Errorf("%s: got %v, %v", b.name, a, err)
			continue
		}
		// Who is shown the true state, and nobody else, is stamped.
		if _, sighted := agent.SightedOf(a); sighted != (b.offLeaderboard != "") {
			t.Errorf("%s: is shown the true state: %v, stamped %q", b.name, sighted, b.offLeaderboard)
		}
	}
	for _, name := range append(agent.Names(), "planner", "oracle") {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestBoundsInWords(t *testing.T) {
	for name, c := range map[string]struct {
		b    contest.Bounds
		want string
	}{
		"of a list without a gap": {contest.Bounds{Episodes: 3, Matched: 3, Clearances: 12, Least: 3},
			"at this congestion and exit miss, episode by episode, no agent can do with fewer than 12 clearances; none too many; 3 episodes flown with as few"},
		"of a list with one": {contest.Bounds{Episodes: 3, Matched: 3, Clearances: 12, Gap: 2, Least: 1},
			"at this congestion and exit miss, episode by episode, no agent can do with fewer than 12 clearances; at most 2 too many; 1 episode flown with as few"},
		"of some of the episodes": {contest.Bounds{Episodes: 3, Matched: 2, Clearances: 1, Gap: 2, Least: 1},
			"in 2 of 3 episodes, with as little congestion and no exit miss, no agent can do with fewer than 1 clearance; at most 2 too many; 1 episode flown with as few"},
		"of none": {contest.Bounds{Episodes: 2},
			"bounds are known of 2 of 3 episodes; none has as little congestion and no exit miss, so clearances are not compared"},
		"of all that have one": {contest.Bounds{Episodes: 2, Matched: 2, Clearances: 4, Least: 2},
			"bounds are known of 2 of 3 episodes; at this congestion and exit miss, episode by episode, no agent can do with fewer than 4 clearances; none too many; 2 episodes flown with as few"},
		"of congestion": {contest.Bounds{Episodes: 3, Congestion: 4, Matched: 3, Clearances: 12, Least: 3},
			"no agent can do with less congestion than 4; at this congestion and exit miss, episode by episode, no agent can do with fewer than 12 clearances; none too many; 3 episodes flown with as few"},
	} {
		if got := boundsText(c.b, 3); got != c.want {
			t.Errorf("bounds %s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

// boundedBoard is a board of an agent that knows bounds, beside one that does not.
func boundedBoard(congestion int) board {
	bound := func(clearances int) *agent.Bound {
		return &agent.Bound{Congestion: congestion, Clearances: clearances}
	}
	l := seedList{ranking: "file", title: "three", seeds: []uint64{1, 2, 3}}
	knows := []contest.Episode{
		{Seed: 1, Steps: 50, Completed: true, Congestion: congestion, Clearances: 5, Touched: 2, Bound: bound(3)},
		{Seed: 2, Steps: 50, Completed: true, Congestion: congestion + 1, Clearances: 1, Touched: 1, Bound: bound(2)},
		{Seed: 3, Steps: 50, Completed: true, Congestion: congestion, Clearances: 4, Touched: 2},
	}
	plain := []contest.Episode{{Seed: 1, Steps: 20}, {Seed: 2, Steps: 20}, {Seed: 3, Steps: 20}}
	return newBoard(l, []flown{{"knows", "", knows}, {"plain", "", plain}}, contest.NewScore(plain), true)
}

func TestBoundsAreShownBelowTheBoardAndByEpisode(t *testing.T) {
	var out bytes.Buffer
	boards{ScoreVersion: "0", Boards: []board{boundedBoard(0)}, NotReproducible: "who knows", Repeat: "again"}.print(&out)
	want := `#  submission  failed  congestion  exit miss  clearances  touched
1  knows            0           1     0.0000          10        5
2  plain            3           0     0.0000           0        0  does nothing

knows, episode by episode (2 of 3 without conflict):
seed  state      steps  congestion  exit miss  worst miss  clearances  touched  invalid  at least  gap
   1  completed     50           0     0.0000      0.0000           5        2        0         3    2
   2  completed     50           1     0.0000      0.0000           1        1        0         2
   3  completed     50           0     0.0000      0.0000           4        2        0


plain, episode by episode (3 of 3 without conflict):
seed  state   steps  congestion  exit miss  worst miss  clearances  touched  invalid
   1  failed     20           0     0.0000      0.0000           0        0        0
   2  failed     20           0     0.0000      0.0000           0        0        0
   3  failed     20           0     0.0000      0.0000           0        0        0

ranking: file (three) · score version 0 · 3 episodes an entry
knows: bounds are known of 2 of 3 episodes; in 1 of 2, with as little congestion and no exit miss, no agent can do with fewer than 3 clearances; at most 2 too many; 0 episodes flown with as few

Lower is better, compared from left to right; exit miss counts in steps of 0.005.
Not reproducible: who knows.
To repeat: again
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	out.Reset()
	boundedBoard(2).print(&out)
	if want := "at least  gap  congestion at least\n"; !strings.Contains(out.String(), want) {
		t.Errorf("got\n%s\nwithout %q", out.String(), want)
	}
}

func TestBoundsAreInTheJSONToo(t *testing.T) {
	var out bytes.Buffer
	if err := printJSON(&out, boundedBoard(1)); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Rows []struct {
			Bounds     map[string]int
			PerEpisode []struct{ Bound map[string]int } `json:"per_episode"`
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	knows, plain := got.Rows[0], got.Rows[1]
	want := map[string]int{"episodes": 2, "congestion": 2, "matched": 1, "clearances": 3, "gap": 2, "least": 0}
	for key, v := range want {
		if knows.Bounds[key] != v {
			t.Errorf("%s: got %d, want %d", key, knows.Bounds[key], v)
		}
	}
	if b := knows.PerEpisode[0].Bound; b["congestion"] != 1 || b["clearances"] != 3 {
		t.Errorf("the first episode: got %v", b)
	}
	if plain.Bounds != nil || plain.PerEpisode[0].Bound != nil {
		t.Errorf("an agent without bounds has %v, %v", plain.Bounds, plain.PerEpisode[0].Bound)
	}
}
