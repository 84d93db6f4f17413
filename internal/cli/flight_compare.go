package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/flight/contest"
	"skyrail/internal/pyworker"
)

func newCompare(a *app) *cobra.Command {
	var f flightFlags
	var holdout float64
	var perEpisode bool
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Fly agents over the seeds and print the board",
		Long: `Fly every agent over the same seeds and print the board, in ranked order.

With --holdout the two halves of the list are shown beside the total, split as a hosted board does: of the
published list, the live and the hidden one; with --private the organiser's secret list too. An agent that does not beat doing nothing
is marked. Below the board is what no agent can do better than, where one knows.`,
		Example: `  skyrail flight compare --agent noop --agent random --agent rule-based
  skyrail flight compare --agent rule-based --holdout 0.4 --json
  skyrail flight compare --agent planner --budget 2M --per-episode`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			p, err := f.plan(cmd)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.close()) }()
			if err := checkHoldout(cmd, holdout, p.list); err != nil {
				return err
			}
			lists := []seedList{p.list}
			if f.private != "" {
				secret, err := f.privateList()
				if err != nil {
					return err
				}
				lists = append(lists, secret)
			}

			results, err := a.fly(cmd.Context(), &f, p, lists)
			if err != nil {
				return err
			}
			bs := boards{
				ScoreVersion: contest.ScoreVersion, OffLeaderboard: p.offLeaderboard,
				NotReproducible: f.notReproducible(), Repeat: repeat(cmd),
			}
			for i, l := range lists {
				r := results[i]
				bs.Boards = append(bs.Boards, newBoard(l, r.entries, contest.NewScore(r.nothing), perEpisode))
				if i == 0 && holdout > 0 {
					bs.Boards = append(bs.Boards, r.halves(l, holdout)...)
				}
			}
			if f.json {
				return printJSON(a.out, bs)
			}
			bs.print(a.out)
			return nil
		},
	}
	f.agent(cmd)
	f.list(cmd)
	f.secret(cmd)
	f.scenario(cmd)
	f.parallel(cmd)
	f.machine(cmd)
	cmd.Flags().Float64Var(&holdout, "holdout", 0, "show the live and the hidden half too; the share of seeds that is hidden, such as 0.4")
	cmd.Flags().BoolVar(&perEpisode, "per-episode", false, "show the figures of every episode too")
	return cmd
}

// checkHoldout demands a share that leaves both halves a seed; not given is fine.
func checkHoldout(cmd *cobra.Command, holdout float64, l seedList) error {
	if !cmd.Flags().Changed("holdout") {
		return nil
	}
	if !(holdout > 0 && holdout < 1) {
		return usage(fmt.Errorf("--holdout %v: it must be a share between 0 and 1, such as %v", holdout, contest.DefaultHoldout))
	}
	if live, hidden := contest.Split(l.seeds, holdout); len(live) == 0 || len(hidden) == 0 {
		return usage(fmt.Errorf("--holdout %v: of %s it makes %d live and %d hidden ones, each half needs a seed",
			holdout, count(len(l.seeds), "seed"), len(live), len(hidden)))
	}
	return nil
}

// result is what the entrants, and doing nothing, did on one list.
type result struct {
	entries []flown
	nothing []contest.Episode
}

// halves returns the boards of the two halves of the list. Only those of the whole published list are the live
// and the hidden board.
func (r result) halves(l seedList, holdout float64) []board {
	live, hidden := contest.Split(l.seeds, holdout)
	of := fmt.Sprintf("of %d seeds", len(l.seeds))
	lists := []seedList{
		{"live", fmt.Sprintf("%d %s, shown while the contest runs", len(live), of), of, live},
		{"hidden", fmt.Sprintf("%d %s, shown at the close", len(hidden), of), of, hidden},
	}
	if l.ranking != "public" {
		lists[0].ranking, lists[0].title = l.ranking+", lower half", fmt.Sprintf("%d %s", len(live), of)
		lists[1].ranking, lists[1].title = l.ranking+", upper half", fmt.Sprintf("%d %s", len(hidden), of)
	}
	var bs []board
	for _, half := range lists {
		within := func(episodes []contest.Episode) []contest.Episode {
			return slices.DeleteFunc(slices.Clone(episodes), func(e contest.Episode) bool {
				_, in := slices.BinarySearch(half.seeds, e.Seed) // Split sorts
				return !in
			})
		}
		var entries []flown
		for _, e := range r.entries {
			entries = append(entries, flown{e.name, e.zip, within(e.episodes)})
		}
		bs = append(bs, newBoard(half, entries, contest.NewScore(within(r.nothing)), false))
	}
	return bs
}

// fly flies every entrant over every list, and an agent that idles for comparison if none of them is that.
func (a *app) fly(ctx context.Context, f *flightFlags, p plan, lists []seedList) (results []result, err error) {
	const idler = "noop"
	players := slices.Clone(p.entrants)
	isIdler := func(e entrant) bool { return e.name == idler && e.zip == "" }
	if !slices.ContainsFunc(p.entrants, isIdler) {
		players = append(players, entrant{name: idler, fresh: idle})
	}
	total := 0
	for _, l := range lists {
		total += len(players) * len(l.seeds)
	}
	bar := a.startProgress(ctx, total)
	defer func() { a.stopProgress(bar, "flew", err) }()
	for _, l := range lists {
		var r result
		for i, e := range players {
			workers := f.jobs
			if e.serial {
				workers = 1
			}
			episodes, err := contest.Run(ctx, p.cfg, l.seeds, workers, e.fresh, bar.one)
			if err != nil {
				return nil, f.agentFault(e.label(), err)
			}
			if i < len(p.entrants) {
				r.entries = append(r.entries, flown{e.name, e.zip, episodes})
			}
			if isIdler(e) {
				r.nothing = episodes
			}
		}
		results = append(results, r)
	}
	return results, nil
}

// idle makes the agent that does nothing.
func idle() (agent.Agent, error) { return agent.Noop{}, nil }

// agentFault says whose fault it was. Over secret seeds it tells none, nor what a team's code says, which could.
func (f *flightFlags) agentFault(name string, err error) error {
	var bad *flight.ActionError
	var verdict *pyworker.Verdict
	var moment *contest.MomentError
	theirs := errors.As(err, &bad) || errors.As(err, &verdict)
	if f.private != "" && errors.As(err, &moment) {
		err = moment.Err
		if verdict != nil {
			err = fmt.Errorf("%s (%s)", verdict.Code, verdict.Hint)
		}
	}
	err = fmt.Errorf("agent %s: %w", name, err)
	if theirs {
		return refused(err)
	}
	return err
}
