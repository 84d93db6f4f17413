package rail

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"skyrail/internal/golden"
)

// goldenObservations is schema B: what flatland-rl observed in some moments of an episode.
type goldenObservations struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	TreeDepth   int              `json:"tree_max_depth"`
	Predicted   int              `json:"predictor_max_depth"`
	Radius      float64          `json:"observation_radius"`
	Width       int              `json:"width"`
	Height      int              `json:"height"`
	Grid        [][]Transitions  `json:"grid"`
	Agents      []observedAgent  `json:"agents"`
	Snapshots   []observedMoment `json:"snapshots"`
}

type observedAgent struct {
	Handle   int      `json:"handle"`
	Initial  [3]int   `json:"initial"`
	Targets  [][3]int `json:"targets_in_set_order"`
	MaxSpeed string   `json:"max_speed"`
}

type observedMoment struct {
	Elapsed int                  `json:"elapsed"`
	Agents  []observedTrain      `json:"agents"`
	Tree    []recordedTree       `json:"tree"`
	Flat    []runs               `json:"flat"`
	Norm    []runs               `json:"norm"`
	Pred    [][][4]observedValue `json:"pred"`
	Global  []struct {
		State   [][4]float64 `json:"state"`
		Targets [][3]int     `json:"targets"`
	} `json:"global"`
}

type observedTrain struct {
	State  State   `json:"state"`
	Config *[3]int `json:"config"`
	Malf   int     `json:"malf"`
	Speed  string  `json:"speed"`
}

// observedValue is a number, or one of the texts "inf", "-inf" and "nan".
type observedValue float64

func (r *observedValue) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"inf"`:
		*r = observedValue(math.Inf(1))
	case `"-inf"`:
		*r = observedValue(math.Inf(-1))
	case `"nan"`:
		*r = observedValue(math.NaN())
	default:
		v, err := strconv.ParseFloat(string(b), 64)
		*r = observedValue(v)
		return err
	}
	return nil
}

// is compares bits, but for the sign of zero and the payload of NaN.
func (r observedValue) is(got float64) bool {
	return got == float64(r) || math.IsNaN(got) && math.IsNaN(float64(r))
}

// runs is a vector in runs of [count, value].
type runs [][2]observedValue

func (r runs) differs(got []float64) error {
	k := 0
	for _, run := range r {
		for range int(run[0]) {
			if k >= len(got) {
				return fmt.Errorf("got %d values, want more", len(got))
			}
			if !run[1].is(got[k]) {
				return fmt.Errorf("value %d: got %v, want %v", k, got[k], run[1])
			}
			k++
		}
	}
	if k != len(got) {
		return fmt.Errorf("got %d values, want %d", len(got), k)
	}
	return nil
}

// recordedTree is a node with its children, or missing.
type recordedTree struct {
	missing  bool
	Features []observedValue         `json:"f"`
	Children map[string]recordedTree `json:"c"`
}

func (r *recordedTree) UnmarshalJSON(b []byte) error {
	if string(b) == `"-inf"` {
		r.missing = true
		return nil
	}
	type fields recordedTree
	return golden.Decode(b, (*fields)(r))
}

func (r *recordedTree) differs(got Tree) error {
	if r.missing || got.Missing() {
		for k, x := range got.Values {
			if !math.IsInf(x, -1) {
				return fmt.Errorf("value %d of a missing node is %v, want -Inf", k, x)
			}
		}
		if !r.missing {
			return fmt.Errorf("got no node, want %v", r.Features)
		}
		return nil
	}
	if len(r.Features) != TreeFeatures {
		return fmt.Errorf("got %d features, want %d", TreeFeatures, len(r.Features))
	}
	for f, want := range r.Features {
		if x := got.At(TreeFeature(f)); !want.is(x) {
			return fmt.Errorf("%s: got %v, want %v", TreeFeature(f), x, want)
		}
	}
	children := 0
	for b, letter := range "LFRB" {
		child, ok := got.Child(b)
		if !ok {
			continue
		}
		children++
		want, ok := r.Children[string(letter)]
		if !ok {
			return fmt.Errorf("got a child %c, want none", letter)
		}
		if err := want.differs(child); err != nil {
			return fmt.Errorf("%c: %w", letter, err)
		}
	}
	if children != len(r.Children) {
		return fmt.Errorf("got %d children, want %d", children, len(r.Children))
	}
	return nil
}

// env is an environment of the recorded trains; timetables are not recorded, and no observation depends on them.
func (g *goldenObservations) env() (*Env, error) {
	s := &Scenario{Width: g.Width, Height: g.Height}
	for _, row := range g.Grid {
		s.Grid = append(s.Grid, row...)
	}
	for i, a := range g.Agents {
		if a.Handle != i {
			return nil, fmt.Errorf("agent %d has handle %d", i, a.Handle)
		}
		t := Train{Initial: Configuration{Cell{a.Initial[0], a.Initial[1]}, Heading(a.Initial[2])}}
		if len(a.Targets) == 0 {
			return nil, fmt.Errorf("agent %d has no target", i)
		}
		t.Target = Cell{a.Targets[0][0], a.Targets[0][1]}
		var err error
		if t.MaxSpeed, err = ParseFraction(a.MaxSpeed); err != nil {
			return nil, err
		}
		s.Trains = append(s.Trains, t)
	}
	return New(s, Options{})
}

func (g *goldenObservations) checkTargets(e *Env) error {
	for i, a := range g.Agents {
		var got [][3]int
		for _, n := range targetOrder(nil, e.net, e.trains[i].target>>2) {
			c := e.net.Configuration(n)
			got = append(got, [3]int{c.Row, c.Col, int(c.Heading)})
		}
		if !slices.Equal(got, a.Targets) {
			return fmt.Errorf("agent %d: got targets in the order %v, want %v", i, got, a.Targets)
		}
	}
	return nil
}

func (m *observedMoment) restore(e *Env) error {
	s := e.Snapshot()
	if len(m.Agents) != len(s.Trains) {
		return fmt.Errorf("%d agents, want %d", len(m.Agents), len(s.Trains))
	}
	s.Elapsed = m.Elapsed
	for i, a := range m.Agents {
		t := &s.Trains[i]
		t.State, t.Malfunction = a.State, a.Malf
		t.Configuration = Nowhere
		if a.Config != nil {
			t.Configuration = Configuration{Cell{a.Config[0], a.Config[1]}, Heading(a.Config[2])}
		}
		var err error
		if t.Speed, err = ParseFraction(a.Speed); err != nil {
			return err
		}
	}
	return e.Restore(s)
}

// checkObservations compares every observation of a recording with ours and returns the first difference.
func checkObservations(data []byte) error {
	var g goldenObservations
	if err := golden.Decode(data, &g); err != nil {
		return err
	}
	e, err := g.env()
	if err != nil {
		return err
	}
	if err := g.checkTargets(e); err != nil {
		return err
	}
	trees, err := NewTreeObserver(g.TreeDepth)
	if err != nil {
		return err
	}
	for k := range g.Snapshots {
		m := &g.Snapshots[k]
		if err := m.restore(e); err != nil {
			return fmt.Errorf("snapshot %d: %w", k, err)
		}
		trees.Look(e)
		for i := range g.Agents {
			if err := g.check(e, trees, m, i); err != nil {
				return fmt.Errorf("snapshot %d, agent %d: %w", k, i, err)
			}
		}
	}
	return nil
}

func (g *goldenObservations) check(e *Env, trees *TreeObserver, m *observedMoment, i int) error {
	n := len(g.Agents)
	if len(m.Tree) != n || len(m.Flat) != n || len(m.Norm) != n || len(m.Pred) != n || len(m.Global) != n {
		return fmt.Errorf("not one observation of every agent")
	}
	tree := trees.Tree(make([]float64, trees.Len()), i)
	if err := m.Tree[i].differs(tree); err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	flat := make([]float64, trees.Len())
	tree.Flatten(flat)
	if err := m.Flat[i].differs(flat); err != nil {
		return fmt.Errorf("flat: %w", err)
	}
	tree.FlattenNormalized(flat, g.Radius)
	if err := m.Norm[i].differs(flat); err != nil {
		return fmt.Errorf("norm: %w", err)
	}
	if err := g.checkPrediction(e, m.Pred[i], i); err != nil {
		return fmt.Errorf("pred: %w", err)
	}
	state, targets := make([]float64, GlobalState*len(e.net.grid)), make([]float64, GlobalTargets*len(e.net.grid))
	e.ObserveGlobal(state, targets, i)
	if got := sparse(state, g.Width, []float64{-1, -1, -1, -1, 0}); !slices.Equal(got, m.Global[i].State) {
		return fmt.Errorf("global state: got %v, want %v", got, m.Global[i].State)
	}
	var marked [][3]int
	for _, v := range sparse(targets, g.Width, []float64{0, 0}) {
		if v[3] != 1 {
			return fmt.Errorf("global targets: got %v, want only ones", v)
		}
		marked = append(marked, [3]int{int(v[0]), int(v[1]), int(v[2])})
	}
	if !slices.Equal(marked, m.Global[i].Targets) {
		return fmt.Errorf("global targets: got %v, want %v", marked, m.Global[i].Targets)
	}
	return nil
}

func (g *goldenObservations) checkPrediction(e *Env, want [][4]observedValue, i int) error {
	if len(want) != g.Predicted+1 {
		return fmt.Errorf("got %d rows, want %d", g.Predicted+1, len(want))
	}
	got := make([]Prediction, g.Predicted+1)
	var p ShortestPathPredictor
	if !p.Predict(got, e, i) {
		return fmt.Errorf("got none, want one")
	}
	for t, row := range got {
		values := [4]float64{float64(row.Row), float64(row.Col), float64(row.Heading), float64(row.Action)}
		if row.Heading == NoHeading {
			values[2] = math.NaN()
		}
		for k, v := range values {
			if !want[t][k].is(v) {
				return fmt.Errorf("row %d: got %v, want %v", t, values, want[t])
			}
		}
		if row.Time != t {
			return fmt.Errorf("row %d: got time %d", t, row.Time)
		}
	}
	return nil
}

// sparse lists the entries [row, col, channel, value] of an array that differ from what a cell is by default.
func sparse(v []float64, width int, standard []float64) (entries [][4]float64) {
	for k, x := range v {
		cell, channel := k/len(standard), k%len(standard)
		if x != standard[channel] {
			entries = append(entries, [4]float64{float64(cell / width), float64(cell % width), float64(channel), x})
		}
	}
	return entries
}

// TestObservationGoldenNoticesEveryChange shows that no observation passes unread: one changed value is found.
func TestObservationGoldenNoticesEveryChange(t *testing.T) {
	files, err := filepath.Glob("testdata/engine/obs*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden file: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json.gz"), func(t *testing.T) {
			t.Parallel()
			data := golden.Read(t, path)
			var g goldenObservations
			if err := json.Unmarshal(data, &g); err != nil {
				t.Fatal(err)
			}
			tries := 100
			if testing.Short() {
				tries = 20
			}
			golden.Mutate(t, data, tries, g.informative, checkObservations)
		})
	}
}

// informative names what no observation depends on: names, the number of the step, and of a train that has not entered
// which of the three states before that it is in. A cell of the grid may be one that no train comes to, and a
// null cannot be changed.
func (g *goldenObservations) informative(path string) bool {
	parts := strings.Split(path, ".")
	switch parts[0] {
	case "name", "description", "grid":
		return true
	}
	switch parts[len(parts)-1] {
	case "elapsed", "config":
		return true
	case "state":
		k, _ := strconv.Atoi(parts[1])
		i, _ := strconv.Atoi(parts[3])
		return g.Snapshots[k].Agents[i].State.OffMap()
	}
	return false
}
