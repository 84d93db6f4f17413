package agent

import "skyrail/rail"

// ways are the moving actions in the order in which they are tried.
var ways = [...]rail.Action{rail.MoveForward, rail.MoveLeft, rail.MoveRight}

// ShortestPath sends every train to where its target is nearest, in every step and whatever is in the way: the first of
// MOVE_FORWARD, MOVE_LEFT, MOVE_RIGHT with the smallest distance. Stops are left aside. A train that has arrived, or from
// whose place no action leads to the target, does nothing.
type ShortestPath struct{}

// Reset does nothing.
func (ShortestPath) Reset(View) error { return nil }

// Act answers.
func (ShortestPath) Act(v View, actions []rail.Action) error {
	if err := checkCall(v, actions, v.Trains()); err != nil {
		return err
	}
	for i := range actions {
		actions[i] = rail.DoNothing
		if v.State(i) == rail.Done {
			continue
		}
		here := v.Node(i)
		if here == rail.NoNode {
			here = v.Initial(i)
		}
		best := rail.Unreachable
		for _, a := range ways {
			to, _ := v.Network().Move(here, a)
			if to == rail.NoNode {
				continue
			}
			if d := v.DistanceTo(i, to); d < best {
				best, actions[i] = d, a
			}
		}
	}
	return nil
}
