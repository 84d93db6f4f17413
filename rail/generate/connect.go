package generate

import "skyrail/rail"

// connectCities lays a track from every point where one leaves a city to the nearest such point of the city that lies
// that way.
func (b *builder) connectCities() {
	b.search = newSearch(b)
	for i := range b.cities {
		c := &b.cities[i]
		neighbours := b.neighbours(i)
		for side := rail.North; side <= rail.West; side++ {
			if len(c.outer[side]) == 0 {
				continue
			}
			neighbour := &b.cities[neighbours.on(side)]
			for _, start := range c.outer[side] {
				end := nearestOuter(neighbour, start)
				if path := b.search.path(start, end); len(path) > 1 { // two cities may share the cell where tracks leave them
					b.layPath(path)
					b.lines = append(b.lines, path...)
				}
			}
		}
	}
}

// neighbours are the nearest cities in each direction, -1 for none.
type neighbours [4]int

// neighbours of a city: of all others, the nearest first, each takes the direction in which it lies if it is still free.
func (b *builder) neighbours(i int) neighbours {
	distances := make([]int, len(b.cities))
	for k := range b.cities {
		distances[k] = distance(b.cities[i].center, b.cities[k].center)
	}
	found, free := neighbours{-1, -1, -1, -1}, 4
	for _, k := range argsort(distances)[1:] { // the first is the city itself
		if h := toward(b.cities[i].center, b.cities[k].center); found[h] < 0 {
			found[h] = k
			if free--; free == 0 {
				break
			}
		}
	}
	return found
}

// on is the neighbour on a side, or else that to the left, to the right, behind.
func (n neighbours) on(side rail.Heading) int {
	for _, turn := range []rail.Heading{0, 3, 1, 2} {
		if k := n[(side+turn)&3]; k >= 0 {
			return k
		}
	}
	panic("a city has no neighbour in any direction, and there are at least two")
}

// nearestOuter is the point of a city's border from which tracks leave that is nearest to a cell, the first if there are
// several.
func nearestOuter(c *city, from rail.Cell) rail.Cell {
	var nearest rail.Cell
	best := -1
	for side := range c.outer {
		for _, p := range c.outer[side] {
			if d := distance(from, p); best < 0 || d < best {
				nearest, best = p, d
			}
		}
	}
	return nearest
}

// layPath lays a track along a path. Its ends get no way that leads out of it: that is for the tracks inside the city.
func (b *builder) layPath(path []rail.Cell) {
	h := toward(path[0], path[1])
	for i, cell := range path[:len(path)-1] {
		next := toward(cell, path[i+1])
		at := b.index(cell)
		if i > 0 {
			b.allow(at, h, next)
			b.allow(at, mirror(next), mirror(h))
		} else if b.grid[at] != 0 {
			b.allow(at, h, next)
		}
		h = next
	}
	if at := b.index(path[len(path)-1]); b.grid[at] != 0 {
		b.allow(at, h, h)
	}
}

// search finds paths over the grid around the cities (A*). Among equal ways the order of its heap decides, so that is
// part of the result: the heap is that of Python's heapq.
type search struct {
	b     *builder
	nodes []node // by cell
	round int32  // nodes of other rounds are as good as new
	heap  []entry
}

type node struct {
	round  int32
	parent int32 // a cell, -1 at the start
	cost   int32 // from the start
	closed bool
	queued bool
}

// entry is a cell of the heap with the cost of a way through it, as it is estimated.
type entry struct{ cost, cell int32 }

func newSearch(b *builder) *search { return &search{b: b, nodes: make([]node, len(b.grid))} }

func (s *search) node(cell int32) *node {
	n := &s.nodes[cell]
	if n.round != s.round {
		*n = node{round: s.round}
	}
	return n
}

// path returns the cells of a way from start to end, nil if there is none. It goes around cities, and what is there
// already costs one more.
//
// quirk: the extra cost counts for the order only and not for the way behind, and a cell that waits in the queue is never
// given a better way.
func (s *search) path(start, end rail.Cell) []rail.Cell {
	s.round++
	s.heap = s.heap[:0]
	first, last := int32(s.b.index(start)), int32(s.b.index(end))
	n := s.node(first)
	n.parent, n.queued = -1, true
	s.push(entry{0, first})
	for len(s.heap) > 0 {
		at := s.pop().cell
		current := s.node(at)
		current.closed, current.queued = true, false
		if at == last {
			return s.trace(at)
		}
		cell := s.b.cell(int(at))
		for _, h := range []rail.Heading{rail.West, rail.East, rail.North, rail.South} {
			to := cell.Toward(h)
			if !s.b.inside(to) {
				continue
			}
			next := int32(s.b.index(to))
			if s.b.inCity[next] && next != first && next != last {
				continue
			}
			n := s.node(next)
			if n.closed || n.queued {
				continue
			}
			n.parent, n.cost, n.queued = at, current.cost+1, true
			f := n.cost + int32(distance(to, end))
			if s.b.grid[next] != 0 {
				f++
			}
			s.push(entry{f, next})
		}
	}
	return nil
}

func (s *search) trace(at int32) []rail.Cell {
	path := make([]rail.Cell, s.nodes[at].cost+1)
	for i := len(path) - 1; i >= 0; i-- {
		path[i] = s.b.cell(int(at))
		at = s.nodes[at].parent
	}
	return path
}

// push lets the entry rise while it is strictly smaller than its parent.
func (s *search) push(e entry) {
	s.heap = append(s.heap, e)
	s.rise(0, len(s.heap)-1)
}

func (s *search) rise(top, at int) {
	e := s.heap[at]
	for at > top {
		parent := (at - 1) / 2
		if e.cost >= s.heap[parent].cost {
			break
		}
		s.heap[at], at = s.heap[parent], parent
	}
	s.heap[at] = e
}

// pop takes the root: the last entry goes down to a leaf, always after the smaller child and of equal ones the right, and
// then rises again.
func (s *search) pop() entry {
	last := len(s.heap) - 1
	e := s.heap[last]
	s.heap = s.heap[:last]
	if last == 0 {
		return e
	}
	root, at := s.heap[0], 0
	for child := 1; child < last; child = 2*at + 1 {
		if child+1 < last && s.heap[child].cost >= s.heap[child+1].cost {
			child++
		}
		s.heap[at], at = s.heap[child], child
	}
	s.heap[at] = e
	s.rise(0, at)
	return root
}
