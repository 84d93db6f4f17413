package agent

import (
	"slices"

	"skyrail/rail"
)

// DeadlockRules are the variants of [DeadlockAvoidance].
type DeadlockRules struct {
	// ByStops leads the paths through the first alternative of each stop; otherwise they go straight to the target.
	ByStops bool
	// LegLimit is the greatest number of configurations from one stop to the next, both included; 0: any. A train with
	// a longer leg never runs.
	LegLimit int
	// KeepOffSwitches counts a cell with a switch as no room to make way.
	KeepOffSwitches bool
	// RoomForEach asks for a cell for each of the opponents, and one more; otherwise one cell is enough.
	RoomForEach bool
	// OneEnters lets only one train enter in a step.
	OneEnters bool
}

// CompetitionRules are those of flatland-baselines' DeadlockAvoidanceHeuristics as it is used in the examples of the
// competition, with paths by the first alternatives of the stops.
func CompetitionRules() DeadlockRules {
	return DeadlockRules{ByStops: true, LegLimit: 450, OneEnters: true}
}

// ClassicRules are what flatland-baselines' DeadLockAvoidancePolicy does if nothing is asked for. The trajectories
// malfunction_deadlock_avoidance_heuristics of flatland-scenarios are by it.
func ClassicRules() DeadlockRules {
	return DeadlockRules{KeepOffSwitches: true, RoomForEach: true}
}

// DeadlockAvoidance is the deadlock avoidance heuristic of flatland-baselines 4.3.0. Every train has one path. The
// opponents of a train are those that stand on what is left of its path and head elsewhere than the path does there. Its
// room is its path up to the first of them. It may move on if for each opponent some of its room is not on that one's
// own path, for there it could make way; otherwise it is told to stop.
//
// A train without a path never enters, nor does one whose path leads twice through a configuration. The published policy
// ends with an exception for the first, for a train that weak brakes carry off its path, which is told to stop here, and
// where trains that have arrived are kept on the map.
//
// The published policy also works out other paths for trains that it stops, but takes none of them (quirk).
type DeadlockAvoidance struct {
	rules    DeadlockRules
	search   search
	compact  []int32 // by cell: its number among the cells on paths, -1 if it is on none
	switches []bool  // by number of a cell
	trains   []guided
	holder   []int32 // by number of a cell: the train there, -1 if there is none
	held     []int32 // the cells with a holder
	nodes    []rail.Node
	entering []int32
	look     int   // counts the trains looked at
	seen     []int // by train: when it was found to be an opponent last
}

// guided is a train on its path.
type guided struct {
	path  []stage // nil if it never runs
	at    int
	ahead []uint64 // bits by number of a cell: what is on the path after where the train is
	// The last time it was looked at:
	room      int32 // where on the path its room ends
	opponents []int32
	moves     bool
}

// stage is one configuration of a path.
type stage struct {
	node   rail.Node
	cell   int32       // its number
	again  int32       // where the path comes to this cell next, never if it does not
	action rail.Action // to the next stage
}

const never = 1<<31 - 1

// NewDeadlockAvoidance returns the policy of some rules.
func NewDeadlockAvoidance(r DeadlockRules) *DeadlockAvoidance {
	return &DeadlockAvoidance{rules: r}
}

// Reset works out the paths.
func (d *DeadlockAvoidance) Reset(v View) error {
	net, n := v.Network(), v.Trains()
	d.search.reset(net)
	d.compact = slices.Repeat([]int32{-1}, net.Width()*net.Height())
	d.switches = d.switches[:0]
	d.trains = make([]guided, n)
	d.nodes = make([]rail.Node, n)
	d.seen, d.look = make([]int, n), 0
	var path []rail.Node
	var ends []int32
	for i := range d.trains {
		t := &v.Scenario().Trains[i]
		stops := ahead(t)
		if len(stops) > 0 && !d.rules.ByStops {
			stops = stops[len(stops)-1:]
		}
		var ok bool
		if path, ends, ok = d.search.line(append(path[:0], v.Initial(i)), ends[:0], stops, t.Target, d.rules.LegLimit); ok {
			d.trains[i].path = d.stages(net, path)
		}
	}
	d.holder, d.held = slices.Repeat([]int32{-1}, len(d.switches)), d.held[:0]
	words := (len(d.switches) + 63) / 64
	bits := make([]uint64, words*n)
	for i := range d.trains {
		g := &d.trains[i]
		g.ahead = bits[words*i:][:words:words]
		for _, s := range g.path[min(1, len(g.path)):] {
			g.ahead[s.cell>>6] |= 1 << (s.cell & 63)
		}
	}
	return nil
}

// stages turns a path into its stages, nil if a configuration is on it twice.
func (d *DeadlockAvoidance) stages(net *rail.Network, path []rail.Node) []stage {
	last := make(map[rail.Node]int32, len(path)) // by cell, as its node with heading 0
	once := make(map[rail.Node]bool, len(path))
	stages := make([]stage, len(path))
	for k, n := range path {
		if once[n] {
			return nil
		}
		once[n] = true
		s := &stages[k]
		*s = stage{node: n, cell: d.number(net, n), again: never, action: noWay}
		if before, ok := last[n&^3]; ok {
			stages[before].again = int32(k)
		}
		last[n&^3] = int32(k)
		if k > 0 {
			stages[k-1].action = way(net, path[k-1], n)
		}
	}
	return stages
}

// number is the number of a node's cell.
func (d *DeadlockAvoidance) number(net *rail.Network, n rail.Node) int32 {
	c := &d.compact[n>>2]
	if *c < 0 {
		*c = int32(len(d.switches))
		t := net.Transitions(n)
		isSwitch := false
		for h := rail.North; h <= rail.West; h++ {
			exits := t.Exits(h)
			isSwitch = isSwitch || exits&(exits-1) != 0
		}
		d.switches = append(d.switches, isSwitch)
	}
	return *c
}

// Act answers.
func (d *DeadlockAvoidance) Act(v View, actions []rail.Action) error {
	if err := checkCall(v, actions, len(d.trains)); err != nil {
		return err
	}
	d.locate(v)
	d.entering = d.entering[:0]
	for i := range d.trains {
		state := v.State(i)
		// quirk: a train that waits again after a breakdown off the map keeps the opponents and the room of that time.
		if state != rail.Done && state != rail.Waiting {
			d.lookAhead(i)
		}
	}
	for i := range d.trains {
		g := &d.trains[i]
		state := v.State(i)
		g.moves = state != rail.Done && g.at+1 < len(g.path) && g.path[g.at].action != noWay && d.hasRoom(g)
		if g.moves && state == rail.ReadyToDepart {
			d.entering = append(d.entering, int32(i))
		}
	}
	if d.rules.OneEnters {
		d.letOneEnter()
	}
	for i := range d.trains {
		switch g := &d.trains[i]; {
		case g.moves:
			actions[i] = g.path[g.at].action
		case g.path == nil && v.State(i).OffMap():
			actions[i] = rail.DoNothing // after a breakdown a stop would bring it onto the map
		default:
			actions[i] = rail.StopMoving // quirk: also after the arrival
		}
	}
	return nil
}

// locate finds the trains on their paths and on the map.
//
// quirk: of two trains on a bridge only the one with the higher handle is seen.
func (d *DeadlockAvoidance) locate(v View) {
	for _, c := range d.held {
		d.holder[c] = -1
	}
	d.held = d.held[:0]
	for i := range d.trains {
		d.nodes[i] = rail.NoNode
		if !v.State(i).OnMap() {
			continue
		}
		n := v.Node(i)
		d.nodes[i] = n
		if n == rail.NoNode {
			continue
		}
		if c := d.compact[n>>2]; c >= 0 {
			d.holder[c] = int32(i)
			d.held = append(d.held, c)
		}
		if g := &d.trains[i]; g.path != nil && !g.advance(n) {
			g.path = nil
			clear(g.ahead)
		}
	}
}

// advance moves a train on to a configuration of its path; ok is false if it is not on what is left of it.
func (g *guided) advance(n rail.Node) (ok bool) {
	for g.path[g.at].node != n {
		g.at++
		if g.at == len(g.path) {
			return false
		}
		if s := &g.path[g.at]; s.again == never {
			g.ahead[s.cell>>6] &^= 1 << (s.cell & 63)
		}
	}
	return true
}

// lookAhead finds the opponents and the room of a train.
func (d *DeadlockAvoidance) lookAhead(i int) {
	g := &d.trains[i]
	g.opponents = g.opponents[:0]
	g.room = int32(len(g.path))
	d.look++
	for k := g.at + 1; k < len(g.path); k++ {
		s := &g.path[k]
		b := d.holder[s.cell]
		if b < 0 || int(b) == i || d.nodes[b].Heading() == s.node.Heading() {
			continue
		}
		g.room = min(g.room, int32(k))
		if d.seen[b] != d.look {
			d.seen[b] = d.look
			g.opponents = append(g.opponents, b)
		}
	}
}

// hasRoom says whether a train could make way for each of its opponents.
func (d *DeadlockAvoidance) hasRoom(g *guided) bool {
	need := 1
	if d.rules.RoomForEach {
		need += len(g.opponents)
	}
	for _, b := range g.opponents {
		if !d.roomBeside(g, &d.trains[b], need) {
			return false
		}
	}
	return true
}

// roomBeside says whether at least need different cells of a train's room are not on the path of an opponent.
func (d *DeadlockAvoidance) roomBeside(g, opponent *guided, need int) bool {
	for k := g.at + 1; k < int(g.room); k++ {
		s := &g.path[k]
		if s.again < g.room || opponent.comesTo(s.cell) || d.rules.KeepOffSwitches && d.switches[s.cell] {
			continue
		}
		if need--; need == 0 {
			return true
		}
	}
	return false
}

// comesTo says whether a cell is on the path after where the train is.
func (g *guided) comesTo(cell int32) bool { return g.ahead[cell>>6]>>(cell&63)&1 != 0 }

// letOneEnter takes back the leave to enter, in the order of the handles, from each train that has no cell beside
// another one that may still enter.
//
// quirk: the cells are counted from where the train enters, which itself counts only if its path comes back to it, so
// hardly ever there is one, and of all trains that could enter the last does.
func (d *DeadlockAvoidance) letOneEnter() {
	for _, i := range d.entering {
		g := &d.trains[i]
		start := g.path[g.at]
		for _, j := range d.entering {
			o := &d.trains[j]
			if i == j || !o.moves {
				continue
			}
			if start.again == never || o.comesTo(start.cell) || o.path[o.at].cell == start.cell {
				g.moves = false
				break
			}
		}
	}
}
