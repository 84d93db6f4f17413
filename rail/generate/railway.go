package generate

import (
	"fmt"

	"skyrail/rail"
	"skyrail/rail/railfile"
)

// Railway is the product of a rail generator, made here or read from a file, with what the generators behind it look up:
// its network and distances. It is not safe for concurrent use.
type Railway struct {
	*railfile.RailProduct
	Network *rail.Network

	finder    *rail.DistanceFinder
	distances map[rail.Cell]*rail.Distances // of cells that were asked for
	seen      []int32                       // by node, the search in which it was met last
	searches  int32
	queue     []rail.Node
}

// NewRailway works out the network of a product. It is an error if the grid is empty, too large or not whole.
func NewRailway(p *railfile.RailProduct) (*Railway, error) {
	net, err := rail.NewNetwork(p.Width, p.Height, p.Grid)
	if err != nil {
		return nil, err
	}
	for i, city := range p.Tracks {
		for _, t := range city {
			if !net.Inside(t.Cell) {
				return nil, fmt.Errorf("station %s of city %d is outside the grid of %d rows and %d columns", t.Cell, i, p.Height, p.Width)
			}
		}
	}
	return &Railway{RailProduct: p, Network: net, distances: make(map[rail.Cell]*rail.Distances)}, nil
}

// EmptyRail is a grid without tracks (empty_rail_generator).
func EmptyRail(width, height int) *railfile.RailProduct {
	return &railfile.RailProduct{Width: width, Height: height, Grid: make([]rail.Transitions, width*height)}
}

// to is the distances to a cell.
func (r *Railway) to(target rail.Cell) *rail.Distances {
	d := r.distances[target]
	if d == nil {
		if r.finder == nil {
			r.finder = rail.NewDistanceFinder(r.Network)
		}
		d = r.finder.To(target)
		r.distances[target] = d
	}
	return d
}

// cells is the number of cells on the shortest way from a configuration to a cell, both included, 0 if there is none.
//
// quirk: distances count every transition, but a way takes only those that an action leads along, each a step nearer. In a
// cell whose transitions are irregular it may so get stuck, and then there is none.
func (r *Railway) cells(from rail.Configuration, target rail.Cell) int {
	if from.Cell == target {
		return 1
	}
	at := r.Network.Node(from)
	if at == rail.NoNode {
		return 0
	}
	distances, left := r.to(target), rail.Unreachable
	var next [3]rail.Node
	for cells := 1; ; cells++ {
		best := rail.NoNode
		for _, n := range r.Network.Successors(next[:0], at) {
			if d := distances.From(n); d < left {
				best, left = n, d
			}
		}
		if best == rail.NoNode {
			return 0
		}
		if at = best; left == 0 {
			return cells + 1
		}
	}
}

// reaches says whether a way along the tracks leads from a configuration into a cell. The way may end there against the
// tracks, which distances leave aside.
func (r *Railway) reaches(from rail.Configuration, target rail.Cell) bool {
	if n := r.Network.Node(from); n != rail.NoNode && r.to(target).From(n) != rail.Unreachable {
		return true
	}
	_, ok := r.arrival(from, target)
	return ok
}

// arrival is the configuration in which the shortest way from another arrives in a cell. Of equally short ways it is the
// first that a search finds which goes north, east, south and west, in this order, along every transition, also one that
// no action leads along and into a cell against its tracks, as the reference's does (get_k_shortest_paths).
func (r *Railway) arrival(from rail.Configuration, target rail.Cell) (rail.Configuration, bool) {
	start := r.Network.Node(from)
	if start == rail.NoNode {
		return rail.Configuration{}, false
	}
	if r.seen == nil {
		r.seen = make([]int32, 4*len(r.Grid))
	}
	r.searches++
	r.queue = append(r.queue[:0], start)
	r.seen[start] = r.searches
	for at := 0; at < len(r.queue); at++ {
		c := r.Network.Configuration(r.queue[at])
		if c.Cell == target {
			return c, true
		}
		t := r.Network.Transitions(r.queue[at])
		for h := rail.North; h <= rail.West; h++ {
			if !t.Allows(c.Heading, h) {
				continue
			}
			n := r.Network.Node(rail.Configuration{Cell: c.Toward(h), Heading: h})
			if n != rail.NoNode && r.seen[n] != r.searches {
				r.seen[n] = r.searches
				r.queue = append(r.queue, n)
			}
		}
	}
	return rail.Configuration{}, false
}
