package planner

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseBudget(t *testing.T) {
	for text, want := range map[string]Budget{
		"1":                     {Nodes: 1},
		"200000":                {Nodes: 200_000},
		"010":                   {Nodes: 10},
		"500k":                  {Nodes: 500_000},
		"2M":                    {Nodes: 2_000_000},
		"1000M":                 {Nodes: MaxNodes},
		"1000000000":            {Nodes: MaxNodes},
		"50ms":                  {Time: 50 * time.Millisecond},
		"0.05s":                 {Time: 50 * time.Millisecond},
		"1m":                    {Time: time.Minute},
		"60m":                   {Time: MaxTime},
		"1s500ms":               {Time: 1500 * time.Millisecond},
		"1000000001":            {},
		"1000001k":              {},
		"1001M":                 {},
		"61m":                   {},
		"0":                     {},
		"0k":                    {},
		"0s":                    {},
		"-5":                    {},
		"-5ms":                  {},
		"+5":                    {},
		"":                      {},
		"k":                     {},
		"M":                     {},
		"1.5M":                  {},
		"2m2M":                  {},
		"2K":                    {},
		"2 M":                   {},
		"0x10":                  {},
		"1_000":                 {},
		"1e6":                   {},
		"٣":                     {},
		"fast":                  {},
		"99999999999999999999":  {},
		"99999999999999999999k": {},
		"999999999999h":         {},
	} {
		got, err := ParseBudget(text)
		if got != want || (err == nil) != (want != Budget{}) {
			t.Errorf("%q: got %+v, error %v, want %+v", text, got, err, want)
		}
	}
}

func TestABudgetIsReadAsItIsSpelt(t *testing.T) {
	if _, err := ParseBudget(DefaultBudget().String()); err != nil || !DefaultBudget().Reproducible() {
		t.Errorf("the default %v: got error %v, reproducible %v", DefaultBudget(), err, DefaultBudget().Reproducible())
	}
	rapid.Check(t, func(t *rapid.T) {
		b := Budget{Nodes: rapid.IntRange(1, MaxNodes/1000).Draw(t, "nodes") * rapid.SampledFrom([]int{1, 10, 1000}).Draw(t, "unit")}
		if rapid.Bool().Draw(t, "timed") {
			b = Budget{Time: time.Duration(rapid.Int64Range(1, int64(MaxTime)).Draw(t, "time"))}
		}
		if got, err := ParseBudget(b.String()); got != b || err != nil {
			t.Fatalf("%v: got %+v, error %v", b, got, err)
		}
		if b.Reproducible() != (b.Time == 0) {
			t.Fatalf("%v: reproducible %v", b, b.Reproducible())
		}
	})
}

func FuzzParseBudget(f *testing.F) {
	for _, text := range []string{"200000", "2M", "50ms", "", "-1h", "9e9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBudget(text)
		if err != nil {
			if (b != Budget{}) {
				t.Errorf("got %+v beside error %v", b, err)
			}
			return
		}
		if b.Nodes < 0 || b.Nodes > MaxNodes || b.Time < 0 || b.Time > MaxTime || (b.Nodes == 0) == (b.Time == 0) {
			t.Errorf("got %+v", b)
		}
	})
}
