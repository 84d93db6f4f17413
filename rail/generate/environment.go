package generate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// Parameters are those of flatland-rl's env_generator.
type Parameters struct {
	Agents        int // trains (n_agents)
	Width, Height int // columns and rows (x_dim, y_dim)
	Rail          SparseRail
	Line          SparseLine
	Malfunction   rail.MalfunctionParameters // of breakdowns; see MalfunctionRate

	Seed     uint64  // of the environment's stream, from which everything is drawn
	PostSeed *uint64 // nil: none. With it the environment is reset once more (see [rail.Env.Reset]), which turns bridges into crossings (quirk)

	Acceleration, Braking rail.Delta    // of a step; the zero values stand for +1.0 and -1.0
	Effects               []rail.Effect // besides breakdowns, and before them

	// Given are products that are taken as they are, such as those of files, instead of being generated; nil: generate.
	// Nothing is drawn for them.
	Given struct {
		Rail      *railfile.RailProduct
		Line      *railfile.LineProduct
		Timetable *railfile.TimetableProduct
	}

	// Legacy draws the railway from RandomState(Seed) and leaves the environment's stream to lines and timetable
	// (--legacy-env-generator). So the published environments of Flatland 3 were made.
	Legacy bool
}

// DefaultParameters are the reference's: those of the environment Test_00/Level_0 of Flatland 3, but for
// max_rail_pairs_in_city, which is 2 there.
func DefaultParameters() Parameters {
	return Parameters{
		Agents: 7, Width: 30, Height: 30,
		Rail:        SparseRail{Cities: 2, RailsBetweenCities: 2, RailPairsInCity: 4},
		Line:        SparseLine{SpeedRatios: DefaultSpeedRatios(), LineLength: 2},
		Malfunction: rail.MalfunctionParameters{Rate: MalfunctionRate(540), MinDuration: 20, MaxDuration: 50},
	}
}

// DefaultSpeedRatios are the four speeds of env_generator. Their order matters.
func DefaultSpeedRatios() []railfile.SpeedRatio {
	return []railfile.SpeedRatio{{Speed: 1, Share: 0.25}, {Speed: 0.5, Share: 0.25}, {Speed: 0.33, Share: 0.25}, {Speed: 0.25, Share: 0.25}}
}

// MalfunctionRate is the rate of breakdowns for a malfunction_interval in steps: 1/interval. 0 stands for the largest
// interval there is (quirk), and below 0 the rate is negative, which is never.
func MalfunctionRate(interval int) float64 {
	if interval == 0 {
		interval = math.MaxInt64
	}
	return 1 / float64(interval)
}

// FromRun are the parameters of a row of a metadata.csv, as flatland-trajectory-generate-from-metadata takes them.
//
// quirk: the speeds are the default ones, whatever the row says.
func FromRun(r *railfile.Run) Parameters {
	p := DefaultParameters()
	p.Agents, p.Width, p.Height, p.Seed = r.Agents, r.Width, r.Height, r.Seed
	p.Rail = SparseRail{Cities: r.Cities, GridMode: r.GridMode, RailsBetweenCities: r.RailsBetweenCities, RailPairsInCity: r.RailPairsInCity}
	p.Malfunction = rail.MalfunctionParameters{
		Rate: MalfunctionRate(r.MalfunctionInterval), MinDuration: r.MalfunctionDurationMin, MaxDuration: r.MalfunctionDurationMax,
	}
	return p
}

// Environment generates an environment and puts it at the start of an episode. Errors about the parameters are
// ParameterErrors.
func Environment(p Parameters, rewards ...rail.Rewards) (*rail.Env, error) {
	products, err := Generate(p)
	if err != nil {
		return nil, err
	}
	return products.Environment(rewards...)
}

// Products are what the generators made of some parameters, one after the other.
type Products struct {
	Rail      *railfile.RailProduct
	Line      *railfile.LineProduct
	Timetable *railfile.TimetableProduct

	parameters Parameters
	stream     numpyrand.RandomState // of the environment, as they left it
}

// Generate runs the generators, but for those whose product is given. Errors about the parameters are ParameterErrors.
func Generate(p Parameters) (*Products, error) {
	made, err := generate(p, numpyrand.NewHashedRandomState(p.Seed))
	if err != nil {
		return nil, err
	}
	return made, nil
}

// Regenerate begins another episode of an environment that these parameters made, on a new railway with new trains: the
// reference's reset(random_seed=seed). With a seed the environment's stream begins anew, without it goes on. The effects
// keep their state, as in [rail.Env.Reset]; e stays as it is.
//
// If nothing can be made, e stays as it is but for its stream, which is where the generators gave up. So another call without
// a seed makes another railway, as in the reference.
//
// The bookkeeping of rewards begins anew. (In the reference a train goes on with the stops that the one of its handle
// visited before.)
func Regenerate(e *rail.Env, p Parameters, seed *uint64) (*rail.Env, error) {
	state := e.Snapshot()
	reseed(&state, seed)
	products, err := generate(p, state.Stream)
	if err != nil {
		e.SetStream(products.stream, state.Seed)
		return nil, err
	}
	return products.open(state, e.RewardFunctions())
}

// reseed is what a reset does first.
func reseed(s *rail.Snapshot, seed *uint64) {
	if seed == nil {
		return
	}
	s.Stream = numpyrand.NewHashedRandomState(*seed)
	if !s.Seed.Given || s.Seed.Value != *seed {
		s.Seed.History = append(slices.Clip(s.Seed.History), *seed)
	}
	s.Seed.Value, s.Seed.Given = *seed, true
}

// generate is Generate on a stream. After an error too it returns the products so far, with the stream.
func generate(p Parameters, stream numpyrand.RandomState) (*Products, error) {
	made := &Products{Rail: p.Given.Rail, Line: p.Given.Line, Timetable: p.Given.Timetable, parameters: p, stream: stream}
	return made, made.complete()
}

func (made *Products) complete() error {
	p := &made.parameters
	if made.Rail == nil {
		rng := &made.stream
		if p.Legacy {
			if p.Seed > math.MaxUint32 {
				return &ParameterError{"seed", p.Seed, "the legacy generator takes seeds below 2^32"}
			}
			own := numpyrand.NewRandomState(uint32(p.Seed))
			rng = &own
		}
		var err error
		if made.Rail, err = p.Rail.Generate(p.Width, p.Height, rng); err != nil {
			return err
		}
	}
	if made.Line != nil && made.Timetable != nil {
		return nil
	}
	r, err := NewRailway(made.Rail)
	if err != nil {
		return err
	}
	if made.Line == nil {
		if made.Line, err = p.Line.Generate(r, p.Agents, &made.stream); err != nil {
			return err
		}
	}
	if made.Timetable == nil {
		if why := unequal(made.Line); why != "" && p.Given.Line == nil {
			return &ParameterError{"line_length", p.Line.LineLength, why + "; want another seed, or line_length 2"}
		}
		if made.Timetable, err = Timetable(r, made.Line, &made.stream); err != nil {
			return err
		}
	}
	return nil
}

// Environment puts the products together, at the start of an episode.
func (p *Products) Environment(rewards ...rail.Rewards) (*rail.Env, error) {
	from := &p.parameters
	e, err := p.open(rail.Snapshot{
		Seed:    rail.Seed{Value: from.Seed, Given: true, History: []uint64{from.Seed}},
		Effects: append(slices.Clone(from.Effects), rail.NewBreakdowns(from.Malfunction)),
	}, rewards)
	if err != nil {
		return nil, err
	}
	if from.PostSeed != nil {
		e.Reset(from.PostSeed)
	}
	return e, nil
}

// open puts the products together, with the seeds and effects of a state and the stream as the generators left it.
func (p *Products) open(state rail.Snapshot, rewards []rail.Rewards) (*rail.Env, error) {
	s, err := Scenario(p.Rail, p.Line, p.Timetable)
	if err != nil {
		return nil, err
	}
	s.Acceleration, s.Braking = p.parameters.Acceleration, p.parameters.Braking
	return begin(s, state, p.stream, rewards)
}

// begin is an environment at the start of a scenario, with the seeds and effects of a state and a stream.
func begin(s *rail.Scenario, state rail.Snapshot, stream numpyrand.RandomState, rewards []rail.Rewards) (*rail.Env, error) {
	e, err := rail.New(s, rail.Options{Rewards: rewards})
	if err != nil {
		return nil, err
	}
	fresh := e.Snapshot()
	fresh.Stream, fresh.Seed, fresh.Effects = stream, state.Seed, state.Effects
	if err := e.Restore(fresh); err != nil {
		return nil, err
	}
	return e, nil
}

// Scenario puts the products of generators together, made here or read from files. It is an error if they are not about
// the same trains and stops.
func Scenario(p *railfile.RailProduct, line *railfile.LineProduct, timetable *railfile.TimetableProduct) (*rail.Scenario, error) {
	n := len(line.Stops)
	if len(timetable.EarliestDepartures) != n || len(timetable.LatestArrivals) != n {
		return nil, fmt.Errorf("the line has %d trains, the timetable %d earliest departures and %d latest arrivals: want as many of each",
			n, len(timetable.EarliestDepartures), len(timetable.LatestArrivals))
	}
	if err := checkLine(p, line); err != nil {
		return nil, err
	}
	if timetable.MaxEpisodeSteps < 1 {
		return nil, fmt.Errorf("the timetable has max_episode_steps %d, want at least 1", timetable.MaxEpisodeSteps)
	}
	s := &rail.Scenario{
		Width: p.Width, Height: p.Height, Grid: p.Grid, LevelFree: p.LevelFree,
		Trains: make([]rail.Train, n), MaxEpisodeSteps: timetable.MaxEpisodeSteps,
	}
	for i := range s.Trains {
		t, err := train(line.Stops[i], timetable.EarliestDepartures[i], timetable.LatestArrivals[i])
		if err != nil {
			return nil, fmt.Errorf("train %d: %w", i, err)
		}
		t.MaxSpeed = line.Speeds[i]
		s.Trains[i] = t
	}
	return s, nil
}

// checkLine says why trains cannot run on a railway, as where the two are products of different ones.
func checkLine(p *railfile.RailProduct, line *railfile.LineProduct) error {
	if len(line.Speeds) != len(line.Stops) {
		return fmt.Errorf("the line has %d trains and %d speeds, want as many", len(line.Stops), len(line.Speeds))
	}
	for i, stops := range line.Stops {
		for k, stop := range stops {
			if len(stop) == 0 {
				return fmt.Errorf("train %d, stop %d: it has no place", i, k)
			}
			for _, c := range stop {
				if c.Row < 0 || c.Row >= p.Height || c.Col < 0 || c.Col >= p.Width || p.Grid[c.Row*p.Width+c.Col] == 0 {
					return fmt.Errorf("train %d, stop %d: there is no track at %s; are rails and line of the same railway?", i, k, c.Cell)
				}
			}
		}
	}
	return nil
}

// train is a train of its stops and times. The timetable of Flatland 2 knows one time each, of the start and of the
// target.
func train(stops [][]rail.Configuration, departures, arrivals []rail.Time) (t rail.Train, err error) {
	last := len(stops) - 1
	switch {
	case last < 1:
		return t, fmt.Errorf("%d stops, want a start and a target at least", len(stops))
	case len(departures) == 1 && len(arrivals) == 1 && last == 1:
		departures, arrivals = []rail.Time{departures[0], {}}, []rail.Time{{}, arrivals[0]}
	case len(departures) != len(stops) || len(arrivals) != len(stops):
		return t, fmt.Errorf("%d earliest departures and %d latest arrivals, want %d, one a stop", len(departures), len(arrivals), len(stops))
	}
	if !departures[0].Given || !arrivals[last].Given {
		return t, errors.New("want an earliest departure from the start and a latest arrival at the target")
	}
	t = rail.Train{
		Initial: stops[0][0], Target: stops[last][0].Cell,
		EarliestDeparture: departures[0].Step, LatestArrival: arrivals[last].Step,
	}
	for k := range stops {
		t.Stops = append(t.Stops, rail.Stop{Alternatives: stops[k], EarliestDeparture: departures[k], LatestArrival: arrivals[k]})
	}
	return t, nil
}
