package picture

import (
	"fmt"
	"math"
	"strings"

	"skyrail/flight"
	"skyrail/internal/drawing"
)

// Film is one flown episode, ready to draw: every moment from the reset to the end. It shares nothing with
// the environment that flew it. The zero Film holds no moment and cannot be drawn.
type Film struct {
	title    string
	seed     uint64
	cfg      flight.Config
	scenario flight.Scenario // its aircraft are those of step 0
	moments  []moment        // moments[k] is the sector after k steps
}

// MaxSteps is what a film may hold. The ranked scenario has 50 steps; an animation of the longest film takes half a
// minute.
const MaxSteps = 200

// moment is the sector after a step: what a panel shows.
type moment struct {
	step       int
	craft      []craft
	losses     []loss // pairs that have lost separation, in the order of pairs
	order      order  // what was told in this step
	events     int    // the engine's count of this step's losses; 0 at step 0, where nothing is counted
	congestion int    // their sum so far
	clearances int    // so far
	exitMiss   float64
	midAir     bool
	state      state
}

// craft is an aircraft as it flies at a moment.
type craft struct {
	flight.Aircraft
	entryLevel, entrySpeed float64
	converging             bool
}

// order is the action of a step. An idle step has none.
type order struct {
	given     bool
	refused   bool // the mask forbade it: counted, not flown
	aircraft  int
	clearance flight.Clearance
}

// state is where an episode stands at a moment.
type state int

const (
	flying state = iota
	midAir
	completed
	budgetSpent
)

var stateNames = [...]string{"flying", "mid-air", "completed", "budget spent"}

func (s state) String() string { return stateNames[s] }

// Record flies the episode of seed again with the recorded actions, one a step, and keeps each moment. When
// the actions run out it idles to the end, and those after the end are not flown, as a score does it. title
// names the film, usually the agent.
//
// The error is about cfg, about a title that cannot be drawn, about more actions or steps than the episode or
// a film can have, or wraps a [flight.ActionError] with the step whose action is outside the action space.
func Record(cfg flight.Config, seed uint64, actions []int, title string) (Film, error) {
	env, err := flight.New(cfg)
	if err != nil {
		return Film{}, fmt.Errorf("film of seed %d: %w", seed, err)
	}
	if err := checkFilm(cfg, actions, title); err != nil {
		return Film{}, fmt.Errorf("film of seed %d: %w", seed, err)
	}
	env.Reset(seed)
	f := Film{title: title, seed: seed, cfg: cfg, scenario: env.Scenario()}
	f.keep(env, order{})
	for !env.Status().Over() {
		action := flight.Idle
		if k := env.StepCount(); k < len(actions) {
			action = actions[k]
		}
		var o order
		o.aircraft, o.clearance, o.given = flight.ParseAction(action)
		o.refused = !env.Legal(action)
		if _, err := env.Advance(action); err != nil {
			return Film{}, fmt.Errorf("film of seed %d, step %d: %w", seed, env.StepCount(), err)
		}
		f.keep(env, o)
	}
	return f, nil
}

func checkFilm(cfg flight.Config, actions []int, title string) error {
	switch {
	case cfg.MaxSteps > MaxSteps:
		return fmt.Errorf("max_steps is %d, a film holds at most %d", cfg.MaxSteps, MaxSteps)
	case len(actions) > cfg.MaxSteps:
		return fmt.Errorf("%d actions were recorded, the episode has at most %d steps", len(actions), cfg.MaxSteps)
	}
	if err := drawing.CheckTitle(title); err != nil {
		return err
	}
	for k, a := range actions {
		if a < 0 || a >= cfg.Actions() {
			return fmt.Errorf("step %d: %w", k, &flight.ActionError{Action: a, Actions: cfg.Actions()})
		}
	}
	return nil
}

// keep adds the moment that env stands at.
func (f *Film) keep(env *flight.Env, o order) {
	var info flight.Info
	env.Info(&info)
	m := moment{
		step: env.StepCount(), craft: make([]craft, f.cfg.Flights), order: o,
		events: info.CongestionEvents, congestion: info.CongestionTotal, clearances: info.Clearances,
		exitMiss: info.ExitMiss, midAir: info.Collided,
	}
	for i := range m.craft {
		p := env.Progress(i)
		m.craft[i] = craft{env.Aircraft(i), p.EntryLevel, p.EntrySpeed, i < info.N}
	}
	m.losses = losses(m.craft)
	switch status := env.Status(); {
	case m.step >= f.cfg.MaxSteps: // a mid-air or a spent budget exactly here is no failure
		m.state = completed
	case status.Terminated:
		m.state = midAir
	case status.Truncated:
		m.state = budgetSpent
	}
	f.moments = append(f.moments, m)
}

// last returns the step at which the episode ended.
func (f *Film) last() int { return len(f.moments) - 1 }

// at returns the moment after k steps, or the last one if the episode had ended by then.
func (f *Film) at(k int) *moment { return &f.moments[min(k, f.last())] }

// outcome tells the end of the episode in a line.
func (f *Film) outcome() string {
	m := f.at(f.last())
	end := m.state.String()
	switch {
	case m.state == completed && m.midAir:
		end += ", mid-air at the last step"
	case m.state != completed:
		end += fmt.Sprintf(" at step %d", m.step)
	}
	return strings.Join([]string{
		end, fmt.Sprintf("congestion %d", m.congestion), fmt.Sprintf("exit miss %.2f", m.exitMiss),
		count(m.clearances, "clearance"),
	}, dot)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// inside reports whether the aircraft is in the sector, whose border does not belong to it.
func (c *craft) inside() bool {
	return max(math.Abs(c.X), math.Abs(c.Y)) < flight.SectorHalfWidth
}

// levelsOff returns how many levels the aircraft is above the one it entered at.
func (c *craft) levelsOff() float64 { return (c.Level - c.entryLevel) / flight.LevelStep }
