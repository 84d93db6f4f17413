package rail

import (
	"strings"
	"testing"

	"skyrail/numpyrand"
)

// The tests in this file hold the oddities of flatland-rl 4.2.5 that the engine keeps on purpose. docs/rail-quirks.md
// lists them by the names of these tests.

const (
	horizontal = Transitions(1025)
	endEast    = Transitions(256) // a dead end: in towards east, back towards west
	endWest    = Transitions(4)
	symmetric  = Transitions(6672) // from west: a train heading east must turn north or south
)

// line is a track of n cells between two dead ends, one row.
func line(n int) *Scenario {
	s := &Scenario{Width: n, Height: 1, MaxEpisodeSteps: 50}
	for range n {
		s.Grid = append(s.Grid, horizontal)
	}
	s.Grid[0], s.Grid[n-1] = endWest, endEast
	return s
}

// eastbound adds a train from one column of a line to another.
func (s *Scenario) eastbound(from, to int, speed Fraction) *Scenario {
	initial := Configuration{Cell{0, from}, East}
	s.Trains = append(s.Trains, Train{
		Initial: initial, Target: Cell{0, to}, MaxSpeed: speed, LatestArrival: 40,
		Stops: []Stop{
			{Alternatives: []Configuration{initial}, EarliestDeparture: At(0)},
			{Alternatives: []Configuration{{Cell{0, to}, NoHeading}}, LatestArrival: At(40)},
		},
	})
	return s
}

// via adds an intermediate stop to the last train.
func (s *Scenario) via(col int) *Scenario {
	t := &s.Trains[len(s.Trains)-1]
	stop := Stop{Alternatives: []Configuration{{Cell{0, col}, East}}, LatestArrival: At(30), EarliestDeparture: At(0)}
	t.Stops = append(t.Stops[:len(t.Stops)-1:len(t.Stops)-1], stop, t.Stops[len(t.Stops)-1])
	return s
}

func start(t *testing.T, s *Scenario, o Options) *Env {
	t.Helper()
	e, err := New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// run gives every train the same action, step by step.
func run(t *testing.T, e *Env, actions ...Action) {
	t.Helper()
	for _, a := range actions {
		all := make([]Action, e.Trains())
		for i := range all {
			all[i] = a
		}
		if err := e.Step(all); err != nil {
			t.Fatal(err)
		}
	}
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestQuirkTrainsEnterAtFullSpeed(t *testing.T) {
	e := start(t, line(6).eastbound(1, 5, Whole(1)), Options{})
	run(t, e, MoveForward)
	want(t, "state after one step", e.State(0), ReadyToDepart)
	run(t, e, MoveForward)
	c, _ := e.Configuration(0)
	want(t, "column on entry", c.Col, 1)
	want(t, "speed on entry", e.Speed(0).String(), "1")
	want(t, "travelled on entry", e.Travelled(0).String(), "0")
	run(t, e, DoNothing)
	c, _ = e.Configuration(0)
	want(t, "column one step later", c.Col, 2)
}

func TestQuirkResetKeepsTheSpeed(t *testing.T) {
	e := start(t, line(6).eastbound(1, 5, Frac(1, 2)), Options{})
	run(t, e, MoveForward, MoveForward, MoveForward, StopMoving)
	want(t, "speed when stopped", e.Speed(0).String(), "0")
	e.Reset(nil)
	want(t, "speed after a reset", e.Speed(0).String(), "0")
	want(t, "maximum after a reset", e.MaxSpeed(0).String(), "1/2")
}

func TestQuirkReloadTakesTheSpeedForTheMaximum(t *testing.T) {
	s := line(6).eastbound(1, 5, Frac(1, 2))
	s.MaxEpisodeSteps = 0
	e := start(t, s, Options{})
	run(t, e, MoveForward, MoveForward, MoveForward, StopMoving)
	e.Reload(nil)
	want(t, "maximum after a reload", e.MaxSpeed(0).String(), "0")
	want(t, "limit after a reload", e.MaxEpisodeSteps(), 100)
}

func TestQuirkResetLosesTheBridges(t *testing.T) {
	s := &Scenario{Width: 1, Height: 1, Grid: []Transitions{DiamondCrossing}, LevelFree: []Cell{{0, 0}}}
	e := start(t, s, Options{})
	want(t, "bridge at first", e.LevelFree(Cell{0, 0}), true)
	e.Reset(nil)
	want(t, "bridge after a reset", e.LevelFree(Cell{0, 0}), false)
}

func TestQuirkMalfunctionsLastOneStepMore(t *testing.T) {
	p := MalfunctionParameters{Rate: 50, MinDuration: 3, MaxDuration: 3} // every draw breaks down
	e := start(t, line(6).eastbound(1, 5, Whole(1)), Options{Effects: []Effect{NewBreakdowns(p)}})
	run(t, e, DoNothing)
	want(t, "steps left after the first", e.Malfunction(0), 3) // 4 were given, one has passed
	run(t, e, DoNothing, DoNothing, DoNothing)
	want(t, "counter in the last step of the malfunction", e.Malfunction(0), 0)
	want(t, "state in the last step of the malfunction", e.State(0), MalfunctionOffMap)
}

func TestQuirkNoMalfunctionsStillTakeAMillionNumbers(t *testing.T) {
	e := start(t, line(6).eastbound(1, 5, Whole(1)), Options{Seed: 7, Effects: []Effect{NewBreakdowns(MalfunctionParameters{})}})
	run(t, e, DoNothing)
	got, other := e.Stream(), numpyrand.NewHashedRandomState(7)
	for range 1_000_000 {
		other.Random()
	}
	want(t, "next number", got.Random(), other.Random())
}

func TestQuirkStopAtASymmetricSwitchIsInvalid(t *testing.T) {
	s := &Scenario{Width: 3, Height: 3, MaxEpisodeSteps: 50, Braking: FloatDelta(-0.1), Grid: []Transitions{
		0, 0, 0,
		horizontal, symmetric, 0,
		0, 0, 0,
	}}
	s.Grid[1], s.Grid[7] = 32800, 32800
	s.Trains = []Train{{Initial: Configuration{Cell{1, 0}, East}, Target: Cell{0, 1}, MaxSpeed: Whole(1), LatestArrival: 40}}
	e := start(t, s, Options{})
	run(t, e, MoveForward, MoveForward, MoveForward)
	c, _ := e.Configuration(0)
	want(t, "cell", c.Cell, Cell{1, 1})
	run(t, e, StopMoving)
	want(t, "speed: at once, however weak the brakes", e.Speed(0).String(), "0")
	want(t, "state", e.State(0), Stopped)
	e = start(t, s, Options{})
	run(t, e, MoveForward, MoveForward, MoveForward, MoveForward)
	want(t, "forward stops it too", e.State(0), Stopped)
}

func TestQuirkReversalInADeadEndCountsAsStraight(t *testing.T) {
	s := line(4).eastbound(1, 0, Whole(1))
	e := start(t, s, Options{})
	run(t, e, MoveForward, MoveForward, MoveForward, MoveForward, MoveForward)
	c, _ := e.Configuration(0)
	want(t, "configuration", c, Configuration{Cell{0, 2}, West})
	_, straight := e.Network().Move(e.Network().Node(Configuration{Cell{0, 3}, East}), MoveForward)
	want(t, "straight", straight, true)
}

func TestQuirkAnyMovingActionAcceleratesFromRest(t *testing.T) {
	s := line(8).eastbound(1, 7, Whole(1))
	s.Acceleration = ExactDelta(Frac(1, 4))
	e := start(t, s, Options{})
	run(t, e, MoveForward, MoveForward, StopMoving, MoveLeft) // left falls back to straight ahead
	want(t, "speed after MOVE_LEFT from rest", e.Speed(0).String(), "1/4")
	run(t, e, MoveLeft)
	want(t, "speed after MOVE_LEFT while moving", e.Speed(0).String(), "1/4")
	run(t, e, MoveForward)
	want(t, "speed after MOVE_FORWARD", e.Speed(0).String(), "1/2")
}

func TestQuirkAVoluntaryStopCostsACollision(t *testing.T) {
	e := start(t, line(8).eastbound(1, 7, Frac(1, 2)), Options{Rewards: []Rewards{ECML2026Rewards()}})
	run(t, e, MoveForward, MoveForward, StopMoving)
	want(t, "reward", e.Rewards(0)[0], -125)
}

func TestQuirkStopPlacesATrainAfterAMalfunction(t *testing.T) {
	e := start(t, line(6).eastbound(1, 1, Whole(1)), Options{})
	state := e.Snapshot()
	state.Trains[0].State, state.Trains[0].Malfunction = MalfunctionOffMap, 0
	if err := e.Restore(state); err != nil {
		t.Fatal(err)
	}
	run(t, e, StopMoving)
	want(t, "state", e.State(0), Stopped) // though it stands at its target
	c, ok := e.Configuration(0)
	want(t, "on the map", ok, true)
	want(t, "cell", c.Cell, Cell{0, 1})
}

func TestQuirkABrokenTrainStillClaimsItsStart(t *testing.T) {
	s := line(6).eastbound(1, 5, Whole(1)).eastbound(1, 5, Whole(1))
	e := start(t, s, Options{})
	run(t, e, MoveForward)
	state := e.Snapshot()
	state.Trains[0].Malfunction = 5
	if err := e.Restore(state); err != nil {
		t.Fatal(err)
	}
	run(t, e, MoveForward)
	want(t, "the broken train", e.State(0), MalfunctionOffMap)
	want(t, "the train behind it", e.State(1), ReadyToDepart)
	run(t, e, MoveForward)
	want(t, "the train behind it, a step later", e.State(1), Moving)
}

func TestQuirkTheLowestHandleWins(t *testing.T) {
	s := line(6).eastbound(2, 5, Whole(1)).eastbound(1, 5, Whole(1))
	e := start(t, s, Options{})
	if err := e.Step([]Action{DoNothing, MoveForward}); err != nil {
		t.Fatal(err)
	}
	if err := e.Step([]Action{DoNothing, MoveForward}); err != nil { // train 1 enters behind the start of train 0
		t.Fatal(err)
	}
	run(t, e, MoveForward) // train 0 enters the cell that train 1, already on its way, wants
	want(t, "train 0", e.State(0), Moving)
	want(t, "train 1", e.State(1), Stopped)
}

func TestQuirkTravelTimeCountsBothEnds(t *testing.T) {
	e := start(t, line(6).eastbound(1, 2, Frac(1, 2)), Options{})
	want(t, "travel time to the next cell", travel(t, e), 4)
}

func TestQuirkPunctualityCountsOneIntermediateStop(t *testing.T) {
	s := line(10).eastbound(1, 8, Whole(1)).via(3).via(5)
	e := start(t, s, Options{Rewards: []Rewards{{Kind: PunctualityReward}}})
	total := 0.0
	for !e.AllDone() {
		run(t, e, MoveForward)
		total += e.Rewards(0)[0]
	}
	want(t, "stops on time", total, 3) // start, one of the two, target
	want(t, "stops", e.Rewards(0)[1], 4)
}

func TestQuirkAStoppedTrainKeepsItsPlaceInTheCell(t *testing.T) {
	e := start(t, line(8).eastbound(1, 7, Frac(1, 3)), Options{})
	run(t, e, MoveForward, MoveForward, MoveForward, StopMoving)
	want(t, "travelled", e.Travelled(0).String(), "1/3")
	run(t, e, DoNothing, MoveForward)
	want(t, "travelled after moving on", e.Travelled(0).String(), "2/3")
}

func TestQuirkAnArrivedTrainThatStaysGivesItsCellFree(t *testing.T) {
	s := line(8).eastbound(3, 4, Whole(1)).eastbound(1, 6, Whole(1))
	s.KeepAtTarget = true
	e := start(t, s, Options{})
	var err error
	for range 10 {
		if err = e.Step([]Action{MoveForward, MoveForward}); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "are both at (0, 4)") {
		t.Errorf("got %v, want trains 0 and 1 both at (0, 4)", err)
	}
}

func TestQuirkVisitsOutliveAReset(t *testing.T) {
	episode := func(e *Env) float64 {
		total := 0.0
		for _, a := range []Action{MoveForward, MoveForward, MoveForward, DoNothing, DoNothing, DoNothing, DoNothing, DoNothing} {
			if !e.AllDone() {
				run(t, e, a)
				total += e.Rewards(0)[0]
			}
		}
		return total
	}
	e := start(t, line(8).eastbound(1, 4, Whole(1)).via(2), Options{})
	run(t, e, MoveForward, MoveForward, MoveForward, StopMoving) // stands at its stop
	e.Reset(nil)
	run(t, e, MoveForward, MoveForward)
	want(t, "driving through, having stood there before the reset", episode(e), 0)
	e.Reset(nil)
	e.ForgetVisits()
	run(t, e, MoveForward, MoveForward)
	want(t, "driving through, all forgotten", episode(e), -1)
}

func TestQuirkElapsedCountsAStepAfterTheEnd(t *testing.T) {
	s := line(6).eastbound(1, 5, Whole(1))
	s.MaxEpisodeSteps = 1
	e := start(t, s, Options{})
	run(t, e, DoNothing)
	if err := e.Step([]Action{DoNothing}); err != ErrDone {
		t.Errorf("got %v, want ErrDone", err)
	}
	want(t, "elapsed", e.Elapsed(), 2)
}

func TestQuirkTheFirstVisitedAlternativeDecidesWhetherATrainStood(t *testing.T) {
	s := line(8).eastbound(1, 6, Whole(1)).via(2)
	stop := &s.Trains[0].Stops[1]
	stop.Alternatives = append(stop.Alternatives, Configuration{Cell{0, 3}, East})
	e := start(t, s, Options{})
	run(t, e, MoveForward, MoveForward, MoveForward, MoveForward, StopMoving) // through the first, stands in the second
	c, _ := e.Configuration(0)
	want(t, "column", c.Col, 3)
	total := 0.0
	for !e.AllDone() {
		run(t, e, MoveForward)
		total += e.Rewards(0)[0]
	}
	want(t, "reward", total, -1)
}

func TestQuirkTheCounterShowsZeroAStepEarly(t *testing.T) {
	e := start(t, line(8).eastbound(1, 6, Whole(1)), Options{})
	run(t, e, MoveForward, MoveForward)
	state := e.Snapshot()
	state.Trains[0].Malfunction = 2
	if err := e.Restore(state); err != nil {
		t.Fatal(err)
	}
	run(t, e, MoveForward, MoveForward)
	want(t, "counter", e.Malfunction(0), 0)
	want(t, "state", e.State(0), Malfunction)
	run(t, e, MoveForward)
	want(t, "state a step later", e.State(0), Moving)
}

func TestQuirkPunctualityMissesDeparturesIntoKnownCells(t *testing.T) {
	s := line(6).eastbound(4, 0, Whole(1)).via(5) // to the dead end and back through the start
	stop := &s.Trains[0].Stops[1]
	stop.Alternatives[0] = Configuration{Cell{0, 5}, East}
	e := start(t, s, Options{Rewards: []Rewards{{Kind: PunctualityReward}}})
	total := 0.0
	for !e.AllDone() {
		run(t, e, MoveForward)
		total += e.Rewards(0)[0]
	}
	want(t, "arrived", e.State(0), Done)
	want(t, "stops on time: start and target, as leaving the stop led to a cell it knew", total, 2)
}

func TestQuirkComponentsAreCutOffOneByOne(t *testing.T) {
	s := line(8).eastbound(1, 6, Whole(1)).eastbound(2, 7, Whole(1))
	s.MaxEpisodeSteps = 10
	base := Rewards{ComponentReward, ECML2026Factors()}
	e := start(t, s, Options{Rewards: []Rewards{base, ECML2026Rewards()}})
	components, scalar := NewTally(e, 0), NewTally(e, 1)
	for _, a := range []Action{MoveForward, MoveForward, StopMoving, MoveForward, StopMoving, DoNothing, DoNothing, DoNothing, DoNothing, DoNothing} {
		run(t, e, a)
		components.Add(e.Rewards(0))
		scalar.Add(e.Rewards(1))
	}
	got, _ := components.Normalized()
	capped, _ := scalar.Normalized()
	want(t, "of totals", capped, 0) // each train can lose 10 at most
	want(t, "of components, three times 10 for each train", got, -2)
}
