package contest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/internal/golden"
)

const testdata = "../testdata/"

func fresh(name string) func() (agent.Agent, error) {
	return func() (agent.Agent, error) { return agent.New(name, flight.DefaultConfig()) }
}

// flyPublic flies a reference agent over the published seeds.
func flyPublic(t testing.TB, name string) []Episode {
	t.Helper()
	episodes, err := Run(context.Background(), flight.DefaultConfig(), PublicSeeds(), 2, fresh(name), nil)
	if err != nil {
		t.Fatal(err)
	}
	return episodes
}

func TestBoard(t *testing.T) {
	type recorded struct {
		Seed        uint64
		Steps       int
		Completed   bool
		Congestion  int
		ExitMiss    golden.Decimal `json:"exit_miss"`
		Clearances  int
		Touched     int `json:"aircraft_involved"`
		Invalids    int
		MaxExitMiss golden.Decimal `json:"max_exit_miss"`
		Actions     []int
	}
	flown := make(map[string][]Episode)
	for _, name := range agent.Names() {
		flown[name] = flyPublic(t, name)
	}
	check := func(data []byte) error {
		var board map[string][]recorded
		if err := golden.Decode(data, &board); err != nil {
			return err
		}
		for name, episodes := range flown {
			if len(board[name]) != len(episodes) {
				return fmt.Errorf("%s: %d episodes, want %d", name, len(episodes), len(board[name]))
			}
			for i, g := range episodes {
				w := board[name][i]
				for k := range min(len(g.Actions), len(w.Actions)) {
					if g.Actions[k] != w.Actions[k] {
						return fmt.Errorf("%s seed %d step %d: action %d, want %d", name, g.Seed, k, g.Actions[k], w.Actions[k])
					}
				}
				if g.Seed != w.Seed || g.Steps != w.Steps || g.Completed != w.Completed || g.Congestion != w.Congestion ||
					g.Clearances != w.Clearances || g.Touched != w.Touched || g.Invalids != w.Invalids ||
					!golden.Near(g.ExitMiss, w.ExitMiss) || !golden.Near(g.MaxExitMiss, w.MaxExitMiss) ||
					len(g.Actions) != len(w.Actions) {
					return fmt.Errorf("%s episode %d: got %+v, want %+v", name, i, g, w)
				}
			}
		}
		return nil
	}
	golden.Mutate(t, golden.Read(t, testdata+"board.json.gz"), 200, nil, check)

	for name, want := range map[string]string{ // as published
		"noop":       "100/752/0.0000/0/0",
		"random":     "76/667/0.7012/2947/497",
		"rule-based": "20/96/0.5700/727/231",
	} {
		s := NewScore(flown[name])
		got := fmt.Sprintf("%d/%d/%.4f/%d/%d", s.Failed, s.Congestion, s.ExitMiss, s.Clearances, s.Touched)
		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestScores(t *testing.T) {
	packs := make(map[string]Packed)
	live, _ := Split(PublicSeeds(), DefaultHoldout)
	for _, name := range agent.Names() {
		var episodes []Episode
		for _, e := range flyPublic(t, name) {
			if slices.Contains(live, e.Seed) {
				episodes = append(episodes, e)
			}
		}
		packs[name] = NewScore(episodes).Pack()
	}
	check := func(data []byte) error {
		var g struct {
			Pack []struct {
				Failed, Congestion int
				ExitMissMean       float64 `json:"exit_miss_mean"`
				Clearances         int
				Packed             Packed
			}
			Seeds  map[string][]uint64
			Split  map[string]Usage  `json:"split_0_4"`
			Public map[string]Packed `json:"public_split_packed"`
		}
		if err := golden.Decode(data, &g); err != nil {
			return err
		}
		for i, p := range g.Pack {
			s := Score{Failed: p.Failed, Congestion: p.Congestion, ExitMiss: p.ExitMissMean, Clearances: p.Clearances}
			if got := s.Pack(); got != p.Packed {
				return fmt.Errorf("pack %d: got %d, want %d", i, got, p.Packed)
			}
			u, ok := p.Packed.Unpack()
			back := Score{Failed: u.Failed, Congestion: u.Congestion, ExitMiss: u.ExitMiss, Clearances: u.Clearances}
			if !ok || back.Pack() != p.Packed {
				return fmt.Errorf("pack %d: %d unpacks to %+v, which packs to %d", i, p.Packed, u, back.Pack())
			}
		}
		for salt, want := range g.Seeds {
			if got := DeriveSeeds(salt, len(want)); !slices.Equal(got, want) {
				return fmt.Errorf("seeds of %s: got %v, want %v", salt, got, want)
			}
		}
		if len(g.Seeds[PublicSalt]) != PublicCount {
			return fmt.Errorf("no %d seeds of the public salt", PublicCount)
		}
		live, hidden := Split(PublicSeeds(), DefaultHoldout)
		if len(live)+len(hidden) != len(g.Split) {
			return fmt.Errorf("split of %d seeds, want %d", len(live)+len(hidden), len(g.Split))
		}
		for usage, seeds := range map[Usage][]uint64{Public: live, Private: hidden} {
			for _, s := range seeds {
				if want := g.Split[strconv.FormatUint(s, 10)]; want != usage {
					return fmt.Errorf("seed %d: got %s, want %s", s, usage, want)
				}
			}
		}
		for name, got := range packs {
			if want := g.Public[name]; got != want {
				return fmt.Errorf("%s on the live half: got %d, want %d", name, got, want)
			}
		}
		return nil
	}
	// A count or a miss beyond its bound, or within the same bucket, packs to the same number.
	skip := func(path string) bool { return strings.HasSuffix(path, "exit_miss_mean") }
	golden.Mutate(t, golden.Read(t, testdata+"scores.json.gz"), 300, skip, check)
}

func TestFiles(t *testing.T) {
	files := make(map[string][]byte)
	for _, name := range agent.Names() {
		var b bytes.Buffer
		if err := WriteTrace(&b, NewTrace(flyPublic(t, name)), flight.DefaultConfig().MaxSteps); err != nil {
			t.Fatal(err)
		}
		files["submission_"+name+".csv"] = b.Bytes()
	}
	live, hidden := Split(PublicSeeds(), DefaultHoldout)
	solution, err := NewSolution(flight.DefaultConfig(), live, hidden)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteSolution(&b, solution); err != nil {
		t.Fatal(err)
	}
	files["solution.csv"] = b.Bytes()

	check := func(data []byte) error {
		var g map[string]struct {
			SHA256       string
			Bytes, Lines int
			Head         []string
		}
		if err := golden.Decode(data, &g); err != nil {
			return err
		}
		for name, got := range files {
			w := g[name]
			sum := sha256.Sum256(got)
			lines := strings.Split(strings.TrimSuffix(string(got), "\r\n"), "\r\n")
			for i := range w.Head {
				// The head of a long line is cut.
				if !strings.HasPrefix(lines[i], w.Head[i]) || i == 0 && lines[i] != w.Head[i] {
					return fmt.Errorf("%s line %d: got %s, want %s", name, i+1, lines[i], w.Head[i])
				}
			}
			if len(lines) != w.Lines || len(got) != w.Bytes || hex.EncodeToString(sum[:]) != w.SHA256 {
				return fmt.Errorf("%s: got %d lines, %d bytes, %x; want %d, %d, %s", name, len(lines), len(got), sum, w.Lines, w.Bytes, w.SHA256)
			}
		}
		return nil
	}
	golden.Mutate(t, golden.Read(t, testdata+"csv.json.gz"), 100, nil, check)

	want := golden.Read(t, testdata+"solution.csv.gz")
	if !bytes.Equal(files["solution.csv"], want) {
		t.Error("solution.csv differs from the recorded file")
	}
}

func TestEpsilonRandom(t *testing.T) {
	reports := make(map[string]Report)
	for _, name := range agent.Names() {
		r, err := PostMortem(context.Background(), flight.DefaultConfig(), PublicSeeds(), 2, name, fresh(name), nil)
		if err != nil {
			t.Fatal(err)
		}
		reports[name] = r
	}
	check := func(data []byte) error {
		var rows []struct {
			Agent              string
			Eps                float64
			Failed, Congestion int
			ExitMiss           golden.Decimal `json:"exit_miss"`
			Clearances         int
			Touched            int
		}
		if err := golden.Decode(data, &rows); err != nil {
			return err
		}
		for _, w := range rows {
			s, ok := reports[w.Agent].Score(EpsilonPass(w.Eps))
			if !ok || s.Failed != w.Failed || s.Congestion != w.Congestion || !golden.Near(s.ExitMiss, w.ExitMiss) ||
				s.Clearances != w.Clearances || s.Touched != w.Touched {
				return fmt.Errorf("%s ε %g: got %+v, want %+v", w.Agent, w.Eps, s, w)
			}
		}
		return nil
	}
	golden.Mutate(t, golden.Read(t, testdata+"eps_random.json.gz"), 100, nil, check)
}

// A mid-air exactly at the horizon is a completed episode.
func TestMidAirAtTheHorizon(t *testing.T) {
	var g struct {
		AtHorizon []struct {
			Seed       uint64
			MaxSteps   int `json:"max_steps"`
			Completed  bool
			Congestion int
			Terminated bool
		} `json:"mid_air_at_the_horizon"`
	}
	if err := json.Unmarshal(golden.Read(t, testdata+"resets.json.gz"), &g); err != nil {
		t.Fatal(err)
	}
	if len(g.AtHorizon) == 0 {
		t.Fatal("none is recorded")
	}
	for _, w := range g.AtHorizon {
		cfg := flight.DefaultConfig()
		cfg.MaxSteps = w.MaxSteps
		env, err := flight.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Replay(env, nil, w.Seed)
		if err != nil || got.Completed != w.Completed || got.Congestion != w.Congestion || env.Status().Terminated != w.Terminated {
			t.Errorf("seed %d: got %+v (error %v), want %+v", w.Seed, got, err, w)
		}
	}
}
