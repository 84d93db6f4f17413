package rail

import (
	"errors"
	"math"
)

// Unreachable is the distance of a configuration from which there is no way to the target.
const Unreachable = math.MaxInt32

// Distances are the moves from every configuration to the nearest one of a cell in which a train can be.
type Distances struct {
	rank  []int32 // of the network
	moves []int32 // by rank
}

// From is the number of moves from a configuration, or [Unreachable].
func (d *Distances) From(n Node) int {
	if r := d.rank[n]; r >= 0 {
		return int(d.moves[r])
	}
	return Unreachable
}

// DistanceFinder works out [Distances] on one network. It does not change and may be shared.
type DistanceFinder struct {
	net    *Network
	before [][4]int32 // by rank, the ranks from which a transition leads there; -1: none
}

// NewDistanceFinder returns a finder for a network.
func NewDistanceFinder(net *Network) *DistanceFinder { return &DistanceFinder{net, net.predecessors()} }

// To works out the distances to a cell, which must be inside the grid: a search backwards from all valid configurations
// of the cell at once.
func (f *DistanceFinder) To(target Cell) *Distances {
	first := f.net.Node(Configuration{target, North})
	d := &Distances{rank: f.net.rank, moves: make([]int32, len(f.net.nodes))}
	for i := range d.moves {
		d.moves[i] = Unreachable
	}
	queue := make([]int32, 0, len(f.net.nodes))
	for h := range Node(4) {
		if r := f.net.rank[first+h]; r >= 0 {
			d.moves[r] = 0
			queue = append(queue, r)
		}
	}
	for at := 0; at < len(queue); at++ {
		next := d.moves[queue[at]] + 1
		for _, r := range f.before[queue[at]] {
			if r < 0 {
				break
			}
			if d.moves[r] == Unreachable {
				d.moves[r] = next
				queue = append(queue, r)
			}
		}
	}
	return d
}

// errNoSpeed is the error of a reward that divides by a maximum speed of 0. A reset of a file saved in the middle of an
// episode leads to it, as the speed of a standing train becomes its maximum (quirk).
var errNoSpeed = errors.New("its maximum speed is 0, and its reward is a matter of how long it would travel")

// DistanceTo is the number of moves from a configuration to a train's target, other trains and intermediate stops left
// aside, or [Unreachable]. The map of a target is worked out when it is first asked for.
func (e *Env) DistanceTo(i int, from Node) int {
	if e.net.rank[from] < 0 {
		return Unreachable
	}
	return e.distanceMap(i).From(from)
}

func (e *Env) distanceMap(i int) *Distances {
	k := e.plan.targetOf[i]
	if e.distances[k] == nil {
		if e.finder == nil {
			e.finder = NewDistanceFinder(e.net)
		}
		e.distances[k] = e.finder.To(e.net.Cell(e.plan.targets[k]))
	}
	return e.distances[k]
}

// start is where a train is, or will enter; ok is false once it has arrived.
func (e *Env) start(i int) (n Node, ok bool) {
	t := &e.trains[i]
	switch {
	case t.state.OffMap():
		return t.initial, true
	case t.state.OnMap() && t.node != NoNode:
		return t.node, true
	}
	return NoNode, false
}

// ShortestPath appends to dst the configurations from where a train is (or enters) to its target, both included, at
// most maxDepth of them; 0 stands for no limit. Of equally short ways it takes the first of left, forward, right. It
// returns nil if there is no way or the train has arrived.
func (e *Env) ShortestPath(dst []Node, i, maxDepth int) []Node {
	n, ok := e.start(i)
	if !ok {
		return nil
	}
	path := dst
	if !e.walk(i, n, maxDepth, func(n Node) { path = append(path, n) }) {
		return nil
	}
	return path
}

// walk follows the falling distances and shows every configuration on the way. It says whether there is one.
func (e *Env) walk(i int, n Node, maxDepth int, show func(Node)) bool {
	t := &e.trains[i]
	best := math.MaxInt
	var successors [3]Node
	for depth := 0; ; depth++ {
		if maxDepth > 0 && depth >= maxDepth {
			return true
		}
		show(n)
		if e.isTarget(t, n) {
			return true
		}
		next := NoNode
		for _, s := range e.net.Successors(successors[:0], n) {
			if d := e.DistanceTo(i, s); d < Unreachable && d < best {
				best, next = d, s
			}
		}
		if next == NoNode {
			return false
		}
		n = next
	}
}

// travelTime is the steps a train needs for its shortest way at full speed: ceil(cells/speed), both end cells
// included (quirk), and 0 if there is no way. It is an error if its full speed is 0, where the reference divides by it.
func (e *Env) travelTime(i int) (int, error) {
	n, ok := e.start(i)
	if !ok {
		return 0, nil
	}
	cells := 0
	if !e.walk(i, n, 0, func(Node) { cells++ }) {
		return 0, nil
	}
	speed := e.trains[i].maxSpeed
	if speed.Sign() == 0 {
		return 0, errNoSpeed
	}
	if num, den, ok := speed.Int64s(); ok {
		if steps, ok := mul64(int64(cells), den); ok {
			return int(min((steps-1)/num+1, Unreachable)), nil // there is a cell, so a step too
		}
	}
	return ceilDiv(cells, speed), nil
}
