package agent_test

import (
	"fmt"

	"skyrail/flight"
	"skyrail/flight/agent"
)

// An agent sees observations and answers with actions.
func Example() {
	cfg := flight.DefaultConfig()
	env, err := flight.New(cfg)
	if err != nil {
		panic(err)
	}
	a, err := agent.New("rule-based", cfg)
	if err != nil {
		panic(err)
	}
	env.Reset(1829385696)
	a.Reset()
	obs := make([]float32, cfg.ObservationLen())
	for range 3 {
		env.Observe(obs)
		action := a.Act(obs)
		if i, c, ok := flight.ParseAction(action); ok {
			fmt.Printf("aircraft %d: %v\n", i, c)
		}
		if _, err := env.Advance(action); err != nil {
			panic(err)
		}
	}
	// Output:
	// aircraft 0: FL_INC
	// aircraft 2: FL_DEC
	// aircraft 2: FL_DEC
}
