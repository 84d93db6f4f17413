package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skyrail/rail"
	"skyrail/rail/contest"
	"skyrail/rail/railfile"
)

// placeSuite makes the five scenarios of level_0 below ./suite, all with the same content.
func placeSuite(t *testing.T, content []byte, name string) {
	t.Helper()
	t.Chdir(t.TempDir())
	err := os.MkdirAll(filepath.Join("suite", "level_0"), 0o755)
	for _, k := range "12345" {
		err = errors.Join(err, os.WriteFile(filepath.Join("suite", "level_0", "level_0_scenario_"+string(k)+name), content, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func compareLevel0(ctx context.Context, args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = run(ctx, append([]string{"rail", "compare", "--suite", "suite", "--level", "level_0", "--agent", "forward"}, args...),
		&app{strings.NewReader(""), &o, &e})
	return status, o.String(), e.String()
}

func TestComparingNeedsTrainsAndALimit(t *testing.T) {
	file, err := readEnvironment(sample)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*rail.Scenario)
		want   string
	}{
		"no trains": {func(s *rail.Scenario) { s.Trains = nil }, "--suite suite: level_0_scenario_1: the environment has no trains"},
		"no limit":  {func(s *rail.Scenario) { s.MaxEpisodeSteps = 0 }, "--suite suite: level_0_scenario_1: the environment has no limit of steps"},
	} {
		t.Run(name, func(t *testing.T) {
			scenario := *file.Scenario
			c.change(&scenario)
			e, err := rail.New(&scenario, rail.Options{})
			if err != nil {
				t.Fatal(err)
			}
			content, err := railfile.SaveEnvironment(e)
			if err != nil {
				t.Fatal(err)
			}
			placeSuite(t, content, ".pkl")
			if status, _, errs := compareLevel0(t.Context()); status != exitUsage || !strings.Contains(errs, c.want) {
				t.Errorf("got status %d, %s; want %d, %q", status, errs, exitUsage, c.want)
			}
		})
	}
}

func TestAnInterruptedComparisonPrintsNothing(t *testing.T) {
	content, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	placeSuite(t, content, ".pkl.gz")
	for name, asks := range map[string]int{"at once": 0, "in an episode": 100} {
		status, out, errs := compareLevel0(&interruptedAfter{t.Context(), asks}, "-j", "1")
		if want := "skyrail rail compare: interrupted, nothing was written\n"; status != exitFault || out != "" || errs != want {
			t.Errorf("%s: got status %d, %q, %q; want %d, nothing, %q", name, status, out, errs, exitFault, want)
		}
	}
}

func TestOnlySecondsDifferBetweenComparisons(t *testing.T) {
	content, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	placeSuite(t, content, ".pkl.gz")
	var first string
	for _, jobs := range []string{"1", "3"} {
		status, out, errs := compareLevel0(t.Context(), "--json", "-j", jobs)
		var facts map[string]any
		if err := json.Unmarshal([]byte(out), &facts); status != exitDone || err != nil {
			t.Fatalf("-j %s: got status %d, %v, %s", jobs, status, err, errs)
		}
		if facts["seconds"] == nil || facts["official"] != nil {
			t.Errorf("-j %s: got seconds %v and official %v, want some and none", jobs, facts["seconds"], facts["official"])
		}
		rest := regexp.MustCompile(`(?s)"seconds": \[.*?\n  \],`).ReplaceAllString(out, "")
		if first == "" {
			first = rest
		}
		if d := cmp.Diff(first, rest); d != "" || rest == out {
			t.Errorf("-j %s differs from -j 1 in more than seconds (-1 +%s):\n%s", jobs, jobs, d)
		}
	}
}

func TestPoliciesOfOneScoreShareAPlace(t *testing.T) {
	c := railCompare{competition: &contest.Competition{Levels: []contest.Level{{Name: "a", Trains: []int{1}}}}, run: []int{0}}
	rate := 0.5
	entry := func(name string, sum, official float64) comparedAgent {
		return comparedAgent{
			Agent: name, Appraisal: contest.Appraisal{NormalizedReward: sum}, Official: &officialScore{NormalizedReward: official, SuccessRate: &rate},
		}
	}
	rows := []comparedAgent{entry("idle", 5, 0.25), entry("slow", 1, 0.5), entry("fast", 2, 0.75), entry("late", 3, 0.5)}
	var out bytes.Buffer
	c.compared(rows, "").printOfficial(&out)
	var places []string
	for _, row := range regexp.MustCompile(`(?m)^\d  \w+`).FindAllString(out.String(), -1) {
		places = append(places, strings.Replace(row, "  ", " ", 1))
	}
	if got, want := strings.Join(places, ", "), "1 fast, 2 slow, 2 late, 4 idle"; got != want {
		t.Errorf("got %s, want %s in\n%s", got, want, &out)
	}
	for i := range rows {
		rows[i].Official = nil
	}
	if got := c.compared(rows, "").Agents[0].Agent; got != "idle" {
		t.Errorf("without official scores %s is first, want idle, which has the greatest sum", got)
	}
}

func TestSecondsAreOfTheLevelsThatWereRun(t *testing.T) {
	a := contest.Appraisal{Levels: []contest.LevelScore{{Results: []contest.Figures{{Steps: 10}, {Steps: 20}}}, {Results: []contest.Figures{{Steps: 70}}}}}
	took := [][]time.Duration{nil, {time.Second, 2 * time.Second}, nil, {5 * time.Second}}
	got := newAgentSeconds("x", a, []int{1, 3}, took)
	if d := cmp.Diff(agentSeconds{Agent: "x", Levels: []float64{3, 5}, All: 8, Steps: 100, StepsPerSecond: 12.5}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	clear(took[1])
	clear(took[3])
	if got := newAgentSeconds("x", a, []int{1, 3}, took); got.StepsPerSecond != 0 {
		t.Errorf("got %v steps a second in no time, want 0, which JSON can hold", got.StepsPerSecond)
	}
}
