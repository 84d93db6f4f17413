package contest

import (
	"math"

	"skyrail/rail"
	"skyrail/rail/agent"
	"skyrail/rail/railfile"
)

// Replay is the policy that gives the recorded actions of an episode, and MOVE_FORWARD where none is recorded, as the
// reference does. Of an action that is recorded twice the first counts.
func Replay(actions []railfile.ActionRow) agent.Policy {
	return Fork(actions, math.MaxInt, nil)
}

// Fork is a policy that gives the recorded actions of an episode up to a step, and then hands over to another policy, which
// must not be nil.
func Fork(actions []railfile.ActionRow, step int, then agent.Policy) agent.Policy {
	return &fork{actions: actions, step: step, then: then}
}

type fork struct {
	actions []railfile.ActionRow
	step    int
	then    agent.Policy

	trains int
	at     map[int][]rail.Action // by elapsed steps
	forked bool
}

// Reset sorts the recorded actions by step.
func (f *fork) Reset(v agent.View) error {
	f.trains, f.forked = v.Trains(), false
	f.at = make(map[int][]rail.Action)
	given := make(map[[2]int]bool, len(f.actions))
	for _, r := range f.actions {
		if r.Agent < 0 || r.Agent >= f.trains || given[[2]int{r.Time, r.Agent}] {
			continue
		}
		given[[2]int{r.Time, r.Agent}] = true
		if f.at[r.Time] == nil {
			f.at[r.Time] = forward(f.trains)
		}
		f.at[r.Time][r.Agent] = r.Action
	}
	return nil
}

func forward(trains int) []rail.Action {
	all := make([]rail.Action, trains)
	for i := range all {
		all[i] = rail.MoveForward
	}
	return all
}

// Act gives what is recorded, or asks the other policy, which begins where the environment then is.
func (f *fork) Act(v agent.View, actions []rail.Action) error {
	if v.Elapsed() >= f.step {
		if !f.forked {
			if err := f.then.Reset(v); err != nil {
				return err
			}
			f.forked = true
		}
		return f.then.Act(v, actions)
	}
	row := f.at[v.Elapsed()]
	if row == nil {
		row = forward(f.trains)
	}
	copy(actions, row)
	return nil
}
