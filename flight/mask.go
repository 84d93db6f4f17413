package flight

import "math"

// Legal reports whether the mask allows an action now. It is false for an index outside the action space.
func (e *Env) Legal(action int) bool {
	if action == Idle {
		return true
	}
	i, c, ok := ParseAction(action)
	return ok && i < len(e.flights) && e.maskOf(i)>>c&1 != 0
}

// Mask writes the legality of every action into dst, which must have at least Config.Actions entries.
func (e *Env) Mask(dst []bool) {
	dst = dst[:1+Clearances*len(e.flights)]
	dst[Idle] = true
	dst = dst[1:]
	for i, m := range e.masks() {
		*(*[Clearances]bool)(dst[Clearances*i:]) = maskBools[m]
	}
}

// maskBools and maskFloats spell out the mask of an aircraft.
var maskBools, maskFloats = func() (b [1 << Clearances][Clearances]bool, f [1 << Clearances][Clearances]float32) {
	for m := range b {
		for c := range b[m] {
			if m>>c&1 != 0 {
				b[m][c], f[m][c] = true, 1
			}
		}
	}
	return b, f
}()

// masks returns the mask of every aircraft, bit c for clearance c, computed once a step.
func (e *Env) masks() []uint8 {
	o := &e.outlook
	if !o.maskFresh {
		o.maskFresh = true
		for i := range e.flights {
			o.mask[i] = e.legal(&e.flights[i])
		}
	}
	return o.mask
}

// maskOf returns the mask of aircraft i alone.
func (e *Env) maskOf(i int) uint8 {
	if e.outlook.maskFresh {
		return e.outlook.mask[i]
	}
	return e.legal(&e.flights[i])
}

// legal returns the mask of one aircraft: bit c is set if clearance c is legal.
func (e *Env) legal(f *aircraft) uint8 {
	// Which of these hold is as good as random, so they are computed and not branched on.
	m := between(f.level-LevelStep, LowestLevel, HighestLevel)<<FLDec |
		between(f.level+LevelStep, LowestLevel, HighestLevel)<<FLInc |
		between(f.level-2*LevelStep, LowestLevel, HighestLevel)<<FLDec2 |
		between(f.level+2*LevelStep, LowestLevel, HighestLevel)<<FLInc2 |
		(bit(math.Abs(f.level-f.entryLevel) >= 1e-9)|bit(math.Abs(f.speed-f.entrySpeed) >= 1e-9))<<Resume
	fits := bit(e.pulseFits(f))
	m |= (fits&between(f.speed-SpeedStep, LowSpeed, TopSpeed))<<SpdDn |
		(fits&between(f.speed+SpeedStep, LowSpeed, TopSpeed))<<SpdUp
	return m * bit(f.hold|f.pulse == 0) // nothing while a temporary manoeuvre runs
}

// between is 1 if lo <= v <= hi, else 0.
func between(v, lo, hi float64) uint8 { return bit(v >= lo) & bit(v <= hi) }

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// pulseFits reports whether a speed pulse begun now leaves the exit reachable on time: after the pulse, the
// rest of the way must be flyable between the lowest and the highest speed.
//
// quirk: the pulse is reckoned at the present speed, not at the pulse's.
func (e *Env) pulseFits(f *aircraft) bool {
	const slack = 1e-6
	way := f.total - f.flown
	time := f.target - float64(e.step)*DT
	if way <= 0 || time <= 0 {
		return true
	}
	pulse := float64(2*e.cfg.HoldSteps) * DT
	timeRest := time - pulse
	if timeRest <= 0 {
		return pulse <= time+slack
	}
	rest := way - float64(f.speed*pulse)
	if rest < 0 {
		rest = 0
	}
	return rest <= float64(TopSpeed*timeRest)+slack && rest >= float64(LowSpeed*timeRest)-slack
}
