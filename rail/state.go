package rail

import "fmt"

// State is where a train stands in its life.
type State int8

// The states, numbered as in the reference. NoState is a previous state that there was none of.
const (
	Waiting State = iota
	ReadyToDepart
	MalfunctionOffMap
	Moving
	Stopped
	Malfunction
	Done
	NoState State = -1
)

var stateNames = [...]string{"WAITING", "READY_TO_DEPART", "MALFUNCTION_OFF_MAP", "MOVING", "STOPPED", "MALFUNCTION", "DONE"}

// String is the reference's name.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return fmt.Sprintf("State(%d)", int8(s))
	}
	return stateNames[s]
}

// OnMap says whether a train in this state has a configuration; one that is [Done] is not on the map.
func (s State) OnMap() bool { return s == Moving || s == Stopped || s == Malfunction }

// OffMap says whether a train in this state has not yet entered.
func (s State) OffMap() bool { return s == Waiting || s == ReadyToDepart || s == MalfunctionOffMap }

// InMalfunction says whether it is one of the two malfunction states.
func (s State) InMalfunction() bool { return s == MalfunctionOffMap || s == Malfunction }

// Signals are what the state machine of a train looks at in a step.
type Signals struct {
	InMalfunction              bool // its malfunction counter is above 0, this step's draws included
	EarliestDepartureReached   bool
	StopActionGiven            bool
	MovementActionGiven        bool
	MovementAllowed            bool // its way is valid and not blocked
	NewSpeedZero               bool // the speed it would have now
	TargetReached, TargetUnset bool // TargetUnset: not looked at, None in the reference
}

// next is the state machine: the first matching row of the state wins.
func (s State) next(sig *Signals) State {
	switch s {
	case Waiting:
		switch {
		case sig.InMalfunction:
			return MalfunctionOffMap
		case sig.EarliestDepartureReached:
			return ReadyToDepart
		}
		return Waiting
	case ReadyToDepart:
		switch {
		case sig.InMalfunction:
			return MalfunctionOffMap
		case sig.MovementActionGiven && sig.MovementAllowed:
			return Moving
		}
		return ReadyToDepart
	case MalfunctionOffMap:
		switch {
		case sig.InMalfunction:
			return MalfunctionOffMap
		case !sig.EarliestDepartureReached:
			return Waiting
		case sig.MovementActionGiven && sig.MovementAllowed:
			return Moving
		case sig.StopActionGiven && sig.MovementAllowed:
			return Stopped
		}
		return ReadyToDepart
	case Moving:
		switch {
		case sig.InMalfunction:
			return Malfunction
		case sig.StopActionGiven && sig.NewSpeedZero || !sig.MovementAllowed:
			return Stopped
		}
		return Moving
	case Stopped, Malfunction:
		switch {
		case sig.InMalfunction:
			return Malfunction
		case sig.MovementActionGiven && sig.MovementAllowed:
			return Moving
		}
		return Stopped
	}
	return s
}
