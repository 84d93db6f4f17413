package contest

import (
	"fmt"
	"slices"

	"skyrail/rail"
)

// compareEnvironments compares the environment that came with the trajectory with ours, before the run.
func (v *verifier) compareEnvironments() {
	found := v.options.ClaimedFault
	if found == "" {
		if v.options.Claimed == nil || v.options.Claimed.Equal(v.env) {
			return
		}
		found = environmentDifference(v.env, v.options.Claimed)
	}
	v.differ(Difference{
		File: "serialised_state/" + v.options.Episode + ".pkl", What: "environment",
		Expected: "the environment of the scenario", Found: found,
	})
}

// environmentDifference names the first thing in which the found environment is not ours.
func environmentDifference(ours, found *rail.Env) string {
	a, b := ours.Scenario(), found.Scenario()
	switch {
	case a.Height != b.Height || a.Width != b.Width:
		return fmt.Sprintf("one of %d rows and %d columns instead of %d and %d", b.Height, b.Width, a.Height, a.Width)
	case ours.Trains() != found.Trains():
		return fmt.Sprintf("one with %d trains instead of %d", found.Trains(), ours.Trains())
	case a.MaxEpisodeSteps != b.MaxEpisodeSteps:
		return fmt.Sprintf("one of %d steps at most instead of %d", b.MaxEpisodeSteps, a.MaxEpisodeSteps)
	}
	for k := range a.Grid {
		c := rail.Cell{Row: k / a.Width, Col: k % a.Width}
		if a.Grid[k] != b.Grid[k] || ours.LevelFree(c) != found.LevelFree(c) {
			return fmt.Sprintf("one with other tracks at %s", c)
		}
	}
	for i := range a.Trains {
		if what := trainDifference(&a.Trains[i], &b.Trains[i]); what != "" {
			return fmt.Sprintf("one in which train %d has %s", i, what)
		}
	}
	s, t := ours.Snapshot(), found.Snapshot()
	if s.Elapsed != t.Elapsed {
		return fmt.Sprintf("one after %d steps instead of %d", t.Elapsed, s.Elapsed)
	}
	for i := range s.Trains {
		x, y := &s.Trains[i], &t.Trains[i]
		if x.State != y.State || x.Configuration != y.Configuration || x.Malfunction != y.Malfunction {
			return fmt.Sprintf("one in which train %d is in another state", i)
		}
	}
	if !s.Stream.Equal(&t.Stream) {
		return "one with another random stream"
	}
	return "one with other malfunctions, or of another moment"
}

func trainDifference(a, b *rail.Train) string {
	switch {
	case a.Initial != b.Initial:
		return fmt.Sprintf("its start at %s instead of %s", b.Initial, a.Initial)
	case a.Target != b.Target:
		return fmt.Sprintf("its target at %s instead of %s", b.Target, a.Target)
	case !a.MaxSpeed.Equal(b.MaxSpeed):
		return fmt.Sprintf("maximum speed %s instead of %s", b.MaxSpeed, a.MaxSpeed)
	case a.EarliestDeparture != b.EarliestDeparture:
		return fmt.Sprintf("earliest departure %d instead of %d", b.EarliestDeparture, a.EarliestDeparture)
	case a.LatestArrival != b.LatestArrival:
		return fmt.Sprintf("latest arrival %d instead of %d", b.LatestArrival, a.LatestArrival)
	case len(a.Stops) != len(b.Stops):
		return fmt.Sprintf("%d stops instead of %d", len(b.Stops), len(a.Stops))
	}
	for k := range a.Stops {
		x, y := &a.Stops[k], &b.Stops[k]
		if !slices.Equal(x.Alternatives, y.Alternatives) || x.LatestArrival != y.LatestArrival || x.EarliestDeparture != y.EarliestDeparture {
			return fmt.Sprintf("another stop %d", k)
		}
	}
	return ""
}
