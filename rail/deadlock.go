package rail

// Deadlocked says of each train whether it can never leave its cell again, whatever the trains are told: it appends one
// value for each handle to dst. Only trains on the map can be deadlocked, and one that is stays it for the rest of the
// episode.
//
// A train has an option for each way out of its configuration. An option is of use if its place is free, or if its holder
// moves away in the same step. So options are struck as long as one of these holds:
//
//   - the holder of its place has no option left;
//   - the holder's only option is the place of the train itself: trains cannot change places.
//
// A train without any option left is deadlocked. From every other one a walk along options that does not turn back ends
// at a free place, or closes a ring of three or more, which can turn. It is not an alarm too many, then, but it may be
// one too few: a train that waits for ever behind a ring that turns for ever is not found.
//
// Speeds, breakdowns and targets are left aside: a broken train recovers. The time is proportional to the trains. But for
// dst it allocates in its first call only.
func (e *Env) Deadlocked(dst []bool) []bool {
	if e.waits == nil {
		e.waits = newWaits(len(e.trains))
	}
	w := e.waits
	w.look(e)
	for i := range w.left {
		w.settle(int32(i))
	}
	for i := range e.trains {
		dst = append(dst, e.trains[i].state.OnMap() && w.left[i] == 0)
	}
	return dst
}

// open stands for the holder of a free place.
const open int32 = -1

// waits are the options of all trains, three places for each. A struck one, or one that was never there, is none.
type waits struct {
	options []int32 // the train that holds the place, or open
	left    []int8  // of each train the options not struck
	waiting []int32 // of each train the first option on its place, as an index of options
	next    []int32 // of each option the next one on the same place
	pending []int32 // for settle
}

// none ends the lists of waits, and stands for no option.
const none int32 = -2

func newWaits(trains int) *waits {
	return &waits{
		options: make([]int32, 3*trains), left: make([]int8, trains), waiting: make([]int32, trains), next: make([]int32, 3*trains),
	}
}

// look takes in where the trains stand.
func (w *waits) look(e *Env) {
	clear(w.left)
	holder := e.motion.holder // all 0 between steps
	for i := range e.trains {
		w.waiting[i] = none
		if t := &e.trains[i]; t.state.OnMap() {
			holder[e.resource(t.node)] = int32(i + 1)
		}
	}
	var successors [3]Node
	for i := range e.trains {
		t := &e.trains[i]
		options := w.options[3*i : 3*i+3]
		options[0], options[1], options[2] = none, none, none
		if !t.state.OnMap() {
			continue
		}
		for k, to := range e.net.Successors(successors[:0], t.node) {
			j := holder[e.resource(to)] - 1 // 0 becomes open
			options[k] = j
			w.left[i]++
			if j != open {
				w.next[3*i+k] = w.waiting[j]
				w.waiting[j] = int32(3*i + k)
			}
		}
	}
	for i := range e.trains {
		if t := &e.trains[i]; t.state.OnMap() {
			holder[e.resource(t.node)] = 0
		}
	}
}

// settle strikes what the options of a train make useless, and what that makes useless in turn.
func (w *waits) settle(i int32) {
	pending := append(w.pending[:0], i)
	for len(pending) > 0 {
		i, pending = pending[len(pending)-1], pending[:len(pending)-1]
		if w.left[i] > 1 {
			continue
		}
		only := none // both rules at once: with no option left, nobody is spared
		for _, j := range w.options[3*i : 3*i+3] {
			if j != none {
				only = j
			}
		}
		if only == open {
			continue
		}
		for k := w.waiting[i]; k != none; k = w.next[k] {
			j := k / 3
			if w.options[k] != none && (w.left[i] == 0 || j == only) {
				w.options[k] = none
				w.left[j]--
				pending = append(pending, j)
			}
		}
	}
	w.pending = pending
}
