package flight_test

import (
	"fmt"

	"skyrail/flight"
)

// An episode of the ranked scenario in which nobody speaks ends in a mid-air.
func ExampleEnv() {
	env, err := flight.New(flight.DefaultConfig())
	if err != nil {
		panic(err)
	}
	env.Reset(1829385696)
	for !env.Status().Over() {
		if _, _, err := env.Step(flight.Idle); err != nil {
			panic(err)
		}
	}
	var info flight.Info
	env.Info(&info)
	fmt.Println(env.StepCount(), "steps, mid-air:", info.Collided)
	fmt.Println("congestion", info.CongestionTotal)
	// Output:
	// 15 steps, mid-air: true
	// congestion 23
}

// The predicted conflicts tell who will be too close to whom, and when.
func ExampleEnv_Conflicts() {
	env, err := flight.New(flight.DefaultConfig())
	if err != nil {
		panic(err)
	}
	env.Reset(912778539)
	for _, c := range env.Conflicts(nil) {
		fmt.Printf("aircraft %d and %d: closest in %.1f s, at %.0f m\n", c.I, c.J, c.Cpa, c.Distance)
	}
	action := flight.Action(0, flight.FLInc2)
	fmt.Println("action", action, "legal:", env.Legal(action))
	// Output:
	// aircraft 0 and 1: closest in 38.0 s, at 6 m
	// action 4 legal: true
}

func ExampleEnv_Clone() {
	env, err := flight.New(flight.DefaultConfig())
	if err != nil {
		panic(err)
	}
	env.Reset(7)
	what := env.Clone() // what if aircraft 2 climbed?
	if _, err := what.Advance(flight.Action(2, flight.FLInc)); err != nil {
		panic(err)
	}
	fmt.Println(env.StepCount(), what.StepCount(), env.Equal(what))
	// Output: 0 1 false
}
