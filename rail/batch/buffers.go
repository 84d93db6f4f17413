package batch

import (
	"errors"
	"fmt"

	"skyrail/rail"
)

// Buffers are the arrays a batch writes into: one row an environment, the values of a row side by side. Shapes stand
// beside the fields, for E environments of at most N trains. A nil array is not written, nor is worked out what only it
// would need.
type Buffers struct {
	Rewards    []float64 // E x N x Rewards.Width, of the last step; 0 after a reset
	Terminated []bool    // E x N, the train has arrived; true for padding
	Truncated  []bool    // E x N, the episode ended before the train had arrived
	AllDone    []bool    // E, the episode ended with the last step

	Now Arrays
	// Final is written in mode SameStep, for the episodes that ended in the last step; other rows are left as they are.
	Final Arrays

	TreeDepth int     // of Tree and FlatTree
	Radius    float64 // of FlatTree
}

// Arrays tell of a moment. What is padding is 0, but for the state, which is -1, the position, -1 too, and the mask.
type Arrays struct {
	State          []int8    // E x N, as rail.State
	Position       []int32   // E x N x 3: row, column, heading; -1 off the map
	Malfunction    []int32   // E x N, steps left
	Speed          []float64 // E x N, cells a step
	Travelled      []float64 // E x N, part of its cell
	Distance       []int32   // E x N, moves to the target from where it is or enters; 0 at the target, -1 without a way
	ActionRequired []bool    // E x N
	Deadlocked     []bool    // E x N
	Masks          []bool    // E x N x rail.Actions, of rail.Env.ActionMask; DO_NOTHING alone for padding
	Elapsed        []int32   // E, steps since the reset

	Tree     []float64 // E x N x rail.TreeNodes x rail.TreeFeatures, nodes in pre-order, -Inf where there is none
	FlatTree []float64 // E x N x as many, flattened and normalised
	Global   []float64 // E x N x H x W x 23: H x W x 16, then H x W x 5, then H x W x 2
}

// GlobalCell is how many values the global observation has for each cell.
const GlobalCell = rail.TransitionBits + rail.GlobalState + rail.GlobalTargets

func (b *Buffers) global() bool { return b.Now.Global != nil || b.Final.Global != nil }

func (a *Arrays) trees() bool { return a.Tree != nil || a.FlatTree != nil }

// shape is an array with the length it should have.
type shape struct {
	name      string
	len, want int
	bound     bool
}

func (a *Arrays) shapes(of string, e, n, tree, cells int) []shape {
	return []shape{
		{of + "states", len(a.State), e * n, a.State != nil},
		{of + "positions", len(a.Position), e * n * 3, a.Position != nil},
		{of + "malfunctions", len(a.Malfunction), e * n, a.Malfunction != nil},
		{of + "speeds", len(a.Speed), e * n, a.Speed != nil},
		{of + "parts travelled", len(a.Travelled), e * n, a.Travelled != nil},
		{of + "distances", len(a.Distance), e * n, a.Distance != nil},
		{of + "actions required", len(a.ActionRequired), e * n, a.ActionRequired != nil},
		{of + "deadlocks", len(a.Deadlocked), e * n, a.Deadlocked != nil},
		{of + "masks", len(a.Masks), e * n * rail.Actions, a.Masks != nil},
		{of + "elapsed steps", len(a.Elapsed), e, a.Elapsed != nil},
		{of + "trees", len(a.Tree), e * n * tree, a.Tree != nil},
		{of + "flat trees", len(a.FlatTree), e * n * tree, a.FlatTree != nil},
		{of + "global observations", len(a.Global), e * n * cells * GlobalCell, a.Global != nil},
	}
}

// Bind makes the batch write into these arrays from now on, and at once what there is to say. The error names an array
// that has not the length the batch needs; then the arrays are as before.
func (b *Batch) Bind(w Buffers) error {
	e, n := len(b.worlds), b.trains
	trees := w.Now.trees() || w.Final.trees()
	if trees && (w.TreeDepth < 0 || w.TreeDepth > rail.MaxTreeDepth) {
		return fmt.Errorf("trees of depth %d: want 0 to %d", w.TreeDepth, rail.MaxTreeDepth)
	}
	tree := 0
	if trees {
		tree = rail.TreeFeatures * rail.TreeNodes(w.TreeDepth)
	}
	first := b.worlds[0].env
	if w.global() {
		for i := range b.worlds {
			if !sameSize(first, b.worlds[i].env) {
				return fmt.Errorf("environment %d has another size than the first, so global observations have not one shape", i)
			}
		}
	}
	cells := first.Network().Width() * first.Network().Height()
	shapes := []shape{
		{"rewards", len(w.Rewards), e * n * b.options.Rewards.Width(), w.Rewards != nil},
		{"terminations", len(w.Terminated), e * n, w.Terminated != nil},
		{"truncations", len(w.Truncated), e * n, w.Truncated != nil},
		{"ends", len(w.AllDone), e, w.AllDone != nil},
	}
	shapes = append(shapes, w.Now.shapes("", e, n, tree, cells)...)
	shapes = append(shapes, w.Final.shapes("final ", e, n, tree, cells)...)
	for _, s := range shapes {
		if s.bound && s.len != s.want {
			return fmt.Errorf("the array of %s has %d values, %d environments of %d trains need %d", s.name, s.len, e, n, s.want)
		}
	}
	for i := range b.worlds {
		if err := b.worlds[i].prepare(trees, tree, w.TreeDepth); err != nil {
			return err
		}
	}
	b.buffers = w
	for i := range b.worlds {
		b.began(i)
	}
	return b.Report()
}

// TreeDepth is the depth of the trees that are bound.
func (b *Batch) TreeDepth() int { return b.buffers.TreeDepth }

// Look writes arrays once, as they would be written if they were bound. Trees need some that are.
func (b *Batch) Look(a Arrays) error {
	e, n := len(b.worlds), b.trains
	first := b.worlds[0].env.Network()
	if a.trees() && b.worlds[0].trees == nil || a.Global != nil && !b.buffers.global() {
		return errors.New("observations can be looked at only if some are bound")
	}
	for _, s := range a.shapes("", e, n, len(b.worlds[0].tree), first.Width()*first.Height()) {
		if s.bound && s.len != s.want {
			return fmt.Errorf("the array of %s has %d values, %d environments of %d trains need %d", s.name, s.len, e, n, s.want)
		}
	}
	for i := range b.worlds {
		b.reportTo(&a, i)
	}
	return nil
}

// prepare makes what observing takes.
func (w *world) prepare(trees bool, tree, depth int) error {
	w.network = nil
	switch {
	case !trees:
		w.trees, w.tree = nil, nil
	case w.trees == nil || w.trees.Depth() != depth:
		observer, err := rail.NewTreeObserver(depth)
		if err != nil {
			return err
		}
		w.trees, w.tree = observer, make([]float64, tree)
	}
	return nil
}

// began writes the outcome of row i before a step: no rewards.
func (b *Batch) began(i int) {
	b.outcome(i)
	if w := &b.buffers; w.Rewards != nil {
		clear(row(i, len(b.worlds), w.Rewards))
	}
}

// nothing writes the outcome of row i for a step in which nothing happened to it: no rewards, and nothing has ended.
func (b *Batch) nothing(i int) {
	w, rows := &b.buffers, len(b.worlds)
	clear(row(i, rows, w.Rewards))
	clear(row(i, rows, w.Truncated))
	terminated := row(i, rows, w.Terminated)
	clear(terminated)
	pad(terminated, b.worlds[i].env.Trains(), true)
	if w.AllDone != nil {
		w.AllDone[i] = false
	}
}

// outcome writes what only a step knows.
func (b *Batch) outcome(i int) {
	w, e, rows := &b.buffers, b.worlds[i].env, len(b.worlds)
	n := e.Trains()
	if w.Rewards != nil {
		copy(row(i, rows, w.Rewards), e.Rewards(0)) // those of padding are 0 from the start
	}
	if w.Terminated != nil {
		r := row(i, rows, w.Terminated)
		for k := range n {
			r[k] = e.State(k) == rail.Done
		}
		pad(r, n, true)
	}
	if w.Truncated != nil {
		r := row(i, rows, w.Truncated)
		for k := range n {
			r[k] = e.AllDone() && e.State(k) != rail.Done
		}
		pad(r, n, false)
	}
	if w.AllDone != nil {
		w.AllDone[i] = e.AllDone()
	}
}

// report writes row i of what tells of now.
func (b *Batch) report(i int) { b.reportTo(&b.buffers.Now, i) }

// reportTo writes row i of some arrays.
func (b *Batch) reportTo(a *Arrays, i int) {
	w, rows := &b.worlds[i], len(b.worlds)
	e := w.env
	n := e.Trains()
	if a.State != nil {
		r := row(i, rows, a.State)
		for k := range r[:n] {
			r[k] = int8(e.State(k))
		}
		pad(r, n, int8(rail.NoState))
	}
	if a.Malfunction != nil {
		r := row(i, rows, a.Malfunction)
		for k := range r[:n] {
			r[k] = int32(e.Malfunction(k))
		}
		pad(r, n, 0)
	}
	if a.Speed != nil {
		r := row(i, rows, a.Speed)
		for k := range r[:n] {
			r[k] = e.Speed(k).Float64()
		}
		pad(r, n, 0)
	}
	if a.ActionRequired != nil {
		r := row(i, rows, a.ActionRequired)
		for k := range r[:n] {
			r[k] = e.ActionRequired(k)
		}
		pad(r, n, false)
	}
	if a.Travelled != nil {
		r := row(i, rows, a.Travelled)
		for k := range n {
			r[k] = e.Travelled(k).Float64()
		}
		pad(r, n, 0)
	}
	if a.Elapsed != nil {
		a.Elapsed[i] = int32(e.Elapsed())
	}
	if a.Position != nil || a.Distance != nil {
		w.locate(row(i, rows, a.Position), row(i, rows, a.Distance))
	}
	if a.Deadlocked != nil {
		w.deadlocks = e.Deadlocked(w.deadlocks[:0])
		r := row(i, rows, a.Deadlocked)
		copy(r, w.deadlocks)
		pad(r, n, false)
	}
	if a.Masks != nil {
		r := row(i, rows, a.Masks)
		for k := range n {
			e.ActionMask(r[k*rail.Actions:], k)
		}
		pad(r, n*rail.Actions, false)
		for k := n; k < b.trains; k++ {
			r[k*rail.Actions+int(rail.DoNothing)] = true
		}
	}
	if a.trees() {
		b.plant(w, row(i, rows, a.Tree), row(i, rows, a.FlatTree))
	}
	if a.Global != nil {
		b.survey(w, row(i, rows, a.Global), a == &b.buffers.Now)
	}
}

// locate writes where the trains are, and how far from their targets.
func (w *world) locate(positions, distances []int32) {
	e := w.env
	for k := range e.Trains() {
		n := e.Node(k)
		if positions != nil {
			p := (*[3]int32)(positions[3*k:])
			*p = [3]int32{-1, -1, -1}
			if n != rail.NoNode {
				c := e.Network().Configuration(n)
				*p = [3]int32{int32(c.Row), int32(c.Col), int32(c.Heading)}
			}
		}
		if distances != nil {
			distances[k] = w.distance(k, n)
		}
	}
	pad(positions, 3*e.Trains(), -1)
	pad(distances, e.Trains(), 0)
}

func (w *world) distance(k int, n rail.Node) int32 {
	switch {
	case w.env.State(k) == rail.Done:
		return 0
	case n == rail.NoNode:
		n = w.env.Initial(k)
	}
	if d := w.env.DistanceTo(k, n); d < rail.Unreachable {
		return int32(d)
	}
	return -1
}

// plant writes the trees of the trains that are observed.
func (b *Batch) plant(w *world, trees, flat []float64) {
	w.trees.Look(w.env)
	size := w.trees.Len()
	n := w.env.Trains()
	for k := range n {
		if b.options.Leave && !w.lives(k) {
			continue
		}
		into := w.tree
		if trees != nil {
			into = trees[k*size : (k+1)*size]
		}
		t := w.trees.Tree(into, k)
		if flat != nil {
			t.FlattenNormalized(flat[k*size:(k+1)*size], b.buffers.Radius)
		}
	}
	pad(trees, n*size, 0)
	pad(flat, n*size, 0)
}

// survey writes the global observations of the trains that are observed. The transitions seldom change; they are left
// alone in rows that still have them.
func (b *Batch) survey(w *world, rows []float64, kept bool) {
	e := w.env
	net := e.Network()
	cells := net.Width() * net.Height()
	size := cells * GlobalCell
	first := rows[:cells*rail.TransitionBits]
	if !kept || w.network != net {
		net.ObserveTransitions(first)
		for k := 1; k < e.Trains(); k++ {
			copy(rows[k*size:], first)
		}
	}
	if kept {
		w.network = net
	}
	for k := range e.Trains() {
		if b.options.Leave && !w.lives(k) {
			continue
		}
		state := rows[k*size+len(first):]
		e.ObserveGlobal(state, state[cells*rail.GlobalState:], k)
	}
	pad(rows, e.Trains()*size, 0)
}

// lives says whether a train was not done before the step.
func (w *world) lives(k int) bool { return w.alive[k] }

// row is row i of an array of so many rows, nil if there is none.
func row[T any](i, rows int, all []T) []T {
	if rows == 1 {
		return all
	}
	n := len(all) / rows
	return all[i*n : (i+1)*n : (i+1)*n]
}

// pad fills what is behind the first n values.
func pad[T any](row []T, n int, with T) {
	for k := n; k < len(row); k++ {
		row[k] = with
	}
}
