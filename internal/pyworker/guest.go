package pyworker

import (
	"context"
	"encoding/binary"
	"math"
	"time"
)

// Guest is a team's policy as an agent of the engine, flown in lockstep with the environment it observes: theirs,
// if the team has one, else ours, whose observations it is sent. It is an agent.Remote. The process starts with the
// first episode.
//
// Theirs may end its episode before ours does: then the guest idles. It is never asked about anything else.
type Guest struct {
	session *Session
	ctx     context.Context
	process *process

	seed    uint64
	begun   bool // the episode's first action was asked for
	ended   bool // their environment ended the episode
	flown   int  // the action that was flown last
	until   time.Time
	err     error
	message []byte
}

// Guest returns a new guest. When ctx is cancelled, its process ends and its error is ctx's.
func (s *Session) Guest(ctx context.Context) *Guest { return &Guest{session: s, ctx: ctx} }

// Reset does nothing: Start tells more.
func (g *Guest) Reset() {}

// Start begins the episode of a seed.
func (g *Guest) Start(seed uint64) {
	g.seed, g.begun, g.ended = seed, false, false
	if g.err == nil && g.process == nil {
		g.process, g.err = g.session.start(g.ctx, g.session.team)
	}
	g.until = time.Now().Add(g.session.limits.Episode)
}

// Flown tells the action that was flown.
func (g *Guest) Flown(action int) { g.flown = action }

// Act asks for an action. If there is none it idles, and Err says why.
func (g *Guest) Act(obs []float32) int {
	if g.err != nil || g.ended {
		return 0
	}
	r := request{"op": "step", "action": g.flown}
	if !g.begun {
		r, g.begun = request{"op": "start", "seed": g.seed}, true
	}
	if g.session.team.EnvEntryPoint == "" {
		g.message = g.message[:0]
		for _, v := range obs {
			g.message = binary.LittleEndian.AppendUint32(g.message, math.Float32bits(v))
		}
		r["observation"] = g.message
	}
	limit, late := g.session.limits.Decision, DecisionTime
	if left := time.Until(g.until); left < limit {
		limit, late = left, EpisodeTime
	}
	a, err := g.process.ask(limit, late, r)
	switch {
	case err != nil:
		g.err = err
	case a.Ended:
		g.ended = true
	case a.Action == nil || *a.Action < 0 || *a.Action >= g.session.scenario.Actions:
		g.process.verdict = newVerdict(Protocol, nil, "an answer without an action")
		g.err = g.process.verdict
	default:
		return *a.Action
	}
	return 0
}

// Err says why there was no action: a Verdict, ctx's error, or a fault of ours.
func (g *Guest) Err() error { return g.err }

// Close ends the process.
func (g *Guest) Close() error {
	if g.process == nil {
		return nil
	}
	p := g.process
	g.process = nil
	return p.close()
}
