package rail

import (
	"fmt"
	"slices"

	"skyrail/numpyrand"
)

// Env is one railway with its trains: a deterministic function of a scenario, its effects, a seed and the actions
// given. It is not safe for concurrent use; run one Env an episode at a time.
//
// After [New] call [Env.Step] until [Env.AllDone] says that the episode is over.
type Env struct {
	scenario    *Scenario // never changed once here
	net         *Network
	plan        *plan
	levelFree   []bool // by cell; nil if there is none
	accelerate  Delta
	brake       Delta
	rng         numpyrand.RandomState
	seed        Seed
	effects     []Effect
	trains      []train
	elapsed     int
	resets      int
	allDone     bool
	distances   []*Distances    // by target of the plan, nil until asked for
	finder      *DistanceFinder // nil until distances are asked for
	functions   []Rewards
	rewards     [][]float64 // of the last step, by function: for each train its values
	book        book
	punctuality punctualityBook

	motion motion // scratch of a step
	waits  *waits // scratch of Deadlocked, nil until it is asked for
}

// train is the state of one train. The first fields are those every step touches.
type train struct {
	node, old, initial Node
	state, previous    State
	next               State // of the last step, before a target was reached
	done, entered      bool  // entered: the train crossed into its cell in the last step (is_cell_entry)
	action             Action
	valid              bool // the independent move is
	malfunction        int  // steps left, counted down at the end of each
	malfunctions       int
	speed, distance    Fraction
	maxSpeed           Fraction
	wanted             velocity
	speedBefore        Fraction
	wantedNode         Node
	earliest, latest   int
	target             Node // the first of its cell
	arrival            int  // -1: none yet
	signals            Signals
}

// Seed tells where the stream of an environment comes from.
type Seed struct {
	Value   uint64
	Given   bool     // false: the environment was never seeded, as after loading an old file
	History []uint64 // every seed that differs from the one before
}

func (s *Seed) set(v uint64) {
	if !s.Given || s.Value != v {
		s.History = append(slices.Clip(s.History), v)
	}
	s.Value, s.Given = v, true
}

// Options are what an environment is run with besides its scenario.
type Options struct {
	// Seed of the environment's stream.
	Seed uint64
	// Effects happen in this order. The environment works on copies.
	Effects []Effect
	// Rewards are computed in every step; none means DefaultRewards alone.
	Rewards []Rewards
}

// New returns an environment at the start of an episode. The scenario must not be changed afterwards. It is an error
// if the scenario or an effect is not one that can run.
func New(s *Scenario, o Options) (*Env, error) {
	net, err := NewNetwork(s.Width, s.Height, s.Grid)
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	e := &Env{net: net, rng: numpyrand.NewHashedRandomState(o.Seed)}
	e.seed.set(o.Seed)
	if err := e.SetEffects(o.Effects); err != nil {
		return nil, err
	}
	e.take(s)
	e.SetRewards(o.Rewards...)
	e.begin()
	return e, nil
}

// SetEffects replaces the effects with copies of these.
func (e *Env) SetEffects(effects []Effect) error {
	copies := make([]Effect, len(effects))
	for i, f := range effects {
		if err := f.checkOn(e.net); err != nil {
			return fmt.Errorf("effect %d: %w", i, err)
		}
		copies[i] = f.clone()
	}
	e.effects = copies
	return nil
}

// take puts the trains of a scenario into the environment, as new ones.
func (e *Env) take(s *Scenario) {
	e.scenario = s
	e.plan = newPlan(s, e.net)
	e.accelerate, e.brake = s.Acceleration.orDefault(1), s.Braking.orDefault(-1)
	e.setLevelFree(s.LevelFree)
	e.trains = make([]train, len(s.Trains))
	for i := range e.trains {
		t := &s.Trains[i]
		e.trains[i] = train{
			initial: e.net.Node(t.Initial), maxSpeed: t.MaxSpeed, speed: t.MaxSpeed, entered: true,
			earliest: t.EarliestDeparture, latest: t.LatestArrival,
			target: e.net.Node(Configuration{t.Target, North}),
		}
	}
	e.distances = make([]*Distances, len(e.plan.targets))
	e.motion, e.waits = newMotion(e.net, len(e.trains)), nil
	e.book = newBook(e.plan)
	e.punctuality = punctualityBook{}
}

func (e *Env) setLevelFree(cells []Cell) {
	e.levelFree = nil
	if len(cells) > 0 {
		e.levelFree = make([]bool, e.net.width*e.net.height)
	}
	for _, c := range cells {
		e.levelFree[c.Row*e.net.width+c.Col] = true
	}
}

// begin puts every train before its start.
func (e *Env) begin() {
	for i := range e.trains {
		t := &e.trains[i]
		t.node, t.old, t.arrival = NoNode, NoNode, -1
		t.malfunction, t.malfunctions = 0, 0
		t.distance = Fraction{}
		t.state, t.previous, t.next = Waiting, NoState, NoState
		t.signals = Signals{}
		t.done = false
	}
	e.elapsed, e.allDone = 0, false
}

// Reset puts the trains back to their start and begins another episode, as the reference's
// reset(regenerate_rail=False, regenerate_schedule=False) does. With a seed the stream begins anew, without it goes on.
//
// quirk: every train keeps the speed it had last, the effects keep their random numbers and counters even under a new
// seed, the bookkeeping of rewards goes on (see [Env.ForgetVisits]), and bridges become ordinary crossings.
func (e *Env) Reset(seed *uint64) {
	e.reseed(seed)
	s := *e.scenario
	s.LevelFree = nil
	e.scenario = &s
	e.setLevelFree(nil)
	e.begin()
	e.resets++
}

// Reload begins another episode as the reference's reset() does after loading a file: rails, line and timetable come
// from the trains as they are.
//
// quirk: the speed a train has at that moment becomes its maximum speed, the bridges are lost, and an environment
// without a limit gets one of 100 steps. Otherwise as [Env.Reset].
func (e *Env) Reload(seed *uint64) {
	e.reseed(seed)
	s := *e.scenario
	s.Trains = slices.Clone(s.Trains)
	for i := range s.Trains {
		s.Trains[i].MaxSpeed = e.trains[i].speed
	}
	s.LevelFree = nil
	if s.MaxEpisodeSteps == 0 {
		s.MaxEpisodeSteps = 100
	}
	visits, seen := e.book, e.punctuality
	e.take(&s)
	e.book, e.punctuality = visits, seen
	e.begin()
	e.resets++
}

func (e *Env) reseed(seed *uint64) {
	if seed != nil {
		e.rng = numpyrand.NewHashedRandomState(*seed)
		e.seed.set(*seed)
	}
}

// Clone returns an independent copy: same state, same stream, same future. What never changes is shared.
func (e *Env) Clone() *Env {
	c := *e
	c.effects = make([]Effect, len(e.effects))
	for i, f := range e.effects {
		c.effects[i] = f.clone()
	}
	c.seed.History = slices.Clip(e.seed.History)
	c.trains = slices.Clone(e.trains)
	c.distances = slices.Clone(e.distances)
	c.rewards = make([][]float64, len(e.rewards))
	for i, r := range e.rewards {
		c.rewards[i] = slices.Clone(r)
	}
	c.functions = slices.Clone(e.functions)
	c.book = e.book.clone()
	c.punctuality = e.punctuality.clone()
	c.motion, c.waits = newMotion(e.net, len(e.trains)), nil
	return &c
}

// CopyFrom makes e a copy of another environment, as Clone does. If both have the same tracks and timetables it takes
// over the memory that e has, and allocates little.
func (e *Env) CopyFrom(o *Env) {
	if e == o {
		return
	}
	if e.net != o.net || e.plan != o.plan {
		shared := *e
		*e = *o.Clone()
		e.Share(&shared)
		return
	}
	was := *e
	*e = *o
	e.effects = was.effects[:0]
	for _, f := range o.effects {
		e.effects = append(e.effects, f.clone())
	}
	e.seed.History = slices.Clip(o.seed.History)
	e.trains = append(was.trains[:0], o.trains...)
	e.distances = append(was.distances[:0], o.distances...)
	e.functions = append(was.functions[:0], o.functions...)
	e.rewards = was.rewards[:0]
	for k, r := range o.rewards {
		var room []float64
		if k < len(was.rewards) {
			room = was.rewards[k][:0]
		}
		e.rewards = append(e.rewards, append(room, r...))
	}
	e.book = was.book
	e.book.copyFrom(&o.book)
	e.punctuality = o.punctuality.clone()
	e.motion, e.waits = was.motion, was.waits
}

// Share takes over what another environment has worked out, if both have the same tracks, and more if also their trains
// have the same timetables. It changes nothing but the time and the memory that is needed.
func (e *Env) Share(o *Env) {
	if e.net != o.net && (e.net.width != o.net.width || !slices.Equal(e.net.grid, o.net.grid)) {
		return
	}
	e.net, e.finder = o.net, o.finder
	if e.plan != o.plan && !slices.EqualFunc(e.scenario.Trains, o.scenario.Trains, func(t, u Train) bool {
		return t.Target == u.Target && slices.EqualFunc(t.Stops, u.Stops, Stop.equal)
	}) {
		return
	}
	e.plan, e.distances = o.plan, slices.Clone(o.distances)
}

// Scenario is what the environment runs. It must not be changed. After a reset it is another one.
func (e *Env) Scenario() *Scenario { return e.scenario }

// Network is the scenario's grid.
func (e *Env) Network() *Network { return e.net }

// Trains is the number of trains; their handles are 0 to Trains()-1.
func (e *Env) Trains() int { return len(e.trains) }

// Elapsed is the number of steps since the reset.
func (e *Env) Elapsed() int { return e.elapsed }

// Resets is the number of resets since the environment was made.
func (e *Env) Resets() int { return e.resets }

// MaxEpisodeSteps is the limit of an episode, 0 if there is none.
func (e *Env) MaxEpisodeSteps() int { return e.scenario.MaxEpisodeSteps }

// AllDone says whether the episode is over.
func (e *Env) AllDone() bool { return e.allDone }

// Done is a train's done flag: it has arrived, or the episode is over.
func (e *Env) Done(i int) bool { return e.trains[i].done }

// State of a train.
func (e *Env) State(i int) State { return e.trains[i].state }

// Node is the configuration of a train, NoNode if it is not on the map.
func (e *Env) Node(i int) Node { return e.trains[i].node }

// Initial is the configuration in which a train enters.
func (e *Env) Initial(i int) Node { return e.trains[i].initial }

// Configuration of a train; ok is false if it is not on the map.
func (e *Env) Configuration(i int) (c Configuration, ok bool) {
	if e.trains[i].node == NoNode {
		return Configuration{}, false
	}
	return e.net.Configuration(e.trains[i].node), true
}

// Speed of a train in cells per step. A train off the map keeps its speed.
func (e *Env) Speed(i int) Fraction { return e.trains[i].speed }

// MaxSpeed of a train in cells per step.
func (e *Env) MaxSpeed(i int) Fraction { return e.trains[i].maxSpeed }

// Travelled is the part of its cell that a train has travelled, at least 0 and below 1.
func (e *Env) Travelled(i int) Fraction { return e.trains[i].distance }

// Malfunction is a train's malfunction counter.
//
// quirk: it shows 0 one step before the train recovers.
func (e *Env) Malfunction(i int) int { return e.trains[i].malfunction }

// Malfunctions is how often a train broke down in this episode.
func (e *Env) Malfunctions(i int) int { return e.trains[i].malfunctions }

// Arrival is the step in which a train arrived; ok is false if it has not.
func (e *Env) Arrival(i int) (step int, ok bool) {
	return e.trains[i].arrival, e.trains[i].arrival >= 0
}

// ActionRequired says whether the train's action may matter in the next step (info's action_required).
func (e *Env) ActionRequired(i int) bool {
	t := &e.trains[i]
	return t.state == ReadyToDepart || t.state.OnMap() && reachOne(&t.distance, &t.maxSpeed)
}

// AtTarget says whether a configuration is one of a train's target.
func (e *Env) AtTarget(i int, n Node) bool { return n != NoNode && e.isTarget(&e.trains[i], n) }

func (e *Env) isTarget(t *train, n Node) bool { return n>>2 == t.target>>2 && e.net.rank[n] >= 0 }

// LevelFree says whether a cell is a bridge now.
func (e *Env) LevelFree(c Cell) bool {
	return e.levelFree != nil && e.net.Inside(c) && e.levelFree[c.Row*e.net.width+c.Col]
}

// Seed tells where the environment's stream comes from.
func (e *Env) Seed() Seed { return e.seed }

// Stream is a copy of the environment's random stream.
func (e *Env) Stream() numpyrand.RandomState { return e.rng }

// SetStream makes the environment draw from another stream from now on; seed tells where that comes from.
func (e *Env) SetStream(stream numpyrand.RandomState, seed Seed) { e.rng, e.seed = stream, seed }

// Effects are copies of the environment's effects, with their state.
func (e *Env) Effects() []Effect {
	copies := make([]Effect, len(e.effects))
	for i, f := range e.effects {
		copies[i] = f.clone()
	}
	return copies
}
