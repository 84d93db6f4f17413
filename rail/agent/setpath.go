package agent

import (
	"slices"

	"skyrail/rail"
)

// track is a train's path and how far it has come.
type track struct {
	path []rail.Node // nil if it has none
	at   int         // where it is on it
}

// advance finds the train on its path, from where it was on; ok is false if it is not there.
func (t *track) advance(n rail.Node) (ok bool) {
	for k := t.at; k < len(t.path); k++ {
		if t.path[k] == n {
			t.at = k
			return true
		}
	}
	return false
}

// next is the action that leads on, noWay at the end.
func (t *track) next(net *rail.Network) rail.Action {
	if t.at+1 >= len(t.path) {
		return noWay
	}
	return way(net, t.path[t.at], t.path[t.at+1])
}

// SetPath sends every train along one path, the shortest ways through the first alternative of each of its stops, and
// never waits: flatland-rl's ShortestPathPolicy. Trains do not stop at their stops.
//
// Of several actions that lead to the same place it takes the first of MOVE_FORWARD, MOVE_LEFT, MOVE_RIGHT; in flatland-rl
// it is any of them. A train without a path does nothing, where flatland-rl ends with an exception.
//
// quirk: a train off the map is told MOVE_FORWARD, so one that would enter facing a symmetric switch never does. So is
// one that has arrived.
type SetPath struct {
	search search
	tracks []track
}

// Reset works out the paths.
func (p *SetPath) Reset(v View) error {
	p.search.reset(v.Network())
	p.tracks = make([]track, v.Trains())
	var path []rail.Node
	var ends []int32
	for i := range p.tracks {
		t := &v.Scenario().Trains[i]
		var ok bool
		if path, ends, ok = p.search.line(append(path[:0], v.Initial(i)), ends[:0], ahead(t), t.Target, 0); ok {
			p.tracks[i].path = slices.Clone(path)
		}
	}
	return nil
}

// Act answers.
func (p *SetPath) Act(v View, actions []rail.Action) error {
	if err := checkCall(v, actions, len(p.tracks)); err != nil {
		return err
	}
	for i := range p.tracks {
		t := &p.tracks[i]
		actions[i] = rail.DoNothing
		switch n := v.Node(i); {
		case t.path == nil:
		case n == rail.NoNode || v.State(i) == rail.Done:
			actions[i] = rail.MoveForward
		case t.advance(n):
			actions[i] = max(t.next(v.Network()), rail.DoNothing)
		}
	}
	return nil
}

// StoppingPath sends every train along the path of [SetPath] and has it stand at each intermediate stop until it may
// leave without being early. It never waits for others. It is no published policy.
//
// A train that weak brakes carry past a stop goes on without it, on a new path if they carry it off its own. One that
// has arrived or has no path does nothing.
type StoppingPath struct {
	search search
	tracks []stoppingTrack
}

type stoppingTrack struct {
	track
	ends  []int32 // where on the path the stops are, the target at the end
	first int     // of the train's stops the one that ends[0] is for
	stop  int     // of ends the one that comes next
	stood bool    // at that one
}

// Reset works out the paths.
func (p *StoppingPath) Reset(v View) error {
	p.search.reset(v.Network())
	p.tracks = make([]stoppingTrack, v.Trains())
	for i := range p.tracks {
		p.set(v, i, v.Initial(i), 0)
	}
	return nil
}

// set gives a train the path from a configuration through its stops after the start, without the first ones.
func (p *StoppingPath) set(v View, i int, from rail.Node, without int) {
	train, t := &v.Scenario().Trains[i], &p.tracks[i]
	stops := ahead(train)
	if n := len(stops); n > 0 {
		without = min(without, n-1)
		stops = stops[without:]
	}
	*t = stoppingTrack{first: without}
	if path, ends, ok := p.search.line([]rail.Node{from}, nil, stops, train.Target, 0); ok {
		t.path, t.ends = path, ends
	}
}

// Act answers.
func (p *StoppingPath) Act(v View, actions []rail.Action) error {
	if err := checkCall(v, actions, len(p.tracks)); err != nil {
		return err
	}
	for i := range p.tracks {
		actions[i] = max(p.act(v, i), rail.DoNothing)
	}
	return nil
}

func (p *StoppingPath) act(v View, i int) rail.Action {
	t := &p.tracks[i]
	n := v.Node(i)
	if t.path == nil || v.State(i) == rail.Done {
		return rail.DoNothing
	}
	if n == rail.NoNode {
		return t.next(v.Network())
	}
	if !t.advance(n) {
		// The stop it was to stand at is the one it was carried past.
		missed := t.stop
		if missed < len(t.ends)-1 && int(t.ends[missed]) <= t.at {
			missed++
		}
		if p.set(v, i, n, t.first+missed); t.path == nil {
			return rail.DoNothing
		}
	}
	for ; t.stop < len(t.ends)-1 && int(t.ends[t.stop]) <= t.at; t.stop++ {
		if int(t.ends[t.stop]) == t.at {
			t.stood = t.stood || v.State(i) == rail.Stopped
			stop := &ahead(&v.Scenario().Trains[i])[t.first+t.stop]
			if !t.stood || v.Elapsed()+1 < stop.EarliestDeparture.Step {
				return rail.StopMoving
			}
		}
		t.stood = false
	}
	return t.next(v.Network())
}
