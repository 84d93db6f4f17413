package contest

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/numpyrand"
)

// Epsilons are the shares of random actions that a post-mortem mixes in.
var Epsilons = [...]float64{0.05, 0.1, 0.25}

// ExtractionRollouts is how many sampled episodes of a seed best-extraction chooses from.
const ExtractionRollouts = 8

// The passes of a post-mortem, beside the ε-random ones, which EpsilonPass names.
const (
	Deterministic  = "deterministic"
	DoNothing      = "do-nothing"
	Stochastic     = "stochastic"
	NextBest       = "next-best"
	BestExtraction = "best-extraction"
)

// EpsilonPass names the ε-random pass of an ε.
func EpsilonPass(eps float64) string { return fmt.Sprintf("ε-random %g", eps) }

// Pass is one way of flying an agent over all seeds.
type Pass struct {
	Name  string `json:"pass"`
	Score Score  `json:"score"`
}

// Gap is how much worse one pass did than another; negative is better.
type Gap struct {
	Failed     int `json:"failed"`
	Congestion int `json:"congestion"`
}

// size orders gaps, failed episodes first.
func (g Gap) size() [2]int { return [2]int{max(g.Failed, -g.Failed), max(g.Congestion, -g.Congestion)} }

// Report is the post-mortem of one agent.
type Report struct {
	Agent          string   `json:"agent"`
	Distribution   bool     `json:"has_distribution"`
	Passes         []Pass   `json:"passes"`
	Skipped        []string `json:"skipped_passes,omitempty"`
	SkippedWhy     string   `json:"skipped_because,omitempty"`
	BeatsDoNothing bool     `json:"beats_do_nothing"`          // by the rank key
	StochasticGap  Gap      `json:"stochastic_gap"`            // stochastic minus deterministic: what sampling costs
	MarginReliance *Gap     `json:"margin_reliance,omitempty"` // next-best minus deterministic: what the first choice is worth
}

// Score returns the score of a pass; ok is false if the report has no such pass.
func (r Report) Score(pass string) (s Score, ok bool) {
	for _, p := range r.Passes {
		if p.Name == pass {
			return p.Score, true
		}
	}
	return Score{}, false
}

// pass says how to fly an agent: player makes what is flown of a fresh agent. With several rollouts a seed the
// best episode counts.
type pass struct {
	name     string
	rollouts int
	player   func(a agent.Agent, rollout int) agent.Agent
}

// passesOf returns the passes in the order of the report.
func passesOf(cfg flight.Config, distribution bool) []pass {
	asIs := func(a agent.Agent, _ int) agent.Agent { return a }
	sampled := func(a agent.Agent, rollout int) agent.Agent {
		return agent.NewSampled(a.(agent.Distribution), cfg, uint64(rollout))
	}
	passes := []pass{
		{Deterministic, 1, asIs},
		{DoNothing, 1, func(agent.Agent, int) agent.Agent { return agent.Noop{} }},
	}
	if distribution {
		passes = append(passes,
			pass{Stochastic, 1, sampled},
			pass{NextBest, 1, func(a agent.Agent, _ int) agent.Agent {
				return agent.NewNextBest(a.(agent.Distribution), cfg)
			}})
	} else {
		passes = append(passes, pass{Stochastic, 1, asIs}) // nothing to sample: it flies as it is
	}
	for _, eps := range Epsilons {
		passes = append(passes, pass{EpsilonPass(eps), 1, func(a agent.Agent, _ int) agent.Agent {
			return newEpsilonRandom(a, cfg, eps)
		}})
	}
	if distribution {
		passes = append(passes, pass{BestExtraction, ExtractionRollouts, sampled})
	}
	return passes
}

// PostMortemEpisodes returns how many episodes PostMortem flies for an agent.
func PostMortemEpisodes(a agent.Agent, cfg flight.Config, seeds int) int {
	_, distribution := a.(agent.Distribution)
	n := 0
	for _, p := range passesOf(cfg, distribution) {
		n += p.rollouts * seeds
	}
	return n
}

// PostMortem flies an agent in every way there is. fresh makes a new agent; the seeds are flown in the order
// given, which decides what the ε-random passes draw. Up to workers passes run at once; flown, if not nil, is
// called after each episode, by several goroutines at once.
func PostMortem(ctx context.Context, cfg flight.Config, seeds []uint64, workers int, name string, fresh func() (agent.Agent, error), flown func()) (Report, error) {
	a, err := fresh()
	if err != nil {
		return Report{}, err
	}
	r := Report{Agent: name}
	_, r.Distribution = a.(agent.Distribution)
	passes := passesOf(cfg, r.Distribution)

	r.Passes = make([]Pass, len(passes))
	faults := make([]error, len(passes))
	var group errgroup.Group
	group.SetLimit(max(workers, 1))
	for i, p := range passes {
		group.Go(func() error {
			r.Passes[i].Name = p.name
			r.Passes[i].Score, faults[i] = p.fly(ctx, cfg, seeds, fresh, flown)
			return nil
		})
	}
	group.Wait()
	for _, err := range faults { // the first in the order of the report is the one told
		if err != nil {
			return Report{}, err
		}
	}

	plain, _ := r.Score(Deterministic)
	idle, _ := r.Score(DoNothing)
	r.BeatsDoNothing = plain.Key().Compare(idle.Key()) < 0
	gap := func(pass string) Gap {
		s, _ := r.Score(pass)
		return Gap{s.Failed - plain.Failed, s.Congestion - plain.Congestion}
	}
	r.StochasticGap = gap(Stochastic)
	if r.Distribution {
		g := gap(NextBest)
		r.MarginReliance = &g
	} else {
		r.Skipped = []string{NextBest, BestExtraction}
		r.SkippedWhy = "the agent has no action distribution: it names one action, without probabilities"
	}
	return r, nil
}

// fly flies one pass: the seeds in order, with one set of players.
func (p pass) fly(ctx context.Context, cfg flight.Config, seeds []uint64, fresh func() (agent.Agent, error), flown func()) (_ Score, err error) {
	env, err := flight.New(cfg)
	if err != nil {
		return Score{}, err
	}
	players := make([]agent.Agent, p.rollouts)
	for k := range players {
		a, fault := fresh()
		if fault != nil {
			return Score{}, fault
		}
		defer func() { err = errors.Join(err, ending(a)()) }()
		players[k] = p.player(a, k)
	}
	episodes := make([]Episode, len(seeds))
	for i, seed := range seeds {
		for k, player := range players {
			if err := ctx.Err(); err != nil {
				return Score{}, err
			}
			ep, err := Play(env, player, seed)
			if err != nil {
				return Score{}, fmt.Errorf("%s: %w", p.name, err)
			}
			if k == 0 || ep.better(episodes[i]) {
				episodes[i] = ep
			}
			if flown != nil {
				flown()
			}
		}
	}
	return NewScore(episodes), nil
}

// better reports whether e is the one to keep of two rollouts of a seed: completed, then less congestion, exit
// miss and clearances.
func (e Episode) better(o Episode) bool {
	if e.Completed != o.Completed {
		return e.Completed
	}
	return cmp.Or(
		cmp.Compare(e.Congestion, o.Congestion),
		cmp.Compare(e.ExitMiss, o.ExitMiss),
		cmp.Compare(e.Clearances, o.Clearances)) < 0
}

// epsilonRandom replaces an agent's action, with probability eps, by a uniformly drawn legal one. One stream,
// NumPy's default_rng(0), lasts for the whole pass: one draw a step, after the agent has answered, and one
// choice more where that is replaced.
type epsilonRandom struct {
	agent.Agent
	eps    float64
	stream numpyrand.Generator
	maskAt int
	legal  []int
}

func newEpsilonRandom(a agent.Agent, cfg flight.Config, eps float64) *epsilonRandom {
	return &epsilonRandom{Agent: a, eps: eps, stream: numpyrand.NewGenerator(0), maskAt: cfg.ObservationLen() - cfg.Actions()}
}

// Unwrap returns the agent whose actions are replaced.
func (e *epsilonRandom) Unwrap() agent.Agent { return e.Agent }

func (e *epsilonRandom) Act(obs []float32) int {
	action := e.Agent.Act(obs)
	if e.stream.Random() < e.eps {
		e.legal = agent.LegalActions(e.legal[:0], obs[e.maskAt:])
		action = e.legal[e.stream.Choice(len(e.legal))]
	}
	return action
}
