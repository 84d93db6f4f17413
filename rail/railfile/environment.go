package railfile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"skyrail/internal/pyvalue"
	"skyrail/numpyrand"
	"skyrail/rail"
)

// Environment is what an environment file holds: the scenario and the state in which it was saved. Files of every age
// are read, pickles and MessagePack alike, and the JSON of scenes; see docs/rail-files.md.
type Environment struct {
	Scenario *rail.Scenario
	State    rail.Snapshot
	// HasStream says whether the file has a random stream. Old ones have none, and the reference then takes one that
	// nobody knows: such an episode can only be repeated after a reset with a seed.
	HasStream bool
	// Malfunction is the file's malfunction entry, 0 if it has none. The effects of State say what happens.
	Malfunction rail.MalfunctionParameters
	// Container is the format: "pickle", "msgpack" or "json".
	Container string
	// Scene is what the JSON of a scene holds, nil of other files. Such a file has no state, no random stream and no
	// malfunctions: its environment is a fresh one.
	Scene *Scene
	// Legacy says that the file is of an age before timetables (1.x and 2.x).
	Legacy bool
	// Surplus are times of trains whose file has more times than stops. Nothing looks at them, and SaveEnvironment does
	// not write them.
	Surplus map[int]Surplus
	// Episode is what a legacy evaluator added, nil if it did not. SaveEnvironment does not write it.
	Episode *RecordedEpisode
}

// Surplus are the times beyond a train's last stop.
type Surplus struct{ EarliestDeparture, LatestArrival []rail.Time }

// RecordedEpisode is an episode as the legacy evaluator saved it.
type RecordedEpisode struct {
	// Positions are, after each step and for each train, where it was, its malfunction counter and its state.
	Positions [][]RecordedTrain
	// Actions are what was given to each step, by handle.
	Actions []map[int]rail.Action
}

// RecordedTrain is a train in a RecordedEpisode.
type RecordedTrain struct {
	Configuration rail.Configuration // rail.Nowhere off the map
	Malfunction   int
	State         rail.State
}

// ErrNoStream is the error of opening an environment that draws random numbers but whose file has no stream.
var ErrNoStream = errors.New("the file has malfunctions but no random state, so what happens is not known: give a seed")

// ReadEnvironment reads an environment file. The format is decided by the content, nothing is executed, and errors name
// the place in the file, such as agents[3].speed_counter. It is a [NotEnvironmentError] if the file is another one of
// Flatland's.
func ReadEnvironment(data []byte) (*Environment, error) {
	if isJSON(data) {
		return readSceneEnvironment(data)
	}
	value, err := pyvalue.Decode(data, pyvalue.Options{Globals: globals})
	if err != nil {
		return nil, err
	}
	f := &Environment{Container: pyvalue.Detect(data).String()}
	if err := f.read(at(value)); err != nil {
		return nil, err
	}
	return f, nil
}

// isJSON says whether the first byte after blanks begins a JSON object, as it can no pickle and no MessagePack map.
func isJSON(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
}

// readSceneEnvironment makes a fresh environment of the JSON of a scene.
func readSceneEnvironment(data []byte) (*Environment, error) {
	scene, err := ReadScene(bytes.NewReader(data))
	if err != nil {
		if _, other := ReadMetadata(bytes.NewReader(data)); other == nil {
			err = &NotEnvironmentError{Is: "metadata of scenarios"}
		}
		return nil, err
	}
	s, err := scene.Scenario()
	if err != nil {
		return nil, err
	}
	e, err := rail.New(s, rail.Options{})
	if err != nil {
		return nil, err
	}
	f := &Environment{Scenario: s, State: e.Snapshot(), Container: "json", Scene: scene}
	f.State.Seed = rail.Seed{}
	return f, nil
}

// Open returns an environment in the state of the file, with the given reward functions. If seed is not nil it is then
// reset with it, as the reference's reset(random_seed=seed) does; see [rail.Env.Reload] for what that changes.
func (f *Environment) Open(seed *uint64, rewards ...rail.Rewards) (*rail.Env, error) {
	if seed == nil && f.NeedsSeed() {
		return nil, ErrNoStream
	}
	e, err := rail.New(f.Scenario, rail.Options{Rewards: rewards})
	if err != nil {
		return nil, err
	}
	if err := e.Restore(f.State); err != nil {
		return nil, err
	}
	if seed != nil {
		e.Reload(seed)
	}
	return e, nil
}

// NeedsReset says whether trains stand on the map before their start, as in the oldest files. Such an environment has to
// be reset before its first step.
func (f *Environment) NeedsReset() bool {
	return slices.ContainsFunc(f.State.Trains, func(t rail.TrainState) bool { return t.State.OffMap() && t.Configuration != rail.Nowhere })
}

// NeedsSeed says whether what happens depends on random numbers of which the file has no state.
func (f *Environment) NeedsSeed() bool {
	if f.HasStream {
		return false
	}
	for _, effect := range f.State.Effects {
		switch effect := effect.(type) {
		case *rail.Breakdowns:
			if effect.Rate > 0 {
				return true
			}
		case *rail.TrackClosures: // they draw nothing
		default:
			return true
		}
	}
	return false
}

// SaveEnvironment returns the file of an environment as flatland-rl 4.2.5 loads it: a pickle of protocol 4. It is an error
// if the environment has an effect that has no form in a file.
func SaveEnvironment(e *rail.Env) ([]byte, error) {
	value, err := environmentValue(e)
	if err != nil {
		return nil, err
	}
	return pyvalue.EncodePickle(value)
}

// The classes of an environment file.
var (
	agentClass        = pyvalue.ClassOf("flatland.envs.agent_utils Agent")
	agentStatusClass  = pyvalue.ClassOf("flatland.envs.agent_utils RailAgentStatus")
	malfunctionClass  = pyvalue.ClassOf("flatland.envs.malfunction_generators MalfunctionProcessData")
	oldMalfunction    = pyvalue.ClassOf("flatland.envs.malfunction_generators MalfunctionParameters")
	waypointClass     = pyvalue.ClassOf("flatland.envs.rail_trainrun_data_structures Waypoint")
	speedCounterClass = pyvalue.ClassOf("flatland.envs.step_utils.speed_counter SpeedCounter")
	actionSaverClass  = pyvalue.ClassOf("flatland.envs.step_utils.action_saver ActionSaver")
	machineClass      = pyvalue.ClassOf("flatland.envs.step_utils.state_machine TrainStateMachine")
	handlerClass      = pyvalue.ClassOf("flatland.envs.step_utils.malfunction_handler MalfunctionHandler")
	signalsClass      = pyvalue.ClassOf("flatland.envs.step_utils.states StateTransitionSignals")
	trainStateClass   = pyvalue.ClassOf("flatland.envs.step_utils.states TrainState")
	headingClass      = pyvalue.ClassOf("flatland.core.grid.grid4 Grid4TransitionsEnum")
	actionClass       = pyvalue.ClassOf("flatland.envs.rail_env_action RailEnvActions")
	oldActionClass    = pyvalue.ClassOf("flatland.envs.rail_env RailEnvActions")
	lineClass         = pyvalue.ClassOf("flatland.envs.timetable_utils Line")
	timetableClass    = pyvalue.ClassOf("flatland.envs.timetable_utils Timetable")
	fractionClass     = pyvalue.ClassOf("fractions Fraction")
)

// globals are the classes a file may name, and how.
var globals = pyvalue.Globals{
	agentClass:        {New: []int{12, 16, 19}},
	agentStatusClass:  {Enum: true},
	malfunctionClass:  {New: []int{3}},
	oldMalfunction:    {New: []int{3}},
	waypointClass:     {New: []int{0, 2}, State: pyvalue.DictState | pyvalue.TupleState},
	speedCounterClass: {New: []int{0}, State: pyvalue.DictState},
	actionSaverClass:  {New: []int{0}, State: pyvalue.DictState},
	machineClass:      {New: []int{0}, State: pyvalue.DictState},
	handlerClass:      {New: []int{0}, State: pyvalue.DictState},
	signalsClass:      {New: []int{0}, State: pyvalue.DictState},
	trainStateClass:   {Enum: true},
	headingClass:      {Enum: true},
	actionClass:       {Enum: true},
	oldActionClass:    {Enum: true},
	lineClass:         {New: []int{2}},
	timetableClass:    {New: []int{3}},
	fractionClass:     {Call: []int{1, 2}},
}

// NotEnvironmentError is that a file is of another kind.
type NotEnvironmentError struct {
	Is      string
	Product bool // it is a generator's, for [ReadProduct]
}

// Error says what the file is.
func (e *NotEnvironmentError) Error() string { return "this is " + e.Is + ", not an environment" }

// What a file may be instead of an environment.
const (
	isRail        = "a rail generator's product, tracks without trains"
	isLine        = "a line generator's product"
	isTimetable   = "a timetable generator's product"
	isStations    = "a file of stations"
	isCoordinates = "a file of the places of cells"
)

// product says which of the other files of Flatland this is, or nothing.
func product(top cursor) string {
	has := func(name string) bool { return top.key(name).value != nil }
	o, _ := top.value.(*pyvalue.Object)
	if d, ok := top.value.(*pyvalue.Dict); ok && len(d.Entries) > 0 {
		if _, cell := d.Entries[0].Key.(*pyvalue.Tuple); cell {
			return isCoordinates
		}
	}
	switch {
	case o != nil && o.Class == lineClass:
		return isLine
	case o != nil && o.Class == timetableClass:
		return isTimetable
	case has("city_positions"):
		return isStations
	case has("grid") && !has("agents") && !has("agents_static"):
		return isRail
	}
	return ""
}

// read fills in the file from its dictionary.
func (f *Environment) read(top cursor) error {
	if what := product(top); what != "" {
		return &NotEnvironmentError{what, true}
	}
	if !top.isDict() {
		return top.wrong("a dictionary with the key grid")
	}
	s := &rail.Scenario{}
	f.Scenario = s
	if err := readGrid(top.key("grid"), s); err != nil {
		return err
	}
	var err error
	if s.LevelFree, err = top.key("level_free_positions").cells(); err != nil {
		return err
	}
	if err := f.readAgents(top); err != nil {
		return err
	}
	if err := f.readNumbers(top); err != nil {
		return err
	}
	if err := f.readEffects(top); err != nil {
		return err
	}
	return f.readEpisode(top)
}

func readGrid(grid cursor, s *rail.Scenario) error {
	rows, err := grid.items()
	if err != nil {
		return err
	}
	for _, row := range rows {
		cells, err := row.values()
		if err != nil {
			return err
		}
		if s.Height == 0 {
			s.Width = len(cells)
			s.Grid = make([]rail.Transitions, 0, min(s.Width, 1<<10)*min(len(rows), 1<<10))
		}
		if len(cells) != s.Width {
			return row.wrong(fmt.Sprintf("%d cells, as the first row has", s.Width))
		}
		s.Height++
		for col, cell := range cells {
			v, ok := cell.(pyvalue.Int)
			if !ok {
				n, err := cursor{value: cell}.integer()
				v, ok = pyvalue.Int(n), err == nil
			}
			if !ok || v < 0 || v > math.MaxUint16 {
				return row.item(col, cell).wrong("a cell's transitions, 0 to 65535")
			}
			s.Grid = append(s.Grid, rail.Transitions(v))
		}
	}
	return nil
}

// readNumbers reads the counters, the seeds and the stream.
func (f *Environment) readNumbers(top cursor) error {
	var err error
	limit := top.key("max_episode_steps")
	if f.Scenario.MaxEpisodeSteps, err = limit.count(); err != nil {
		return err
	}
	if f.Scenario.MaxEpisodeSteps == 0 && !limit.isNone() {
		return limit.wrong("1 or more steps, or None") // the reference divides by it
	}
	if f.State.Elapsed, err = top.key("elapsed_steps").count(); err != nil {
		return err
	}
	if seed := top.key("random_seed"); !seed.isNone() {
		if f.State.Seed.Value, err = seed.seed(); err != nil {
			return err
		}
		f.State.Seed.Given = true
	}
	history, err := top.key("seed_history").optionalItems()
	if err != nil {
		return err
	}
	for _, c := range history {
		v, err := c.seed()
		if err != nil {
			return err
		}
		f.State.Seed.History = append(f.State.Seed.History, v)
	}
	if state := top.key("np_random_state"); !state.isNone() {
		stream, err := state.stream()
		if err != nil {
			return err
		}
		f.State.Stream, f.HasStream = *stream, true
	} else {
		f.State.Stream = numpyrand.NewHashedRandomState(0)
	}
	return f.readDones(top.key("dones"))
}

func (f *Environment) readDones(dones cursor) error {
	entries, err := dones.entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		done, err := e.value.boolean()
		if err != nil {
			return err
		}
		if e.key.isText("__all__") {
			f.State.AllDone = done
			continue
		}
		handle, err := e.key.integer()
		if err != nil || handle < 0 || handle >= int64(len(f.State.Trains)) {
			return e.key.wrong(fmt.Sprintf("a handle of one of the %d trains, or __all__", len(f.State.Trains)))
		}
		f.State.Trains[handle].Done = done
	}
	return nil
}

// readEpisode reads what the legacy evaluator added.
func (f *Environment) readEpisode(top cursor) error {
	steps, err := top.key("episode").optionalItems()
	if err != nil || steps == nil {
		return err
	}
	f.Episode = &RecordedEpisode{}
	for _, step := range steps {
		rows, err := step.items()
		if err != nil {
			return err
		}
		trains := make([]RecordedTrain, len(rows))
		for i, row := range rows {
			if trains[i], err = recordedTrain(row); err != nil {
				return err
			}
		}
		f.Episode.Positions = append(f.Episode.Positions, trains)
	}
	actions, err := top.key("actions").optionalItems()
	if err != nil {
		return err
	}
	for _, step := range actions {
		entries, err := step.entries()
		if err != nil {
			return err
		}
		given := make(map[int]rail.Action, len(entries))
		for _, e := range entries {
			handle, err := e.key.integer()
			if err != nil {
				return err
			}
			if given[int(handle)], err = e.value.action(); err != nil {
				return err
			}
		}
		f.Episode.Actions = append(f.Episode.Actions, given)
	}
	return nil
}

func recordedTrain(row cursor) (t RecordedTrain, err error) {
	fields, err := row.items()
	if err != nil {
		return t, err
	}
	if len(fields) < 5 {
		return t, row.wrong("row, column, heading, malfunction counter and state of a train")
	}
	t.Configuration = rail.Nowhere
	if !fields[0].isNone() {
		n := [3]int64{}
		for k := range n {
			if n[k], err = fields[k].integer(); err != nil {
				return t, err
			}
		}
		t.Configuration = rail.Configuration{Cell: rail.Cell{Row: int(n[0]), Col: int(n[1])}, Heading: rail.Heading(n[2])}
	}
	if t.Malfunction, err = fields[3].count(); err != nil {
		return t, err
	}
	t.State, err = fields[4].state()
	return t, err
}
