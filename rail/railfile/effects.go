package railfile

import (
	"fmt"

	"skyrail/internal/pyvalue"
	"skyrail/rail"
)

// The classes of effects in a file. They are names in a dictionary, not objects.
const (
	noEffect        = "flatland.core.effects_generator.EffectsGenerator"
	multiEffect     = "flatland.core.effects_generator.MultiEffectsGeneratorWrapped"
	breakdownEffect = "flatland.envs.malfunction_effects_generators.MalfunctionEffectsGenerator"
	departureEffect = "flatland.envs.malfunction_effects_generators.IntermediateStopMalfunctionEffectsGenerator"
	closuresEffect  = "skyrail.rail.effects.TrackClosures" // ours: python/skyrail/rail/effects.py
)

// maxNesting is how deep effects may hold effects.
const maxNesting = 8

// readEffects reads what happens to the trains: effects_generator if there is one, else the malfunction entry with its
// random numbers.
func (f *Environment) readEffects(top cursor) error {
	plain, err := f.readMalfunction(top)
	if err != nil {
		return err
	}
	if g := top.key("effects_generator"); g.value != nil {
		f.State.Effects, err = readEffect(g, 0)
		return err
	}
	if plain != nil {
		f.State.Effects = []rail.Effect{plain}
	}
	return nil
}

// readMalfunction reads the malfunction entry.
//
// quirk: it counts only if the rate is a float and both durations are integers; whole numbers and texts mean that
// nothing breaks down.
func (f *Environment) readMalfunction(top cursor) (*rail.Breakdowns, error) {
	c := top.key("malfunction")
	if c.isNone() {
		return nil, nil
	}
	values, err := malfunctionValues(c)
	if err != nil {
		return nil, err
	}
	if len(values) != 3 {
		return nil, c.wrong("malfunction_rate, min_duration, max_duration")
	}
	rate, isFloat := values[0].plain().(pyvalue.Float)
	low, lowInt := values[1].plain().(pyvalue.Int)
	high, highInt := values[2].plain().(pyvalue.Int)
	if !isFloat || !lowInt || !highInt {
		return nil, nil
	}
	f.Malfunction = rail.MalfunctionParameters{Rate: float64(rate), MinDuration: int(low), MaxDuration: int(high)}
	b := rail.NewBreakdowns(f.Malfunction)
	numbers, err := top.key("malfunction_cached_rand").optionalItems()
	if err != nil {
		return nil, err
	}
	state, index := top.key("malfunction_cached_random_state"), top.key("malfunction_rand_idx")
	if numbers != nil && state.isNone() {
		n, err := index.count()
		if err != nil {
			return nil, err
		}
		cache := make([]float64, len(numbers))
		for i, c := range numbers {
			if cache[i], err = c.float(); err != nil {
				return nil, err
			}
		}
		return b, b.ResumeNumbers(cache, n)
	}
	return b, resume(&b.MalfunctionGenerator, state, index)
}

// malfunctionValues are those of the named tuple, or of the array it becomes in MessagePack.
func malfunctionValues(c cursor) ([]cursor, error) {
	o, ok := c.value.(*pyvalue.Object)
	if !ok {
		return c.items()
	}
	if o.Class != malfunctionClass && o.Class != oldMalfunction {
		return nil, c.wrong("an object " + malfunctionClass.String())
	}
	var all []cursor
	for i, name := range []string{"malfunction_rate", "min_duration", "max_duration"} {
		all = append(all, c.sub(name, o.Args[i]))
	}
	return all, nil
}

func resume(g *rail.MalfunctionGenerator, state, index cursor) error {
	n, err := index.count()
	if err != nil {
		return err
	}
	if state.isNone() {
		return wrap(index, g.Resume(nil, n))
	}
	origin, err := state.stream()
	if err != nil {
		return err
	}
	return wrap(index, g.Resume(origin, n))
}

func wrap(c cursor, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", c.String(), err)
	}
	return nil
}

// readEffect reads a dictionary {cls, specs}; one that does nothing is no effect.
func readEffect(c cursor, depth int) ([]rail.Effect, error) {
	name, ok := c.key("cls").value.(pyvalue.Str)
	if !c.isDict() || !ok {
		return nil, c.wrong("a dictionary with cls and specs")
	}
	specs := c.key("specs")
	kwargs := specs.key("kwargs")
	switch name {
	case noEffect:
		return nil, nil
	case multiEffect:
		parts, err := specs.key("args").items()
		if err != nil {
			return nil, err
		}
		if depth == maxNesting {
			return nil, c.wrong("effects that nest less deep")
		}
		var all []rail.Effect
		for _, part := range parts {
			effects, err := readEffect(part, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, effects...)
		}
		return all, nil
	case breakdownEffect:
		p, err := readParameters(kwargs.key("param_malfunction_gen"))
		if err != nil {
			return nil, err
		}
		b := rail.NewBreakdowns(p)
		err = resume(&b.MalfunctionGenerator, kwargs.key("malfunction_cached_random_state"), kwargs.key("malfunction_rand_idx"))
		return []rail.Effect{b}, err
	case departureEffect:
		p, err := readParameters(kwargs)
		if err != nil {
			return nil, err
		}
		d := rail.NewDepartureMalfunctions(p, 0)
		if d.Earliest, err = kwargs.key("earliest_malfunction").time(); err != nil {
			return nil, err
		}
		return []rail.Effect{d}, nil
	case closuresEffect:
		closures, err := readClosures(kwargs.key("closures"))
		return []rail.Effect{closures}, err
	}
	return nil, c.key("cls").wrong("one of the effects that are known: " + noEffect + ", " + multiEffect + ", " +
		breakdownEffect + ", " + departureEffect + ", " + closuresEffect)
}

// readClosures reads a list of dictionaries from_step, until_step, cells. Whether a closure makes sense on the grid is
// found when the environment is opened.
func readClosures(c cursor) (*rail.TrackClosures, error) {
	items, err := c.items()
	if err != nil {
		return nil, err
	}
	t := &rail.TrackClosures{}
	for _, item := range items {
		if !item.isDict() {
			return nil, item.wrong("a dictionary with from_step, until_step and cells")
		}
		var closure rail.Closure
		if closure.From, err = item.key("from_step").step(); err != nil {
			return nil, err
		}
		if closure.Until, err = item.key("until_step").step(); err != nil {
			return nil, err
		}
		if closure.Cells, err = item.key("cells").cells(); err != nil {
			return nil, err
		}
		t.Closures = append(t.Closures, closure)
	}
	return t, nil
}

func readParameters(c cursor) (p rail.MalfunctionParameters, err error) {
	if p.Rate, err = c.key("malfunction_rate").float(); err != nil {
		return p, err
	}
	low, err := c.key("min_duration").integer()
	if err != nil {
		return p, err
	}
	high, err := c.key("max_duration").integer()
	p.MinDuration, p.MaxDuration = int(low), int(high)
	return p, err
}
