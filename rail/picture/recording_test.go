package picture

import (
	"encoding/json"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
)

// recorded is what these tests read of a recorded episode.
type recorded struct {
	Width, Height int
	Grid          [][]rail.Transitions
	LevelFree     [][2]int `json:"level_free"`
	Remove        bool     `json:"remove_agents_at_target"`
	MaxSteps      int      `json:"max_episode_steps"`
	Effects       []struct {
		Kind string
		Rate float64
		Min  int `json:"min_duration"`
		Max  int `json:"max_duration"`
	}
	RNG struct {
		Key      []uint32
		Pos      int
		HasGauss int `json:"has_gauss"`
		Gauss    float64
	} `json:"rng_state"`
	Agents []struct {
		Initial    [3]int
		Targets    [][3]int
		Waypoints  [][][3]*int
		WpEarliest []*int `json:"wp_earliest"`
		WpLatest   []*int `json:"wp_latest"`
		EarliestD  int    `json:"earliest_departure"`
		LatestA    int    `json:"latest_arrival"`
		MaxSpeed   string `json:"max_speed"`
	}
	Actions []string
	Steps   []struct {
		Pos   []*[3]int
		State string
		Speed []string
		Dist  []string
		Malf  []int
	}
}

// episode reads a recorded episode with no effects but plain breakdowns.
func episode(t testing.TB, name string) (*recorded, *rail.Env) {
	t.Helper()
	var g recorded
	if err := json.Unmarshal(golden.Read(t, "../testdata/engine/"+name+".json.gz"), &g); err != nil {
		t.Fatal(err)
	}
	s := &rail.Scenario{Width: g.Width, Height: g.Height, MaxEpisodeSteps: g.MaxSteps, KeepAtTarget: !g.Remove}
	for _, row := range g.Grid {
		s.Grid = append(s.Grid, row...)
	}
	for _, c := range g.LevelFree {
		s.LevelFree = append(s.LevelFree, rail.Cell{Row: c[0], Col: c[1]})
	}
	configuration := func(row, col, heading int) rail.Configuration {
		return rail.Configuration{Cell: rail.Cell{Row: row, Col: col}, Heading: rail.Heading(heading)}
	}
	at := func(v *int) rail.Time {
		if v == nil {
			return rail.Time{}
		}
		return rail.At(*v)
	}
	for _, a := range g.Agents {
		train := rail.Train{
			Initial: configuration(a.Initial[0], a.Initial[1], a.Initial[2]), EarliestDeparture: a.EarliestD, LatestArrival: a.LatestA,
			Target: rail.Cell{Row: a.Targets[0][0], Col: a.Targets[0][1]},
		}
		var err error
		if train.MaxSpeed, err = rail.ParseFraction(a.MaxSpeed); err != nil {
			t.Fatal(err)
		}
		for k, places := range a.Waypoints {
			stop := rail.Stop{EarliestDeparture: at(a.WpEarliest[k]), LatestArrival: at(a.WpLatest[k])}
			for _, p := range places {
				heading := int(rail.NoHeading)
				if p[2] != nil {
					heading = *p[2]
				}
				stop.Alternatives = append(stop.Alternatives, configuration(*p[0], *p[1], heading))
			}
			train.Stops = append(train.Stops, stop)
		}
		s.Trains = append(s.Trains, train)
	}
	e, err := rail.New(s, rail.Options{})
	if err != nil {
		t.Fatal(err)
	}
	state := e.Snapshot()
	for _, f := range g.Effects {
		if f.Kind != "param" {
			t.Fatalf("%s has the effect %s", name, f.Kind)
		}
		state.Effects = append(state.Effects, rail.NewBreakdowns(rail.MalfunctionParameters{Rate: f.Rate, MinDuration: f.Min, MaxDuration: f.Max}))
	}
	if err := state.Stream.SetState(numpyrand.MT19937State{Key: [624]uint32(g.RNG.Key), Pos: g.RNG.Pos}); err != nil {
		t.Fatal(err)
	}
	if err := e.Restore(state); err != nil {
		t.Fatal(err)
	}
	return &g, e
}

// record runs a recorded episode and records it.
func record(t testing.TB, name string) (*recorded, *Recording) {
	t.Helper()
	g, e := episode(t, name)
	r := New(e)
	for _, text := range g.Actions {
		actions := make([]rail.Action, e.Trains())
		for i := range actions {
			actions[i], _ = rail.ParseAction(text[i : i+1])
		}
		if err := e.Step(actions); err != nil {
			t.Fatal(err)
		}
		if err := r.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	return g, r
}

// TestRecordingIsTheEpisode compares with the recorded truth, not with the engine.
func TestRecordingIsTheEpisode(t *testing.T) {
	for _, name := range []string{"s07_cross_level_free", "t13_tiles_malf_random", "t45_keep_at_target", "g04_sparse_levelfree"} {
		g, r := record(t, name)
		if r.First() != 0 || r.Last() != len(g.Steps) || len(g.Steps) == 0 {
			t.Fatalf("%s: got steps %d to %d, want 0 to %d", name, r.First(), r.Last(), len(g.Steps))
		}
		for k, want := range g.Steps {
			for i, m := range r.at(k + 1) {
				var pos *[3]int
				if m.node != rail.NoNode {
					c := r.net.Configuration(m.node)
					pos = &[3]int{c.Row, c.Col, int(c.Heading)}
				}
				broken := 0
				if len(want.Malf) > 0 {
					broken = want.Malf[i]
				}
				if (pos == nil) != (want.Pos[i] == nil) || pos != nil && *pos != *want.Pos[i] ||
					m.state != rail.State(want.State[i]-'0') || int(m.malfunction) != broken ||
					r.fractions[m.speed].String() != want.Speed[i] || r.fractions[m.travelled].String() != want.Dist[i] {
					t.Fatalf("%s, step %d, train %d: got %+v at %v, want %v in state %c", name, k+1, i, m, pos, want.Pos[i], want.State[i])
				}
			}
		}
	}
}

func TestTrainsGoToTheNextNode(t *testing.T) {
	const off = rail.NoNode
	nodes := [][]rail.Node{{8, off, 20}, {8, 5, 20}, {12, 5, 24}, {off, 5, 20}, {off, 5, 20}} // by step
	r := &Recording{scenario: &rail.Scenario{Trains: make([]rail.Train, 3)}, steps: len(nodes)}
	for _, step := range nodes {
		for _, n := range step {
			r.moments = append(r.moments, moment{node: n})
		}
	}
	got := r.nexts()
	for k, want := range [][]rail.Node{{12, off, 24}, {12, off, 24}, {off, off, 20}, {off, off, off}, {off, off, off}} {
		for i, want := range want {
			if got := got[3*k+i]; nodes[k][i] != off && got != want {
				t.Errorf("step %d, train %d at %d: got the next node %d, want %d", k, i, nodes[k][i], got, want)
			}
		}
	}
}

func TestRecordRefuses(t *testing.T) {
	_, e := episode(t, "s04_oval")
	_, other := episode(t, "s04_oval")
	r := New(e)
	refused := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got the error %v, want one that says %q", what, err, want)
		}
	}
	refused("a step twice", "record step 0: the last step recorded is 0; record every step once", r.Record(e))
	if err := other.Step(make([]rail.Action, other.Trains())); err != nil {
		t.Fatal(err)
	}
	refused("another environment", "another episode", r.Record(other))
	e.Reset(nil)
	refused("an environment that was reset", "another episode", r.Record(e))
	if r.Last() != 0 {
		t.Errorf("got the last step %d, want that refused steps are not kept", r.Last())
	}
}
