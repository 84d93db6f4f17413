package generate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// The test in this file runs flatland-rl 4.2.5 itself. SKYRAIL_FLATLAND is a Python that has it; `make test` makes one.

// flatland runs testdata/flatland_generate.py. NumPy sorts there as in its portable code, see argsort.
func flatland(ctx context.Context, t *testing.T, args ...string) {
	t.Helper()
	python := golden.FlatlandPython(t)
	cmd := exec.CommandContext(ctx, python, append([]string{"-W", "ignore", "testdata/flatland_generate.py"}, args...)...)
	cmd.Env = append(os.Environ(), "NPY_DISABLE_CPU_FEATURES=AVX512F", "PYTHONPATH=../../python") // where TrackClosures is
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-2000):])
	}
}

// peerSet is a set of parameters as env_generator takes them.
type peerSet struct {
	Agents              int           `json:"n_agents"`
	Width               int           `json:"x_dim"`
	Height              int           `json:"y_dim"`
	Cities              int           `json:"n_cities"`
	Pairs               int           `json:"max_rail_pairs_in_city"`
	Between             int           `json:"max_rails_between_cities"`
	GridMode            bool          `json:"grid_mode"`
	LevelFree           float64       `json:"p_level_free"`
	LineLength          int           `json:"line_length"`
	SpeedRatios         *[][2]float64 `json:"speed_ratios"`
	MalfunctionInterval int           `json:"malfunction_interval"`
	MalfunctionMin      int           `json:"malfunction_duration_min"`
	MalfunctionMax      int           `json:"malfunction_duration_max"`
	Seed                uint64        `json:"seed"`
	PostSeed            *uint64       `json:"post_seed"`
	Resets              []*uint64     `json:"resets"` // seeds of further resets, nil for none
	Legacy              bool          `json:"legacy"`
}

func (s *peerSet) parameters() Parameters {
	p := Parameters{
		Agents: s.Agents, Width: s.Width, Height: s.Height,
		Rail: SparseRail{
			Cities: s.Cities, GridMode: s.GridMode, RailsBetweenCities: s.Between, RailPairsInCity: s.Pairs, LevelFree: s.LevelFree,
		},
		Line: SparseLine{SpeedRatios: DefaultSpeedRatios(), LineLength: s.LineLength},
		Malfunction: rail.MalfunctionParameters{
			Rate: MalfunctionRate(s.MalfunctionInterval), MinDuration: s.MalfunctionMin, MaxDuration: s.MalfunctionMax,
		},
		Seed: s.Seed, PostSeed: s.PostSeed, Legacy: s.Legacy,
	}
	if s.SpeedRatios != nil {
		p.Line.SpeedRatios = nil
		for _, r := range *s.SpeedRatios {
			p.Line.SpeedRatios = append(p.Line.SpeedRatios, railfile.SpeedRatio{Speed: r[0], Share: r[1]})
		}
	}
	return p
}

func (s *peerSet) String() string {
	text, _ := json.Marshal(s)
	return string(text)
}

// drawSet draws parameters. Of some of them nothing can be generated.
func drawSet(rng *rand.Rand) peerSet {
	pick := func(from, to int) int { return from + rng.IntN(to-from+1) }
	s := peerSet{
		Agents: pick(1, 15), Width: pick(25, 70), Height: pick(25, 70), Cities: pick(2, 8), Pairs: pick(1, 4), Between: pick(1, 8),
		GridMode: rng.IntN(3) == 0, LevelFree: []float64{0, float64(pick(1, 99)) / 100, 1}[rng.IntN(3)],
		LineLength:          []int{2, 2, 3, 4}[rng.IntN(4)],
		MalfunctionInterval: []int{0, 20, 100, 540}[rng.IntN(4)], MalfunctionMin: pick(1, 10), MalfunctionMax: pick(10, 30),
		Legacy: rng.IntN(4) == 0,
	}
	switch {
	case rng.IntN(6) == 0: // crowded
		s.Pairs, s.Between = pick(5, 8), pick(1, 20)
	case rng.IntN(20) == 0:
		s.Cities = 1
	case rng.IntN(20) == 0:
		s.Width, s.Height = pick(8, 24), pick(8, 24)
	}
	s.Seed = uint64(rng.Uint32())
	if !s.Legacy && rng.IntN(2) == 0 {
		s.Seed = rng.Uint64()
	}
	if rng.IntN(4) == 0 {
		seed := rng.Uint64() >> rng.IntN(60)
		s.PostSeed = &seed
	}
	if rng.IntN(2) == 0 {
		s.SpeedRatios = drawSpeedRatios(rng)
	}
	for range max(0, rng.IntN(5)-2) {
		seed := &[]uint64{rng.Uint64()}[0]
		if rng.IntN(2) == 0 {
			seed = nil
		}
		s.Resets = append(s.Resets, seed)
	}
	return s
}

// drawSpeedRatios draws up to five speeds and their shares, which seldom do not add up to 1.
func drawSpeedRatios(rng *rand.Rand) *[][2]float64 {
	speeds := rng.Perm(100)[:1+rng.IntN(5)]
	parts := make([]int, len(speeds)) // of 20
	for range 20 {
		parts[rng.IntN(len(parts))]++
	}
	if rng.IntN(15) == 0 {
		parts[0]++
	}
	ratios := make([][2]float64, len(speeds))
	for i := range ratios {
		ratios[i] = [2]float64{float64(1+speeds[i]) / 100, float64(parts[i]) / 20}
	}
	return &ratios
}

// peerStream is the whole state of a stream.
type peerStream struct {
	Key      []uint32
	Position int
}

func (s *peerStream) check(r numpyrand.RandomState) error {
	state := r.State()
	return errors.Join(differ("stream.key", state.Key[:], s.Key), differ("stream.position", state.Pos, s.Position))
}

// peerRun is what flatland-rl makes of a set.
type peerRun struct {
	recordedRun
	Raised       string         `json:"stage"`    // the module of the generator that the error comes from
	NoSteps      bool           `json:"no_steps"` // no train has a way to its target
	Unequal      bool           `json:"unequal"`  // trains with other numbers of stops than the first, and times missing
	Orientations []rail.Heading `json:"city_orientations"`
	Malfunction  []float64
	Stream       peerStream
}

// environment generates the set, and again for each reset; products are those of the last.
func (s *peerSet) environment() (e *rail.Env, last *Products, err error) {
	p := s.parameters()
	if last, err = Generate(p); err != nil {
		return nil, nil, err
	}
	if e, err = last.Environment(); err != nil {
		return nil, nil, err
	}
	for _, seed := range s.Resets {
		stream := e.Stream()
		if seed != nil {
			stream = numpyrand.NewHashedRandomState(*seed)
		}
		if last, err = generate(p, stream); err != nil {
			return nil, nil, err
		}
		if e, err = Regenerate(e, p, seed); err != nil {
			return nil, nil, err
		}
	}
	return e, last, nil
}

// checkPeer generates what flatland-rl generated, and returns the first difference.
func checkPeer(s *peerSet, data []byte) error {
	var want peerRun
	if err := golden.Decode(data, &want); err != nil {
		return err
	}
	e, products, err := s.environment()
	if want.Error != "" || want.Unequal || want.NoSteps {
		var wrong *ParameterError
		if !errors.As(err, &wrong) || !want.blames(wrong.Name) {
			return fmt.Errorf("got error %v, want a parameter of %s refused: the reference says %q", err, want.Raised, want.Error)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w, and the reference generates it", err)
	}
	stream := numpyrand.NewRandomState(0)
	state := stream.State()
	copy(state.Key[:], want.Stream.Key)
	state.Pos = want.Stream.Position
	if err := stream.SetState(state); err != nil {
		return err
	}
	want.RNG = map[string]fingerprint{"after_timetable": fingerprintOf(stream)}
	return errors.Join(want.checkEnvironment(e), want.Stream.check(e.Stream()), want.checkHints(products.Rail), want.checkBreakdowns(e))
}

// blames says whether the error is about a parameter.
func (r *peerRun) blames(parameter string) bool {
	switch {
	case r.NoSteps:
		return parameter == "n_agents"
	case strings.Contains(r.Error, "Cannot fit more than one city"):
		return parameter == "n_cities" || parameter == "x_dim, y_dim"
	case strings.Contains(r.Error, "probabilities do not sum to 1"):
		return parameter == "speed_ratios"
	case r.Raised == "rail_generators" && strings.HasPrefix(r.Error, "IndexError"):
		return parameter == "max_rails_between_cities"
	}
	// A train with fewer stops than the first.
	failed := strings.HasPrefix(r.Error, "IndexError") || strings.HasPrefix(r.Error, "TypeError")
	return parameter == "line_length" && (r.Unequal || r.Raised == "timetable_generators" && failed)
}

// checkHints compares what the rail generator says beside the tracks.
func (r *peerRun) checkHints(product *railfile.RailProduct) error {
	var stations [][]recordedStation
	for _, tracks := range product.Tracks {
		var all []recordedStation
		for _, s := range tracks {
			all = append(all, recordedStation(s))
		}
		stations = append(stations, all)
	}
	return errors.Join(
		differ("city_positions", pairs(product.Cities), r.Cities), differ("city_orientations", product.Orientations, r.Orientations),
		differ("train_stations", stations, r.Stations), differ("level_free_positions", sorted(product.LevelFree), r.LevelFree),
	)
}

func (r *peerRun) checkBreakdowns(e *rail.Env) error {
	effects := e.Effects()
	breakdowns, ok := effects[len(effects)-1].(*rail.Breakdowns)
	if !ok || len(effects) != 1 {
		return fmt.Errorf("got effects %v, want breakdowns", effects)
	}
	m := breakdowns.MalfunctionParameters
	return differ("malfunction", []float64{m.Rate, float64(m.MinDuration), float64(m.MaxDuration)}, r.Malfunction)
}

// TestFlatlandGeneratesTheSame has flatland-rl generate environments with random parameters and seeds, and run some of
// ours from their files to the end.
func TestFlatlandGeneratesTheSame(t *testing.T) {
	const runs, toTheEnd = 10, 3
	seed := golden.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	sets := append(make([]peerSet, runs), oddSets()...)
	for i := range sets[:runs] {
		for sets[i] = drawSet(rng); i < toTheEnd; sets[i] = drawSet(rng) { // these have to be there
			if i == 0 {
				sets[i].LevelFree, sets[i].PostSeed = 1, nil // with bridges, if there is a crossing
			}
			if _, err := Environment(sets[i].parameters()); err == nil {
				break
			}
		}
	}
	answers := generateInFlatland(t, sets)
	for i := range sets {
		t.Run(fmt.Sprintf("set %d", i), func(t *testing.T) {
			check := func(data []byte) error { return checkPeer(&sets[i], data) }
			if err := check(answers[i]); err != nil {
				t.Fatalf("%s\n%v", &sets[i], err)
			}
			if bytes.Contains(answers[i], []byte(`"grid"`)) { // of errors there is no more to say than which parameter
				golden.Mutate(t, answers[i], 30, nil, check)
			}
		})
	}
	for i := range sets[:toTheEnd] {
		again := rng.Uint64()
		t.Run(fmt.Sprintf("set %d, reset, to the end", i), func(t *testing.T) {
			runInFlatland(t, mustGenerate(t, sets[i].parameters()), &again, rng.Uint32())
		})
	}
	t.Run("set 0 to the end", func(t *testing.T) { runInFlatland(t, mustGenerate(t, sets[0].parameters()), nil, rng.Uint32()) })
}

func mustGenerate(t *testing.T, p Parameters) *rail.Env {
	t.Helper()
	e, err := Environment(p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestFlatlandRunsASuite has flatland-rl run a scenario of a suite to the end, with all that may happen to it: breakdowns,
// departure delays and closures of track.
func TestFlatlandRunsASuite(t *testing.T) {
	seed := golden.Seed(t)
	p := DefaultSuiteParameters()
	first := &p.Levels[0].Scenarios[0]
	first.Breakdowns = &SuiteMalfunctions{Interval: 60, DurationMin: 3, DurationMax: 9}
	first.DepartureDelays = &SuiteMalfunctions{Interval: 3, DurationMin: 1, DurationMax: 4}
	first.Closures = &SuiteClosures{Interval: 3, DurationMin: 10, DurationMax: 40, Length: 8}
	scene, err := SuiteScene(publicMap(t), competitionLevels(), p, seed)
	if err != nil {
		t.Fatal(err)
	}
	metadata, err := SuiteMetadata(scene, competitionLevels(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := MarkScenes(scene); err != nil {
		t.Fatal(err)
	}
	derived, err := SeededLevels(scene, metadata, seed)
	if err != nil {
		t.Fatal(err)
	}
	e, err := derived[0].Environment(ScenarioSeed(seed, 0))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Effects()) != 3 {
		t.Fatalf("got %d effects, want breakdowns, delays and closures", len(e.Effects()))
	}
	runInFlatland(t, e, nil, uint32(seed))
}

// oddSets are sets that are seldom drawn. In two, cities have more tracks than their squares have room for: in one a way
// cannot be driven that distances promise, in the other two cities share a cell where tracks leave them. In the third no
// way leads the train anywhere.
func oddSets() []peerSet {
	return []peerSet{
		{
			Agents: 13, Width: 48, Height: 56, Cities: 6, Pairs: 4, Between: 7, LineLength: 3, SpeedRatios: &[][2]float64{{0.51, 0.55}, {0.82, 0.45}},
			MalfunctionInterval: 540, MalfunctionMin: 20, MalfunctionMax: 50, Seed: 1078133723,
		},
		{
			Agents: 7, Width: 62, Height: 72, Cities: 3, Pairs: 9, Between: 25, LineLength: 2,
			MalfunctionInterval: 540, MalfunctionMin: 20, MalfunctionMax: 50, Seed: 461886493,
		},
		{ // no way leads its train anywhere
			Agents: 1, Width: 34, Height: 38, Cities: 3, Pairs: 3, Between: 3, GridMode: true, LineLength: 2,
			MalfunctionInterval: 540, MalfunctionMin: 20, MalfunctionMax: 50, Seed: 3692,
		},
	}
}

// TestQuirkCrowdedCities has what flatland-rl 4.2.5 made of these sets.
func TestQuirkCrowdedCities(t *testing.T) {
	sets := oddSets()
	e, err := Environment(sets[0].parameters())
	if err != nil {
		t.Fatal(err)
	}
	stops := e.Scenario().Trains[3].Stops
	if last := len(stops) - 1; e.MaxEpisodeSteps() != 551 || stops[last].LatestArrival != stops[last-1].LatestArrival {
		t.Errorf("got at most %d steps and stops %v of train 3, want 551 and a last part without a way", e.MaxEpisodeSteps(), stops)
	}
	if e, err = Environment(sets[1].parameters()); err != nil {
		t.Fatal(err)
	}
	crossings := 0
	for _, c := range e.Scenario().Grid {
		if c == rail.DiamondCrossing {
			crossings++
		}
	}
	if e.MaxEpisodeSteps() != 604 || crossings != 10 {
		t.Errorf("got at most %d steps and %d crossings, want 604 and 10", e.MaxEpisodeSteps(), crossings)
	}
}

// generateInFlatland returns what flatland-rl makes of each set.
func generateInFlatland(t *testing.T, sets []peerSet) []json.RawMessage {
	t.Helper()
	in, out := filepath.Join(t.TempDir(), "sets.json"), filepath.Join(t.TempDir(), "out.json")
	text, err := json.Marshal(sets)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, text, 0o644); err != nil {
		t.Fatal(err)
	}
	flatland(t.Context(), t, "generate", in, out)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	answers := golden.Items(t, data)
	if len(answers) != len(sets) {
		t.Fatalf("%d answers to %d sets", len(answers), len(sets))
	}
	return answers
}

// peerEpisode is an episode as flatland-rl ran it.
type peerEpisode struct {
	Steps       []peerStep
	RandomSeed  uint64   `json:"random_seed"`
	SeedHistory []uint64 `json:"seed_history"`
	Stream      peerStream
}

type peerStep struct {
	Actions      []rail.Action
	Positions    []*recordedPlace
	States       []rail.State
	Malfunctions []int
	Rewards      []float64
}

// runInFlatland has flatland-rl run an environment of ours from its file to the end with random actions, and runs it with
// them too.
func runInFlatland(t *testing.T, e *rail.Env, reset *uint64, actions uint32) {
	t.Helper()
	content, err := railfile.SaveEnvironment(e)
	if err != nil {
		t.Fatal(err)
	}
	file, out, seed := filepath.Join(t.TempDir(), "ours.pkl"), filepath.Join(t.TempDir(), "out.json"), "none"
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if reset != nil {
		seed = fmt.Sprint(*reset)
	}
	flatland(t.Context(), t, "run", file, seed, fmt.Sprint(actions), out)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	check := func(data []byte) error {
		if reset == nil {
			return checkEpisode(e.Clone(), data) // as it was generated
		}
		f, err := railfile.ReadEnvironment(content)
		if err != nil {
			return err
		}
		loaded, err := f.Open(reset)
		if err != nil {
			return err
		}
		return checkEpisode(loaded, data)
	}
	if err := check(data); err != nil {
		t.Fatal(err)
	}
	golden.Mutate(t, data, 20, func(path string) bool { return strings.Contains(path, ".actions.") }, check)
}

// checkEpisode repeats an episode, and returns the first difference.
func checkEpisode(e *rail.Env, data []byte) error {
	var want peerEpisode
	if err := golden.Decode(data, &want); err != nil {
		return err
	}
	for k := range want.Steps {
		s := &want.Steps[k]
		if e.AllDone() {
			return fmt.Errorf("got the end after %d steps, want %d", k, len(want.Steps))
		}
		if err := e.Step(s.Actions); err != nil {
			return err
		}
		if err := s.check(e); err != nil {
			return fmt.Errorf("step %d: %w", k+1, err)
		}
	}
	if !e.AllDone() {
		return fmt.Errorf("got no end after %d steps", len(want.Steps))
	}
	seed := e.Seed()
	return errors.Join(
		differ("random_seed", seed.Value, want.RandomSeed), differ("seed_history", seed.History, want.SeedHistory), want.Stream.check(e.Stream()),
	)
}

func (s *peerStep) check(e *rail.Env) error {
	n := e.Trains()
	got := peerStep{Actions: s.Actions, Positions: make([]*recordedPlace, n), States: make([]rail.State, n), Malfunctions: make([]int, n)}
	for i := range n {
		if c, ok := e.Configuration(i); ok {
			got.Positions[i] = (*recordedPlace)(&c)
		}
		got.States[i], got.Malfunctions[i] = e.State(i), e.Malfunction(i)
	}
	return errors.Join(
		differ("positions", got.Positions, s.Positions), differ("states", got.States, s.States),
		differ("malfunctions", got.Malfunctions, s.Malfunctions), differ("rewards", e.Rewards(0), s.Rewards),
	)
}
