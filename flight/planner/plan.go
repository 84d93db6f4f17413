package planner

import (
	"cmp"
	"slices"
	"time"

	"skyrail/flight"
	"skyrail/flight/agent"
)

// Plan is what to do from a state on.
type Plan struct {
	Start   int     // steps flown before it
	Actions []int   // one a step from there, up to the end of the episode or 64 of them
	Outcome Outcome // of the episode after these

	// Least is what no plan from Start on does better than; see [agent.Bound]. Known says whether that is known.
	Least agent.Bound
	Known bool

	Nodes int // candidate plans looked at
}

// Outcome is what actions come to.
type Outcome struct {
	Steps      int  // flown since the reset
	MidAir     bool // the last of them ended in one
	Congestion int  // losses of separation, in all
	ExitMiss   float64
	Clearances int
	Touched    int // aircraft that were given one
	Invalids   int
}

// Solver makes plans. It keeps its memory from one plan to the next. It is not safe for concurrent use.
type Solver struct {
	search search
	env    *flight.Env
	info   flight.Info
}

// Evaluate returns what actions come to from the state of env, which stays as it is: the figures of the episode after
// the last of them, or after the one that ends it. It does not allocate, but the first time. The error is a
// flight.ActionError.
func (s *Solver) Evaluate(env *flight.Env, actions []int) (Outcome, error) {
	if s.env == nil {
		s.env = env.Clone()
	}
	s.env.CopyFrom(env)
	status := s.env.Status()
	for _, action := range actions {
		if status.Over() {
			break
		}
		var err error
		if status, err = s.env.Advance(action); err != nil {
			return Outcome{}, err
		}
	}
	s.env.Info(&s.info)
	i := &s.info
	return Outcome{
		Steps: s.env.StepCount(), MidAir: i.Collided, Congestion: i.CongestionTotal, ExitMiss: i.ExitMiss,
		Clearances: i.Clearances, Touched: i.AircraftInvolved, Invalids: i.Invalids,
	}, nil
}

// Solve returns the best plan from the state of env, which stays as it is, that it finds within the budget. Of an
// episode that is over it has no actions.
func (s *Solver) Solve(env *flight.Env, b Budget) Plan {
	p := Plan{Start: env.StepCount()}
	if env.StepCount() < env.Config().MaxSteps && !env.Status().Over() {
		s.think(env, b, &p)
	}
	var err error
	if p.Outcome, err = s.Evaluate(env, p.Actions); err != nil {
		panic(err) // plans are made of actions
	}
	return p
}

// think looks for the actions, and for what bounds them.
func (s *Solver) think(env *flight.Env, b Budget, p *Plan) {
	q := &s.search
	q.deadline, q.done, q.expired = time.Time{}, b.Done, false
	if b.Time <= 0 {
		q.think(env, b.Nodes)
		p.of(q)
		p.boundBy(q)
		p.Nodes = q.nodes
		return
	}
	// How many nodes there is time for is not known beforehand: more and more, until the time is up. The first plan is
	// made whatever the time: a process that has to wait for its turn would have none.
	end := time.Now().Add(b.Time)
	best := merit{midAir: never}
	for nodes := firstNodes; ; nodes = min(2*nodes, MaxNodes) {
		q.think(env, nodes)
		q.deadline = end
		p.Nodes += q.nodes
		if q.merit.compare(best) < 0 {
			best = q.merit
			p.of(q)
		}
		p.boundBy(q)
		if q.proven() || q.expired || q.nodes < nodes || time.Now().After(end) {
			return
		}
	}
}

// firstNodes are those of the first plan within a time: it takes some milliseconds.
const firstNodes = 5000

// of takes the plan that was found.
func (p *Plan) of(q *search) {
	p.Actions = slices.Repeat([]int{flight.Idle}, q.window.steps)
	for _, c := range q.best {
		p.Actions[c.step] = flight.Action(int(c.aircraft), c.clearance)
	}
}

// boundBy takes the bound that was found, in the episode's figures, unless it has a better one.
func (p *Plan) boundBy(q *search) {
	b := agent.Bound{
		Congestion: q.before.CongestionTotal + q.sureOf.losses,
		Clearances: q.before.Clearances + q.sureOf.clearances,
	}
	if !q.known || p.Known && cmp.Or(p.Least.Congestion-b.Congestion, p.Least.Clearances-b.Clearances) >= 0 {
		return
	}
	p.Least, p.Known = b, true
}
