package rail

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var inf = math.Inf(1)

// treeOf returns the tree of a train, seen by an observer of its own.
func treeOf(t *testing.T, depth int, e *Env, i int) Tree {
	t.Helper()
	o, err := NewTreeObserver(depth)
	if err != nil {
		t.Fatal(err)
	}
	o.Look(e)
	return o.Tree(make([]float64, o.Len()), i)
}

func child(t *testing.T, tree Tree, branch int) Tree {
	t.Helper()
	c, ok := tree.Child(branch)
	if !ok || c.Missing() {
		t.Fatalf("got no child %d", branch)
	}
	return c
}

func features(t *testing.T, what string, tree Tree, want [TreeFeatures]float64) {
	t.Helper()
	if got := [TreeFeatures]float64(tree.Values[:TreeFeatures]); got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// TestTreeQuirks meets on one line all that the reference counts oddly.
func TestTreeQuirks(t *testing.T) {
	e := observedTrains(t, 6, straight,
		standing{at: Configuration{Cell{0, 1}, East}, target: Cell{0, 0}, speed: "1"},
		standing{at: Configuration{Cell{0, 3}, West}, target: Cell{0, 5}, speed: "1/2", malfunction: 3},
		standing{at: Configuration{Cell{0, 3}, East}, target: Cell{0, 5}, speed: "1", waiting: true},
		standing{at: Configuration{Cell{0, 2}, East}, target: Cell{0, 5}, speed: "1", waiting: true})
	root := treeOf(t, 2, e, 0)
	features(t, "root", root, [TreeFeatures]float64{6: 9, 10: 1})

	// A train comes towards us, but there is no conflict; one train waits under it and counts, one waits in an empty cell
	// and does not.
	ahead := child(t, root, 1)
	features(t, "ahead", ahead, [TreeFeatures]float64{inf, 4, 2, inf, inf, 4, 5, 0, 1, 3, 1, 1})

	// The way back from the dead end is its child F, and we meet ourselves on it.
	back := child(t, ahead, 1)
	features(t, "back", back, [TreeFeatures]float64{9, inf, 6, inf, inf, 9, 0, 1, 1, 3, 0.5, 1})
	for _, b := range []int{0, 2, 3} {
		if c, _ := ahead.Child(b); !c.Missing() {
			t.Errorf("got a child %d of a dead end, want only 1", b)
		}
	}
}

// TestTreeQuirkCountsTwiceInACircle: the cell in which a circle closes is looked at again before that is noticed.
func TestTreeQuirkCountsTwiceInACircle(t *testing.T) {
	const fromSouth, fromWest, fromNorth, fromEast, away = 16386, 4608, 2064, 72, 4
	circle := []Transitions{fromSouth, fromWest, away, fromEast, fromNorth, 0}
	e := observedTrains(t, 3, circle,
		standing{at: Configuration{Cell{0, 0}, North}, target: Cell{0, 2}, speed: "1"},
		standing{at: Configuration{Cell{0, 1}, East}, target: Cell{0, 2}, speed: "1/4"})
	features(t, "ahead", child(t, treeOf(t, 1, e, 0), 1), [TreeFeatures]float64{inf, inf, 1, inf, inf, inf, inf, 3, 0, 0, 0.25, 0})
}

// TestTreeQuirkSeesTheLastTrainOnABridge: of two trains in a cell only the one of the higher handle is met.
func TestTreeQuirkSeesTheLastTrainOnABridge(t *testing.T) {
	grid := []Transitions{0, 8192, 0, 4, DiamondCrossing, 256, 0, 0, 0}
	e := observedTrains(t, 3, grid,
		standing{at: Configuration{Cell{1, 0}, West}, target: Cell{1, 0}, speed: "1"},
		standing{at: Configuration{Cell{1, 1}, East}, target: Cell{1, 0}, speed: "1/2"},
		standing{at: Configuration{Cell{1, 1}, North}, target: Cell{1, 0}, speed: "1/3"})
	ahead := child(t, treeOf(t, 1, e, 0), 1)
	features(t, "ahead", ahead, [TreeFeatures]float64{inf, inf, 1, inf, inf, 2, 2, 0, 1, 0, 1, 0})
}

// TestTreeEndsOutsideTheGrid: the reference wraps around there, or fails.
func TestTreeEndsOutsideTheGrid(t *testing.T) {
	e := observedTrains(t, 3, []Transitions{1025, 1025, 1025},
		standing{at: Configuration{Cell{0, 1}, East}, target: Cell{0, 0}, speed: "1"},
		standing{at: Configuration{Cell{0, 2}, East}, target: Cell{0, 1}, speed: "1"})
	features(t, "ahead", child(t, treeOf(t, 2, e, 0), 1), [TreeFeatures]float64{inf, inf, 1, inf, inf, inf, inf, 1, 0, 0, 1, 0})
	features(t, "outside", child(t, treeOf(t, 2, e, 1), 1), [TreeFeatures]float64{inf, inf, inf, inf, inf, inf, inf, 0, 0, 0, 1, 0})
}

// TestTreeOfAnyGridEnds builds trees on grids of any bits, open at the border, in every configuration.
func TestTreeOfAnyGridEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	o, err := NewTreeObserver(3)
	if err != nil {
		t.Fatal(err)
	}
	dst, flat := make([]float64, o.Len()), make([]float64, o.Len())
	for range 200 {
		w, h := 1+rng.IntN(5), 1+rng.IntN(5)
		grid := make([]Transitions, w*h)
		for c := range grid {
			grid[c] = Transitions(rng.Uint32() & rng.Uint32() & rng.Uint32())
		}
		at := func() standing {
			return standing{
				at:     Configuration{Cell{rng.IntN(h), rng.IntN(w)}, Heading(rng.IntN(4))},
				target: Cell{rng.IntN(h), rng.IntN(w)}, speed: "1/2", waiting: rng.IntN(4) == 0,
			}
		}
		e := observedTrains(t, w, grid, at(), at(), at())
		o.Look(e)
		for i := range e.Trains() {
			tree := o.Tree(dst, i)
			tree.FlattenNormalized(flat, 2)
			if k := slices.IndexFunc(flat, func(x float64) bool { return !(x >= -1 && x <= 1) }); k >= 0 {
				t.Fatalf("value %d of a normalised tree is %v, want -1 to 1", k, flat[k])
			}
		}
	}
}

// TestTreeObserverServesManyEnvironments: what it saw of one does not show in another.
func TestTreeObserverServesManyEnvironments(t *testing.T) {
	used, err := NewTreeObserver(2)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, used.Len())
	for range 2 {
		for _, steps := range []int{0, 5, 40} {
			for _, name := range []string{"t05_tiles_20ag_conflict", "t08_tiles_levelfree_half", "g02_sparse_30_10_random"} {
				e := observed(t, name, steps)
				used.Look(e)
				for i := range e.Trains() {
					if want := treeOf(t, 2, e, i); !slices.Equal(used.Tree(got, i).Values, want.Values) {
						t.Fatalf("%s, step %d, train %d: a used observer sees something else", name, steps, i)
					}
				}
			}
		}
	}
}

// TestTreeOfATrainThatIsNowhereIsMissing: a snapshot may say so, a step never leads to it.
func TestTreeOfATrainThatIsNowhereIsMissing(t *testing.T) {
	e := observedTrains(t, 6, straight, standing{at: Configuration{Cell{0, 1}, East}, target: Cell{0, 0}, speed: "1"})
	e.trains[0].node = NoNode // which no step and no file leads to
	if !treeOf(t, 1, e, 0).Missing() {
		t.Error("got a tree, want none")
	}
	var p ShortestPathPredictor
	if p.Predict(make([]Prediction, 3), e, 0) {
		t.Error("got a prediction, want none")
	}
}

func TestTreeObserverRefusesDepths(t *testing.T) {
	for _, depth := range []int{-1, MaxTreeDepth + 1} {
		if _, err := NewTreeObserver(depth); err == nil {
			t.Errorf("got no error for depth %d", depth)
		}
	}
	o, err := NewTreeObserver(0)
	if err != nil {
		t.Fatal(err)
	}
	if got := o.Len(); got != TreeFeatures {
		t.Errorf("got %d values at depth 0, want %d", got, TreeFeatures)
	}
	e := observed(t, "t04_tiles_8ag_plan", 10)
	o.Look(e)
	tree := o.Tree(make([]float64, o.Len()), 0)
	if _, ok := tree.Child(1); ok || tree.Missing() {
		t.Errorf("got %v with children at depth 0, want a root alone", tree)
	}
}

// TestObservationsDoNotAllocate once they have been made.
func TestObservationsDoNotAllocate(t *testing.T) {
	e := observed(t, "t50_tiles_200ag", 30)
	o, err := NewTreeObserver(2)
	if err != nil {
		t.Fatal(err)
	}
	dst, flat := make([]float64, o.Len()), make([]float64, o.Len())
	cells := e.net.width * e.net.height
	state, targets := make([]float64, GlobalState*cells), make([]float64, GlobalTargets*cells)
	var p ShortestPathPredictor
	predicted := make([]Prediction, 21)
	got := testing.AllocsPerRun(5, func() {
		o.Look(e)
		for i := range e.Trains() {
			o.Tree(dst, i).FlattenNormalized(flat, 2)
			p.Predict(predicted, e, i)
		}
		e.ObserveGlobal(state, targets, 0)
	})
	if got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}
