package batch

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/generate"
	"skyrail/rail/railfile"
)

// Source is where environments come from, and says what another episode of them is. It does not change.
type Source struct {
	first      *rail.Env
	parameters *generate.Parameters // nil: not generated
	begun      bool                 // first may be stepped
	needsSeed  bool                 // the first reset has to be seeded
}

// maxFile bounds a file, compressed or not.
const maxFile = 64 << 20

// FromFile is an environment file of any kind that package railfile reads, plain or gzipped, or what [Batch.Save] wrote.
// The environment is at the moment that the file has. A reset is [rail.Env.Reset], the reference's without generators.
func FromFile(data []byte) (*Source, error) {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("the file: %w", err)
		}
		if data, err = io.ReadAll(io.LimitReader(z, maxFile+1)); err != nil {
			return nil, fmt.Errorf("the file: %w", err)
		}
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("the file has more than %d MiB", maxFile>>20)
	}
	if bytes.HasPrefix(data, []byte("rail\x00")) {
		s := &Source{first: new(rail.Env)}
		if err := s.first.UnmarshalBinary(data); err != nil {
			return nil, err
		}
		state := s.first.Snapshot()
		return s.known(&railfile.Environment{State: state, HasStream: !state.Stream.Equal(new(numpyrand.RandomState))})
	}
	file, err := railfile.ReadEnvironment(data)
	if err != nil {
		return nil, err
	}
	s := new(Source)
	if s.first, err = rail.New(file.Scenario, rail.Options{}); err != nil {
		return nil, err
	}
	if err := s.first.Restore(file.State); err != nil {
		return nil, err
	}
	return s.known(file)
}

// known finds out what the environment needs, and what copies of it can share.
func (s *Source) known(file *railfile.Environment) (*Source, error) {
	s.needsSeed, s.begun = file.NeedsSeed(), !file.NeedsSeed() && !file.NeedsReset()
	for i := range s.first.Trains() {
		s.first.DistanceTo(i, s.first.Initial(i))
	}
	if s.first.Trains() == 0 {
		return nil, errors.New("the environment has no trains")
	}
	return s, nil
}

// FromSuite is a scenario of a suite's folder, as 'skyrail rail suite' makes them: levels from 0, scenarios from 1.
func FromSuite(dir string, level, scenario int) (*Source, error) {
	stem := filepath.Join(dir, fmt.Sprintf("level_%d", level), fmt.Sprintf("level_%d_scenario_%d", level, scenario))
	var found []string
	for _, suffix := range []string{".pkl", ".pkl.gz", ".mpk"} {
		if _, err := os.Stat(stem + suffix); err == nil {
			found = append(found, stem+suffix)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("there is no %s.pkl; 'skyrail rail suite --seed N --out DIR' makes a suite", stem)
	case 1:
	default:
		return nil, fmt.Errorf("%s are both there; one scenario has one file", strings.Join(found, " and "))
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	s, err := FromFile(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", found[0], err)
	}
	return s, nil
}

// Generated is an environment that the generators make of parameters. A reset makes new tracks, trains and timetables of
// the same size ([generate.Regenerate]).
func Generated(p generate.Parameters) (*Source, error) {
	e, err := generate.Environment(p)
	if err != nil {
		return nil, err
	}
	return (&Source{first: e, parameters: &p}).known(&railfile.Environment{State: e.Snapshot(), HasStream: true})
}

// ParseParameters reads a JSON object of parameters by the reference's names, those of env_generator; what is not named has
// the reference's default. speed_ratios is a list of pairs of a speed and its share. An unknown name is an error.
func ParseParameters(data []byte) (generate.Parameters, error) {
	p := generate.DefaultParameters()
	interval := 540
	var ratios [][2]float64
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(&struct {
		Agents             *int          `json:"n_agents"`
		Width              *int          `json:"x_dim"`
		Height             *int          `json:"y_dim"`
		Cities             *int          `json:"n_cities"`
		RailPairsInCity    *int          `json:"max_rail_pairs_in_city"`
		RailsBetweenCities *int          `json:"max_rails_between_cities"`
		GridMode           *bool         `json:"grid_mode"`
		LevelFree          *float64      `json:"p_level_free"`
		MinDuration        *int          `json:"malfunction_duration_min"`
		MaxDuration        *int          `json:"malfunction_duration_max"`
		Interval           *int          `json:"malfunction_interval"`
		Ratios             *[][2]float64 `json:"speed_ratios"`
		LineLength         *int          `json:"line_length"`
		Seed               *uint64       `json:"seed"`
		PostSeed           **uint64      `json:"post_seed"`
		Legacy             *bool         `json:"legacy_env_generator"`
	}{
		&p.Agents, &p.Width, &p.Height, &p.Rail.Cities, &p.Rail.RailPairsInCity, &p.Rail.RailsBetweenCities, &p.Rail.GridMode,
		&p.Rail.LevelFree, &p.Malfunction.MinDuration, &p.Malfunction.MaxDuration, &interval, &ratios, &p.Line.LineLength,
		&p.Seed, &p.PostSeed, &p.Legacy,
	})
	if err == nil && d.More() {
		err = errors.New("there is more than one value")
	}
	if err != nil {
		return p, fmt.Errorf("the parameters: %w", err)
	}
	p.Malfunction.Rate = generate.MalfunctionRate(interval)
	if ratios != nil {
		p.Line.SpeedRatios = nil
		for _, r := range ratios {
			p.Line.SpeedRatios = append(p.Line.SpeedRatios, railfile.SpeedRatio{Speed: r[0], Share: r[1]})
		}
	}
	return p, nil
}

// again begins another episode of an environment: in place, or as another environment. On an error e is as it was, but for its
// stream if no railway came of that.
func (s *Source) again(e *rail.Env, seed *uint64, fresh bool) (*rail.Env, error) {
	if seed == nil && s.needsSeed && !e.Seed().Given {
		return nil, railfile.ErrNoStream
	}
	switch {
	case s.parameters != nil:
		again, err := s.regenerate(e, seed, fresh)
		switch {
		case err == nil:
			return again, nil
		case seed != nil:
			return nil, fmt.Errorf("seed %d: %w", *seed, err)
		case e.Seed().Given:
			return nil, fmt.Errorf("the next railway after seed %d: %w", e.Seed().Value, err)
		}
		return nil, fmt.Errorf("the next railway: %w", err)
	case fresh:
		return s.anew(e, seed)
	}
	e.Reset(seed)
	return e, nil
}

func (s *Source) regenerate(e *rail.Env, seed *uint64, fresh bool) (*rail.Env, error) {
	switch {
	case fresh && seed != nil:
		p := *s.parameters
		p.Seed = *seed
		return generate.Environment(p, e.RewardFunctions()...)
	case fresh:
		c := e.Clone()
		if err := c.SetEffects(s.first.Effects()); err != nil {
			return nil, err
		}
		again, err := generate.Regenerate(c, *s.parameters, nil)
		if err != nil {
			e.SetStream(c.Stream(), c.Seed())
		}
		return again, err
	}
	return generate.Regenerate(e, *s.parameters, seed)
}

// anew is the environment of a file as it was there, but for the stream: that of a seed, or as it has come to be.
func (s *Source) anew(e *rail.Env, seed *uint64) (*rail.Env, error) {
	c := s.first.Clone()
	c.SetRewards(e.RewardFunctions()...)
	if !s.begun {
		c.Reset(nil)
	}
	state := c.Snapshot()
	if seed != nil {
		state.Stream, state.Seed = numpyrand.NewHashedRandomState(*seed), rail.Seed{Value: *seed, Given: true, History: []uint64{*seed}}
	} else {
		state.Stream, state.Seed = e.Stream(), e.Seed()
	}
	if err := c.Restore(state); err != nil {
		return nil, err
	}
	return c, nil
}
