package rail

import (
	"errors"
	"fmt"
)

// ErrDone is the error of a step after the end of the episode.
var ErrDone = errors.New("the episode is done, cannot step: reset the environment or make a new one")

// Step gives every train its action, by handle, and advances the railway by one step. The order of the phases is part
// of the contract. It does not allocate, except at the end of the episode, for a train's fifth visit to one stop, and for
// speeds that outgrow an int64.
//
// It is [ErrDone] if the episode is over. Other errors mean that the actions are not one for each train, or that the
// trains cannot be where they are, which only a file can bring about; the environment is of no use then.
func (e *Env) Step(actions []Action) error {
	if len(actions) != len(e.trains) {
		return fmt.Errorf("%d actions for %d trains", len(actions), len(e.trains))
	}
	e.elapsed++ // quirk: also when the episode is over
	if e.allDone {
		return ErrDone
	}
	e.clearRewards()
	for _, f := range e.effects {
		f.stepStart(e) // malfunctions are drawn here
	}
	for i := range e.trains {
		e.plead(i, actions[i])
	}
	e.motion.resolve()
	everyone := true
	for i := range e.trains {
		if err := e.move(i); err != nil {
			return err
		}
		everyone = everyone && e.trains[i].state == Done
	}
	if limit := e.scenario.MaxEpisodeSteps; everyone || limit > 0 && e.elapsed >= limit {
		if err := e.end(); err != nil {
			return err
		}
	}
	return e.checkExclusive()
}

// plead works out what a train would do if it were alone, and asks for the place it needs.
func (e *Env) plead(i int, a Action) {
	t := &e.trains[i]
	t.old = t.node
	e.consider(t, a, e.elapsed)
	e.motion.from[i], e.motion.to[i] = e.resource(t.node), e.resource(t.wantedNode)
}

// consider works out what a train would do in a step if it were alone: its speed, and the configuration that it asks for.
func (e *Env) consider(t *train, a Action, now int) {
	here := t.node
	if here == NoNode {
		here = t.initial
	}
	if a < DoNothing || a > StopMoving {
		a = DoNothing
	}
	t.action = a
	to, straight := e.net.Move(here, a)
	t.valid = to != NoNode
	t.speedBefore = t.speed
	t.wanted = e.wantedSpeed(t, straight)

	sig := &t.signals
	sig.InMalfunction = t.malfunction > 0
	sig.EarliestDepartureReached = now >= t.earliest
	sig.StopActionGiven = a == StopMoving
	sig.MovementActionGiven = a.moving()
	sig.NewSpeedZero = t.wanted.isZero()
	sig.TargetReached, sig.TargetUnset = false, true

	t.wantedNode = NoNode
	switch {
	case t.state == ReadyToDepart && sig.MovementActionGiven && t.valid:
		t.wantedNode = t.initial // quirk: also if it breaks down in this step
	case t.state == MalfunctionOffMap && !sig.InMalfunction && sig.EarliestDepartureReached && t.valid &&
		(sig.MovementActionGiven || sig.StopActionGiven):
		t.wantedNode = t.initial
	case t.state.OnMap():
		t.wantedNode = here
		if t.exits() && t.canMove() {
			t.wantedNode = to
		}
	}
}

// canMove says whether a train on the map may get moving.
func (t *train) canMove() bool {
	sig := &t.signals
	if sig.InMalfunction {
		return false
	}
	switch t.state {
	case Moving:
		return !((sig.StopActionGiven || !t.valid) && sig.NewSpeedZero)
	case Malfunction, Stopped:
		return sig.MovementActionGiven && t.valid
	}
	return false
}

// wantedSpeed is the speed of the next stretch, between 0 and the maximum.
func (e *Env) wantedSpeed(t *train, straight bool) velocity {
	switch {
	case !t.valid: // quirk: at once, however weak the brakes; STOP at a symmetric switch too
		return velocity{}
	case (t.state == Stopped || t.state == Malfunction) && t.action.moving(): // quirk: into a turn too
		return t.changed(e.accelerate)
	case t.action == MoveForward && straight:
		return t.changed(e.accelerate)
	case t.action == StopMoving:
		return t.changed(e.brake)
	}
	return velocity{exact: t.speed}
}

// move gives a train its new state and place, and its reward. It uses this train's own data only.
func (e *Env) move(i int) error {
	t := &e.trains[i]
	sig := &t.signals
	sig.MovementAllowed = t.valid && (t.state.OnMap() && !t.exits() || !e.motion.blocked[i])
	t.previous = t.state
	t.state = t.state.next(sig)
	t.next = t.state

	switch {
	case t.state == Moving:
		t.node = t.wantedNode
		if t.previous != ReadyToDepart && t.previous != MalfunctionOffMap {
			if err := t.advance(t.wanted); err != nil {
				return fmt.Errorf("train %d: %w", i, err)
			}
		}
		sig.TargetUnset = false
		if t.node != NoNode && e.isTarget(t, t.node) {
			sig.TargetReached = true
			t.previous, t.state = Moving, Done
		}
	case t.previous == MalfunctionOffMap && t.state == Stopped:
		t.node = t.initial // quirk: never at its target
	}
	if t.state == Stopped || t.state == Malfunction {
		t.speed, t.entered = Fraction{}, false
	}
	if t.state == Done && t.arrival < 0 {
		t.arrival, t.done = e.elapsed, true
		if !e.scenario.KeepAtTarget {
			t.node = NoNode
		}
	}
	if err := e.rewardStep(i); err != nil {
		return fmt.Errorf("train %d: %w", i, err)
	}
	if t.malfunction > 0 {
		t.malfunction--
	}
	return e.checkPlace(i)
}

// checkPlace holds state and configuration to each other, as the reference does.
func (e *Env) checkPlace(i int) error {
	t := &e.trains[i]
	switch {
	case t.state.OnMap() && t.node == NoNode:
		return fmt.Errorf("train %d is %s without a place on the map", i, t.state)
	case t.node != NoNode && (t.state.OffMap() || t.state == Done && !e.scenario.KeepAtTarget):
		return fmt.Errorf("train %d is %s at %s: reset the environment first", i, t.state, e.net.Configuration(t.node))
	}
	return nil
}

// end closes the episode: every train gets its last reward and its done flag.
func (e *Env) end() error {
	for i := range e.trains {
		if err := e.rewardEnd(i); err != nil {
			return fmt.Errorf("train %d: %w", i, err)
		}
		e.trains[i].done = true
	}
	e.allDone = true
	return nil
}

// checkExclusive finds two trains with the same resource.
//
// quirk: with KeepAtTarget an arrived train gives its cell free while it stands there, so this is how such an episode
// usually ends.
func (e *Env) checkExclusive() error {
	m := &e.motion
	var clash error
	for i := range e.trains {
		r := e.resource(e.trains[i].node)
		if m.from[i] = r; r == noResource {
			continue
		}
		if j := m.holder[r] - 1; j >= 0 && clash == nil {
			clash = fmt.Errorf("trains %d and %d are both at %s", j, i, e.net.Cell(e.trains[i].node))
		}
		m.holder[r] = int32(i + 1)
	}
	for _, r := range m.from {
		if r != noResource {
			m.holder[r] = 0
		}
	}
	return clash
}

// velocity is a speed of which it matters whether it is exact: a float is rounded differently when it is asked whether
// the train leaves its cell than when the train moves on.
type velocity struct {
	exact Fraction
	float float64
	isFl  bool
}

func (v *velocity) isZero() bool {
	if v.isFl {
		return v.float == 0
	}
	return v.exact.Sign() == 0
}

// changed is the train's speed after a change, kept between 0 and its maximum; the bounds are exact, also on a tie.
func (t *train) changed(d Delta) velocity {
	if d.kind == deltaExact {
		v := t.speed.Add(d.exact)
		switch {
		case v.Cmp(t.maxSpeed) >= 0:
			v = t.maxSpeed
		case v.Sign() <= 0:
			v = Fraction{}
		}
		return velocity{exact: v}
	}
	v := t.speed.Float64() + d.float
	switch {
	case v >= 1 || t.maxSpeed.CmpFloat64(v) <= 0: // no maximum is above 1
		return velocity{exact: t.maxSpeed}
	case v <= 0:
		return velocity{}
	}
	return velocity{float: v, isFl: true}
}

// exits says whether the train leaves its cell at the wanted speed.
func (t *train) exits() bool {
	if t.wanted.isFl {
		return t.distance.Float64()+t.wanted.float >= 1
	}
	return reachOne(&t.distance, &t.wanted.exact)
}

// reachOne says whether two fractions that are not negative add up to 1 or more.
func reachOne(a, b *Fraction) bool {
	if a.big == nil && b.big == nil { // both below 2^31 almost always
		const small = 1 << 31
		ad, bd := a.denom(), b.denom()
		if ad < small && bd < small {
			return a.num*bd+b.num*ad >= ad*bd
		}
	}
	return a.Add(*b).Cmp(Whole(1)) >= 0
}

// advance moves the train on by a speed, a float snapped first, into the next cell if it exits.
func (t *train) advance(v velocity) error {
	if v.isFl {
		exact, err := Snap(v.float)
		if err != nil {
			return err
		}
		switch {
		case exact.Cmp(t.maxSpeed) >= 0:
			exact = t.maxSpeed
		case exact.Sign() <= 0:
			exact = Fraction{}
		}
		v.exact = exact
	}
	t.speed = v.exact
	t.distance = t.distance.Add(t.speed)
	if one := Whole(1); t.distance.Cmp(one) >= 0 { // both terms are at most 1, and the distance was below
		t.distance = t.distance.Add(Whole(-1))
	}
	t.entered = t.distance.Cmp(t.speed) < 0
	return nil
}
