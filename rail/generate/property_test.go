package generate

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// checkGenerated returns what is wrong with an environment whatever its parameters are.
func checkGenerated(p Parameters, e *rail.Env) error {
	s := e.Scenario()
	if s.Width != p.Width || s.Height != p.Height || len(s.Trains) != p.Agents {
		return fmt.Errorf("got %d trains on %dx%d cells, want %d on %dx%d", len(s.Trains), s.Height, s.Width, p.Agents, p.Height, p.Width)
	}
	at := func(c rail.Cell) rail.Transitions { return s.Grid[c.Row*s.Width+c.Col] }
	for i, t := range s.Grid {
		c := rail.Cell{Row: i / s.Width, Col: i % s.Width}
		if e.LevelFree(c) && t != rail.DiamondCrossing {
			return fmt.Errorf("%s is a bridge of %b, want a crossing", c, t)
		}
		if e.LevelFree(c) && p.PostSeed != nil {
			return fmt.Errorf("%s is still a bridge after the second reset", c)
		}
	}
	for i := range s.Trains {
		if err := checkTrain(&s.Trains[i], s, at); err != nil {
			return fmt.Errorf("train %d: %w", i, err)
		}
		if e.State(i) != rail.Waiting {
			return fmt.Errorf("train %d is %s, want it waiting", i, e.State(i))
		}
		speed := e.MaxSpeed(i)
		if !slices.ContainsFunc(p.Line.SpeedRatios, func(r railfile.SpeedRatio) bool {
			f, err := rail.Snap(r.Speed)
			return err == nil && f.String() == speed.String()
		}) && !(p.Line.SpeedRatios == nil && speed.String() == rail.Whole(1).String()) {
			return fmt.Errorf("train %d has speed %s, which is none of the parameters", i, speed)
		}
	}
	return nil
}

// checkTrain says whether a train stops on tracks only, at times that go up and end with the episode.
func checkTrain(t *rail.Train, s *rail.Scenario, at func(rail.Cell) rail.Transitions) error {
	last := len(t.Stops) - 1
	for k := range t.Stops {
		stop := &t.Stops[k]
		if len(stop.Alternatives) != 1 || at(stop.Alternatives[0].Cell) == 0 {
			return fmt.Errorf("stop %d is at %v, want one place on tracks", k, stop.Alternatives)
		}
		if stop.EarliestDeparture.Given != (k < last) || stop.LatestArrival.Given != (k > 0) {
			return fmt.Errorf("stop %d has departure %v and arrival %v", k, stop.EarliestDeparture, stop.LatestArrival)
		}
		if k > 0 && k < last && stop.EarliestDeparture.Step < t.Stops[k-1].EarliestDeparture.Step {
			return fmt.Errorf("the departure from stop %d is before that from the last", k)
		}
		if k > 1 && stop.LatestArrival.Step < t.Stops[k-1].LatestArrival.Step {
			return fmt.Errorf("the arrival at stop %d is before that at the last", k)
		}
	}
	switch {
	case last < 1 || t.Initial != t.Stops[0].Alternatives[0] || t.Target != t.Stops[last].Alternatives[0].Cell:
		return fmt.Errorf("goes from %s to %s with stops %v", t.Initial, t.Target, t.Stops)
	case t.EarliestDeparture < 0 || t.EarliestDeparture != t.Stops[0].EarliestDeparture.Step || t.LatestArrival != t.Stops[last].LatestArrival.Step:
		return fmt.Errorf("leaves from %d and is there by %d", t.EarliestDeparture, t.LatestArrival)
	case t.EarliestDeparture > s.MaxEpisodeSteps || t.LatestArrival < t.EarliestDeparture:
		return fmt.Errorf("leaves from %d and is there by %d of %d steps", t.EarliestDeparture, t.LatestArrival, s.MaxEpisodeSteps)
	}
	return nil
}

// checkTracks returns what is wrong with tracks. Where cities have more tracks than their squares have room for, the
// reference does not repair them all, and nothing is.
func checkTracks(p *railfile.RailProduct, pairs int) error {
	for i, tracks := range p.Tracks {
		for _, s := range tracks {
			if c := p.Cities[i]; max(abs(s.Cell.Row-c.Row), abs(s.Cell.Col-c.Col)) > max(1, pairs)+2 {
				return nil
			}
		}
	}
	b := &builder{width: p.Width, height: p.Height, grid: p.Grid}
	for i, t := range p.Grid {
		if !slices.Contains(legal, t) {
			return fmt.Errorf("%s is %b, which is no kind of cell", b.cell(i), t)
		}
	}
	for i := range p.Grid {
		if !b.valid(b.cell(i)) {
			return fmt.Errorf("%s is %b and does not join its neighbours", b.cell(i), p.Grid[i])
		}
	}
	return nil
}

func drawParameters(t *rapid.T) Parameters {
	p := DefaultParameters()
	p.Agents = rapid.IntRange(1, 8).Draw(t, "n_agents")
	pairs := rapid.IntRange(0, 10).Draw(t, "max_rail_pairs_in_city")
	side := 2 * (max(1, pairs) + 3) // of a city; a little less than one does not fit
	p.Width = rapid.IntRange(2*side, 2*side+50).Draw(t, "x_dim")
	p.Height = rapid.IntRange(side, 2*side+50).Draw(t, "y_dim")
	p.Rail = SparseRail{
		Cities:             rapid.IntRange(2, 8).Draw(t, "n_cities"),
		GridMode:           rapid.Bool().Draw(t, "grid_mode"),
		RailsBetweenCities: rapid.IntRange(1, 24).Draw(t, "max_rails_between_cities"),
		RailPairsInCity:    pairs,
		LevelFree:          rapid.OneOf(rapid.SampledFrom([]float64{0, 1}), rapid.Float64Range(0, 1)).Draw(t, "p_level_free"),
	}
	p.Line.LineLength = rapid.IntRange(2, 4).Draw(t, "line_length")
	p.Legacy = rapid.Bool().Draw(t, "legacy")
	p.Seed = rapid.Uint64Range(0, math.MaxUint32).Draw(t, "seed")
	if !p.Legacy {
		p.Seed *= rapid.Uint64().Draw(t, "larger")
	}
	if rapid.Bool().Draw(t, "second reset") {
		seed := rapid.Uint64().Draw(t, "post_seed")
		p.PostSeed = &seed
	}
	return p
}

// drawn checks what is generated of drawn parameters: an error has to be one about a parameter, and enough draws have to
// be without one.
func drawn(t *testing.T, check func(t *rapid.T, p Parameters) error) {
	t.Helper()
	generated := 0
	rapid.Check(t, func(t *rapid.T) {
		err := check(t, drawParameters(t))
		if wrong := (*ParameterError)(nil); err != nil && !errors.As(err, &wrong) {
			t.Fatal(err)
		}
		if err == nil {
			generated++
		}
	})
	if generated < 30 {
		t.Errorf("only %d draws could be generated, want 30 or more", generated)
	}
}

// TestTracks: whatever is drawn, tracks lie in regular cells that join.
func TestTracks(t *testing.T) {
	drawn(t, func(t *rapid.T, p Parameters) error {
		rng := numpyrand.NewHashedRandomState(p.Seed)
		product, err := p.Rail.Generate(p.Width, p.Height, &rng)
		if err != nil {
			return err
		}
		if err := checkTracks(product, p.Rail.RailPairsInCity); err != nil {
			t.Fatal(err)
		}
		return nil
	})
}

// TestSameSeedSameEnvironment: it is the same again, also after it was saved and read.
func TestSameSeedSameEnvironment(t *testing.T) {
	drawn(t, func(t *rapid.T, p Parameters) error {
		e, err := Environment(p)
		if err != nil {
			return err
		}
		if err := checkGenerated(p, e); err != nil {
			t.Fatal(err)
		}
		again, err := Environment(p)
		if err != nil || !again.Equal(e) {
			t.Fatalf("the same parameters make another environment (%v)", err)
		}
		content, err := railfile.SaveEnvironment(e)
		if err != nil {
			t.Fatal(err)
		}
		file, err := railfile.ReadEnvironment(content)
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := file.Open(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !loaded.Equal(e) {
			t.Fatal("the environment of the saved file is another")
		}
		other := p
		other.Seed ^= 1 << 20
		if e, err := Environment(other); err == nil && e.Equal(again) {
			t.Fatal("another seed makes the same environment")
		}
		return nil
	})
}

// TestWhatTracksDependOn: nothing that is drawn after them, and of the share of bridges only where these are.
func TestWhatTracksDependOn(t *testing.T) {
	drawn(t, func(t *rapid.T, p Parameters) error {
		e, err := Environment(p)
		if err != nil {
			return err
		}
		other := p
		other.Agents, other.Line = p.Agents+1, SparseLine{LineLength: 2}
		other.Rail.LevelFree, other.PostSeed, other.Malfunction = 1-p.Rail.LevelFree, nil, rail.MalfunctionParameters{}
		o, err := Environment(other)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(o.Scenario().Grid, e.Scenario().Grid) {
			t.Fatal("other trains and bridges make other tracks")
		}
		crossings := 0
		for _, cell := range o.Scenario().Grid {
			if cell == rail.DiamondCrossing {
				crossings++
			}
		}
		share := other.Rail.LevelFree * float64(crossings)
		if n := float64(len(o.Scenario().LevelFree)); n < math.Floor(share) || n > math.Ceil(share) {
			t.Fatalf("got %v bridges of %d crossings with a share of %v", n, crossings, other.Rail.LevelFree)
		}
		return nil
	})
}

// TestQuirkTracksAtTheEdge: more tracks than a city has room for, up to the last row or column or beyond, are refused; the
// reference fails with these parameters (IndexError).
func TestQuirkTracksAtTheEdge(t *testing.T) {
	for _, c := range []struct {
		width, height int
		rail          SparseRail
		seed          uint64
	}{
		{30, 25, SparseRail{Cities: 5, GridMode: true, RailsBetweenCities: 12, RailPairsInCity: 4}, 1077581322},
		{37, 61, SparseRail{Cities: 7, GridMode: true, RailsBetweenCities: 11, RailPairsInCity: 5}, 1931807840},
	} {
		rng := numpyrand.NewHashedRandomState(c.seed)
		var wrong *ParameterError
		if _, err := c.rail.Generate(c.width, c.height, &rng); !errors.As(err, &wrong) || wrong.Name != "max_rails_between_cities" {
			t.Errorf("%+v: got error %v, want max_rails_between_cities refused", c.rail, err)
		}
	}
}

// FuzzParameters: parameters of any kind make an environment that runs, or an error that says which is to blame.
func FuzzParameters(f *testing.F) {
	f.Add(7, 30, 30, 2, 4, 2, false, 0., 2, 0.5, 0.5, 540, 20, 50, uint64(42), false)
	f.Add(3, 40, 35, 5, 1, 2, true, 0.5, 3, 0.33, 0.25, 0, 1, 1, uint64(1)<<40, false)
	f.Add(2, 25, 25, 4, 1, 1, false, 1., 4, 1., 1., 20, 5, 2, uint64(7), true)
	f.Add(-1, 0, -3, 1, -4, 0, false, -0.1, 0, 0., 2., -5, -1, -1, uint64(math.MaxUint64), true)
	f.Add(1<<62, 14, 14, 1<<62, 1<<62, 1<<62, true, math.NaN(), 1<<62, math.Inf(1), math.NaN(), math.MinInt, 1<<62, 1<<62, uint64(0), false)
	f.Add(7, 62, 72, 3, 9, 25, false, 0., 2, 1., 1., 540, 20, 50, uint64(461886493), false) // cities that share a cell
	f.Add(2, 34, 30, 40, 4, 8, true, 0., 2, 1., 1., 540, 20, 50, uint64(33), true)          // tracks up to the edge
	f.Fuzz(func(t *testing.T, agents, width, height, cities, pairs, between int, gridMode bool, levelFree float64, lineLength int,
		speed, share float64, interval, shortest, longest int, seed uint64, legacy bool) {
		if width > 96 || height > 96 {
			width, height = width%49, height%49 // small, or a try takes too long
		}
		if agents > 12 && agents <= maxTrains {
			agents %= 13
		}
		p := Parameters{
			Agents: agents, Width: width, Height: height,
			Rail: SparseRail{Cities: cities, GridMode: gridMode, RailsBetweenCities: between, RailPairsInCity: pairs, LevelFree: levelFree},
			Line: SparseLine{
				SpeedRatios: []railfile.SpeedRatio{{Speed: speed, Share: share}, {Speed: 1, Share: 1 - share}}, LineLength: lineLength,
			},
			Malfunction: rail.MalfunctionParameters{Rate: MalfunctionRate(interval), MinDuration: shortest, MaxDuration: longest},
			Seed:        seed, Legacy: legacy,
		}
		e, err := Environment(p)
		var wrong *ParameterError
		switch {
		case errors.As(err, &wrong):
			if wrong.Name == "" || wrong.Why == "" {
				t.Fatalf("%v does not say which parameter or why", err)
			}
			return
		case err != nil:
			if sane := p.Malfunction; sane.MinDuration >= 0 && sane.MinDuration <= sane.MaxDuration && sane.MaxDuration < 1000 {
				t.Fatalf("got error %v, want a ParameterError", err)
			}
			return
		}
		if err := checkGenerated(p, e); err != nil {
			t.Fatal(err)
		}
		made, err := Generate(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkTracks(made.Rail, pairs); err != nil {
			t.Fatal(err)
		}
		actions := make([]rail.Action, e.Trains())
		for i := range actions {
			actions[i] = rail.MoveForward
		}
		for range 4 {
			if e.AllDone() {
				break
			}
			if err := e.Step(actions); err != nil {
				t.Fatal(err)
			}
		}
	})
}
