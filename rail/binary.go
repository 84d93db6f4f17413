package rail

import (
	"encoding/binary"
	"errors"
	"math"

	"skyrail/numpyrand"
)

// binaryHeader begins what AppendBinary writes; its last byte is the version.
const binaryHeader = "rail\x00\x01"

// AppendBinary appends everything that makes e what it is to b: scenario, state, stream, effects, and the reward functions
// with their bookkeeping. The form is for [Env.UnmarshalBinary] of the same version alone. There is no error.
func (e *Env) AppendBinary(b []byte) ([]byte, error) {
	w := binaryWriter{append(b, binaryHeader...)}
	w.scenario(e.scenario)
	w.ints(len(e.functions))
	for i := range e.functions {
		f := &e.functions[i]
		w.ints(int(f.Kind))
		w.floats(f.Factors.list()...)
	}
	s := e.Snapshot()
	w.ints(s.Elapsed, e.resets)
	w.bools(s.AllDone)
	w.stream(&s.Stream)
	w.bools(s.Seed.Given)
	w.ints(int(s.Seed.Value), len(s.Seed.History))
	for _, v := range s.Seed.History {
		w.ints(int(v))
	}
	w.ints(len(e.effects))
	for _, f := range e.effects {
		w.effect(f)
	}
	for i := range s.Trains {
		w.train(&s.Trains[i])
	}
	for _, values := range e.rewards {
		w.floats(values...)
	}
	w.book(&e.book)
	w.punctuality(&e.punctuality)
	return w.b, nil
}

// MarshalBinary returns what [Env.AppendBinary] appends.
func (e *Env) MarshalBinary() ([]byte, error) { return e.AppendBinary(nil) }

// UnmarshalBinary makes e equal to the environment that wrote data. Data from elsewhere is checked as [New] and
// [Env.Restore] do; the error says what is wrong with it, and then nothing has changed.
func (e *Env) UnmarshalBinary(data []byte) error {
	r := binaryReader{data: data}
	if len(data) < len(binaryHeader) || string(data[:len(binaryHeader)]) != binaryHeader {
		return errors.New("this is not the state of a railway environment of this version")
	}
	r.data = data[len(binaryHeader):]
	scenario := r.scenario()
	functions := make([]Rewards, r.count(64))
	for i := range functions {
		functions[i] = r.rewards()
	}
	var s Snapshot
	s.Elapsed = r.int()
	resets := r.int()
	s.AllDone = r.bool()
	s.Stream = r.stream()
	s.Seed.Given = r.bool()
	s.Seed.Value = uint64(r.int())
	for range r.count(8) {
		s.Seed.History = append(s.Seed.History, uint64(r.int()))
	}
	for range r.count(8) {
		s.Effects = append(s.Effects, r.effect())
	}
	s.Trains = make([]TrainState, len(scenario.Trains))
	for i := range s.Trains {
		s.Trains[i] = r.train()
	}
	if r.err != nil {
		return r.err
	}
	if len(functions) == 0 {
		return errors.New("there is no reward function")
	}
	made, err := New(scenario, Options{Rewards: functions})
	if err != nil {
		return err
	}
	if err := made.Restore(s); err != nil {
		return err
	}
	made.resets = resets
	for _, values := range made.rewards {
		r.floats(values)
	}
	r.book(made)
	r.punctuality(made)
	if len(r.data) > 0 {
		r.fail("%d bytes are left over", len(r.data))
	}
	if r.err != nil {
		return r.err
	}
	*e = *made
	return nil
}

// list are all factors in their order.
func (f *Factors) list() []float64 {
	return []float64{
		f.Cancellation, f.CancellationTimeBuffer, f.TargetNotReachedMinimumPenalty, f.IntermediateNotServed,
		f.IntermediateLateArrival, f.IntermediateEarlyDeparture, f.Collision,
	}
}

// binaryWriter appends words of 64 bits, little-endian, and single bytes.
type binaryWriter struct{ b []byte }

func (w *binaryWriter) ints(values ...int) {
	for _, v := range values {
		w.b = binary.LittleEndian.AppendUint64(w.b, uint64(v))
	}
}

func (w *binaryWriter) floats(values ...float64) {
	for _, v := range values {
		w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(v))
	}
}

func (w *binaryWriter) bools(values ...bool) {
	for _, v := range values {
		c := byte(0)
		if v {
			c = 1
		}
		w.b = append(w.b, c)
	}
}

// fraction writes numerator and denominator, or a 0 for the denominator and the number as text if they are large.
func (w *binaryWriter) fraction(f Fraction) {
	if num, den, ok := f.Int64s(); ok {
		w.ints(int(num), int(den))
		return
	}
	text := f.String()
	w.ints(len(text), 0)
	w.b = append(w.b, text...)
}

func (w *binaryWriter) cells(cells []Cell) {
	w.ints(len(cells))
	for _, c := range cells {
		w.ints(c.Row, c.Col)
	}
}

func (w *binaryWriter) configuration(c Configuration) { w.ints(c.Row, c.Col, int(c.Heading)) }

func (w *binaryWriter) time(t Time) {
	w.bools(t.Given)
	w.ints(t.Step)
}

func (w *binaryWriter) delta(d Delta) {
	w.ints(int(d.kind))
	w.fraction(d.exact)
	w.floats(d.float)
}

func (w *binaryWriter) scenario(s *Scenario) {
	w.ints(s.Width, s.Height, len(s.Grid))
	for _, t := range s.Grid {
		w.b = binary.LittleEndian.AppendUint16(w.b, uint16(t))
	}
	w.cells(s.LevelFree)
	w.ints(s.MaxEpisodeSteps)
	w.delta(s.Acceleration)
	w.delta(s.Braking)
	w.bools(s.KeepAtTarget)
	w.ints(len(s.Trains))
	for i := range s.Trains {
		t := &s.Trains[i]
		w.configuration(t.Initial)
		w.ints(t.Target.Row, t.Target.Col)
		w.fraction(t.MaxSpeed)
		w.ints(t.EarliestDeparture, t.LatestArrival, len(t.Stops))
		for _, stop := range t.Stops {
			w.time(stop.LatestArrival)
			w.time(stop.EarliestDeparture)
			w.ints(len(stop.Alternatives))
			for _, a := range stop.Alternatives {
				w.configuration(a)
			}
		}
	}
}

// stream writes the state of a stream; that of a file that has none is 0.
func (w *binaryWriter) stream(s *numpyrand.RandomState) {
	state := s.State()
	w.bools(state.HasGauss)
	w.floats(state.Gauss)
	w.ints(state.Pos)
	for _, word := range state.Key {
		w.b = binary.LittleEndian.AppendUint32(w.b, word)
	}
}

func (w *binaryWriter) train(t *TrainState) {
	w.configuration(t.Configuration)
	w.configuration(t.Old)
	w.ints(int(t.State), int(t.Previous), int(t.Next))
	w.fraction(t.Speed)
	w.fraction(t.Distance)
	w.bools(t.CellEntry)
	w.ints(t.Malfunction, t.Malfunctions)
	w.time(t.Arrival)
	g := &t.Signals
	w.bools(t.Done, g.InMalfunction, g.EarliestDepartureReached, g.StopActionGiven, g.MovementActionGiven, g.MovementAllowed,
		g.NewSpeedZero, g.TargetReached, g.TargetUnset)
}

// The kinds of effects.
const (
	binaryBreakdowns = iota
	binaryConditional
	binaryLegacy
	binaryClosures
)

func (w *binaryWriter) effect(f Effect) {
	switch f := f.(type) {
	case *Breakdowns:
		w.ints(binaryBreakdowns)
		w.generator(&f.MalfunctionGenerator)
	case *ConditionalMalfunctions:
		w.ints(binaryConditional)
		w.generator(&f.MalfunctionGenerator)
		w.time(f.Earliest)
		w.ints(f.Most, f.Count)
		w.bools(f.Limited)
		w.condition(&f.Condition)
	case *LegacyMalfunctions:
		w.ints(binaryLegacy)
		w.parameters(f.MalfunctionParameters)
		w.bools(f.None)
	case *TrackClosures:
		w.ints(binaryClosures, len(f.Closures))
		for _, c := range f.Closures {
			w.ints(c.From, c.Until)
			w.cells(c.Cells)
		}
	}
}

func (w *binaryWriter) parameters(p MalfunctionParameters) {
	w.floats(p.Rate)
	w.ints(p.MinDuration, p.MaxDuration)
}

func (w *binaryWriter) generator(g *MalfunctionGenerator) {
	w.parameters(g.MalfunctionParameters)
	w.ints(g.index, len(g.given))
	w.floats(g.given...)
	w.bools(g.cached)
	if g.cached && len(g.given) == 0 {
		w.stream(&g.origin)
	}
}

func (w *binaryWriter) condition(c *Condition) {
	w.ints(int(c.Kind), c.From, c.To)
	w.cells(c.Cells)
	w.ints(len(c.Of))
	for i := range c.Of {
		w.condition(&c.Of[i])
	}
}

func (w *binaryWriter) book(b *book) {
	for i := range b.visits {
		v := &b.visits[i]
		w.bools(v.stood)
		for _, times := range [2][]int32{v.arrivals, v.departures} {
			w.ints(len(times))
			for _, t := range times {
				w.ints(int(t))
			}
		}
	}
	for i := range b.at {
		w.ints(int(b.at[i]))
		w.fraction(b.speed[i])
		w.bools(b.looked[i])
	}
}

func (w *binaryWriter) punctuality(b *punctualityBook) {
	w.bools(b.marks != nil)
	for _, word := range b.seen {
		w.ints(int(word))
	}
	for _, marks := range b.marks {
		for _, m := range marks {
			w.ints(int(m.arrival), int(m.departure), int(m.lastDeparted))
		}
	}
}
