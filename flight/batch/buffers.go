package batch

import (
	"fmt"
	"math"

	"skyrail/flight"
)

// Buffers are the arrays a batch writes into: one row an environment, the values of a row side by side. Shapes stand
// beside the fields, for E environments of N aircraft. A nil array is not written.
type Buffers struct {
	Observations []float32 // E x Config.ObservationLen
	Masks        []bool    // E x Config.Actions
	Rewards      []float64 // E, of the last step; 0 after a reset
	Terminated   []bool    // E, of the last step
	Truncated    []bool    // E, of the last step
	Actions      []int64   // E, of the last step; Idle after a reset
	Issued       []int64   // E: the clearances that the last step gave, 0 or 1

	Counts  []int64   // E x CountColumns
	Figures []float64 // E x (1 + 2N): exit_miss, then dt_exit and d_alt_exit of every aircraft

	Aircraft       []float64 // E x N x AircraftColumns
	AircraftCounts []int64   // E x N x AircraftCountColumns

	// In mode SameStep, of the episodes that ended in the last step; other rows are left as they are.
	FinalObservations []float32 // as Observations
	FinalCounts       []int64   // as Counts
	FinalFigures      []float64 // as Figures
}

// Into is where a single step writes, laid out as the Buffers of the same names; a nil array is not written. Arrays that
// are handed on are given to the step that fills them: to bind them takes longer, and so does a copy.
type Into struct {
	Observations []float32
	Counts       []int64
	Figures      []float64
}

// The columns of Buffers.Counts, named as in the reference's info but for the last.
const (
	N = iota
	M
	CongestionEvents
	CongestionTotal
	Clearances
	Invalids
	AircraftInvolved
	Collided // 0 or 1
	Step     // step_idx

	CountColumns
)

// The columns of Buffers.Aircraft, with the reference's names behind.
const (
	X            = iota // metres
	Y                   // metres
	Level               // altitude units
	Speed               // m/s
	Heading             // degrees
	DirectionX          // unit vector of the heading
	DirectionY          //
	EntryLevel          // alt0
	EntrySpeed          // v0
	Distance            // s_total: metres from entry to exit
	Flown               // s_flown: metres from entry
	TargetTime          // t_target: seconds from entry
	ExitTime            // t_exit_actual: seconds from entry; NaN until it has left
	Severity            // of its worst predicted conflict; 0: there is none
	ConflictTime        // seconds to that conflict's closest approach; +Inf: there is none

	AircraftColumns
)

// The columns of Buffers.AircraftCounts, named as in the reference.
const (
	HoldLeft  = iota // steps
	PulseLeft        // steps
	PulseSign        // +1 faster first, -1 slower first, 0 no pulse
	PerAircraftClearances

	AircraftCountColumns
)

// Bind makes the batch write into these arrays from now on, and at once what there is to say. The error names an array
// that has not the length the batch needs; then the arrays are as before.
func (b *Batch) Bind(w Buffers) error {
	cfg := b.Config()
	e, n := len(b.envs), cfg.Flights
	for _, a := range []struct {
		name      string
		len, want int
		bound     bool
	}{
		{"observations", len(w.Observations), e * cfg.ObservationLen(), w.Observations != nil},
		{"masks", len(w.Masks), e * cfg.Actions(), w.Masks != nil},
		{"rewards", len(w.Rewards), e, w.Rewards != nil},
		{"terminated", len(w.Terminated), e, w.Terminated != nil},
		{"truncated", len(w.Truncated), e, w.Truncated != nil},
		{"actions", len(w.Actions), e, w.Actions != nil},
		{"issued", len(w.Issued), e, w.Issued != nil},
		{"counts", len(w.Counts), e * CountColumns, w.Counts != nil},
		{"figures", len(w.Figures), e * (1 + 2*n), w.Figures != nil},
		{"aircraft", len(w.Aircraft), e * n * AircraftColumns, w.Aircraft != nil},
		{"aircraft counts", len(w.AircraftCounts), e * n * AircraftCountColumns, w.AircraftCounts != nil},
		{"final observations", len(w.FinalObservations), e * cfg.ObservationLen(), w.FinalObservations != nil},
		{"final counts", len(w.FinalCounts), e * CountColumns, w.FinalCounts != nil},
		{"final figures", len(w.FinalFigures), e * (1 + 2*n), w.FinalFigures != nil},
	} {
		if a.bound && a.len != a.want {
			return fmt.Errorf("the array of %s has %d values, %d environments of %d aircraft need %d", a.name, a.len, e, n, a.want)
		}
	}
	b.buffers = w
	return b.Report()
}

func (b *Batch) checkInto(to Into) error {
	e := len(b.envs)
	for _, a := range []struct {
		name     string
		len, row int
		there    bool
	}{
		{"observations", len(to.Observations), b.width.observation, to.Observations != nil},
		{"counts", len(to.Counts), CountColumns, to.Counts != nil},
		{"figures", len(to.Figures), b.width.figures, to.Figures != nil},
	} {
		if a.there && a.len != e*a.row {
			return fmt.Errorf("the array of %s has %d values, %d environments need %d", a.name, a.len, e, e*a.row)
		}
	}
	return nil
}

// Track writes the aircraft of all environments as of now into arrays of one's own, laid out as Buffers.Aircraft and
// Buffers.AircraftCounts; a nil one is not written.
func (b *Batch) Track(aircraft []float64, counts []int64) error {
	values := len(b.envs) * b.Config().Flights
	if aircraft != nil && len(aircraft) != values*AircraftColumns || counts != nil && len(counts) != values*AircraftCountColumns {
		return fmt.Errorf("the arrays have %d and %d values, the aircraft need %d and %d", len(aircraft), len(counts), values*AircraftColumns, values*AircraftCountColumns)
	}
	for i := range b.envs {
		b.track(aircraft, counts, i)
	}
	return nil
}

// outcome is what only a step knows.
type outcome struct {
	status         flight.Status
	reward         float64
	action, issued int
}

func (b *Batch) outcome(i int, o outcome) {
	w := &b.buffers
	if w.Rewards != nil {
		w.Rewards[i] = o.reward
	}
	if w.Terminated != nil {
		w.Terminated[i] = o.status.Terminated
	}
	if w.Truncated != nil {
		w.Truncated[i] = o.status.Truncated
	}
	if w.Actions != nil {
		w.Actions[i] = int64(o.action)
	}
	if w.Issued != nil {
		w.Issued[i] = int64(o.issued)
	}
}

// report writes row i of everything else.
func (b *Batch) report(i int) {
	w := &b.buffers
	b.observe(w.Observations, i)
	if w.Masks != nil {
		b.envs[i].Mask(span(w.Masks, i, b.width.mask))
	}
	b.tell(w.Counts, w.Figures, i)
	if w.Aircraft != nil || w.AircraftCounts != nil {
		b.track(w.Aircraft, w.AircraftCounts, i)
	}
}

// reportFinal writes row i of what is kept of an episode that has ended.
func (b *Batch) reportFinal(i int) {
	w := &b.buffers
	b.observe(w.FinalObservations, i)
	b.tell(w.FinalCounts, w.FinalFigures, i)
}

func (b *Batch) observe(observations []float32, i int) {
	if observations != nil {
		b.envs[i].Observe(span(observations, i, b.width.observation))
	}
}

// tell writes the figures of [flight.Info].
func (b *Batch) tell(counts []int64, figures []float64, i int) {
	e := b.envs[i]
	if counts != nil {
		c, r := e.Counts(), (*[CountColumns]int64)(span(counts, i, CountColumns))
		r[N], r[M] = int64(c.N), int64(c.M)
		r[CongestionEvents], r[CongestionTotal] = int64(c.CongestionEvents), int64(c.CongestionTotal)
		r[Clearances], r[Invalids] = int64(c.Clearances), int64(c.Invalids)
		r[AircraftInvolved], r[Collided] = int64(c.AircraftInvolved), one(c.Collided)
		r[Step] = int64(e.StepCount())
	}
	if figures != nil {
		e.Figures(span(figures, i, b.width.figures))
	}
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// track writes the aircraft.
func (b *Batch) track(aircraft []float64, counts []int64, i int) {
	s := &b.scratch[i]
	b.envs[i].State(s)
	if counts != nil {
		r := span(counts, i, b.width.aircraftCounts)
		for k := range s.Aircraft {
			a := &s.Aircraft[k]
			*(*[AircraftCountColumns]int64)(r[k*AircraftCountColumns:]) = [AircraftCountColumns]int64{
				HoldLeft: int64(a.Hold), PulseLeft: int64(a.Pulse), PulseSign: int64(a.Sign), PerAircraftClearances: int64(a.Clearances),
			}
		}
	}
	if aircraft == nil {
		return
	}
	r := span(aircraft, i, b.width.aircraft)
	for k := range s.Aircraft {
		a := &s.Aircraft[k]
		exit := a.ExitTime
		if !b.envs[i].Progress(k).Left {
			exit = math.NaN()
		}
		ux, uy := b.envs[i].Direction(k)
		severity, cpa := b.envs[i].Threat(k)
		*(*[AircraftColumns]float64)(r[k*AircraftColumns:]) = [AircraftColumns]float64{
			X: a.X, Y: a.Y, Level: a.Level, Speed: a.Speed, Heading: a.Heading, DirectionX: ux, DirectionY: uy,
			EntryLevel: a.EntryLevel, EntrySpeed: a.EntrySpeed, Distance: a.DistanceToExit, Flown: a.Flown,
			TargetTime: a.TargetTime, ExitTime: exit, Severity: severity, ConflictTime: cpa,
		}
	}
}

// row is row i of an array of so many rows.
func row[T any](all []T, i, rows int) []T { return span(all, i, len(all)/rows) }

// span is row i of an array whose rows are so wide.
func span[T any](all []T, i, width int) []T { return all[i*width : (i+1)*width] }
