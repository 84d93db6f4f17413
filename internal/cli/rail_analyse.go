package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

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
		Long: `Run the recorded actions of all trajectories at and below the directories again, as far as they are recorded, and show
what trains did: how long they waited, moved, stood and were broken, how often they were stopped, how late they were, and
how many were deadlocked in the end.

Without --rewards the form of the recorded rewards decides; numbers are taken for default ones.

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
			if err := emptyFolder(out); err != nil {
				return usage(fmt.Errorf("--out: %w", err))
			}
			found, err := findTrajectories(args, "")
			if err != nil {
				return err
			}
			p := a.startProgress(cmd.Context(), len(found))
			results, stats, err := analyseAll(cmd.Context(), found, source, rewards, f.resetSeed(cmd), f.jobs, p.one)
			a.stopRuns(p, err)
			if err != nil {
				return err
			}
			if out != "" {
				if err := writeAnalysis(out, found, stats); err != nil {
					return err
				}
			}
			done := analysed{Episodes: results, Tables: out, Repeat: repeat(cmd)}
			if f.json {
				return printJSON(a.out, done)
			}
			done.print(a.out)
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the folder for the CSV files, empty or not there yet (default: write none)")
	cmd.Flags().StringVar(&env, "env", "", "an environment file, or a folder to search (default: that of each trajectory)")
	f.reward(cmd, "", " (default: by the form of the recorded ones)")
	f.reset(cmd)
	f.parallel(cmd)
	f.machine(cmd)
	return cmd
}

// analysis is what the trains of an episode did. Steps are added up over trains.
type analysis struct {
	Directory string `json:"directory"`
	Episode   string `json:"episode"`
	Rewards   string `json:"rewards"`
	contest.Figures
	replay
	// Result is the recorded normalised reward, if it is a result of rewards like these and not the recomputed one.
	Result     *float64       `json:"recorded_result,omitempty"`
	Steps      map[string]int `json:"steps_by_state"`
	Stops      int            `json:"stops"`      // changes from MOVING to STOPPED, forced or not
	Deadlocked int            `json:"deadlocked"` // trains, in the end
	Late       int            `json:"late"`       // arrived trains that were late
	Delay      int            `json:"delay"`      // steps of these in all
}

func analyseAll(
	ctx context.Context, all []trajectory, source *envSource, r *rail.Rewards, seed *uint64, jobs int, done func(),
) ([]analysis, []railfile.EnvStats, error) {
	results, stats := make([]analysis, len(all)), make([]railfile.EnvStats, len(all))
	return results, stats, each(ctx, len(all), jobs, func(ctx context.Context, i int) (err error) {
		results[i], stats[i], err = analyse(ctx, all[i], source, r, seed)
		done()
		return err
	})
}

func analyse(ctx context.Context, t trajectory, source *envSource, r *rail.Rewards, seed *uint64) (analysis, railfile.EnvStats, error) {
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
	mine := rows.Of(t.episode)
	if result.replay, err = t.replay(e, mine); err != nil {
		return result, stats, err
	}
	if r == nil {
		recorded := contest.RecordedRewards(mine.Rewards)
		r = &recorded
	}
	result.Rewards = rewardsName(*r)
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
	options := contest.PlayOptions{Rewards: *r, EndStep: result.end(), After: after}
	if result.Figures, err = contest.Play(ctx, e, contest.Replay(result.actions), options); err != nil {
		return result, stats, played(from, err)
	}
	result.ran(e)
	if r.Kind == rail.ScalarReward && result.Finished {
		result.Result = otherResult(mine.Arrived, result.NormalizedReward)
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

// otherResult is the recorded normalised reward if it is another than the recomputed one, beyond what rounding explains.
func otherResult(rows []railfile.ArrivedRow, recomputed *float64) *float64 {
	if len(rows) == 0 || !rows[0].Given || recomputed == nil || math.Abs(rows[0].Normalized.Value-*recomputed) <= 1e-5 {
		return nil
	}
	return &rows[0].Normalized.Value
}

// emptyFolder is an error for a name that a folder of new files cannot have.
func emptyFolder(name string) error {
	if name == "" {
		return nil
	}
	switch entries, err := os.ReadDir(name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return plainly(err)
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty", name)
	}
	return nil
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
	Episodes []analysis `json:"episodes"`
	Tables   string     `json:"tables,omitempty"`
	Repeat   string     `json:"repeat"`
}

func (r analysed) print(w io.Writer) {
	t := newTable("episode", "trains", "steps", "arrived", "normalised reward",
		"off map", "moving", "stopped", "broken", "stops", "late", "mean delay", "deadlocked")
	names := labels(len(r.Episodes), func(i int) (string, string) { return r.Episodes[i].Directory, r.Episodes[i].Episode })
	var rewards []string
	for i, e := range r.Episodes {
		if !slices.Contains(rewards, e.Rewards) {
			rewards = append(rewards, e.Rewards)
		}
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
		row := append(figureCells(names[i], e.Figures),
			share(rail.Waiting, rail.ReadyToDepart, rail.MalfunctionOffMap), share(rail.Moving), share(rail.Stopped), share(rail.Malfunction),
			e.Stops, e.Late, fmt.Sprintf("%.1f", float64(e.Delay)/float64(max(e.Late, 1))), e.Deadlocked)
		t.AppendRow(table.Row(row))
	}
	printTable(w, t)
	fmt.Fprintf(w, "\nRewards %s. Off map to broken: shares of all trains' steps; stops: changes from moving to standing.\n", strings.Join(rewards, ", "))
	printTotals(w, names, func(i int) *contest.Totals { return r.Episodes[i].Totals })
	for i, e := range r.Episodes {
		e.replay.print(w, names[i], e.Figures.Steps)
		if e.Result != nil {
			fmt.Fprintf(w, "%s: the recorded result is %.4f: if the run used other rewards, name them with --rewards.\n", names[i], *e.Result)
		}
	}
	printEarly(w, names, func(i int) bool { return !r.Episodes[i].Finished })
	if r.Tables != "" {
		fmt.Fprintf(w, "Wrote %s: the recorded rows of %s as six CSV files.\n", shown(r.Tables), count(len(r.Episodes), "episode"))
	}
	fmt.Fprintf(w, "To repeat: %s\n", r.Repeat)
}
