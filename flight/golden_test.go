package flight

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"skyrail/internal/golden"
)

type (
	decimal = golden.Decimal

	goldenAircraft [5]decimal // x, y, level, speed, heading
	goldenConflict struct {
		I, J     int
		TEnter   decimal `json:"t_enter"`
		TCpa     decimal `json:"t_cpa"`
		Duration decimal
		DCpa     decimal `json:"d_cpa"`
		DAlt     decimal `json:"d_alt"`
		Severity decimal
	}
	goldenConfig struct {
		Flights       *int     `json:"n_flights"`
		NRange        *[2]int  `json:"n_range"`
		MaxSteps      *int     `json:"max_steps"`
		HoldSteps     *int     `json:"hold_steps"`
		WSafe         *float64 `json:"w_safe"`
		WClearance    *float64 `json:"w_clearance"`
		CollisionRate *float64 `json:"collision_rate"`
		MaxClearances *int     `json:"max_clearances"`
	}
)

// eachItem runs a check over every element of a golden array, then shows on samples of each element that the
// check notices a changed value.
func eachItem(t *testing.T, file string, mutations int, skip func(string) bool, check func([]byte) error) {
	t.Helper()
	for i, item := range golden.Items(t, golden.Read(t, "testdata/"+file)) {
		if err := check(item); err != nil {
			t.Errorf("element %d: %v", i, err)
		} else {
			golden.Mutate(t, item, mutations, skip, check)
		}
	}
}

func TestScenarios(t *testing.T) {
	eachItem(t, "scenarios.json.gz", 12, nil, func(data []byte) error {
		var g struct {
			Seed           uint64
			N, M           int
			ScenarioSeed   uint64 `json:"scenario_seed"`
			Hotspot        [2]decimal
			ShiftSteps     int `json:"shift_steps"`
			Flights        []goldenAircraft
			DistanceToExit []decimal `json:"distance_to_exit"`
			TargetTime     []decimal `json:"target_time"`
			ObsCRC32       uint32    `json:"obs_crc32"`
		}
		if err := golden.Decode(data, &g); err != nil {
			return err
		}
		e := mustNew(DefaultConfig())
		e.Reset(g.Seed)
		var d diff
		s := e.Scenario()
		d.same("n", s.Converging, g.N)
		d.same("m", len(s.Aircraft)-s.Converging, g.M)
		d.same("scenario_seed", s.Seed, g.ScenarioSeed)
		d.near("hotspot x", s.Hotspot[0], g.Hotspot[0])
		d.near("hotspot y", s.Hotspot[1], g.Hotspot[1])
		d.same("shift_steps", s.Shift, g.ShiftSteps)
		d.aircraft(e, g.Flights)
		for i := range g.DistanceToExit {
			p := e.Progress(i)
			d.near(fmt.Sprintf("distance_to_exit of %d", i), p.DistanceToExit, g.DistanceToExit[i])
			d.near(fmt.Sprintf("target_time of %d", i), p.TargetTime, g.TargetTime[i])
		}
		d.same("obs_crc32", crc32.ChecksumIEEE(littleEndian(observe(e))), g.ObsCRC32)
		return d.err
	})
}

func TestEpisodes(t *testing.T) {
	// A bound of n_range may move without moving the number drawn.
	skip := func(path string) bool { return strings.HasPrefix(path, "config.n_range") }
	eachItem(t, "episodes.json.gz", 40, skip, func(data []byte) error {
		var g struct {
			Seed     uint64
			Config   goldenConfig
			Mode     string
			FirstObs string `json:"first_obs"`
			Steps    []struct {
				Action                int
				Reward                decimal
				Terminated, Truncated bool
				Obs                   string
				Flights               [][4]decimal
				Congestion            int
				Clearances            int
				Invalids              int
				AircraftInvolved      int `json:"aircraft_involved"`
				Collided              bool
				DtExit                []decimal `json:"dt_exit"`
				DAltExit              []decimal `json:"d_alt_exit"`
				ExitMiss              decimal   `json:"exit_miss"`
			}
		}
		if err := golden.Decode(data, &g); err != nil {
			return err
		}
		cfg := g.Config.config()
		e, err := New(cfg)
		if err != nil {
			return err
		}
		e.Reset(g.Seed)
		var d diff
		d.observation("first_obs", e, g.FirstObs)
		var info Info
		total := 0
		for i, s := range g.Steps {
			legal := s.Action >= 0 && e.Legal(s.Action)
			d.legalAsModeSays(g.Mode, legal)
			reward, status, err := e.Step(s.Action)
			if err != nil {
				return err
			}
			e.Info(&info)
			total += s.Congestion
			d.near("reward", reward, s.Reward)
			d.same("terminated", status.Terminated, s.Terminated)
			d.same("truncated", status.Truncated, s.Truncated)
			d.observation("obs", e, s.Obs)
			for k, f := range s.Flights {
				a := e.Aircraft(k)
				for m, v := range []float64{a.X, a.Y, a.Level, a.Speed} {
					d.near(fmt.Sprintf("aircraft %d field %d", k, m), v, f[m])
				}
			}
			d.same("aircraft", len(s.Flights), cfg.Flights)
			d.same("congestion", info.CongestionEvents, s.Congestion)
			d.same("congestion in all", info.CongestionTotal, total)
			d.same("clearances", info.Clearances, s.Clearances)
			d.same("invalids", info.Invalids, s.Invalids)
			d.same("aircraft_involved", info.AircraftInvolved, s.AircraftInvolved)
			d.same("collided", info.Collided, s.Collided)
			d.all("dt_exit", info.DtExit, s.DtExit)
			d.all("d_alt_exit", info.DAltExit, s.DAltExit)
			d.near("exit_miss", info.ExitMiss, s.ExitMiss)
			d.same("over", status.Over(), i == len(g.Steps)-1)
			if d.err != nil {
				return fmt.Errorf("seed %d step %d action %d: %w\n%s", g.Seed, i, s.Action, d.err, describe(e))
			}
		}
		return d.err
	})
}

// TestEpisodesToTheLastBit holds the figures that docs/exactness.md gives, which are closer than the tolerance asks.
func TestEpisodesToTheLastBit(t *testing.T) {
	var rewards, sameRewards, coordinates, sameCoordinates int
	tally := func(got float64, want decimal, all, same *int) {
		*all++
		if got == float64(want) {
			*same++
		}
	}
	for _, item := range golden.Items(t, golden.Read(t, "testdata/episodes.json.gz")) {
		var g struct {
			Seed   uint64
			Config goldenConfig
			Steps  []struct {
				Action  int
				Reward  decimal
				Flights [][4]decimal
			}
		}
		if err := json.Unmarshal(item, &g); err != nil {
			t.Fatal(err)
		}
		e := mustNew(g.Config.config())
		e.Reset(g.Seed)
		for _, s := range g.Steps {
			reward, _, err := e.Step(s.Action)
			if err != nil {
				t.Fatal(err)
			}
			tally(reward, s.Reward, &rewards, &sameRewards)
			for k, f := range s.Flights {
				tally(e.Aircraft(k).X, f[0], &coordinates, &sameCoordinates)
				tally(e.Aircraft(k).Y, f[1], &coordinates, &sameCoordinates)
			}
		}
	}
	if coordinates != 14_332 || sameCoordinates != coordinates {
		t.Errorf("coordinates: got %d of %d the same, want all of 14332", sameCoordinates, coordinates)
	}
	if rewards != 1468 || sameRewards != 1466 {
		t.Errorf("rewards: got %d of %d the same, want 1466 of 1468", sameRewards, rewards)
	}
}

func TestPredictedConflicts(t *testing.T) {
	const steps, apart = 4, 5 // recorded of each seed: steps 0, 5, 10, 15
	check := func(data []byte) error {
		var g []struct {
			Seed      uint64
			Step      int
			Horizon   decimal
			Conflicts []goldenConflict
		}
		if err := golden.Decode(data, &g); err != nil {
			return err
		}
		var d diff
		for i, g := range slices.Collect(slices.Chunk(g, steps)) {
			e := mustNew(DefaultConfig())
			seed := g[0].Seed
			e.Reset(seed)
			for k, g := range g {
				d.same("seed", g.Seed, seed)
				d.same("step", g.Step, apart*k)
				d.near("horizon", float64(e.Config().MaxSteps-e.StepCount())*DT, g.Horizon)
				d.conflicts(e, g.Conflicts)
				if d.err != nil {
					return fmt.Errorf("element %d: %w", steps*i+k, d.err)
				}
				for range apart {
					if _, err := e.Advance(Idle); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	golden.Mutate(t, golden.Read(t, "testdata/conflicts.json.gz"), 500, nil, check)
}

func TestCraftedSituations(t *testing.T) {
	// The name is for people; the horizon only cuts off what lies beyond it; and where nothing is in
	// conflict, an aircraft moved by a hair still is not.
	skip := func(path string) bool {
		return path == "name" || path == "horizon" || strings.HasPrefix(path, "flights")
	}
	eachItem(t, "crafted.json.gz", 100, skip, func(data []byte) error {
		var g struct {
			Name       string
			Horizon    int
			Flights    []goldenAircraft
			Conflicts  []goldenConflict
			Congestion int
			Collision  bool
		}
		if err := golden.Decode(data, &g); err != nil {
			return err
		}
		cfg := DefaultConfig()
		cfg.Flights, cfg.NLo, cfg.NHi, cfg.MaxSteps = len(g.Flights), 1, 1, g.Horizon/2
		e, err := New(cfg)
		if err != nil {
			return err
		}
		if err := e.ResetTo(scenarioOf(g.Flights)); err != nil {
			return err
		}
		var d diff
		d.conflicts(e, g.Conflicts)
		congestion, midAir := e.Separation()
		d.same("congestion", congestion, g.Congestion)
		d.same("collision", midAir, g.Collision)
		if d.err != nil {
			return fmt.Errorf("%s: %w", g.Name, d.err)
		}
		return nil
	})
}

func TestResets(t *testing.T) {
	check := func(data []byte) error {
		type scenario struct {
			N            int
			ScenarioSeed uint64 `json:"scenario_seed"`
			Flights      []goldenAircraft
		}
		var g struct {
			After12345 []scenario `json:"resets_after_seed_12345"`
			After777   scenario   `json:"reset_after_seed_777_and_five_steps"`
			AtHorizon  []struct {
				Seed                             uint64
				MaxSteps                         int `json:"max_steps"`
				Terminated, Truncated, Completed bool
				Congestion                       int
				RewardLast                       decimal `json:"reward_last"`
			} `json:"mid_air_at_the_horizon"`
			Large []struct {
				Seed   uint64
				Config goldenConfig
				Steps  []struct {
					Action   int
					Reward   decimal
					ExitMiss decimal   `json:"exit_miss"`
					DtExit   []decimal `json:"dt_exit"`
				}
			} `json:"large_deviations"`
		}
		if err := golden.Decode(data, &g); err != nil {
			return err
		}
		var d diff
		isScenario := func(e *Env, s scenario) {
			d.same("n", e.Scenario().Converging, s.N)
			d.same("scenario_seed", e.Scenario().Seed, s.ScenarioSeed)
			d.aircraft(e, s.Flights)
		}

		e := mustNew(DefaultConfig())
		e.Reset(12345)
		for _, s := range g.After12345 {
			e.ResetNext()
			isScenario(e, s)
		}
		e.Reset(777)
		for range 5 {
			if _, err := e.Advance(Idle); err != nil {
				return err
			}
		}
		e.ResetNext()
		isScenario(e, g.After777)

		for _, h := range g.AtHorizon {
			cfg := DefaultConfig()
			cfg.MaxSteps = h.MaxSteps
			e, err := New(cfg)
			if err != nil {
				return err
			}
			e.Reset(h.Seed)
			var reward float64
			var status Status
			for !status.Over() {
				reward, status, _ = e.Step(Idle)
			}
			var info Info
			e.Info(&info)
			d.same("terminated", status.Terminated, h.Terminated)
			d.same("truncated", status.Truncated, h.Truncated)
			d.same("completed", e.StepCount() >= cfg.MaxSteps, h.Completed)
			d.same("congestion", info.CongestionTotal, h.Congestion)
			d.near("reward_last", reward, h.RewardLast)
		}

		for _, l := range g.Large {
			e, err := New(l.Config.config())
			if err != nil {
				return err
			}
			e.Reset(l.Seed)
			var info Info
			for _, s := range l.Steps {
				reward, _, err := e.Step(s.Action)
				if err != nil {
					return err
				}
				e.Info(&info)
				d.near("reward", reward, s.Reward)
				d.near("exit_miss", info.ExitMiss, s.ExitMiss)
				d.all("dt_exit", info.DtExit, s.DtExit)
			}
		}
		return d.err
	}
	// Of the inputs, those that act on nothing recorded here: the budget, forbidden actions, and the seed of
	// aircraft whose deviations do not depend on where they fly.
	skip := func(path string) bool {
		return strings.HasPrefix(path, "large_deviations") && strings.HasSuffix(path, "seed") || strings.Contains(path, "max_clearances") || strings.Contains(path, "n_range") ||
			strings.HasSuffix(path, "action")
	}
	golden.Mutate(t, golden.Read(t, "testdata/resets.json.gz"), 400, skip, check)
}

// diff keeps the first difference.
type diff struct{ err error }

func (d *diff) same(what string, got, want any) {
	if d.err == nil && got != want {
		d.err = fmt.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (d *diff) near(what string, got float64, want decimal) {
	if d.err == nil && !golden.Near(got, want) {
		d.err = fmt.Errorf("%s: got %v, want %v", what, got, float64(want))
	}
}

func (d *diff) all(what string, got []float64, want []decimal) {
	d.same("number of "+what, len(got), len(want))
	for i := range min(len(got), len(want)) {
		d.near(fmt.Sprintf("%s of %d", what, i), got[i], want[i])
	}
}

func (d *diff) aircraft(e *Env, want []goldenAircraft) {
	d.same("aircraft", e.Config().Flights, len(want))
	for i := range want {
		a := e.Aircraft(i)
		for k, v := range []float64{a.X, a.Y, a.Level, a.Speed, a.Heading} {
			d.near(fmt.Sprintf("aircraft %d field %d", i, k), v, want[i][k])
		}
	}
}

func (d *diff) conflicts(e *Env, want []goldenConflict) {
	got := e.Conflicts(nil)
	d.same("number of conflicts", len(got), len(want))
	for k := range min(len(got), len(want)) {
		g, w := got[k], want[k]
		d.same("i", g.I, w.I)
		d.same("j", g.J, w.J)
		d.near("t_enter", g.Enter, w.TEnter)
		d.near("t_cpa", g.Cpa, w.TCpa)
		d.near("duration", g.Duration, w.Duration)
		d.near("d_cpa", g.Distance, w.DCpa)
		d.near("d_alt", g.DAlt, w.DAlt)
		d.near("severity", g.Severity, w.Severity)
	}
}

// observation demands the recorded float32 bits.
func (d *diff) observation(what string, e *Env, want string) {
	raw, err := base64.StdEncoding.DecodeString(want)
	if err != nil {
		if d.err == nil {
			d.err = err
		}
		return
	}
	got := observe(e)
	d.same(what+" bytes", 4*len(got), len(raw))
	for i := range min(len(got), len(raw)/4) {
		w := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		if math.Float32bits(got[i]) != math.Float32bits(w) {
			d.same(fmt.Sprintf("%s[%d]", what, i), got[i], w)
		}
	}
}

// legalAsModeSays holds an episode's actions against the way they were drawn.
func (d *diff) legalAsModeSays(mode string, legal bool) {
	switch mode {
	case "any":
	case "legal", "sparse":
		d.same("action is legal", legal, true)
	default:
		d.same("mode", mode, "any, legal or sparse")
	}
}

func (g goldenConfig) config() Config {
	c := DefaultConfig()
	set := func(dst *int, v *int) {
		if v != nil {
			*dst = *v
		}
	}
	setFloat := func(dst *float64, v *float64) {
		if v != nil {
			*dst = *v
		}
	}
	set(&c.Flights, g.Flights)
	set(&c.MaxSteps, g.MaxSteps)
	set(&c.HoldSteps, g.HoldSteps)
	set(&c.MaxClearances, g.MaxClearances)
	setFloat(&c.WSafe, g.WSafe)
	setFloat(&c.WClearance, g.WClearance)
	setFloat(&c.CollisionRate, g.CollisionRate)
	if g.NRange != nil {
		c.NLo, c.NHi = g.NRange[0], g.NRange[1]
	}
	return c
}

func scenarioOf(flights []goldenAircraft) Scenario {
	s := Scenario{Converging: len(flights)}
	for _, f := range flights {
		s.Aircraft = append(s.Aircraft, Aircraft{
			X: float64(f[0]), Y: float64(f[1]), Level: float64(f[2]), Speed: float64(f[3]), Heading: float64(f[4]),
		})
	}
	return s
}

func mustNew(cfg Config) *Env {
	e, err := New(cfg)
	if err != nil {
		panic(err)
	}
	return e
}

func observe(e *Env) []float32 {
	obs := make([]float32, e.Config().ObservationLen())
	e.Observe(obs)
	return obs
}

func littleEndian(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// describe is the state around a difference.
func describe(e *Env) string {
	var b strings.Builder
	for i := range e.Config().Flights {
		fmt.Fprintf(&b, "  %d %+v %+v\n", i, e.Aircraft(i), e.Progress(i))
	}
	return b.String()
}
