package agent_test

import (
	"fmt"

	"skyrail/rail"
	"skyrail/rail/agent"
)

// A policy answers for all trains at once. Here two trains want to use one line in opposite directions.
func Example() {
	const eastWest = 1025 // straight on for headings east and west
	line := &rail.Scenario{Width: 8, Height: 1, MaxEpisodeSteps: 40, Grid: []rail.Transitions{
		eastWest, eastWest, eastWest, eastWest, eastWest, eastWest, eastWest, eastWest,
	}}
	for _, t := range []struct {
		start, target int
		heading       rail.Heading
	}{{1, 6, rail.East}, {6, 1, rail.West}} {
		line.Trains = append(line.Trains, rail.Train{
			Initial:  rail.Configuration{Cell: rail.Cell{Col: t.start}, Heading: t.heading},
			Target:   rail.Cell{Col: t.target},
			MaxSpeed: rail.Whole(1), LatestArrival: 30,
		})
	}
	for _, name := range []string{"shortest-path", "deadlock-avoidance"} {
		env, err := rail.New(line, rail.Options{})
		if err != nil {
			panic(err)
		}
		p, err := agent.New(name, agent.Options{})
		if err != nil {
			panic(err)
		}
		actions := make([]rail.Action, env.Trains())
		err = p.Reset(env)
		for err == nil && !env.AllDone() {
			if err = p.Act(env, actions); err == nil {
				err = env.Step(actions)
			}
		}
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %v, %v after %d steps\n", name, env.State(0), env.State(1), env.Elapsed())
	}
	// Output:
	// shortest-path: STOPPED, STOPPED after 40 steps
	// deadlock-avoidance: DONE, DONE after 13 steps
}
