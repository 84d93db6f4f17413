package generate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

func closureSpecs(interval railfile.Number, low, high, length int) railfile.InfrastructureSpecs {
	return railfile.InfrastructureSpecs{Interval: &interval, DurationMin: &low, DurationMax: &high, Length: &length}
}

// drawnNetwork makes tracks of box drawings: ─ │ ┌ ┐ └ ┘, a switch ┬ with its point at the west, ┼, and dead ends ╶ ╴.
func drawnNetwork(t testing.TB, rows ...string) *rail.Network {
	t.Helper()
	values := map[rune]rail.Transitions{
		' ': 0, '─': 1025, '│': 32800, '┌': 16386, '┐': 4608, '┘': 2064, '└': 72, '┬': 5633, '┼': 33825, '╶': 4, '╴': 256,
	}
	var grid []rail.Transitions
	for _, row := range rows {
		for _, r := range row {
			v, ok := values[r]
			if !ok {
				t.Fatalf("%c is no track", r)
			}
			grid = append(grid, v)
		}
	}
	net, err := rail.NewNetwork(len([]rune(rows[0])), len(rows), grid)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

func TestClosedStretch(t *testing.T) {
	net := drawnNetwork(t,
		"╶─────┐   ┌──┐",
		"      │   │  │",
		"──┬───┼───┘  │",
		"  │   │      ─",
		"  └─┐ └──╴ ┌─┐",
		"    │      │ │",
		"    │      └─┘",
	)
	for name, c := range map[string]struct {
		row, col, most int
		want           string
	}{
		"one cell":              {0, 3, 1, "(0, 3)"},
		"an end first":          {0, 3, 2, "(0, 4) (0, 3)"},
		"both ends in turn":     {0, 3, 4, "(0, 5) (0, 4) (0, 3) (0, 2)"},
		"up to what is no such": {0, 2, 99, "(1, 6) (0, 6) (0, 5) (0, 4) (0, 3) (0, 2) (0, 1)"},
		"one end blocked":       {2, 7, 3, "(2, 9) (2, 8) (2, 7)"},
		"out of the grid":       {6, 4, 99, "(3, 2) (4, 2) (4, 3) (4, 4) (5, 4) (6, 4)"},
		"a side that is shut":   {2, 13, 99, "(2, 7) (2, 8) (2, 9) (2, 10) (1, 10) (0, 10) (0, 11) (0, 12) (0, 13) (1, 13) (2, 13)"},
		"a part of a ring":      {4, 12, 4, "(5, 13) (4, 13) (4, 12) (4, 11)"},
		"a whole ring":          {4, 12, 99, "(6, 12) (6, 13) (5, 13) (4, 13) (4, 12) (4, 11) (5, 11) (6, 11)"},
		"a whole ring, exactly": {4, 12, 8, "(6, 12) (6, 13) (5, 13) (4, 13) (4, 12) (4, 11) (5, 11) (6, 11)"},
	} {
		var got []string
		for _, cell := range closedStretch(net, rail.Cell{Row: c.row, Col: c.col}, c.most) {
			got = append(got, cell.String())
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %s, want %s", name, text, c.want)
		}
	}
}

// TestClosuresDraw makes the same draws beside: how many, in which order, and what they mean.
func TestClosuresDraw(t *testing.T) {
	seed := golden.Seed(t)
	net := drawnNetwork(t, "╶──┬───┐", "   └─╴ ╴")
	plain := []rail.Cell{{Row: 0, Col: 1}, {Row: 0, Col: 2}, {Row: 0, Col: 4}, {Row: 0, Col: 5}, {Row: 0, Col: 6}, {Row: 0, Col: 7}, {Row: 1, Col: 3}, {Row: 1, Col: 4}}
	rng, beside := numpyrand.NewHashedRandomState(seed), numpyrand.NewHashedRandomState(seed)
	got, err := Closures(net, closureSpecs(railfile.Decimal(2.5), 3, 9, 1), 400, &rng)
	if err != nil {
		t.Fatal(err)
	}
	var want []rail.Closure
	for step := 1; step <= 400; step++ {
		if beside.Random() < 0.4 {
			cell := plain[beside.Randint(0, 8)]
			want = append(want, rail.Closure{From: step, Until: step + int(beside.Randint(3, 10)), Cells: []rail.Cell{cell}})
		}
	}
	if !reflect.DeepEqual(got.Closures, want) {
		t.Errorf("got %v, want %v", got.Closures, want)
	}
	if !rng.Equal(&beside) {
		t.Error("it took another number of draws")
	}
	if n := len(want); n < 100 || n > 220 {
		t.Errorf("%d closures in 400 steps, one in 2.5", n)
	}
}

// TestClosuresOnARailway draws them in a recorded railway: what they close is one piece of plain track that could not be
// longer, and the engine takes them.
func TestClosuresOnARailway(t *testing.T) {
	seed := golden.Seed(t)
	f, err := railfile.ReadEnvironment(golden.Read(t, "../railfile/testdata/files/generated/byvalue_initial.pkl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := f.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	net := e.Network()
	rng := numpyrand.NewHashedRandomState(seed)
	const most, low, high, steps = 6, 5, 40, 600
	got, err := Closures(net, closureSpecs(railfile.WholeNumber(4), low, high, most), steps, &rng)
	if err != nil {
		t.Fatal(err)
	}
	again := numpyrand.NewHashedRandomState(seed)
	if twice, err := Closures(net, closureSpecs(railfile.WholeNumber(4), low, high, most), steps, &again); err != nil || !reflect.DeepEqual(got, twice) {
		t.Errorf("the same seed gave others, error %v", err)
	}
	if err := e.SetEffects([]rail.Effect{got}); err != nil {
		t.Fatal(err)
	}
	var sizes [most + 1]int
	before := 0
	for i, c := range got.Closures {
		if c.From <= before || c.From > steps || c.Until-c.From < low || c.Until-c.From > high {
			t.Errorf("closure %d: from %d until %d after one from %d", i, c.From, c.Until, before)
		}
		before = c.From
		if err := isOnePiece(net, c.Cells, most); err != nil {
			t.Errorf("closure %d: %v: %v", i, c.Cells, err)
			continue
		}
		sizes[len(c.Cells)]++
	}
	if sizes[most] == 0 || len(got.Closures) == sizes[most] {
		t.Errorf("%d closures, by cells %v: want some that are cut and some that are not", len(got.Closures), sizes)
	}
}

// isOnePiece says what is wrong with the cells of a closure.
func isOnePiece(net *rail.Network, cells []rail.Cell, most int) error {
	if len(cells) == 0 || len(cells) > most {
		return fmt.Errorf("%d cells, want 1 to %d", len(cells), most)
	}
	for k, c := range cells {
		kind, _ := net.At(c).Kind()
		if !strings.HasSuffix(kind, "_straight") && !strings.HasPrefix(kind, "right_turn_") {
			return fmt.Errorf("%s is a %s", c, kind)
		}
		near := besideOnTrack(net, c)
		if k > 0 && !slices.Contains(near, cells[k-1]) {
			return fmt.Errorf("no track leads from %s to %s", c, cells[k-1])
		}
		if slices.Contains(cells[:k], c) {
			return fmt.Errorf("%s comes twice", c)
		}
		if len(cells) == most || k > 0 && k < len(cells)-1 {
			continue
		}
		for _, n := range near {
			kind, _ := net.At(n).Kind()
			if !slices.Contains(cells, n) && (strings.HasSuffix(kind, "_straight") || strings.HasPrefix(kind, "right_turn_")) {
				return fmt.Errorf("it could go on to %s", n)
			}
		}
	}
	return nil
}

// besideOnTrack are the cells that a train in a cell can go to.
func besideOnTrack(net *rail.Network, c rail.Cell) []rail.Cell {
	var cells []rail.Cell
	for h := rail.North; h <= rail.West; h++ {
		for _, n := range net.Successors(nil, net.Node(rail.Configuration{Cell: c, Heading: h})) {
			cells = append(cells, net.Cell(n))
		}
	}
	return cells
}

func TestClosuresRefuse(t *testing.T) {
	net := drawnNetwork(t, "╶──╴")
	five := railfile.WholeNumber(5)
	missing := func(change func(*railfile.InfrastructureSpecs)) railfile.InfrastructureSpecs {
		s := closureSpecs(five, 1, 2, 3)
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		net   *rail.Network
		specs railfile.InfrastructureSpecs
		steps int
		want  string
	}{
		"no specs":        {net, railfile.InfrastructureSpecs{}, 10, "want closure_interval, closure_duration_min, closure_duration_max and closure_length"},
		"no interval":     {net, missing(func(s *railfile.InfrastructureSpecs) { s.Interval = nil }), 10, "want closure_interval"},
		"no minimum":      {net, missing(func(s *railfile.InfrastructureSpecs) { s.DurationMin = nil }), 10, "want closure_interval"},
		"no maximum":      {net, missing(func(s *railfile.InfrastructureSpecs) { s.DurationMax = nil }), 10, "want closure_interval"},
		"no length":       {net, missing(func(s *railfile.InfrastructureSpecs) { s.Length = nil }), 10, "want closure_interval"},
		"too often":       {net, closureSpecs(railfile.Decimal(0.5), 1, 2, 3), 10, "closure_interval is 0.5, want 1 or more"},
		"never":           {net, closureSpecs(railfile.WholeNumber(0), 1, 2, 3), 10, "closure_interval is 0, "},
		"no time":         {net, closureSpecs(five, 0, 2, 3), 10, "closures last 0 to 2 steps"},
		"upside down":     {net, closureSpecs(five, 3, 2, 3), 10, "closures last 3 to 2 steps"},
		"no cells":        {net, closureSpecs(five, 1, 2, 0), 10, "closure_length is 0"},
		"steps below 0":   {net, closureSpecs(five, 1, 2, 3), -1, "in an episode of -1"},
		"too long":        {net, closureSpecs(five, 1, 1<<20-9, 3), 10, "closures of up to 1048567 steps in an episode of 10"},
		"no plain tracks": {drawnNetwork(t, "╶┼╴"), closureSpecs(five, 1, 2, 3), 10, "there is no straight and no turn"},
	} {
		rng := numpyrand.NewHashedRandomState(1)
		got, err := Closures(c.net, c.specs, c.steps, &rng)
		if err == nil || !strings.Contains(err.Error(), c.want) || got != nil {
			t.Errorf("%s: got %v, error %v, want %q", name, got, err, c.want)
		}
	}
	rng := numpyrand.NewHashedRandomState(1)
	if got, err := Closures(net, closureSpecs(five, 1, 1<<20-10, 3), 10, &rng); err != nil || len(got.Closures) > 10 {
		t.Errorf("the longest: got %v, error %v", got, err)
	}
	if got, err := Closures(net, closureSpecs(five, 1, 2, 3), 0, &rng); err != nil || len(got.Closures) != 0 {
		t.Errorf("no steps: got %v, error %v", got, err)
	}
}
