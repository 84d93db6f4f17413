package rail

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
)

// The tests in this file read the recorded episodes and tables of flatland-rl 4.2.5 in testdata/engine. Every check is
// a function of a file's bytes that returns the first difference.

// goldenEpisode is schema A of the recorded episodes.
type goldenEpisode struct {
	Name         string           `json:"name"`
	Description  string           `json:"description"`
	Policy       string           `json:"policy"`
	Width        int              `json:"width"`
	Height       int              `json:"height"`
	Grid         [][]Transitions  `json:"grid"`
	LevelFree    [][2]int         `json:"level_free"`
	Remove       bool             `json:"remove_agents_at_target"`
	MaxSteps     int              `json:"max_episode_steps"`
	Acceleration goldenDelta      `json:"acceleration_delta"`
	Braking      goldenDelta      `json:"braking_delta"`
	EnvSeed      json.Number      `json:"env_seed"`
	Effects      []goldenEffect   `json:"effects"`
	RNG          goldenStream     `json:"rng_state"`
	Cache        *goldenCache     `json:"malfunction_cache"`
	Agents       []goldenAgent    `json:"agents"`
	Info0        map[string]digit `json:"info0"`
	Actions      []string         `json:"actions"`
	Steps        []goldenStep     `json:"steps"`
	Final        goldenFinal      `json:"final"`
}

type digit = string

type goldenDelta struct {
	Kind  string          `json:"kind"`
	Value json.RawMessage `json:"value"`
}

type goldenEffect struct {
	Kind      string           `json:"kind"`
	Rate      float64          `json:"rate"`
	Min       int              `json:"min_duration"`
	Max       int              `json:"max_duration"`
	Earliest  *int             `json:"earliest_malfunction"`
	Most      *int             `json:"max_num_malfunctions"`
	Condition *goldenCondition `json:"condition"`
}

type goldenCondition struct {
	Name  string            `json:"name"`
	Start int               `json:"start"`
	End   int               `json:"end"`
	Cells [][2]int          `json:"cells"`
	Of    []goldenCondition `json:"of"`
}

type goldenStream struct {
	Key      []uint32 `json:"key"`
	Pos      int      `json:"pos"`
	HasGauss int      `json:"has_gauss"`
	Gauss    float64  `json:"gauss"`
}

type goldenCache struct {
	Index int          `json:"rand_idx"`
	State goldenStream `json:"rng_state_at_cache"`
}

type goldenAgent struct {
	Handle     int       `json:"handle"`
	Initial    [3]int    `json:"initial"`
	Targets    [][3]int  `json:"targets"`
	Waypoints  [][]place `json:"waypoints"`
	WpEarliest []*int    `json:"wp_earliest"`
	WpLatest   []*int    `json:"wp_latest"`
	Earliest   int       `json:"earliest_departure"`
	Latest     int       `json:"latest_arrival"`
	MaxSpeed   string    `json:"max_speed"`
	Speed      string    `json:"initial_speed"`
	Distance   *int      `json:"initial_distance_to_target"`
}

// place is [row, col, heading or null].
type place [3]*int

func (p place) configuration() Configuration {
	c := Configuration{Cell{*p[0], *p[1]}, NoHeading}
	if p[2] != nil {
		c.Heading = Heading(*p[2])
	}
	return c
}

type goldenStep struct {
	Pos   []*[3]int                     `json:"pos"`
	State digit                         `json:"state"`
	Speed []string                      `json:"speed"`
	Dist  []string                      `json:"dist"`
	Malf  []int                         `json:"malf"`
	R     []float64                     `json:"r"`
	E     []float64                     `json:"e"`
	Base  map[string]map[string]float64 `json:"base"`
	BMO   [][2]float64                  `json:"bmo"`
	Done  digit                         `json:"done"`
	AReq  digit                         `json:"areq"`
}

type goldenFinal struct {
	Elapsed      int                  `json:"elapsed_steps"`
	AllDone      bool                 `json:"done_all"`
	Malfunctions []int                `json:"num_malfunctions"`
	Arrival      []*int               `json:"arrival_time"`
	Default      []float64            `json:"cum_default"`
	ECML         []float64            `json:"cum_ecml"`
	Base         []map[string]float64 `json:"cum_base_ecml"`
	BMO          [][3]float64         `json:"cum_bmo"`
	Punctuality  [][2]float64         `json:"punctuality"`
	NDone        int                  `json:"n_done"`
	NormDefault  *float64             `json:"norm_default_cum"`
	NormECML     *float64             `json:"norm_ecml_cum"`
	RowsDefault  *float64             `json:"norm_default_rows"`
	RowsECML     *float64             `json:"norm_ecml_rows"`
	NormBase     *float64             `json:"norm_base_ecml"`
	Probe        []float64            `json:"rng_probe"`
}

func (d goldenDelta) delta() (Delta, error) {
	if d.Kind == "float" {
		f, err := strconv.ParseFloat(string(d.Value), 64)
		return FloatDelta(f), err
	}
	var text string
	if err := json.Unmarshal(d.Value, &text); err != nil || d.Kind != "fraction" {
		return Delta{}, fmt.Errorf("delta %s of kind %q", d.Value, d.Kind)
	}
	f, err := ParseFraction(text)
	return ExactDelta(f), err
}

func (s goldenStream) stream() (numpyrand.RandomState, error) {
	var r numpyrand.RandomState
	if len(s.Key) != 624 {
		return r, fmt.Errorf("%d key words", len(s.Key))
	}
	return r, r.SetState(numpyrand.MT19937State{Key: [624]uint32(s.Key), Pos: s.Pos, HasGauss: s.HasGauss != 0, Gauss: s.Gauss})
}

func (c *goldenCondition) condition() (Condition, error) {
	if c == nil {
		return Condition{}, nil
	}
	known := map[string]ConditionKind{
		"on_map": OnMap, "stopped_at_waypoint": StoppedAtWaypoint, "stopped_intermediate_and_range": StoppedAtIntermediate,
		"stopped_cells_and_range": StoppedOnCells, "any": AnyOf,
	}
	kind, ok := known[c.Name]
	if !ok {
		return Condition{}, fmt.Errorf("unknown condition %q", c.Name)
	}
	out := Condition{Kind: kind, From: c.Start, To: c.End}
	for _, cell := range c.Cells {
		out.Cells = append(out.Cells, Cell{cell[0], cell[1]})
	}
	for _, o := range c.Of {
		in, err := o.condition()
		if err != nil {
			return out, err
		}
		out.Of = append(out.Of, in)
	}
	return out, nil
}

func (g *goldenEpisode) effects() ([]Effect, error) {
	var all []Effect
	for _, f := range g.Effects {
		p := MalfunctionParameters{f.Rate, f.Min, f.Max}
		switch f.Kind {
		case "param":
			b := NewBreakdowns(p)
			if g.Cache != nil {
				origin, err := g.Cache.State.stream()
				if err != nil {
					return nil, err
				}
				if err := b.Resume(&origin, g.Cache.Index); err != nil {
					return nil, err
				}
			}
			all = append(all, b)
		case "conditional":
			condition, err := f.Condition.condition()
			if err != nil {
				return nil, err
			}
			c := &ConditionalMalfunctions{MalfunctionGenerator: NewMalfunctionGenerator(p), Condition: condition}
			if f.Earliest != nil {
				c.Earliest = At(*f.Earliest)
			}
			if f.Most != nil {
				c.Most, c.Limited = *f.Most, true
			}
			all = append(all, c)
		case "legacy_params", "legacy_none":
			all = append(all, &LegacyMalfunctions{MalfunctionParameters: p, None: f.Kind == "legacy_none"})
		default:
			return nil, fmt.Errorf("unknown effect %q", f.Kind)
		}
	}
	return all, nil
}

func (g *goldenEpisode) scenario() (*Scenario, error) {
	s := &Scenario{Width: g.Width, Height: g.Height, MaxEpisodeSteps: g.MaxSteps, KeepAtTarget: !g.Remove}
	for _, row := range g.Grid {
		s.Grid = append(s.Grid, row...)
	}
	for _, c := range g.LevelFree {
		s.LevelFree = append(s.LevelFree, Cell{c[0], c[1]})
	}
	var err error
	if s.Acceleration, err = g.Acceleration.delta(); err != nil {
		return nil, err
	}
	if s.Braking, err = g.Braking.delta(); err != nil {
		return nil, err
	}
	for i, a := range g.Agents {
		if a.Handle != i {
			return nil, fmt.Errorf("agent %d has handle %d", i, a.Handle)
		}
		t := Train{
			Initial:           Configuration{Cell{a.Initial[0], a.Initial[1]}, Heading(a.Initial[2])},
			EarliestDeparture: a.Earliest, LatestArrival: a.Latest,
		}
		if len(a.Targets) > 0 {
			t.Target = Cell{a.Targets[0][0], a.Targets[0][1]}
		}
		if t.MaxSpeed, err = ParseFraction(a.MaxSpeed); err != nil {
			return nil, err
		}
		if len(a.WpEarliest) != len(a.Waypoints) || len(a.WpLatest) != len(a.Waypoints) {
			return nil, fmt.Errorf("agent %d: %d stops, %d and %d times", i, len(a.Waypoints), len(a.WpEarliest), len(a.WpLatest))
		}
		for k, alternatives := range a.Waypoints {
			var st Stop
			for _, p := range alternatives {
				st.Alternatives = append(st.Alternatives, p.configuration())
			}
			if v := a.WpEarliest[k]; v != nil {
				st.EarliestDeparture = At(*v)
			}
			if v := a.WpLatest[k]; v != nil {
				st.LatestArrival = At(*v)
			}
			t.Stops = append(t.Stops, st)
		}
		s.Trains = append(s.Trains, t)
	}
	return s, nil
}

// env is the environment of a recorded episode, before its first step.
func (g *goldenEpisode) env() (*Env, error) {
	s, err := g.scenario()
	if err != nil {
		return nil, err
	}
	e, err := New(s, Options{Rewards: []Rewards{
		DefaultRewards(), ECML2026Rewards(), {ComponentReward, ECML2026Factors()}, {MultiObjectiveReward, DefaultFactors()}, {Kind: PunctualityReward},
	}})
	if err != nil {
		return nil, err
	}
	state := e.Snapshot()
	if state.Stream, err = g.RNG.stream(); err != nil {
		return nil, err
	}
	if state.Effects, err = g.effects(); err != nil {
		return nil, err
	}
	for i, a := range g.Agents {
		if state.Trains[i].Speed, err = ParseFraction(a.Speed); err != nil {
			return nil, err
		}
	}
	return e, e.Restore(state)
}

func checkEpisode(data []byte) error {
	var g goldenEpisode
	if err := golden.Decode(data, &g); err != nil {
		return err
	}
	e, err := g.env()
	if err != nil {
		return err
	}
	if err := g.checkStart(e); err != nil {
		return err
	}
	if len(g.Actions) != len(g.Steps) || len(g.Steps) == 0 {
		return fmt.Errorf("%d actions for %d steps", len(g.Actions), len(g.Steps))
	}
	var tallies [5]*Tally
	for f := range tallies {
		tallies[f] = NewTally(e, f)
	}
	actions := make([]Action, e.Trains())
	for k, text := range g.Actions {
		if len(text) != e.Trains() {
			return fmt.Errorf("step %d: %d actions", k+1, len(text))
		}
		for i := range actions {
			actions[i] = DoNothing
			if text[i] != '-' {
				actions[i] = Action(text[i] - '0')
			}
		}
		if err := e.Step(actions); err != nil {
			return fmt.Errorf("step %d: %w", k+1, err)
		}
		if err := g.Steps[k].check(e); err != nil {
			return fmt.Errorf("step %d: %w", k+1, err)
		}
		for f := range tallies {
			tallies[f].Add(e.Rewards(f))
		}
	}
	return g.checkFinal(e, tallies)
}

func (g *goldenEpisode) checkStart(e *Env) error {
	if got, want := digits(e, e.ActionRequired), g.Info0["action_required"]; got != want || len(g.Info0) != 1 {
		return fmt.Errorf("action_required after the reset: got %s, want %v", got, g.Info0)
	}
	for i, a := range g.Agents {
		var targets [][3]int
		for h := North; h <= West; h++ {
			c := Configuration{e.scenario.Trains[i].Target, h}
			if e.AtTarget(i, e.net.Node(c)) {
				targets = append(targets, [3]int{c.Row, c.Col, int(h)})
			}
		}
		if !slices.Equal(targets, a.Targets) {
			return fmt.Errorf("train %d targets: got %v, want %v", i, targets, a.Targets)
		}
		want := Unreachable
		if a.Distance != nil {
			want = *a.Distance
		}
		if got := e.DistanceTo(i, e.Initial(i)); got != want {
			return fmt.Errorf("train %d distance to target: got %d, want %d", i, got, want)
		}
	}
	return nil
}

func digits(e *Env, of func(int) bool) string {
	var b strings.Builder
	for i := range e.Trains() {
		if of(i) {
			b.WriteByte('1')
		} else {
			b.WriteByte('0')
		}
	}
	return b.String()
}

func (s *goldenStep) check(e *Env) error {
	n := e.Trains()
	for _, l := range []struct {
		name string
		len  int
		zero bool // may be left out
	}{
		{"pos", len(s.Pos), false}, {"speed", len(s.Speed), false}, {"dist", len(s.Dist), false}, {"state", len(s.State), false},
		{"malf", len(s.Malf), true}, {"r", len(s.R), true}, {"e", len(s.E), true}, {"bmo", len(s.BMO), true},
	} {
		if l.len != n && !(l.zero && l.len == 0) {
			return fmt.Errorf("%s has %d entries for %d trains", l.name, l.len, n)
		}
	}
	if got := digits(e, e.Done); got != s.Done {
		return fmt.Errorf("done: got %s, want %s", got, s.Done)
	}
	if got := digits(e, e.ActionRequired); got != s.AReq {
		return fmt.Errorf("action_required: got %s, want %s", got, s.AReq)
	}
	base, err := componentValues(s.Base, n)
	if err != nil {
		return err
	}
	for i := range n {
		var pos *[3]int
		if c, ok := e.Configuration(i); ok {
			pos = &[3]int{c.Row, c.Col, int(c.Heading)}
		}
		if (pos == nil) != (s.Pos[i] == nil) || pos != nil && *pos != *s.Pos[i] {
			return fmt.Errorf("train %d position: got %s, want %s", i, show(pos), show(s.Pos[i]))
		}
		if got, want := e.State(i), State(s.State[i]-'0'); got != want {
			return fmt.Errorf("train %d state: got %s, want %s", i, got, want)
		}
		if got, want := e.Speed(i).String(), s.Speed[i]; got != want {
			return fmt.Errorf("train %d speed: got %s, want %s", i, got, want)
		}
		if got, want := e.Travelled(i).String(), s.Dist[i]; got != want {
			return fmt.Errorf("train %d distance: got %s, want %s", i, got, want)
		}
		if got, want := e.Malfunction(i), or0(s.Malf, i); got != want {
			return fmt.Errorf("train %d malfunction: got %d, want %d", i, got, want)
		}
		if got, want := e.Rewards(0)[i], or0(s.R, i); got != want {
			return fmt.Errorf("train %d reward: got %v, want %v", i, got, want)
		}
		if got, want := e.Rewards(1)[i], or0(s.E, i); got != want {
			return fmt.Errorf("train %d ECML reward: got %v, want %v", i, got, want)
		}
		if got, want := e.Rewards(2)[Components*i:Components*(i+1)], base[i][:]; !slices.Equal(got, want) {
			return fmt.Errorf("train %d components: got %v, want %v", i, got, want)
		}
		mo, want := e.Rewards(3)[3*i:3*i+3], or0(s.BMO, i)
		if mo[0] != or0(s.R, i) || mo[1] != want[0] || mo[2] != want[1] {
			return fmt.Errorf("train %d multi-objective: got %v, want %v and %v", i, mo, or0(s.R, i), want)
		}
	}
	return nil
}

func show(pos *[3]int) string {
	if pos == nil {
		return "none"
	}
	return fmt.Sprint(*pos)
}

func or0[T any](v []T, i int) (x T) {
	if len(v) == 0 {
		return x
	}
	return v[i]
}

func componentValues(sparse map[string]map[string]float64, n int) ([]parts, error) {
	all := make([]parts, n)
	for handle, values := range sparse {
		i, err := strconv.Atoi(handle)
		if err != nil || i < 0 || i >= n {
			return nil, fmt.Errorf("components of train %q", handle)
		}
		for name, v := range values {
			c := slices.Index(componentNames[:], name)
			if c < 0 {
				return nil, fmt.Errorf("unknown component %q", name)
			}
			all[i][c] = v
		}
	}
	return all, nil
}

func (g *goldenEpisode) checkFinal(e *Env, tallies [5]*Tally) error {
	f, n := &g.Final, e.Trains()
	if e.Elapsed() != f.Elapsed || e.AllDone() != f.AllDone {
		return fmt.Errorf("end: got step %d, done %v, want %d, %v", e.Elapsed(), e.AllDone(), f.Elapsed, f.AllDone)
	}
	arrived := 0
	for i := range n {
		if got, want := e.Malfunctions(i), f.Malfunctions[i]; got != want {
			return fmt.Errorf("train %d malfunctions: got %d, want %d", i, got, want)
		}
		step, ok := e.Arrival(i)
		if ok != (f.Arrival[i] != nil) || ok && step != *f.Arrival[i] {
			return fmt.Errorf("train %d arrival: got %d, %v", i, step, ok)
		}
		if e.State(i) == Done {
			arrived++
		}
	}
	if arrived != f.NDone {
		return fmt.Errorf("arrived: got %d, want %d", arrived, f.NDone)
	}
	byDefault, ecml, base, mo, punctual := tallies[0].Totals(), tallies[1].Totals(), tallies[2].Totals(), tallies[3].Totals(), tallies[4].Totals()
	rowsDefault, _ := tallies[0].Normalized()
	rowsECML, _ := tallies[1].Normalized()
	if !slices.Equal(byDefault, f.Default) || !slices.Equal(ecml, f.ECML) {
		return fmt.Errorf("totals: got %v and %v, want %v and %v", byDefault, ecml, f.Default, f.ECML)
	}
	flat := make([]float64, n)
	for i := range n {
		for c, name := range componentNames {
			if want, ok := f.Base[i][name]; !ok || len(f.Base[i]) != Components || base[Components*i+c] != want {
				return fmt.Errorf("train %d total %s: got %v, want %v", i, name, base[Components*i+c], f.Base[i])
			}
			flat[i] += base[Components*i+c]
		}
		if got := [3]float64(mo[3*i : 3*i+3]); got != f.BMO[i] {
			return fmt.Errorf("train %d multi-objective total: got %v, want %v", i, got, f.BMO[i])
		}
		if got := [2]float64(punctual[2*i : 2*i+2]); f.AllDone && got != f.Punctuality[i] {
			return fmt.Errorf("train %d punctuality: got %v, want %v", i, got, f.Punctuality[i])
		}
	}
	for _, c := range []struct {
		name string
		got  float64
		want *float64
	}{
		{"default", NormalizeTotals(byDefault, g.MaxSteps), f.NormDefault},
		{"ECML", NormalizeTotals(ecml, g.MaxSteps), f.NormECML},
		{"default from rows", rowsDefault, f.RowsDefault},
		{"ECML from rows", rowsECML, f.RowsECML},
		{"component", NormalizeTotals(flat, g.MaxSteps), f.NormBase},
	} {
		if c.want == nil || c.got != *c.want {
			return fmt.Errorf("normalised %s reward: got %v, want %v", c.name, c.got, c.want)
		}
	}
	stream := e.Stream()
	for _, want := range f.Probe {
		if got := stream.Random(); got != want {
			return fmt.Errorf("stream after the episode: got %v, want %v", got, want)
		}
	}
	if len(f.Probe) != 3 {
		return fmt.Errorf("%d values probe the stream", len(f.Probe))
	}
	return nil
}

// checks are the golden checks by how the name of a file begins.
var checks = []struct {
	prefix string
	check  func([]byte) error
}{
	{"unit_rng", nil}, // read by the tests of numpyrand
	{"obs", checkObservations},
	{"unit_motion", checkMotion},
	{"unit_tiles", checkTiles},
	{"unit_snap", checkSnap},
	{"unit_speed", checkSpeed},
	{"unit_state_machine", checkStateMachine},
	{"g", checkEpisode},
	{"r", checkEpisode},
	{"s", checkEpisode},
	{"t", checkEpisode},
}

func checkOf(t testing.TB, path string) func([]byte) error {
	name := filepath.Base(path)
	for _, c := range checks {
		if strings.HasPrefix(name, c.prefix) {
			return c.check
		}
	}
	t.Fatalf("%s: no check reads a file of this name", path)
	return nil
}

// TestGolden has a subtest for every file of testdata/engine and testdata/observations, and of the folder that SKYRAIL_RAIL_GOLDEN names.
func TestGolden(t *testing.T) {
	folders := []string{"testdata/engine", "testdata/observations"}
	if more := os.Getenv("SKYRAIL_RAIL_GOLDEN"); more != "" {
		folders = append(folders, more)
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.json.gz"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no golden file in %s: %v", folder, err)
		}
		for _, path := range files {
			check := checkOf(t, path)
			if check == nil {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(path), ".json.gz"), func(t *testing.T) {
				t.Parallel()
				if err := check(golden.Read(t, path)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
