package skyrail_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"skyrail/contests"
	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/flight/contest"
	"skyrail/flight/planner"
	"skyrail/internal/ingest"
	"skyrail/internal/pyworker"
	"skyrail/internal/submission"
	"skyrail/rail"
	railagent "skyrail/rail/agent"
	railcontest "skyrail/rail/contest"
	"skyrail/rail/generate"
)

// TestVerdictsAreDocumented holds docs/verdicts.md to the codes there are.
func TestVerdictsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("docs/verdicts.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		documented[row[1]] = true
	}
	codes := []string{ingest.ContractFailed, ingest.ModelUnreadable, ingest.ModelMismatch}
	for _, r := range submission.Rules() {
		codes = append(codes, string(r))
		if !strings.Contains(string(page), r.Explanation()) {
			t.Errorf("%s: the page does not say %q", r, r.Explanation())
		}
	}
	for _, e := range pyworker.Explanations() {
		codes = append(codes, string(e.Code))
	}
	for _, code := range codes {
		if !documented[code] {
			t.Errorf("docs/verdicts.md does not explain %s", code)
		}
		delete(documented, code)
	}
	for code := range documented {
		t.Errorf("docs/verdicts.md explains %s, which there is not", code)
	}
}

// TestQuirksAreTested holds docs/rail-quirks.md to the tests and recordings that it names, and the quirk tests to the page.
func TestQuirksAreTested(t *testing.T) {
	page, err := os.ReadFile("docs/rail-quirks.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	err = filepath.WalkDir("rail", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(page, -1) {
		name := string(m[1])
		named[name] = true
		if !tests[name] {
			t.Errorf("the page names %s, which there is not", name)
		}
	}
	for name := range tests {
		if strings.Contains(name, "Quirk") && !named[name] {
			t.Errorf("the page does not name %s", name)
		}
	}
	for _, m := range regexp.MustCompile("`((?:[grst]\\d\\d|unit|obs\\d)_\\w+)`").FindAllSubmatch(page, -1) {
		_, engine := os.Stat(filepath.Join("rail/testdata/engine", string(m[1])+".json.gz"))
		_, generators := os.Stat(filepath.Join("rail/generate/testdata/generators", string(m[1])+".json.gz"))
		if engine != nil && generators != nil {
			t.Errorf("the page names the recording %s, which there is not", m[1])
		}
	}
}

// TestTheShippedCheckpointScoresAsItsCardSays flies it over the published seeds.
func TestTheShippedCheckpointScoresAsItsCardSays(t *testing.T) {
	card, err := os.ReadFile("checkpoints/README.md")
	if err != nil {
		t.Fatal(err)
	}
	settings := ingest.DefaultSettings()
	settings.Python = "none needed"
	result, err := ingest.New(settings).Score(t.Context(), "checkpoints/ppo.zip", flight.DefaultConfig(), contest.PublicSeeds(), nil)
	if err != nil || !result.OK {
		t.Fatalf("%v, %s", err, result.Error)
	}
	s := result.Total
	row := fmt.Sprintf("| `ppo.zip` | %d | %d | %.4f | %d | %d |", s.Failed, s.Congestion, s.ExitMiss, s.Clearances, s.Touched)
	if !strings.Contains(string(card), row) {
		t.Errorf("the card does not have the row\n%s", row)
	}
	if result.Isolation != ingest.Native {
		t.Errorf("got isolation %s, want that it needs no Python", result.Isolation)
	}
	const ruleBasedFailed = 20
	if s.Failed >= ruleBasedFailed {
		t.Errorf("it fails %d episodes, the rule-based agent %d", s.Failed, ruleBasedFailed)
	}
}

// TestThePlannerScoresAsToldInTheDocs flies it with the smaller budgets of docs/flight.md, over both lists.
func TestThePlannerScoresAsToldInTheDocs(t *testing.T) {
	page, err := os.ReadFile("docs/flight.md")
	if err != nil {
		t.Fatal(err)
	}
	lists := [][]uint64{contest.PublicSeeds(), contest.DeriveSeeds("skyrail-planner", 200)}
	for _, budget := range []planner.Budget{{Nodes: 5000}, {Nodes: 20_000}, planner.DefaultBudget()} {
		for _, seeds := range lists {
			episodes, err := contest.Run(t.Context(), flight.DefaultConfig(), seeds, 2, func() (agent.Agent, error) {
				return planner.New(flight.DefaultConfig(), budget), nil
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := contest.NewScore(episodes)
			b, _ := contest.NewBounds(episodes)
			row := fmt.Sprintf("| %v | %d | %d | %.4f | %d | %d | %d | %d | %d |", budget,
				s.Failed, s.Congestion, s.ExitMiss, s.Clearances, s.Touched, b.Matched, b.Gap, b.Least)
			if !strings.Contains(string(page), row) {
				t.Errorf("%d seeds: the page does not have the row %s", len(seeds), row)
			}
		}
	}
}

// TestThePoliciesOnTheSuiteAreAsToldInTheDocs builds the suite of docs/rail-generate.md and plays its smaller levels.
func TestThePoliciesOnTheSuiteAreAsToldInTheDocs(t *testing.T) {
	page, err := os.ReadFile("docs/rail-generate.md")
	if err != nil {
		t.Fatal(err)
	}
	competition, err := railcontest.ReadCompetition(contests.ECML2026)
	if err != nil {
		t.Fatal(err)
	}
	const seed = 1 // that the page tells
	derived := suiteOf(t, competition, seed)
	levels := []int{0, 1, 3}
	suite := railcontest.Suite{Levels: levels, Open: func(level, scenario int) (*rail.Env, error) {
		i := 5*level + scenario
		return derived[i].Environment(generate.ScenarioSeed(seed, i))
	}}
	for _, name := range []string{"do-nothing", "forward", "shortest-path", "deadlock-avoidance"} {
		outcomes, err := competition.Run(t.Context(), suite, 2, func() (railagent.Policy, error) { return railagent.New(name, railagent.Options{}) })
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range competition.Appraise(outcomes).Levels {
			row := fmt.Sprintf("%s %s %.4f %.1f %% ", l.Name, name, l.NormalizedReward, 100**l.SuccessRate)
			if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), row) {
				t.Errorf("the page does not have the row %s", row)
			}
		}
	}
}

// suiteOf derives the scenarios of a suite of the competition, five a level.
func suiteOf(t *testing.T, c *railcontest.Competition, seed uint64) []generate.Derived {
	t.Helper()
	m, err := generate.ReadMap(bytes.NewReader(contests.ECML2026Map))
	if err != nil {
		t.Fatal(err)
	}
	var levels []generate.SuiteLevel
	for _, l := range c.Levels {
		levels = append(levels, generate.SuiteLevel{Name: l.Name, Trains: l.Trains, Stops: l.Stops})
	}
	scene, err := generate.SuiteScene(m, levels, generate.DefaultSuiteParameters(), seed)
	if err != nil {
		t.Fatal(err)
	}
	metadata, err := generate.SuiteMetadata(scene, levels, generate.DefaultSuiteParameters())
	if err != nil {
		t.Fatal(err)
	}
	if err := generate.MarkScenes(scene); err != nil {
		t.Fatal(err)
	}
	derived, err := generate.SeededLevels(scene, metadata, seed)
	if err != nil {
		t.Fatal(err)
	}
	return derived
}
