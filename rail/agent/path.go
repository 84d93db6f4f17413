package agent

import (
	"math/bits"

	"skyrail/rail"
)

// search finds paths on a network. It is kept for its memory.
type search struct {
	net    *rail.Network
	from   []rail.Node // by node: the one before it on the way, of the search that reached it last
	reach  []int32     // by node: the search that reached it last
	number int32
	queue  []rail.Node
}

func (s *search) reset(net *rail.Network) {
	if s.net != net {
		n := 4 * net.Width() * net.Height()
		*s = search{net: net, from: make([]rail.Node, n), reach: make([]int32, n)}
	}
}

// leg appends to path, which ends where the leg begins, the shortest way to a place; ok is false if there is none of at
// most most configurations, both ends included (0: of any length).
//
// Of equally short ways it finds the one that flatland-rl's get_k_shortest_paths does: the paths are extended first come
// first served, in the order N, E, S, W.
//
// quirk: a way never leads through the cell where it is to end, with another heading. And a place without a way out can
// be where it ends, though no train can be in it.
func (s *search) leg(path []rail.Node, to rail.Configuration, most int) (_ []rail.Node, ok bool) {
	end := s.net.Node(rail.Configuration{Cell: to.Cell, Heading: rail.North})
	if end == rail.NoNode {
		return path, false
	}
	s.number++
	start := path[len(path)-1]
	s.reach[start] = s.number
	s.queue = append(s.queue[:0], start)
	length, next := 1, 1 // of the paths that are looked at, and where in the queue longer ones begin
	for at := 0; at < len(s.queue); at++ {
		if at == next {
			length, next = length+1, len(s.queue)
		}
		n := s.queue[at]
		if n>>2 == end>>2 {
			if to.Heading == rail.NoHeading || to.Heading == n.Heading() {
				return s.append(path, n, length), true
			}
			continue
		}
		if most > 0 && length >= most {
			continue
		}
		exits := s.net.Transitions(n).Exits(n.Heading())
		for h := rail.North; h <= rail.West; h++ {
			if exits>>(rail.West-h)&1 == 0 {
				continue
			}
			m := s.net.Node(rail.Configuration{Cell: s.net.Cell(n).Toward(h), Heading: h})
			if m != rail.NoNode && s.reach[m] != s.number {
				s.reach[m], s.from[m] = s.number, n
				s.queue = append(s.queue, m)
			}
		}
	}
	return path, false
}

// append adds the way found to a node, without its start, which is in path already.
func (s *search) append(path []rail.Node, n rail.Node, length int) []rail.Node {
	at := len(path) + length - 1
	for range length - 1 {
		path = append(path, rail.NoNode)
	}
	for range length - 1 {
		at--
		path[at] = n
		n = s.from[n]
	}
	return path
}

// line appends to path, which ends where the train is or enters, its way to the target through the first alternative of
// each of the stops, intermediate ones and the target at the end, and to ends where in path each of them is reached; ok
// is false if there is no such way. Without any stop the way ends at the target. A stop without alternatives is left out,
// and ends nowhere.
func (s *search) line(
	path []rail.Node, ends []int32, stops []rail.Stop, target rail.Cell, most int,
) (_ []rail.Node, _ []int32, ok bool) {
	if len(stops) == 0 {
		path, ok = s.leg(path, rail.Configuration{Cell: target, Heading: rail.NoHeading}, most)
		return path, append(ends, int32(len(path)-1)), ok
	}
	for k, stop := range stops {
		if len(stop.Alternatives) == 0 {
			ends = append(ends, nowhere)
			continue
		}
		to, last := stop.Alternatives[0], k == len(stops)-1
		if last && !agree(stop.Alternatives) {
			to.Heading = rail.NoHeading
		}
		if path, ok = s.leg(path, to, most); !ok {
			return path, ends, false
		}
		if last && !admits(stop.Alternatives, path[len(path)-1].Heading()) {
			return path, ends, false // the published policies end with an exception
		}
		ends = append(ends, int32(len(path)-1))
	}
	return path, ends, true
}

// nowhere is where a stop without alternatives ends.
const nowhere = -1

// agree says whether alternatives have the same heading, or none.
func agree(alternatives []rail.Configuration) bool {
	for _, a := range alternatives {
		if a.Heading != alternatives[0].Heading {
			return false
		}
	}
	return true
}

// admits says whether one of the alternatives may be reached with a heading.
func admits(alternatives []rail.Configuration, h rail.Heading) bool {
	for _, a := range alternatives {
		if a.Heading == rail.NoHeading || a.Heading == h {
			return true
		}
	}
	return false
}

// ahead returns the stops after the start.
func ahead(t *rail.Train) []rail.Stop {
	if len(t.Stops) < 2 {
		return nil
	}
	return t.Stops[1:]
}

// noWay stands for the action that leads from one configuration to another where there is none.
const noWay rail.Action = -1

// way is the first of MOVE_FORWARD, MOVE_LEFT, MOVE_RIGHT that leads from one configuration to the next of a path.
func way(net *rail.Network, from, to rail.Node) rail.Action {
	exits := net.Transitions(from).Exits(from.Heading())
	if bits.OnesCount8(exits) == 1 {
		return rail.MoveForward // wherever it leads
	}
	switch (to.Heading() - from.Heading()) & 3 {
	case 0:
		return rail.MoveForward
	case 1:
		return rail.MoveRight
	case 3:
		return rail.MoveLeft
	}
	return noWay // a reversal where there are other ways
}
