package contest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skyrail/internal/golden"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

const trajectories = "../railfile/testdata/files/trajectories"

// recordedTrajectories are the directories of the recorded trajectories.
func recordedTrajectories(t testing.TB) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(trajectories, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "event_logs" {
			all = append(all, filepath.Dir(path))
		}
		return err
	})
	if err != nil || len(all) < 8 {
		t.Fatalf("%d recorded trajectories, %v", len(all), err)
	}
	return all
}

// recording is a recorded trajectory with its environment.
type recording struct {
	episode string
	file    *railfile.Environment
	rows    *railfile.Trajectory
}

func readRecording(t testing.TB, dir string) recording {
	t.Helper()
	d := railfile.TrajectoryDir{Path: dir}
	episodes, err := d.Episodes()
	if err != nil || len(episodes) != 1 {
		t.Fatalf("%s: episodes %v, %v", dir, episodes, err)
	}
	r := recording{episode: episodes[0]}
	if r.file, err = railfile.ReadEnvironment(golden.Read(t, filepath.Join(dir, "serialised_state", r.episode+".pkl.gz"))); err != nil {
		t.Fatal(err)
	}
	if r.rows, err = d.Read(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r recording) open(t testing.TB) *rail.Env {
	t.Helper()
	e, err := r.file.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (r recording) options() Options {
	o := Options{Episode: r.episode}
	if strings.HasPrefix(r.episode, "level_0") {
		ecml := rail.ECML2026Rewards()
		o.Rewards = &ecml
	}
	return o
}

func TestRecordedTrajectoriesAgree(t *testing.T) {
	for _, dir := range recordedTrajectories(t) {
		t.Run(strings.TrimPrefix(dir, trajectories+"/"), func(t *testing.T) {
			r := readRecording(t, dir)
			report, err := Verify(t.Context(), r.open(t), r.rows, r.options())
			if err != nil {
				t.Fatal(err)
			}
			if !report.Agrees {
				t.Errorf("%s\n%v", report.First, report.Differences)
			}
			if !report.Finished {
				t.Error("it did not run to its end")
			}
		})
	}
}

// copyOf is a trajectory whose rows may be spoilt.
func copyOf(t *railfile.Trajectory) *railfile.Trajectory {
	c := *t
	c.Actions, c.Positions = slices.Clone(t.Actions), slices.Clone(t.Positions)
	c.Rewards, c.Arrived = slices.Clone(t.Rewards), slices.Clone(t.Arrived)
	return &c
}

// TestTamperedTrajectoriesAreFound does to a recorded trajectory what has raised a score elsewhere, and more.
func TestTamperedTrajectoriesAreFound(t *testing.T) {
	r := readRecording(t, trajectories+"/ecml_level_0_scenario_1")
	honest, err := Verify(t.Context(), r.open(t), copyOf(r.rows), r.options())
	if err != nil {
		t.Fatal(err)
	}
	type T = railfile.Trajectory
	number := func(v float64) railfile.Reward { return railfile.NewNumberReward(railfile.Decimal(v)) }
	for name, c := range map[string]struct {
		spoil func(*T)
		want  string // in the first difference
		kind  string
	}{
		"rewards of invented trains": {func(t *T) {
			row := t.Rewards[0]
			row.Agent, row.Reward = 6, number(0)
			t.Rewards = append(t.Rewards, row)
		}, "step 1, train 6: row of an unknown train: expected a train from 0 to 5, found 6", "row of an unknown train"},
		"rewards in another order": {func(t *T) {
			t.Rewards[600], t.Rewards[606] = t.Rewards[606], t.Rewards[600]
		}, "row out of order", "row out of order"},
		"rewards after the end": {func(t *T) {
			row := t.Rewards[0]
			row.Time, row.Reward = 495, number(100)
			t.Rewards = append(t.Rewards, row)
		}, "row after the end: expected env_time 494 or earlier, found 495", "row after the end"},
		"a positive row before the genuine one": {func(t *T) {
			row := t.Rewards[0]
			row.Reward = number(1000)
			t.Rewards = append([]railfile.RewardRow{row}, t.Rewards...)
		}, "line 2, step 1, train 0: duplicate row", "reward"},
		"an action twice":    {func(t *T) { t.Actions = append(t.Actions, t.Actions[17]) }, "duplicate row: expected one row, found another in line 19", "duplicate row"},
		"an action left out": {func(t *T) { t.Actions = slices.Delete(t.Actions, 30, 31) }, "step 6, train 0: missing row: expected an action, found nothing", "missing row"},
		"actions cut off":    {func(t *T) { t.Actions = t.Actions[:6*480] }, "ActionEvents.discrete_action.tsv, line 2881, step 481: table ends early", "table ends early"},
		"a row far behind": {func(t *T) {
			row := t.Positions[0]
			row.Time = 1 << 60
			t.Positions = append(t.Positions, row)
		}, "row after the end", "row after the end"},
		"an action before the run": {func(t *T) {
			row := t.Actions[0]
			row.Time = -1
			t.Actions = append(t.Actions, row)
		}, "row before the run: expected env_time 0 or later, found -1", "row before the run"},
		"an action that is none": {func(t *T) { t.Actions[9].Unknown, t.Actions[9].Text = true, "JUMP" }, `unknown action: expected 0 to 4 or the name of an action, found "JUMP"`, "unknown action"},
		"another action":         {func(t *T) { t.Actions[6*20].Action = rail.StopMoving }, "step 2", "position"},
		"a position elsewhere":   {func(t *T) { t.Positions[6*100].At.Col++ }, "step 101, train 0: position: expected ((", "position"},
		"a train that was not":   {func(t *T) { t.Positions[6*100].At = rail.Nowhere }, "found off the map", "position"},
		"a position twice":       {func(t *T) { t.Positions = append(t.Positions, t.Positions[5]) }, "step 1, train 5: duplicate row", "duplicate row"},
		"a position left out":    {func(t *T) { t.Positions = slices.Delete(t.Positions, 30, 31) }, "step 6, train 0: missing row", "missing row"},
		"a reward of nothing":    {func(t *T) { t.Rewards[2963].Reward = number(0.5) }, "step 494, train 5: reward", "reward"},
		"a done flag":            {func(t *T) { t.Rewards[7].Done = !t.Rewards[7].Done }, "step 2, train 1: done: expected False, found True", "done"},
		"a malfunction":          {func(t *T) { t.Rewards[8].Info.Malfunction++ }, "malfunction", "malfunction"},
		"a speed":                {func(t *T) { t.Rewards[8].Info.Speed = rail.Frac(1, 7) }, "found 1/7", "speed"},
		"a state":                {func(t *T) { t.Rewards[8].Info.State = rail.Done }, "found DONE", "state"},
		"an action required":     {func(t *T) { t.Rewards[8].Info.ActionRequired = !t.Rewards[8].Info.ActionRequired }, "action_required: expected", "action_required"},
		"another success rate":   {func(t *T) { t.Arrived[0].SuccessRate.Value = 1 }, "success rate", "success rate"},
		"another score":          {func(t *T) { t.Arrived[0].Normalized.Value = 0.99 }, "normalised reward", "normalised reward"},
		"another end":            {func(t *T) { t.Arrived[0].Time = 400 }, "env_time: expected 493, found 400", "env_time"},
		"two results":            {func(t *T) { t.Arrived = append(t.Arrived, t.Arrived[0]) }, "duplicate row", "duplicate row"},
		"no result":              {func(t *T) { t.Arrived = nil }, "missing row", "missing row"},
		"positions cut off":      {func(t *T) { t.Positions = t.Positions[:6*300] }, "step 301: table ends early: expected rows up to step 494, found none after step 300", "table ends early"},
		"rewards cut off":        {func(t *T) { t.Rewards = t.Rewards[:6*300] }, "table ends early", "table ends early"},
		"all tables cut off": {func(t *T) {
			t.Actions, t.Positions, t.Rewards, t.Arrived = t.Actions[:600], t.Positions[:600], t.Rewards[:600], nil
		}, "table ends early", "table ends early"},
		"no table of rewards": {func(t *T) { t.Rewards, t.Missing = nil, []string{railfile.RewardsFile} }, "missing table", "missing table"},
		"rows of a stranger": {func(t *T) {
			row := t.Rewards[3]
			row.Episode = "other"
			t.Rewards = append(t.Rewards, row)
		}, `row of another episode: expected level_0_scenario_1, found "other"`, "row of another episode"},
		"rewards of another form": {func(t *T) {
			t.Rewards[3].Reward = railfile.NewTupleReward(railfile.Decimal(0), railfile.Decimal(0), railfile.Decimal(0))
		}, "form of reward", "form of reward"},
	} {
		t.Run("it finds "+name, func(t *testing.T) {
			spoilt := copyOf(r.rows)
			c.spoil(spoilt)
			o := r.options()
			o.Strict = true
			report, err := Verify(t.Context(), r.open(t), spoilt, o)
			if err != nil {
				t.Fatal(err)
			}
			if report.Agrees || !strings.Contains(report.First.String(), c.want) {
				t.Errorf("got %v, want %q", report.First, c.want)
			}
			if !slices.ContainsFunc(report.Differences, func(k Kind) bool { return k.What == c.kind && k.Count > 0 }) {
				t.Errorf("got %v, want one of kind %q", report.Differences, c.kind)
			}
			if sameActions := slices.Equal(spoilt.Actions, r.rows.Actions) || strings.Contains(c.kind, "duplicate"); sameActions &&
				*report.Figures.NormalizedReward != *honest.Figures.NormalizedReward {
				t.Errorf("the score followed what was recorded: got %v, want %v", *report.Figures.NormalizedReward, *honest.Figures.NormalizedReward)
			}
		})
	}
}

// TestOneChangedCellIsFound changes any one cell of any row but the actions.
func TestOneChangedCellIsFound(t *testing.T) {
	var all []recording
	for _, dir := range recordedTrajectories(t) {
		all = append(all, readRecording(t, dir))
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := rapid.SampledFrom(all).Draw(rt, "trajectory")
		rows := copyOf(r.rows)
		if rapid.Bool().Draw(rt, "position") {
			p := &rows.Positions[rapid.IntRange(0, len(rows.Positions)-1).Draw(rt, "row")]
			switch rapid.IntRange(0, 3).Draw(rt, "cell") {
			case 0:
				p.Agent++
			case 1:
				p.Time++
			case 2:
				p.Episode = "x"
			default:
				p.At = rail.Configuration{Cell: rail.Cell{Row: p.At.Row + 1, Col: p.At.Col}, Heading: rail.North}
			}
		} else {
			p := &rows.Rewards[rapid.IntRange(0, len(rows.Rewards)-1).Draw(rt, "row")]
			switch rapid.IntRange(0, 6).Draw(rt, "cell") {
			case 0:
				p.Agent--
			case 1:
				p.Time--
			case 2:
				p.Done = !p.Done
			case 3:
				p.Info.Malfunction++
			case 4:
				p.Info.State = (p.Info.State + 1) % 7
			case 5:
				p.Info.Speed = p.Info.Speed.Add(rail.Frac(1, 1000))
			default:
				p.Reward.Values = slices.Clone(p.Reward.Values)
				v := &p.Reward.Values[rapid.IntRange(0, len(p.Reward.Values)-1).Draw(rt, "value")]
				v.Value += 0.01
				v.Whole = false
			}
		}
		report, err := Verify(t.Context(), r.open(t), rows, r.options())
		if err != nil {
			rt.Fatal(err)
		}
		if report.Agrees {
			rt.Fatal("it went unnoticed")
		}
	})
}

// TestSwappedEnvironmentsAreNamed compares with environments that came with a trajectory but are not ours.
func TestSwappedEnvironmentsAreNamed(t *testing.T) {
	r := readRecording(t, trajectories+"/ecml_level_0_scenario_1")
	for name, c := range map[string]struct {
		spoil func(*rail.Scenario, *rail.Snapshot)
		want  string
	}{
		"fewer trains": {func(s *rail.Scenario, n *rail.Snapshot) { s.Trains, n.Trains = s.Trains[:1], n.Trains[:1] }, "one with 1 trains instead of 6"},
		"no stops": {func(s *rail.Scenario, _ *rail.Snapshot) {
			stops := s.Trains[2].Stops
			s.Trains[2].Stops = []rail.Stop{stops[0], stops[len(stops)-1]}
		}, "one in which train 2 has 2 stops instead of 3"},
		"no lateness":    {func(s *rail.Scenario, _ *rail.Snapshot) { s.Trains[0].LatestArrival = 9999 }, "train 0 has latest arrival 9999 instead of 142"},
		"more time":      {func(s *rail.Scenario, _ *rail.Snapshot) { s.MaxEpisodeSteps = 900 }, "900 steps at most instead of 494"},
		"a faster train": {func(s *rail.Scenario, _ *rail.Snapshot) { s.Trains[0].MaxSpeed = rail.Frac(1, 2) }, "maximum speed 1/2 instead of 1"},
		"another track":  {func(s *rail.Scenario, _ *rail.Snapshot) { s.Grid[0] = 1025 }, "other tracks at (0, 0)"},
		"a later moment": {func(_ *rail.Scenario, n *rail.Snapshot) { n.Elapsed = 3 }, "after 3 steps instead of 0"},
		"another stream": {func(_ *rail.Scenario, n *rail.Snapshot) { n.Stream.Uint32() }, "another random stream"},
		"no breakdowns":  {func(_ *rail.Scenario, n *rail.Snapshot) { n.Effects = nil }, "other malfunctions"},
	} {
		t.Run("it names "+name, func(t *testing.T) {
			e := r.open(t)
			s, snapshot := e.Scenario().Clone(), e.Snapshot()
			c.spoil(s, &snapshot)
			claimed, err := rail.New(s, rail.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := claimed.Restore(snapshot); err != nil {
				t.Fatal(err)
			}
			o := r.options()
			o.Claimed = claimed
			report, err := Verify(t.Context(), e, r.rows, o)
			if err != nil {
				t.Fatal(err)
			}
			if report.Agrees || report.First.What != "environment" || !strings.Contains(report.First.Found, c.want) {
				t.Errorf("got %v, want %q", report.First, c.want)
			}
		})
	}
	o := r.options()
	o.Claimed = r.open(t)
	if report, err := Verify(t.Context(), r.open(t), r.rows, o); err != nil || !report.Agrees {
		t.Errorf("with the genuine environment: got %v, %v", report, err)
	}
}

// TestPlayRepeatsARecording gives the recorded actions as a policy: the same tables come out, byte for byte.
func TestPlayRepeatsARecording(t *testing.T) {
	r := readRecording(t, trajectories+"/ecml_level_0_scenario_1")
	e, dir := r.open(t), t.TempDir()
	w, err := railfile.CreateTrajectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	start := func() (*railfile.Recorder, error) { return railfile.NewRecorder(w, e, r.episode, 0), nil }
	figures, err := Play(t.Context(), e, Replay(r.rows.Actions), PlayOptions{Rewards: rail.ECML2026Rewards(), Start: start})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{railfile.ActionsFile, railfile.PositionsFile, railfile.RewardsFile, railfile.ArrivedFile} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if want := golden.Read(t, filepath.Join(trajectories, "ecml_level_0_scenario_1", name+".gz")); string(got) != string(want) {
			t.Errorf("%s differs from the recording", name)
		}
	}
	if want := r.rows.Arrived[0].Normalized.Value; *figures.NormalizedReward != want {
		t.Errorf("normalised reward: got %v, want %v", *figures.NormalizedReward, want)
	}
}

// TestRunsThatWereEndedEarly verifies a part of an episode.
func TestRunsThatWereEndedEarly(t *testing.T) {
	r := readRecording(t, trajectories+"/ecml_level_0_scenario_1")
	part := copyOf(r.rows)
	part.Actions, part.Positions, part.Rewards, part.Arrived = part.Actions[:6*100], part.Positions[:6*100], part.Rewards[:6*100], nil
	o := r.options()
	o.EndStep = 100
	report, err := Verify(t.Context(), r.open(t), part, o)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Agrees || report.Finished || report.Figures.Steps != 100 {
		t.Errorf("got %v, finished %v, %d steps", report.First, report.Finished, report.Figures.Steps)
	}
	part.Arrived = r.rows.Arrived
	if report, err = Verify(t.Context(), r.open(t), part, o); err != nil || report.Agrees {
		t.Errorf("a result of an episode that did not end: got %v, %v", report.First, err)
	}
}

// TestLenientTakesMissingActionsForForward leaves out actions that are MOVE_FORWARD.
func TestLenientTakesMissingActionsForForward(t *testing.T) {
	r := readRecording(t, trajectories+"/ecml_level_0_scenario_1")
	rows := copyOf(r.rows)
	rows.Actions = slices.DeleteFunc(rows.Actions, func(a railfile.ActionRow) bool { return a.Action == rail.MoveForward })
	o := r.options()
	o.Lenient = true
	report, err := Verify(t.Context(), r.open(t), rows, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(r.rows.Actions) - len(rows.Actions); !report.Agrees || report.MissingActions != want || want == 0 {
		t.Errorf("got %v, %d missing actions, want %d", report.First, report.MissingActions, want)
	}
	o.Lenient = false
	if report, err = Verify(t.Context(), r.open(t), rows, o); err != nil || report.Agrees {
		t.Errorf("not lenient: got agreement, %v", err)
	}
}
