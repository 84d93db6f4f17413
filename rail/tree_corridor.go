package rail

import (
	"math"
	"math/bits"
)

// corridors are the ways of a network along which a train has no choice, as the tree observation walks them. They do not
// depend on the trains, and each is worked out when it is first asked for: trains see little of a large network.
type corridors struct {
	net  *Network
	next []Node     // of each valid node on a known corridor the one after it, NoNode at its end
	ways []corridor // of each valid node, by rank, the corridor that begins in it; cells is 0 if it is not known
	path []stretch  // for follow
}

func newCorridors(net *Network) *corridors {
	return &corridors{net: net, next: make([]Node, 4*len(net.grid)), ways: make([]corridor, len(net.nodes))}
}

// way is the corridor that begins in a node. One that is not valid is a corridor of its own, which ends in it.
func (c *corridors) way(n Node) corridor {
	r := c.net.rank[n]
	if r < 0 {
		_, way := c.begin(n)
		return way
	}
	if c.ways[r].cells == 0 {
		c.follow(n)
	}
	return c.ways[r]
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

// stretch is a cell on the way of follow, and the corridor that is only this cell.
type stretch struct {
	rank int32
	corridor
}

// follow works out the corridors that begin in a node and in those after it. Every node has one next or none, so following
// them leads to an end, to a corridor that is known, or into a circle.
func (c *corridors) follow(n Node) {
	c.path = c.path[:0]
	var rest corridor // after the path
	for n != NoNode {
		r := c.net.rank[n]
		if r < 0 || c.ways[r].cells > 0 {
			rest = c.way(n)
			break
		}
		if place := -c.ways[r].cells; place > 0 {
			rest = c.close(c.path[place-1:])
			c.path = c.path[:place-1]
			break
		}
		next, way := c.begin(n)
		c.next[n] = next
		c.path = append(c.path, stretch{r, way})
		c.ways[r].cells = -int32(len(c.path)) // 1 + its place on the path
		n = next
	}
	for k := len(c.path) - 1; k >= 0; k-- {
		s := &c.path[k]
		if rest.cells > 0 {
			s.corridor = s.before(rest)
		}
		rest = s.corridor
		c.ways[s.rank] = rest
	}
}

// before puts a cell in front of a corridor.
func (w corridor) before(rest corridor) corridor {
	if w.unusable == notMet && rest.unusable != notMet {
		w.unusable = rest.unusable + 1
	}
	return corridor{rest.last, rest.cells + 1, w.unusable, rest.end}
}

// close works out the corridors of a circle, and returns the one of its first node.
func (c *corridors) close(circle []stretch) corridor {
	unusable := int32(notMet) // from the node after the one in hand
	for round := range 2 {
		for k := len(circle) - 1; k >= 0; k-- {
			s := &circle[k]
			switch {
			case s.unusable == 0:
				unusable = 0
			case unusable != notMet:
				unusable++
			}
			if round == 1 {
				c.ways[s.rank] = corridor{s.last, int32(len(circle)) + 1, unusable, circles}
			}
		}
	}
	return c.ways[circle[0].rank]
}
