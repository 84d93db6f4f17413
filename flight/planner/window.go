package planner

import (
	"math"
	"math/bits"

	"skyrail/flight"
	"skyrail/internal/elementary"
)

// maxSteps is how far a plan looks ahead: the steps of a window are the bits of a word.
const maxSteps = 64

// A notch is how far half a speed pulse puts an aircraft before or behind its schedule in one step. Pulses are
// planned for hold_steps up to maxPulse; an aircraft is then at most so many notches off.
const (
	notch    = flight.SpeedStep * flight.DT
	maxPulse = 7
	notches  = 2*maxPulse + 1
	onTime   = maxPulse // the notch of an aircraft that is where it would be without a pulse
)

// margin widens the separation radius, in metres: an observation tells where an aircraft is to about a millimetre, and
// where it will be in the end to a few.
const margin = 0.01

const (
	farEnough = flight.SeparationRadius + margin
	tooNear   = flight.SeparationRadius - margin // closer than this for certain
)

// window is the time a plan covers: where every aircraft would be at each step if nobody spoke to it any more, and
// when a pair would be too close. Step k of the window is bit k of a mask: the moment after the k-th action from now.
type window struct {
	cfg     flight.Config
	start   int // steps flown before it
	steps   int
	full    uint64 // all steps
	planes  []plane
	pairs   []closeness // of i < j at pairAt(i, j)
	stacks  []stack
	needed  needCache
	sure    bool // what is found to be impossible is so for sure
	anySlow bool // there is a slow aircraft

	before flight.State // what the window begins with
	state  flight.State // scratch
	env    *flight.Env
}

// plane is an aircraft left alone.
type plane struct {
	x, y         [maxSteps]float64
	flown, speed [maxSteps]float64
	nx, ny       float64 // one notch along its way
	level, entry int8    // its level now, and at entry
	back         int     // step at which a running manoeuvre has put it back to its entry level; 0 if none runs
	free         int     // first step at which it may be spoken to
	slower       uint64  // steps at which SPD_DN_T is legal while it is not busy
	faster       uint64  // the same for SPD_UP_T
	slow         bool    // too slow for the second half of SPD_UP_T: it would not come back to its schedule, so it is not told
	left         uint64  // steps after which it has left the sector
	total        float64
	target       float64
	exitTime     float64 // 0 before the exit
	late         float64 // in units of exit miss, if nobody speaks to it
}

// closeness is when a pair is within the separation radius, by how many notches each is off its schedule. A word is
// worked out when it is first asked for.
type closeness struct {
	reach   uint64 // steps at which they are close by some notches
	hard    uint64 // steps at which they are close by all that they can be off by then, and in time at the end
	hardest uint64 // the same, in time or not
	known   [notches]uint16
	close   [notches][notches]uint64
}

func pairAt(i, j int) int { return j*(j-1)/2 + i }

// build looks ahead from the state of env.
func (w *window) build(env *flight.Env) {
	w.cfg, w.start = env.Config(), env.StepCount()
	w.steps = min(w.cfg.MaxSteps-w.start, maxSteps)
	w.full = ^uint64(0) >> (maxSteps - uint(w.steps))
	n := w.cfg.Flights
	if len(w.planes) != n {
		w.planes = make([]plane, n)
		w.pairs = make([]closeness, n*(n-1)/2)
	}
	if w.env == nil {
		w.env = env.Clone()
	}
	w.env.CopyFrom(env)
	env.State(&w.before)
	w.env.State(&w.state)
	w.anySlow = false
	w.sure = w.start+w.steps == w.cfg.MaxSteps && w.pulses() > 0
	for i := range w.planes {
		p, a := &w.planes[i], &w.before.Aircraft[i]
		p.begin(a)
		w.anySlow = w.anySlow || p.slow
		onGrid := altitudeOf(p.entry) == a.EntryLevel && (altitudeOf(p.level) == a.Level || a.Hold+a.Pulse == 1)
		// A slow aircraft of another speed than the lowest may be so little out of time that the ranking does not see it.
		w.sure = w.sure && onGrid && (!p.slow || a.EntrySpeed == flight.LowSpeed)
	}
	for k := range w.steps {
		w.lookAhead(k)
	}
	for i := range w.planes {
		p := &w.planes[i]
		exit := p.exitTime
		if exit == 0 {
			exit = w.state.Aircraft[i].ExitTime // of the end
		}
		if exit == 0 {
			last := w.steps - 1
			exit = float64(float64(w.start+w.steps)*flight.DT) + (p.total-p.flown[last])/p.speed[last]
		}
		p.late = math.Abs(exit-p.target) / (float64(w.cfg.HoldSteps) * flight.DT)
	}
	for j := range w.planes {
		for i := range j {
			w.meet(i, j)
		}
	}
}

// pulses returns by how many notches a pulse puts an aircraft off its schedule, 0 if none are planned.
func (w *window) pulses() int {
	if w.cfg.HoldSteps > maxPulse {
		return 0
	}
	return w.cfg.HoldSteps
}

// begin notes how an aircraft stands before the window.
func (p *plane) begin(a *flight.AircraftState) {
	sin, cos := elementary.SinCos(a.Heading * (math.Pi / 180))
	p.nx, p.ny = notch*cos, notch*sin
	p.level, p.entry = levelOf(a.Level), levelOf(a.EntryLevel)
	left := a.Hold + a.Pulse // never both
	p.free, p.back = left, max(left-1, 0)
	if left == 1 { // it is put back before the first move
		p.level = p.entry
	}
	p.slower, p.faster, p.left = 0, 0, 0
	p.slow = a.EntrySpeed-flight.SpeedStep < flight.LowSpeed
	p.total, p.target, p.exitTime = a.DistanceToExit, a.TargetTime, a.ExitTime
}

// levelOf returns the nearest level of the grid.
func levelOf(altitude float64) int8 {
	return int8(math.Round(min(max((altitude-flight.LowestLevel)/flight.LevelStep, 0), flight.Levels-1)))
}

// altitudeOf is the altitude of a level.
func altitudeOf(level int8) float64 {
	return flight.LowestLevel + float64(float64(level)*flight.LevelStep)
}

// lookAhead flies step k without a clearance and notes where everybody is.
func (w *window) lookAhead(k int) {
	for i := range w.planes {
		p := &w.planes[i]
		if w.pulses() == 0 || k < p.free {
			continue
		}
		if w.env.Legal(flight.Action(i, flight.SpdDn)) {
			p.slower |= 1 << k
		}
		if !p.slow && w.env.Legal(flight.Action(i, flight.SpdUp)) {
			p.faster |= 1 << k
		}
	}
	if _, err := w.env.Advance(flight.Idle); err != nil {
		panic(err) // idling is always an action
	}
	w.env.State(&w.state)
	for i := range w.planes {
		p, a := &w.planes[i], &w.state.Aircraft[i]
		p.x[k], p.y[k], p.flown[k], p.speed[k] = a.X, a.Y, a.Flown, a.Speed
		if a.ExitTime != 0 {
			p.left |= 1 << k
		}
	}
}

// meet works out when aircraft i < j can be close, and when they are whatever their speeds.
func (w *window) meet(i, j int) {
	c := &w.pairs[pairAt(i, j)]
	c.reach, c.hard, c.hardest, c.known = 0, 0, 0, [notches]uint16{}
	most := w.pulses()
	a, b := &w.planes[i], &w.planes[j]
	r := farEnough + float64(2*float64(most)*notch)
	for k := range w.steps {
		dx, dy := b.x[k]-a.x[k], b.y[k]-a.y[k]
		d := float64(dx*dx) + float64(dy*dy)
		if d <= r*r {
			c.reach |= 1 << k
		}
		// After its exit, when its time no longer matters, a slow aircraft could be told SPD_UP_T again and again.
		if drift := a.drift(k, most) + b.drift(k, most); drift > 0 {
			if far := r + float64(float64(drift)*notch); d <= far*far {
				w.sure = false
			}
		}
	}
	if c.reach == 0 {
		return
	}
	c.hard = c.reach
	for m := -most; m <= most; m++ {
		for o := -most; o <= most; o++ {
			soon := max(abs(m), abs(o), 1) - 1 // the first step at which they can be that far off
			c.hard &= w.within(i, j, onTime+m, onTime+o, tooNear) | ^from(soon)
		}
	}
	if a.slow || b.slow {
		c.hardest = c.hard &^ from(2*most+1)
	} else {
		c.hardest = c.hard
	}
}

// drift is by how many notches at most a slow aircraft could be before its schedule, at step k, if it were told
// SPD_UP_T again and again from its exit on.
func (p *plane) drift(k, most int) int {
	if !p.slow || p.left>>k&1 == 0 {
		return 0
	}
	since := k - bits.TrailingZeros64(p.left)
	return most * (since/(2*most+1) + 1)
}

// closeAt returns the steps at which aircraft i < j are close, at notches m and o.
func (w *window) closeAt(i, j, m, o int) uint64 {
	c := &w.pairs[pairAt(i, j)]
	if c.known[m]>>o&1 == 0 {
		c.known[m] |= 1 << o
		c.close[m][o] = w.within(i, j, m, o, farEnough)
		if c.close[m][o] != w.within(i, j, m, o, tooNear) {
			w.sure = false
		}
	}
	return c.close[m][o]
}

// within returns the steps in reach at which aircraft i < j are at most so far apart, at notches m and o.
func (w *window) within(i, j, m, o int, distance float64) (steps uint64) {
	a, b := &w.planes[i], &w.planes[j]
	ahead, behind := float64(o-onTime), float64(m-onTime)
	x := float64(ahead*b.nx) - float64(behind*a.nx)
	y := float64(ahead*b.ny) - float64(behind*a.ny)
	for left := w.pairs[pairAt(i, j)].reach; left != 0; left &= left - 1 {
		k := bits.TrailingZeros64(left)
		dx, dy := b.x[k]-a.x[k]+x, b.y[k]-a.y[k]+y
		if float64(dx*dx)+float64(dy*dy) <= distance*distance {
			steps |= 1 << k
		}
	}
	return steps
}

// losses returns the steps at which aircraft i and j lose separation on tracks a and b.
func (w *window) losses(i, j int, a, b *track) uint64 {
	if i > j {
		i, j, a, b = j, i, b, a
	}
	steps := w.pairs[pairAt(i, j)].reach
	if steps == 0 {
		return 0
	}
	level := uint64(0)
	for l := range a.at {
		level |= a.at[l] & b.near[l]
	}
	if steps &= level; steps == 0 {
		return 0
	}
	if a.notches|b.notches == 1<<onTime {
		return steps & w.closeAt(i, j, onTime, onTime)
	}
	lost := uint64(0)
	for x := a.notches; x != 0; x &= x - 1 {
		m := bits.TrailingZeros16(x)
		if a.off[m]&steps == 0 {
			continue
		}
		for y := b.notches; y != 0; y &= y - 1 {
			o := bits.TrailingZeros16(y)
			if both := a.off[m] & b.off[o] & steps; both != 0 {
				lost |= both & w.closeAt(i, j, m, o)
			}
		}
	}
	return lost
}

// midAir reports whether aircraft i and j, in loss of separation at step k on tracks a and b, are in a mid-air.
func (w *window) midAir(i, j int, a, b *track, k int) bool {
	if a.at[a.levelAt(k)]&b.at[a.levelAt(k)]>>k&1 == 0 {
		return false
	}
	p, q := &w.planes[i], &w.planes[j]
	m, o := float64(a.notchAt(k)-onTime), float64(b.notchAt(k)-onTime)
	dx := q.x[k] - p.x[k] + float64(o*q.nx) - float64(m*p.nx)
	dy := q.y[k] - p.y[k] + float64(o*q.ny) - float64(m*p.ny)
	const tooClose = flight.MidAirRadius + margin
	return float64(dx*dx)+float64(dy*dy) <= tooClose*tooClose
}
