package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/flight/contest"
	"skyrail/internal/pyworker"
)

// besideSeeds is on how many of the published seeds a team's environment is flown beside ours.
const besideSeeds = 10

// figure is a scored figure of the info, by its name there.
type figure struct {
	name string
	of   func(flight.Info) float64
}

var figures = []figure{
	{"congestion_events", func(i flight.Info) float64 { return float64(i.CongestionEvents) }},
	{"congestion_total", func(i flight.Info) float64 { return float64(i.CongestionTotal) }},
	{"clearances", func(i flight.Info) float64 { return float64(i.Clearances) }},
	{"invalids", func(i flight.Info) float64 { return float64(i.Invalids) }},
	{"aircraft_involved", func(i flight.Info) float64 { return float64(i.AircraftInvolved) }},
	{"collided", func(i flight.Info) float64 {
		if i.Collided {
			return 1
		}
		return 0
	}},
	{"exit_miss", func(i flight.Info) float64 { return i.ExitMiss }},
}

// beside flies the team's environment beside ours, with the same random legal actions, and says at which step its
// figures first part from ours. The physics are frozen, so they should not; but it is advice, since only ours scores.
func beside(ctx context.Context, session *pyworker.Session, cfg flight.Config) (advice []string, err error) {
	var recordings []pyworker.Recording
	var ours [][]flight.Info
	for _, seed := range contest.PublicSeeds()[:besideSeeds] {
		actions, infos, err := flyRandom(cfg, seed)
		if err != nil {
			return nil, err
		}
		recordings = append(recordings, pyworker.Recording{Seed: seed, Actions: actions})
		ours = append(ours, infos)
	}
	if err := session.Record(ctx, recordings); err != nil {
		var v *pyworker.Verdict
		if errors.As(err, &v) {
			return []string{"flown beside ours, the environment failed: " + v.Reason}, nil
		}
		return nil, err
	}
	for i, r := range recordings {
		if difference := firstDifference(r, ours[i]); difference != "" {
			return []string{fmt.Sprintf("the environment parts from ours (only ours scores): seed %d %s", r.Seed, difference)}, nil
		}
	}
	return nil, nil
}

// flyRandom flies an episode with the random agent, and records what the info says after each step.
func flyRandom(cfg flight.Config, seed uint64) (actions []int, infos []flight.Info, err error) {
	env, err := flight.New(cfg)
	if err != nil {
		return nil, nil, err
	}
	episode, err := contest.Play(env, agent.NewRandom(cfg), seed)
	if err != nil {
		return nil, nil, err
	}
	env.Reset(seed)
	for _, action := range episode.Actions {
		if _, err := env.Advance(action); err != nil {
			return nil, nil, err
		}
		var info flight.Info
		env.Info(&info)
		infos = append(infos, info)
	}
	return episode.Actions, infos, nil
}

// firstDifference tells the first step and figure at which theirs is not ours, empty if there is none.
func firstDifference(r pyworker.Recording, ours []flight.Info) string {
	theirs := r.Figures
	for step, info := range ours {
		if step >= len(theirs) {
			return fmt.Sprintf("step %d: its episode has ended, ours goes on", step)
		}
		for i, f := range figures {
			if i >= len(theirs[step]) {
				return fmt.Sprintf("step %d: it tells no %s", step, f.name)
			}
			if want, got := f.of(info), theirs[step][i]; !(math.Abs(got-want) <= 1e-9) {
				return fmt.Sprintf("step %d: %s is %v, ours %v", step, f.name, got, want)
			}
		}
	}
	if !r.Ended {
		return fmt.Sprintf("step %d: ours has ended, its episode goes on", len(ours)-1)
	}
	return ""
}
