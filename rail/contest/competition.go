package contest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docker/go-units"
	"github.com/goccy/go-yaml"

	"skyrail/rail"
)

// Competition is a competition as its file describes it: the levels in their order, the gate and the limits.
type Competition struct {
	Name         string    `yaml:"name"`
	Challenge    string    `yaml:"challenge"`
	Rewards      string    `yaml:"rewards"`  // a name of rail.RewardsByName
	Flatland     []string  `yaml:"flatland"` // the versions that submissions may be made with
	Closes       time.Time `yaml:"closes"`
	Gate         float64   `yaml:"gate"` // the mean success rate below which a level is the last one
	PartialLevel string    `yaml:"partial_level"`
	Limits       Limits    `yaml:"limits"`
	Levels       []Level   `yaml:"levels"`
}

// Limits are the limits of a submission, in seconds where they are times.
type Limits struct {
	SubmissionsPerDay   int       `yaml:"submissions_per_day"`
	Start               float64   `yaml:"start"`               // until a scenario's job is listed
	Pending             float64   `yaml:"pending"`             // until its container runs
	Scenario            float64   `yaml:"scenario"`            // running
	Total               float64   `yaml:"total"`               // running, all scenarios
	ScenarioDeadline    float64   `yaml:"scenario_deadline"`   // whole life of a scenario's job
	SubmissionDeadline  float64   `yaml:"submission_deadline"` // whole submission
	SubmissionResources Resources `yaml:"submission_resources"`
	EvaluationResources Resources `yaml:"evaluation_resources"`
}

// Resources of a container.
type Resources struct {
	CPUs   float64 `yaml:"cpus"`
	Memory Bytes   `yaml:"memory"`
}

// Bytes is an amount of memory, written like 15GiB.
type Bytes int64

// UnmarshalYAML reads an amount with its unit.
func (b *Bytes) UnmarshalYAML(text []byte) error {
	n, err := units.RAMInBytes(strings.Trim(strings.TrimSpace(string(text)), `"'`))
	*b = Bytes(n)
	return err
}

// String is the amount with its unit.
func (b Bytes) String() string { return units.BytesSize(float64(b)) }

// Level is one level of a competition.
type Level struct {
	Name         string `yaml:"name"`
	ID           string `yaml:"id"`     // under which an orchestrator keeps its results
	Trains       []int  `yaml:"trains"` // of each scenario
	Stops        []int  `yaml:"stops"`  // of each scenario, at most, between start and target
	Character    string `yaml:"character"`
	Disturbances string `yaml:"disturbances"`
}

// Scenarios are the names of a level's scenarios, level_0_scenario_1 and so on.
func (l Level) Scenarios() []string {
	names := make([]string, len(l.Trains))
	for i := range names {
		names[i] = fmt.Sprintf("%s_scenario_%d", l.Name, i+1)
	}
	return names
}

// Scenarios is the number of scenarios of all levels, and so the highest score.
func (c *Competition) Scenarios() int {
	n := 0
	for _, l := range c.Levels {
		n += len(l.Trains)
	}
	return n
}

// OtherTrains is a scenario that has another number of trains than in the competition.
type OtherTrains struct {
	Scenario    string `json:"scenario"`
	Trains      int    `json:"trains"`
	Competition int    `json:"competition"` // the number it should be
}

// OtherTrains tells which scenarios that count in a score are not those of the competition by their number of trains, as
// with levels of one's own.
func (c *Competition) OtherTrains(s SubmissionScore) []OtherTrains {
	others := []OtherTrains{}
	for l, level := range s.Levels {
		for k, r := range level.Results {
			if want := c.Levels[l].Trains[k]; r.Trains != want {
				others = append(others, OtherTrains{c.Levels[l].Scenarios()[k], r.Trains, want})
			}
		}
	}
	return others
}

// ReadCompetition reads a competition's file. Errors name line and column, or the key that is wrong.
func ReadCompetition(data []byte) (*Competition, error) {
	var c Competition
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&c); err != nil {
		return nil, errors.New(yaml.FormatError(err, false, true))
	}
	given := map[string]any{}
	if err := yaml.Unmarshal(data, &given); err != nil {
		return nil, errors.New(yaml.FormatError(err, false, true))
	}
	for _, key := range []string{"name", "challenge", "rewards", "flatland", "closes", "gate", "partial_level", "limits", "levels"} {
		if _, ok := given[key]; !ok { // a gate of 0 is not the same as none
			return nil, fmt.Errorf("%s is missing", key)
		}
	}
	return &c, c.check()
}

func (c *Competition) check() error {
	if c.Challenge != "rail" {
		return fmt.Errorf("challenge is %q, want rail", c.Challenge)
	}
	if _, err := rail.RewardsByName(c.Rewards); err != nil {
		return fmt.Errorf("rewards: %w", err)
	}
	if c.Gate < 0 || c.Gate > 1 {
		return fmt.Errorf("gate is %v, want 0 to 1", c.Gate)
	}
	if !slices.Contains([]string{"keep", "discard"}, c.PartialLevel) {
		return fmt.Errorf("partial_level is %q, want keep or discard", c.PartialLevel)
	}
	l := &c.Limits
	for _, limit := range []struct {
		key   string
		value float64
	}{
		{"submissions_per_day", float64(l.SubmissionsPerDay)}, {"start", l.Start}, {"pending", l.Pending}, {"scenario", l.Scenario},
		{"total", l.Total}, {"scenario_deadline", l.ScenarioDeadline}, {"submission_deadline", l.SubmissionDeadline},
		{"submission_resources.cpus", l.SubmissionResources.CPUs}, {"submission_resources.memory", float64(l.SubmissionResources.Memory)},
		{"evaluation_resources.cpus", l.EvaluationResources.CPUs}, {"evaluation_resources.memory", float64(l.EvaluationResources.Memory)},
	} {
		if !(limit.value > 0) {
			return fmt.Errorf("limits: %s is %v, want more than 0", limit.key, limit.value)
		}
	}
	if l.ScenarioDeadline < l.Pending+l.Scenario {
		return fmt.Errorf("limits: scenario_deadline is %v, want at least pending + scenario, %v",
			l.ScenarioDeadline, l.Pending+l.Scenario)
	}
	if len(c.Levels) == 0 {
		return errors.New("levels: there is none")
	}
	seen := map[string]bool{}
	for i, level := range c.Levels {
		switch {
		case !plainName(level.Name) || seen[level.Name]:
			return fmt.Errorf("levels: level %d is named %q, want a name of its own of letters, digits, _ and -", i, level.Name)
		case len(level.Trains) == 0 || len(level.Stops) != len(level.Trains):
			return fmt.Errorf("levels: %s has %d trains and %d stops, want one of each for every scenario",
				level.Name, len(level.Trains), len(level.Stops))
		}
		seen[level.Name] = true
	}
	return nil
}

func plainName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}
