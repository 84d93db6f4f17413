package contest

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skyrail/flight"
	"skyrail/flight/agent"
)

func TestOrderIsThatOfTheSeedsAtAnyNumberOfWorkers(t *testing.T) {
	seeds := PublicSeeds()[:23]
	var want []Episode
	for _, workers := range []int{1, 2, 7, 100} {
		var flown atomic.Int64
		got, err := Run(context.Background(), flight.DefaultConfig(), seeds, workers, fresh("rule-based"), func() { flown.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		if flown.Load() != int64(len(seeds)) {
			t.Errorf("%d workers: %d episodes told of, want %d", workers, flown.Load(), len(seeds))
		}
		if want == nil {
			want = got
		}
		if d := gocmp.Diff(got, want); d != "" {
			t.Errorf("%d workers: %s", workers, d)
		}
	}
	if got, err := Run(context.Background(), flight.DefaultConfig(), nil, 4, fresh("noop"), nil); err != nil || len(got) != 0 {
		t.Errorf("no seeds: got %v, %v", got, err)
	}
}

func TestRunStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	flown := 0
	_, err := Run(ctx, flight.DefaultConfig(), PublicSeeds(), 1, fresh("noop"), func() {
		if flown++; flown == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || flown != 3 {
		t.Errorf("got error %v after %d episodes, want context.Canceled after 3", err, flown)
	}
	if _, err := PostMortem(ctx, flight.DefaultConfig(), PublicSeeds(), 2, "noop", fresh("noop"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("post-mortem: got error %v, want context.Canceled", err)
	}
}

// wild answers outside the action space at its third step.
type wild struct{ steps int }

func (w *wild) Reset()              { w.steps = 0 }
func (w *wild) Act(_ []float32) int { w.steps++; return map[bool]int{true: 999}[w.steps == 3] }

func TestActionOutsideTheSpaceIsToldWithItsPlace(t *testing.T) {
	_, err := Run(context.Background(), flight.DefaultConfig(), []uint64{42}, 1, func() (agent.Agent, error) { return &wild{}, nil }, nil)
	var bad *flight.ActionError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "seed 42 step 2: action 999 is outside 0..35") {
		t.Errorf("got error %v", err)
	}
}

func TestTheFirstBadSeedIsTold(t *testing.T) {
	for range 50 {
		_, err := Run(context.Background(), flight.DefaultConfig(), PublicSeeds(), 8, func() (agent.Agent, error) { return &wild{}, nil }, nil)
		if err == nil || !strings.Contains(err.Error(), "seed 1829385696 step 2") {
			t.Fatalf("got error %v, want that of the first seed", err)
		}
	}
	_, err := PostMortem(context.Background(), flight.DefaultConfig(), PublicSeeds(), 8, "wild", func() (agent.Agent, error) { return &wild{}, nil }, nil)
	if err == nil || !strings.Contains(err.Error(), "deterministic: seed 1829385696 step 2") {
		t.Errorf("got error %v, want that of the first pass and seed", err)
	}
}

func TestBetterEpisode(t *testing.T) {
	base := Episode{Completed: true, Congestion: 3, ExitMiss: 0.5, Clearances: 4}
	for name, c := range map[string]struct {
		o    Episode
		want bool
	}{
		"an equal one is not better": {base, false},
		"completed before all":       {Episode{Congestion: 0}, true},
		"then less congestion":       {Episode{Completed: true, Congestion: 4}, true},
		"then less exit miss":        {Episode{Completed: true, Congestion: 3, ExitMiss: 0.6}, true},
		"then fewer clearances":      {Episode{Completed: true, Congestion: 3, ExitMiss: 0.5, Clearances: 5}, true},
	} {
		if got := base.better(c.o); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
		if c.want && c.o.better(base) {
			t.Errorf("%s: each is better than the other", name)
		}
	}
}

func TestBestExtractionTakesTheBest(t *testing.T) {
	cfg := flight.DefaultConfig()
	fresh := func() (agent.Agent, error) { return hesitant{cfg.ObservationLen() - cfg.Actions()}, nil }
	seeds := PublicSeeds()[:10]
	r, err := PostMortem(context.Background(), cfg, seeds, 2, "hesitant", fresh, nil)
	if err != nil {
		t.Fatal(err)
	}
	best := make([]Episode, len(seeds))
	for k := range ExtractionRollouts {
		episodes, err := Run(context.Background(), cfg, seeds, 1, func() (agent.Agent, error) {
			a, err := fresh()
			return agent.NewSampled(a.(agent.Distribution), cfg, uint64(k)), err
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range episodes {
			if k == 0 || e.better(best[i]) {
				best[i] = e
			}
		}
	}
	got, _ := r.Score(BestExtraction)
	if want := NewScore(best); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if first, _ := r.Score(Stochastic); got == first {
		t.Error("the best of the rollouts is the first one throughout")
	}
}

func TestDerivedSeedsDoNotRepeat(t *testing.T) {
	seeds := DeriveSeeds(PublicSalt, MaxSeeds) // so many that the digests do
	seen := make(map[uint64]bool)
	for _, s := range seeds {
		if seen[s] {
			t.Fatalf("seed %d comes twice", s)
		}
		seen[s] = true
	}
	if len(seeds) != MaxSeeds {
		t.Errorf("got %d seeds, want %d", len(seeds), MaxSeeds)
	}
}

func TestSolutionRefusesARepeatedSeed(t *testing.T) {
	if _, err := NewSolution(flight.DefaultConfig(), []uint64{1, 2}, []uint64{2}); err == nil || !strings.Contains(err.Error(), "seed 2 comes twice") {
		t.Errorf("got error %v", err)
	}
}

func TestReplayIdlesToTheEnd(t *testing.T) {
	env, err := flight.New(flight.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.New("rule-based", flight.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range PublicSeeds() {
		played, err := Play(env, a, seed)
		if err != nil {
			t.Fatal(err)
		}
		trimmed := slices.Clone(played.Actions)
		for len(trimmed) > 0 && trimmed[len(trimmed)-1] == flight.Idle {
			trimmed = trimmed[:len(trimmed)-1]
		}
		replayed, err := Replay(env, trimmed, seed)
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(replayed, played); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
	}
}

func TestAScoreOfNothing(t *testing.T) {
	if got := NewScore(nil); got != (Score{}) {
		t.Errorf("got %+v, want zeros", got)
	}
}

func TestScoreAddsUp(t *testing.T) {
	got := NewScore([]Episode{
		{Completed: true, Congestion: 0, ExitMiss: 0.25, Clearances: 2, Touched: 1, MaxExitMiss: 1},
		{Completed: true, Congestion: 3, ExitMiss: 0.5, Clearances: 4, Touched: 2, Invalids: 5, MaxExitMiss: 2.5},
		{Completed: false, Congestion: 0, ExitMiss: 0, Clearances: 40, Touched: 5},
	})
	want := Score{Episodes: 3, Failed: 1, Congestion: 3, ExitMiss: 0.25, Clearances: 46, Touched: 8, Invalids: 5, ZeroConflict: 2, MaxExitMiss: 2.5}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestRankOrder(t *testing.T) {
	scores := []Score{
		0: {Failed: 1},
		1: {Congestion: 2, ExitMiss: 0.1},
		2: {Congestion: 2, ExitMiss: 0.0975},             // 19.5 steps: a half, to the even 20, a tie with 0.1
		3: {Congestion: 2, ExitMiss: 0.1, Clearances: 1}, // one clearance more
		4: {Congestion: 2, ExitMiss: 0.1, Touched: 1},
		5: {Congestion: 1, ExitMiss: 9, Clearances: 99, Touched: 99},
	}
	if got, want := Rank(scores), []int{5, 1, 2, 4, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("rank: got %v, want %v", got, want)
	}
	if got, want := Positions(scores), []int{6, 2, 2, 5, 4, 1}; !slices.Equal(got, want) {
		t.Errorf("positions: got %v, want %v", got, want)
	}
}

func TestPackedOrderIsTheRankOrder(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) Score {
		return Score{
			Failed:     rapid.IntRange(0, 100).Draw(t, "failed"),
			Congestion: rapid.IntRange(0, 50_000).Draw(t, "congestion"),
			ExitMiss:   float64(rapid.IntRange(0, 4_000).Draw(t, "bucket")) * 0.005,
			Clearances: rapid.IntRange(0, 20_000).Draw(t, "clearances"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		if got, want := cmp.Compare(a.Pack(), b.Pack()), a.Key().Compare(b.Key()); got != want {
			t.Fatalf("packed %d, key %d", got, want)
		}
		u, ok := a.Pack().Unpack()
		if key := a.Key(); !ok || u.Failed != key[0] || u.Congestion != key[1] || u.MissBucket != key[2] || u.Clearances != key[3] {
			t.Fatalf("%+v packs to %d, which unpacks to %+v", a, a.Pack(), u)
		}
	})
	if MaxPacked >= 1<<53 {
		t.Error("the largest packed score is no exact float64")
	}
	worst := Score{Failed: math.MaxInt32, Congestion: math.MaxInt32, ExitMiss: 1e300, Clearances: math.MaxInt32}
	if got := worst.Pack(); got != MaxPacked {
		t.Errorf("the worst score: got %d, want %d", got, MaxPacked)
	}
	for _, p := range []Packed{-1, MaxPacked + 1, math.MaxInt64} {
		if _, ok := p.Unpack(); ok {
			t.Errorf("%d unpacks", p)
		}
	}
}

func TestSplitRoundsAHalfToEven(t *testing.T) {
	for _, c := range []struct {
		n       int
		holdout float64
		hidden  int
	}{{5, 0.5, 2}, {7, 0.5, 4}, {100, 0.4, 40}, {1, 0.4, 0}, {3, 0, 0}, {3, 1, 3}} {
		seeds := DeriveSeeds("split", c.n)
		live, hidden := Split(seeds, c.holdout)
		if len(hidden) != c.hidden || len(live)+len(hidden) != c.n || !slices.IsSorted(slices.Concat(live, hidden)) {
			t.Errorf("%d seeds, %v: got %d hidden, want %d", c.n, c.holdout, len(hidden), c.hidden)
		}
	}
}

func TestSolutionScoresAsTheSeedsDo(t *testing.T) {
	cfg := flight.DefaultConfig()
	seeds := PublicSeeds()
	live, hidden := Split(seeds, DefaultHoldout)
	solution, err := NewSolution(cfg, live, hidden)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range agent.Names() {
		flown := flyPublic(t, name)
		trace := NewTrace(flown)
		if err := solution.CheckCells(trace); err == nil && name == "noop" {
			t.Error("episodes that end early have no row of every step, but the check found none missing")
		}
		got, _, err := solution.Score(context.Background(), trace, "")
		if err != nil {
			t.Fatal(err)
		}
		byHalf := func(half []uint64) (eps []Episode) {
			for _, seed := range half {
				eps = append(eps, flown[slices.Index(seeds, seed)])
			}
			return eps
		}
		want := NewScore(byHalf(slices.Concat(live, hidden)))
		if got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
		for usage, half := range map[Usage][]uint64{Public: live, Private: hidden} {
			got, _, err := solution.Score(context.Background(), trace, usage)
			if err != nil {
				t.Fatal(err)
			}
			if want := NewScore(byHalf(half)); got != want {
				t.Errorf("%s %s: got %+v, want %+v", name, usage, got, want)
			}
		}
	}
}

func TestIgnoredSeedsDoNotCount(t *testing.T) {
	cfg := flight.DefaultConfig()
	solution, err := NewSolution(cfg, []uint64{1, 2}, []uint64{3})
	if err != nil {
		t.Fatal(err)
	}
	solution.episodes[1].usage = Ignored
	if got := solution.Seeds(""); !slices.Equal(got, []uint64{1, 3}) {
		t.Errorf("got seeds %v", got)
	}
	score, episodes, err := solution.Score(context.Background(), Trace{}, "")
	if err != nil || score.Episodes != 2 || len(episodes) != 2 {
		t.Errorf("got %+v, %v", score, err)
	}
	if got := solution.Seeds(Ignored); !slices.Equal(got, []uint64{2}) {
		t.Errorf("ignored: got %v", got)
	}
}

// hesitant knows that idling is best, but gives every legal action some probability.
type hesitant struct{ maskAt int }

func (hesitant) Reset()            {}
func (hesitant) Act([]float32) int { return flight.Idle }
func (h hesitant) Probabilities(obs []float32, p []float64) {
	legal := agent.LegalActions(nil, obs[h.maskAt:])
	clear(p)
	for _, a := range legal {
		p[a] = 0.1 / float64(len(legal))
	}
	p[flight.Idle] += 0.9
}

func TestPostMortemOfADistribution(t *testing.T) {
	cfg := flight.DefaultConfig()
	fresh := func() (agent.Agent, error) {
		return hesitant{cfg.ObservationLen() - cfg.Actions()}, nil
	}
	a, _ := fresh()
	seeds := PublicSeeds()[:30]
	var flown atomic.Int64
	r, err := PostMortem(context.Background(), cfg, seeds, 4, "hesitant", fresh, func() { flown.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(PostMortemEpisodes(a, cfg, len(seeds))); flown.Load() != want {
		t.Errorf("%d episodes told of, want %d", flown.Load(), want)
	}
	if want := int64((7 + ExtractionRollouts) * len(seeds)); flown.Load() != want {
		t.Errorf("%d episodes flown, want %d", flown.Load(), want)
	}
	again, err := PostMortem(context.Background(), cfg, seeds, 1, "hesitant", fresh, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(again, r); d != "" {
		t.Errorf("with one worker: %s", d)
	}

	if !r.Distribution || r.MarginReliance == nil || len(r.Skipped) != 0 || r.BeatsDoNothing {
		t.Errorf("report %+v", r)
	}
	score := func(pass string) Score {
		s, ok := r.Score(pass)
		if !ok {
			t.Fatalf("no pass %s", pass)
		}
		return s
	}
	plain, sampled, second, best := score(Deterministic), score(Stochastic), score(NextBest), score(BestExtraction)
	if plain != score(DoNothing) {
		t.Errorf("its best action is to idle, but %+v is not %+v", plain, score(DoNothing))
	}
	if sampled.Clearances == 0 || sampled.Clearances >= second.Clearances {
		t.Errorf("clearances: sampled %d, second choice %d", sampled.Clearances, second.Clearances)
	}
	if best.Failed > sampled.Failed || best.Failed == sampled.Failed && best.Congestion > sampled.Congestion {
		t.Errorf("the best of %d is worse than the first: %+v, %+v", ExtractionRollouts, best, sampled)
	}
	if got, want := r.StochasticGap, (Gap{sampled.Failed - plain.Failed, sampled.Congestion - plain.Congestion}); got != want {
		t.Errorf("gap: got %+v, want %+v", got, want)
	}
}

func TestTrophies(t *testing.T) {
	report := func(name string, s Score, distribution, beats bool, gap Gap) Report {
		return Report{Agent: name, Distribution: distribution, Passes: []Pass{{Deterministic, s}}, BeatsDoNothing: beats, StochasticGap: gap}
	}
	reports := []Report{
		report("clean but busy", Score{Clearances: 300}, true, true, Gap{0, -7}),
		report("clean", Score{Clearances: 200, ExitMiss: 0.2}, true, true, Gap{1, 0}),
		report("steady", Score{Failed: 3}, false, true, Gap{}),
		report("idle", Score{Failed: 9}, true, false, Gap{0, 7}),
	}
	want := map[string][]string{
		"Golden Holding Pattern": {"clean but busy"},
		"Zero-Conflict Wings":    {"clean but busy", "clean"},
		"Minimal-Intervention":   {"clean"},
		"Iron Stomach":           {"clean but busy", "idle"},
		"The Brick with Wings":   {"clean but busy", "clean", "steady"},
		"Black Box":              {},
		"Icarus":                 {},
	}
	trophies := Trophies(reports)
	for _, tr := range trophies {
		if d := gocmp.Diff(tr.Winners, want[tr.Name]); d != "" {
			t.Errorf("%s: %s", tr.Name, d)
		}
	}
	if len(trophies) != len(want) {
		t.Errorf("got %d trophies, want %d", len(trophies), len(want))
	}
}
