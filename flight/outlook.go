package flight

import (
	"math"
	"math/bits"

	"skyrail/internal/elementary"
)

// outlook is what reward, observation, mask and info need of one moment, computed once and only when asked for.
type outlook struct {
	views     []view
	deviation []float64 // per aircraft, as the reward has it
	miss      []float64 // per aircraft, as the info has it; made by misses
	severity  float64   // sum over the predicted conflicts

	exitsFresh     bool   // lookAtExits has been done
	conflictsFresh bool   // lookAtConflicts has been done
	masksFresh     bool   // lookAtExits or lookAtMasks has been done
	outdated       uint64 // bit i: view i does not know the last clearance, or its end
}

// view is the outlook of one aircraft.
type view struct {
	dt       float64 // (expected) exit time minus target, seconds
	share    float64 // dt in units of the longest episode
	lateness steady  // dt in units of H*DT, for the observation
	worst    float64 // severity of its worst predicted conflict, 0 if there is none
	worstCpa float64 // seconds until that conflict's closest approach, noConflict if there is none
	mask     uint8   // bit c: clearance c is legal

	// What follows changes only when a clearance begins or ends.
	allowed                    uint8   // bit c: level, speed and temporary manoeuvres allow clearance c
	levels                     float64 // off the entry level, not negative
	aside                      float64 // the levels' part of the deviation
	comparable                 float64 // while the time's part is not above this, the larger part is the deviation
	level, speed, above, count float32 // features of the observation
}

// noConflict stands for the time of a conflict that does not come. The observation's t/(t+hz) is exactly 1 for it.
const noConflict = 1e300

func newOutlook(n int) outlook {
	buf := make([]float64, 2*n)
	return outlook{outdated: math.MaxUint64, views: make([]view, n), deviation: buf[:n:n], miss: buf[n:]}
}

// stale forgets what was computed of the moment before.
func (o *outlook) stale() { o.exitsFresh, o.conflictsFresh, o.masksFresh = false, false, false }

// forget makes it the outlook of another state.
func (o *outlook) forget() {
	o.stale()
	o.outdated = math.MaxUint64
}

// look brings the outlook up to date.
func (e *Env) look() {
	e.lookAtExits()
	e.lookAtConflicts()
}

// lookAtExits works out what each aircraft by itself tells: when it leaves, what that makes of it, and what it may be
// told.
func (e *Env) lookAtExits() {
	o, flights := &e.outlook, e.flights
	if o.exitsFresh {
		return
	}
	o.exitsFresh, o.masksFresh = true, true
	e.refresh()
	views, deviation := o.views[:len(flights)], o.deviation[:len(flights)]
	now, span := float64(e.step)*DT, float64(e.cfg.MaxSteps)*DT
	pulse := float64(2*e.cfg.HoldSteps) * DT
	both := uint64(0) // whose deviation is one of time and of levels
	for i := range flights {
		f, v := &flights[i], &views[i]
		exit := f.exitTime
		if !f.left() {
			exit = now + (f.total-f.flown)/f.speed // not negative before the exit
		}
		dt := exit - f.target
		d := dt / span
		v.dt, v.share, v.worst, v.worstCpa = dt, d, 0, noConflict
		// As integers, in the same order as the floats, none of which is negative: branches would be as good as random,
		// and limits of floats mind NaN.
		share := math.Float64bits(d) &^ (1 << 63)
		both |= (math.Float64bits(v.comparable) - share) >> 63 << (i & 63)
		deviation[i] = math.Float64frombits(min(max(share, math.Float64bits(v.aside)), math.Float64bits(1)))
		v.mask = f.legal(v.allowed, now, pulse)
	}
	for ; both != 0; both &= both - 1 {
		i := bits.TrailingZeros64(both)
		deviation[i] = min(elementary.Hypot(views[i].share, views[i].aside), 1)
	}
}

// lookAtConflicts works out the conflicts that are predicted, after the exits.
func (e *Env) lookAtConflicts() {
	o, flights := &e.outlook, e.flights
	if o.conflictsFresh {
		return
	}
	o.conflictsFresh, o.severity = true, 0
	horizon := e.cfg.horizon(e.step)
	if horizon == 0 {
		return
	}
	for w, near := range e.near {
		for ; near != 0; near &= near - 1 {
			p := e.pairs[64*w+bits.TrailingZeros64(near)]
			a, b := &flights[p.i], &flights[p.j]
			r := seenFrom(a, b)
			if cpa, ok := r.closest(horizon); ok {
				s := severity(r.distanceAt(cpa), math.Abs(a.level-b.level))
				o.severity += s
				o.views[p.i].threaten(s, cpa)
				o.views[p.j].threaten(s, cpa)
			}
		}
	}
}

// threaten notes a predicted conflict if it is the worst one so far.
func (v *view) threaten(severity, cpa float64) {
	// As integers, which need no branch; neither severity is negative.
	worst, at := math.Float64bits(v.worst), math.Float64bits(v.worstCpa)
	s, t := math.Float64bits(severity), math.Float64bits(cpa)
	if s > worst {
		worst, at = s, t
	}
	v.worst, v.worstCpa = math.Float64frombits(worst), math.Float64frombits(at)
}

// refresh brings up to date what the views keep of clearances, which are few.
func (e *Env) refresh() {
	o := &e.outlook
	outdated := o.outdated & (1<<len(e.flights) - 1)
	o.outdated = 0
	for ; outdated != 0; outdated &= outdated - 1 {
		i := bits.TrailingZeros64(outdated)
		f, v := &e.flights[i], &o.views[i]
		v.level = clip(2*(f.level-LowestLevel)/(HighestLevel-LowestLevel) - 1)
		v.speed = clip(2*(f.speed-LowSpeed)/(TopSpeed-LowSpeed) - 1)
		v.above = levelFeature(f.above)
		v.count = countFeatures[min(f.count, len(countFeatures)-1)]
		v.allowed = f.allowed() & (uint8(e.flying>>i&1) - 1) // nothing while a temporary manoeuvre runs
		v.levels = math.Abs(f.above)
		v.aside = v.levels / (Levels - 1)
		v.comparable = math.Inf(1)
		if v.aside != 0 {
			v.comparable = float64(0x1p-28 * v.aside) // as elementary.Hypot has it
		}
	}
}
