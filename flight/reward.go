package flight

import (
	"math"

	"skyrail/internal/elementary"
)

// outlook is what reward, observation and info all need of one moment, computed once.
type outlook struct {
	fresh    bool
	dt       []float64 // per aircraft: (expected) exit time minus target, seconds
	worst    []float64 // per aircraft: severity of its worst predicted conflict, 0 if there is none
	worstCpa []float64 // per aircraft: seconds until that conflict's closest approach
	severity float64   // sum over the predicted conflicts
	scratch  []float64

	maskFresh bool
	mask      []uint8 // per aircraft: bit c, clearance c is legal
}

func newOutlook(n int) outlook {
	buf := make([]float64, 4*n)
	return outlook{dt: buf[:n:n], worst: buf[n : 2*n : 2*n], worstCpa: buf[2*n : 3*n : 3*n], scratch: buf[3*n:], mask: make([]uint8, n)}
}

// stale forgets what was computed of the moment before.
func (o *outlook) stale() { o.fresh, o.maskFresh = false, false }

// never stands for the time of a conflict that does not come. The observation's t/(t+hz) is exactly 1 for it.
const never = 1e300

// look brings the outlook up to date.
func (e *Env) look() {
	o := &e.outlook
	if o.fresh {
		return
	}
	o.fresh = true
	o.severity = 0
	now := float64(e.step) * DT
	for i := range e.flights {
		f := &e.flights[i]
		exit := f.exitTime
		if !f.left() {
			exit = now + (f.total-f.flown)/f.speed // not negative before the exit
		}
		o.dt[i] = exit - f.target
		o.worst[i], o.worstCpa[i] = 0, never
	}
	horizon := e.cfg.horizon(e.step)
	if horizon == 0 {
		return
	}
	for _, p := range e.near {
		a, b := &e.flights[p.i], &e.flights[p.j]
		_, _, cpa, ok := encounter(a, b, horizon)
		if !ok {
			continue
		}
		s := severity(distanceAt(a, b, cpa), math.Abs(a.level-b.level))
		o.severity += s
		if s > o.worst[p.i] {
			o.worst[p.i], o.worstCpa[p.i] = s, cpa
		}
		if s > o.worst[p.j] {
			o.worst[p.j], o.worstCpa[p.j] = s, cpa
		}
	}
}

// reward returns the reward of the step just flown, in which issued clearances (0 or 1) were given.
func (e *Env) reward(issued int) float64 {
	e.look()
	c := &e.cfg
	span := float64(c.MaxSteps) * DT
	deviation := e.outlook.scratch
	for i := range e.flights {
		d := math.Abs(e.outlook.dt[i] / span)
		if above := e.flights[i].above; above != 0 {
			d = elementary.Hypot(d, above/(Levels-1))
		}
		if d > 1 {
			d = 1
		}
		deviation[i] = d
	}
	r := -(float64(c.WSafe*e.outlook.severity) +
		float64(c.WSafe/float64(len(e.flights))*Sum(deviation)) +
		float64(c.WClearance*float64(issued)))
	if e.collided {
		r -= float64(c.CollisionRate * c.WSafe * float64(max(c.MaxSteps-e.step, 0)))
	}
	return r
}

// ExitMiss returns the mean over the aircraft of |dt|/(H*DT) + |level deviation|, as of now.
func (e *Env) ExitMiss() float64 { return Sum(e.misses()) / float64(len(e.flights)) }

// MaxExitMiss returns the largest miss of a single aircraft.
func (e *Env) MaxExitMiss() float64 {
	worst := 0.0
	for _, m := range e.misses() {
		worst = max(worst, m)
	}
	return worst
}

func (e *Env) misses() []float64 {
	e.look()
	unit := float64(e.cfg.HoldSteps) * DT
	for i := range e.flights {
		e.outlook.scratch[i] = math.Abs(e.outlook.dt[i])/unit + math.Abs(e.flights[i].above)
	}
	return e.outlook.scratch
}

// Sum adds as NumPy's add.reduce does on a contiguous array: fewer than 8 values from left to right, up to
// 128 in eight interleaved partial sums, more by halves. A mean of the reference is Sum divided by the
// count.
func Sum(v []float64) float64 {
	n := len(v)
	switch {
	case n < 8:
		s := 0.0
		for _, x := range v {
			s += x
		}
		return s
	case n <= 128:
		acc := [8]float64(v[:8])
		i := 8
		for ; i+8 <= n; i += 8 {
			for k := range acc {
				acc[k] += v[i+k]
			}
		}
		s := ((acc[0] + acc[1]) + (acc[2] + acc[3])) + ((acc[4] + acc[5]) + (acc[6] + acc[7]))
		for ; i < n; i++ {
			s += v[i]
		}
		return s
	default:
		half := n / 2
		half -= half % 8
		return Sum(v[:half]) + Sum(v[half:])
	}
}
