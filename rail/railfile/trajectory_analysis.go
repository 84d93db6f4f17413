package railfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"skyrail/rail"
)

// EnvStats is what the analysis says about the environment of an episode, as it is stored.
type EnvStats struct {
	EpisodeID                string
	Scenario                 *rail.Scenario
	MalfunctionRate          Number // of breakdowns per train and step; 0 and 0.0 are told apart
	MinDuration, MaxDuration int    // of breakdowns, in steps
}

// WriteAnalysis writes the six tables of the reference's flatland-trajectory-analysis: all rows of some trajectories,
// in their order, and what their environments are like. The output directory must be empty or not there.
//
// Numbers are read exactly, where the reference may be off in the last digit. Columns of old files that the reference
// would carry along (mean_normalized_reward, unknown ones) are given under today's names or left out.
func WriteAnalysis(output string, dirs []*TrajectoryDir, envs []EnvStats) error {
	if err := os.MkdirAll(output, 0o755); err != nil {
		return err
	}
	if entries, err := os.ReadDir(output); err != nil {
		return err
	} else if len(entries) > 0 {
		return fmt.Errorf("%s is not empty", output)
	}
	for _, table := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"all_actions.csv", func(w io.Writer) error { return WriteActionsCSV(w, dirs...) }},
		{"all_trains_positions.csv", func(w io.Writer) error { return WritePositionsCSV(w, dirs...) }},
		{"all_trains_arrived.csv", func(w io.Writer) error { return WriteArrivedCSV(w, dirs...) }},
		{"all_trains_rewards_dones_infos.csv", func(w io.Writer) error { return WriteRewardsCSV(w, dirs...) }},
		{"env_stats.csv", func(w io.Writer) error { return WriteEnvStatsCSV(w, envs...) }},
		{"agent_stats.csv", func(w io.Writer) error { return WriteAgentStatsCSV(w, envs...) }},
	} {
		f, err := createFile(filepath.Join(output, table.name))
		if err != nil {
			return err
		}
		if err := table.write(f); err != nil {
			f.abort()
			return err
		}
		if err := f.commit(); err != nil {
			return err
		}
	}
	return nil
}

// WriteActionsCSV writes all_actions.csv: actions by their names, unknown ones as DO_NOTHING.
func WriteActionsCSV(w io.Writer, dirs ...*TrajectoryDir) error {
	return writeCSV(w, "episode_id,env_time,agent_id,action", dirs, (*TrajectoryDir).Actions, func(b []byte, r ActionRow) []byte {
		b = appendCSVStart(b, r.Episode, r.Time, r.Agent)
		b = append(b, "RailEnvActions."...)
		return append(b, r.Action.String()...)
	})
}

// WritePositionsCSV writes all_trains_positions.csv.
func WritePositionsCSV(w io.Writer, dirs ...*TrajectoryDir) error {
	return writeCSV(w, "episode_id,env_time,agent_id,position", dirs, (*TrajectoryDir).Positions, func(b []byte, r PositionRow) []byte {
		return appendCell(appendCSVStart(b, r.Episode, r.Time, r.Agent), string(appendPosition(nil, r.At)), ',')
	})
}

// WriteArrivedCSV writes all_trains_arrived.csv.
func WriteArrivedCSV(w io.Writer, dirs ...*TrajectoryDir) error {
	const header = "episode_id,env_time,success_rate,normalized_reward"
	return writeCSV(w, header, dirs, (*TrajectoryDir).Arrived, func(b []byte, r ArrivedRow) []byte {
		b = appendCell(b, r.Episode, ',')
		b = append(b, ',')
		b = WholeNumber(r.Time).append(b)
		b = append(b, ',')
		b = r.SuccessRate.append(b)
		b = append(b, ',')
		if r.Given {
			b = r.Normalized.append(b)
		}
		return b
	})
}

// WriteRewardsCSV writes all_trains_rewards_dones_infos.csv, in which the entries of the info have columns of their own.
//
// quirk: rewards of one number are decimals if any of them is; if there are tuples or components too, that holds for each
// directory by itself. It is known only when all are read, so they are read twice.
func WriteRewardsCSV(w io.Writer, dirs ...*TrajectoryDir) error {
	decimal := make([]bool, len(dirs))
	apart, anyDecimal := false, false
	for i, d := range dirs {
		other := false
		for r, err := range present(d.Rewards()) {
			if err != nil {
				return err
			}
			other = other || r.Reward.Form != NumberReward
			decimal[i] = decimal[i] || r.Reward.Form == NumberReward && !r.Reward.Values[0].Whole
		}
		if other {
			apart, decimal[i] = true, false
		}
		anyDecimal = anyDecimal || decimal[i]
	}
	out := bufio.NewWriter(w)
	out.WriteString("episode_id,env_time,agent_id,reward,info,done,action_required,malfunction,speed,state\n")
	var b []byte
	for i, d := range dirs {
		for r, err := range present(d.Rewards()) {
			if err != nil {
				return err
			}
			b = appendCSVStart(b[:0], r.Episode, r.Time, r.Agent)
			if r.Reward.Form == NumberReward && (decimal[i] || anyDecimal && !apart) {
				b = Decimal(r.Reward.Values[0].Value).append(b)
			} else {
				b = appendCell(b, r.Reward.String(), ',')
			}
			b = append(b, ',')
			b = appendCell(b, string(r.Info.append(nil, appendStateNumber)), ',')
			b = append(b, ',')
			b = appendBool(b, r.Done)
			b = append(b, ',')
			b = appendBool(b, r.Info.ActionRequired)
			b = append(b, ',')
			b = WholeNumber(r.Info.Malfunction).append(b)
			b = append(b, ',')
			b = append(b, r.Info.Speed.String()...)
			b = append(b, ',')
			b = appendStateNumber(b, r.Info.State)
			out.Write(append(b, '\n'))
		}
	}
	return out.Flush()
}

// WriteEnvStatsCSV writes env_stats.csv. What files do not store is always the same in the reference: its observation,
// its rewards and its changes of speed are the defaults of a loaded environment.
func WriteEnvStatsCSV(w io.Writer, envs ...EnvStats) error {
	out := bufio.NewWriter(w)
	out.WriteString("episode_id,max_episode_steps,num_agents,x_dim,y_dim,malfunction_process_data,")
	out.WriteString("obs_builder,acceleration_delta,braking_delta,rewards\n")
	for _, e := range envs {
		out.Write(appendCell(nil, e.EpisodeID, ','))
		steps := ""
		if e.Scenario.MaxEpisodeSteps > 0 {
			steps = fmt.Sprint(e.Scenario.MaxEpisodeSteps)
		}
		fmt.Fprintf(out, ",%s,%d,%d,%d,", steps, len(e.Scenario.Trains), e.Scenario.Width, e.Scenario.Height)
		fmt.Fprintf(out, `"MalfunctionProcessData(malfunction_rate=%s, min_duration=%d, max_duration=%d)",`,
			e.MalfunctionRate, e.MinDuration, e.MaxDuration)
		out.WriteString("<class 'flatland.core.env_observation_builder.DummyObservationBuilder'>,1.0,-1.0,")
		out.WriteString("<class 'flatland.envs.rewards.DefaultRewards'>\n")
	}
	return out.Flush()
}

// WriteAgentStatsCSV writes agent_stats.csv.
func WriteAgentStatsCSV(w io.Writer, envs ...EnvStats) error {
	out := bufio.NewWriter(w)
	out.WriteString("episode_id,agent_id,earliest_departure,latest_arrival,num_waypoints\n")
	for _, e := range envs {
		for i, t := range e.Scenario.Trains {
			out.Write(appendCell(nil, e.EpisodeID, ','))
			fmt.Fprintf(out, ",%d,%d,%d,%d\n", i, t.EarliestDeparture, t.LatestArrival, len(t.Stops))
		}
	}
	return out.Flush()
}

func writeCSV[R any](
	w io.Writer, header string, dirs []*TrajectoryDir, table func(*TrajectoryDir) iter.Seq2[R, error], row func([]byte, R) []byte,
) error {
	out := bufio.NewWriter(w)
	out.WriteString(header)
	out.WriteByte('\n')
	var b []byte
	for _, d := range dirs {
		for r, err := range present(table(d)) {
			if err != nil {
				return err
			}
			b = append(row(b[:0], r), '\n')
			out.Write(b)
		}
	}
	return out.Flush()
}

// present leaves out the error that there is no such table, which the analysis takes for an empty one.
func present[R any](rows iter.Seq2[R, error]) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for r, err := range rows {
			if errors.Is(err, fs.ErrNotExist) || !yield(r, err) {
				return
			}
		}
	}
}

func appendCSVStart(b []byte, episode string, time, agent int) []byte {
	b = appendCell(b, episode, ',')
	b = append(b, ',')
	b = WholeNumber(time).append(b)
	b = append(b, ',')
	b = WholeNumber(agent).append(b)
	return append(b, ',')
}
