package rail

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Factors weigh the parts of the default reward. All are at least 0.
type Factors struct {
	Cancellation                   float64 // of a train that never entered, per step of its travel time
	CancellationTimeBuffer         float64 // steps added to that
	TargetNotReachedMinimumPenalty float64 // of a train that is on the map at the end
	IntermediateNotServed          float64 // per stop
	IntermediateLateArrival        float64 // per step
	IntermediateEarlyDeparture     float64 // per step
	Collision                      float64 // per cell and step of the speed lost in a stop
}

// DefaultFactors are the reference's DefaultRewards.
func DefaultFactors() Factors {
	return Factors{Cancellation: 1, IntermediateNotServed: 1, IntermediateLateArrival: 0.2, IntermediateEarlyDeparture: 0.5}
}

// ECML2026Factors are the competition's (ECML2026Rewards).
func ECML2026Factors() Factors {
	return Factors{
		Cancellation: 5, TargetNotReachedMinimumPenalty: 100, IntermediateNotServed: 50,
		IntermediateLateArrival: 0.5, IntermediateEarlyDeparture: 0.5, Collision: 250,
	}
}

// The components of the default reward, in the order in which they are added up.
const (
	Collision = iota
	TargetLateArrival
	Cancellation
	TargetNotReached
	TargetNotReachedMinimumPenalty // quirk: always 0, the penalty is part of TargetNotReached
	IntermediateNotServed
	IntermediateLateArrival
	IntermediateEarlyDeparture
	Components
)

var componentNames = [Components]string{
	"COLLISION", "TARGET_LATE_ARRIVAL", "CANCELLATION", "TARGET_NOT_REACHED", "TARGET_NOT_REACHED_MINIMUM_PENALTY",
	"INTERMEDIATE_NOT_SERVED", "INTERMEDIATE_LATE_ARRIVAL", "INTERMEDIATE_EARLY_DEPARTURE",
}

// ComponentNames are the reference's names of the components.
func ComponentNames() []string { return slices.Clone(componentNames[:]) }

// RewardKind is the form in which a reward function gives its rewards.
type RewardKind int8

// The kinds of reward functions.
const (
	ScalarReward         RewardKind = iota // one number: the components added up
	ComponentReward                        // the eight components
	MultiObjectiveReward                   // the scalar, energy, smoothness (BasicMultiObjectiveRewards)
	PunctualityReward                      // stops on time, stops (PunctualityRewards)
)

// Rewards is a reward function. Its values are given for every train in every step; added up over an episode they are
// the train's total.
type Rewards struct {
	Kind    RewardKind
	Factors Factors // of all kinds but PunctualityReward
}

// DefaultRewards is the reference's function of that name.
func DefaultRewards() Rewards { return Rewards{ScalarReward, DefaultFactors()} }

// ECML2026Rewards is the competition's.
func ECML2026Rewards() Rewards { return Rewards{ScalarReward, ECML2026Factors()} }

// rewardNames are what people call the functions.
var rewardNames = []struct {
	name string
	Rewards
}{
	{"default", DefaultRewards()},
	{"ecml2026", ECML2026Rewards()},
	{"base-default", Rewards{ComponentReward, DefaultFactors()}},
	{"base-ecml2026", Rewards{ComponentReward, ECML2026Factors()}},
	{"multi-objective", Rewards{MultiObjectiveReward, DefaultFactors()}},
	{"punctuality", Rewards{Kind: PunctualityReward}},
}

// RewardNames are the names that RewardsByName knows.
func RewardNames() []string {
	var names []string
	for _, r := range rewardNames {
		names = append(names, r.name)
	}
	return names
}

// RewardsByName returns the function of a name.
func RewardsByName(name string) (Rewards, error) {
	for _, r := range rewardNames {
		if r.name == name {
			return r.Rewards, nil
		}
	}
	return Rewards{}, fmt.Errorf("no reward function is named %q; there are %s", name, strings.Join(RewardNames(), ", "))
}

// Width is the number of values of a reward.
func (r Rewards) Width() int {
	switch r.Kind {
	case ComponentReward:
		return Components
	case MultiObjectiveReward:
		return 3
	case PunctualityReward:
		return 2
	}
	return 1
}

// SetRewards chooses the functions that are computed in every step from now on; none means DefaultRewards alone.
func (e *Env) SetRewards(functions ...Rewards) {
	if len(functions) == 0 {
		functions = []Rewards{DefaultRewards()}
	}
	e.functions = slices.Clone(functions)
	e.rewards = make([][]float64, len(functions))
	for k, f := range functions {
		e.rewards[k] = make([]float64, f.Width()*len(e.trains))
	}
}

// RewardFunctions are the functions that are computed.
func (e *Env) RewardFunctions() []Rewards { return slices.Clone(e.functions) }

// Rewards are the values of one function in the last step: for each train, by handle, as many as the function is wide.
// They must not be changed, and are overwritten in the next step.
func (e *Env) Rewards(function int) []float64 { return e.rewards[function] }

// Punctuality is what a train's punctuality reward will be at the end of the episode, as of now: how many stops it served on
// time, and how many it has. That of a train that has arrived does not change any more. It is recorded if it is one of the
// functions.
func (e *Env) Punctuality(i int) (onTime, stops int) { return e.punctuality.count(e, i) }

// ForgetVisits clears the bookkeeping of rewards, which otherwise goes on over resets: which stops a train served, and
// its last speed.
func (e *Env) ForgetVisits() {
	e.book = newBook(e.plan)
	for i := range e.trains { // one that stands in its stop may still be seen to stand there
		if n := e.trains[i].node; n != NoNode {
			e.book.at[i] = e.plan.at(i, n, e.plan.first[i+1])
		}
	}
	e.punctuality = punctualityBook{}
}

func (e *Env) clearRewards() {
	for _, r := range e.rewards {
		clear(r)
	}
}

// parts are the components of one reward of a train.
type parts [Components]float64

// rewardStep gives a train its reward of a step, the final part included in the step in which it arrives.
func (e *Env) rewardStep(i int) error {
	t := &e.trains[i]
	e.book.record(e, i)
	arrives := t.state == Done && t.previous != Done
	stops := t.previous == Moving && t.state == Stopped // quirk: also if it was told to
	var mo [2]float64
	moKnown := false
	for k := range e.functions {
		f := &e.functions[k]
		if f.Kind == PunctualityReward {
			e.punctuality.record(e, i)
			continue
		}
		if f.Kind == MultiObjectiveReward && !moKnown {
			if t.maxSpeed.Sign() == 0 {
				return errNoSpeed
			}
			mo, moKnown = e.book.exertion(e, i), true
		}
		if !arrives && !stops && f.Kind != MultiObjectiveReward {
			continue
		}
		var p parts
		if stops {
			p[Collision] = float64(t.speedBefore.Neg().Float64() * f.Factors.Collision)
		}
		if arrives {
			if err := e.final(i, &f.Factors, &p); err != nil {
				return err
			}
		}
		e.give(k, i, &p, mo)
	}
	return nil
}

// rewardEnd gives a train the last part of its reward if it has not arrived.
func (e *Env) rewardEnd(i int) error {
	for k := range e.functions {
		f := &e.functions[k]
		if f.Kind == PunctualityReward {
			on, all := e.punctuality.count(e, i)
			r := e.rewards[k][2*i:]
			r[0] += float64(on)
			r[1] += float64(all)
			continue
		}
		if e.trains[i].state == Done {
			continue
		}
		var p parts
		if err := e.final(i, &f.Factors, &p); err != nil {
			return err
		}
		e.give(k, i, &p, [2]float64{})
	}
	return nil
}

// give adds a reward to the train's of this step.
func (e *Env) give(k, i int, p *parts, mo [2]float64) {
	switch r := e.rewards[k]; e.functions[k].Kind {
	case ComponentReward:
		for c, v := range p {
			r[Components*i+c] += v
		}
	case MultiObjectiveReward:
		r[3*i] += p.sum()
		r[3*i+1] += mo[0]
		r[3*i+2] += mo[1]
	default:
		r[i] += p.sum()
	}
}

func (p *parts) sum() float64 {
	total := 0.0
	for _, v := range p {
		total += v
	}
	return total
}

// final works out the part of the reward that a train gets once, when it arrives or when the episode ends without it.
func (e *Env) final(i int, f *Factors, p *parts) error {
	t := &e.trains[i]
	if t.state == Done {
		p[TargetLateArrival] = float64(min(t.latest-t.arrival, 0))
	} else {
		travel, err := e.travelTime(i)
		if err != nil {
			return err
		}
		if t.state.OffMap() {
			p[Cancellation] = -f.Cancellation * (float64(travel) + f.CancellationTimeBuffer)
		} else {
			p[TargetNotReached] = min(-f.TargetNotReachedMinimumPenalty, float64(t.latest-e.elapsed-travel))
		}
	}
	for k := range e.plan.stops[i] {
		e.book.judge(&e.plan.stops[i][k], f, p)
	}
	return nil
}

// book records which platforms each train visited, and when. Times are appended to their lists and never removed, so
// after a reset that forgets nothing an arrival may be paired with a departure of an episode before (quirk).
type book struct {
	visits []visits   // by the plan's platforms
	at     []int32    // of each train the platform where it is, -1: none
	speed  []Fraction // of each train when it was last looked at, for the smoothness
	looked []bool     // of each train whether it was
}

type visits struct {
	arrivals, departures []int32
	stood                bool // the train was STOPPED there at the end of a step
}

// visitsAhead is for how many visits of each platform there is room from the start.
const visitsAhead = 4

func newBook(p *plan) book {
	n := len(p.targetOf)
	b := book{visits: roomForVisits(len(p.platforms)), at: make([]int32, n), speed: make([]Fraction, n), looked: make([]bool, n)}
	for i := range b.at {
		b.at[i] = -1
	}
	return b
}

func roomForVisits(platforms int) []visits {
	all, room := make([]visits, platforms), make([]int32, 2*visitsAhead*platforms)
	for k := range all {
		v := room[2*visitsAhead*k:]
		all[k].arrivals, all[k].departures = v[:0:visitsAhead], v[visitsAhead:visitsAhead:2*visitsAhead]
	}
	return all
}

func (b *book) clone() book {
	n := len(b.at)
	c := book{visits: roomForVisits(len(b.visits)), at: make([]int32, n), speed: make([]Fraction, n), looked: make([]bool, n)}
	c.copyFrom(b)
	return c
}

// copyFrom makes b equal to the book of another environment with the same timetables.
func (b *book) copyFrom(o *book) {
	copy(b.at, o.at)
	copy(b.speed, o.speed)
	copy(b.looked, o.looked)
	for k := range b.visits {
		v, from := &b.visits[k], &o.visits[k]
		v.arrivals, v.departures = append(v.arrivals[:0], from.arrivals...), append(v.departures[:0], from.departures...)
		v.stood = from.stood
	}
}

func (b *book) equal(o *book) bool {
	return slices.Equal(b.at, o.at) && slices.Equal(b.looked, o.looked) && slices.EqualFunc(b.speed, o.speed, Fraction.Equal) &&
		slices.EqualFunc(b.visits, o.visits, func(v, w visits) bool {
			return v.stood == w.stood && slices.Equal(v.arrivals, w.arrivals) && slices.Equal(v.departures, w.departures)
		})
}

// record notes where a train came to and what it left.
func (b *book) record(e *Env, i int) {
	t := &e.trains[i]
	if t.node != t.old {
		now := int32(e.elapsed)
		if t.old != NoNode {
			if k := e.plan.at(i, t.old, e.plan.first[i+1]); k >= 0 {
				b.visits[k].departures = append(b.visits[k].departures, now)
			}
		}
		b.at[i] = -1
		if t.node != NoNode {
			b.at[i] = e.plan.at(i, t.node, e.plan.first[i+1])
			if k := b.at[i]; k >= 0 {
				b.visits[k].arrivals = append(b.visits[k].arrivals, now)
			}
		}
	}
	if t.state == Stopped && t.node != NoNode && b.at[i] >= 0 {
		b.visits[b.at[i]].stood = true
	}
}

// judge adds what one intermediate stop costs.
//
// quirk: of the alternatives that the train visited only the first says whether it stood. In the reference that is the
// first of a hash set whose order differs from run to run; here it is the order of the alternatives.
func (b *book) judge(s *stop, f *Factors, p *parts) {
	first := true
	best, late, early := math.Inf(-1), 0.0, 0.0
	for _, k := range s.platforms {
		v := &b.visits[k]
		if len(v.arrivals) == 0 {
			continue
		}
		if first && !v.stood {
			break
		}
		first = false
		for m, arrival := range v.arrivals {
			l := float64(f.IntermediateLateArrival * float64(min(s.latest-int(arrival), 0)))
			d := 0.0
			if m < len(v.departures) {
				d = float64(f.IntermediateEarlyDeparture * float64(min(int(v.departures[m])-s.departure, 0)))
			}
			if l+d > best {
				best, late, early = l+d, l, d
			}
		}
	}
	if first {
		p[IntermediateNotServed] -= f.IntermediateNotServed
		return
	}
	p[IntermediateLateArrival] += late
	p[IntermediateEarlyDeparture] += early
}

// exertion is a train's energy and smoothness in a step: its squared speed as a share of the maximum, and its squared
// change of speed, both negative.
func (b *book) exertion(e *Env, i int) [2]float64 {
	t := &e.trains[i]
	var speed Fraction
	if t.state == Moving {
		speed = t.speed
	}
	var r [2]float64
	var share Fraction
	if num, den, ok := t.maxSpeed.Int64s(); ok {
		share = speed.Mul(Frac(den, num))
	} else {
		share = fromRat(speed.Rat().Quo(speed.Rat(), t.maxSpeed.Rat()))
	}
	r[0] = share.Mul(share).Neg().Float64()
	if b.looked[i] {
		change := speed.Add(b.speed[i].Neg())
		r[1] = change.Mul(change).Neg().Float64()
	}
	b.speed[i], b.looked[i] = speed, true
	return r
}
