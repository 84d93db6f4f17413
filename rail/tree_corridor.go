package rail

import (
	"math"
	"math/bits"
)

// corridors are the ways of a network along which a train has no choice, as the tree observation walks them. They do not
// depend on the trains.
type corridors struct {
	net  *Network
	next []Node     // of each valid node the one after it in its corridor, NoNode at an end
	ways []corridor // of each valid node, by rank, the corridor that begins in it
}

// way is the corridor that begins in a node. One that is not valid is a corridor of its own, which ends in it.
func (c *corridors) way(n Node) corridor {
	if r := c.net.rank[n]; r >= 0 {
		return c.ways[r]
	}
	_, way := c.begin(n)
	return way
}

// corridor is the way from a configuration to the next choice.
type corridor struct {
	last     Node  // the configuration in which it ends
	cells    int32 // visited on it, both ends included; one that runs in a circle visits the last one twice
	unusable int32 // moves to the first switch on it that cannot be used in this direction, notMet if there is none
	end      corridorEnd
}

const notMet = math.MaxInt32

// corridorEnd is why a corridor ends.
type corridorEnd int8

const (
	goesOn    corridorEnd = iota // not an end
	branches                     // there are several ways on
	turnsBack                    // the cell has a single transition in all, as a dead end has
	stops                        // no way on, as in a cell that cannot be entered that way
	circles                      // it comes back to a configuration of its own
	leaves                       // it runs out of the grid
)

// exits are the ways out of a cell for one heading.
type exits struct {
	mask  uint8 // bit 3 is north, bit 0 west
	count int
	only  Heading // of count 1
}

func exitsOf(t Transitions, h Heading) exits {
	mask := t.Exits(h)
	return exits{mask, bits.OnesCount8(mask), Heading(bits.LeadingZeros8(mask<<4)) & 3}
}

func newCorridors(net *Network) *corridors {
	c := &corridors{net: net, next: make([]Node, 4*len(net.grid)), ways: make([]corridor, len(net.nodes))}
	for r, n := range net.nodes {
		c.next[n], c.ways[r] = c.begin(n)
	}
	c.connect()
	return c
}

// begin looks at a single cell: the node after it, or the corridor that is only this cell.
func (c *corridors) begin(n Node) (next Node, way corridor) {
	t := c.net.grid[n>>2]
	e := exitsOf(t, n.Heading())
	total := bits.OnesCount16(uint16(t))
	if t == DiamondCrossing {
		total = 2 // a straight track, not a switch
	}
	way = corridor{last: n, cells: 1, unusable: notMet}
	if total > 2 && e.count < 2 {
		way.unusable = 0
	}
	switch {
	case e.count == 0:
		way.end = stops
	case e.count > 1:
		way.end = branches
	case total == 1:
		way.end = turnsBack
	default:
		next = c.net.neighbour(n>>2, e.only)
		if next != NoNode {
			return next, way
		}
		way.end = leaves
	}
	return NoNode, way
}

// connect puts the cells together. Every node has one next or none, so following them leads to an end or into a circle.
func (c *corridors) connect() {
	known := make([]bool, len(c.ways))
	place := make([]int32, len(c.ways)) // 1 + the place in path
	var path []Node
	for _, start := range c.net.nodes {
		path = path[:0]
		n := start
		r := c.net.rank[n]
		for r >= 0 && !known[r] && place[r] == 0 {
			path = append(path, n)
			place[r] = int32(len(path))
			if n, r = c.next[n], -1; n != NoNode {
				r = c.net.rank[n]
			}
		}
		tail := len(path)
		if r >= 0 && !known[r] {
			tail = int(place[r]) - 1
			c.close(path[tail:])
		}
		for k := tail - 1; k >= 0; k-- {
			if next := c.next[path[k]]; next != NoNode {
				w := &c.ways[c.net.rank[path[k]]]
				*w = w.before(c.way(next))
			}
		}
		for _, n := range path {
			r := c.net.rank[n]
			known[r], place[r] = true, 0
		}
	}
}

// before puts a cell in front of a corridor.
func (w corridor) before(rest corridor) corridor {
	if w.unusable == notMet && rest.unusable != notMet {
		w.unusable = rest.unusable + 1
	}
	return corridor{rest.last, rest.cells + 1, w.unusable, rest.end}
}

// close works out the corridors of a circle.
func (c *corridors) close(circle []Node) {
	unusable := int32(notMet) // from the node after the one in hand
	for round := range 2 {
		for k := len(circle) - 1; k >= 0; k-- {
			w := &c.ways[c.net.rank[circle[k]]]
			switch {
			case w.unusable == 0:
				unusable = 0
			case unusable != notMet:
				unusable++
			}
			if round == 1 {
				*w = corridor{circle[k], int32(len(circle)) + 1, unusable, circles}
			}
		}
	}
}
