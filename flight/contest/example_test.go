package contest_test

import (
	"context"
	"fmt"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/flight/contest"
)

// The published board: three agents over the published seeds, in ranked order.
func Example() {
	cfg := flight.DefaultConfig()
	names := agent.Names()
	var scores []contest.Score
	for _, name := range names {
		fresh := func() (agent.Agent, error) { return agent.New(name, cfg) }
		episodes, err := contest.Run(context.Background(), cfg, contest.PublicSeeds(), 2, fresh, nil)
		if err != nil {
			panic(err)
		}
		scores = append(scores, contest.NewScore(episodes))
	}
	for place, i := range contest.Rank(scores) {
		s := scores[i]
		fmt.Printf("%d %s %d/%d/%.4f/%d/%d\n", place+1, names[i], s.Failed, s.Congestion, s.ExitMiss, s.Clearances, s.Touched)
	}
	// Output:
	// 1 rule-based 20/96/0.5700/727/231
	// 2 random 76/667/0.7012/2947/497
	// 3 noop 100/752/0.0000/0/0
}

func ExamplePacked_Unpack() {
	u, _ := contest.Packed(40026885486301).Unpack()
	fmt.Println(u.Failed, u.Congestion, u.ExitMiss, u.Clearances)
	// Output: 10 176 0.13 2089
}
