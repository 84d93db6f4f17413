// Package rail is the railway of the Flatland challenge.
//
// A [Scenario] is a grid of tracks with [Train]s and their timetable: where each starts, where it has to stop in between
// and where it has to arrive, and when. An [Env] runs it: one [Env.Step] takes an [Action] for every train and advances
// the railway by one step. A train has a [State] of its life, and on the map a [Configuration], the cell and the heading
// in which it entered it; its speed and the part of the cell it has travelled are exact [Fraction]s. Of trains that want
// the same place the lowest handle gets it. An [Effect] may break trains down. [Rewards] say what a step was worth, and
// [NormalizeTotals] what an episode was. What an agent may observe is built by [TreeObserver] and its siblings.
//
// The engine counts in its own numbers: a [Node] is a configuration as an index into a [Network], the grid with the way
// of every action worked out.
//
// Start with [New] and [Env.Step]. An episode is a function of the scenario, the effects, the seed and the actions: the
// same bits on every platform. Everything is that of flatland-rl 4.2.5; where the code keeps an oddity of it on purpose,
// the comment says quirk.
//
// An Env does no I/O, reads no clock and starts no goroutine, and a step does not allocate. Files are read and written by
// package rail/railfile, policies are in rail/agent, and rail/contest judges them.
package rail
