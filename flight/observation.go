package flight

import "skyrail/internal/elementary"

// Features is the number of observation values an aircraft has. The names are the reference's:
// x, y, level, speed, sin_hdg, cos_hdg, exit time, exit level, clearances, busy, severity, time to the
// conflict, present.
const Features = 13

const globals = 2 // steps flown, clearance budget

// Observe writes the observation into dst, which must have at least Config.ObservationLen entries: Features
// values an aircraft, two globals, all within [-1, 1], then the mask of all actions as 0 and 1.
func (e *Env) Observe(dst []float32) {
	e.look()
	c := &e.cfg
	dst = dst[:(Features+Clearances)*len(e.flights)+globals+1]
	h := float64(c.HoldSteps)
	hz := float64(max(c.MaxSteps-e.step, 1)) * DT
	for i := range e.flights {
		f := &e.flights[i]
		o := (*[Features]float32)(dst[Features*i:])
		o[0] = clip(f.x / SectorHalfWidth)
		o[1] = clip(f.y / SectorHalfWidth)
		o[2] = clip(2*(f.level-LowestLevel)/(HighestLevel-LowestLevel) - 1)
		o[3] = clip(2*(f.speed-LowSpeed)/(TopSpeed-LowSpeed) - 1)
		// quirk: the reference names these two sin_hdg and cos_hdg, but puts the cosine first.
		o[4] = float32(f.ux)
		o[5] = float32(f.uy)
		o[6] = float32(elementary.Tanh(e.outlook.dt[i] / (h * DT)))
		o[7] = levelFeature(f.above)
		o[8] = countFeatures[min(f.count, len(countFeatures)-1)]
		o[9] = float32(float64(2*max(f.hold, f.pulse))/(2*h) - 1)
		cpa := e.outlook.worstCpa[i]
		o[10] = float32(float64(2*e.outlook.worst[i]) - 1)
		o[11] = float32(float64(2*(cpa/(cpa+hz))) - 1)
		o[12] = 1
	}
	tail := dst[Features*len(e.flights):]
	tail[0] = clip(float64(2*e.step)/float64(c.MaxSteps) - 1)
	tail[1] = clip(float64(2*(1-float64(e.clearances)/float64(c.MaxClearances))) - 1)
	tail[globals+Idle] = 1
	mask := tail[globals+1:]
	for i, m := range e.masks() {
		*(*[Clearances]float32)(mask[Clearances*i:]) = maskFloats[m]
	}
}

// countFeatures is the feature of 0, 1, … 6 and more clearances.
var countFeatures = func() (features [7]float32) {
	for n := range features {
		features[n] = float32(float64(2*min(float64(n)/6, 1)) - 1)
	}
	return features
}()

// levelFeature is the feature of an aircraft so many levels above its entry level: a whole number, and within
// the grid, for all that fly by clearances alone.
func levelFeature(above float64) float32 {
	if i := int(above); float64(i) == above && -Levels < i && i < Levels {
		return levelFeatures[i+Levels]
	}
	return float32(elementary.Tanh(above / 2))
}

var levelFeatures = func() (features [2 * Levels]float32) {
	for i := range features {
		features[i] = float32(elementary.Tanh(float64(i-Levels) / 2))
	}
	return features
}()

// clip rounds to float32, then limits to [-1, 1].
func clip(v float64) float32 {
	f := float32(v)
	if f > 1 {
		return 1
	}
	if f < -1 {
		return -1
	}
	return f
}
