package flight

import (
	"math"
	"math/bits"
	"slices"

	"skyrail/internal/elementary"
	"skyrail/numpyrand"
)

// Env is one sector with its aircraft: a deterministic function of its configuration, a seed and the
// actions given. It is not safe for concurrent use; run one Env an episode at a time.
//
// After [New] call [Env.Reset] (or [Env.ResetNext], [Env.ResetTo]), then [Env.Step] until the status
// says that the episode is over.
type Env struct {
	cfg      Config
	rng      numpyrand.Generator
	scenario Scenario // Aircraft stays empty: entry states are in flights

	flights []aircraft
	step    int

	clearances      int
	invalids        int
	touched         uint64 // bit i: aircraft i was given a clearance
	congestion      int    // pairs too close at the end of the last step
	congestionTotal int
	collided        bool // a mid-air at the end of the last step

	// What follows is derived from the state above, kept so that nothing is computed twice.
	flying  uint64   // bit i: a hold or a pulse of aircraft i is running
	quiet   int      // ticks before the one that ends or turns such a manoeuvre
	near    []uint64 // bit k%64 of word k/64: pairs[k] is within the vertical separation
	pairs   []pair   // all pairs, in order; never changed
	outlook outlook
}

// aircraft is the state of one aircraft. The first fields are those every step touches.
type aircraft struct {
	x, y   float64
	dx, dy float64 // displacement of one step at the present speed
	flown  float64 // s_flown: distance flown
	stride float64 // speed*DT
	exitAt float64 // total until the aircraft has left, +Inf after

	speed, level           float64
	above                  float64 // levels above the entry level
	entrySpeed, entryLevel float64
	vx, vy                 float64 // velocity
	ux, uy                 float64 // unit vector of the heading: cos, sin
	heading                float64
	total                  float64 // s_total: distance to the exit at entry
	target                 float64 // t_target: time at which the exit is due
	exitTime               float64 // when it left, 0 before
	until                  int     // step at which the temporary manoeuvre is over, 0 if none is flown
	sign                   int     // of the speed pulse: -1 slower first, +1 faster first; 0 no pulse
	count                  int     // clearances given to this aircraft
}

type pair struct{ i, j uint8 }

// New returns an environment of cfg, at step 0 of the scenario of seed 0.
func New(cfg Config) (*Env, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	e := &Env{
		cfg:     cfg,
		flights: make([]aircraft, cfg.Flights),
		near:    newNear(cfg.Flights),
		pairs:   pairs(cfg.Flights),
		outlook: newOutlook(cfg.Flights),
	}
	e.Reset(0)
	return e, nil
}

// Reset starts the scenario of seed: NumPy's Generator(PCG64(SeedSequence(seed))) becomes the
// environment's stream.
func (e *Env) Reset(seed uint64) {
	e.rng = numpyrand.NewGenerator(seed)
	e.ResetNext()
}

// ResetNext starts the next scenario of the environment's own stream, as the reference's reset without
// a seed does.
func (e *Env) ResetNext() {
	generate(e.cfg, &e.rng, &e.scenario, e.flights)
	e.begin()
}

// Stream is a copy of the environment's stream.
func (e *Env) Stream() numpyrand.Generator { return e.rng }

// SetStream replaces the environment's stream, from which the next reset without a seed draws.
func (e *Env) SetStream(g numpyrand.Generator) { e.rng = g }

// ResetTo starts from hand-placed aircraft. The environment's stream stays where it is.
func (e *Env) ResetTo(s Scenario) error {
	if err := s.check(e.cfg); err != nil {
		return err
	}
	e.scenario = s
	e.scenario.Aircraft = nil
	for i, a := range s.Aircraft {
		e.flights[i] = newAircraft(a)
	}
	e.begin()
	return nil
}

// begin clears the counters; the aircraft's present state becomes their entry state.
func (e *Env) begin() {
	for i := range e.flights {
		e.flights[i].enter()
	}
	e.step, e.clearances, e.invalids, e.touched = 0, 0, 0, 0
	e.congestion, e.congestionTotal, e.collided = 0, 0, false
	e.flying, e.quiet = 0, never
	e.pairUp()
	e.outlook.forget()
}

// SetNRange sets the bounds, both included, of the number of converging aircraft from the next reset on
// (the reference's set_n_range). It needs 1 <= lo <= hi <= n_flights.
func (e *Env) SetNRange(lo, hi int) error {
	cfg := e.cfg
	cfg.NLo, cfg.NHi = lo, hi
	if err := cfg.Validate(); err != nil {
		return err
	}
	e.cfg = cfg
	return nil
}

// Clone returns an independent copy: same state, same stream, same future.
func (e *Env) Clone() *Env {
	c := *e
	c.flights = slices.Clone(e.flights)
	c.near = slices.Clone(e.near)
	c.outlook = newOutlook(len(e.flights))
	return &c
}

// CopyFrom makes e equal to src. It does not allocate when both have the same number of aircraft.
func (e *Env) CopyFrom(src *Env) {
	if e == src {
		return
	}
	flights, near, outlook := e.flights, e.near, e.outlook
	if len(flights) != len(src.flights) {
		flights, outlook = make([]aircraft, len(src.flights)), newOutlook(len(src.flights))
		near = newNear(len(src.flights))
	}
	copy(flights, src.flights)
	copy(near, src.near)
	*e = *src
	e.flights, e.near, e.outlook = flights, near, outlook
	e.outlook.forget()
}

// Equal reports whether e and o have the same configuration, state and stream, bit for bit up to the
// sign of zero.
func (e *Env) Equal(o *Env) bool {
	return e.cfg == o.cfg && e.rng == o.rng && e.step == o.step &&
		e.scenario.Converging == o.scenario.Converging && e.scenario.Seed == o.scenario.Seed &&
		e.scenario.Hotspot == o.scenario.Hotspot && e.scenario.Shift == o.scenario.Shift &&
		e.clearances == o.clearances && e.invalids == o.invalids && e.touched == o.touched &&
		e.congestion == o.congestion && e.congestionTotal == o.congestionTotal && e.collided == o.collided &&
		slices.Equal(e.flights, o.flights)
}

// Config returns the parameters of the environment.
func (e *Env) Config() Config { return e.cfg }

// StepCount returns the number of steps flown since the reset.
func (e *Env) StepCount() int { return e.step }

// Clearances returns the number of clearances given since the reset.
func (e *Env) Clearances() int { return e.clearances }

// Scenario returns the scenario of the last reset. Its aircraft are those of now, which right after a
// reset is how they entered.
func (e *Env) Scenario() Scenario {
	s := e.scenario
	s.Aircraft = make([]Aircraft, len(e.flights))
	for i := range s.Aircraft {
		s.Aircraft[i] = e.Aircraft(i)
	}
	return s
}

// Aircraft returns aircraft i as it flies now, 0 <= i < n_flights.
func (e *Env) Aircraft(i int) Aircraft {
	f := &e.flights[i]
	return Aircraft{X: f.x, Y: f.y, Level: f.level, Speed: f.speed, Heading: f.heading}
}

// Progress is how far an aircraft is along its way.
type Progress struct {
	DistanceToExit float64 // s_total: metres from entry to the sector's edge
	TargetTime     float64 // t_target: seconds after the reset at which the exit is due
	Flown          float64 // s_flown: metres
	Left           bool    // the exit has been passed
	EntryLevel     float64
	EntrySpeed     float64
	Busy           bool // a temporary manoeuvre is running
	Clearances     int  // given to this aircraft
}

// Progress returns how far aircraft i is, 0 <= i < n_flights.
func (e *Env) Progress(i int) Progress {
	f := &e.flights[i]
	return Progress{
		DistanceToExit: f.total, TargetTime: f.target, Flown: f.flown, Left: f.left(),
		EntryLevel: f.entryLevel, EntrySpeed: f.entrySpeed,
		Busy: e.flying>>i&1 != 0, Clearances: f.count,
	}
}

// Direction returns the unit vector of the heading of aircraft i, 0 <= i < n_flights.
func (e *Env) Direction(i int) (x, y float64) { return e.flights[i].ux, e.flights[i].uy }

// Threat returns the severity of the worst predicted conflict of aircraft i, 0 <= i < n_flights, and the seconds until
// that conflict's closest approach: what the observation tells of it. Without a conflict they are 0 and +Inf.
func (e *Env) Threat(i int) (severity, cpa float64) {
	e.look()
	severity, cpa = e.outlook.views[i].worst, e.outlook.views[i].worstCpa
	if cpa == noConflict {
		cpa = math.Inf(1)
	}
	return severity, cpa
}

// Info is what the reference's info dictionary tells after a step.
type Info struct {
	N, M             int // converging and background aircraft
	CongestionEvents int // pairs too close at the end of this step
	CongestionTotal  int
	Clearances       int
	Invalids         int // actions that the mask forbade
	AircraftInvolved int // aircraft that were given a clearance
	Collided         bool
	DtExit           []float64 // seconds, per aircraft: (expected) exit time minus target
	DAltExit         []float64 // levels, per aircraft: present minus entry level
	ExitMiss         float64   // mean over aircraft of |dt|/(H*DT) + |levels|
}

// Info writes the figures of now into info; its slices are reused where they are large enough.
func (e *Env) Info(info *Info) {
	e.lookAtExits()
	n := len(e.flights)
	dt, levels := info.DtExit, info.DAltExit
	if cap(dt) < n || cap(levels) < n {
		dt, levels = make([]float64, n), make([]float64, n)
	}
	dt, levels = dt[:n], levels[:n]
	e.exits(dt, levels)
	c := e.Counts()
	*info = Info{
		N: c.N, M: c.M, CongestionEvents: c.CongestionEvents, CongestionTotal: c.CongestionTotal,
		Clearances: c.Clearances, Invalids: c.Invalids, AircraftInvolved: c.AircraftInvolved,
		Collided: c.Collided, DtExit: dt, DAltExit: levels, ExitMiss: e.ExitMiss(),
	}
}

// Counts are the whole numbers of [Info].
type Counts struct {
	N, M             int
	CongestionEvents int
	CongestionTotal  int
	Clearances       int
	Invalids         int
	AircraftInvolved int
	Collided         bool
}

// Counts returns the counts of now.
func (e *Env) Counts() Counts {
	return Counts{
		N: e.scenario.Converging, M: len(e.flights) - e.scenario.Converging,
		CongestionEvents: e.congestion, CongestionTotal: e.congestionTotal,
		Clearances: e.clearances, Invalids: e.invalids, AircraftInvolved: bits.OnesCount64(e.touched),
		Collided: e.collided,
	}
}

// Figures writes the other numbers of [Info] into dst, which must have at least 1+2N entries for N aircraft: ExitMiss,
// DtExit, DAltExit.
func (e *Env) Figures(dst []float64) {
	e.lookAtExits()
	n := len(e.flights)
	dst = dst[:1+2*n]
	dst[0] = e.ExitMiss()
	e.exits(dst[1:1+n], dst[1+n:])
}

func (e *Env) exits(dt, levels []float64) {
	flights := e.flights
	views := e.outlook.views[:len(flights)]
	dt, levels = dt[:len(flights)], levels[:len(flights)]
	for i := range flights {
		dt[i], levels[i] = views[i].dt, flights[i].above
	}
}

// newAircraft places an aircraft; enter makes this its entry state.
func newAircraft(a Aircraft) (f aircraft) {
	f.place(a.X, a.Y, a.Level, a.Speed, a.Heading)
	return f
}

// place is newAircraft in place.
func (f *aircraft) place(x, y, level, speed, heading float64) {
	// The constant is the double nearest to pi/180, as the reference multiplies by it.
	sin, cos := elementary.SinCos(heading * 0.017453292519943295)
	*f = aircraft{}
	f.x, f.y, f.level, f.heading, f.ux, f.uy = x, y, level, heading, cos, sin
	f.fly(speed)
}

// enter makes the present state the entry state, with everything still to fly.
func (f *aircraft) enter() {
	f.entryLevel, f.entrySpeed = f.level, f.speed
	f.total = f.distanceToExit()
	f.target = f.total / f.speed
	f.flown, f.exitAt, f.exitTime, f.above = 0, f.total, 0, 0
	f.until, f.sign, f.count = 0, 0, 0
}

// distanceToExit returns the smallest positive distance along the track to a line x = ±L or y = ±L, 2L if
// there is none.
func (f *aircraft) distanceToExit() float64 {
	nearest := distanceToEdge(f.x, f.ux)
	if t := distanceToEdge(f.y, f.uy); t < nearest {
		nearest = t
	}
	if math.IsInf(nearest, 1) {
		return 2 * SectorHalfWidth
	}
	return nearest
}

// distanceToEdge is distanceToExit for one coordinate, its position and its part u of the heading; +Inf if there is
// none.
func distanceToEdge(position, u float64) float64 {
	const edge = SectorHalfWidth
	switch {
	case u < 1e-12 && u > -1e-12:
		return math.Inf(1)
	case position < edge && position > -edge: // only the edge ahead is at a positive distance
		return (math.Copysign(edge, u) - position) / u
	}
	nearest := math.Inf(1)
	for _, e := range [2]float64{-edge, edge} {
		if t := (e - position) / u; t > 0 && t < nearest {
			nearest = t
		}
	}
	return nearest
}

// fly sets the speed and all that follows from it.
func (f *aircraft) fly(speed float64) {
	f.speed = speed
	f.stride = speed * DT
	f.dx, f.dy = float64(f.stride*f.ux), float64(f.stride*f.uy)
	f.vx, f.vy = float64(speed*f.ux), float64(speed*f.uy)
}

func (f *aircraft) forward() { f.x += f.dx; f.y += f.dy }
func (f *aircraft) back()    { f.x -= f.dx; f.y -= f.dy }

func (f *aircraft) inside() bool {
	const l = SectorHalfWidth
	return f.x < l && f.x > -l && f.y < l && f.y > -l
}

func (f *aircraft) left() bool { return math.IsInf(f.exitAt, 1) }

// climbTo sets the level and what follows from it.
func (f *aircraft) climbTo(level float64) {
	f.level = level
	f.above = (level - f.entryLevel) / LevelStep
}
