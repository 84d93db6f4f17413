package rail

import (
	"fmt"
	"math"
)

// TreeObserver builds the tree observation of flatland-rl (TreeObsForRailEnv): what a train meets along the rails, branch
// by branch, as far as a number of decisions.
//
// The root of the tree is where the train is, or will enter. Each child is the way that leads off to the left, ahead, to
// the right or back, up to the next place where this train has a choice, its target, or the end of the line; there the
// next children begin. Only the numbers depend on the trains, so the ways of a network are worked out once and an
// observer is worth keeping: call [TreeObserver.Look] once a step, then [TreeObserver.Tree] for each train one wants.
// Neither allocates after the first episode on a network.
//
// The reference's tree is the same with any predictor that works and without one (quirk: see [TreePotentialConflict]),
// so an observer has none. An observer is not safe for concurrent use; it may serve any number of environments in turn.
type TreeObserver struct {
	depth   int
	sizes   []int                 // of a subtree with so many levels below its root, its values
	missing []float64             // as many as a tree has, all -Inf
	nothing [TreeFeatures]float64 // of a node where nothing is met

	env       *Env
	plan      *plan // whose targets are marked
	corridors *corridors
	arrived   []Node     // by target of the plan: where a train that has arrived is taken to be
	marks     []landmark // by cell
	last      []int32
	ready     []int32 // by cell: trains that are still to enter there
	touched   []int32 // cells that the trains of the last look are in
	sights    []sight // by train
}

// landmark says what there is to see in a cell.
type landmark uint8

const (
	occupied landmark = 1 << iota
	targeted          // it is the target of some train
)

// sight is what others see of a train on the map.
type sight struct {
	speed       float64
	malfunction int
	ready       int // trains still to enter in its cell
	heading     Heading
}

// MaxTreeDepth is the greatest depth of a tree; its 1 398 101 nodes take 134 MB.
const MaxTreeDepth = 10

// TreeBranches is the number of children of a node: left, forward, right, back.
const TreeBranches = 4

// TreeFeature is one of the numbers of a node, in the reference's order. Distances are in cells from the root, and
// +Inf for what is not met.
type TreeFeature int

// The features of a node. At the root all are 0 but three: the distance to the target, the train's own malfunction
// counter and its own speed.
const (
	TreeOwnTarget         TreeFeature = iota // distance of the train's target
	TreeOtherTarget                          // distance of the first target of another
	TreeOtherAgent                           // distance of the first train
	TreePotentialConflict                    // quirk: always +Inf, the reference compares a list with numbers
	TreeUnusableSwitch                       // distance of the first switch that leaves no choice in this direction
	TreeNextBranch                           // distance of the end of the way; +Inf if it ends nowhere
	TreeTargetDistance                       // moves from there to the train's target, +Inf if there is no way
	TreeSameDirection                        // trains met that head the same way
	TreeOppositeDirection                    // trains met that do not
	TreeMalfunctioning                       // the greatest malfunction counter met, in steps
	TreeMinSpeed                             // the lowest speed met of trains that head the same way, in cells per step, at most 1
	TreeReadyToDepart                        // quirk: trains that are still to enter, but only in cells where a train is
	TreeFeatures          = iota             // how many
)

var featureNames = [TreeFeatures]string{
	"dist_own_target_encountered", "dist_other_target_encountered", "dist_other_agent_encountered", "dist_potential_conflict",
	"dist_unusable_switch", "dist_to_next_branch", "dist_min_to_target", "num_agents_same_direction", "num_agents_opposite_direction",
	"num_agents_malfunctioning", "speed_min_fractional", "num_agents_ready_to_depart",
}

// String is the reference's name.
func (f TreeFeature) String() string {
	if f < 0 || int(f) >= len(featureNames) {
		return fmt.Sprintf("TreeFeature(%d)", int(f))
	}
	return featureNames[f]
}

// TreeNodes is the number of nodes of a tree: (4^(depth+1)-1)/3, counting those that are missing.
func TreeNodes(depth int) int {
	nodes := 1
	for range depth {
		nodes = TreeBranches*nodes + 1
	}
	return nodes
}

// NewTreeObserver returns an observer of trees with so many levels below the root, 0 to [MaxTreeDepth].
func NewTreeObserver(depth int) (*TreeObserver, error) {
	if depth < 0 || depth > MaxTreeDepth {
		return nil, fmt.Errorf("a tree of depth %d: want 0 to %d", depth, MaxTreeDepth)
	}
	o := &TreeObserver{depth: depth}
	for below := range depth + 1 {
		o.sizes = append(o.sizes, TreeFeatures*TreeNodes(below))
	}
	o.missing = make([]float64, o.sizes[depth])
	fill(o.missing, math.Inf(-1))
	inf := math.Inf(1)
	o.nothing = [TreeFeatures]float64{
		TreeOwnTarget: inf, TreeOtherTarget: inf, TreeOtherAgent: inf, TreePotentialConflict: inf, TreeUnusableSwitch: inf,
		TreeNextBranch: inf, TreeTargetDistance: inf, TreeMinSpeed: 1,
	}
	return o, nil
}

// Depth is the number of levels below the root.
func (o *TreeObserver) Depth() int { return o.depth }

// Len is the number of values of a tree: TreeFeatures for each of its [TreeNodes].
func (o *TreeObserver) Len() int { return o.sizes[o.depth] }

// Look takes in where the trains of an environment are. The trees that follow show the environment as it is now;
// after a step, look again.
func (o *TreeObserver) Look(e *Env) {
	if o.corridors == nil || o.corridors.net != e.net {
		o.corridors = newCorridors(e.net)
		o.plan = nil
	}
	o.env = e
	if o.plan != e.plan {
		o.learn(e)
	}
	for _, cell := range o.touched {
		o.marks[cell] &^= occupied
		o.ready[cell] = 0
	}
	o.touched = o.touched[:0]
	for i := range e.trains {
		switch t := &e.trains[i]; {
		case t.state.OffMap():
			o.touch(t.initial >> 2)
			o.ready[t.initial>>2]++
		case t.node != NoNode:
			o.touch(t.node >> 2)
			o.marks[t.node>>2] |= occupied
			o.last[t.node>>2] = int32(i) // quirk: of several trains on a bridge only the last is seen
		}
	}
	for i := range e.trains {
		if t := &e.trains[i]; !t.state.OffMap() && t.node != NoNode {
			o.sights[i] = sight{t.speed.Float64(), t.malfunction, int(o.ready[t.node>>2]), t.node.Heading()}
		}
	}
}

func (o *TreeObserver) touch(cell Node) { o.touched = append(o.touched, int32(cell)) }

// learn takes in what stays while the trains have the same targets.
func (o *TreeObserver) learn(e *Env) {
	o.plan = e.plan
	cells := e.net.width * e.net.height
	if len(o.marks) != cells {
		o.marks, o.last, o.ready = make([]landmark, cells), make([]int32, cells), make([]int32, cells)
	}
	clear(o.marks)
	clear(o.ready)
	o.touched = o.touched[:0]
	if len(o.sights) != len(e.trains) {
		o.sights = make([]sight, len(e.trains))
	}
	o.arrived = o.arrived[:0]
	for _, target := range e.plan.targets {
		o.marks[target>>2] |= targeted
		o.arrived = append(o.arrived, firstTarget(e.net, target>>2))
	}
}

// Tree writes the tree of a train into dst, which must have room for Len values, and returns it. It shows the
// environment that was last looked at. Where the reference knows no place for a train, which no step leads to, the whole
// tree is missing.
func (o *TreeObserver) Tree(dst []float64, i int) Tree {
	dst = dst[:o.Len()]
	tree := Tree{o.depth, dst}
	root, ok := o.env.start(i)
	if !ok && o.env.trains[i].state == Done {
		root = o.arrived[o.plan.targetOf[i]]
	}
	if root == NoNode {
		copy(dst, o.missing)
		return tree
	}
	t := &o.env.trains[i]
	v := view{o, t.target >> 2, o.env.distanceMap(i).moves}
	clear(dst[:TreeFeatures])
	dst[TreeTargetDistance] = v.distance(root)
	dst[TreeMalfunctioning] = float64(t.malfunction)
	dst[TreeMinSpeed] = t.speed.Float64()
	if o.depth > 0 {
		exits := exitsOf(o.env.net.grid[root>>2], root.Heading())
		ahead := root.Heading()
		if exits.count == 1 {
			ahead = exits.only
		}
		v.children(dst, o.depth, root, ahead, exits.mask, 1)
	}
	return tree
}

// view is how one train sees the network.
type view struct {
	*TreeObserver
	target Node    // cell
	moves  []int32 // to it
}

func (v *view) distance(n Node) float64 {
	r := v.corridors.net.rank[n]
	if r < 0 || v.moves[r] == Unreachable {
		return math.Inf(1)
	}
	return float64(v.moves[r])
}

// children writes the subtrees of a node: the ways out of its cell in a mask of directions, beginning with the one to the
// left of a heading.
func (v *view) children(dst []float64, below int, node Node, ahead Heading, exits uint8, dist int) {
	size := v.sizes[below-1]
	dst = dst[TreeFeatures:]
	for b := range Heading(TreeBranches) {
		out := ahead.turn(b - 1)
		if exits>>(3-out)&1 == 0 {
			copy(dst[:size], v.missing)
		} else {
			v.explore(dst[:size], below-1, v.corridors.net.neighbour(node>>2, out), dist)
		}
		dst = dst[size:]
	}
}

// explore writes the subtree of the way that begins in a configuration.
func (v *view) explore(dst []float64, below int, from Node, dist int) {
	node := (*[TreeFeatures]float64)(dst)
	*node = v.nothing
	if from == NoNode { // outside the grid, where the reference would wrap around or fail
		copy(dst[TreeFeatures:], v.missing)
		return
	}
	way := v.corridors.way(from)
	next, marks := v.corridors.next, v.marks
	n := from
	arrival := way.cells // so many cells before the target
	for k := range way.cells {
		if m := marks[n>>2]; m != 0 {
			if m&occupied != 0 {
				v.meet(node, n, dist+int(k))
			}
			if m&targeted != 0 {
				if n>>2 == v.target {
					arrival = k
					break
				}
				node[TreeOtherTarget] = min(node[TreeOtherTarget], float64(dist+int(k)))
			}
		}
		n = next[n]
	}
	if way.unusable < arrival {
		node[TreeUnusableSwitch] = float64(dist + int(way.unusable))
	}
	if arrival < way.cells {
		end := float64(dist + int(arrival))
		node[TreeOwnTarget], node[TreeNextBranch], node[TreeTargetDistance] = end, end, 0
		copy(dst[TreeFeatures:], v.missing)
		return
	}
	if way.end == leaves {
		copy(dst[TreeFeatures:], v.missing)
		return
	}
	node[TreeTargetDistance] = v.distance(way.last)
	end := dist + int(way.cells)
	exits, ahead := uint8(0), way.last.Heading()
	switch way.end {
	case branches:
		node[TreeNextBranch] = float64(end - 1)
		exits = v.corridors.net.grid[way.last>>2].Exits(ahead)
	case turnsBack:
		node[TreeNextBranch] = float64(end - 1)
		exits = v.corridors.net.grid[way.last>>2].Exits(ahead)
		ahead = ahead.turn(2) // quirk: the way back from a dead end is the child F
	}
	if below > 0 {
		v.children(dst, below, way.last, ahead, exits, end)
	}
}

// meet counts the train in a cell, which may be the observer itself (quirk).
func (v *view) meet(node *[TreeFeatures]float64, n Node, dist int) {
	s := &v.sights[v.last[n>>2]]
	node[TreeOtherAgent] = min(node[TreeOtherAgent], float64(dist))
	node[TreeMalfunctioning] = max(node[TreeMalfunctioning], float64(s.malfunction))
	node[TreeReadyToDepart] += float64(s.ready)
	if s.heading == n.Heading() {
		node[TreeSameDirection]++
		node[TreeMinSpeed] = min(node[TreeMinSpeed], s.speed)
	} else {
		node[TreeOppositeDirection]++
	}
}

// Tree is the tree observation of a train, or a subtree of it: its nodes in pre-order, each followed by the subtrees of
// its children left, forward, right and back, TreeFeatures values a node. A missing node and all below it are -Inf.
type Tree struct {
	Depth  int // levels below its root
	Values []float64
}

// Missing says that there is no such way.
func (t Tree) Missing() bool { return math.IsInf(t.Values[0], -1) }

// At returns a feature of the tree's root.
func (t Tree) At(f TreeFeature) float64 { return t.Values[f] }

// Child returns the subtree of a child, 0 to 3 for left, forward, right and back. A tree of depth 0 has none: ok is
// false.
func (t Tree) Child(branch int) (child Tree, ok bool) {
	if t.Depth == 0 || branch < 0 || branch >= TreeBranches {
		return Tree{}, false
	}
	size := (len(t.Values) - TreeFeatures) / TreeBranches
	from := TreeFeatures + branch*size
	return Tree{t.Depth - 1, t.Values[from : from+size]}, true
}
