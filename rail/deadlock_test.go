package rail

import (
	"slices"
	"testing"

	"skyrail/internal/golden"
)

// TestDeadlockedTrainsNeverLeaveTheirCell looks at recorded episodes: whoever is deadlocked stays so, and where it is.
func TestDeadlockedTrainsNeverLeaveTheirCell(t *testing.T) {
	for _, c := range []struct {
		name string
		some bool // there is a deadlock in the episode
	}{
		{"t04_tiles_8ag_plan", false}, {"t05_tiles_20ag_conflict", true}, {"t06_tiles_40ag_conflict", true},
		{"t50_tiles_200ag", true}, {"t07_tiles_levelfree", true}, {"t44_single_agent", false}, {"t09_tiles_open_border", true},
		{"s07_cross_level_free", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var before []bool
			var cells []Node
			some := false
			replay(t, c.name, func(e *Env) {
				now := e.Deadlocked(nil)
				if want := deadlockedByWalks(e); !slices.Equal(now, want) {
					t.Fatalf("step %d: got %v, want %v", e.Elapsed(), now, want)
				}
				for i, was := range before {
					if was && (!now[i] || e.Node(i) != cells[i]) {
						t.Fatalf("step %d: train %d was deadlocked at %v, got %v at %v", e.Elapsed(), i, cells[i], now[i], e.Node(i))
					}
				}
				before, cells = now, cells[:0]
				for i := range now {
					cells = append(cells, e.Node(i))
					some = some || now[i]
				}
			})
			if some != c.some {
				t.Errorf("a deadlock in the episode: got %v, want %v", some, c.some)
			}
		})
	}
}

// replay runs a recorded episode and shows the environment at the start and after each step.
func replay(t *testing.T, name string, see func(*Env)) {
	t.Helper()
	var g goldenEpisode
	if err := golden.Decode(golden.Read(t, "testdata/engine/"+name+".json.gz"), &g); err != nil {
		t.Fatal(err)
	}
	e, err := g.env()
	if err != nil {
		t.Fatal(err)
	}
	see(e)
	for _, text := range g.Actions {
		actions := make([]Action, len(text))
		for i := range text {
			if text[i] != '-' {
				actions[i] = Action(text[i] - '0')
			}
		}
		if err := e.Step(actions); err != nil {
			t.Fatal(err)
		}
		see(e)
	}
}

// deadlockedByWalks is the definition: a train is deadlocked unless a walk along options that does not turn back ends at
// a free place or goes on for ever.
func deadlockedByWalks(e *Env) []bool {
	holder := map[resource]int{}
	for i := range e.Trains() {
		if e.State(i).OnMap() {
			holder[e.resource(e.Node(i))] = i
		}
	}
	type option struct{ from, to int }
	const walking, futile = 1, 2
	known := map[option]int{}
	var useful func(came, i int) bool
	useful = func(came, i int) bool {
		for _, to := range e.net.Successors(nil, e.Node(i)) {
			j, taken := holder[e.resource(to)]
			o := option{i, j}
			switch {
			case !taken:
				return true
			case j == came || known[o] == futile:
				continue
			case known[o] == walking:
				return true
			}
			known[o] = walking
			if useful(i, j) {
				return true
			}
			known[o] = futile
		}
		return false
	}
	dead := make([]bool, e.Trains())
	for i := range dead {
		clear(known)
		dead[i] = e.State(i).OnMap() && !useful(-1, i)
	}
	return dead
}

// TestDeadlocked stands trains on a track, all of them on the map.
func TestDeadlocked(t *testing.T) {
	const horizontal Transitions = 1025
	line := func(n int) []Transitions { return slices.Repeat([]Transitions{horizontal}, n) }
	east := func(col int) Configuration { return Configuration{Cell{0, col}, East} }
	west := func(col int) Configuration { return Configuration{Cell{0, col}, West} }
	// A ring of four curves, in which trains go round clockwise.
	curve := func(a, b Heading) Transitions { // between two sides
		in := func(side, out Heading) Transitions { return 1 << (15 - 4*uint(side.turn(2)) - uint(out)) }
		return in(a, b) | in(b, a)
	}
	ring := []Transitions{curve(East, South), curve(South, West), curve(North, East), curve(West, North)}
	clockwise := []Configuration{{Cell{0, 0}, North}, {Cell{0, 1}, East}, {Cell{1, 1}, South}, {Cell{1, 0}, West}}
	for _, c := range []struct {
		does   string
		width  int
		grid   []Transitions
		trains []Configuration
		broken int // this train breaks down; -1: none
		want   []bool
	}{
		{"finds two trains head on", 6, line(6), []Configuration{east(2), west(3)}, -1, []bool{true, true}},
		{"lets them come closer first", 6, line(6), []Configuration{east(1), west(3)}, -1, []bool{false, false}},
		{"finds who waits behind", 6, line(6), []Configuration{west(4), east(2), west(3), east(0)}, -1, []bool{true, true, true, false}},
		{"lets followers follow", 6, line(6), []Configuration{east(1), east(2), east(3)}, -1, []bool{false, false, false}},
		{"waits for a broken train to recover", 6, line(6), []Configuration{east(1), east(2)}, 1, []bool{false, false}},
		{"finds a train at the end of its track", 6, line(6), []Configuration{east(5), east(4)}, -1, []bool{true, true}},
		{"lets a full ring turn", 2, ring, clockwise, -1, []bool{false, false, false, false}},
		{"finds one against the others in a ring", 2, ring,
			[]Configuration{clockwise[0], clockwise[1], clockwise[2], {Cell{1, 0}, South}}, -1, []bool{true, true, true, true}},
	} {
		s := &Scenario{Width: c.width, Height: len(c.grid) / c.width, Grid: c.grid}
		for _, at := range c.trains {
			s.Trains = append(s.Trains, Train{Initial: at, Target: Cell{0, 0}, MaxSpeed: Whole(1)})
		}
		e, err := New(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		state := e.Snapshot()
		for i, at := range c.trains {
			state.Trains[i].Configuration, state.Trains[i].State = at, Stopped
			if i == c.broken {
				state.Trains[i].State, state.Trains[i].Malfunction = Malfunction, 9
			}
		}
		if err := e.Restore(state); err != nil {
			t.Fatal(err)
		}
		if got := e.Deadlocked(nil); !slices.Equal(got, c.want) {
			t.Errorf("it %s: got %v, want %v", c.does, got, c.want)
		}
	}
}
