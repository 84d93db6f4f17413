package rail

import (
	"errors"
	"math"
)

// Unreachable is the distance of a configuration from which there is no way to the target.
const Unreachable = math.MaxInt32

// distances are the moves from every valid configuration to the nearest of one target cell.
type distances struct {
	moves []int32 // by the network's rank
}

// newDistances searches backwards from all valid configurations of the target cell at once, by the network's predecessors.
func newDistances(net *Network, before [][4]int32, target Node) *distances {
	d := &distances{moves: make([]int32, len(net.nodes))}
	for i := range d.moves {
		d.moves[i] = Unreachable
	}
	queue := make([]int32, 0, len(net.nodes))
	for h := North; h <= West; h++ {
		if r := net.rank[target&^3+Node(h)]; r >= 0 {
			d.moves[r] = 0
			queue = append(queue, r)
		}
	}
	for at := 0; at < len(queue); at++ {
		next := d.moves[queue[at]] + 1
		for _, r := range before[queue[at]] {
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
	r := e.net.rank[from]
	if r < 0 {
		return Unreachable
	}
	return int(e.distanceMap(i).moves[r])
}

func (e *Env) distanceMap(i int) *distances {
	k := e.plan.targetOf[i]
	if e.distances[k] == nil {
		if e.before == nil {
			e.before = e.net.predecessors()
		}
		e.distances[k] = newDistances(e.net, e.before, e.plan.targets[k])
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
