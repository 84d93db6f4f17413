package rail

import "math"

// Unreachable is the distance of a configuration from which there is no way to the target.
const Unreachable = math.MaxInt32

// distances are the moves from every valid configuration to the nearest of one target cell.
type distances struct {
	moves []int32 // by the network's rank
}

// newDistances searches backwards from all valid configurations of the target cell at once.
func newDistances(net *Network, target Node) *distances {
	d := &distances{moves: make([]int32, net.valid)}
	for i := range d.moves {
		d.moves[i] = Unreachable
	}
	queue := make([]Node, 0, net.valid)
	for h := North; h <= West; h++ {
		if n := target&^3 + Node(h); net.rank[n] >= 0 {
			d.moves[net.rank[n]] = 0
			queue = append(queue, n)
		}
	}
	var from [4]Node
	for at := 0; at < len(queue); at++ {
		next := d.moves[net.rank[queue[at]]] + 1
		for _, p := range net.Predecessors(from[:0], queue[at]) {
			if r := net.rank[p]; d.moves[r] == Unreachable {
				d.moves[r] = next
				queue = append(queue, p)
			}
		}
	}
	return d
}

// DistanceTo is the number of moves from a configuration to a train's target, other trains and intermediate stops left
// aside, or [Unreachable]. The map of a target is worked out when it is first asked for.
func (e *Env) DistanceTo(i int, from Node) int {
	r := e.net.rank[from]
	if r < 0 {
		return Unreachable
	}
	return int(e.distanceMap(i).moves[r])
}

func (e *Env) distanceMap(i int) *distances {
	k := e.plan.targetOf[i]
	if e.distances[k] == nil {
		e.distances[k] = newDistances(e.net, e.plan.targets[k])
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
// included (quirk), and 0 if there is no way.
func (e *Env) travelTime(i int) int {
	n, ok := e.start(i)
	if !ok {
		return 0
	}
	cells := 0
	if !e.walk(i, n, 0, func(Node) { cells++ }) {
		return 0
	}
	speed := e.trains[i].maxSpeed
	if speed.Sign() == 0 {
		return Unreachable // the reference divides by zero here
	}
	if num, den, ok := speed.Int64s(); ok {
		if steps, ok := mul64(int64(cells), den); ok {
			return int(min((steps-1)/num+1, Unreachable)) // there is a cell, so a step too
		}
	}
	return ceilDiv(cells, speed)
}
