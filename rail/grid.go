package rail

import (
	"fmt"
	"math/bits"
)

// Heading is a direction of travel.
type Heading int8

// The headings, clockwise, numbered as in the reference.
const (
	North Heading = iota
	East
	South
	West
	NoHeading Heading = -1 // a waypoint's, where any will do
)

// String is N, E, S, W or none.
func (h Heading) String() string {
	if h < 0 || h > West {
		return "none"
	}
	return "NESW"[h : h+1]
}

// turn returns the heading after by quarter turns to the right.
func (h Heading) turn(by Heading) Heading { return (h + by) & 3 }

var rowStep, colStep = [4]int{-1, 0, 1, 0}, [4]int{0, 1, 0, -1}

// Cell is a place on the grid: row 0 is at the top, column 0 at the left.
type Cell struct{ Row, Col int }

// String is "(row, col)".
func (c Cell) String() string { return fmt.Sprintf("(%d, %d)", c.Row, c.Col) }

// Toward returns the neighbour in a direction, which may lie outside the grid.
func (c Cell) Toward(h Heading) Cell { return Cell{c.Row + rowStep[h], c.Col + colStep[h]} }

// Configuration is a train in a cell, facing the heading in which it travelled when it entered. As a waypoint it
// may have [NoHeading].
type Configuration struct {
	Cell
	Heading Heading
}

// String is "((row, col), heading)" with the heading as a number, as the reference writes it.
func (c Configuration) String() string {
	if c.Heading == NoHeading {
		return fmt.Sprintf("((%d, %d), None)", c.Row, c.Col)
	}
	return fmt.Sprintf("((%d, %d), %d)", c.Row, c.Col, c.Heading)
}

// Transitions is a cell of the grid: 16 bits, four for each heading of a train inside, N, E, S, W from the most
// significant nibble on, and in each nibble one bit for each direction it may leave to, in the same order.
type Transitions uint16

// Exits returns the nibble of a heading: bit 3 is north, bit 0 west.
func (t Transitions) Exits(h Heading) uint8 { return uint8(t>>(12-4*uint(h))) & 15 }

// headings is how many headings have a way out.
func (t Transitions) headings() int {
	any := t | t>>1 | t>>2 | t>>3 // the last bit of each nibble
	return bits.OnesCount16(uint16(any) & 0x1111)
}

// Allows says whether a train inside with heading in may leave towards out.
func (t Transitions) Allows(in, out Heading) bool { return t>>(15-4*uint(in)-uint(out))&1 != 0 }

// Rotated returns the cell turned clockwise by quarter turns.
func (t Transitions) Rotated(quarters int) Transitions {
	for range quarters & 3 {
		var turned Transitions
		for in := North; in <= West; in++ {
			for out := North; out <= West; out++ {
				if t.Allows(in, out) {
					turned |= 1 << (15 - 4*uint(in.turn(1)) - uint(out.turn(1)))
				}
			}
		}
		t = turned
	}
	return t
}

// The regular cells that generators work with, each as one of its rotations; see [Transitions.Rotated].
const (
	StraightTrack Transitions = 32800 // from north to south
	RightTurn     Transitions = 16386 // of a train that heads north
	SwitchLeft    Transitions = 37408
	SwitchRight   Transitions = 49186
	DoubleSlip    Transitions = 52275
)

// DiamondCrossing is the cell where two straight tracks cross without a switch; a level-free one is a bridge.
const DiamondCrossing Transitions = 33825

// Node is a configuration with a heading as an index, 4*(row*width+col)+heading: what the engine counts in.
type Node int32

// NoNode stands for no configuration: off the map, or a way that is not there.
const NoNode Node = -1

// Heading of the train in the configuration.
func (n Node) Heading() Heading { return Heading(n & 3) }

// Network is a grid with the way every action leads from every configuration, worked out once. It does not change
// and may be shared.
type Network struct {
	width, height int
	grid          []Transitions // row-major
	rank          []int32       // of each valid node its place among them, -1 of the others
	nodes         []Node        // the valid ones: those a train can be in
	moves         [][3]Node     // by rank, where MoveLeft, MoveForward, MoveRight lead; NoNode where invalid
}

// maxCells bounds a grid, so that a node fits into an int32 with room to spare.
const maxCells = 1 << 24

// NewNetwork works out the ways of a grid given row by row. It is an error if the grid is empty, larger than 2^24
// cells, or does not have width*height cells. Any 16-bit values are accepted: the reference does not check them.
func NewNetwork(width, height int, grid []Transitions) (*Network, error) {
	switch {
	case width <= 0 || height <= 0 || width > maxCells || height > maxCells || width*height > maxCells:
		return nil, fmt.Errorf("a grid of %d rows and %d columns: want at least 1 and at most %d cells", height, width, maxCells)
	case len(grid) != width*height:
		return nil, fmt.Errorf("a grid of %d rows and %d columns has %d cells, want %d", height, width, len(grid), width*height)
	}
	n := &Network{width: width, height: height, grid: grid, rank: make([]int32, 4*len(grid))}
	valid := 0
	for _, t := range grid {
		valid += t.headings()
	}
	n.nodes = make([]Node, 0, valid)
	for cell, t := range grid {
		rank := (*[4]int32)(n.rank[4*cell:])
		*rank = [4]int32{-1, -1, -1, -1}
		if t == 0 {
			continue
		}
		for h := range rank {
			if t.Exits(Heading(h)) != 0 {
				rank[h] = int32(len(n.nodes))
				n.nodes = append(n.nodes, Node(4*cell+h))
			}
		}
	}
	n.moves = make([][3]Node, len(n.nodes))
	for r, node := range n.nodes {
		n.moves[r] = [3]Node{n.lead(node, MoveLeft), n.lead(node, MoveForward), n.lead(node, MoveRight)}
	}
	return n, nil
}

// predecessors are, by rank, the ranks from which a transition leads to a node; -1: none.
func (n *Network) predecessors() [][4]int32 {
	before := make([][4]int32, len(n.nodes))
	var from [4]Node
	for r, node := range n.nodes {
		before[r] = [4]int32{-1, -1, -1, -1}
		for k, p := range n.Predecessors(from[:0], node) {
			before[r][k] = n.rank[p]
		}
	}
	return before
}

// lead is the independent move: where an action leads from a configuration if no other train is there.
func (n *Network) lead(node Node, a Action) Node {
	t, h := n.grid[node>>2], node.Heading()
	exits := t.Exits(h)
	out := h
	switch {
	case bits.OnesCount8(exits) == 1: // whatever the action is
		out = Heading(bits.LeadingZeros8(exits << 4))
	case a == MoveLeft && t.Allows(h, h.turn(3)):
		out = h.turn(3)
	case a == MoveRight && t.Allows(h, h.turn(1)):
		out = h.turn(1)
	case !t.Allows(h, h):
		return NoNode
	}
	next := n.neighbour(node>>2, out)
	if next == NoNode || n.rank[next] < 0 {
		return NoNode
	}
	return next
}

// neighbour is the configuration of a train that leaves a cell in a direction, NoNode outside the grid.
func (n *Network) neighbour(cell Node, h Heading) Node {
	row, col := int(cell)/n.width+rowStep[h], int(cell)%n.width+colStep[h]
	if row < 0 || row >= n.height || col < 0 || col >= n.width {
		return NoNode
	}
	return Node(4*(row*n.width+col)) + Node(h)
}

// Width is the number of columns.
func (n *Network) Width() int { return n.width }

// Height is the number of rows.
func (n *Network) Height() int { return n.height }

// Inside says whether a cell is one of the grid.
func (n *Network) Inside(c Cell) bool {
	return c.Row >= 0 && c.Row < n.height && c.Col >= 0 && c.Col < n.width
}

// At returns the transitions of a cell, 0 outside the grid.
func (n *Network) At(c Cell) Transitions {
	if !n.Inside(c) {
		return 0
	}
	return n.grid[c.Row*n.width+c.Col]
}

// Node returns the index of a configuration, NoNode if it is outside the grid or has no heading.
func (n *Network) Node(c Configuration) Node {
	if !n.Inside(c.Cell) || c.Heading < North || c.Heading > West {
		return NoNode
	}
	return Node(4*(c.Row*n.width+c.Col)) + Node(c.Heading)
}

// Configuration returns the configuration of an index.
func (n *Network) Configuration(node Node) Configuration {
	return Configuration{n.Cell(node), node.Heading()}
}

// Cell returns the cell of an index.
func (n *Network) Cell(node Node) Cell {
	cell := int(node >> 2)
	return Cell{cell / n.width, cell % n.width}
}

// Transitions returns the transitions of the cell of an index.
func (n *Network) Transitions(node Node) Transitions { return n.grid[node>>2] }

// Valid says whether a train can be in a configuration: inside the grid, with a way out.
func (n *Network) Valid(c Configuration) bool {
	node := n.Node(c)
	return node != NoNode && n.rank[node] >= 0
}

// Move says where an action leads from a configuration if no other train is in the way, NoNode if the action is
// invalid there; straight is true ahead and for a reversal in a dead end, false for a turn. An action other than the
// three moving ones leads where MoveForward does.
func (n *Network) Move(from Node, a Action) (to Node, straight bool) {
	if !a.moving() {
		a = MoveForward
	}
	to = NoNode // a node that is not valid leads nowhere
	if r := n.rank[from]; r >= 0 {
		to = n.moves[r][a-MoveLeft]
	}
	return to, (to^from)&1 == 0
}

// Successors appends to dst where MoveLeft, MoveForward and MoveRight lead from a configuration, in this order and
// each once: at most three.
func (n *Network) Successors(dst []Node, from Node) []Node {
	r := n.rank[from]
	if r < 0 {
		return dst
	}
	m := &n.moves[r]
	if m[0] != NoNode {
		dst = append(dst, m[0])
	}
	if m[1] != NoNode && m[1] != m[0] {
		dst = append(dst, m[1])
	}
	if m[2] != NoNode && m[2] != m[0] && m[2] != m[1] {
		dst = append(dst, m[2])
	}
	return dst
}

// Predecessors appends to dst the configurations from which a transition leads to one: at most four, by heading.
func (n *Network) Predecessors(dst []Node, to Node) []Node {
	h := to.Heading()
	from := n.neighbour(to>>2, h.turn(2))
	if from == NoNode {
		return dst
	}
	from &^= 3
	for in := North; in <= West; in++ {
		if n.grid[from>>2].Allows(in, h) {
			dst = append(dst, from+Node(in))
		}
	}
	return dst
}
