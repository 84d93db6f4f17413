package generate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// recordedRun is a run of env_generator as flatland-rl left it, stage by stage.
type recordedRun struct {
	Name   string
	Legacy bool `json:"legacy_env_generator"`
	Params struct {
		NAgents            *int         `json:"n_agents"`
		XDim               *int         `json:"x_dim"`
		YDim               *int         `json:"y_dim"`
		NCities            *int         `json:"n_cities"`
		MaxRailPairsInCity *int         `json:"max_rail_pairs_in_city"`
		MaxRailsBetween    *int         `json:"max_rails_between_cities"`
		GridMode           *bool        `json:"grid_mode"`
		PLevelFree         *float64     `json:"p_level_free"`
		LineLength         *int         `json:"line_length"`
		SpeedRatios        [][2]float64 `json:"speed_ratios"`
		Seed               json.Number
		PostSeed           *uint64 `json:"post_seed"`
	}
	RNG map[string]fingerprint `json:"rng"`

	Error           string
	Stage           recordedStages
	Cities          [][2]int            `json:"city_positions"`
	Stations        [][]recordedStation `json:"train_stations"`
	LevelFree       [][2]int            `json:"level_free_positions"`
	Held            [][2]int            `json:"resource_map_level_free_positions"`
	Width, Height   int
	Grid            [][]rail.Transitions
	MaxEpisodeSteps int      `json:"max_episode_steps"`
	RandomSeed      uint64   `json:"random_seed"`
	SeedHistory     []uint64 `json:"seed_history"`
	Agents          []recordedAgent
}

type recordedStages struct {
	Random       [][2]int             `json:"random_city_positions"`
	Even         [][2]int             `json:"even_city_positions"`
	Inner        [][4][][2]int        `json:"inner_connection_points"`
	Outer        [][4][][2]int        `json:"outer_connection_points"`
	Orientations []rail.Heading       `json:"city_orientations"`
	Neighbours   [][4]*int            `json:"closest_neighbours"`
	Lines        [][2]int             `json:"inter_city_cells"`
	Connected    [][]rail.Transitions `json:"grid_after_connect_cities"`
	Inside       [][]rail.Transitions `json:"grid_after_inner_cities"`
	Order        [][2]int             `json:"city_cell_iteration_order"`
	Repaired     [][5]int             `json:"fixed_cells_in_order"`
	Speeds       []float64            `json:"speeds_raw"`
}

// recordedStation is [[row, col], track].
type recordedStation railfile.StationTrack

func (s *recordedStation) UnmarshalJSON(data []byte) error {
	var cell [2]int
	if err := json.Unmarshal(data, &[]any{&cell, &s.Track}); err != nil {
		return err
	}
	s.Cell = rail.Cell{Row: cell[0], Col: cell[1]}
	return nil
}

type recordedAgent struct {
	Handle     int
	Initial    *recordedPlace
	Target     *[2]int
	Targets    []recordedPlace
	Speed      string
	Waypoints  [][]recordedPlace
	Earliest   int    `json:"earliest_departure"`
	Latest     int    `json:"latest_arrival"`
	Departures []*int `json:"waypoints_earliest_departure"`
	Arrivals   []*int `json:"waypoints_latest_arrival"`
}

// recordedPlace is [[row, col], heading], null for no heading.
type recordedPlace rail.Configuration

func (p *recordedPlace) UnmarshalJSON(data []byte) error {
	var cell [2]int
	var heading *rail.Heading
	if err := json.Unmarshal(data, &[]any{&cell, &heading}); err != nil {
		return err
	}
	*p = recordedPlace{rail.Cell{Row: cell[0], Col: cell[1]}, rail.NoHeading}
	if heading != nil {
		p.Heading = *heading
	}
	return nil
}

// fingerprint tells the state of a stream.
type fingerprint struct {
	Pos   int
	Next3 [3]uint32
	Key   string `json:"key_sha256"`
}

func fingerprintOf(r numpyrand.RandomState) fingerprint {
	s := r.State()
	f := fingerprint{Pos: s.Pos}
	var words []byte
	for _, w := range s.Key {
		words = binary.LittleEndian.AppendUint32(words, w)
	}
	sum := sha256.Sum256(words)
	f.Key = hex.EncodeToString(sum[:])[:16]
	for i := range f.Next3 {
		f.Next3[i] = r.Uint32()
	}
	return f
}

func (r *recordedRun) parameters() (Parameters, error) {
	p := DefaultParameters()
	set := func(to, from *int) {
		if from != nil {
			*to = *from
		}
	}
	given := &r.Params
	set(&p.Agents, given.NAgents)
	set(&p.Width, given.XDim)
	set(&p.Height, given.YDim)
	set(&p.Rail.Cities, given.NCities)
	set(&p.Rail.RailPairsInCity, given.MaxRailPairsInCity)
	set(&p.Rail.RailsBetweenCities, given.MaxRailsBetween)
	set(&p.Line.LineLength, given.LineLength)
	if given.GridMode != nil {
		p.Rail.GridMode = *given.GridMode
	}
	if given.PLevelFree != nil {
		p.Rail.LevelFree = *given.PLevelFree
	}
	if given.SpeedRatios != nil {
		p.Line.SpeedRatios = nil
		for _, s := range given.SpeedRatios {
			p.Line.SpeedRatios = append(p.Line.SpeedRatios, railfile.SpeedRatio{Speed: s[0], Share: s[1]})
		}
	}
	var err error
	p.Seed, err = strconv.ParseUint(given.Seed.String(), 10, 64)
	p.PostSeed, p.Legacy = given.PostSeed, r.Legacy
	return p, err
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/generators/g*.json.gz")
	if err != nil || len(files) != 36 {
		t.Fatalf("%d files, want 36: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json.gz"), func(t *testing.T) {
			t.Parallel()
			data := golden.Read(t, file)
			if err := checkRun(data); err != nil {
				t.Fatal(err)
			}
			golden.Mutate(t, data, 25, skipped, checkRun)
		})
	}
}

// skipped are names, parameters that say what the default is or that a run does not look at, and what a failed run leaves
// unsaid.
func skipped(path string) bool {
	return path == "name" || strings.HasPrefix(path, "params.") || path == "error" || path == "legacy_env_generator"
}

// checkRun generates what a file records, and returns the first difference.
func checkRun(data []byte) error {
	var want recordedRun
	if err := golden.Decode(data, &want); err != nil {
		return err
	}
	p, err := want.parameters()
	if err != nil {
		return err
	}
	if want.Error != "" {
		_, err := Environment(p)
		if wrong := (*ParameterError)(nil); !errors.As(err, &wrong) {
			return fmt.Errorf("got error %v, want a ParameterError: the reference says %s", err, want.Error)
		}
		return differ("rng.start", fingerprintOf(numpyrand.NewHashedRandomState(p.Seed)), want.RNG["start"])
	}
	if err := want.checkStages(p); err != nil {
		return err
	}
	e, err := Environment(p)
	if err != nil {
		return err
	}
	return want.checkEnvironment(e)
}

// checkStages runs the generators one by one.
func (r *recordedRun) checkStages(p Parameters) error {
	rng := numpyrand.NewHashedRandomState(p.Seed)
	railRNG := &rng
	if p.Legacy {
		own := numpyrand.NewRandomState(uint32(p.Seed))
		railRNG = &own
	}
	marks := map[string]bool{}
	var first error
	same := func(what string, got, want any) {
		if err := differ(what, got, want); err != nil && first == nil {
			first = err
		}
	}
	at := func(mark string, rng *numpyrand.RandomState) {
		marks[mark] = true
		same("rng."+mark, fingerprintOf(*rng), r.RNG[mark])
	}

	at("start", railRNG)
	b, err := newBuilder(p.Rail, p.Width, p.Height, railRNG)
	if err != nil {
		return err
	}
	b.placeCities()
	centers := make([][2]int, len(b.cities))
	for i := range b.cities {
		centers[i] = pair(b.cities[i].center)
	}
	if !p.Rail.GridMode {
		at("after_random_city_positions", railRNG)
	}
	if r.Stage.Even != nil {
		same("even_city_positions", centers, r.Stage.Even)
	} else {
		same("random_city_positions", centers, r.Stage.Random)
	}
	same("city_positions", centers, r.Cities)

	if err := b.planCities(); err != nil {
		return err
	}
	at("after_connection_points", railRNG)
	for what, n := range map[string]int{"inner": len(r.Stage.Inner), "outer": len(r.Stage.Outer), "orientations": len(r.Stage.Orientations), "neighbours": len(r.Stage.Neighbours)} {
		same(what, len(b.cities), n)
	}
	if first != nil {
		return first // and the lists below are not as long
	}
	for i := range b.cities {
		c := &b.cities[i]
		for side := range c.inner {
			same(fmt.Sprintf("city %d, side %d, inner points", i, side), pairs(c.inner[side]), r.Stage.Inner[i][side])
			same(fmt.Sprintf("city %d, side %d, outer points", i, side), pairs(c.outer[side]), r.Stage.Outer[i][side])
		}
		same(fmt.Sprintf("city %d, orientation", i), c.orientation, r.Stage.Orientations[i])
		for side, k := range b.neighbours(i) {
			want := -1
			if n := r.Stage.Neighbours[i][side]; n != nil {
				want = *n
			}
			same(fmt.Sprintf("city %d, neighbour in %d", i, side), k, want)
		}
	}

	b.connectCities()
	same("inter_city_cells", pairs(b.lines), r.Stage.Lines)
	if r.Stage.Connected != nil {
		same("grid_after_connect_cities", rows(b.grid, b.width), r.Stage.Connected)
	}
	b.layInnerTracks()
	if r.Stage.Inside != nil {
		same("grid_after_inner_cities", rows(b.grid, b.width), r.Stage.Inside)
	}
	if r.Stage.Order != nil {
		same("city_cell_iteration_order", pairs(b.cityCells()), r.Stage.Order)
	}
	at("fix_before", &b.repairs)
	var repaired [][5]int
	for _, c := range b.brokenCells() {
		before, i := b.grid[b.index(c)], b.index(c)
		b.repair(c)
		repaired = append(repaired, [5]int{c.Row, c.Col, int(b.facing[i]), int(before), int(b.grid[i])})
	}
	same("fixed_cells_in_order", repaired, r.Stage.Repaired)
	at("fix_after", &b.repairs)
	b.chooseBridges()
	at("after_rail", railRNG)
	product := b.product()
	same("grid", rows(product.Grid, product.Width), r.Grid)
	same("level_free_positions", sorted(product.LevelFree), r.LevelFree)
	if same("train_stations", len(product.Tracks), len(r.Stations)); first != nil {
		return first
	}
	for i, tracks := range product.Tracks {
		var got []recordedStation
		for _, s := range tracks {
			got = append(got, recordedStation(s))
		}
		same(fmt.Sprintf("train_stations %d", i), got, r.Stations[i])
	}

	network, err := NewRailway(product)
	if err != nil {
		return err
	}
	line := &railfile.LineProduct{Speeds: make([]rail.Fraction, p.Agents)}
	line.Stops = p.Line.drawStops(network, p.Agents, &rng)
	at("after_line_assignment", &rng)
	if err := p.Line.drawSpeeds(line.Speeds, &rng); err != nil {
		return err
	}
	at("after_speeds", &rng)
	if same("speeds_raw", len(line.Speeds), len(r.Stage.Speeds)); first != nil {
		return first
	}
	for i, f := range line.Speeds {
		want, err := rail.Snap(r.Stage.Speeds[i])
		if err != nil || !slices.ContainsFunc(p.Line.SpeedRatios, func(s railfile.SpeedRatio) bool { return s.Speed == r.Stage.Speeds[i] }) {
			return fmt.Errorf("speeds_raw %d: %v is none of the parameters", i, r.Stage.Speeds[i])
		}
		same(fmt.Sprintf("speeds_raw %d", i), f.String(), want.String())
	}
	if p.Line.LineLength != 2 {
		for i := range line.Stops {
			line.Stops[i] = follow(network, line.Stops[i])
		}
	}
	at("after_line", &rng)
	timetable, err := Timetable(network, line, &rng)
	if err != nil {
		return err
	}
	if p.PostSeed == nil {
		at("after_timetable", &rng)
	}
	same("max_episode_steps", timetable.MaxEpisodeSteps, r.MaxEpisodeSteps)
	for mark := range r.RNG {
		if !marks[mark] && !(mark == "after_timetable" && p.PostSeed != nil) {
			same("rng."+mark, "not looked at", "looked at")
		}
	}
	return first
}

// checkEnvironment compares what the environment holds.
func (r *recordedRun) checkEnvironment(e *rail.Env) error {
	s, seed := e.Scenario(), e.Seed()
	var held [][2]int
	for i := range s.Grid {
		if c := (rail.Cell{Row: i / s.Width, Col: i % s.Width}); e.LevelFree(c) {
			held = append(held, pair(c))
		}
	}
	for _, d := range []struct {
		what      string
		got, want any
	}{
		{"width", s.Width, r.Width}, {"height", s.Height, r.Height}, {"grid", rows(s.Grid, s.Width), r.Grid},
		{"resource_map_level_free_positions", held, r.Held}, {"max_episode_steps", e.MaxEpisodeSteps(), r.MaxEpisodeSteps},
		{"random_seed", seed.Value, r.RandomSeed}, {"seed_history", seed.History, r.SeedHistory},
		{"rng.after_timetable", fingerprintOf(e.Stream()), r.RNG["after_timetable"]}, {"agents", e.Trains(), len(r.Agents)},
	} {
		if err := differ(d.what, d.got, d.want); err != nil {
			return err
		}
	}
	for i := range r.Agents {
		if err := r.Agents[i].check(e, i); err != nil {
			return fmt.Errorf("train %d: %w", i, err)
		}
	}
	return nil
}

func (a *recordedAgent) check(e *rail.Env, i int) error {
	train := &e.Scenario().Trains[i]
	speed := e.MaxSpeed(i).Rat()
	var targets []recordedPlace
	for h := rail.North; h <= rail.West; h++ {
		if c := (rail.Configuration{Cell: train.Target, Heading: h}); e.Network().Valid(c) {
			targets = append(targets, recordedPlace(c))
		}
	}
	var waypoints [][]recordedPlace
	var departures, arrivals []*int
	for _, stop := range train.Stops {
		var all []recordedPlace
		for _, c := range stop.Alternatives {
			all = append(all, recordedPlace(c))
		}
		waypoints = append(waypoints, all)
		departures, arrivals = append(departures, pointer(stop.EarliestDeparture)), append(arrivals, pointer(stop.LatestArrival))
	}
	initial, target := recordedPlace(train.Initial), pair(train.Target)
	got := recordedAgent{
		Handle: i, Initial: &initial, Target: &target, Targets: targets, Speed: fmt.Sprintf("%s/%s", speed.Num(), speed.Denom()),
		Waypoints: waypoints, Earliest: train.EarliestDeparture, Latest: train.LatestArrival, Departures: departures, Arrivals: arrivals,
	}
	if a.Initial == nil { // recorded by the sampling generator, of which less is
		got.Initial, got.Target, got.Targets, got.Earliest, got.Latest = nil, nil, nil, 0, 0
	}
	return differ("agent", got, *a)
}

func pointer(t rail.Time) *int {
	if !t.Given {
		return nil
	}
	return &t.Step
}

func differ(what string, got, want any) error {
	if reflect.DeepEqual(got, want) {
		return nil
	}
	if g, w := reflect.ValueOf(got), reflect.ValueOf(want); g.Kind() == reflect.Slice && w.Kind() == reflect.Slice {
		for i := range min(g.Len(), w.Len()) {
			if !reflect.DeepEqual(g.Index(i).Interface(), w.Index(i).Interface()) {
				return differ(fmt.Sprintf("%s %d", what, i), g.Index(i).Interface(), w.Index(i).Interface())
			}
		}
		if g.Len() == 0 && w.Len() == 0 {
			return nil // nil and empty
		}
		return fmt.Errorf("%s: got %d, want %d", what, g.Len(), w.Len())
	}
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	return fmt.Errorf("%s: got %s, want %s", what, g, w)
}

func pair(c rail.Cell) [2]int { return [2]int{c.Row, c.Col} }

func pairs(cells []rail.Cell) [][2]int {
	var all [][2]int
	for _, c := range cells {
		all = append(all, pair(c))
	}
	return all
}

func sorted(cells []rail.Cell) [][2]int {
	all := pairs(cells)
	slices.SortFunc(all, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return all
}

func rows(grid []rail.Transitions, width int) [][]rail.Transitions {
	return slices.Collect(slices.Chunk(grid, width))
}
