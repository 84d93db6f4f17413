// Package agent holds the reference policies of the railway. A [Policy] sees the railway through a [View] and answers
// with an action for every train; [New] makes one by name.
//
//	do-nothing                  no train ever enters
//	random                      a uniformly drawn action for each train and step
//	forward                     MOVE_FORWARD for every train in every step
//	shortest-path               each train takes the way on which its target is nearest, and never waits
//	shortest-path-reference     each train keeps to the path through its stops, as the policy in flatland-rl does
//	shortest-path-stops         the same paths, and each train stands at its stops until it may leave
//	deadlock-avoidance          a train waits while those that come towards it leave it no cell to make way
//	deadlock-avoidance-classic  the same, more careful and straight to the target
//
// The published policies are those of flatland-rl 4.2.5 and flatland-baselines 4.3.0, and answer the same actions for
// every train in every step. Where those end with an exception (a train without a path, one that weak brakes carried off
// its path), these go on; the comments say how. An oddity that is kept on purpose is marked quirk.
//
// A policy is deterministic: the same episode gets the same actions. None allocates in a step once its lists have grown.
//
//	p, err := agent.New("deadlock-avoidance", agent.Options{})
//	…
//	err = p.Reset(env)
//	for err == nil && !env.AllDone() {
//		if err = p.Act(env, actions); err == nil {
//			err = env.Step(actions)
//		}
//	}
//
// The package does not plan ahead in time and does not run episodes.
package agent
