package railfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Run is one row of a metadata.csv: an environment to be generated and run, as one of a test.
type Run struct {
	Line                                           int // in the file, from 1
	TestID, EnvID                                  string
	Agents                                         int
	Width, Height                                  int // x_dim, y_dim
	Cities, RailPairsInCity                        int
	Envs                                           int // n_envs_run, of the whole test
	Seed                                           uint64
	GridMode                                       bool
	RailsBetweenCities                             int
	MalfunctionDurationMin, MalfunctionDurationMax int // steps
	MalfunctionInterval                            int // steps; 0 and -1: never
	SpeedRatios                                    []SpeedRatio
}

// SpeedRatio is which share of the trains has a speed.
//
// quirk: the reference does not look at this column, its runs always have the four default speeds.
type SpeedRatio struct{ Speed, Share float64 }

// EpisodeID is the episode of a run.
func (r *Run) EpisodeID() string { return r.TestID + "_" + r.EnvID }

// maxRuns bounds the rows of a metadata.csv.
const maxRuns = 100_000

// runColumns are the columns with what reads a cell of each.
var runColumns = []struct {
	name string
	read func(*Run, string) error
}{
	{"test_id", func(r *Run, s string) error { r.TestID = s; return CheckEpisodeID(s) }},
	{"env_id", func(r *Run, s string) error { r.EnvID = s; return CheckEpisodeID(s) }},
	{"n_agents", func(r *Run, s string) error { return readInt(&r.Agents, s, 1) }},
	{"x_dim", func(r *Run, s string) error { return readInt(&r.Width, s, 1) }},
	{"y_dim", func(r *Run, s string) error { return readInt(&r.Height, s, 1) }},
	{"n_cities", func(r *Run, s string) error { return readInt(&r.Cities, s, 1) }},
	{"max_rail_pairs_in_city", func(r *Run, s string) error { return readInt(&r.RailPairsInCity, s, 1) }},
	{"n_envs_run", func(r *Run, s string) error { return readInt(&r.Envs, s, 0) }},
	{"seed", readSeed},
	{"grid_mode", func(r *Run, s string) (err error) { r.GridMode, err = parseBool([]byte(s)); return err }},
	{"max_rails_between_cities", func(r *Run, s string) error { return readInt(&r.RailsBetweenCities, s, 1) }},
	{"malfunction_duration_min", func(r *Run, s string) error { return readInt(&r.MalfunctionDurationMin, s, 0) }},
	{"malfunction_duration_max", func(r *Run, s string) error { return readInt(&r.MalfunctionDurationMax, s, 0) }},
	{"malfunction_interval", func(r *Run, s string) error { return readInt(&r.MalfunctionInterval, s, -1) }},
	{"speed_ratios", func(r *Run, s string) (err error) { r.SpeedRatios, err = parseRatios([]byte(s)); return err }},
}

func readInt(to *int, cell string, least int) error {
	n, err := parseInt([]byte(cell))
	if err != nil {
		return err
	}
	if n < least {
		return fmt.Errorf("%d is less than %d", n, least)
	}
	*to = n
	return nil
}

func readSeed(r *Run, cell string) (err error) {
	if r.Seed, err = strconv.ParseUint(cell, 10, 64); err != nil {
		return fmt.Errorf("%s is not a whole number of 0 or more, below 2^64", quote(cell))
	}
	return nil
}

// parseRatios reads a dict like {1.0: 0.25, 0.5: 0.25}.
func parseRatios(cell []byte) ([]SpeedRatio, error) {
	var ratios []SpeedRatio
	s := literal{text: cell}
	s.want("{")
	for s.err == nil && !s.take("}") {
		if len(ratios) > 0 {
			s.want(",")
		}
		speed, err := parseNumber(bytes.TrimRight(s.word(":,}"), " "))
		if err != nil {
			s.fail("a speed")
		}
		s.want(":")
		ratios = append(ratios, SpeedRatio{speed.Value, s.number().Value})
		if len(ratios) > maxValues {
			s.fail("at most %d speeds", maxValues)
		}
	}
	return ratios, s.end()
}

// ReadRuns reads a metadata.csv. Its columns may come in any order, but must be all of the format's and no others; an
// environment must not come twice. A fault is a [TableError].
func ReadRuns(r io.Reader) ([]Run, error) {
	in := csv.NewReader(&capped{r, maxFile, maxFile})
	fault := func(line int, column string, err error) error {
		return &TableError{File: "metadata.csv", Line: line, Column: column, Err: err}
	}
	header, err := in.Read()
	if err == io.EOF {
		err = errors.New("it is empty, want a header")
	}
	if err != nil {
		return nil, fault(1, "", err)
	}
	header = slices.Clone(header)
	at := make([]int, len(runColumns))
	for i, c := range runColumns {
		if at[i] = slices.Index(header, c.name); at[i] < 0 {
			return nil, fault(1, "", fmt.Errorf("the header has no column %s", c.name))
		}
	}
	if len(header) > len(runColumns) {
		return nil, fault(1, "", fmt.Errorf("the header has %d columns, want %d: %s", len(header), len(runColumns), quote(strings.Join(header, ","))))
	}
	var runs []Run
	lines := make(map[[2]string]int)
	for {
		cells, err := in.Read()
		if err == io.EOF {
			return runs, nil
		}
		if err != nil {
			var at *csv.ParseError
			if errors.As(err, &at) {
				return nil, fault(at.Line, "", at.Err)
			}
			return nil, fault(0, "", err)
		}
		line, _ := in.FieldPos(0)
		run := Run{Line: line}
		for i, c := range runColumns {
			if err := c.read(&run, cells[at[i]]); err != nil {
				return nil, fault(line, c.name, err)
			}
		}
		key := [2]string{run.TestID, run.EnvID}
		if first, ok := lines[key]; ok {
			return nil, fault(line, "", fmt.Errorf("%s is already on line %d", run.EpisodeID(), first))
		}
		if lines[key] = line; len(runs) == maxRuns {
			return nil, fault(line, "", fmt.Errorf("more than %d rows", maxRuns))
		}
		runs = append(runs, run)
	}
}
