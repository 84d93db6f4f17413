package railfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"skyrail/internal/pyvalue"
	"skyrail/numpyrand"
	"skyrail/rail"
)

// environmentValue is the dictionary of an environment file, its keys in the order of flatland-rl 4.2.5.
func environmentValue(e *rail.Env) (pyvalue.Value, error) {
	s, state := e.Scenario(), e.Snapshot()
	effects, plain, err := effectsValue(state.Effects)
	if err != nil {
		return nil, err
	}
	bridges := &pyvalue.Set{}
	for cell := range s.Width * s.Height {
		if c := (rail.Cell{Row: cell / s.Width, Col: cell % s.Width}); e.LevelFree(c) {
			bridges.Items = append(bridges.Items, cellValue(c))
		}
	}
	origin, index := plain.Origin()
	cached, err := streamValue(origin, true)
	if err != nil {
		return nil, err
	}
	stream, err := streamValue(&state.Stream, false)
	if err != nil {
		return nil, err
	}
	limit := pyvalue.Value(pyvalue.None{})
	if s.MaxEpisodeSteps > 0 {
		limit = pyvalue.Int(s.MaxEpisodeSteps)
	}
	seed := pyvalue.Value(pyvalue.None{})
	if state.Seed.Given {
		seed = unsigned(state.Seed.Value)
	}
	dones := &pyvalue.Dict{}
	for i := range state.Trains {
		dones.Entries = append(dones.Entries, pyvalue.Entry{Key: pyvalue.Int(i), Value: pyvalue.Bool(state.Trains[i].Done)})
	}
	dones.Set("__all__", pyvalue.Bool(state.AllDone))
	return dictOf(
		"grid", gridValue(s.Width, s.Height, s.Grid),
		"level_free_positions", bridges,
		"agents", listOf(len(s.Trains), func(i int) pyvalue.Value { return agentValue(i, &s.Trains[i], e.MaxSpeed(i), &state.Trains[i]) }),
		"malfunction", &pyvalue.Object{Class: malfunctionClass, Args: []pyvalue.Value{
			pyvalue.Float(plain.Rate), pyvalue.Int(plain.MinDuration), pyvalue.Int(plain.MaxDuration),
		}},
		"malfunction_cached_random_state", cached,
		"malfunction_rand_idx", pyvalue.Int(index),
		"max_episode_steps", limit,
		"elapsed_steps", pyvalue.Int(state.Elapsed),
		"random_seed", seed,
		"seed_history", listOf(len(state.Seed.History), func(i int) pyvalue.Value { return unsigned(state.Seed.History[i]) }),
		"np_random_state", stream,
		"dev_pred_dict", &pyvalue.Dict{},
		"dev_obs_dict", &pyvalue.Dict{},
		"dones", dones,
		"effects_generator", effects,
	), nil
}

func dictOf(pairs ...any) *pyvalue.Dict {
	d := &pyvalue.Dict{}
	for i := 0; i < len(pairs); i += 2 {
		d.Entries = append(d.Entries, pyvalue.Entry{Key: pyvalue.Str(pairs[i].(string)), Value: pairs[i+1].(pyvalue.Value)})
	}
	return d
}

func listOf(n int, item func(int) pyvalue.Value) *pyvalue.List {
	l := &pyvalue.List{Items: make([]pyvalue.Value, n)}
	for i := range l.Items {
		l.Items[i] = item(i)
	}
	return l
}

func tupleOf(items ...pyvalue.Value) *pyvalue.Tuple { return &pyvalue.Tuple{Items: items} }

func unsigned(n uint64) pyvalue.Value { return pyvalue.Integer(new(big.Int).SetUint64(n)) }

func cellValue(c rail.Cell) pyvalue.Value { return tupleOf(pyvalue.Int(c.Row), pyvalue.Int(c.Col)) }

func gridValue(width, height int, grid []rail.Transitions) pyvalue.Value {
	return listOf(height, func(row int) pyvalue.Value {
		return listOf(width, func(col int) pyvalue.Value { return pyvalue.Int(grid[row*width+col]) })
	})
}

// waypointsValue are the alternatives of a stop.
func waypointsValue(all []rail.Configuration) pyvalue.Value {
	return listOf(len(all), func(k int) pyvalue.Value {
		return instanceValue(waypointClass, "position", cellValue(all[k].Cell), "direction", headingValue(all[k].Heading))
	})
}

// placeValue is a configuration as cell and heading, both None off the map.
func placeValue(c rail.Configuration) (cell, heading pyvalue.Value) {
	if c == rail.Nowhere {
		return pyvalue.None{}, pyvalue.None{}
	}
	return cellValue(c.Cell), headingValue(c.Heading)
}

func headingValue(h rail.Heading) pyvalue.Value {
	if h == rail.NoHeading {
		return pyvalue.None{}
	}
	return pyvalue.Int(h)
}

func timeValue(t rail.Time) pyvalue.Value {
	if !t.Given {
		return pyvalue.None{}
	}
	return pyvalue.Int(t.Step)
}

func fractionValue(f rail.Fraction) pyvalue.Value {
	r := f.Rat()
	return &pyvalue.Object{Class: fractionClass, Called: true, Args: []pyvalue.Value{pyvalue.Integer(r.Num()), pyvalue.Integer(r.Denom())}}
}

func stateValue(s rail.State) pyvalue.Value {
	if s == rail.NoState {
		return pyvalue.None{}
	}
	return &pyvalue.Member{Class: trainStateClass, Number: int64(s)}
}

// instanceValue is an object with attributes.
func instanceValue(of pyvalue.Class, pairs ...any) pyvalue.Value {
	return &pyvalue.Object{Class: of, State: dictOf(pairs...)}
}

func agentValue(handle int, t *rail.Train, limit rail.Fraction, s *rail.TrainState) pyvalue.Value {
	initial, facing := placeValue(t.Initial)
	position, direction := placeValue(s.Configuration)
	oldPosition, oldDirection := placeValue(s.Old)
	sig := &s.Signals
	reached := pyvalue.Value(pyvalue.Bool(sig.TargetReached))
	if sig.TargetUnset {
		reached = pyvalue.None{}
	}
	stops := func(of func(rail.Stop) pyvalue.Value) pyvalue.Value {
		return listOf(len(t.Stops), func(k int) pyvalue.Value { return of(t.Stops[k]) })
	}
	return &pyvalue.Object{Class: agentClass, Args: []pyvalue.Value{
		initial, facing, direction, cellValue(t.Target), pyvalue.Bool(false), // moving: a leftover that is never true
		pyvalue.Int(t.EarliestDeparture), pyvalue.Int(t.LatestArrival), pyvalue.Int(handle),
		position, timeValue(s.Arrival), oldDirection, oldPosition,
		instanceValue(speedCounterClass,
			"speed", fractionValue(s.Speed), "max_speed", fractionValue(limit),
			"distance", fractionValue(s.Distance), "is_cell_entry", pyvalue.Bool(s.CellEntry)),
		instanceValue(actionSaverClass, "saved_action", pyvalue.None{}),
		instanceValue(machineClass,
			"_initial_state", stateValue(rail.Waiting), "_state", stateValue(s.State),
			"st_signals", instanceValue(signalsClass,
				"in_malfunction", pyvalue.Bool(sig.InMalfunction), "earliest_departure_reached", pyvalue.Bool(sig.EarliestDepartureReached),
				"stop_action_given", pyvalue.Bool(sig.StopActionGiven), "movement_action_given", pyvalue.Bool(sig.MovementActionGiven),
				"target_reached", reached, "movement_allowed", pyvalue.Bool(sig.MovementAllowed),
				"new_speed_zero", pyvalue.Bool(sig.NewSpeedZero)),
			"next_state", stateValue(s.Next), "previous_state", stateValue(s.Previous)),
		instanceValue(handlerClass,
			"_malfunction_down_counter", pyvalue.Int(s.Malfunction), "num_malfunctions", pyvalue.Int(s.Malfunctions)),
		stops(func(stop rail.Stop) pyvalue.Value { return waypointsValue(stop.Alternatives) }),
		stops(func(stop rail.Stop) pyvalue.Value { return timeValue(stop.EarliestDeparture) }),
		stops(func(stop rail.Stop) pyvalue.Value { return timeValue(stop.LatestArrival) }),
	}}
}

// streamValue is the state of a RandomState as NumPy gives it: the words as a tuple, or as the array that it really is.
func streamValue(r *numpyrand.RandomState, array bool) (pyvalue.Value, error) {
	if r == nil {
		return pyvalue.None{}, nil
	}
	s := r.State()
	var words pyvalue.Value
	if array {
		data := make([]byte, 0, 4*len(s.Key))
		for _, w := range s.Key {
			data = binary.LittleEndian.AppendUint32(data, w)
		}
		a, err := pyvalue.NewArray("<u4", []int{len(s.Key)}, string(data))
		if err != nil {
			return nil, err
		}
		words = a
	} else {
		t := &pyvalue.Tuple{Items: make([]pyvalue.Value, len(s.Key))}
		for i, w := range s.Key {
			t.Items[i] = pyvalue.Int(w)
		}
		words = t
	}
	gauss := 0
	if s.HasGauss {
		gauss = 1
	}
	return tupleOf(pyvalue.Str("MT19937"), words, pyvalue.Int(s.Pos), pyvalue.Int(gauss), pyvalue.Float(s.Gauss)), nil
}

// effectsValue is the effects_generator entry, and the plain breakdowns among the effects, which a file also has an
// entry of their own for.
func effectsValue(effects []rail.Effect) (v pyvalue.Value, plain rail.MalfunctionGenerator, err error) {
	var parts []pyvalue.Value
	for i, f := range effects {
		var part pyvalue.Value
		switch f := f.(type) {
		case *rail.Breakdowns:
			plain = f.MalfunctionGenerator
			part, err = breakdownsValue(&f.MalfunctionGenerator)
		case *rail.ConditionalMalfunctions:
			if f.Condition.Kind != rail.StoppedAtWaypoint || f.Limited {
				return nil, plain, fmt.Errorf("effect %d: of conditional malfunctions only those at departures have a form in a file", i)
			}
			part = dictOf("cls", pyvalue.Str(departureEffect), "specs", dictOf("kwargs", dictOf(
				"malfunction_rate", pyvalue.Float(f.Rate), "min_duration", pyvalue.Int(f.MinDuration), "max_duration", pyvalue.Int(f.MaxDuration),
				"earliest_malfunction", timeValue(f.Earliest))))
		case *rail.TrackClosures:
			part = closuresValue(f)
		default:
			return nil, plain, errors.New("deprecated malfunction generators have no form in a file")
		}
		if err != nil {
			return nil, plain, err
		}
		parts = append(parts, part)
	}
	switch len(parts) {
	case 0:
		return dictOf("cls", pyvalue.Str(noEffect)), plain, nil
	case 1:
		return parts[0], plain, nil
	}
	return dictOf("cls", pyvalue.Str(multiEffect), "specs", dictOf("args", &pyvalue.List{Items: parts})), plain, nil
}

func breakdownsValue(g *rail.MalfunctionGenerator) (pyvalue.Value, error) {
	origin, index := g.Origin()
	state, err := streamValue(origin, true)
	if err != nil {
		return nil, err
	}
	return dictOf("cls", pyvalue.Str(breakdownEffect), "specs", dictOf("kwargs", dictOf(
		"param_malfunction_gen", dictOf(
			"malfunction_rate", pyvalue.Float(g.Rate), "min_duration", pyvalue.Int(g.MinDuration), "max_duration", pyvalue.Int(g.MaxDuration)),
		"malfunction_cached_random_state", state,
		"malfunction_rand_idx", pyvalue.Int(index)))), nil
}

func closuresValue(t *rail.TrackClosures) pyvalue.Value {
	return dictOf("cls", pyvalue.Str(closuresEffect), "specs", dictOf("kwargs", dictOf(
		"closures", listOf(len(t.Closures), func(i int) pyvalue.Value {
			c := &t.Closures[i]
			return dictOf("from_step", pyvalue.Int(c.From), "until_step", pyvalue.Int(c.Until),
				"cells", listOf(len(c.Cells), func(k int) pyvalue.Value { return cellValue(c.Cells[k]) }))
		}))))
}
