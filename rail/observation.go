package rail

// The observations of this package are those that say something: the reference's DummyObservationBuilder is true for every
// train, and its FullEnvObservation is the environment itself.

// The values of a cell in the three arrays of the global observation.
const (
	TransitionBits = 16 // of the transitions, the most significant first
	GlobalState    = 5  // heading of the train, of others; malfunction counter; speed; trains still to enter
	GlobalTargets  = 2  // the train's target, anybody's target
)

// ObserveTransitions writes the first array of flatland-rl's global observation (GlobalObsForRailEnv), of shape height x
// width x [TransitionBits], into dst: the transitions of every cell as 0 and 1. It is the same for all trains and
// while the tracks stay.
func (n *Network) ObserveTransitions(dst []float64) {
	for c, t := range n.grid {
		cell := dst[TransitionBits*c : TransitionBits*(c+1)]
		for b := range cell {
			cell[b] = float64(t >> (TransitionBits - 1 - b) & 1)
		}
	}
}

// ObserveGlobal writes the other two arrays of a train's global observation, of shapes height x width x [GlobalState] and
// height x width x [GlobalTargets].
//
// Of the state, a cell is -1, -1, -1, -1, 0 but for these: the train's heading where it is, or will enter, or in its target
// once it has arrived, which is then -1 if it was removed; of every train on the grid that has not arrived, the
// heading (the observing one's left out), its malfunction counter in steps and its speed in cells per step; and how many trains
// are still to enter there. Of several trains in a cell the last one is shown. Of the targets, a cell is 0 but for
// the train's own target, and the targets of all trains that have not arrived, itself included.
func (e *Env) ObserveGlobal(state, targets []float64, i int) {
	cells := e.net.width * e.net.height
	state, targets = state[:GlobalState*cells], targets[:GlobalTargets*cells]
	fill(state, -1, -1, -1, -1, 0)
	clear(targets)
	t := &e.trains[i]
	if n, ok := e.start(i); ok {
		state[GlobalState*(n>>2)] = float64(n.Heading())
	} else if t.state == Done && t.node != NoNode {
		state[GlobalState*(t.target>>2)] = float64(t.node.Heading())
	}
	targets[GlobalTargets*(t.target>>2)] = 1
	for j := range e.trains {
		o := &e.trains[j]
		if o.state == Done {
			continue
		}
		targets[GlobalTargets*(o.target>>2)+1] = 1
		if o.node != NoNode {
			cell := state[GlobalState*(o.node>>2):][:GlobalState]
			if j != i {
				cell[1] = float64(o.node.Heading())
			}
			cell[2] = float64(o.malfunction)
			cell[3] = o.speed.Float64()
		}
		if o.state.OffMap() {
			state[GlobalState*(o.initial>>2)+4]++
		}
	}
}

// fill repeats a pattern, whose length divides dst's, all over dst.
func fill(dst []float64, pattern ...float64) {
	for done := copy(dst, pattern); done < len(dst); done *= 2 {
		copy(dst[done:], dst[:done])
	}
}
