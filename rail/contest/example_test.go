package contest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"skyrail/rail"
	"skyrail/rail/agent"
	"skyrail/rail/contest"
	"skyrail/rail/railfile"
)

// oneByOne is a policy: a train goes when all trains before it have arrived.
type oneByOne struct{ ways agent.Policy }

func (p oneByOne) Reset(v agent.View) error { return p.ways.Reset(v) }

func (p oneByOne) Act(v agent.View, actions []rail.Action) error {
	if err := p.ways.Act(v, actions); err != nil {
		return err
	}
	free := true
	for i := range actions {
		if !free {
			actions[i] = rail.StopMoving
		}
		free = free && v.State(i) == rail.Done
	}
	return nil
}

// A policy of one's own, from an environment file to a folder that "skyrail rail evaluate" and
// "flatland-trajectory-evaluate" take.
func ExamplePlay() {
	if err := play("../railfile/testdata/files/v4/level_0_scenario_1.pkl.gz"); err != nil {
		fmt.Println(err)
	}
	// Output: 3 of 6 trains arrived, normalised reward 0.27
}

func play(path string) error {
	compressed, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	unzip, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return err
	}
	data, err := io.ReadAll(unzip)
	if err != nil {
		return err
	}
	file, err := railfile.ReadEnvironment(data)
	if err != nil {
		return err
	}
	env, err := file.Open(nil)
	if err != nil {
		return err
	}

	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // not in your program
	tables, err := railfile.CreateTrajectory(dir)
	if err != nil {
		return err
	}
	defer tables.Abort() // does nothing after Commit

	const episode = "level_0_scenario_1"
	figures, err := contest.Play(context.Background(), env, oneByOne{agent.ShortestPath{}}, contest.PlayOptions{
		Rewards: rail.ECML2026Rewards(),
		// Before the first step the environment is saved: who verifies the run starts from it.
		Start: func() (*railfile.Recorder, error) {
			saved, err := railfile.SaveEnvironment(env)
			if err != nil {
				return nil, err
			}
			name, err := railfile.EnvironmentFile(episode) // serialised_state/level_0_scenario_1.pkl
			if err != nil {
				return nil, err
			}
			name = filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return nil, err
			}
			return railfile.NewRecorder(tables, env, episode, 0), os.WriteFile(name, saved, 0o644)
		},
	})
	if err != nil {
		return err
	}
	if err := tables.Commit(); err != nil { // until here nothing is in its place
		return err
	}
	fmt.Printf("%d of %d trains arrived, normalised reward %.2f\n", figures.Arrived, figures.Trains, *figures.NormalizedReward)
	return nil
}
