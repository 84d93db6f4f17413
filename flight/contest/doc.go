// Package contest turns agents into a board.
//
//	seed ─ scenario ─ env ⇄ agent ─ [Episode] ─ [Score] ─ rank ─ board
//
// [Play] flies one episode of an agent, [Replay] one of recorded actions, [Run] a list of seeds on several
// cores. [NewScore] adds episodes up, [Rank] orders scores by the challenge's rank key. [DeriveSeeds] and
// [Split] make the lists of seeds the boards are about. What a team hands in is a [Trace] of actions; a
// [Solution] holds the states every episode begins with, and [Solution.Score] scores a trace from those
// states alone. [PostMortem] shakes an agent to see how robust its score is, [Explain] tells why each clearance of an
// episode was given, and [NewBounds] how far an entry is from what is possible.
//
// Everything here is a function of its inputs: results come in the order of the seeds, whatever the number of
// workers.
package contest
