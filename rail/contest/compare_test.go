package contest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skyrail/rail"
	"skyrail/rail/agent"
)

func TestAppraise(t *testing.T) {
	reward := 0.5
	half := Figures{NormalizedReward: &reward, SuccessRate: 0.5}
	for name, c := range map[string]struct {
		spoil    func(o [][]Outcome)
		sum      float64
		levels   string // that were run, with what the gate says of each
		official string // "" for none
	}{
		"counts everything if the gate lets it": {
			func([][]Outcome) {}, 17.5, "0+ 1+ 2+ 3+ 4+ 5+ 6+", "17.5 of 7: passed",
		},
		"passes the gate exactly": {
			func(o [][]Outcome) { rates(o[2], 0.25) }, 17.5, "0+ 1+ 2+ 3+ 4+ 5+ 6+", "17.5 of 7: passed",
		},
		"is stopped just below the gate, and goes on behind it": {
			func(o [][]Outcome) { rates(o[2], 0.2499) }, 17.5, "0+ 1+ 2- 3+ 4+ 5+ 6+",
			"7.5 of 3: level 2: mean success rate 0.2499 is below the gate of 0.25",
		},
		"is stopped by the first of two levels": {
			func(o [][]Outcome) { rates(o[1], 0); rates(o[4], 0.1) }, 17.5, "0+ 1- 2+ 3+ 4- 5+ 6+",
			"5 of 2: level 1: mean success rate 0 is below the gate of 0.25",
		},
		"has no official score of some levels": {
			func(o [][]Outcome) {
				for _, l := range []int{1, 2, 4, 5, 6} {
					missing(o[l:l+1], 0, 0)
				}
				rates(o[3], 0)
			}, 5, "0+ 3-", "",
		},
		"leaves out a level that is not complete": {
			func(o [][]Outcome) { o[4][3] = Outcome{Missing: true} }, 15, "0+ 1+ 2+ 3+ 5+ 6+", "",
		},
		"leaves out a level with a failure": {
			func(o [][]Outcome) { o[6][0].Failure = "trace invalid" }, 15, "0+ 1+ 2+ 3+ 4+ 5+", "",
		},
		"leaves out a level without normalised rewards": {
			func(o [][]Outcome) { o[0][4].NormalizedReward = nil }, 15, "1+ 2+ 3+ 4+ 5+ 6+", "",
		},
		"leaves out a level that is cut short": {
			func(o [][]Outcome) { o[6] = o[6][:4] }, 15, "0+ 1+ 2+ 3+ 4+ 5+", "",
		},
		"is nothing without any": {func(o [][]Outcome) { missing(o, 0, 0) }, 0, "", ""},
	} {
		t.Run("it "+name, func(t *testing.T) {
			competition := ecml(t)
			outcomes := all(competition, half)
			for l := range outcomes {
				for k := range outcomes[l] {
					outcomes[l][k].Seconds = 0 // as Run leaves it
				}
			}
			c.spoil(outcomes)
			a := competition.Appraise(outcomes)
			var levels []string
			for _, level := range a.Levels {
				levels = append(levels, strings.TrimPrefix(level.Name, "level_")+map[Verdict]string{Passed: "+", Stopped: "-"}[*level.Gate])
			}
			official := ""
			if o := a.Official; o != nil {
				official = fmt.Sprintf("%v of %d: ", o.NormalizedReward, len(o.Levels))
				if o.Termination == nil {
					official += "passed"
				} else {
					official += o.Termination.String()
				}
				if d := cmp.Diff(competition.Score(outcomes), *o); d != "" {
					t.Errorf("the official score is not that of Score (-want +got):\n%s", d)
				}
				if d := cmp.Diff(o.Levels, a.Levels[:len(o.Levels)]); d != "" {
					t.Errorf("the levels are not the official ones (-official +all):\n%s", d)
				}
			}
			got := strings.Join(levels, " ")
			if math.Abs(a.NormalizedReward-c.sum) > 1e-12 || got != c.levels || official != c.official {
				t.Errorf("got %v, levels %s, official %q; want %v, %s, %q", a.NormalizedReward, got, official, c.sum, c.levels, c.official)
			}
		})
	}
}

func TestAppraiseTakesMeansAndSums(t *testing.T) {
	c := ecml(t)
	outcomes := all(c, Figures{})
	want := Components{}
	for l := range outcomes {
		for k := range outcomes[l] {
			reward := float64(l) / 8
			parts := Components{}
			parts[rail.Collision], parts[rail.Cancellation] = -250*float64(k), -float64(l)
			for i, v := range parts {
				want[i] += v
			}
			outcomes[l][k].Figures = Figures{NormalizedReward: &reward, SuccessRate: float64(l+1) / 8, Components: &parts, Trains: c.Levels[l].Trains[k]}
		}
	}
	a := c.Appraise(outcomes)
	if want := 5 * 21.0 / 8; a.NormalizedReward != want || *a.SuccessRate != 0.5 {
		t.Errorf("got %v with success rate %v, want %v with 0.5", a.NormalizedReward, *a.SuccessRate, want)
	}
	if a.Components != want || *a.Composition != *Composition(want) {
		t.Errorf("got %v, %v; want %v, %v", a.Components, *a.Composition, want, *Composition(want))
	}
	if got := a.OtherTrains(c); len(got) != 0 {
		t.Errorf("got other trains %v, want none", got)
	}
	outcomes[3][1].Trains = 9
	missing(outcomes[:2], 0, 0)
	outcomes[2][0].Trains = 8
	missing(outcomes[2:3], 0, 4) // not complete, and so not run
	got := c.Appraise(outcomes).OtherTrains(c)
	if want := (OtherTrains{"level_3_scenario_2", 9, c.Levels[3].Trains[1]}); len(got) != 1 || got[0] != want {
		t.Errorf("got other trains %v, want %v alone", got, want)
	}
}

// bench is a suite of two levels, with three scenarios and two, that differ in their limit of steps.
type bench struct {
	competition *Competition
	scenario    *rail.Scenario
}

func newBench(t *testing.T) bench {
	t.Helper()
	c := ecml(t)
	c.Levels = []Level{{Name: "level_0", Trains: []int{6, 6, 6}, Stops: []int{3, 3, 3}}, {Name: "level_1", Trains: []int{6, 6}, Stops: []int{3, 3}}}
	return bench{c, readRecording(t, filepath.Join(trajectories, "ecml_level_0_scenario_1")).file.Scenario}
}

func limitOf(level, scenario int) int { return 60 + 10*(3*level+scenario) }

func (b bench) open(level, scenario int) (*rail.Env, error) {
	s := *b.scenario
	s.MaxEpisodeSteps = limitOf(level, scenario)
	return rail.New(&s, rail.Options{})
}

func dispatcher() (agent.Policy, error) { return agent.New("deadlock-avoidance", agent.Options{}) }

func TestRunIsInOrderForEveryNumberOfJobs(t *testing.T) {
	b := newBench(t)
	want := make([][]Outcome, 2)
	for l, level := range b.competition.Levels {
		for k := range level.Trains {
			e, err := b.open(l, k)
			if err != nil {
				t.Fatal(err)
			}
			p, err := dispatcher()
			if err != nil {
				t.Fatal(err)
			}
			figures, err := Play(t.Context(), e, p, PlayOptions{Rewards: rail.ECML2026Rewards()})
			if err != nil || figures.Steps != limitOf(l, k) || figures.NormalizedReward == nil {
				t.Fatalf("got %+v, %v; want an episode of %d steps", figures, err, limitOf(l, k))
			}
			want[l] = append(want[l], Outcome{Figures: figures})
		}
	}
	for _, jobs := range []int{0, 1, 4} {
		var mu sync.Mutex
		done := map[[2]int]int{}
		last := make(chan struct{})
		suite := Suite{
			Open: func(level, scenario int) (*rail.Env, error) {
				if jobs > 1 && level == 0 && scenario == 0 {
					<-last // the first one ends behind the last one
				}
				return b.open(level, scenario)
			},
			Done: func(level, scenario int) {
				mu.Lock()
				defer mu.Unlock()
				done[[2]int{level, scenario}]++
				if level == 1 && scenario == 1 {
					close(last)
				}
			},
		}
		got, err := b.competition.Run(t.Context(), suite, jobs, dispatcher)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%d jobs: %v (-want +got)\n%s", jobs, err, d)
		}
		if want := map[[2]int]int{{0, 0}: 1, {0, 1}: 1, {0, 2}: 1, {1, 0}: 1, {1, 1}: 1}; !cmp.Equal(done, want) {
			t.Errorf("%d jobs: done %v, want each scenario once", jobs, done)
		}
	}
}

func TestRunOfSomeLevelsOpensNoOther(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		levels []int
		played string
	}{
		"all":        {nil, "0.0 0.1 0.2 1.0 1.1"},
		"the second": {[]int{1}, "1.0 1.1"},
		"none":       {[]int{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var opened, played []string
			open := func(level, scenario int) (*rail.Env, error) {
				opened = append(opened, fmt.Sprintf("%d.%d", level, scenario))
				return b.open(level, scenario)
			}
			outcomes, err := b.competition.Run(t.Context(), Suite{Levels: c.levels, Open: open}, 1, dispatcher)
			if err != nil || len(outcomes) != 2 || len(outcomes[0]) != 3 || len(outcomes[1]) != 2 {
				t.Fatalf("got %v, %v; want outcomes of 3 and 2 scenarios", outcomes, err)
			}
			for l := range outcomes {
				for k, o := range outcomes[l] {
					if !o.Missing {
						played = append(played, fmt.Sprintf("%d.%d", l, k))
					}
				}
			}
			if a, b := strings.Join(opened, " "), strings.Join(played, " "); a != c.played || b != c.played {
				t.Errorf("opened %s, played %s, want %s", a, b, c.played)
			}
		})
	}
}

// lame is a policy that fails in a step.
type lame struct {
	agent.Always
	step int
}

var errLame = errors.New("out of order")

func (p lame) Act(v agent.View, actions []rail.Action) error {
	if v.Elapsed() == p.step {
		return errLame
	}
	return p.Always.Act(v, actions)
}

func TestRunTellsTheFirstFault(t *testing.T) {
	b := newBench(t)
	errClosed := errors.New("closed")
	change := func(f func(*rail.Scenario)) func() (*rail.Env, error) {
		return func() (*rail.Env, error) {
			s := *b.scenario
			f(&s)
			return rail.New(&s, rail.Options{})
		}
	}
	for name, c := range map[string]struct {
		open func() (*rail.Env, error) // of the last scenario of both levels
		p    func() (agent.Policy, error)
		is   error
		want string
		done int // with one job
	}{
		"an environment that does not open": {
			func() (*rail.Env, error) { return nil, errClosed }, dispatcher, errClosed, "level_0_scenario_3: closed", 2,
		},
		"one without trains": {
			change(func(s *rail.Scenario) { s.Trains = nil }), dispatcher, ErrNoTrains, "level_0_scenario_3: the environment has no trains", 2,
		},
		"one without limit": {
			change(func(s *rail.Scenario) { s.MaxEpisodeSteps = 0 }), dispatcher, ErrNoLimit,
			"level_0_scenario_3: the environment has no limit of steps", 2,
		},
		"a policy that fails": {
			nil, func() (agent.Policy, error) { return lame{step: 7}, nil }, errLame, "level_0_scenario_1: the policy, in step 8: out of order", 0,
		},
		"a policy that is none": {
			nil, func() (agent.Policy, error) { return agent.New("nobody", agent.Options{}) }, nil, "level_0_scenario_1: unknown policy", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, jobs := range []int{1, 4} {
				var mu sync.Mutex
				var done []int
				suite := Suite{
					Open: func(level, scenario int) (*rail.Env, error) {
						if c.open != nil && scenario == 2-level {
							return c.open()
						}
						return b.open(level, scenario)
					},
					Done: func(level, scenario int) {
						mu.Lock()
						defer mu.Unlock()
						done = append(done, 3*level+scenario)
					},
				}
				outcomes, err := b.competition.Run(t.Context(), suite, jobs, c.p)
				if err == nil || !strings.HasPrefix(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) || outcomes != nil {
					t.Errorf("%d jobs: got %v, %v; want %q", jobs, outcomes, err, c.want)
				}
				slices.Sort(done)
				if len(done) < c.done || jobs == 1 && len(done) > c.done || len(done) >= 2 && !slices.Equal(done[:2], []int{0, 1}) {
					t.Errorf("%d jobs: done %v, want the first %d", jobs, done, c.done)
				}
			}
		})
	}
}

func TestRunNeedsARewardThatIsNormalised(t *testing.T) {
	b := newBench(t)
	for rewards, want := range map[string]string{"punctuality": "punctuality has no normalised reward", "gold": "no reward function"} {
		b.competition.Rewards = rewards
		opened := false
		open := func(int, int) (*rail.Env, error) { opened = true; return nil, errors.New("opened") }
		if _, err := b.competition.Run(t.Context(), Suite{Open: open}, 1, dispatcher); err == nil || !strings.Contains(err.Error(), want) || opened {
			t.Errorf("%s: got %v, opened %v; want %q", rewards, err, opened, want)
		}
	}
}

func TestAnInterruptEndsRun(t *testing.T) {
	b := newBench(t)
	for _, jobs := range []int{1, 4} {
		ctx, cancel := context.WithCancel(t.Context())
		open := func(level, scenario int) (*rail.Env, error) {
			if level == 1 {
				cancel()
			}
			return b.open(level, scenario)
		}
		if outcomes, err := b.competition.Run(ctx, Suite{Open: open}, jobs, dispatcher); err != context.Canceled || outcomes != nil {
			t.Errorf("%d jobs: got %v, %v; want an interrupt", jobs, outcomes, err)
		}
		cancel()
	}
}
