package rail

import (
	"fmt"
	"strings"
)

// Action is what a train is told to do in one step.
type Action int8

// The actions, numbered as in the reference. Any other number counts as DoNothing.
const (
	DoNothing Action = iota
	MoveLeft
	MoveForward
	MoveRight
	StopMoving
)

var actionNames = [...]string{"DO_NOTHING", "MOVE_LEFT", "MOVE_FORWARD", "MOVE_RIGHT", "STOP_MOVING"}

// String is the reference's name.
func (a Action) String() string {
	if a < 0 || int(a) >= len(actionNames) {
		return fmt.Sprintf("Action(%d)", int8(a))
	}
	return actionNames[a]
}

// moving says whether the action is one that sets a train going: left, forward or right.
func (a Action) moving() bool { return a == MoveLeft || a == MoveForward || a == MoveRight }

// ParseAction reads a number "0" to "4", a name like "MOVE_LEFT", or "RailEnvActions.MOVE_LEFT"; ok is false for
// anything else, which the reference takes as DoNothing.
func ParseAction(text string) (a Action, ok bool) {
	if len(text) == 1 && '0' <= text[0] && text[0] < '0'+byte(len(actionNames)) {
		return Action(text[0] - '0'), true
	}
	name := strings.TrimPrefix(text, "RailEnvActions.")
	for i, n := range actionNames {
		if n == name {
			return Action(i), true
		}
	}
	return DoNothing, false
}
