// Package pyworker hosts a team's Python: the environment that its policy observes, and the policy itself.
//
// A [Session] is one submission's time with Python: which interpreter, which cage, how long. It makes a [Guest] for the
// engine to fly, runs the contract suite, and records what the team's environment thinks of given actions. Each of
// these is a process of its own, in a cage, which answers over a pipe in length-prefixed MessagePack: an action
// number, or why there is none. Whatever a team's code does, from a traceback to a fork bomb, ends as a [Verdict]: a
// value with a stable code, not a fault of ours. Nothing else a process says can reach a score.
//
//	python, err := pyworker.FindPython(ctx, "python3")
//	session, err := pyworker.NewSession(python, box, folder, team, scenario, limits)
//	defer session.Close()
//	guest := session.Guest(ctx) // an agent.Remote
//
// The package does not know what an aircraft is; it passes seeds, actions and the bytes of observations on. It does
// not unpack submissions.
package pyworker
