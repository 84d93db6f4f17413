// Package golden helps tests that read recorded truth: gzipped JSON whose decimals are strings in the
// shortest form that reads back to the same bits.
//
// A golden test is written as a function of the file's bytes that returns the first difference. [Mutate]
// then shows that the function cannot pass by accident: it changes one recorded value at a time and
// demands that the difference is found.
//
// Tests also ask here for the Python to compare with ([AskPython], [FlatlandPython]), and benchmarks for [CPUTime].
package golden

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Read returns the uncompressed content of a gzipped file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data
}

// Decode reads JSON strictly: a field that v lacks, and would so go unread, is an error.
func Decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Items splits a JSON array into its elements.
func Items(t testing.TB, data []byte) []json.RawMessage {
	t.Helper()
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		t.Fatal(err)
	}
	if len(items) == 0 {
		t.Fatal("golden file has no element")
	}
	return items
}

// Decimal is a float64 recorded as a number or as a string.
type Decimal float64

// UnmarshalJSON reads both forms.
func (d *Decimal) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	*d = Decimal(v)
	return err
}

// SameTree returns the first difference between two decoded JSON values, with the way to it from path on. Objects have to
// have the same keys, and numbers are compared as they were decoded: as [json.Number] by how they are written.
func SameTree(path string, got, want any) error {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return fmt.Errorf("%s: got %v, want %v", path, got, want)
		}
		for k, v := range w {
			if _, ok := g[k]; !ok {
				return fmt.Errorf("%s: got no %s", path, k)
			}
			if err := SameTree(path+"."+k, g[k], v); err != nil {
				return err
			}
		}
		return nil
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Errorf("%s: got %v, want %v", path, got, want)
		}
		for i, v := range w {
			if err := SameTree(fmt.Sprintf("%s[%d]", path, i), g[i], v); err != nil {
				return err
			}
		}
		return nil
	}
	if got != want {
		return fmt.Errorf("%s: got %v, want %v", path, got, want)
	}
	return nil
}

// Near reports whether got is within 1e-9 of the recorded value, relative or absolute: the agreement
// asked of positions, rewards and misses.
func Near(got float64, want Decimal) bool {
	d := math.Abs(got - float64(want))
	return d <= 1e-9 || d <= 1e-9*math.Abs(float64(want))
}

// Mutate changes leaves of the JSON value data, one at a time, and fails the test for each change that
// check does not notice. At most n leaves are tried, drawn at random but the same every time. skip, if
// not nil, names leaves (by a path such as "steps.3.action") whose change may rightly go unnoticed.
func Mutate(t testing.TB, data []byte, n int, skip func(path string) bool, check func([]byte) error) {
	t.Helper()
	if err := check(data); err != nil {
		t.Fatalf("the unchanged data differs: %v", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		t.Fatal(err)
	}
	leaves := collect(nil, &root, "")
	rng := rand.New(rand.NewPCG(1, uint64(len(leaves))))
	rng.Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
	tried := 0
	for _, l := range leaves {
		if tried == n {
			break
		}
		if skip != nil && skip(l.path) {
			continue
		}
		tried++
		was := l.get()
		now, err := changed(was)
		if err != nil {
			t.Fatalf("%s: %v", l.path, err)
		}
		l.set(now)
		mutated, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(mutated); err == nil {
			t.Errorf("%s changed from %v to %v went unnoticed", l.path, was, now)
		}
		l.set(was)
	}
	if tried == 0 {
		t.Error("no value was changed")
	}
}

type leaf struct {
	path string
	get  func() any
	set  func(any)
}

func collect(leaves []leaf, v *any, path string) []leaf {
	join := func(k string) string { return strings.TrimPrefix(path+"."+k, ".") }
	switch x := (*v).(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			switch x[k].(type) {
			case map[string]any, []any:
				child := x[k]
				leaves = collect(leaves, &child, join(k))
			default:
				leaves = append(leaves, leaf{join(k), func() any { return x[k] }, func(n any) { x[k] = n }})
			}
		}
	case []any:
		for i := range x {
			switch x[i].(type) {
			case map[string]any, []any:
				leaves = collect(leaves, &x[i], join(strconv.Itoa(i)))
			default:
				leaves = append(leaves, leaf{join(strconv.Itoa(i)), func() any { return x[i] }, func(n any) { x[i] = n }})
			}
		}
	}
	return leaves
}

// changed returns a value near v but told apart from it by every check: whole numbers become 0 (or 1, so
// that an action becomes, or stops being, idle), null too, decimals move by a millionth.
func changed(v any) (any, error) {
	switch x := v.(type) {
	case nil:
		return json.Number("0"), nil
	case bool:
		return !x, nil
	case json.Number:
		if i, err := strconv.ParseInt(string(x), 10, 64); err == nil {
			if i == 0 {
				return json.Number("1"), nil
			}
			return json.Number("0"), nil
		}
		return nudge(string(x), func(s string) any { return json.Number(s) })
	case string:
		if _, err := strconv.ParseInt(x, 10, 64); err != nil {
			if v, err := nudge(x, func(s string) any { return s }); err == nil {
				return v, nil
			}
		}
		return swapFirst(x), nil
	}
	return nil, fmt.Errorf("cannot change a %T", v)
}

func nudge(s string, as func(string) any) (any, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, err
	}
	return as(strconv.FormatFloat(f+1e-6*max(1, math.Abs(f)), 'g', -1, 64)), nil
}

// swapFirst changes the first letter or digit of s.
func swapFirst(s string) string {
	if s == "" {
		return "x"
	}
	if s[0] == 'A' || s[0] == '1' {
		return "B" + s[1:]
	}
	if s[0] >= '0' && s[0] <= '9' {
		return "1" + s[1:]
	}
	return "A" + s[1:]
}
