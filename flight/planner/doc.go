// Package planner holds a controller for the Flight Challenge that searches. A [Planner] is an agent: it sees
// observations only, makes a plan when the episode begins and flies it. An [Oracle] does the same from the true state.
// A [Solver] makes plans of any environment's state, for programs.
//
//	observation ─ belief ─ window ─ drafts ─ plan ─ action
//
// A belief is the sector as the observations tell it. A window looks ahead from there: headings never change, and a
// speed pulse puts an aircraft off its schedule by whole notches, so all that a clearance can do is known beforehand, as
// masks of steps: when a pair is too close, by how many notches each is off. An aircraft's track under its clearances is
// masks too, of the levels and the notches it is at; and where two aircraft lose separation is a few words and-ed
// together. So a candidate plan of 50 steps costs some hundred nanoseconds.
//
// A draft is a plan in the making. The search takes its earliest trouble, a loss of separation or an aircraft that ends
// off its level, and tries every clearance that changes where one of the two is then: any plan without that trouble has
// one of them. Bounds from below say which drafts cannot become good enough: each pair in trouble needs a clearance more
// for one of the two, and at a moment when several aircraft meet whatever their speeds, they need levels two apart, each
// of which has its price (a stack). Beams find plans, complete searches prove that there is no better one.
//
// What a plan is judged by is the official rank key of its episode: no mid-air, then the fewest losses of separation, an
// exit miss that the ranking does not see, the fewest clearances, the fewest aircraft touched.
//
// A proof is about plans that can be put together clearance by clearance so that each step of it is legal; plans of which
// that is not so would have to undo a clearance before another one that needs it undone.
//
// Limits: a plan looks 64 steps ahead, and has 24 clearances at most, 12 for an aircraft; speed pulses are planned for
// hold_steps up to 7, and SPD_UP_T not for aircraft that entered slower than 235 m/s, which would not be in time; levels
// are those of the grid. In the ranked scenario only that about SPD_UP_T can matter, after an exit, and no bound is
// claimed then.
package planner
