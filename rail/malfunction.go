package rail

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"skyrail/internal/elementary"
	"skyrail/numpyrand"
)

// Effect is something that happens to the trains besides what they are told: [Breakdowns], [ConditionalMalfunctions],
// [LegacyMalfunctions] or [TrackClosures]. An effect has a state, its random numbers and counters, which outlives a reset.
type Effect interface {
	// stepStart happens at the start of a step, trains in the order of their handles.
	stepStart(e *Env)
	// checkOn says what is wrong with the effect on a network.
	checkOn(net *Network) error
	clone() Effect
	equal(Effect) bool
}

// MalfunctionParameters say how often trains break down, and for how long.
type MalfunctionParameters struct {
	Rate        float64 // of breakdowns per train and step; 0 and less: none
	MinDuration int     // steps
	MaxDuration int     // steps, included
}

// probability of a breakdown in one draw.
func (p MalfunctionParameters) probability() float64 {
	if p.Rate <= 0 {
		return 0
	}
	return 1 - elementary.Exp(-p.Rate)
}

func (p MalfunctionParameters) checkOn(*Network) error { return p.check() }

func (p MalfunctionParameters) check() error {
	switch {
	case math.IsNaN(p.Rate):
		return errors.New("the malfunction rate is not a number")
	case p.MinDuration < 0 || p.MaxDuration > MaxSteps || p.MinDuration > p.MaxDuration:
		return fmt.Errorf("malfunctions last %d to %d steps: want 0 <= min_duration <= max_duration <= %d",
			p.MinDuration, p.MaxDuration, MaxSteps)
	}
	return nil
}

// malfunctionCache is how many numbers a generator draws at its first use.
const malfunctionCache = 1_000_000

// MalfunctionGenerator decides, draw by draw, whether a train breaks down (the reference's ParamMalfunctionGen).
//
// At its first draw it takes 1 000 000 doubles from the environment's stream, also if it never breaks anything
// (quirk), and uses one a draw, from the second on (quirk); after the last it starts over. Durations come from the
// stream when they are needed. The numbers outlive a reset, also one with a new seed (quirk).
//
// Only the state of the stream is kept, not the numbers: they come in order, so they can be drawn again as they are used.
type MalfunctionGenerator struct {
	MalfunctionParameters

	cached bool
	origin numpyrand.RandomState // as it was when the numbers were taken
	next   numpyrand.RandomState // at number index+1
	index  int
	given  []float64 // an old file's numbers, instead of the stream's
}

// NewMalfunctionGenerator returns a generator that has not drawn yet.
func NewMalfunctionGenerator(p MalfunctionParameters) MalfunctionGenerator {
	return MalfunctionGenerator{MalfunctionParameters: p}
}

// Resume puts a generator where it was: it took its numbers from a stream in state origin (nil: not yet) and used the
// one at index last.
func (g *MalfunctionGenerator) Resume(origin *numpyrand.RandomState, index int) error {
	if index < 0 || index >= malfunctionCache {
		return fmt.Errorf("malfunction_rand_idx is %d, want 0 to %d", index, malfunctionCache-1)
	}
	g.cached, g.index, g.given = origin != nil, index, nil
	if origin != nil {
		g.origin = *origin
		g.seek()
	}
	return nil
}

// ResumeNumbers is Resume for files that hold the numbers themselves.
func (g *MalfunctionGenerator) ResumeNumbers(numbers []float64, index int) error {
	if len(numbers) == 0 || index < 0 || index >= malfunctionCache {
		return fmt.Errorf("malfunction_rand_idx is %d of %d numbers", index, len(numbers))
	}
	g.cached, g.index, g.given = true, index, numbers
	return nil
}

// Origin is the state of the stream from which the generator took its numbers, nil if it has not yet, and the index of
// the number it used last.
func (g *MalfunctionGenerator) Origin() (origin *numpyrand.RandomState, index int) {
	if !g.cached || g.given != nil {
		return nil, g.index
	}
	o := g.origin
	return &o, g.index
}

func (g *MalfunctionGenerator) seek() {
	g.next = g.origin
	g.next.Skip(2 * uint64(g.index+1))
}

// draw returns the steps of a breakdown, 0 if there is none. Of the stream it takes 2 000 000 words at the first draw,
// and one randint(min, max+1) for a breakdown.
func (g *MalfunctionGenerator) draw(rng *numpyrand.RandomState, p float64) int {
	if !g.cached {
		g.cached, g.origin = true, *rng
		rng.Skip(2 * malfunctionCache)
		g.seek()
	}
	g.index++
	if g.index >= malfunctionCache {
		g.index = 0
		g.next = g.origin
	}
	var u float64
	switch {
	case g.given != nil:
		u = g.given[g.index%len(g.given)]
	case p > 0:
		u = g.next.Random()
	default:
		g.next.Skip(2)
	}
	if u < p {
		return int(rng.Randint(int64(g.MinDuration), int64(g.MaxDuration)+1)) + 1 // quirk: one step more than asked for
	}
	return 0
}

func (g *MalfunctionGenerator) equal(o *MalfunctionGenerator) bool {
	return g.MalfunctionParameters == o.MalfunctionParameters && g.cached == o.cached && g.index == o.index &&
		slices.Equal(g.given, o.given) && (!g.cached || g.given != nil || g.origin.Equal(&o.origin))
}

// breakDown starts a malfunction of a train, unless it has one.
func (t *train) breakDown(steps int) {
	if t.malfunction == 0 && steps > 0 {
		t.malfunction = steps
		t.malfunctions++
	}
}

// Breakdowns break any train down in any step, also before its start and after its arrival
// (MalfunctionEffectsGenerator): one draw a train and step.
type Breakdowns struct{ MalfunctionGenerator }

// NewBreakdowns returns the effect before its first draw. With rate 0 it breaks nothing, but still takes its numbers
// from the stream (quirk).
func NewBreakdowns(p MalfunctionParameters) *Breakdowns {
	return &Breakdowns{NewMalfunctionGenerator(p)}
}

func (b *Breakdowns) stepStart(e *Env) {
	p := b.probability()
	for i := range e.trains {
		e.trains[i].breakDown(b.draw(&e.rng, p))
	}
}

func (b *Breakdowns) clone() Effect {
	c := *b
	return &c
}

func (b *Breakdowns) equal(other Effect) bool {
	o, ok := other.(*Breakdowns)
	return ok && b.MalfunctionGenerator.equal(&o.MalfunctionGenerator)
}

// ConditionalMalfunctions break down trains for which a condition holds (ConditionalMalfunctionEffectsGenerator). Only
// such a train takes a number.
type ConditionalMalfunctions struct {
	MalfunctionGenerator
	Earliest Time // the first step with malfunctions, if given
	Most     int  // malfunctions in all, counted over resets
	Limited  bool // Most counts; otherwise there may be any number
	Condition
	Count int // malfunctions so far
}

// NewDepartureMalfunctions returns the effect that breaks down trains standing at one of their waypoints
// (IntermediateStopMalfunctionEffectsGenerator): every step they stand there draws again.
func NewDepartureMalfunctions(p MalfunctionParameters, earliest int) *ConditionalMalfunctions {
	return &ConditionalMalfunctions{
		MalfunctionGenerator: NewMalfunctionGenerator(p), Earliest: At(earliest), Condition: Condition{Kind: StoppedAtWaypoint},
	}
}

func (c *ConditionalMalfunctions) stepStart(e *Env) {
	if c.Earliest.Given && e.elapsed < c.Earliest.Step || c.spent() {
		return
	}
	p := c.probability()
	for i := range e.trains {
		if !c.holds(e, i) {
			continue
		}
		t := &e.trains[i]
		before := t.malfunction
		t.breakDown(c.draw(&e.rng, p))
		if t.malfunction > 0 && before == 0 {
			c.Count++
			if c.spent() {
				return
			}
		}
	}
}

func (c *ConditionalMalfunctions) spent() bool { return c.Limited && c.Count >= c.Most }

func (c *ConditionalMalfunctions) checkOn(*Network) error {
	if err := c.MalfunctionParameters.check(); err != nil {
		return err
	}
	return c.Condition.check(0)
}

func (c *ConditionalMalfunctions) clone() Effect {
	o := *c
	return &o
}

func (c *ConditionalMalfunctions) equal(other Effect) bool {
	o, ok := other.(*ConditionalMalfunctions)
	return ok && c.Earliest == o.Earliest && c.Most == o.Most && c.Limited == o.Limited && c.Count == o.Count &&
		c.Condition.equal(&o.Condition) && c.MalfunctionGenerator.equal(&o.MalfunctionGenerator)
}

// maxConditions bounds how deep conditions are within conditions.
const maxConditions = 8

// Condition says which trains an effect is about.
type Condition struct {
	Kind     ConditionKind
	From, To int         // of the kinds with a range: From <= elapsed < To
	Cells    []Cell      // of StoppedOnCells
	Of       []Condition // of AnyOf
}

// ConditionKind is one of the reference's conditions.
type ConditionKind int8

// The conditions.
const (
	Always                ConditionKind = iota
	OnMap                               // the train is on the map
	StoppedAtWaypoint                   // it stands in the configuration of one of its stops, the start included
	StoppedAtIntermediate               // it stands in a cell of one of its intermediate stops, in a range of steps
	StoppedOnCells                      // it stands in one of some cells, in a range of steps
	AnyOf                               // one of some conditions holds
)

func (c *Condition) holds(e *Env, i int) bool {
	t := &e.trains[i]
	switch c.Kind {
	case Always:
		return true
	case OnMap:
		return t.state.OnMap()
	case AnyOf:
		return slices.ContainsFunc(c.Of, func(o Condition) bool { return o.holds(e, i) })
	}
	if t.state != Stopped || t.node == NoNode {
		return false
	}
	if c.Kind == StoppedAtWaypoint {
		return e.plan.isWaypoint(i, t.node)
	}
	if e.elapsed < c.From || e.elapsed >= c.To {
		return false
	}
	cell := e.net.Cell(t.node)
	if c.Kind == StoppedOnCells {
		return slices.Contains(c.Cells, cell)
	}
	return slices.ContainsFunc(e.scenario.Trains[i].Intermediate(), func(s Stop) bool {
		return slices.ContainsFunc(s.Alternatives, func(a Configuration) bool { return a.Cell == cell })
	})
}

func (c *Condition) check(depth int) error {
	if c.Kind < Always || c.Kind > AnyOf || depth > maxConditions {
		return fmt.Errorf("condition %d is none that is known, or too deep", c.Kind)
	}
	for i := range c.Of {
		if err := c.Of[i].check(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

func (c *Condition) equal(o *Condition) bool {
	return c.Kind == o.Kind && c.From == o.From && c.To == o.To && slices.Equal(c.Cells, o.Cells) &&
		slices.EqualFunc(c.Of, o.Of, func(a, b Condition) bool { return a.equal(&b) })
}

// LegacyMalfunctions is the reference's deprecated closure (malfunction_from_params): one double a train and step
// straight from the stream, and a duration as asked for, 0 included, which is then no malfunction. None draws nothing
// (no_malfunction_generator).
type LegacyMalfunctions struct {
	MalfunctionParameters
	None bool
}

func (l *LegacyMalfunctions) stepStart(e *Env) {
	if l.None {
		return
	}
	p := l.probability()
	for i := range e.trains {
		if e.rng.Random() < p {
			e.trains[i].breakDown(int(e.rng.Randint(int64(l.MinDuration), int64(l.MaxDuration)+1)))
		}
	}
}

func (l *LegacyMalfunctions) clone() Effect {
	c := *l
	return &c
}

func (l *LegacyMalfunctions) equal(other Effect) bool {
	o, ok := other.(*LegacyMalfunctions)
	return ok && *l == *o
}
