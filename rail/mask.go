package rail

// Actions is the number of actions.
const Actions = int(StopMoving) + 1

// maskOrder is which of several actions that come to the same is the one to take.
var maskOrder = [Actions]Action{DoNothing, MoveForward, MoveLeft, MoveRight, StopMoving}

// ActionMask writes into dst, one value for each action, which of them make a difference to a train in the next step.
//
// Of actions that come to the same only the first counts, in the order [DoNothing], [MoveForward], [MoveLeft],
// [MoveRight], [StopMoving]; so DoNothing always does, and alone for a train that nothing moves: one that has arrived, is
// not ready yet or is broken down. To come to the same is to lead to the same state, place, speed and part of the cell if
// no other train is in the way and no breakdown happens. flatland-rl takes any action at any time; it has no mask.
func (e *Env) ActionMask(dst []bool, i int) {
	dst = dst[:Actions]
	clear(dst)
	dst[DoNothing] = true
	t := &e.trains[i]
	if e.allDone || t.state == Done || t.state == Waiting || t.malfunction > 0 {
		return
	}
	var known [Actions]train // what they came to, as far as same looks at it
	n := 0
next:
	for _, a := range maskOrder {
		o := &known[n]
		*o = *t
		e.consider(o, a, e.elapsed+1)
		e.moveAlone(o)
		for k := range n {
			if known[k].same(o) {
				continue next
			}
		}
		dst[a] = true
		n++
	}
}

// moveAlone is [Env.move] for a train that is alone and has not reached its target.
func (e *Env) moveAlone(t *train) {
	t.signals.MovementAllowed = t.valid
	from := t.state
	t.state = from.next(&t.signals)
	switch {
	case t.state == Moving:
		t.node = t.wantedNode
		if from.OnMap() {
			_ = t.advance(t.wanted) // a step would tell of a speed that is none
		}
	case from == MalfunctionOffMap && t.state == Stopped:
		t.node = t.initial
	}
	if t.state == Stopped {
		t.speed = Fraction{}
	}
}

func (t *train) same(o *train) bool {
	return t.state == o.state && t.node == o.node && t.speed.Equal(o.speed) && t.distance.Equal(o.distance)
}
