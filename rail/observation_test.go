package rail

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestObserveTransitionsWritesTheBits(t *testing.T) {
	net, err := NewNetwork(1, 2, []Transitions{DiamondCrossing, 4})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, TransitionBits*2)
	net.ObserveTransitions(got)
	want := strings.Split("1000010000100001"+"0000000000000100", "")
	if text := strings.Split(strings.Trim(strings.ReplaceAll(fmt.Sprint(got), " ", ""), "[]"), ""); !slices.Equal(text, want) {
		t.Errorf("got %v, want %v", text, want)
	}
}

// TestGlobalQuirkShowsTheLastTrainInACell: on a bridge the channels hold one train, and the observing one's own heading
// is beside the other's.
func TestGlobalQuirkShowsTheLastTrainInACell(t *testing.T) {
	e := observedTrains(t, 1, []Transitions{DiamondCrossing},
		standing{at: Configuration{Cell{0, 0}, East}, target: Cell{0, 0}, speed: "1/2", malfunction: 4},
		standing{at: Configuration{Cell{0, 0}, South}, target: Cell{0, 0}, speed: "1/3"})
	state, targets := make([]float64, GlobalState), make([]float64, GlobalTargets)
	for i, want := range [][]float64{{1, 2, 0, 1. / 3, 0}, {2, 1, 0, 1. / 3, 0}} {
		e.ObserveGlobal(state, targets, i)
		if !slices.Equal(state, want) {
			t.Errorf("train %d: got %v, want %v", i, state, want)
		}
		if !slices.Equal(targets, []float64{1, 1}) {
			t.Errorf("train %d: got targets %v, want 1, 1", i, targets)
		}
	}
}
