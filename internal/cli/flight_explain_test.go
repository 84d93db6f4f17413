package cli

import (
	"slices"
	"testing"

	"skyrail/flight"
	"skyrail/flight/contest"
)

// What no short episode of the rules says is told here; the rest by the script flight_explain.
func TestAccountsInWords(t *testing.T) {
	order := contest.Order{Step: 3, Aircraft: 2, Clearance: flight.FLInc2}
	instead := func(cost contest.Change, drops ...int) *contest.Alternative {
		return &contest.Alternative{Order: contest.Order{Step: 4, Aircraft: 0, Clearance: flight.SpdDn}, Cost: cost, Drops: drops}
	}
	for name, c := range map[string]struct {
		account contest.Account
		want    []string
	}{
		"what is forbidden has no reason": {
			contest.Account{Order: order, Forbidden: true},
			[]string{"forbidden: counted as invalid, not flown"},
		},
		"losses are listed": {
			contest.Account{Order: order, Effect: contest.Effect{
				Cost: contest.Change{Failed: 1},
				Resolves: contest.Trouble{Losses: []contest.Loss{
					{Aircraft: 0, First: 5, Last: 6, MidAir: true}, {Aircraft: 1, First: 5, Last: 5}, {Aircraft: 3, First: 7, Last: 7, MidAir: true, Anyway: true},
				}},
				Alternative: instead(contest.Change{}),
			}},
			[]string{
				"keeps it from aircraft 0 (steps 5 to 6, a mid-air) and aircraft 1 (step 5)",
				"makes a mid-air a mere loss of separation: aircraft 3 (step 7)",
				"instead: aircraft 0 slower, then faster at step 4, just as good",
			},
		},
		"what it brings is weighed": {
			contest.Account{Order: order, Effect: contest.Effect{
				Cost:     contest.Change{Congestion: 1, ExitMiss: -0.25, Clearances: -1},
				Resolves: contest.Trouble{Losses: []contest.Loss{{Aircraft: 0, First: 5, Last: 6}}},
				Brings: contest.Trouble{
					Losses: []contest.Loss{{Aircraft: 1, First: 8, Last: 8}},
					Exit:   &contest.Exit{Levels: -2, OtherLevels: -1, Seconds: 1.44, OtherSeconds: 1e-14},
				},
				Alternative: instead(contest.Change{Congestion: 2, ExitMiss: -0.5, Clearances: 1, Touched: -1}, 5, 6, 20),
			}},
			[]string{
				"keeps it from aircraft 0 (steps 5 to 6)",
				"brings it too close to aircraft 1 (step 8)",
				"so it ends two levels down instead of one level down and leaves 1.4 s late",
				"is worth it; without it: 1 loss of separation more and exit miss 0.25 less",
				"instead: aircraft 0 slower, then faster at step 4, but 2 losses of separation more, exit miss 0.5 less, 1 clearance more and 1 aircraft fewer touched; " +
					"the clearances of steps 5, 6 and 20 are not legal then",
			},
		},
		"a gain that is no loss of separation is told": {
			contest.Account{Order: order, Effect: contest.Effect{Cost: contest.Change{ExitMiss: 0.2}}},
			[]string{"is worth it; without it: exit miss 0.2 more", "no other clearance does it"},
		},
		"what is better without it is told": {
			contest.Account{Order: order, Effect: contest.Effect{
				Cost:   contest.Change{Failed: -1, Congestion: 7, Clearances: -1},
				Brings: contest.Trouble{Losses: []contest.Loss{{Aircraft: 1, First: 8, Last: 8, MidAir: true, Anyway: true}}},
			}},
			[]string{"makes a loss of separation a mid-air: aircraft 1 (step 8)", "makes it worse; without it: the episode is completed"},
		},
		"an early exit": {
			contest.Account{Order: order, Effect: contest.Effect{
				Cost: contest.Change{ExitMiss: 0.1}, Resolves: contest.Trouble{Exit: &contest.Exit{Seconds: -5, OtherSeconds: -2}}, NeededBy: []int{9},
			}},
			[]string{"without it, it leaves 5.0 s early instead of 2.0 s early", "without it, the clearance of step 9 is not legal, and not flown", "no other clearance does it"},
		},
		"nothing comes of it": {
			contest.Account{Order: order, Effect: contest.Effect{Cost: contest.Change{Clearances: -1, Touched: -1}, Alternative: instead(contest.Change{Failed: -1})}},
			[]string{"changes no figure", "instead: aircraft 0 slower, then faster at step 4, better: the episode is completed"},
		},
		"one loss for another": {
			contest.Account{Order: order, Effect: contest.Effect{
				Cost:     contest.Change{Clearances: -1},
				Resolves: contest.Trouble{Losses: []contest.Loss{{Aircraft: 0, First: 5, Last: 5}}},
				Brings:   contest.Trouble{Losses: []contest.Loss{{Aircraft: 1, First: 6, Last: 6}}},
			}},
			[]string{"keeps it from aircraft 0 (step 5)", "brings it too close to aircraft 1 (step 6)", "changes no figure in all"},
		},
	} {
		if got := accountWords(c.account); !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%q, want\n%q", name, got, c.want)
		}
	}
}

func TestClearancesInWords(t *testing.T) {
	for c, want := range map[flight.Clearance]string{
		flight.FLDec:  "one level down",
		flight.FLInc:  "one level up",
		flight.FLDec2: "two levels down for 4 moves",
		flight.FLInc2: "two levels up for 4 moves",
		flight.SpdDn:  "slower for 5 steps, then faster for 5",
		flight.SpdUp:  "faster for 5 steps, then slower for 5",
		flight.Resume: "back to entry level and speed",
	} {
		if got := clearanceWords(c, flight.DefaultConfig().HoldSteps); got != want {
			t.Errorf("%v: got %q, want %q", c, got, want)
		}
	}
}
