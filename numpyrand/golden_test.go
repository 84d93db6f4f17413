package numpyrand

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// goldenRows is the number of entropies in testdata/rng.json.gz.
const goldenRows = 11

func TestGolden(t *testing.T) {
	if err := checkGolden(goldenTable(t)); err != nil {
		t.Error(err)
	}
}

// Every number of the table is changed in turn, and something is left out; the check must notice each time.
func TestGoldenNoticesChanges(t *testing.T) {
	table := goldenTable(t)
	leaves := 0
	for i, row := range table {
		row := row.(map[string]any)
		eachLeaf(row, fmt.Sprintf("row %d", i), func(path string, leaf any, set func(any)) {
			leaves++
			for _, changed := range changes(t, leaf) {
				set(changed)
				if checkGolden(table) == nil {
					t.Errorf("%s changed from %v to %v: got no error, want one", path, leaf, changed)
				}
			}
			set(leaf)
		})
		for _, key := range slices.Collect(maps.Keys(row)) {
			value := row[key]
			delete(row, key)
			if checkGolden(table) == nil {
				t.Errorf("row %d without %q: got no error, want one", i, key)
			}
			if list, ok := value.([]any); ok {
				row[key] = list[:len(list)-1]
				if checkGolden(table) == nil {
					t.Errorf("row %d with a shorter %q: got no error, want one", i, key)
				}
			}
			row[key] = value
		}
	}
	if want := goldenRows * 75; leaves < want {
		t.Errorf("got %d leaves in the table, want at least %d", leaves, want)
	}
	if checkGolden(table[1:]) == nil {
		t.Error("table without its first row: got no error, want one")
	}
	if err := checkGolden(table); err != nil {
		t.Errorf("the table after all changes are undone: got %v, want no error", err)
	}
}

// checkGolden compares a decoded testdata/rng.json.gz with our own draws, the text of each number included.
func checkGolden(table []any) error {
	if len(table) != goldenRows {
		return fmt.Errorf("got %d rows, want %d", len(table), goldenRows)
	}
	for i, row := range table {
		want, ok := row.(map[string]any)
		if !ok {
			return fmt.Errorf("row %d: got %T, want an object", i, row)
		}
		if err := checkGoldenRow(want); err != nil {
			return fmt.Errorf("row %d, entropy %v: %w", i, want["entropy"], err)
		}
	}
	return nil
}

func checkGoldenRow(want map[string]any) error {
	seq, err := goldenSequence(want["entropy"])
	if err != nil {
		return err
	}
	got := goldenDraws(seq)
	for key := range want {
		if _, ok := got[key]; !ok && key != "entropy" {
			return fmt.Errorf("unknown column %q", key)
		}
	}
	for key, got := range got {
		want, _ := want[key].([]any)
		if len(got) != len(want) {
			return fmt.Errorf("%s: got %d values, want %d", key, len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				return fmt.Errorf("%s[%d]: got %v, want %v", key, i, got[i], want[i])
			}
		}
	}
	return nil
}

func goldenSequence(entropy any) (*SeedSequence, error) {
	list, ok := entropy.([]any)
	if !ok {
		list = []any{entropy}
	}
	var integers []*big.Int
	for _, e := range list {
		v, ok := new(big.Int).SetString(fmt.Sprint(e), 10)
		if !ok {
			return nil, fmt.Errorf("entropy %v is no integer", e)
		}
		integers = append(integers, v)
	}
	return NewSeedSequence(integers...)
}

// goldenDraws makes the columns of one row as the JSON has them: whole numbers as numbers, 64-bit outputs and
// floats as strings.
func goldenDraws(seq *SeedSequence) map[string][]any {
	column := func(n int, draw func(g *Generator) any) []any {
		g := New(seq)
		values := make([]any, n)
		for i := range values {
			values[i] = draw(&g)
		}
		return values
	}
	number := func(v int64) any { return json.Number(strconv.FormatInt(v, 10)) }
	items := []int64{3, 5, 8, 13, 21}

	var words [8]uint32
	seq.GenerateState(words[:])
	state := make([]any, len(words))
	for i, w := range words {
		state[i] = number(int64(w))
	}
	g := New(seq)
	return map[string][]any{
		"seed_sequence_state_uint32": state,
		"raw_uint64":                 column(6, func(g *Generator) any { return strconv.FormatUint(g.Uint64(), 10) }),
		"random":                     column(5, func(g *Generator) any { return pythonRepr(g.Random()) }),
		"uniform_-1000_1000":         column(5, func(g *Generator) any { return pythonRepr(g.Uniform(-1000, 1000)) }),
		"integers_2_5":               column(12, func(g *Generator) any { return number(g.Integers(2, 5)) }),
		"integers_0_2147483647":      column(6, func(g *Generator) any { return number(g.Integers(0, 1<<31-1)) }),
		"choice_10":                  column(12, func(g *Generator) any { return number(int64(g.Choice(10))) }),
		"choice_of_3_5_8_13_21":      column(12, func(g *Generator) any { return number(items[g.Choice(len(items))]) }),
		"mixed": {
			number(g.Integers(2, 5)),
			pythonRepr(g.Uniform(0, 360)),
			number(int64(g.Choice(10))),
			pythonRepr(g.Random()),
			number(int64(g.Choice(9))),
			number(g.Integers(0, 1<<31-1)),
			number(int64(g.Choice(10))),
			pythonRepr(g.Uniform(-9000, 9000)),
		},
	}
}

// pythonRepr writes v as Python does, for magnitudes below 10^16.
func pythonRepr(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// changes gives other values for a leaf: a number or an integer string one more, a float string with another last
// digit and the float next to it.
func changes(t *testing.T, leaf any) []any {
	t.Helper()
	switch leaf := leaf.(type) {
	case json.Number:
		return []any{json.Number(onePlus(t, string(leaf)))}
	case string:
		if !strings.ContainsAny(leaf, ".e") {
			return []any{onePlus(t, leaf)}
		}
		last := leaf[len(leaf)-1]
		digit := byte('0' + (last-'0'+1)%10)
		v, err := strconv.ParseFloat(leaf, 64)
		if err != nil {
			t.Fatal(err)
		}
		next := v * (1 + 0x1p-52)
		if next == v {
			t.Fatalf("no float next to %v", v)
		}
		return []any{leaf[:len(leaf)-1] + string(digit), pythonRepr(next)}
	}
	t.Fatalf("leaf %v: got %T, want a number or a string", leaf, leaf)
	return nil
}

func onePlus(t *testing.T, s string) string {
	t.Helper()
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("%q is no integer", s)
	}
	return v.Add(v, big.NewInt(1)).String()
}

// eachLeaf visits what is neither list nor object in a decoded JSON value, with a way to replace it.
func eachLeaf(node any, path string, visit func(path string, leaf any, set func(any))) {
	child := func(path string, v any, set func(any)) {
		switch v.(type) {
		case map[string]any, []any:
			eachLeaf(v, path, visit)
		default:
			visit(path, v, set)
		}
	}
	switch node := node.(type) {
	case map[string]any:
		for key, v := range node {
			child(path+", "+key, v, func(v any) { node[key] = v })
		}
	case []any:
		for i, v := range node {
			child(fmt.Sprintf("%s[%d]", path, i), v, func(v any) { node[i] = v })
		}
	}
}

func goldenTable(t *testing.T) []any {
	t.Helper()
	var table []any
	readGzipJSON(t, "testdata/rng.json.gz", &table)
	return table
}

// readGzipJSON decodes strictly, with numbers as json.Number where the target is open.
func readGzipJSON(t *testing.T, path string, to any) {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatalf("unpack %s: %v", path, err)
	}
	plain, err := io.ReadAll(zr)
	if err != nil {
		t.Fatalf("unpack %s: %v", path, err)
	}
	d := json.NewDecoder(bytes.NewReader(plain))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		t.Fatalf("decode %s: %v", path, err)
	}
}
