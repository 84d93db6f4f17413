package contest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skyrail/flight"
)

func TestSeedFileFaults(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		line int // 0: no line
		want string
	}{
		"a word":          {"1\nseven\n", 2, `"seven" is not a whole number`},
		"a fraction":      {"1.0", 1, `"1.0" is not a whole number`},
		"negative":        {"\n\n-3", 3, `seed "-3" is negative`},
		"too large":       {"9223372036854775808", 1, "is too large, the largest is 9223372036854775807"},
		"two a line":      {"1 2", 1, `"1 2" is not a whole number`},
		"a repeat":        {"5\n6\n5", 3, "seed 5 is already on line 1"},
		"nothing":         {"# only a comment\n", 0, "no seed in it"},
		"byte order mark": {"\ufeff1\n", 1, "byte order mark"},
		"an endless line": {"1\n" + strings.Repeat("7", 70_000), 2, "longer than"},
		"binary":          {"\x00\x01\xff", 1, "is not a whole number"},
		"plus":            {"+5", 1, `"+5" is not a whole number`},
	} {
		_, err := ReadSeeds(strings.NewReader(c.text))
		checkFault(t, name, err, c.line, c.want)
	}
}

func checkFault(t *testing.T, name string, err error, line int, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got error %v, want %q", name, err, want)
		return
	}
	var at *LineError
	if ok := errors.As(err, &at); ok != (line > 0) || ok && at.Line != line {
		t.Errorf("%s: got %v, want line %d", name, err, line)
	}
}

func TestSeedFileRoundTrip(t *testing.T) {
	seeds := DeriveSeeds("round", 50)
	var b bytes.Buffer
	if err := WriteSeeds(&b, seeds, "a comment"); err != nil {
		t.Fatal(err)
	}
	crlf := strings.ReplaceAll(b.String(), "\n", "\r\n")
	for _, text := range []string{b.String(), crlf, "  # x\n\n" + b.String() + "#"} {
		got, err := ReadSeeds(strings.NewReader(text))
		if err != nil || !slices.Equal(got, seeds) {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestTraceFaults(t *testing.T) {
	cfg := flight.DefaultConfig()
	for name, c := range map[string]struct {
		text string
		line int
		want string
	}{
		"empty":               {"", 0, "the file is empty"},
		"header only":         {"id,action\n", 0, "no action in it"},
		"other header":        {"id,act\n", 1, `the header is "id,act", it must be exactly "id,action"`},
		"header with space":   {"id, action\n", 1, "it must be exactly"},
		"byte order mark":     {"\ufeffid,action\n", 1, "byte order mark"},
		"one column":          {"id,action\ns0000001_t00\n", 2, "1 columns, there must be 2"},
		"three columns":       {"id,action\ns0000001_t00,1,2\n", 2, "3 columns, there must be 2"},
		"no seed":             {"id,action\ns_t00,1\n", 2, `id "s_t00" is malformed`},
		"seed not padded":     {"id,action\ns1_t00,1\n", 2, `id "s1_t00" is malformed`},
		"seed padded more":    {"id,action\ns00000001_t00,1\n", 2, "is malformed"},
		"step not padded":     {"id,action\ns0000001_t0,1\n", 2, "is malformed"},
		"negative step":       {"id,action\ns0000001_t-1,1\n", 2, "is malformed"},
		"seed too large":      {"id,action\ns9223372036854775808_t00,1\n", 2, "is malformed"},
		"step past the end":   {"id,action\ns0000001_t49,1\ns0000001_t50,1\n", 3, "step 50 is outside the horizon, the last is 49"},
		"action a word":       {"id,action\ns0000001_t00,x\n", 2, `action "x" is not an integer`},
		"action empty":        {"id,action\ns0000001_t00,\n", 2, `action "" is not an integer`},
		"action a fraction":   {"id,action\ns0000001_t00,1.5\n", 2, `action "1.5" is not an integer`},
		"action spaced":       {"id,action\ns0000001_t00, 1\n", 2, `action " 1" is not an integer`},
		"action negative":     {"id,action\ns0000001_t00,-1\n", 2, `action "-1" is outside 0..35`},
		"action too large":    {"id,action\ns0000001_t00,36\n", 2, `action "36" is outside 0..35`},
		"action enormous":     {"id,action\ns0000001_t00,99999999999999999999\n", 2, "is outside 0..35"},
		"a cell twice":        {"id,action\ns0000001_t00,1\n\ns0000001_t00,1\n", 4, "id s0000001_t00 is already on line 2"},
		"a quote left open":   {"id,action\n\"s0000001_t00,1\ns0000001_t01,1\n", 2, "a quote is not closed"},
		"an endless line":     {"id,action\n" + strings.Repeat("7", 1<<20), 2, "longer than 65536 bytes"},
		"an endless header":   {strings.Repeat("\x00", 1<<20), 1, "longer than 65536 bytes"},
		"a bare quote":        {"id,action\ns000\"0001_t00,1\n", 2, "bare \" in non-quoted-field"},
		"a long text":         {"id,action\n" + strings.Repeat("é", 100) + ",1\n", 2, "…"},
		"carriage returns":    {"id,action\rs0000001_t00,1\r", 1, "it must be exactly"},
		"something in binary": {"\x00\x01\x02\xff", 1, "it must be exactly"},
	} {
		_, err := ReadTrace(strings.NewReader(c.text), cfg)
		checkFault(t, name, err, c.line, c.want)
	}
}

func TestTraceRoundTrip(t *testing.T) {
	cfg := flight.DefaultConfig()
	rapid.Check(t, func(t *rapid.T) {
		var episodes []Episode
		for _, seed := range rapid.SliceOfNDistinct(rapid.Uint64Range(0, 1<<63-1), 1, 5, rapid.ID).Draw(t, "seeds") {
			actions := rapid.SliceOfN(rapid.IntRange(0, cfg.Actions()-1), 0, cfg.MaxSteps).Draw(t, "actions")
			episodes = append(episodes, Episode{Seed: seed, Actions: actions})
		}
		trace := NewTrace(episodes)
		var b bytes.Buffer
		if err := WriteTrace(&b, trace, cfg.MaxSteps); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(strings.TrimSuffix(b.String(), "\r\n"), "\r\n")
		if got, want := len(lines), 1+len(episodes)*cfg.MaxSteps; got != want {
			t.Fatalf("got %d lines, want %d", got, want)
		}
		// Row order does not matter, nor do LF line ends.
		rows := rapid.Permutation(lines[1:]).Draw(t, "rows")
		shuffled := lines[0] + strings.Join(rows, "\n")
		for _, text := range []string{b.String(), strings.ReplaceAll(b.String(), "\r\n", "\n"), shuffled} {
			back, err := ReadTrace(strings.NewReader(text), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(back.Seeds(), trace.Seeds()) || !slices.IsSorted(back.Seeds()) {
				t.Fatalf("got seeds %v, want %v", back.Seeds(), trace.Seeds())
			}
			for _, e := range episodes {
				padded := append(slices.Clone(e.Actions), make([]int, cfg.MaxSteps-len(e.Actions))...)
				if got := back.Actions(e.Seed); !slices.Equal(got, padded) {
					t.Fatalf("seed %d: got %v, want %v", e.Seed, got, padded)
				}
			}
		}
	})
}

func TestMissingAndExtraSeeds(t *testing.T) {
	trace := NewTrace([]Episode{{Seed: 1}, {Seed: 2}, {Seed: 3}})
	if err := trace.Check([]uint64{1, 2}, false); err != nil {
		t.Errorf("an extra seed: %v", err)
	}
	err := trace.Check([]uint64{1, 2}, true)
	var e *SeedsError
	if !errors.As(err, &e) || !slices.Equal(e.Extra, []uint64{3}) || len(e.Missing) != 0 {
		t.Errorf("an extra seed, strictly: %v", err)
	}
	err = trace.Check([]uint64{9, 8, 7, 6, 5, 4, 3}, false)
	if !errors.As(err, &e) || len(e.Missing) != 6 || !strings.Contains(err.Error(), "6 of the required seeds have no row: 9, 8, 7, 6, 5, …") {
		t.Errorf("missing seeds: %v", err)
	}
}

// smallSolution is the file of two seeds of a short horizon.
func smallSolution(t testing.TB) (flight.Config, string) {
	cfg := flight.DefaultConfig()
	cfg.Flights, cfg.NLo, cfg.NHi, cfg.MaxSteps = 2, 1, 2, 2
	s, err := NewSolution(cfg, []uint64{8}, []uint64{7})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteSolution(&b, s); err != nil {
		t.Fatal(err)
	}
	return cfg, b.String()
}

func TestSolutionRoundTrip(t *testing.T) {
	cfg, text := smallSolution(t)
	for _, in := range []string{text, strings.ReplaceAll(text, "\r\n", "\n")} {
		s, err := ReadSolution(strings.NewReader(in), cfg)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteSolution(&b, s); err != nil {
			t.Fatal(err)
		}
		if b.String() != text {
			t.Errorf("got\n%swant\n%s", b.String(), text)
		}
		if got := s.Seeds(Private); !slices.Equal(got, []uint64{7}) {
			t.Errorf("private: got %v", got)
		}
	}
}

func TestSolutionFaults(t *testing.T) {
	cfg, text := smallSolution(t)
	lines := strings.Split(strings.TrimSuffix(text, "\r\n"), "\r\n")
	// with returns the file with a column of a line (from 1) changed.
	with := func(line, column int, value string) string {
		changed := slices.Clone(lines)
		cells := strings.Split(changed[line-1], ",")
		cells[column] = value
		changed[line-1] = strings.Join(cells, ",")
		return strings.Join(changed, "\n")
	}
	usage := len(strings.Split(lines[0], ",")) - 1
	for name, c := range map[string]struct {
		text string
		line int
		want string
	}{
		"empty":            {"", 0, "the file is empty"},
		"header only":      {lines[0] + "\n", 0, "no episode in it"},
		"other header":     {with(1, 3, "f0_level"), 1, "the header is"},
		"malformed id":     {with(2, 0, "x"), 2, `id "x" is malformed`},
		"a late step":      {with(2, 0, "s0000007_t02"), 2, "step 2 is outside the horizon"},
		"not a number":     {with(2, 1, "abc"), 2, `f0_x is "abc", not a number`},
		"infinite":         {with(2, 1, "inf"), 2, "aircraft 0: x is +Inf"},
		"no speed":         {with(2, 9, "0.0"), 2, "aircraft 1: speed is 0"},
		"overflow":         {with(2, 1, "1e999"), 2, `f0_x is "1e999", not a number`},
		"unknown usage":    {with(2, usage, "Secret"), 2, `usage "Secret" is none of Public, Private, Ignored`},
		"state changes":    {with(3, 2, "1.0"), 3, "state or usage differs from the other rows of seed 7"},
		"usage changes":    {with(3, usage, "Public"), 3, "state or usage differs"},
		"a row twice":      {strings.Join(append(slices.Clone(lines), lines[2]), "\n"), 6, "id s0000007_t01 is already on line 3"},
		"a row missing":    {strings.Join(lines[:4], "\n"), 0, "seed 8 lacks 1 of its 2 rows, the first is s0000008_t01"},
		"a column missing": {lines[0] + "\n" + strings.TrimSuffix(lines[1], ",Private"), 2, "11 columns, there must be 12"},
	} {
		_, err := ReadSolution(strings.NewReader(c.text), cfg)
		checkFault(t, name, err, c.line, c.want)
	}
}

func TestPythonRepr(t *testing.T) {
	for v, want := range map[float64]string{
		350: "350.0", 0: "0.0", 0.1: "0.1", -2.5: "-2.5", 1e15: "1000000000000000.0", 1e16: "1e+16", 1.5e300: "1.5e+300",
		1e-4: "0.0001", 1e-5: "1e-05", 1.25e-7: "1.25e-07", 123456789.123: "123456789.123",
	} {
		if got := pythonRepr(v); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func FuzzReadSeeds(f *testing.F) {
	for _, s := range []string{"1\n2\n", "# c\n\n7 # x\r\n", "-1", "\ufeff1", "18446744073709551615"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		seeds, err := ReadSeeds(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteSeeds(&b, seeds); err != nil {
			t.Fatal(err)
		}
		if again, err := ReadSeeds(&b); err != nil || !slices.Equal(again, seeds) {
			t.Fatalf("got %v, %v; want %v", again, err, seeds)
		}
	})
}

func FuzzReadTrace(f *testing.F) {
	for _, s := range []string{"id,action\r\ns0000001_t00,3\r\n", "id,action\ns1829385696_t49,35\n\"s0000001_t00\",\"0\"\n", "id,action\n", "id,action\ns0000001_t50,1"} {
		f.Add([]byte(s))
	}
	cfg := flight.DefaultConfig()
	env, err := flight.New(cfg)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		trace, err := ReadTrace(bytes.NewReader(data), cfg)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") && !strings.Contains(err.Error(), "the file is empty") && !strings.Contains(err.Error(), "only the header") {
				t.Fatalf("an error without a line: %v", err)
			}
			return
		}
		var b bytes.Buffer
		if err := WriteTrace(&b, trace, cfg.MaxSteps); err != nil {
			t.Fatal(err)
		}
		again, err := ReadTrace(&b, cfg)
		if err != nil || !slices.Equal(again.Seeds(), trace.Seeds()) {
			t.Fatalf("written and read again: %v", err)
		}
		for _, seed := range trace.Seeds() {
			if !slices.Equal(again.Actions(seed), trace.Actions(seed)) {
				t.Fatalf("seed %d: got %v, want %v", seed, again.Actions(seed), trace.Actions(seed))
			}
			if _, err := Replay(env, trace.Actions(seed), seed); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzReadSolution(f *testing.F) {
	cfg, text := smallSolution(f)
	f.Add([]byte(text))
	f.Add([]byte(strings.ReplaceAll(text, "Public", "Ignored")))
	f.Add([]byte(strings.ReplaceAll(text, "398.0", "1e5")))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadSolution(bytes.NewReader(data), cfg)
		if err != nil {
			return
		}
		if _, _, err := s.Score(context.Background(), Trace{}, ""); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteSolution(&b, s); err != nil {
			t.Fatal(err)
		}
		again, err := ReadSolution(&b, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(again.episodes), fmt.Sprint(s.episodes); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}
