package railfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
)

const goldenTrajectories = "testdata/files/trajectories"

// tables are the four, in the order in which they are written.
var tables = []string{ActionsFile, PositionsFile, ArrivedFile, RewardsFile}

// recorded are the golden trajectories that 4.2.5 wrote, with the environment and reward function they were run with.
var recorded = map[string]goldenRun{
	"default_malfunction":      {Rewards: "default"},
	"basedefault_intermediate": {Rewards: "base-default"},
	"morl_tuple":               {Rewards: "multi-objective"},
	"punctuality_tuple":        {Rewards: "punctuality"},
	"ecml_level_0_scenario_1":  {Rewards: "ecml2026", Episode: "level_0_scenario_1"},
}

// goldenRun says how a trajectory came about.
type goldenRun struct {
	Environment string   `json:"environment"` // below testdata/files, without .pkl
	Rewards     string   `json:"rewards"`
	Stops       [][5]int `json:"stops"`
	Episode     string   `json:"-"`
	dir         string
}

// goldenRuns are all that can be run again.
func goldenRuns(t testing.TB) map[string]goldenRun {
	runs := make(map[string]goldenRun)
	for name, r := range recorded {
		if r.Episode == "" {
			r.Episode = name
		}
		r.Environment = "trajectories/" + name + "/serialised_state/" + r.Episode
		r.dir = filepath.Join(goldenTrajectories, name)
		runs[name] = r
	}
	data, err := os.ReadFile("testdata/runs/runs.json")
	if err != nil {
		t.Fatal(err)
	}
	var more map[string]goldenRun
	if err := golden.Decode(data, &more); err != nil {
		t.Fatal(err)
	}
	for name, r := range more {
		r.Episode, r.dir = name, filepath.Join("testdata/runs", name)
		runs[name] = r
	}
	return runs
}

// recordedTables is the content of the four tables of a directory.
func recordedTables(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	content := make(map[string][]byte)
	for _, name := range tables {
		content[name] = golden.Read(t, filepath.Join(dir, name+".gz"))
	}
	return content
}

// writtenTables is the content of the four tables that a writer made.
func writtenTables(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	content := make(map[string][]byte)
	for _, name := range tables {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		content[name] = data
	}
	return content
}

// difference is the first line in which two files differ.
func difference(name string, got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Errorf("%s line %d:\n got %s\nwant %s", name, i+1, g[i], w[i])
		}
	}
	return fmt.Errorf("%s: got %d lines, want %d", name, len(g), len(w))
}

// TestTrajectoriesAreWrittenAsTheyWereRead: it gives the same bytes.
func TestTrajectoriesAreWrittenAsTheyWereRead(t *testing.T) {
	for name, run := range goldenRuns(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := (&TrajectoryDir{Path: run.dir}).Read()
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := WriteTrajectory(dir, read.Of(run.Episode)); err != nil {
				t.Fatal(err)
			}
			got, want := writtenTables(t, dir), recordedTables(t, run.dir)
			for _, table := range tables {
				if err := difference(table, got[table], want[table]); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestRunsAreRecordedAsTheReferenceDoes: it runs the recorded actions again and writes the same bytes.
func TestRunsAreRecordedAsTheReferenceDoes(t *testing.T) {
	for name, run := range goldenRuns(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := recordedTables(t, run.dir)
			if err := replay(t, run, want[ActionsFile], want); err != nil {
				t.Error(err)
			}
		})
	}
}

// replay runs the actions of a table again, and says what the tables written then differ in from those wanted.
func replay(t testing.TB, run goldenRun, actions []byte, want map[string][]byte) error {
	env := goldenEnvironment(t, run)
	byTime := make(map[int][]ActionRow)
	last := 0
	for r, err := range rowsOf(ActionsFile, bytes.NewReader(actions), DefaultTableLimits(), actionColumns, actionRow) {
		if err != nil {
			return err
		}
		byTime[r.Time] = append(byTime[r.Time], r)
		last = max(last, r.Time)
	}
	for r, err := range rowsOf(PositionsFile, bytes.NewReader(want[PositionsFile]), DefaultTableLimits(), positionColumns, positionRow) {
		if err != nil {
			return err
		}
		last = max(last, r.Time-1)
	}
	if last > 10_000 {
		return errors.New("too long")
	}
	dir := t.TempDir()
	w, err := CreateTrajectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	rec := NewRecorder(w, env, run.Episode, 0)
	for step := range last + 1 {
		told := make([]rail.Action, env.Trains())
		for _, r := range byTime[step] {
			if r.Agent < 0 || r.Agent >= len(told) || r.Episode != run.Episode {
				return fmt.Errorf("an action for train %d of %s", r.Agent, r.Episode)
			}
			told[r.Agent] = r.Action
			if err := rec.Action(r.Agent, r.Action); err != nil {
				t.Fatal(err)
			}
		}
		if err := env.Step(told); err != nil {
			return err
		}
		if err := rec.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(rec.Finish(), w.Commit()); err != nil {
		t.Fatal(err)
	}
	got := writtenTables(t, dir)
	var differences []error
	for _, table := range tables {
		differences = append(differences, difference(table, got[table], want[table]))
	}
	return errors.Join(differences...)
}

// TestEveryRecordedCellCounts: it finds one changed cell of a table that was run again.
func TestEveryRecordedCellCounts(t *testing.T) {
	for name, run := range goldenRuns(t) {
		if run.dir != filepath.Join(goldenTrajectories, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, table := range tables {
				want := recordedTables(t, run.dir)
				mutateTable(t, want[table], 6, func(data []byte) error {
					if table == ActionsFile {
						return replay(t, run, data, want)
					}
					changed := maps.Clone(want)
					changed[table] = data
					return replay(t, run, want[ActionsFile], changed)
				})
			}
		})
	}
}

// mutateTable changes one cell of a table at a time, n in all but the same every time, and fails the test for each that
// check does not notice.
func mutateTable(t testing.TB, data []byte, n int, check func([]byte) error) {
	t.Helper()
	if err := check(data); err != nil {
		t.Fatalf("the unchanged table differs: %v", err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	width := strings.Count(lines[0], "\t") + 1
	rng := rand.New(rand.NewPCG(1, uint64(len(data))))
	for try := range n {
		if len(lines) < 3 {
			break // a header alone has no cell
		}
		k, column := 1+rng.IntN(len(lines)-2), try%width
		cells := strings.Split(strings.TrimSuffix(lines[k], "\n"), "\t")
		was := cells[column]
		cells[column] = changedCell(was)
		line := lines[k]
		lines[k] = strings.Join(cells, "\t") + "\n"
		if err := check([]byte(strings.Join(lines, ""))); err == nil {
			t.Errorf("line %d, column %d: %q changed to %q went unnoticed", k+1, column+1, was, cells[column])
		}
		lines[k] = line
	}
}

// changedCell changes the last digit of a cell, or flips it, or puts something where nothing was, or no place.
func changedCell(cell string) string {
	switch {
	case cell == "" || strings.HasPrefix(cell, "(None"):
		return "((1, 1), 1)"
	case cell == "True":
		return "False"
	case cell == "False":
		return "True"
	}
	at := strings.LastIndexAny(cell, "0123456789")
	if at < 0 {
		return cell + "x"
	}
	digit := byte('1')
	if cell[at] == '1' {
		digit = '2'
	}
	return cell[:at] + string(digit) + cell[at+1:]
}

// goldenEnvironment builds the environment of a run from the dumps beside its file, in the state before its first step.
func goldenEnvironment(t testing.TB, run goldenRun) *rail.Env {
	t.Helper()
	s, loaded := dumpedScenario(t, run.Environment)
	for i, stop := range run.Stops {
		s.Trains[i].Stops[1] = rail.Stop{
			Alternatives:  []rail.Configuration{{Cell: rail.Cell{Row: stop[0], Col: stop[1]}, Heading: rail.Heading(stop[2])}},
			LatestArrival: rail.At(stop[3]), EarliestDeparture: rail.At(stop[4]),
		}
	}
	rewards, err := rail.RewardsByName(run.Rewards)
	if err != nil {
		t.Fatal(err)
	}
	env, err := rail.New(s, rail.Options{Rewards: []rail.Rewards{rewards}, Effects: loaded.effects(t)})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := env.Snapshot()
	snapshot.Stream = dumpedStream(t, run.Environment)
	if err := env.Restore(snapshot); err != nil {
		t.Fatal(err)
	}
	return env
}

// dumpedEnvironment is what these tests need of a loaded dump.
type dumpedEnvironment struct {
	Width     int                  `json:"width"`
	Height    int                  `json:"height"`
	Grid      [][]rail.Transitions `json:"grid"`
	Limit     int                  `json:"max_episode_steps"`
	LevelFree [][2]int             `json:"level_free_positions"`
	Effects   dumpedEffect         `json:"effects_generator"`
	Agents    []dumpedAgent        `json:"agents"`
	Breakdown [3]Number            `json:"malfunction"`
}

type dumpedAgent struct {
	Initial    dumpedPlace     `json:"initial"`
	Target     [2]int          `json:"target"`
	Waypoints  [][]dumpedPlace `json:"waypoints"`
	Departures []*int          `json:"waypoints_earliest_departure"`
	Arrivals   []*int          `json:"waypoints_latest_arrival"`
	Earliest   int             `json:"earliest_departure"`
	Latest     int             `json:"latest_arrival"`
	MaxSpeed   string          `json:"max_speed"`
}

// dumpedPlace is [[row, col], heading or null].
type dumpedPlace rail.Configuration

func (p *dumpedPlace) UnmarshalJSON(b []byte) error {
	var cell [2]int
	var heading *int
	if err := json.Unmarshal(b, &[]any{&cell, &heading}); err != nil {
		return err
	}
	*p = dumpedPlace{Cell: rail.Cell{Row: cell[0], Col: cell[1]}, Heading: rail.NoHeading}
	if heading != nil {
		p.Heading = rail.Heading(*heading)
	}
	return nil
}

type dumpedEffect struct {
	Class string `json:"cls"`
	Specs struct {
		Args   []dumpedEffect `json:"args"`
		Kwargs struct {
			dumpedMalfunction
			Earliest *int              `json:"earliest_malfunction"`
			Plain    dumpedMalfunction `json:"param_malfunction_gen"`
		} `json:"kwargs"`
	} `json:"specs"`
}

type dumpedMalfunction struct {
	Rate float64 `json:"malfunction_rate"`
	Min  int     `json:"min_duration"`
	Max  int     `json:"max_duration"`
}

func (m dumpedMalfunction) parameters() rail.MalfunctionParameters {
	return rail.MalfunctionParameters{Rate: m.Rate, MinDuration: m.Min, MaxDuration: m.Max}
}

func (l *dumpedEnvironment) effects(t testing.TB) []rail.Effect { return l.Effects.effects(t) }

func (l *dumpedEffect) effects(t testing.TB) []rail.Effect {
	t.Helper()
	switch class := l.Class[strings.LastIndexByte(l.Class, '.')+1:]; class {
	case "EffectsGenerator":
		return nil
	case "MultiEffectsGeneratorWrapped":
		var all []rail.Effect
		for i := range l.Specs.Args {
			all = append(all, l.Specs.Args[i].effects(t)...)
		}
		return all
	case "MalfunctionEffectsGenerator":
		return []rail.Effect{rail.NewBreakdowns(l.Specs.Kwargs.Plain.parameters())}
	case "IntermediateStopMalfunctionEffectsGenerator":
		return []rail.Effect{rail.NewDepartureMalfunctions(l.Specs.Kwargs.parameters(), *l.Specs.Kwargs.Earliest)}
	default:
		t.Fatalf("effects generator %s", class)
	}
	return nil
}

func dumpedScenario(t testing.TB, environment string) (*rail.Scenario, *dumpedEnvironment) {
	t.Helper()
	s, l, err := readDump(golden.Read(t, filepath.Join("testdata/files", environment+".pkl.loaded.json.gz")))
	if err != nil {
		t.Fatal(err)
	}
	return s, l
}

func readDump(data []byte) (*rail.Scenario, *dumpedEnvironment, error) {
	var l dumpedEnvironment
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, nil, err
	}
	s := &rail.Scenario{Width: l.Width, Height: l.Height, Grid: slices.Concat(l.Grid...), MaxEpisodeSteps: l.Limit}
	for _, c := range l.LevelFree {
		s.LevelFree = append(s.LevelFree, rail.Cell{Row: c[0], Col: c[1]})
	}
	for _, a := range l.Agents {
		speed, err := rail.ParseFraction(a.MaxSpeed)
		if err != nil {
			return nil, nil, err
		}
		train := rail.Train{
			Initial: rail.Configuration(a.Initial), Target: rail.Cell{Row: a.Target[0], Col: a.Target[1]},
			MaxSpeed: speed, EarliestDeparture: a.Earliest, LatestArrival: a.Latest,
		}
		for k, alternatives := range a.Waypoints {
			stop := rail.Stop{LatestArrival: dumpedTime(a.Arrivals[k]), EarliestDeparture: dumpedTime(a.Departures[k])}
			for _, w := range alternatives {
				stop.Alternatives = append(stop.Alternatives, rail.Configuration(w))
			}
			train.Stops = append(train.Stops, stop)
		}
		s.Trains = append(s.Trains, train)
	}
	return s, &l, nil
}

func dumpedTime(step *int) rail.Time {
	if step == nil {
		return rail.Time{}
	}
	return rail.At(*step)
}

func dumpedStream(t testing.TB, environment string) numpyrand.RandomState {
	t.Helper()
	var raw struct {
		Value struct {
			Stream struct {
				Tuple []json.RawMessage `json:"$tuple"`
			} `json:"np_random_state"`
		} `json:"value"`
	}
	if err := json.Unmarshal(golden.Read(t, filepath.Join("testdata/files", environment+".pkl.json.gz")), &raw); err != nil {
		t.Fatal(err)
	}
	var key struct {
		Tuple [624]uint32 `json:"$tuple"`
	}
	var s numpyrand.MT19937State
	var has int
	for k, to := range []any{new(string), &key, &s.Pos, &has, &s.Gauss} {
		if err := json.Unmarshal(raw.Value.Stream.Tuple[k], to); err != nil {
			t.Fatal(err)
		}
	}
	s.Key, s.HasGauss = key.Tuple, has != 0
	var r numpyrand.RandomState
	if err := r.SetState(s); err != nil {
		t.Fatal(err)
	}
	return r
}
