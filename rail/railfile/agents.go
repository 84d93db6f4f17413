package railfile

import (
	"fmt"
	"math"

	"skyrail/internal/pyvalue"
	"skyrail/rail"
)

// readAgents reads the trains: agents_static of the oldest files wins over agents.
func (f *Environment) readAgents(top cursor) error {
	list := top.key("agents")
	static := top.key("agents_static")
	if static.value != nil {
		list = static
		f.Legacy = true
	}
	agents, err := list.items()
	if err != nil {
		return err
	}
	f.Scenario.Trains, f.State.Trains = make([]rail.Train, 0, len(agents)), make([]rail.TrainState, 0, len(agents))
	for i, a := range agents {
		train, state, err := f.readAgent(i, a, static.value != nil)
		if err != nil {
			return err
		}
		f.Scenario.Trains = append(f.Scenario.Trains, train)
		f.State.Trains = append(f.State.Trains, state)
	}
	return nil
}

func (f *Environment) readAgent(handle int, a cursor, static bool) (rail.Train, rail.TrainState, error) {
	if static {
		return readStaticAgent(a)
	}
	o, ok := a.value.(*pyvalue.Object)
	if !ok || o.Class != agentClass {
		return rail.Train{}, rail.TrainState{}, a.wrong("an object " + agentClass.String())
	}
	if len(o.Args) == len(agentFields12) {
		f.Legacy = true
		return readAgent12(fields(a, o, agentFields12[:]))
	}
	return f.readAgent19(handle, fields(a, o, agentFields[:len(o.Args)]))
}

// agentFields are those of the named tuple Agent; files before 4.0 have the first 16.
var agentFields = [...]string{
	"initial_position", "initial_direction", "direction", "target", "moving", "earliest_departure", "latest_arrival", "handle",
	"position", "arrival_time", "old_direction", "old_position", "speed_counter", "action_saver", "state_machine",
	"malfunction_handler", "waypoints", "waypoints_earliest_departure", "waypoints_latest_arrival",
}

// agentFields12 are those of the releases 2.x.
var agentFields12 = [...]string{
	"initial_position", "initial_direction", "direction", "target", "moving", "speed_data", "malfunction_data", "handle",
	"status", "position", "old_direction", "old_position",
}

func fields(a cursor, o *pyvalue.Object, names []string) func(string) cursor {
	return func(name string) cursor {
		for i, n := range names {
			if n == name {
				return a.sub(name, o.Args[i])
			}
		}
		return a.sub(name, nil)
	}
}

func (f *Environment) readAgent19(handle int, field func(string) cursor) (t rail.Train, s rail.TrainState, err error) {
	if n, err := field("handle").integer(); err != nil || n != int64(handle) {
		return t, s, field("handle").wrong(fmt.Sprintf("%d, its place in the list", handle))
	}
	if t.Initial, err = waypoint(field("initial_position"), field("initial_direction")); err != nil {
		return t, s, err
	}
	if t.Target, err = field("target").cell(); err != nil {
		return t, s, err
	}
	if s.Configuration, err = configuration(field("position"), field("direction")); err != nil {
		return t, s, err
	}
	if s.Old, err = configuration(field("old_position"), field("old_direction")); err != nil {
		return t, s, err
	}
	if s.Arrival, err = field("arrival_time").time(); err != nil {
		return t, s, err
	}
	if t.EarliestDeparture, err = field("earliest_departure").step(); err != nil {
		return t, s, err
	}
	if t.LatestArrival, err = field("latest_arrival").step(); err != nil {
		return t, s, err
	}
	if err := readSpeed(field("speed_counter"), &t, &s); err != nil {
		return t, s, err
	}
	if err := readMachine(field("state_machine"), &s); err != nil {
		return t, s, err
	}
	handler, err := field("malfunction_handler").instance(handlerClass)
	if err != nil {
		return t, s, err
	}
	if s.Malfunction, err = handler.key("_malfunction_down_counter").count(); err != nil {
		return t, s, err
	}
	if s.Malfunctions, err = handler.key("num_malfunctions").count(); err != nil {
		return t, s, err
	}
	return t, s, f.readStops(handle, field, &t)
}

// readStops reads the timetable; files before 4.0 have only its ends.
func (f *Environment) readStops(handle int, field func(string) cursor, t *rail.Train) error {
	list := field("waypoints")
	if list.isNone() {
		t.Stops = []rail.Stop{
			{Alternatives: []rail.Configuration{t.Initial}, EarliestDeparture: rail.At(t.EarliestDeparture)},
			{Alternatives: []rail.Configuration{{Cell: t.Target, Heading: rail.NoHeading}}, LatestArrival: rail.At(t.LatestArrival)},
		}
		return nil
	}
	stops, err := list.values()
	if err != nil {
		return err
	}
	departures, err := field("waypoints_earliest_departure").times(len(stops))
	if err != nil {
		return err
	}
	arrivals, err := field("waypoints_latest_arrival").times(len(stops))
	if err != nil {
		return err
	}
	if rest := (Surplus{departures[len(stops):], arrivals[len(stops):]}); len(rest.EarliestDeparture)+len(rest.LatestArrival) > 0 {
		if f.Surplus == nil {
			f.Surplus = map[int]Surplus{}
		}
		f.Surplus[handle] = rest
	}
	t.Stops = make([]rail.Stop, len(stops))
	for k, v := range stops {
		stop := rail.Stop{EarliestDeparture: departures[k], LatestArrival: arrivals[k]}
		if stop.Alternatives, err = readAlternatives(list.item(k, v)); err != nil {
			return err
		}
		t.Stops[k] = stop
	}
	return nil
}

// readAlternatives reads the waypoints of a stop; in files of 4.0 a stop is one waypoint.
func readAlternatives(c cursor) ([]rail.Configuration, error) {
	if _, bare := c.value.(*pyvalue.Object); bare {
		only, err := readWaypoint(c)
		return []rail.Configuration{only}, err
	}
	values, err := c.values()
	if err != nil {
		return nil, err
	}
	all := make([]rail.Configuration, len(values))
	for i, v := range values {
		if all[i], err = readWaypoint(c.item(i, v)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readWaypoint reads a Waypoint: two arguments, or a state that is a dictionary or a pair.
func readWaypoint(c cursor) (rail.Configuration, error) {
	o, ok := c.value.(*pyvalue.Object)
	if !ok || o.Class != waypointClass {
		return rail.Configuration{}, c.wrong("an object " + waypointClass.String())
	}
	pair := o.Args
	switch state := o.State.(type) {
	case *pyvalue.Dict:
		d := c.with(state)
		return waypoint(d.key("position"), d.key("direction"))
	case *pyvalue.Tuple:
		pair = state.Items
	}
	if len(pair) != 2 {
		return rail.Configuration{}, c.wrong("a waypoint with a position and a direction")
	}
	return waypoint(c.sub("position", pair[0]), c.sub("direction", pair[1]))
}

// readSpeed reads a SpeedCounter: files before 4.0 count the steps in a cell.
func readSpeed(c cursor, t *rail.Train, s *rail.TrainState) error {
	counter, err := c.instance(speedCounterClass)
	if err != nil {
		return err
	}
	speed := counter.key("speed")
	if old := counter.key("_speed"); old.value != nil {
		speed = old
	}
	if s.Speed, err = speed.fraction(); err != nil {
		return err
	}
	t.MaxSpeed = s.Speed
	if limit := counter.key("max_speed"); limit.value != nil {
		if t.MaxSpeed, err = limit.fraction(); err != nil {
			return err
		}
	}
	if steps := counter.key("counter"); steps.value != nil {
		n, err := steps.integer()
		if err != nil {
			return err
		}
		s.Distance, s.CellEntry = s.Speed.Mul(rail.Whole(n)), n == 0
		return nil
	}
	if s.Distance, err = counter.key("distance").fraction(); err != nil {
		return err
	}
	s.CellEntry, err = counter.key("is_cell_entry").boolean()
	return err
}

// readMachine reads a TrainStateMachine. Of the signals only those are kept that the engine has; all are set anew in the
// next step.
func readMachine(c cursor, s *rail.TrainState) error {
	machine, err := c.instance(machineClass)
	if err != nil {
		return err
	}
	if s.State, err = machine.key("_state").state(); err != nil {
		return err
	}
	if s.Previous, err = machine.key("previous_state").state(); err != nil {
		return err
	}
	if s.Next, err = machine.key("next_state").state(); err != nil {
		return err
	}
	if s.State == rail.NoState {
		return machine.key("_state").wrong("a train's state, 0 to 6")
	}
	signals, err := machine.key("st_signals").instance(signalsClass)
	if err != nil {
		return err
	}
	sig := &s.Signals
	for _, f := range []struct {
		name string
		into *bool
	}{
		{"in_malfunction", &sig.InMalfunction}, {"earliest_departure_reached", &sig.EarliestDepartureReached},
		{"stop_action_given", &sig.StopActionGiven}, {"movement_action_given", &sig.MovementActionGiven},
		{"movement_allowed", &sig.MovementAllowed}, {"new_speed_zero", &sig.NewSpeedZero}, {"target_reached", &sig.TargetReached},
	} {
		if v := signals.key(f.name); !v.isNone() {
			if *f.into, err = v.boolean(); err != nil {
				return err
			}
		}
	}
	sig.TargetUnset = signals.key("target_reached").isNone()
	return nil
}

// never is the latest arrival of trains that have no timetable.
const never = math.MaxInt64

// readStaticAgent reads an entry of agents_static: position, direction, target, then moving, speed and malfunction data
// in the later of the old releases.
//
// quirk: the train stands in its start from the beginning although it is WAITING, and its speed counts only if the entry
// has malfunction data too.
func readStaticAgent(a cursor) (rail.Train, rail.TrainState, error) {
	items, err := a.items()
	if err != nil || len(items) < 3 {
		return rail.Train{}, rail.TrainState{}, a.wrong("a train: position, direction, target, …")
	}
	speed := cursor{value: pyvalue.None{}}
	if len(items) >= 6 {
		speed = items[4].key("speed")
	}
	return legacyTrain(items[0], items[1], items[2], speed)
}

func readAgent12(field func(string) cursor) (rail.Train, rail.TrainState, error) {
	speed := field("speed_data")
	return legacyTrain(field("initial_position"), field("initial_direction"), field("target"), speed.key("speed"))
}

func legacyTrain(position, direction, target, speed cursor) (t rail.Train, s rail.TrainState, err error) {
	if t.Initial, err = waypoint(position, direction); err != nil {
		return t, s, err
	}
	if t.Target, err = target.cell(); err != nil {
		return t, s, err
	}
	t.MaxSpeed = rail.Whole(1)
	if !speed.isNone() {
		if t.MaxSpeed, err = speed.fraction(); err != nil {
			return t, s, err
		}
	}
	t.LatestArrival = never
	var anyHeading []rail.Configuration
	for h := rail.North; h <= rail.West; h++ {
		anyHeading = append(anyHeading, rail.Configuration{Cell: t.Target, Heading: h})
	}
	t.Stops = []rail.Stop{
		{Alternatives: []rail.Configuration{t.Initial}, EarliestDeparture: rail.At(0)},
		{Alternatives: anyHeading, LatestArrival: rail.At(never)},
	}
	s = rail.TrainState{
		Configuration: t.Initial, Old: rail.Nowhere, State: rail.Waiting, Previous: rail.NoState, Next: rail.NoState,
		Speed: t.MaxSpeed, CellEntry: true,
	}
	return t, s, nil
}
