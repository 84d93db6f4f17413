package agent

import (
	"math"
	"slices"

	"skyrail/flight"
	"skyrail/internal/elementary"
)

// RuleBased is the challenge's hand-written controller. When an episode begins it looks at the predicted
// conflicts once and assigns the aircraft in them to levels two apart; from then on it steers each to its
// level, one clearance a step and the most urgent first, and once an aircraft has nobody near, resumes its
// entry level.
type RuleBased struct {
	cfg      flight.Config
	maskAt   int
	lastStep float64
	targets  []float64 // level index per aircraft
	order    []int     // the aircraft in conflict at the start, most urgent first
	seen     []sighting
	queue    []int
}

// sighting is one aircraft as decoded from the observation.
type sighting struct {
	x, y      float64 // metres, within the sector
	level     float64 // index, 0..9
	deviation float64 // levels above entry
	severity  float64
	conflict  float64 // seconds until the worst conflict's closest approach, +Inf if there is none
}

const (
	involvedSeverity = 0.05
	clearDistance    = 7000.0 // metres: an aircraft resumes when no other is nearer
	levelTolerance   = 1e-3
)

// slotOffsets spreads the aircraft in conflict around their median level.
var slotOffsets = [...]float64{0, 2, -2, 4, -4, 6, -6}

// NewRuleBased returns a RuleBased for environments of cfg.
func NewRuleBased(cfg flight.Config) *RuleBased {
	r := &RuleBased{
		cfg:     cfg,
		maskAt:  cfg.ObservationLen() - cfg.Actions(),
		targets: make([]float64, cfg.Flights),
		seen:    make([]sighting, cfg.Flights),
	}
	r.Reset()
	return r
}

// Reset makes the next observation the first of an episode.
func (r *RuleBased) Reset() { r.lastStep = math.Inf(1) }

// Act steers, else recovers, else idles.
func (r *RuleBased) Act(obs []float32) int {
	step := r.decode(obs)
	if step < r.lastStep {
		r.plan()
	}
	r.lastStep = step
	mask := obs[r.maskAt:]
	if a := r.steer(mask); a != flight.Idle {
		return a
	}
	return r.bringBack(mask)
}

// decode reads the aircraft from the observation and returns the step. All of it is float64 arithmetic on
// the float32 values.
func (r *RuleBased) decode(obs []float32) (step float64) {
	n := r.cfg.Flights
	step = float64((float64(obs[flight.Features*n]) + 1) / 2 * float64(r.cfg.MaxSteps))
	horizon := max(float64(r.cfg.MaxSteps)-step, 1) * flight.DT
	for i := range r.seen {
		f := obs[flight.Features*i:]
		r.seen[i] = sighting{
			x:         float64(f[0]) * flight.SectorHalfWidth,
			y:         float64(f[1]) * flight.SectorHalfWidth,
			level:     (float64(f[2]) + 1) / 2 * (flight.Levels - 1),
			deviation: 2 * elementary.Atanh(min(max(float64(f[7]), -0.999999), 0.999999)),
			severity:  (float64(f[10]) + 1) / 2,
			conflict:  conflictTime(f[11], horizon),
		}
	}
	return step
}

// conflictTime inverts q = t/(t + horizon).
func conflictTime(feature float32, horizon float64) float64 {
	q := min(max((float64(feature)+1)/2, 0), 1)
	if q >= 1-1e-6 {
		return math.Inf(1)
	}
	return q * horizon / max(1-q, 1e-12)
}

// plan assigns target levels.
func (r *RuleBased) plan() {
	r.order = r.order[:0]
	for i, s := range r.seen {
		r.targets[i] = math.RoundToEven(s.level)
		if s.severity >= involvedSeverity {
			r.order = append(r.order, i)
		}
	}
	if len(r.order) == 0 {
		return
	}
	r.sortByConflict(r.order)
	ref := math.RoundToEven(r.medianLevel(r.order))
	k := 0
	for _, offset := range slotOffsets {
		slot := ref + offset
		if slot < 0 || slot > flight.Levels-1 {
			continue
		}
		if k == len(r.order) {
			return
		}
		r.targets[r.order[k]] = slot
		k++
	}
	for ; k < len(r.order); k++ {
		r.targets[r.order[k]] = ref
	}
}

func (r *RuleBased) medianLevel(aircraft []int) float64 {
	levels := make([]float64, len(aircraft))
	for k, i := range aircraft {
		levels[k] = r.seen[i].level
	}
	slices.Sort(levels)
	mid := len(levels) / 2
	if len(levels)%2 == 1 {
		return levels[mid]
	}
	return (levels[mid-1] + levels[mid]) / 2
}

// sortByConflict sorts aircraft by conflict time, those of equal time in the order they are.
func (r *RuleBased) sortByConflict(aircraft []int) {
	slices.SortStableFunc(aircraft, func(a, b int) int {
		ta, tb := r.seen[a].conflict, r.seen[b].conflict
		switch {
		case ta < tb:
			return -1
		case ta > tb:
			return 1
		}
		return 0
	})
}

// steer moves the most urgent aircraft that is off its target and may be moved.
func (r *RuleBased) steer(mask []float32) int {
	r.queue = r.queue[:0]
	for i, s := range r.seen {
		if math.RoundToEven(s.level) != r.targets[i] {
			r.queue = append(r.queue, i)
		}
	}
	r.sortByConflict(r.queue)
	for _, i := range r.queue {
		c := flight.FLInc
		if r.targets[i] < math.RoundToEven(r.seen[i].level) {
			c = flight.FLDec
		}
		if a := flight.Action(i, c); mask[a] != 0 {
			return a
		}
	}
	return flight.Idle
}

// bringBack resumes the entry level of an aircraft that was in conflict and has nobody near.
func (r *RuleBased) bringBack(mask []float32) int {
	for _, i := range r.order {
		s := r.seen[i]
		if math.Abs(s.deviation) <= levelTolerance || r.crowded(i) {
			continue
		}
		if a := flight.Action(i, flight.Resume); mask[a] != 0 {
			r.targets[i] = math.RoundToEven(s.level - s.deviation)
			return a
		}
	}
	return flight.Idle
}

func (r *RuleBased) crowded(i int) bool {
	for j, s := range r.seen {
		if j != i && elementary.Hypot(s.x-r.seen[i].x, s.y-r.seen[i].y) < clearDistance {
			return true
		}
	}
	return false
}
