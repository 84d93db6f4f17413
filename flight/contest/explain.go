package contest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"skyrail/flight"
)

// MaxExplained is the longest horizon of an episode that Explain tells of, in steps. The ranked scenario has 50.
const MaxExplained = 200

// Account is why a clearance was given, told from the actions alone: what happens without it, and what else could have
// been said in its place. Each clearance is judged by itself: of two that do the same, neither changes a figure.
type Account struct {
	Order
	Forbidden bool // the mask forbade it: counted as invalid and not flown, so there is no Effect
	Effect
}

// Order is one clearance of an episode. Step is that of the action in a trace, counted from 0: the clearance is given
// 2*Step seconds after the reset.
type Order struct {
	Step      int
	Aircraft  int
	Clearance flight.Clearance
}

// Action returns the index of the order's clearance.
func (o Order) Action() int { return flight.Action(o.Aircraft, o.Clearance) }

// Effect is what a clearance does to its episode.
type Effect struct {
	Without     Episode      `json:"without"`             // the same actions but for it; Actions is nil
	Cost        Change       `json:"cost"`                // of leaving it out
	Resolves    Trouble      `json:"resolves,omitzero"`   // what happens without it, and not with it
	Brings      Trouble      `json:"brings,omitzero"`     // what happens with it, and not without it
	NeededBy    []int        `json:"needed_by,omitempty"` // steps of later clearances that are not legal without it, and so not flown
	Alternative *Alternative `json:"-"`                   // nil if no other clearance does it
}

// Trouble is what goes wrong for the aircraft that a clearance is for. For another one nothing changes, unless it is too
// close to this one.
type Trouble struct {
	Losses []Loss `json:"losses,omitempty"` // by their first step, then by aircraft
	Exit   *Exit  `json:"exit,omitempty"`   // nil if it ends no worse, or if either flight of the episode failed
}

// None reports whether nothing goes wrong.
func (t Trouble) None() bool { return len(t.Losses) == 0 && t.Exit == nil }

// Loss is a loss of separation from another aircraft. Its steps are those of a trace: it is counted as the step ends.
type Loss struct {
	Aircraft int  `json:"aircraft"` // the other one
	First    int  `json:"first_step"`
	Last     int  `json:"last_step"`
	MidAir   bool `json:"mid_air"`          // in one of the steps
	Anyway   bool `json:"anyway,omitempty"` // it is lost in the other flight too; only the mid-air is not
}

// Exit is how far from its plan the aircraft ends. A part that is no worse than in the other flight, by a step of the
// ranking at least, is 0 in both.
type Exit struct {
	Levels       float64 `json:"levels"`        // above its entry level at the end
	OtherLevels  float64 `json:"other_levels"`  // in the other flight
	Seconds      float64 `json:"seconds"`       // (expected) exit time minus target: late is positive
	OtherSeconds float64 `json:"other_seconds"` // in the other flight
}

// Alternative is the best other clearance in the place of one: of another kind or for another aircraft, in its step or
// one without a clearance. It is better than leaving the clearance out, and does not fail an episode that is completed.
type Alternative struct {
	Order
	Episode Episode // Actions is nil
	Cost    Change  // of saying this instead; negative parts are gains
	Drops   []int   // steps of later clearances that are not legal then, and so not flown
}

// Change is by how much the rank key of an episode flown otherwise differs from that of the episode: more is worse.
type Change struct {
	Failed     int     `json:"failed"`
	Congestion int     `json:"congestion"`
	ExitMiss   float64 `json:"exit_miss"` // in whole steps of 0.005, as it is ranked
	Clearances int     `json:"clearances"`
	Touched    int     `json:"touched"`
}

// Sign is positive if the change is for the worse by the rank key, negative if for the better, else 0.
func (c Change) Sign() int {
	return cmp.Or(cmp.Compare(c.Failed, 0), cmp.Compare(c.Congestion, 0), cmp.Compare(c.ExitMiss, 0),
		cmp.Compare(c.Clearances, 0), cmp.Compare(c.Touched, 0))
}

// Outcome returns the change of what comes of the clearances, without that of the clearances.
func (c Change) Outcome() Change {
	c.Clearances, c.Touched = 0, 0
	return c
}

// Explain gives an account of every clearance in an episode of recorded actions, in the order of the steps; it is idled
// when they run out, and those after its end are not told of. The forbidden ones are told as such, and are idle steps in
// the accounts of the others. The error is a MomentError of a [flight.ActionError] for an action outside the action space, or
// is about cfg, or about more actions than the episode can have.
func Explain(cfg flight.Config, seed uint64, actions []int) ([]Account, error) {
	start, err := flight.New(cfg)
	if err != nil {
		return nil, err
	}
	start.Reset(seed)
	return explain(start, seed, actions)
}

// explain does the work of Explain for an episode that begins as start stands.
func explain(start *flight.Env, seed uint64, actions []int) ([]Account, error) {
	cfg := start.Config()
	switch {
	case cfg.MaxSteps > MaxExplained:
		return nil, fmt.Errorf("max_steps is %d, an episode that is explained has at most %d", cfg.MaxSteps, MaxExplained)
	case len(actions) > cfg.MaxSteps:
		return nil, fmt.Errorf("seed %d: %d actions were recorded, the episode has at most %d steps", seed, len(actions), cfg.MaxSteps)
	}
	for k, action := range actions {
		if action < 0 || action >= cfg.Actions() {
			return nil, &MomentError{seed, k, &flight.ActionError{Action: action, Actions: cfg.Actions()}}
		}
	}
	x, err := newExplainer(start, seed, actions)
	if err != nil {
		return nil, err
	}
	accounts := []Account{}
	for k, action := range actions[:min(len(actions), x.with.Steps)] {
		aircraft, clearance, ok := flight.ParseAction(action)
		if !ok {
			continue
		}
		a := Account{Order: Order{k, aircraft, clearance}, Forbidden: x.given[k] == flight.Idle}
		if !a.Forbidden {
			if a.Effect, err = x.effect(a.Order); err != nil {
				return nil, err
			}
		}
		accounts = append(accounts, a)
	}
	return accounts, nil
}

// explainer flies an episode again and again, each time with another clearance.
type explainer struct {
	start  *flight.Env
	seed   uint64
	given  []int         // an action a step, to the horizon: the clearances that were flown
	with   history       // of given
	states []*flight.Env // states[k] is where step k of the last recorded flight began
	env    *flight.Env   // what flies
	two    *flight.Env   // a sector of two, in which the engine judges a pair
}

// history is a flown episode and what became of its aircraft.
type history struct {
	Episode
	key     Key
	sectors [][]flight.Aircraft // sectors[k] is the sector as step k ended
	refused []int               // steps whose clearance was not legal
	info    flight.Info         // at the end
}

func newExplainer(start *flight.Env, seed uint64, actions []int) (*explainer, error) {
	cfg := start.Config()
	x := &explainer{start: start, seed: seed, env: start.Clone(), given: make([]int, cfg.MaxSteps)}
	copy(x.given, actions)
	for range cfg.MaxSteps {
		x.states = append(x.states, start.Clone())
	}
	pair := flight.DefaultConfig()
	pair.Flights, pair.NLo, pair.NHi = 2, 1, 2
	var err error
	if x.two, err = flight.New(pair); err != nil {
		return nil, err
	}
	asAnswered, err := x.record()
	if err != nil {
		return nil, err
	}
	for _, k := range asAnswered.refused {
		x.given[k] = flight.Idle
	}
	x.with, err = x.record()
	return x, err
}

// record flies given.
func (x *explainer) record() (h history, err error) {
	x.env.CopyFrom(x.start)
	keep := func() {
		sector := make([]flight.Aircraft, x.env.Config().Flights)
		for i := range sector {
			sector[i] = x.env.Aircraft(i)
		}
		h.sectors = append(h.sectors, sector)
	}
	h.Episode, err = fly(x.env, x.seed, func() (int, error) {
		k := x.env.StepCount()
		if k > 0 {
			keep()
		}
		x.states[k].CopyFrom(x.env)
		if !x.env.Legal(x.given[k]) {
			h.refused = append(h.refused, k)
		}
		return x.given[k], nil
	})
	if err != nil {
		return history{}, err
	}
	keep()
	x.env.Info(&h.info)
	h.Actions = nil
	h.key = keyOf(h.Episode)
	return h, nil
}

// keyOf returns the rank key of an episode alone.
func keyOf(e Episode) Key { return NewScore([]Episode{e}).Key() }

// changeTo returns the change from the episode to one with another key.
func (x *explainer) changeTo(k Key) Change {
	w := x.with.key
	return Change{
		Failed: k[0] - w[0], Congestion: k[1] - w[1],
		ExitMiss:   float64(k[2]-w[2]) / (1 / missBucket), // short decimals, as in Unpack
		Clearances: k[3] - w[3], Touched: k[4] - w[4],
	}
}

// effect tells what the clearance o, which was flown, does.
func (x *explainer) effect(o Order) (e Effect, err error) {
	x.given[o.Step] = flight.Idle
	defer func() { x.given[o.Step] = o.Action() }()
	without, err := x.record()
	if err != nil {
		return e, err
	}
	e.Without, e.Cost, e.NeededBy = without.Episode, x.changeTo(without.key), without.refused
	if e.Resolves, err = x.trouble(o.Aircraft, &without, &x.with); err != nil {
		return e, err
	}
	if e.Brings, err = x.trouble(o.Aircraft, &x.with, &without); err != nil {
		return e, err
	}
	e.Alternative, err = x.alternative(o, &without)
	return e, err
}

// trouble returns what goes wrong for an aircraft in one flight and not in the other, in the steps that both have.
func (x *explainer) trouble(aircraft int, in, notIn *history) (t Trouble, err error) {
	for j := range in.sectors[0] {
		if j == aircraft {
			continue
		}
		var run *Loss // the one that the step before belongs to
		for k := range min(in.Steps, notIn.Steps) {
			here, err := x.separation(in.sectors[k][aircraft], in.sectors[k][j])
			if err != nil {
				return t, err
			}
			there, err := x.separation(notIn.sectors[k][aircraft], notIn.sectors[k][j])
			if err != nil {
				return t, err
			}
			switch anyway := there == lost; {
			case here <= there:
				run = nil
			case run != nil && run.Anyway == anyway:
				run.Last, run.MidAir = k, run.MidAir || here == midAir
			default:
				t.Losses = append(t.Losses, Loss{Aircraft: j, First: k, Last: k, MidAir: here == midAir, Anyway: anyway})
				run = &t.Losses[len(t.Losses)-1]
			}
		}
	}
	slices.SortStableFunc(t.Losses, func(a, b Loss) int { return cmp.Compare(a.First, b.First) })
	if in.Completed && notIn.Completed {
		t.Exit = x.exit(aircraft, &in.info, &notIn.info)
	}
	return t, nil
}

// exit returns how an aircraft ends, in the parts that are worse than in the other flight; nil if none is.
func (x *explainer) exit(aircraft int, in, notIn *flight.Info) *Exit {
	worse := func(v, w, unit float64) (float64, float64) {
		if (math.Abs(v)-math.Abs(w))/unit < missBucket {
			return 0, 0
		}
		return v, w
	}
	var e Exit
	e.Levels, e.OtherLevels = worse(in.DAltExit[aircraft], notIn.DAltExit[aircraft], 1)
	e.Seconds, e.OtherSeconds = worse(in.DtExit[aircraft], notIn.DtExit[aircraft], float64(x.start.Config().HoldSteps)*flight.DT)
	if e == (Exit{}) {
		return nil
	}
	return &e
}

// closeness is how close two aircraft are.
type closeness int

const (
	apart closeness = iota
	lost            // separation is
	midAir
)

// separation tells how close two aircraft are, by the engine's rule and its arithmetic.
func (x *explainer) separation(a, b flight.Aircraft) (closeness, error) {
	if math.Abs(a.Level-b.Level) >= flight.VerticalSeparation || math.Abs(a.X-b.X) > flight.SeparationRadius {
		return apart, nil // most pairs
	}
	if err := x.two.ResetTo(flight.Scenario{Aircraft: []flight.Aircraft{a, b}}); err != nil {
		return apart, err
	}
	switch losses, hit := x.two.Separation(); {
	case hit:
		return midAir, nil
	case losses > 0:
		return lost, nil
	}
	return apart, nil
}

// alternative flies every other clearance in the place of o and returns the best one by the rank key; of equals the
// nearest in time, then the one with the lowest action. The states are those of the flight without o.
func (x *explainer) alternative(o Order, without *history) (best *Alternative, err error) {
	var bestKey Key
	for k := range without.Steps {
		if x.given[k] != flight.Idle {
			continue
		}
		for action := 1; action < x.start.Config().Actions(); action++ {
			if action == o.Action() || !x.states[k].Legal(action) { // one that is not legal is not flown
				continue
			}
			ep, drops, err := x.instead(k, action)
			if err != nil {
				return nil, err
			}
			key := keyOf(ep)
			if key.Compare(without.key) >= 0 || x.with.Completed && !ep.Completed {
				continue
			}
			other := Order{Step: k}
			other.Aircraft, other.Clearance, _ = flight.ParseAction(action)
			if best == nil || cmp.Or(key.Compare(bestKey), o.nearer(other, best.Order)) < 0 {
				best, bestKey = &Alternative{other, ep, x.changeTo(key), drops}, key
			}
		}
	}
	return best, nil
}

// nearer orders what could be said instead: first what is nearer in time to o, then by action.
func (o Order) nearer(a, b Order) int {
	away := func(x Order) int { return max(x.Step-o.Step, o.Step-x.Step) }
	return cmp.Or(cmp.Compare(away(a), away(b)), cmp.Compare(a.Action(), b.Action()))
}

// instead flies given with another action in step k, from the state there, and returns which later clearances were not
// legal.
func (x *explainer) instead(k, action int) (ep Episode, refused []int, err error) {
	x.env.CopyFrom(x.states[k])
	ep, err = fly(x.env, x.seed, func() (int, error) {
		t := x.env.StepCount()
		if t == k {
			return action, nil
		}
		if !x.env.Legal(x.given[t]) {
			refused = append(refused, t)
		}
		return x.given[t], nil
	})
	ep.Actions = nil
	return ep, refused, err
}
