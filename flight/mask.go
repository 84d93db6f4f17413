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
	e.lookAtMasks()
	views := e.outlook.views
	for i := range views {
		k := Clearances * i
		*(*[Clearances]bool)(dst[k : k+Clearances : k+Clearances]) = maskBools[views[i].mask&allClearances]
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

const (
	pulses        = 1<<SpdDn | 1<<SpdUp
	allClearances = 1<<Clearances - 1
)

// lookAtMasks works out the mask of every aircraft and nothing else.
func (e *Env) lookAtMasks() {
	o, flights := &e.outlook, e.flights
	if o.masksFresh {
		return
	}
	o.masksFresh = true
	e.refresh()
	views := o.views[:len(flights)]
	now, pulse := float64(e.step)*DT, float64(2*e.cfg.HoldSteps)*DT
	for i := range flights {
		views[i].mask = flights[i].legal(views[i].allowed, now, pulse)
	}
}

// maskOf returns the mask of aircraft i alone.
func (e *Env) maskOf(i int) uint8 {
	if e.outlook.masksFresh {
		return e.outlook.views[i].mask
	}
	if e.flying>>i&1 != 0 {
		return 0 // nothing while a temporary manoeuvre runs
	}
	f := &e.flights[i]
	return f.legal(f.allowed(), float64(e.step)*DT, float64(2*e.cfg.HoldSteps)*DT)
}

// legal returns the mask of an aircraft, given what its level, speed and temporary manoeuvres allow, and how many
// seconds a speed pulse takes.
func (f *aircraft) legal(allowed uint8, now, pulse float64) uint8 {
	return allowed & (allClearances&^pulses | -f.pulseFits(now, pulse))
}

// allowed returns the clearances that level and speed allow.
func (f *aircraft) allowed() uint8 {
	// Which of these hold is as good as random, so they are computed and not branched on.
	return between(f.level-LevelStep, LowestLevel, HighestLevel)<<FLDec |
		between(f.level+LevelStep, LowestLevel, HighestLevel)<<FLInc |
		between(f.level-2*LevelStep, LowestLevel, HighestLevel)<<FLDec2 |
		between(f.level+2*LevelStep, LowestLevel, HighestLevel)<<FLInc2 |
		between(f.speed-SpeedStep, LowSpeed, TopSpeed)<<SpdDn |
		between(f.speed+SpeedStep, LowSpeed, TopSpeed)<<SpdUp |
		(bit(math.Abs(f.level-f.entryLevel) >= 1e-9)|bit(math.Abs(f.speed-f.entrySpeed) >= 1e-9))<<Resume
}

// between is 1 if lo <= v <= hi, else 0.
func between(v, lo, hi float64) uint8 { return bit(v >= lo) & bit(v <= hi) }

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// pulseFits is 1 if a speed pulse of so many seconds begun now leaves the exit reachable on time, else 0: after it, the
// rest of the way must be flyable between the lowest and the highest speed.
//
// quirk: the pulse is reckoned at the present speed, not at the pulse's.
func (f *aircraft) pulseFits(now, pulse float64) uint8 {
	const slack = 1e-6
	way, time := f.total-f.flown, f.target-now
	wayRest, timeRest := way-float64(f.speed*pulse), time-pulse
	// Below 0 the rest of the way is 0. All is computed and not branched on, as in allowed.
	soon := bit(timeRest <= 0)
	least := float64(LowSpeed*timeRest) - slack
	return bit(way <= 0) | bit(time <= 0) |
		soon&bit(pulse <= time+slack) |
		(1-soon)&bit(wayRest <= float64(TopSpeed*timeRest)+slack)&(bit(wayRest >= least)|bit(least <= 0))
}
