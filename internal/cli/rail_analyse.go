package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"skyrail/rail"
	"skyrail/rail/contest"
	"skyrail/rail/railfile"
)

func newRailAnalyse(a *app) *cobra.Command {
	var f railFlags
	var out, env string
	cmd := &cobra.Command{
		Use:   "analyse DIR [DIR …]",
		Short: "Show what trains did in trajectories, and write all their rows as tables",
		Long: `Run the recorded actions of all trajectories at and below the directories again and show what trains did: how long
they waited, moved, stood and were broken, how often they were stopped, how late they were, and how many were
deadlocked in the end.

With --out the recorded rows of all trajectories are written as six CSV files, as flatland-trajectory-analysis
does: all_actions, all_trains_positions, all_trains_arrived, all_trains_rewards_dones_infos, env_stats, agent_stats. Those are
the rows as they were recorded, not verified; see evaluate.`,
		Example: `  skyrail rail analyse runs
  skyrail rail analyse runs --out tables`,
		Args: atLeastOne("the directory of a trajectory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			rewards, err := f.chosen()
			if err != nil {
				return err
			}
			source, err := newEnvSource(env)
			if err != nil {
				return err
			}
			found, err := findTrajectories(args, "")
			if err != nil {
				return err
			}
			p := a.startProgress(cmd.Context(), len(found))
			results, stats, err := analyseAll(cmd.Context(), found, source, *rewards, f.resetSeed(cmd), f.jobs, p.one)
			a.stopProgress(p, "ran", err)
			if err != nil {
				return err
			}
			if out != "" {
				if err := writeAnalysis(out, found, stats); err != nil {
					return err
				}
			}
			done := analysed{Rewards: f.rewards, Episodes: results, Tables: out, Repeat: repeat(cmd)}
			if f.json {
				return printJSON(a.out, done)
			}
			done.print(a.out)
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the folder for the CSV files, empty or not there yet (default: write none)")
	cmd.Flags().StringVar(&env, "env", "", "an environment file, or a folder to search (default: that of each trajectory)")
	f.reward(cmd, "default", "")
	f.reset(cmd)
	f.parallel(cmd)
	f.machine(cmd)
	return cmd
}

// analysis is what the trains of an episode did. Steps are added up over trains.
type analysis struct {
	Directory string `json:"directory"`
	Episode   string `json:"episode"`
	contest.Figures
	Steps      map[string]int `json:"steps_by_state"`
	Stops      int            `json:"stops"`      // changes from MOVING to STOPPED, forced or not
	Deadlocked int            `json:"deadlocked"` // trains, in the end
	Late       int            `json:"late"`       // arrived trains that were late
	Delay      int            `json:"delay"`      // steps of these in all
}

func analyseAll(
	ctx context.Context, all []trajectory, source *envSource, r rail.Rewards, seed *uint64, jobs int, done func(),
) ([]analysis, []railfile.EnvStats, error) {
	results, stats := make([]analysis, len(all)), make([]railfile.EnvStats, len(all))
	return results, stats, each(ctx, len(all), jobs, func(ctx context.Context, i int) (err error) {
		results[i], stats[i], err = analyse(ctx, all[i], source, r, seed)
		done()
		return err
	})
}

func analyse(ctx context.Context, t trajectory, source *envSource, r rail.Rewards, seed *uint64) (analysis, railfile.EnvStats, error) {
	result := analysis{Directory: t.dir, Episode: t.episode, Steps: map[string]int{}}
	file, from, err := t.environment(source)
	if err != nil {
		return result, railfile.EnvStats{}, err
	}
	stats := railfile.EnvStats{
		EpisodeID: t.episode, Scenario: file.Scenario, MalfunctionRate: railfile.WholeNumber(0),
		MinDuration: file.Malfunction.MinDuration, MaxDuration: file.Malfunction.MaxDuration,
	}
	if file.Malfunction != (rail.MalfunctionParameters{}) {
		stats.MalfunctionRate = railfile.Decimal(file.Malfunction.Rate)
	}
	e, err := openEnvironment(file, seed)
	if err != nil {
		return result, stats, usage(fmt.Errorf("%s: %w", from, err))
	}
	rows, err := t.rows(0)
	if err != nil {
		return result, stats, usage(err)
	}
	before := make([]rail.State, e.Trains())
	for i := range before {
		before[i] = e.State(i)
	}
	after := func() error {
		for i := range before {
			s := e.State(i)
			result.Steps[s.String()]++
			if before[i] == rail.Moving && s == rail.Stopped {
				result.Stops++
			}
			before[i] = s
		}
		return nil
	}
	replay := contest.Replay(rows.Of(t.episode).Actions)
	if result.Figures, err = contest.Play(ctx, e, replay, contest.PlayOptions{Rewards: r, After: after}); err != nil {
		return result, stats, played(from, err)
	}
	for _, d := range e.Deadlocked(nil) {
		if d {
			result.Deadlocked++
		}
	}
	for i := range e.Trains() {
		if step, ok := e.Arrival(i); ok && step > file.Scenario.Trains[i].LatestArrival {
			result.Late++
			result.Delay += step - file.Scenario.Trains[i].LatestArrival
		}
	}
	return result, stats, nil
}

func writeAnalysis(out string, all []trajectory, stats []railfile.EnvStats) error {
	var dirs []*railfile.TrajectoryDir
	seen := map[string]bool{}
	for _, t := range all {
		if !seen[t.dir] {
			seen[t.dir] = true
			dirs = append(dirs, &railfile.TrajectoryDir{Path: t.dir})
		}
	}
	if err := railfile.WriteAnalysis(out, dirs, stats); err != nil {
		return usage(fmt.Errorf("--out: %w", err))
	}
	return nil
}

// analysed is what the analysis found.
type analysed struct {
	Rewards  string     `json:"rewards"`
	Episodes []analysis `json:"episodes"`
	Tables   string     `json:"tables,omitempty"`
	Repeat   string     `json:"repeat"`
}

func (r analysed) print(w io.Writer) {
	t := newTable("episode", "trains", "steps", "arrived", "normalised reward",
		"off map", "moving", "stopped", "broken", "stops", "late", "mean delay", "deadlocked")
	for _, e := range r.Episodes {
		total := 0
		for _, n := range e.Steps {
			total += n
		}
		share := func(states ...rail.State) string {
			sum := 0
			for _, s := range states {
				sum += e.Steps[s.String()]
			}
			return percent(float64(sum) / float64(max(total, 1)))
		}
		row := append(figureCells(e.Episode, e.Figures),
			share(rail.Waiting, rail.ReadyToDepart, rail.MalfunctionOffMap), share(rail.Moving), share(rail.Stopped), share(rail.Malfunction),
			e.Stops, e.Late, fmt.Sprintf("%.1f", float64(e.Delay)/float64(max(e.Late, 1))), e.Deadlocked)
		t.AppendRow(table.Row(row))
	}
	printTable(w, t)
	fmt.Fprintf(w, "\nRewards %s. Off map to broken: shares of all trains' steps; stops: changes from moving to standing.\n", r.Rewards)
	if r.Tables != "" {
		fmt.Fprintf(w, "Wrote %s: the recorded rows of %s as six CSV files.\n", shown(r.Tables), count(len(r.Episodes), "episode"))
	}
	fmt.Fprintf(w, "To repeat: %s\n", r.Repeat)
}
