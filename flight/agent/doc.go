// Package agent holds the reference agents of the Flight Challenge. An [Agent] sees observations only, save for a
// [Sighted], which is no entry, and answers with action indices; [New] makes one by name.
//
//	noop        never gives a clearance: what every entry must beat
//	random      a uniformly drawn legal action a step
//	rule-based  spreads the aircraft in conflict over the levels, steers, then brings them back
//
// An agent that knows how probable each action is also implements [Distribution]; it can then be sampled and
// is looked at more closely by a post-mortem. None of the three does.
package agent
