package rail

import (
	"slices"
	"testing"
)

// straight is a line of six cells with a dead end at each end, west to east.
var straight = []Transitions{4, 1025, 1025, 1025, 1025, 256}

// standing is a train on the map, and where it goes.
type standing struct {
	at          Configuration
	target      Cell
	speed       string
	malfunction int
	waiting     bool // it is still to enter there
}

// observedTrains is an environment of a grid with trains at their places.
func observedTrains(t *testing.T, width int, grid []Transitions, trains ...standing) *Env {
	t.Helper()
	s := &Scenario{Width: width, Height: len(grid) / width, Grid: grid}
	for _, tr := range trains {
		speed, err := ParseFraction(tr.speed)
		if err != nil {
			t.Fatal(err)
		}
		s.Trains = append(s.Trains, Train{Initial: tr.at, Target: tr.target, MaxSpeed: speed})
	}
	e, err := New(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	state := e.Snapshot()
	for i, tr := range trains {
		state.Trains[i].Malfunction = tr.malfunction
		if !tr.waiting {
			state.Trains[i].State, state.Trains[i].Configuration = Moving, tr.at
		}
	}
	if err := e.Restore(state); err != nil {
		t.Fatal(err)
	}
	return e
}

func predictedColumns(p []Prediction) (columns []int, actions []Action) {
	for _, row := range p {
		columns = append(columns, row.Col)
		actions = append(actions, row.Action)
	}
	return columns, actions
}

// TestShortestPathPredictorQuirks is about what the reference does with odd speeds, long ways and none.
func TestShortestPathPredictorQuirks(t *testing.T) {
	const go_, stop = DoNothing, StopMoving
	from, across := Configuration{Cell{0, 1}, East}, []Transitions{4, 1025, 1025, 1025, 1025, 256, 0}
	for _, c := range []struct {
		name    string
		target  Cell
		speed   string
		columns []int
		actions []Action
	}{
		{"arrives and stands", Cell{0, 3}, "1", []int{1, 2, 3, 3, 3}, []Action{go_, go_, go_, stop, stop}},
		{"takes 2/5 for 1/2", Cell{0, 4}, "2/5", []int{1, 1, 2, 2, 3}, []Action{go_, go_, go_, go_, go_}},
		{"is cut off", Cell{0, 5}, "1", []int{1, 2, 3, 4, 4}, []Action{go_, go_, go_, go_, stop}},
		{"stands without a way", Cell{0, 6}, "1", []int{1, 1, 1, 1, 1}, []Action{go_, stop, stop, stop, stop}},
		{"never moves at speed 0", Cell{0, 4}, "0", []int{1, 1, 1, 1, 1}, []Action{go_, go_, go_, go_, go_}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := observedTrains(t, 7, across, standing{at: from, target: c.target, speed: c.speed})
			got := make([]Prediction, 5)
			var p ShortestPathPredictor
			if !p.Predict(got, e, 0) {
				t.Fatal("got no prediction")
			}
			columns, actions := predictedColumns(got)
			if !slices.Equal(columns, c.columns) || !slices.Equal(actions, c.actions) {
				t.Errorf("got columns %v by %v, want %v by %v", columns, actions, c.columns, c.actions)
			}
		})
	}
}

func TestStepsPerCellOfAnySpeed(t *testing.T) {
	for speed, want := range map[string]int{
		"1": 1, "2/3": 1, "1/3": 3, "1/100000000000000000000": 1<<63 - 1, "30000000000000000000/100000000000000000001": 3,
	} {
		f, err := ParseFraction(speed)
		if err != nil {
			t.Fatal(err)
		}
		if got := stepsPerCell(f); got != want {
			t.Errorf("speed %s: got %d, want %d", speed, got, want)
		}
	}
}

// TestPredictForwardLikeFlatland compares with flatland-rl 4.2.5's DummyPredictorForRailEnv(12).
func TestPredictForwardLikeFlatland(t *testing.T) {
	e := observed(t, "t04_tiles_8ag_plan", 36)
	for i, want := range map[int][13][4]int{
		3: {
			{2, 3, 2, 0}, {3, 3, 2, 2}, {4, 3, 2, 2}, {4, 2, 3, 2}, {4, 1, 3, 2}, {4, 0, 3, 2}, {3, 0, 0, 2}, {3, 1, 1, 2},
			{2, 1, 0, 1}, {2, 0, 3, 2}, {2, 1, 1, 2}, {3, 1, 2, 2}, {3, 0, 3, 2},
		},
		4: {
			{3, 6, 2, 0}, {4, 6, 2, 2}, {5, 6, 2, 2}, {5, 6, 2, 4}, {5, 6, 2, 4}, {5, 6, 2, 4}, {5, 6, 2, 4}, {5, 6, 2, 4},
			{5, 6, 2, 4}, {5, 6, 2, 4}, {5, 6, 2, 4}, {5, 6, 2, 4}, {5, 6, 2, 4},
		},
	} {
		got := make([]Prediction, 13)
		if ok, err := e.PredictForward(got, i); !ok || err != nil {
			t.Fatalf("train %d: got %v, %v, want a prediction", i, ok, err)
		}
		for k, row := range got {
			if g := [4]int{row.Row, row.Col, int(row.Heading), int(row.Action)}; g != want[k] || row.Time != k {
				t.Errorf("train %d, row %d: got %v at %d, want %v", i, k, g, row.Time, want[k])
			}
		}
	}
	if ok, err := e.PredictForward(make([]Prediction, 3), 1); ok || err != nil {
		t.Errorf("got %v, %v for a train that is not on the map, want no prediction", ok, err)
	}
}

func TestPredictForwardFailsAtTheEndOfTheLine(t *testing.T) {
	e := observedTrains(t, 3, []Transitions{1025, 1025, 1025}, standing{at: Configuration{Cell{0, 1}, East}, target: Cell{0, 0}, speed: "1"})
	if ok, err := e.PredictForward(make([]Prediction, 4), 0); ok || err == nil {
		t.Errorf("got %v, %v, want an error", ok, err)
	}
}
