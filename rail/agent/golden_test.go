package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
)

// episode is a recorded environment with what policies answered in it; see testdata/README.md.
type episode struct {
	Width       int                `json:"width"`
	Height      int                `json:"height"`
	Grid        []rail.Transitions `json:"grid"`
	LevelFree   [][2]int           `json:"level_free"`
	MaxSteps    int                `json:"max_episode_steps"`
	Stream      stream             `json:"stream"`
	Malfunction malfunction        `json:"malfunction"`
	Trains      []train            `json:"trains"`
	Policies    map[string]answers `json:"policies"`
}

type stream struct {
	Key      []uint32 `json:"key"`
	Pos      int      `json:"pos"`
	HasGauss int      `json:"has_gauss"`
	Gauss    float64  `json:"gauss"`
}

type malfunction [3]float64 // rate, shortest, longest

type train struct {
	Initial           place     `json:"initial"`
	Target            [2]int    `json:"target"`
	Stops             [][]place `json:"stops"`
	Earliest          []*int    `json:"earliest"`
	Latest            []*int    `json:"latest"`
	MaxSpeed          string    `json:"max_speed"`
	EarliestDeparture int       `json:"earliest_departure"`
	LatestArrival     int       `json:"latest_arrival"`
}

// place is [row, column, heading or null].
type place [3]*int

func (p place) configuration() rail.Configuration {
	c := rail.Configuration{Cell: rail.Cell{Row: *p[0], Col: *p[1]}, Heading: rail.NoHeading}
	if p[2] != nil {
		c.Heading = rail.Heading(*p[2])
	}
	return c
}

// answers are what a policy answered before each step, and the states after it, a digit for each train. If the published
// policy ended with an exception, they are what it answered before.
type answers struct {
	Actions []string `json:"actions"`
	States  []string `json:"states"`
	Failure *string  `json:"failure"`
}

func moment(step *int) rail.Time {
	if step == nil {
		return rail.Time{}
	}
	return rail.At(*step)
}

func (g *episode) scenario() (*rail.Scenario, error) {
	s := &rail.Scenario{Width: g.Width, Height: g.Height, Grid: g.Grid, MaxEpisodeSteps: g.MaxSteps}
	for _, c := range g.LevelFree {
		s.LevelFree = append(s.LevelFree, rail.Cell{Row: c[0], Col: c[1]})
	}
	for i, a := range g.Trains {
		t := rail.Train{
			Initial: a.Initial.configuration(), Target: rail.Cell{Row: a.Target[0], Col: a.Target[1]},
			EarliestDeparture: a.EarliestDeparture, LatestArrival: a.LatestArrival,
		}
		var err error
		if t.MaxSpeed, err = rail.ParseFraction(a.MaxSpeed); err != nil {
			return nil, err
		}
		if len(a.Earliest) != len(a.Stops) || len(a.Latest) != len(a.Stops) {
			return nil, fmt.Errorf("train %d: %d stops, %d and %d times", i, len(a.Stops), len(a.Earliest), len(a.Latest))
		}
		for k, alternatives := range a.Stops {
			stop := rail.Stop{LatestArrival: moment(a.Latest[k]), EarliestDeparture: moment(a.Earliest[k])}
			for _, p := range alternatives {
				stop.Alternatives = append(stop.Alternatives, p.configuration())
			}
			t.Stops = append(t.Stops, stop)
		}
		s.Trains = append(s.Trains, t)
	}
	return s, nil
}

// env is the environment before its first step.
func (g *episode) env() (*rail.Env, error) {
	s, err := g.scenario()
	if err != nil {
		return nil, err
	}
	e, err := rail.New(s, rail.Options{Effects: []rail.Effect{rail.NewBreakdowns(rail.MalfunctionParameters{
		Rate: g.Malfunction[0], MinDuration: int(g.Malfunction[1]), MaxDuration: int(g.Malfunction[2]),
	})}})
	if err != nil {
		return nil, err
	}
	if len(g.Stream.Key) != 624 {
		return nil, fmt.Errorf("%d key words", len(g.Stream.Key))
	}
	state := e.Snapshot()
	if err := state.Stream.SetState(numpyrand.MT19937State{
		Key: [624]uint32(g.Stream.Key), Pos: g.Stream.Pos, HasGauss: g.Stream.HasGauss != 0, Gauss: g.Stream.Gauss,
	}); err != nil {
		return nil, err
	}
	return e, e.Restore(state)
}

// recordedPolicy is the policy of a name in the recordings: one of the catalogue, or other rules of deadlock avoidance.
func recordedPolicy(name string) (Policy, error) {
	switch name {
	case "heuristics-direct":
		r := CompetitionRules()
		r.ByStops = false
		return NewDeadlockAvoidance(r), nil
	case "classic-by-stops":
		r := ClassicRules()
		r.ByStops = true
		return NewDeadlockAvoidance(r), nil
	}
	return New(name, Options{})
}

// check runs a policy and returns the first difference to what was recorded.
func (a *answers) check(start *rail.Env, name string) error {
	p, err := recordedPolicy(name)
	if err != nil {
		return err
	}
	if len(a.Actions) == 0 || len(a.States) != len(a.Actions) {
		return fmt.Errorf("%d actions and %d states", len(a.Actions), len(a.States))
	}
	e := start.Clone()
	if err := p.Reset(e); err != nil {
		return err
	}
	actions := make([]rail.Action, e.Trains())
	for step, want := range a.Actions {
		if err := p.Act(e, actions); err != nil {
			return err
		}
		if len(want) != len(actions) || len(a.States[step]) != len(actions) {
			return fmt.Errorf("step %d: %d actions and %d states", step, len(want), len(a.States[step]))
		}
		for i, got := range actions {
			if want := rail.Action(want[i] - '0'); got != want {
				c, _ := e.Configuration(i)
				return fmt.Errorf("step %d, train %d, %s at %s: got %s, want %s", step, i, e.State(i), c, got, want)
			}
		}
		if err := e.Step(actions); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
		for i := range actions {
			if got, want := e.State(i), rail.State(a.States[step][i]-'0'); got != want {
				return fmt.Errorf("step %d, train %d: got %s, want %s", step, i, got, want)
			}
		}
	}
	return nil
}

// TestGolden has the policies answer in the recorded environments of testdata, and of the folder that
// SKYRAIL_RAIL_AGENT_GOLDEN names, action for action.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden file: %v", err)
	}
	if more := os.Getenv("SKYRAIL_RAIL_AGENT_GOLDEN"); more != "" {
		others, err := filepath.Glob(filepath.Join(more, "*.json.gz"))
		if err != nil || len(others) == 0 {
			t.Fatalf("no golden file in %s: %v", more, err)
		}
		files = append(files, others...)
	}
	recorded := map[string]bool{"random": true, "shortest-path-stops": true} // by their own tests
	for _, path := range files {
		var g episode
		if err := golden.Decode(golden.Read(t, path), &g); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		start, err := g.env()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if len(g.Policies) == 0 {
			t.Errorf("%s holds no policy", path)
		}
		for name, a := range g.Policies {
			recorded[name] = true
			t.Run(strings.TrimSuffix(filepath.Base(path), ".json.gz")+"/"+name, func(t *testing.T) {
				if err := a.check(start, name); err != nil {
					t.Error(err)
				}
			})
		}
	}
	for _, name := range Names() {
		if !recorded[name] {
			t.Errorf("nothing is recorded of %s", name)
		}
	}
}

func checkEpisode(data []byte) error {
	var g episode
	if err := golden.Decode(data, &g); err != nil {
		return err
	}
	start, err := g.env()
	if err != nil {
		return err
	}
	if len(g.Policies) == 0 {
		return errors.New("no policy")
	}
	for name, a := range g.Policies {
		if err := a.check(start, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// TestGoldenNoticesEveryChange shows that no comparison passes by accident.
func TestGoldenNoticesEveryChange(t *testing.T) {
	skip := func(path string) bool {
		return !strings.Contains(path, ".actions.") && !strings.Contains(path, ".states.")
	}
	for _, name := range []string{"Test_00_Level_3", "small", "stops3"} {
		golden.Mutate(t, golden.Read(t, "testdata/"+name+".json.gz"), 25, skip, checkEpisode)
	}
}
