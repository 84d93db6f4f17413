package flight

import (
	"fmt"
	"math"

	"skyrail/internal/elementary"
	"skyrail/numpyrand"
)

// Aircraft is where an aircraft is and how it flies.
type Aircraft struct {
	X, Y    float64 // metres from the sector's centre
	Level   float64 // altitude units, 290, 302, … 398 when a clearance put it there
	Speed   float64 // m/s
	Heading float64 // degrees, mathematical: 0 is +x, 90 is +y; never changes
}

// Scenario is what a reset makes: the aircraft at step 0 and how they came about.
type Scenario struct {
	Converging int        // n: aircraft whose tracks meet at the hotspot, the first n of Aircraft
	Seed       uint64     // of the scenario stream, drawn from the environment's stream
	Hotspot    [2]float64 // the point they were drawn to meet at
	Shift      int        // steps all aircraft were advanced to bring every one into the sector
	Aircraft   []Aircraft
}

// maxShift is how often one pass of the shift into the sector moves the aircraft at most.
const maxShift = 200

// generate draws a scenario of cfg from the environment's stream rng: two draws from it (the number of
// converging aircraft, the seed of the scenario stream); everything else comes from the scenario stream.
// The aircraft are written into fs, their unit vectors included; fs has cfg.Flights entries.
func generate(cfg Config, rng *numpyrand.Generator, s *Scenario, fs []aircraft) {
	s.Converging = int(rng.Integers(int64(cfg.NLo), int64(cfg.NHi)+1))
	s.Seed = uint64(rng.Integers(0, math.MaxInt32))
	stream := numpyrand.NewGenerator(s.Seed)

	cx := stream.Uniform(-SeparationRadius, SeparationRadius)
	cy := stream.Uniform(-SeparationRadius, SeparationRadius)
	s.Hotspot = [2]float64{cx, cy}
	collisionLevel := stream.Choice(Levels)

	converging, background := fs[:s.Converging], fs[s.Converging:]
	for i := range converging {
		heading := stream.Uniform(0, 360)
		speed := drawSpeed(&stream)
		converging[i].place(cx, cy, level(collisionLevel), speed, heading)
	}
	rewindOut(converging)
	for i := range converging {
		converging[i].x += stream.Uniform(-stagger, stagger)
		converging[i].y += stream.Uniform(-stagger, stagger)
	}

	for i := range background {
		x, y := cx, cy
		for elementary.Hypot(x-cx, y-cy) < SeparationRadius {
			x = stream.Uniform(-spawnLimit, spawnLimit)
			y = stream.Uniform(-spawnLimit, spawnLimit)
		}
		l := stream.Choice(Levels - 1) // of the nine other levels, ascending
		if l >= collisionLevel {
			l++
		}
		speed := drawSpeed(&stream)
		heading := stream.Uniform(0, 360)
		background[i].place(x, y, level(l), speed, heading)
		rewindOut(background[i : i+1])
		for range stream.Choice(10) {
			background[i].back()
		}
	}

	// quirk: the reference shifts twice in a row; the second pass moves something only if the first
	// used up its 200 steps.
	s.Shift = shiftIn(fs) + shiftIn(fs)
}

func level(i int) float64 { return LowestLevel + float64(float64(i)*LevelStep) }

func drawSpeed(stream *numpyrand.Generator) float64 {
	return LowSpeed + float64(float64(stream.Choice(Speeds))*SpeedStep)
}

// rewindOut moves a group back until every aircraft is outside the sector, and a little further.
//
// quirk: the group is moved once more after all are outside, then two steps forward.
func rewindOut(fs []aircraft) {
	for one, some := 0, true; some; {
		one, some = find(fs, true, one)
		for i := range fs {
			fs[i].back()
		}
	}
	for range 2 {
		for i := range fs {
			fs[i].forward()
		}
	}
}

// shiftIn moves all aircraft forward until every one is inside, at most maxShift steps, and returns the
// number of steps.
func shiftIn(fs []aircraft) int {
	one, some := 0, true
	for n := range maxShift {
		if one, some = find(fs, false, one); !some {
			return n
		}
		for i := range fs {
			fs[i].forward()
		}
	}
	return maxShift
}

// find returns an aircraft that is inside, or is not, if there is one. It looks first where it was found the last time.
func find(fs []aircraft, inside bool, last int) (i int, ok bool) {
	if last < len(fs) && fs[last].inside() == inside {
		return last, true
	}
	for i := range fs {
		if fs[i].inside() == inside {
			return i, true
		}
	}
	return 0, false
}

// check says what is wrong with a hand-placed scenario for cfg.
func (s *Scenario) check(cfg Config) error {
	if len(s.Aircraft) != cfg.Flights {
		return fmt.Errorf("scenario has %d aircraft, the environment %d", len(s.Aircraft), cfg.Flights)
	}
	if s.Converging < 0 || s.Converging > cfg.Flights {
		return fmt.Errorf("scenario has %d converging aircraft of %d", s.Converging, cfg.Flights)
	}
	for i, a := range s.Aircraft {
		if err := a.Validate(); err != nil {
			return fmt.Errorf("aircraft %d: %w", i, err)
		}
	}
	return nil
}

// The bounds of a hand-placed aircraft keep every sum and product of the engine finite.
const (
	maxPosition = 1e9
	maxSpeed    = 1e6
	maxLevel    = 1e6
)

// Validate says what is wrong with a as a state to start from, nil if nothing is.
func (a Aircraft) Validate() error {
	for _, v := range []struct {
		name   string
		v      float64
		lo, hi float64
	}{
		{"x", a.X, -maxPosition, maxPosition},
		{"y", a.Y, -maxPosition, maxPosition},
		{"level", a.Level, -maxLevel, maxLevel},
		{"speed", a.Speed, 1, maxSpeed},
		{"heading", a.Heading, -360, 360},
	} {
		if !(v.v >= v.lo && v.v <= v.hi) { // false for NaN as well
			return fmt.Errorf("%s is %v, it must be within %v..%v", v.name, v.v, v.lo, v.hi)
		}
	}
	return nil
}
