package flight

import (
	"math"

	"skyrail/internal/elementary"
)

// Features is the number of observation values an aircraft has. The names are the reference's:
// x, y, level, speed, sin_hdg, cos_hdg, exit time, exit level, clearances, busy, severity, time to the
// conflict, present.
const Features = 13

const globals = 2 // steps flown, clearance budget

// Observe writes the observation into dst, which must have at least Config.ObservationLen entries: Features
// values an aircraft, two globals, all within [-1, 1], then the mask of all actions as 0 and 1.
func (e *Env) Observe(dst []float32) {
	e.look()
	c, flights := &e.cfg, e.flights
	views := e.outlook.views[:len(flights)]
	dst = dst[:(Features+Clearances)*len(flights)+globals+1]
	hz := float64(max(c.MaxSteps-e.step, 1)) * DT
	twoHolds := float64(2 * c.HoldSteps)
	unit := float64(c.HoldSteps) * DT
	perUnit := 1 / unit
	rest := dst[Features*len(flights):]
	masks := rest[globals+1:]
	for i := range flights {
		f, v := &flights[i], &views[i]
		m := Clearances * i
		*(*[Clearances]float32)(masks[m : m+Clearances : m+Clearances]) = maskFloats[v.mask&allClearances]
		k := Features * i
		o := (*[Features]float32)(dst[k : k+Features : k+Features])
		o[0] = clip(f.x / SectorHalfWidth)
		o[1] = clip(f.y / SectorHalfWidth)
		o[2] = v.level
		o[3] = v.speed
		// quirk: the reference names these two sin_hdg and cos_hdg, but puts the cosine first.
		o[4] = float32(f.ux)
		o[5] = float32(f.uy)
		switch late := float64(v.dt * perUnit); { // not quite the quotient, which takes longer
		case late < tiny && late > -tiny:
			o[6] = float32(v.dt / unit)
		case v.lateness.is(late):
			o[6] = v.lateness.tanh
		default:
			o[6] = v.lateness.becomes(v.dt / unit)
		}
		o[7] = v.above
		o[8] = v.count
		o[9] = float32(float64(2*max(f.until-e.step, 0))/twoHolds - 1)
		o[10] = float32(float64(2*v.worst) - 1)
		o[11] = float32(float64(2*(v.worstCpa/(v.worstCpa+hz))) - 1)
		o[12] = 1
	}
	rest[0] = clip(float64(2*e.step)/float64(c.MaxSteps) - 1)
	rest[1] = clip(float64(2*(1-float64(e.clearances)/float64(c.MaxClearances))) - 1)
	rest[globals+Idle] = 1
}

// steady is a number that mostly changes by no more than rounding errors, as the exit time that is expected of an
// aircraft at constant speed does. It keeps the number's hyperbolic tangent.
type steady struct {
	at   float64 // every number within steadiness of it has the tangent; NaN if they have not
	tanh float32
}

const steadiness = 0x1p-40

// is says whether the tangent that is kept is that of x, which may be wrong by some units in the last place.
func (s *steady) is(x float64) bool { return math.Abs(x-s.at) <= steadiness }

// tiny is so small that the tangent of what is smaller is itself.
const tiny = 0x1p-29

// becomes makes tanh float32(elementary.Tanh(x)), and returns it.
func (s *steady) becomes(x float64) float32 {
	t := elementary.Tanh(x)
	s.at, s.tanh = x, float32(t)
	// The tangent's slope is at most 1, its error 2^-53. A second steadiness is more than that and the roundings here.
	if float32(t-2*steadiness) != float32(t+2*steadiness) {
		s.at = math.NaN()
	}
	return s.tanh
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
	// As integers, since which are outside is as good as random, and limits of floats mind NaN and the sign of zero.
	all := math.Float32bits(float32(v))
	size := min(all&^signBit, oneBits)
	return math.Float32frombits(all&signBit | size)
}

const (
	signBit = 1 << 31
	oneBits = 0x3f800000 // math.Float32bits(1)
)
