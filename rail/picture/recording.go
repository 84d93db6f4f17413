package picture

import (
	"fmt"
	"strings"

	"skyrail/rail"
)

// Recording is an episode as it was run, or a part of it: the tracks, the trains with their timetable, and where every
// train was after each step. It shares nothing with the environment that changes.
type Recording struct {
	scenario  *rail.Scenario
	net       *rail.Network
	levelFree []bool // by cell, row by row
	closures  []rail.Closure
	resets    int
	first     int // step of the first moment
	steps     int // moments recorded
	moments   []moment

	fractions []rail.Fraction // speeds and shares of cells that occurred
	known     map[string]uint32
	dead      []bool // scratch
}

// moment is one train after one step.
type moment struct {
	node        rail.Node // NoNode off the map
	malfunction int32     // steps left
	speed       uint32    // of the recording's fractions
	travelled   uint32
	state       rail.State
	deadlocked  bool
}

// New begins a recording with the environment as it is, usually before its first step. The scenario must not be changed
// afterwards.
func New(e *rail.Env) *Recording {
	net := e.Network()
	r := &Recording{
		scenario: e.Scenario(), net: net, levelFree: make([]bool, net.Width()*net.Height()),
		resets: e.Resets(), first: e.Elapsed(), known: map[string]uint32{},
	}
	for i := range r.levelFree {
		r.levelFree[i] = e.LevelFree(net.Cell(rail.Node(4 * i)))
	}
	for _, effect := range e.Effects() {
		if c, ok := effect.(*rail.TrackClosures); ok {
			r.closures = append(r.closures, c.Closures...)
		}
	}
	r.keep(e)
	return r
}

// Record adds the environment after a step. It is an error if that is not the step after the one recorded last, or
// another environment.
func (r *Recording) Record(e *rail.Env) error {
	switch {
	case e.Scenario() != r.scenario || e.Network() != r.net || e.Resets() != r.resets:
		return fmt.Errorf("record step %d: another episode than the one recorded; begin a new recording", e.Elapsed())
	case e.Elapsed() != r.Last()+1:
		return fmt.Errorf("record step %d: the last step recorded is %d; record every step once", e.Elapsed(), r.Last())
	}
	r.keep(e)
	return nil
}

func (r *Recording) keep(e *rail.Env) {
	r.dead = e.Deadlocked(r.dead[:0])
	for i := range e.Trains() {
		r.moments = append(r.moments, moment{
			node: e.Node(i), malfunction: int32(e.Malfunction(i)), state: e.State(i), deadlocked: r.dead[i],
			speed: r.fraction(e.Speed(i)), travelled: r.fraction(e.Travelled(i)),
		})
	}
	r.steps++
}

// fraction returns the index of a number.
func (r *Recording) fraction(f rail.Fraction) uint32 {
	text := f.String()
	k, ok := r.known[text]
	if !ok {
		k = uint32(len(r.fractions))
		r.known[text] = k
		r.fractions = append(r.fractions, f)
	}
	return k
}

// First is the step of the first moment recorded: 0 if the recording began with the episode.
func (r *Recording) First() int { return r.first }

// Last is the step recorded last.
func (r *Recording) Last() int { return r.first + r.steps - 1 }

// Trains is the number of trains.
func (r *Recording) Trains() int { return len(r.scenario.Trains) }

// at returns the trains after a step that was recorded.
func (r *Recording) at(step int) []moment {
	k, n := step-r.first, r.Trains()
	return r.moments[k*n : (k+1)*n]
}

// shut are the cells that are closed in a step, each once.
func (r *Recording) shut(step int) []rail.Cell {
	var cells []rail.Cell
	seen := map[rail.Cell]bool{}
	for i := range r.closures {
		if c := &r.closures[i]; c.From <= step && step < c.Until {
			for _, cell := range c.Cells {
				if !seen[cell] {
					seen[cell] = true
					cells = append(cells, cell)
				}
			}
		}
	}
	return cells
}

// nexts returns for each moment of a train on the map the node it goes to when it leaves its own, NoNode if it was not
// recorded to go to one. They are in the order of the moments.
func (r *Recording) nexts() []rail.Node {
	next, n := make([]rail.Node, len(r.moments)), r.Trains()
	for k := len(next) - 1; k >= 0; k-- {
		switch after := k + n; {
		case after >= len(next):
			next[k] = rail.NoNode
		case r.moments[after].node != r.moments[k].node:
			next[k] = r.moments[after].node
		default:
			next[k] = next[after]
		}
	}
	return next
}

// exit is the direction in which a train leaves the cell of a node for the next: the one it took, as far as it was
// recorded, or else ahead if the track leads there, or else the first there is. A cell without a way out is left ahead.
func (r *Recording) exit(node, next rail.Node) rail.Heading {
	if next != rail.NoNode {
		return next.Heading()
	}
	t, in := r.net.Transitions(node), node.Heading()
	for out := rail.North; !t.Allows(in, in) && out <= rail.West; out++ {
		if t.Allows(in, out) {
			return out
		}
	}
	return in
}

// counts are how many trains are in which state.
type counts struct {
	states     [rail.Done + 1]int
	deadlocked int
}

func (r *Recording) count(step int) counts {
	var c counts
	for _, m := range r.at(step) {
		c.states[m.state]++
		if m.deadlocked {
			c.deadlocked++
		}
	}
	return c
}

// stateName is a state in words.
func stateName(s rail.State) string {
	return strings.ReplaceAll(strings.ToLower(s.String()), "_", " ")
}
