// Package flight is the air sector of the Flight Challenge.
//
// A [Scenario] is a square sector with [Aircraft], some of which converge on a hotspot. An [Env] flies it:
// one [Env.Step] takes one action, which is [Idle] or one [Clearance] to one aircraft, advances the sector by
// [DT] seconds, and gives back a reward and a [Status]. What an agent may know is the observation
// ([Env.Observe]), which ends with the legality mask ([Env.Mask]); what it is judged by are the figures of
// [Env.Info]: losses of separation (congestion), mid-airs, how far aircraft leave from their exit time and
// level (exit miss), and the clearances given. [Env.Conflicts] predicts losses of separation to come.
//
// Start with [New] and [Env.Reset]. A reset is a function of its seed, and an episode of its seed and
// actions: the same bits on every platform. Observations, counts and random draws are those of the challenge's
// reference implementation, whose streams are NumPy's (package numpyrand); docs/exactness.md says what is equal,
// to which accuracy, and how that is checked. Where the code keeps an oddity of the reference on purpose, the comment says quirk.
//
// An Env does no I/O, reads no clock and starts no goroutine. Step, Observe and Mask do not allocate. It
// does not rank anybody (package flight/contest) and holds no agent (package flight/agent).
package flight
