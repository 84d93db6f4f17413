package contest

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"skyrail/contests"
	"skyrail/rail"
)

func ecml(t *testing.T) *Competition {
	t.Helper()
	c, err := ReadCompetition(contests.ECML2026)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheCompetitionIsTheOfficialTable(t *testing.T) {
	c := ecml(t)
	l := c.Limits
	for name, p := range map[string][2]float64{
		"submissions a day": {float64(l.SubmissionsPerDay), 2}, "start": {l.Start, 120}, "pending": {l.Pending, 1800},
		"scenario": {l.Scenario, 1800}, "total": {l.Total, 18000}, "scenario deadline": {l.ScenarioDeadline, 3600},
		"submission deadline": {l.SubmissionDeadline, 28800}, "gate": {c.Gate, 0.25},
		"cpus": {l.SubmissionResources.CPUs, 4}, "memory": {float64(l.SubmissionResources.Memory), 15 << 30},
		"evaluation cpus": {l.EvaluationResources.CPUs, 1}, "evaluation memory": {float64(l.EvaluationResources.Memory), 5 << 30},
		"levels": {float64(len(c.Levels)), 7},
	} {
		if p[0] != p[1] {
			t.Errorf("%s: got %v, want %v", name, p[0], p[1])
		}
	}
	scenarios, trains := 0, 0
	for _, level := range c.Levels {
		scenarios += len(level.Scenarios())
		for _, n := range level.Trains {
			trains += n
		}
	}
	if want := 87 + 2*476 + 3*1197 + 5*532; scenarios != 35 || trains != want {
		t.Errorf("got %d scenarios with %d trains, want 35 with %d", scenarios, trains, want)
	}
	if f, err := rail.RewardsByName(c.Rewards); err != nil || f != rail.ECML2026Rewards() {
		t.Errorf("rewards: got %v, %v", f, err)
	}
	if got := c.Levels[3].Scenarios()[4]; got != "level_3_scenario_5" {
		t.Errorf("got %s", got)
	}
}

func TestReadCompetitionRefuses(t *testing.T) {
	text, err := os.ReadFile("../../contests/ecml-2026.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"an unknown key":             {"gate: 0.25", "gait: 0.25", "gait"},
		"no gate":                    {"gate: 0.25", "", "gate is missing"},
		"no name":                    {"name: Flatland ECML 2026", "", "name is missing"},
		"another challenge":          {"challenge: rail", "challenge: sea", "challenge is \"sea\""},
		"an unknown reward":          {"rewards: ecml2026", "rewards: gold", "no reward function is named \"gold\""},
		"a gate above 1":             {"gate: 0.25", "gate: 25", "gate is 25"},
		"an unknown policy":          {"partial_level: keep", "partial_level: maybe", "want keep or discard"},
		"no time":                    {"total: 18000", "total: 0", "total is 0"},
		"a short deadline":           {"scenario_deadline: 3600", "scenario_deadline: 60", "at least pending + scenario"},
		"a level twice":              {"name: level_1", "name: level_0", "a name of its own"},
		"a level with a slash":       {"name: level_1", "name: ../level_1", "a name of its own"},
		"scenarios of unknown stops": {"stops: [3, 3, 4, 6, 6]\n    character: one", "stops: [3]\n    character: one", "level_0 has 5 trains and 1 stops"},
		"memory without sense":       {"15GiB", "much", "much"},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := strings.Replace(string(text), c.old, c.new, 1)
			if spoilt == string(text) {
				t.Fatalf("the file has no %q", c.old)
			}
			if _, err := ReadCompetition([]byte(spoilt)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// all is a submission that completed every scenario with the same figures.
func all(c *Competition, f Figures) [][]Outcome {
	outcomes := make([][]Outcome, len(c.Levels))
	for l := range outcomes {
		outcomes[l] = make([]Outcome, len(c.Levels[l].Trains))
		for k := range outcomes[l] {
			outcomes[l][k] = Outcome{Figures: f, Seconds: 60}
		}
	}
	return outcomes
}

func TestScore(t *testing.T) {
	reward := 0.5
	half := Figures{NormalizedReward: &reward, SuccessRate: 0.5}
	for name, c := range map[string]struct {
		spoil       func(c *Competition, o [][]Outcome)
		sum         float64
		levels      int
		termination string
		failed      bool
	}{
		"counts everything":              {func(*Competition, [][]Outcome) {}, 17.5, 7, "", false},
		"passes the gate exactly":        {func(_ *Competition, o [][]Outcome) { rates(o[0], 0.25) }, 17.5, 7, "", false},
		"keeps the level below the gate": {func(_ *Competition, o [][]Outcome) { rates(o[1], 0.2499) }, 5, 2, "level 1: mean success rate 0.2499 is below the gate of 0.25", false},
		"leaves out the overlong one":    {func(_ *Competition, o [][]Outcome) { o[1][2].Seconds = 1800.5 }, 3.5, 2, "level 1, scenario 3: it ran 1800.5 s, limits.scenario is 1800 s", false},
		"allows the limit exactly":       {func(_ *Competition, o [][]Outcome) { o[1][2].Seconds = 1800 }, 17.5, 7, "", false},
		"stops at the limit of all": {func(_ *Competition, o [][]Outcome) {
			for l := range o {
				for k := range o[l] {
					o[l][k].Seconds = 1700
				}
			}
		}, 5, 2, "level 2, scenario 1: all together ran 18700.0 s, limits.total is 18000 s", false},
		"discards a level in which a limit struck": {func(c *Competition, o [][]Outcome) {
			c.PartialLevel = "discard"
			o[1][2].Seconds = 2000
		}, 2.5, 1, "level 1, scenario 3: it ran 2000.0 s, limits.scenario is 1800 s", false},
		"ends at a missing one": {func(_ *Competition, o [][]Outcome) { missing(o, 1, 3) }, 4, 2, "level 1, scenario 4: no trajectory", false},
		"fails at a missing one before another": {func(_ *Competition, o [][]Outcome) {
			missing(o, 0, 1)
			o[6][4].Missing = false
		}, 0.5, 1, "level 0, scenario 2: no trajectory, but level_6_scenario_5 has one", true},
		"is stopped by the gate before a missing one is looked for": {func(_ *Competition, o [][]Outcome) {
			rates(o[0], 0)
			o[1][0].Missing = true
		}, 2.5, 1, "level 0: mean success rate 0 is below the gate of 0.25", false},
		"fails at a forged one":  {func(_ *Competition, o [][]Outcome) { o[2][0] = Outcome{Failure: "trace invalid"} }, 5, 2, "level 2, scenario 1: trace invalid", true},
		"is nothing without any": {func(_ *Competition, o [][]Outcome) { clear(o) }, 0, 0, "level 0, scenario 1: no trajectory", false},
	} {
		t.Run("it "+name, func(t *testing.T) {
			competition := ecml(t)
			outcomes := all(competition, half)
			c.spoil(competition, outcomes)
			s := competition.Score(outcomes)
			ended := ""
			if s.Termination != nil {
				ended = s.Termination.String()
			}
			if math.Abs(s.NormalizedReward-c.sum) > 1e-12 || len(s.Levels) != c.levels || ended != c.termination || s.Failed != c.failed {
				t.Errorf("got %v from %d levels, %q, failed %v; want %v from %d, %q, %v",
					s.NormalizedReward, len(s.Levels), ended, s.Failed, c.sum, c.levels, c.termination, c.failed)
			}
		})
	}
}

// missing takes away what is behind a scenario, and it.
func missing(o [][]Outcome, level, scenario int) {
	for l := level; l < len(o); l, scenario = l+1, 0 {
		for k := scenario; k < len(o[l]); k++ {
			o[l][k] = Outcome{Missing: true}
		}
	}
}

func TestTheGateSaysWhatItFound(t *testing.T) {
	reward := 0.5
	c := ecml(t)
	outcomes := all(c, Figures{NormalizedReward: &reward, SuccessRate: 0.5})
	rates(outcomes[1], 0.1)
	s := c.Score(outcomes)
	if len(s.Levels) != 2 || *s.Levels[0].Gate != Passed || *s.Levels[1].Gate != Stopped {
		t.Errorf("got %+v, want one level that passed and one that was stopped", s.Levels)
	}
	missing(outcomes, 0, 3)
	if s = c.Score(outcomes); len(s.Levels) != 1 || s.Levels[0].Gate != nil {
		t.Errorf("got %+v, want one level without a verdict", s.Levels)
	}
}

func TestAFailureIsShownClean(t *testing.T) {
	c := ecml(t)
	s := c.Score([][]Outcome{{{Failure: "trace invalid: \x1b[2J\u202e" + strings.Repeat("x", 1<<20)}}})
	if got, want := s.Termination.String(), `level 0, scenario 1: trace invalid: \x1b[2J\u202exxx`; !strings.HasPrefix(got, want) || len(got) > 700 {
		t.Errorf("got %d bytes, %.80q; want %q and no more than 700", len(got), got, want)
	}
}

func TestComponentsAreWrittenByName(t *testing.T) {
	var parts Components
	parts[rail.Collision], parts[rail.IntermediateEarlyDeparture] = -250, -0.5
	got, err := json.Marshal(Figures{Components: &parts})
	want := `"components":{"COLLISION":-250,"TARGET_LATE_ARRIVAL":0,"CANCELLATION":0,"TARGET_NOT_REACHED":0,` +
		`"TARGET_NOT_REACHED_MINIMUM_PENALTY":0,"INTERMEDIATE_NOT_SERVED":0,"INTERMEDIATE_LATE_ARRIVAL":0,` +
		`"INTERMEDIATE_EARLY_DEPARTURE":-0.5},"composition":null`
	if err != nil || !strings.Contains(string(got), want) {
		t.Errorf("got %s, %v; want %s in it", got, err, want)
	}
}

func rates(level []Outcome, rate float64) {
	for k := range level {
		level[k].SuccessRate = rate
	}
}

func TestComposition(t *testing.T) {
	var parts Components
	if got := Composition(parts); got != nil {
		t.Errorf("no penalty has the composition %v", got)
	}
	parts[rail.Collision], parts[rail.IntermediateNotServed] = -250, -750
	shares := Composition(parts)
	if shares == nil || shares[rail.Collision] != 0.25 || shares[rail.IntermediateNotServed] != 0.75 || shares[rail.Cancellation] != 0 {
		t.Errorf("got %v", shares)
	}
}

func TestWhatWasMeasuredIsToldOfGatesAndLimitsOnly(t *testing.T) {
	reward := 0.5
	for name, c := range map[string]struct {
		spoil func(o [][]Outcome)
		want  string
	}{
		"of the gate, though it is nothing": {func(o [][]Outcome) { rates(o[0], 0) },
			`{"reason":"gate","level":0,"scenario":0,"detail":"","measured":0,"limit":0.25}`},
		"of a limit": {func(o [][]Outcome) { o[0][1].Seconds = 1801 },
			`{"reason":"scenario_limit","level":0,"scenario":2,"detail":"","measured":1801,"limit":1800}`},
		"not of a missing scenario": {func(o [][]Outcome) { missing(o, 0, 1) },
			`{"reason":"no_trajectory","level":0,"scenario":2,"detail":""}`},
	} {
		t.Run("it is told "+name, func(t *testing.T) {
			competition := ecml(t)
			outcomes := all(competition, Figures{NormalizedReward: &reward, SuccessRate: 0.5})
			c.spoil(outcomes)
			got, err := json.Marshal(competition.Score(outcomes).Termination)
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestOtherTrainsAreOfScenariosThatCount(t *testing.T) {
	reward := 0.5
	c := ecml(t)
	outcomes := all(c, Figures{NormalizedReward: &reward, SuccessRate: 0.5})
	for l := range outcomes {
		for k := range outcomes[l] {
			outcomes[l][k].Trains = c.Levels[l].Trains[k]
		}
	}
	outcomes[0][1].Trains = 6
	outcomes[0][3].Trains = 7 // behind the one that ends the run
	outcomes[0][2] = Outcome{Failure: "trace invalid"}
	got := c.OtherTrains(c.Score(outcomes))
	if want := (OtherTrains{"level_0_scenario_2", 6, c.Levels[0].Trains[1]}); len(got) != 1 || got[0] != want {
		t.Errorf("got %v, want %v alone", got, want)
	}
	outcomes[0][0] = Outcome{Missing: true}
	text, err := json.Marshal(c.Score(outcomes))
	if err != nil || !strings.Contains(string(text), `"levels":[]`) {
		t.Errorf("got %s, %v; want an empty list of levels", text, err)
	}
}

func TestTotalsAreWrittenByName(t *testing.T) {
	got, err := json.Marshal(Figures{Totals: &Totals{rail.PunctualityReward, []float64{9, 24}}})
	if want := `"totals":{"stops_on_time":9,"stops":24}`; err != nil || !strings.Contains(string(got), want) {
		t.Errorf("got %s, %v; want %s in it", got, err, want)
	}
}
