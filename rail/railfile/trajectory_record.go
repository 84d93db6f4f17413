package railfile

import (
	"skyrail/rail"
)

// Recorder writes what happens in an environment as a trajectory, with the bytes that flatland-rl 4.2.5 writes for the
// same run. After each [rail.Env.Step] call [Recorder.Step]; before it [Recorder.Action] for every train that was told
// something. At the end [Recorder.Finish] writes the result, and [TrajectoryWriter.Commit] puts the tables into their
// places. Who verifies the run also needs the environment it began with: see [SaveEnvironment] and [EnvironmentFile].
type Recorder struct {
	w        *TrajectoryWriter
	env      *rail.Env
	episode  string
	function int
	rewards  rail.Rewards
	whole    bool // the factors are whole numbers

	before []rail.State // of each train before the step
	at     []rail.Node
	stands [][]standing // of each train, by intermediate stop and alternative; of rewards of components alone

	tally *rail.Tally
}

// standing is what a train did at one place of a stop.
type standing struct {
	stop     int
	node     rail.Node
	departs  int // not before
	arrived  bool
	stood    bool
	punctual bool // it left, and not too early
}

// NewRecorder records an episode of an environment as it is now. function is the reward function, by its index in
// [rail.Env.RewardFunctions], whose rewards are written.
//
// In the reference a reward prints as 0 or as 0.0 by the arithmetic that led to it. The components are written as if made
// with BaseDefaultRewards(), whose factors are partly whole, if they are the default ones, and otherwise, as all other
// rewards, as if every factor were a float.
func NewRecorder(w *TrajectoryWriter, env *rail.Env, episode string, function int) *Recorder {
	r := &Recorder{w: w, env: env, episode: episode, function: function, rewards: env.RewardFunctions()[function]}
	r.whole = r.rewards.Kind == rail.ComponentReward && r.rewards.Factors == rail.DefaultFactors()
	n := env.Trains()
	r.before, r.at, r.tally = make([]rail.State, n), make([]rail.Node, n), rail.NewTally(env, function)
	for i := range n {
		r.before[i], r.at[i] = env.State(i), env.Node(i)
	}
	if r.rewards.Kind == rail.ComponentReward {
		r.stands = make([][]standing, n)
		for i := range n {
			for k, stop := range env.Scenario().Trains[i].Intermediate() {
				for _, a := range stop.Alternatives {
					if node := env.Network().Node(a); node != rail.NoNode {
						r.stands[i] = append(r.stands[i], standing{stop: k, node: node, departs: stop.EarliestDeparture.Step})
					}
				}
			}
		}
	}
	return r
}

// Action writes what a train is told to do in the next step.
func (r *Recorder) Action(train int, a rail.Action) error {
	return r.w.Action(ActionRow{Episode: r.episode, Time: r.env.Elapsed(), Agent: train, Action: a})
}

// Step writes the positions, rewards, done flags and infos after a step.
func (r *Recorder) Step() error {
	now := r.env.Elapsed()
	for i := range r.before {
		at, ok := r.env.Configuration(i)
		if !ok {
			at = rail.Nowhere
		}
		if err := r.w.Position(PositionRow{Episode: r.episode, Time: now, Agent: i, At: at}); err != nil {
			return err
		}
		r.visit(i)
		row := RewardRow{
			Episode: r.episode, Time: now, Agent: i, Reward: r.reward(i), Done: r.env.Done(i),
			Info: Info{r.env.ActionRequired(i), r.env.Malfunction(i), r.env.Speed(i), r.env.State(i)},
		}
		if err := r.w.Reward(row); err != nil {
			return err
		}
	}
	for i := range r.before {
		r.before[i], r.at[i] = r.env.State(i), r.env.Node(i)
	}
	r.tally.Add(r.env.Rewards(r.function))
	return nil
}

// Finish writes the result, if the episode has come to its end. The tables are then to be committed.
func (r *Recorder) Finish() error {
	if !r.env.AllDone() {
		return nil
	}
	n, done := len(r.before), 0
	for _, s := range r.before {
		if s == rail.Done {
			done++
		}
	}
	row := ArrivedRow{Episode: r.episode, Time: r.env.Elapsed() - 1, SuccessRate: Decimal(float64(done) / float64(n))}
	v, ok := r.tally.Normalized()
	row.Normalized, row.Given = Decimal(v), ok
	return r.w.Arrived(row)
}

// reward is a train's reward of the step.
func (r *Recorder) reward(i int) Reward {
	width := r.rewards.Width()
	v := r.env.Rewards(r.function)[width*i : width*i+width]
	switch r.rewards.Kind {
	case rail.ComponentReward:
		decimal := r.components(i, v)
		var values [rail.Components]Number
		for k := range values {
			values[k] = Number{v[k], !decimal[k]}
		}
		return NewComponentReward(values)
	case rail.MultiObjectiveReward:
		return NewTupleReward(Number{v[0], !r.decimal(i, v[0])}, Decimal(v[1]), Decimal(v[2]))
	case rail.PunctualityReward:
		return NewTupleReward(Number{v[0], true}, Number{v[1], true})
	}
	return NewNumberReward(Number{v[0], !r.decimal(i, v[0])})
}

func (r *Recorder) braked(i int) bool {
	return r.before[i] == rail.Moving && r.env.State(i) == rail.Stopped
}

// last says whether the step gave a train the part of its reward that it gets once.
func (r *Recorder) last(i int) bool {
	if r.env.State(i) == rail.Done {
		return r.before[i] != rail.Done
	}
	return r.env.AllDone()
}

// decimal says whether the sum of the components is a float in the reference, which it is if one of them is.
func (r *Recorder) decimal(i int, sum float64) bool {
	s := r.env.State(i)
	switch {
	case r.braked(i):
		return true
	case !r.last(i):
		return false
	}
	return len(r.env.Scenario().Trains[i].Intermediate()) > 0 || s.OffMap() || s.OnMap() && r.atLeast(sum)
}

// atLeast says whether a train that did not reach its target has the least penalty, a factor, and not its delay, which
// is whole.
func (r *Recorder) atLeast(notReached float64) bool {
	return !r.whole && notReached >= -r.rewards.Factors.TargetNotReachedMinimumPenalty
}

// components says which components are floats in the reference.
func (r *Recorder) components(i int, v []float64) (decimal [rail.Components]bool) {
	decimal[rail.Collision] = r.braked(i)
	if !r.last(i) {
		return decimal
	}
	s := r.env.State(i)
	decimal[rail.Cancellation] = s.OffMap() && !r.whole
	decimal[rail.TargetNotReached] = s.OnMap() && r.atLeast(v[rail.TargetNotReached])
	decimal[rail.IntermediateEarlyDeparture] = v[rail.IntermediateEarlyDeparture] != 0
	for k := range r.env.Scenario().Trains[i].Intermediate() {
		visited, served, punctual := false, false, false
		for _, at := range r.stands[i] {
			if at.stop != k || !at.arrived {
				continue
			}
			if !visited {
				visited, served = true, at.stood
			}
			punctual = punctual || at.punctual
		}
		switch {
		case !served:
			decimal[rail.IntermediateNotServed] = !r.whole
		default:
			decimal[rail.IntermediateLateArrival] = true
			// A train that still stands where it stopped has not left too early by a whole 0 steps.
			decimal[rail.IntermediateEarlyDeparture] = decimal[rail.IntermediateEarlyDeparture] || punctual
		}
	}
	return decimal
}

// visit notes where a train came to and what it left, as the reference does for its rewards.
func (r *Recorder) visit(i int) {
	if r.stands == nil {
		return
	}
	was, is := r.at[i], r.env.Node(i)
	for k := range r.stands[i] {
		at := &r.stands[i][k]
		if at.node == was && is != was && r.env.Elapsed() >= at.departs {
			at.punctual = true
		}
		if at.node == is {
			at.arrived = at.arrived || is != was
			at.stood = at.stood || r.env.State(i) == rail.Stopped
		}
	}
}

// WriteTrajectory writes all rows of a trajectory into a directory, as [CreateTrajectory] and its writer do.
func WriteTrajectory(dir string, t *Trajectory) error {
	w, err := CreateTrajectory(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, r := range t.Actions {
		w.Action(r)
	}
	for _, r := range t.Positions {
		w.Position(r)
	}
	for _, r := range t.Rewards {
		w.Reward(r)
	}
	for _, r := range t.Arrived {
		w.Arrived(r)
	}
	return w.Commit()
}
