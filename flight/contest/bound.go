package contest

// Bounds compares an entry with what its agent, an agent.Bounded, knows that no agent can do better than.
type Bounds struct {
	Episodes   int `json:"episodes"`   // with a bound
	Congestion int `json:"congestion"` // no agent has less, in all of those
	Matched    int `json:"matched"`    // of those, flown with that congestion, and everybody on level and in time at the end
	Clearances int `json:"clearances"` // no agent can do with fewer, in all that match
	Gap        int `json:"gap"`        // clearances given beyond that: at most so many were too many
	Least      int `json:"least"`      // episodes without a gap: as few clearances as possible, and proven so
}

// NewBounds adds up the bounds of episodes. ok is false if none has one.
func NewBounds(episodes []Episode) (b Bounds, ok bool) {
	for _, e := range episodes {
		if e.Bound == nil {
			continue
		}
		b.Episodes++
		b.Congestion += e.Bound.Congestion
		gap, matched := e.Gap()
		if !matched {
			continue
		}
		b.Matched++
		b.Clearances += e.Bound.Clearances
		b.Gap += gap
		if gap == 0 {
			b.Least++
		}
	}
	return b, b.Episodes > 0
}

// Gap returns how many clearances more were given than the bound. ok is false if there is no bound or the episode is
// none that it is about: it failed, or it has more congestion than it must or an exit miss that the ranking sees.
func (e Episode) Gap() (clearances int, ok bool) {
	if e.Bound == nil || !e.Completed || e.Congestion != e.Bound.Congestion || bucketOf(e.ExitMiss) != 0 {
		return 0, false
	}
	return e.Clearances - e.Bound.Clearances, true
}
