package contest

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"skyrail/flight"
)

// Usage says which board a seed of a solution counts for.
type Usage string

// The usages, spelled as the hosted board spells them.
const (
	Public  Usage = "Public"  // the live half
	Private Usage = "Private" // the half hidden until the close
	Ignored Usage = "Ignored"
)

// Solution is what an organiser gives a hosted board: the state every episode begins with. It scores a trace
// without knowing how a seed makes a scenario.
type Solution struct {
	cfg      flight.Config
	episodes []solutionEpisode // seeds ascending
}

type solutionEpisode struct {
	seed     uint64
	usage    Usage
	aircraft []flight.Aircraft
}

// NewSolution makes the solution of the seeds, the live ones marked Public, the hidden ones Private. A seed may not
// come twice.
func NewSolution(cfg flight.Config, live, hidden []uint64) (*Solution, error) {
	env, err := flight.New(cfg)
	if err != nil {
		return nil, err
	}
	s := &Solution{cfg: cfg}
	for _, half := range []struct {
		usage Usage
		seeds []uint64
	}{{Public, live}, {Private, hidden}} {
		for _, seed := range half.seeds {
			env.Reset(seed)
			s.episodes = append(s.episodes, solutionEpisode{seed, half.usage, env.Scenario().Aircraft})
		}
	}
	s.sort()
	for i := 1; i < len(s.episodes); i++ {
		if seed := s.episodes[i].seed; seed == s.episodes[i-1].seed {
			return nil, fmt.Errorf("seed %d comes twice", seed)
		}
	}
	return s, nil
}

func (s *Solution) sort() {
	slices.SortFunc(s.episodes, func(a, b solutionEpisode) int { return cmp.Compare(a.seed, b.seed) })
}

// Seeds returns the seeds of a usage, ascending; those of all but the ignored ones if usage is "".
func (s *Solution) Seeds(usage Usage) []uint64 {
	var seeds []uint64
	for _, e := range s.episodes {
		if e.usage == usage || usage == "" && e.usage != Ignored {
			seeds = append(seeds, e.seed)
		}
	}
	return seeds
}

// Score flies the trace from the solution's states and adds up the seeds of a usage, all but the ignored ones
// if usage is "". It is the hosted board's metric, and shares with the ordinary score neither seeds nor
// scenario generation. It ends early with ctx's error when ctx is cancelled.
func (s *Solution) Score(ctx context.Context, t Trace, usage Usage) (Score, []Episode, error) {
	env, err := flight.New(s.cfg)
	if err != nil {
		return Score{}, nil, err
	}
	var episodes []Episode
	for _, e := range s.episodes {
		if e.usage != usage && (usage != "" || e.usage == Ignored) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return Score{}, nil, err
		}
		if err := env.ResetTo(flight.Scenario{Aircraft: e.aircraft}); err != nil {
			return Score{}, nil, fmt.Errorf("seed %d: %w", e.seed, err)
		}
		ep, err := replay(env, t.Actions(e.seed), e.seed)
		if err != nil {
			return Score{}, nil, err
		}
		episodes = append(episodes, ep)
	}
	return NewScore(episodes), episodes, nil
}

// CheckCells demands that the trace has a row of every step of every seed of the solution, as the hosted board
// does. The error names the first one that is missing and how many are.
func (s *Solution) CheckCells(t Trace) error {
	missing, first := 0, uint64(0)
	for _, e := range s.episodes {
		if n := s.cfg.MaxSteps - t.given[e.seed]; n > 0 {
			if missing == 0 {
				first = e.seed
			}
			missing += n
		}
	}
	if missing == 0 {
		return nil
	}
	return fmt.Errorf("%d rows of the solution have no counterpart in the submission, the first of them of seed %d", missing, first)
}

// solutionHeader is id, five state columns an aircraft, Usage.
func solutionHeader(cfg flight.Config) []string {
	header := []string{"id"}
	for i := range cfg.Flights {
		for _, field := range [...]string{"x", "y", "alt", "vel", "hdg"} {
			header = append(header, fmt.Sprintf("f%d_%s", i, field))
		}
	}
	return append(header, "Usage")
}

// WriteSolution writes solution.csv: CRLF line ends, one row a seed and step, each repeating the state right
// after the reset.
func WriteSolution(w io.Writer, s *Solution) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s\r\n", strings.Join(solutionHeader(s.cfg), ","))
	for _, e := range s.episodes {
		var state strings.Builder
		for _, a := range e.aircraft {
			for _, v := range [...]float64{a.X, a.Y, a.Level, a.Speed, a.Heading} {
				state.WriteString(",")
				state.WriteString(pythonRepr(v))
			}
		}
		for step := range s.cfg.MaxSteps {
			fmt.Fprintf(b, "%s%s,%s\r\n", cellID(e.seed, step), state.String(), e.usage)
		}
	}
	return b.Flush()
}

// pythonRepr writes a finite float as Python's repr does: the shortest decimal that reads back to the same
// bits, always with a point or an exponent, an exponent below 1e-4 and from 1e16 on.
func pythonRepr(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// ReadSolution reads solution.csv for episodes of cfg. Every seed must have a row of every step, all with the
// same state and usage. A fault of a line is a LineError.
func ReadSolution(r io.Reader, cfg flight.Config) (*Solution, error) {
	rows, err := newTable(r, solutionHeader(cfg))
	if err != nil {
		return nil, err
	}
	s := &Solution{cfg: cfg}
	type known struct {
		episode int   // index into s.episodes
		lines   []int // per step, 0 is none
		count   int
		text    string // the columns that must repeat
	}
	seen := make(map[uint64]*known)
	for {
		row, line, err := rows.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		fail := func(format string, args ...any) error { return &LineError{line, fmt.Errorf(format, args...)} }
		seed, step, err := parseCellID(row[0], cfg.MaxSteps)
		if err != nil {
			return nil, &LineError{line, err}
		}
		text := strings.Join(row[1:], ",")
		k := seen[seed]
		if k == nil {
			if len(seen) == MaxSeeds {
				return nil, fail("more than %d seeds", MaxSeeds)
			}
			e, err := parseSolutionEpisode(seed, row, cfg)
			if err != nil {
				return nil, &LineError{line, err}
			}
			k = &known{len(s.episodes), make([]int, cfg.MaxSteps), 0, text}
			seen[seed] = k
			s.episodes = append(s.episodes, e)
		}
		if k.lines[step] != 0 {
			return nil, fail("id %s is already on line %d", row[0], k.lines[step])
		}
		if k.text != text {
			return nil, fail("state or usage differs from the other rows of seed %d", seed)
		}
		k.lines[step] = line
		k.count++
	}
	if len(s.episodes) == 0 {
		return nil, errors.New("no episode in it, only the header")
	}
	s.sort()
	for _, e := range s.episodes {
		if k := seen[e.seed]; k.count < cfg.MaxSteps {
			step := slices.Index(k.lines, 0)
			return nil, fmt.Errorf("seed %d lacks %d of its %d rows, the first is %s",
				e.seed, cfg.MaxSteps-k.count, cfg.MaxSteps, cellID(e.seed, step))
		}
	}
	return s, nil
}

func parseSolutionEpisode(seed uint64, row []string, cfg flight.Config) (solutionEpisode, error) {
	e := solutionEpisode{seed: seed, usage: Usage(row[len(row)-1])}
	switch e.usage {
	case Public, Private, Ignored:
	default:
		return e, fmt.Errorf("usage %s is none of %s, %s, %s", quote(string(e.usage)), Public, Private, Ignored)
	}
	header := solutionHeader(cfg)
	var v [5]float64
	for i := range cfg.Flights {
		for k := range v {
			at := 1 + len(v)*i + k
			f, err := strconv.ParseFloat(row[at], 64)
			if err != nil {
				return e, fmt.Errorf("%s is %s, not a number", header[at], quote(row[at]))
			}
			v[k] = f
		}
		a := flight.Aircraft{X: v[0], Y: v[1], Level: v[2], Speed: v[3], Heading: v[4]}
		if err := a.Validate(); err != nil {
			return e, fmt.Errorf("aircraft %d: %w", i, err)
		}
		e.aircraft = append(e.aircraft, a)
	}
	return e, nil
}
