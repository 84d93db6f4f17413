package rail_test

import (
	"fmt"

	"skyrail/rail"
)

// A train on a line of five cells sees the dead end ahead, and its target on the way back.
func ExampleTreeObserver() {
	line := rail.Scenario{
		Width: 5, Height: 1,
		Grid: []rail.Transitions{4, 1025, 1025, 1025, 256},
		Trains: []rail.Train{{
			Initial:  rail.Configuration{Cell: rail.Cell{Row: 0, Col: 1}, Heading: rail.East},
			Target:   rail.Cell{Row: 0, Col: 0},
			MaxSpeed: rail.Whole(1),
		}},
	}
	env, err := rail.New(&line, rail.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	observer, err := rail.NewTreeObserver(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	observer.Look(env)
	root := observer.Tree(make([]float64, observer.Len()), 0)
	ahead, _ := root.Child(1)
	back, _ := ahead.Child(1)
	fmt.Println(root.At(rail.TreeTargetDistance), ahead.At(rail.TreeNextBranch), back.At(rail.TreeOwnTarget))
	// Output: 7 3 7
}
