package golden

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// recorder is a test that keeps its failures to itself.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) Error(args ...any) { r.failures = append(r.failures, fmt.Sprint(args...)) }

const document = `{"a": 7, "b": [0, "0.25", {"c": true, "d": "QUJD"}], "e": 1.5, "f": "100"}`

func TestMutateTellsWhatGoesUnnoticed(t *testing.T) {
	read := func(data []byte) (v struct {
		A int
		B []any
		E Decimal
		F string
	}, err error) {
		err = Decode(data, &v)
		return v, err
	}
	want, err := read([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	// A check that forgets b[0] and e.
	check := func(data []byte) error {
		got, err := read(data)
		if err == nil && (got.A != want.A || got.F != want.F || fmt.Sprint(got.B[1:]) != fmt.Sprint(want.B[1:])) {
			err = errors.New("different")
		}
		return err
	}
	r := &recorder{TB: t}
	Mutate(r, []byte(document), 100, nil, check)
	told := strings.Join(r.failures, "\n")
	if len(r.failures) != 2 || !strings.Contains(told, "b.0 changed from 0 to 1 went unnoticed") || !strings.Contains(told, "e changed from 1.5 to 1.5000015 went unnoticed") {
		t.Errorf("got failures:\n%s", told)
	}
	r = &recorder{TB: t}
	Mutate(r, []byte(document), 100, func(path string) bool { return path == "b.0" || path == "e" }, check)
	if len(r.failures) != 0 {
		t.Errorf("got failures:\n%s", strings.Join(r.failures, "\n"))
	}
	Mutate(r, []byte(document), 100, func(string) bool { return true }, check)
	if len(r.failures) != 1 || r.failures[0] != "no value was changed" {
		t.Errorf("with every leaf left out: got failures %q", r.failures)
	}
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		got  float64
		want Decimal
		near bool
	}{
		{1, 1, true}, {0, 1e-9, true}, {0, 1.1e-9, false}, {1e6, 1e6 + 9e-4, true}, {1e6, 1e6 + 2e-3, false}, {math.NaN(), 0, false},
	} {
		if got := Near(c.got, c.want); got != c.near {
			t.Errorf("%v and %v: got %v, want %v", c.got, float64(c.want), got, c.near)
		}
	}
}

func TestDecodeIsStrict(t *testing.T) {
	var v struct{ A int }
	if err := Decode([]byte(`{"a": 1, "unread": 2}`), &v); err == nil {
		t.Error("a field that nothing reads was accepted")
	}
}
