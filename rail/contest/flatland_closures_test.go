package contest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"skyrail/internal/golden"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// closuresPeer runs testdata/closures_peer.py, which finds our Python package.
func closuresPeer(t *testing.T, args ...string) {
	t.Helper()
	ours, err := filepath.Abs("../../python")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), golden.FlatlandPython(t), append([]string{"testdata/closures_peer.py"}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+ours, "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-2000):])
	}
}

// peerStep is what became of the trains in a step.
type peerStep struct {
	Done   bool        `json:"done"`
	Trains []peerTrain `json:"trains"`
}

type peerTrain struct {
	Position     *[3]int        `json:"position"` // row, column, heading
	State        rail.State     `json:"state"`
	Malfunction  int            `json:"malfunction"`
	Malfunctions int            `json:"malfunctions"`
	Distance     string         `json:"distance"`
	Reward       golden.Decimal `json:"reward"`
	Done         bool           `json:"done"`
	Info         peerInfo       `json:"info"`
}

type peerInfo struct {
	ActionRequired bool       `json:"action_required"`
	Malfunction    int        `json:"malfunction"`
	Speed          string     `json:"speed"`
	State          rail.State `json:"state"`
}

func (p peerTrain) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// stepOf is what became of the trains of ours.
func stepOf(e *rail.Env) peerStep {
	s := peerStep{Done: e.AllDone()}
	for i := range e.Trains() {
		train := peerTrain{
			State: e.State(i), Malfunction: e.Malfunction(i), Malfunctions: e.Malfunctions(i), Distance: e.Travelled(i).String(),
			Reward: golden.Decimal(e.Rewards(0)[i]), Done: e.Done(i),
			Info: peerInfo{e.ActionRequired(i), e.Malfunction(i), e.Speed(i).String(), e.State(i)},
		}
		if c, on := e.Configuration(i); on {
			train.Position = &[3]int{c.Row, c.Col, int(c.Heading)}
		}
		s.Trains = append(s.Trains, train)
	}
	return s
}

// sameSteps finds the first step and train in which flatland-rl's answer is not ours.
func sameSteps(answer []byte, ours []peerStep) error {
	var theirs []peerStep
	if err := golden.Decode(answer, &theirs); err != nil {
		return err
	}
	if len(theirs) != len(ours) {
		return fmt.Errorf("%d steps, want %d", len(ours), len(theirs))
	}
	for k := range ours {
		a, b := ours[k], theirs[k]
		if a.Done != b.Done || len(a.Trains) != len(b.Trains) {
			return fmt.Errorf("step %d: done %v, %d trains, want %v, %d trains", k+1, a.Done, len(a.Trains), b.Done, len(b.Trains))
		}
		for i := range a.Trains {
			if got, want := a.Trains[i].String(), b.Trains[i].String(); got != want {
				return fmt.Errorf("step %d, train %d:\ngot  %s\nwant %s", k+1, i, got, want)
			}
		}
	}
	return nil
}

// randomClosures shuts stretches of the ways of the trains.
func randomClosures(rng *rand.Rand, e *rail.Env, n int) *rail.TrackClosures {
	c := &rail.TrackClosures{}
	for range n {
		var cells []rail.Cell
		way := e.ShortestPath(nil, rng.IntN(e.Trains()), 0)
		first := rng.IntN(max(1, len(way)))
		for _, node := range way[first:min(len(way), first+1+rng.IntN(6))] {
			cells = append(cells, e.Network().Cell(node))
		}
		from := rng.IntN(120)
		if len(cells) > 0 {
			c.Closures = append(c.Closures, rail.Closure{From: from, Until: from + 1 + rng.IntN(60), Cells: cells})
		}
	}
	return c
}

// isCaught says whether a train stands broken in a closed cell.
func isCaught(e *rail.Env, i int, effects []rail.Effect) bool {
	here, on := e.Configuration(i)
	return on && e.State(i) == rail.Malfunction && slices.ContainsFunc(effects, func(f rail.Effect) bool {
		t, ok := f.(*rail.TrackClosures)
		return ok && slices.ContainsFunc(t.Closures, func(c rail.Closure) bool {
			return c.From <= e.Elapsed() && e.Elapsed() < c.Until && slices.Contains(c.Cells, here.Cell)
		})
	})
}

// TestFlatlandRunsOurClosures saves environments with random closures between other effects. flatland-rl loads them and is
// given the same random actions: in every step all of its trains are where ours are, and what it saves in the middle is
// what we have there.
func TestFlatlandRunsOurClosures(t *testing.T) {
	golden.FlatlandPython(t)
	rng := rand.New(rand.NewPCG(golden.Seed(t), 0))
	caught, compared := 0, 0
	for k, name := range []string{
		"default_malfunction", "basedefault_intermediate", "ecml_level_0_scenario_1", "default_malfunction", "basedefault_intermediate", "punctuality_tuple",
	} {
		t.Run(fmt.Sprint(k, " ", name), func(t *testing.T) {
			e := readRecording(t, filepath.Join(trajectories, name)).open(t)
			e.SetRewards(rail.ECML2026Rewards())
			often := rail.MalfunctionParameters{Rate: 0.02, MinDuration: 1, MaxDuration: 20}
			breakdowns := rail.NewBreakdowns(often)
			effects := []rail.Effect{randomClosures(rng, e, 20), breakdowns, randomClosures(rng, e, 20)}
			if k%2 == 1 {
				effects = []rail.Effect{rail.NewDepartureMalfunctions(often, 0), randomClosures(rng, e, 20), breakdowns}
			}
			if err := e.SetEffects(effects); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			path := func(name string) string { return filepath.Join(dir, name) }
			content, err := railfile.SaveEnvironment(e)
			if err != nil {
				t.Fatal(err)
			}
			var ours []peerStep
			var given [][]rail.Action
			var middle *rail.Env
			steps := 60 + rng.IntN(120)
			save := 1 + rng.IntN(60)
			for len(ours) < steps && !e.AllDone() {
				actions := make([]rail.Action, e.Trains())
				for i := range actions {
					actions[i] = rail.Action([]int{2, 2, 2, 2, 2, 2, 1, 3, 3, 0, 4}[rng.IntN(11)])
				}
				if err := e.Step(actions); err != nil {
					t.Fatal(err)
				}
				for i := range actions {
					if isCaught(e, i, effects) {
						caught++
					}
				}
				given, ours = append(given, actions), append(ours, stepOf(e))
				if len(ours) == save {
					middle = e.Clone()
				}
			}
			text, err := json.Marshal(given)
			if err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string][]byte{"saved.pkl": content, "actions.json": text} {
				if err := os.WriteFile(path(name), data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			closuresPeer(t, "run", path("saved.pkl"), path("actions.json"), fmt.Sprint(save), path("middle.pkl"), path("answer.json"))
			answer, err := os.ReadFile(path("answer.json"))
			if err != nil {
				t.Fatal(err)
			}
			golden.Mutate(t, answer, 30, nil, func(data []byte) error { return sameSteps(data, ours) })
			if middle == nil {
				return // the episode was over before
			}
			if data, err := os.ReadFile(path("middle.pkl")); err != nil {
				t.Error(err)
			} else if k%2 == 0 { // the departure delays do not save their numbers
				compared++
				sameMiddle(t, data, middle)
			}
		})
	}
	t.Logf("%d times a train was caught, %d saved environments were compared", caught, compared)
	if caught == 0 || compared == 0 {
		t.Error("want some of both")
	}
}

// sameMiddle compares what flatland-rl saved with ours.
func sameMiddle(t *testing.T, data []byte, ours *rail.Env) {
	t.Helper()
	f, err := railfile.ReadEnvironment(data)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := f.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	ours.ForgetVisits() // not in a file
	if !theirs.Equal(ours) {
		t.Errorf("flatland-rl saved another environment: %s", environmentDifference(ours, theirs))
	}
	first := ours.Effects()[0].(*rail.TrackClosures)
	first.Closures = first.Closures[1:]
	if err := ours.SetEffects(append([]rail.Effect{first}, ours.Effects()[1:]...)); err != nil {
		t.Fatal(err)
	}
	if theirs.Equal(ours) {
		t.Error("one closure less went unnoticed")
	}
}

// TestPythonRefusesClosures: the Python class takes no closures that the engine would not.
func TestPythonRefusesClosures(t *testing.T) {
	type closure = map[string]any
	cells := [][]int{{1, 2}}
	good := closure{"from_step": 0, "until_step": 1 << 20, "cells": cells}
	bad := map[string][]any{
		"no mapping":      {good, 3},
		"no begin":        {good, closure{"until_step": 3, "cells": cells}},
		"no end":          {good, closure{"from_step": 3, "cells": cells}},
		"no cells":        {good, closure{"from_step": 1, "until_step": 3}},
		"an empty list":   {good, closure{"from_step": 1, "until_step": 3, "cells": [][]int{}}},
		"an end at once":  {good, closure{"from_step": 3, "until_step": 3, "cells": cells}},
		"a begin below 0": {good, closure{"from_step": -1, "until_step": 3, "cells": cells}},
		"an end too far":  {good, closure{"from_step": 1, "until_step": 1<<20 + 1, "cells": cells}},
		"half a step":     {good, closure{"from_step": 1.5, "until_step": 3, "cells": cells}},
		"True for a step": {good, closure{"from_step": true, "until_step": 3, "cells": cells}},
		"a text":          {good, closure{"from_step": "1", "until_step": 3, "cells": cells}},
		"a cell of three": {good, closure{"from_step": 1, "until_step": 3, "cells": [][]int{{1, 2, 3}}}},
		"cells as a cell": {good, closure{"from_step": 1, "until_step": 3, "cells": []int{1, 2}}},
		"a cell of texts": {good, closure{"from_step": 1, "until_step": 3, "cells": [][]string{{"1", "2"}}}},
	}
	text, err := json.Marshal(bad)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	closuresPeer(t, "refuse", file)
}
