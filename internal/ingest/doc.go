// Package ingest takes a team's upload and scores it: the path from a zip to a row of the board.
//
//	zip ─ unpacked, manifest ─ [Entry] ─ contract suite ─ flown in lockstep ─ [Result]
//
// A [Harness] is what the organiser's machine brings: an interpreter, a cage, limits. [Harness.Score] is the whole path,
// and what it returns has a score or the reason why there is none. [Harness.Open] goes half the way, for those
// who fly the entry themselves.
//
//	harness := ingest.New(ingest.DefaultSettings())
//	result, err := harness.Score(ctx, "team.zip", cfg, seeds)
//
// A checkpoint that the engine can read itself, of a team that observes the stock environment, needs no Python and
// no cage. Everything else runs in one. Only ours scores: of a team's environment nothing is read but which action its
// policy gives.
package ingest
