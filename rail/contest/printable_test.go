package contest

import (
	"errors"
	"testing"

	"skyrail/rail"
	"skyrail/rail/agent"
	"skyrail/rail/railfile"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"plain, Zürich", 0, "plain, Zürich"},
		{"\x1b]0;title\a", 0, `\x1b]0;title\a`},
		{"abc\u202ecba", 0, `abc\u202ecba`},
		{"a\xff\tb\nc", 0, `a\xff\tb` + "\nc"},
		{"\u0085\u2028\ufffd", 0, `\u0085\u2028` + "\ufffd"},
		{"üüüü", 4, "üüüü"},
		{"üüüüü", 4, "üüüü…"},
	} {
		if got := Printable(c.text, c.most, '\n'); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestDifferencesAreShownClean(t *testing.T) {
	r := readRecording(t, trajectories+"/ecml_level_0_scenario_1")
	rows := copyOf(r.rows)
	reward := rows.Rewards[0].Reward
	reward.Values = nil
	for range 1000 {
		reward.Values = append(reward.Values, railfile.WholeNumber(1))
	}
	reward.Form = railfile.TupleReward
	rows.Rewards[0].Reward = reward
	report, err := Verify(t.Context(), r.open(t), rows, r.options())
	if err != nil || report.First == nil || report.First.What != "form of reward" {
		t.Fatalf("got %+v, %v", report, err)
	}
	if got := len([]rune(report.First.Found)); got != mostShown+1 {
		t.Errorf("found is shown with %d runes, want %d", got, mostShown+1)
	}
	o := r.options()
	o.ClaimedFault = "\x1b[2J"
	if report, err = Verify(t.Context(), r.open(t), r.rows, o); err != nil || report.First.Found != `\x1b[2J` {
		t.Errorf("got %+v, %v; want the escape shown as text", report.First, err)
	}
}

func TestNobodyPlaysWithoutTrains(t *testing.T) {
	r := readRecording(t, trajectories+"/ecml_level_0_scenario_1")
	scenario := *r.file.Scenario
	scenario.Trains = nil
	e, err := rail.New(&scenario, rail.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := agent.New("forward", agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Play(t.Context(), e, p, PlayOptions{}); !errors.Is(err, ErrNoTrains) {
		t.Errorf("got %v, want %v", err, ErrNoTrains)
	}
}
