package checkpoint_test

import (
	"fmt"

	"skyrail/flight"
	"skyrail/internal/checkpoint"
)

func Example() {
	policy, err := checkpoint.Open("testdata/ppo-default.zip")
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg := flight.DefaultConfig()
	pilot, err := policy.Agent(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	env, err := flight.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	obs := make([]float32, cfg.ObservationLen())
	env.Reset(1)
	env.Observe(obs)
	fmt.Println(policy)
	fmt.Println("first action:", pilot.Act(obs))
	// Output:
	// PPO, 103-64-64-36 Tanh, 24037 weights, Stable-Baselines3 2.9.2
	// first action: 8
}
