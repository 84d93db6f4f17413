package rail

import (
	"encoding/binary"
	"fmt"
	"math"

	"skyrail/numpyrand"
)

// binaryReader takes off data what a binaryWriter wrote: zeros after the first fault.
type binaryReader struct {
	data []byte
	err  error
}

func (r *binaryReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("the state of a railway environment: "+format, args...)
	}
	r.data = nil
}

func (r *binaryReader) take(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.fail("it ends too early")
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *binaryReader) int() int {
	if b := r.take(8); b != nil {
		return int(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (r *binaryReader) int32() int32 {
	v := r.int()
	if v < math.MinInt32 || v > math.MaxInt32 {
		r.fail("%d is no number of 32 bits", v)
		return 0
	}
	return int32(v)
}

// small is a number of the small types, all of which are checked elsewhere.
func (r *binaryReader) small() int8 {
	v := r.int()
	if v < math.MinInt8 || v > math.MaxInt8 {
		r.fail("%d is no number of 8 bits", v)
		return 0
	}
	return int8(v)
}

// count is the length of a list whose elements take so many bytes at least.
func (r *binaryReader) count(size int) int {
	n := r.int()
	if n < 0 || n > len(r.data)/size {
		r.fail("there is no room for %d elements", n)
		return 0
	}
	return n
}

func (r *binaryReader) bool() bool {
	b := r.take(1)
	if b != nil && b[0] > 1 {
		r.fail("%d is neither 0 nor 1", b[0])
	}
	return b != nil && b[0] == 1
}

func (r *binaryReader) float() float64 { return math.Float64frombits(uint64(r.int())) }

func (r *binaryReader) floats(dst []float64) {
	for i := range dst {
		dst[i] = r.float()
	}
}

func (r *binaryReader) fraction() Fraction {
	num, den := r.int(), r.int()
	switch {
	case den > 0 && num != math.MinInt64:
		return Frac(int64(num), int64(den))
	case den == 0 && num >= 0 && num <= len(r.data):
		f, err := ParseFraction(string(r.take(num)))
		if err != nil && r.err == nil {
			r.fail("%v", err)
		}
		return f
	}
	r.fail("%d/%d is not a fraction", num, den)
	return Fraction{}
}

func (r *binaryReader) cells() []Cell {
	var cells []Cell
	for range r.count(16) {
		cells = append(cells, Cell{r.int(), r.int()})
	}
	return cells
}

func (r *binaryReader) configuration() Configuration {
	return Configuration{Cell{r.int(), r.int()}, Heading(r.small())}
}

func (r *binaryReader) time() Time { return Time{Given: r.bool(), Step: r.int()} }

func (r *binaryReader) delta() Delta {
	d := Delta{kind: r.small(), exact: r.fraction(), float: r.float()}
	if d.kind < 0 || d.kind > deltaFloat || math.IsNaN(d.float) || math.IsInf(d.float, 0) {
		r.fail("a change of speed of kind %d, %v", d.kind, d.float)
	}
	return d
}

func (r *binaryReader) scenario() *Scenario {
	s := &Scenario{Width: r.int(), Height: r.int()}
	for range r.count(2) {
		if b := r.take(2); b != nil {
			s.Grid = append(s.Grid, Transitions(binary.LittleEndian.Uint16(b)))
		}
	}
	s.LevelFree = r.cells()
	s.MaxEpisodeSteps = r.int()
	s.Acceleration, s.Braking = r.delta(), r.delta()
	s.KeepAtTarget = r.bool()
	for range r.count(80) {
		t := Train{Initial: r.configuration(), Target: Cell{r.int(), r.int()}, MaxSpeed: r.fraction()}
		t.EarliestDeparture, t.LatestArrival = r.int(), r.int()
		for range r.count(26) {
			stop := Stop{LatestArrival: r.time(), EarliestDeparture: r.time()}
			for range r.count(24) {
				stop.Alternatives = append(stop.Alternatives, r.configuration())
			}
			t.Stops = append(t.Stops, stop)
		}
		s.Trains = append(s.Trains, t)
	}
	return s
}

func (r *binaryReader) rewards() Rewards {
	f := Rewards{Kind: RewardKind(r.small())}
	if f.Kind < ScalarReward || f.Kind > PunctualityReward {
		r.fail("a reward function of kind %d", f.Kind)
	}
	p := &f.Factors
	for _, v := range []*float64{
		&p.Cancellation, &p.CancellationTimeBuffer, &p.TargetNotReachedMinimumPenalty, &p.IntermediateNotServed,
		&p.IntermediateLateArrival, &p.IntermediateEarlyDeparture, &p.Collision,
	} {
		*v = r.float()
	}
	return f
}

func (r *binaryReader) stream() (s numpyrand.RandomState) {
	state := numpyrand.MT19937State{HasGauss: r.bool(), Gauss: r.float(), Pos: r.int()}
	b := r.take(4 * len(state.Key))
	if b == nil {
		return s
	}
	for i := range state.Key {
		state.Key[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	if state == s.State() { // of a file without a stream
		return s
	}
	if err := s.SetState(state); err != nil {
		r.fail("%v", err)
	}
	return s
}

func (r *binaryReader) train() TrainState {
	t := TrainState{
		Configuration: r.configuration(), Old: r.configuration(),
		State: State(r.small()), Previous: State(r.small()), Next: State(r.small()),
		Speed: r.fraction(), Distance: r.fraction(), CellEntry: r.bool(),
		Malfunction: r.int(), Malfunctions: r.int(), Arrival: r.time(),
	}
	g := &t.Signals
	for _, v := range []*bool{
		&t.Done, &g.InMalfunction, &g.EarliestDepartureReached, &g.StopActionGiven, &g.MovementActionGiven, &g.MovementAllowed,
		&g.NewSpeedZero, &g.TargetReached, &g.TargetUnset,
	} {
		*v = r.bool()
	}
	return t
}

func (r *binaryReader) effect() Effect {
	switch kind := r.int(); kind {
	case binaryBreakdowns:
		return &Breakdowns{r.generator()}
	case binaryConditional:
		c := &ConditionalMalfunctions{MalfunctionGenerator: r.generator(), Earliest: r.time(), Most: r.int(), Count: r.int()}
		c.Limited = r.bool()
		c.Condition = r.condition(0)
		return c
	case binaryLegacy:
		return &LegacyMalfunctions{r.parameters(), r.bool()}
	case binaryClosures:
		c := &TrackClosures{}
		for range r.count(24) {
			c.Closures = append(c.Closures, Closure{r.int(), r.int(), r.cells()})
		}
		return c
	default:
		r.fail("an effect of kind %d", kind)
		return &LegacyMalfunctions{None: true}
	}
}

func (r *binaryReader) parameters() MalfunctionParameters {
	return MalfunctionParameters{r.float(), r.int(), r.int()}
}

func (r *binaryReader) generator() MalfunctionGenerator {
	g := NewMalfunctionGenerator(r.parameters())
	index := r.int()
	numbers := make([]float64, r.count(8))
	r.floats(numbers)
	var origin *numpyrand.RandomState
	if r.bool() && len(numbers) == 0 {
		s := r.stream()
		origin = &s
	}
	if r.err != nil {
		return g
	}
	var err error
	if len(numbers) > 0 {
		err = g.ResumeNumbers(numbers, index)
	} else {
		err = g.Resume(origin, index)
	}
	if err != nil {
		r.fail("%v", err)
	}
	return g
}

func (r *binaryReader) condition(depth int) Condition {
	if depth > maxConditions {
		r.fail("conditions within %d conditions", depth)
		return Condition{}
	}
	c := Condition{Kind: ConditionKind(r.small()), From: r.int(), To: r.int(), Cells: r.cells()}
	for range r.count(40) {
		c.Of = append(c.Of, r.condition(depth+1))
	}
	return c
}

func (r *binaryReader) book(e *Env) {
	b := &e.book
	for k := range b.visits {
		v := &b.visits[k]
		v.stood = r.bool()
		for _, times := range []*[]int32{&v.arrivals, &v.departures} {
			*times = (*times)[:0]
			for range r.count(8) {
				*times = append(*times, r.int32())
			}
		}
	}
	for i := range b.at {
		b.at[i] = r.int32()
		b.speed[i] = r.fraction()
		b.looked[i] = r.bool()
		if k := b.at[i]; k != -1 && (k < e.plan.first[i] || k >= e.plan.first[i+1]) {
			r.fail("train %d is at platform %d, which is none of its own", i, k)
			return
		}
	}
}

func (r *binaryReader) punctuality(e *Env) {
	if !r.bool() || r.err != nil {
		return
	}
	b := &e.punctuality
	if words := (e.net.width*e.net.height + 63) / 64; words*len(e.trains) > len(r.data)/8 {
		r.fail("it ends too early")
		return
	}
	b.open(e)
	for i := range b.seen {
		b.seen[i] = uint64(r.int())
	}
	for _, marks := range b.marks {
		for k := range marks {
			m := &marks[k]
			m.arrival, m.departure, m.lastDeparted = r.int32(), r.int32(), r.int32()
		}
	}
}
