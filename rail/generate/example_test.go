package generate_test

import (
	"fmt"
	"log"

	"skyrail/rail"
	"skyrail/rail/generate"
)

func ExampleEnvironment() {
	p := generate.DefaultParameters()
	p.Seed, p.Agents, p.Rail.RailPairsInCity = 42, 3, 2
	env, err := generate.Environment(p, rail.ECML2026Rewards())
	if err != nil {
		log.Fatal(err)
	}
	for i := range env.Trains() {
		t := env.Scenario().Trains[i]
		fmt.Printf("train %d: from %s, not before step %d, to %s by step %d\n", i, t.Initial, t.EarliestDeparture, t.Target, t.LatestArrival)
	}
	fmt.Println("at most", env.MaxEpisodeSteps(), "steps")
	// Output:
	// train 0: from ((9, 5), 1), not before step 4, to (8, 20) by step 116
	// train 1: from ((9, 20), 1), not before step 62, to (12, 5) by step 118
	// train 2: from ((9, 20), 3), not before step 7, to (12, 5) by step 119
	// at most 126 steps
}
