package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"skyrail/internal/golden"
	"skyrail/rail"
)

// embedded returns the data of a page. It also sees to it that the page has two scripts, its data and its own, and
// takes nothing from outside.
func embedded(t *testing.T, page []byte) (d pageData, title string) {
	t.Helper()
	scripts := 0
	z := html.NewTokenizer(bytes.NewReader(page))
	within, kind := "", ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			if scripts != 2 {
				t.Fatalf("got %d scripts, want 2", scripts)
			}
			return d, title
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			within, kind = token.Data, ""
			for _, a := range token.Attr {
				if a.Key == "src" || a.Key == "href" || strings.HasPrefix(a.Key, "on") {
					t.Errorf("got <%s %s=%q>, want nothing from outside and no script in attributes", token.Data, a.Key, a.Val)
				}
				if a.Key == "type" {
					kind = a.Val
				}
			}
			if within == "script" {
				scripts++
			}
		case html.TextToken:
			switch {
			case within == "title":
				title = z.Token().Data
			case within == "script" && kind == "application/json":
				if err := golden.Decode(z.Raw(), &d); err != nil {
					t.Fatal(err)
				}
			}
		case html.EndTagToken:
			within = ""
		}
	}
}

// checkPage reads the data of a page and compares it with what was recorded.
func checkPage(t *testing.T, r *Recording, page []byte, from, to int) {
	t.Helper()
	d, _ := embedded(t, page)
	if d.First != from || d.Steps != to-from+1 || len(d.Trains) != r.Trains() || d.Width != r.net.Width() || d.Height != r.net.Height() {
		t.Fatalf("got steps from %d on, %d of them, %d trains, want %d, %d, %d", d.First, d.Steps, len(d.Trains), from, to-from+1, r.Trains())
	}
	grid, err := base64.StdEncoding.DecodeString(d.Grid)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range r.scenario.Grid {
		if got := binary.LittleEndian.Uint16(grid[2*k:]); got != uint16(want) {
			t.Fatalf("cell %d: got %d, want %d", k, got, want)
		}
	}
	if err := checkRuns(r, d, from, to); err != nil {
		t.Error(err)
	}
}

// checkRuns follows the description of the runs.
func checkRuns(r *Recording, d pageData, from, to int) error {
	data, err := base64.StdEncoding.DecodeString(d.Runs)
	if err != nil {
		return err
	}
	in := bytes.NewReader(data)
	next := func() uint64 {
		v, e := binary.ReadUvarint(in)
		if e != nil {
			err = e
		}
		return v
	}
	for i := range r.Trains() {
		m := moment{node: rail.NoNode}
		for step := from; step <= to; {
			head := next()
			m.malfunction = max(m.malfunction-1, 0)
			if head&1 != 0 {
				v, e := binary.ReadVarint(in)
				if e != nil {
					err = e
				}
				m.node += rail.Node(v)
			}
			if head&2 != 0 {
				m.state = rail.State(next())
			}
			if head&4 != 0 {
				m.malfunction = int32(next())
			}
			if head&8 != 0 {
				m.speed = uint32(next())
			}
			if head&16 != 0 {
				m.travelled = uint32(next())
			}
			if head&32 != 0 {
				m.deadlocked = !m.deadlocked
			}
			if err != nil {
				return fmt.Errorf("train %d, step %d: %w", i, step, err)
			}
			for k := range head>>6 + 1 {
				if k > 0 {
					m.malfunction = max(m.malfunction-1, 0)
				}
				if step > to {
					return fmt.Errorf("train %d: a run goes on after step %d", i, to)
				}
				if want := r.at(step)[i]; m != want {
					return fmt.Errorf("train %d, step %d: got %+v, want %+v", i, step, m, want)
				}
				if d.Fractions[m.travelled] != r.fractions[m.travelled].String() {
					return fmt.Errorf("fraction %d: got %s", m.travelled, d.Fractions[m.travelled])
				}
				step++
			}
		}
	}
	if in.Len() > 0 {
		return fmt.Errorf("%d bytes after the last run", in.Len())
	}
	return nil
}

func TestPageHoldsTheEpisode(t *testing.T) {
	for _, name := range []string{"s07_cross_level_free", "t13_tiles_malf_random", "t50_tiles_200ag", "t45_keep_at_target", "g04_sparse_levelfree"} {
		_, r := record(t, name)
		checkPage(t, r, draw(t, HTML, r, Options{}), 0, r.Last())
		checkPage(t, r, draw(t, HTML, r, Options{From: rail.At(3), To: rail.At(9)}), 3, 9)
	}
	empty, err := rail.New(&rail.Scenario{Width: 1, Height: 1, Grid: make([]rail.Transitions, 1)}, rail.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if page := draw(t, HTML, New(empty), Options{}); bytes.Contains(page, []byte(":null")) {
		t.Error("a railway without trains: got a null in the page, want empty lists")
	}
	_, r := record(t, "g04_sparse_levelfree")
	d, _ := embedded(t, draw(t, HTML, r, Options{Selected: []int{2, 0}}))
	if got, want := len(d.Bridges), len(r.scenario.LevelFree); got != want || want == 0 {
		t.Errorf("got %d bridges, want %d", got, want)
	}
	if fmt.Sprint(d.Selected) != "[2 0]" {
		t.Errorf("got the selected trains %v, want [2 0]", d.Selected)
	}
	train := &r.scenario.Trains[2]
	if got := d.Trains[2]; got.Latest != train.LatestArrival || got.Target != [2]int{train.Target.Row, train.Target.Col} ||
		len(got.Stops) != len(train.Intermediate()) || got.MaxSpeed != train.MaxSpeed.String() {
		t.Errorf("got the timetable %+v, want that of %+v", got, train)
	}
}

func TestPageTakesNoCodeFromNames(t *testing.T) {
	_, r := record(t, "s04_oval")
	for _, title := range []string{`</script><script>alert(1)</script>`, `</title><img src=x onerror=alert(1)>`, `{{data}}{{script}}`, `<!--<script>`, `"&'\u2028`} {
		d, head := embedded(t, draw(t, HTML, r, Options{Title: title}))
		if d.Title != title || head != title {
			t.Errorf("got the titles %q and %q, want %q", d.Title, head, title)
		}
	}
}

// TestPageHasTheColours holds the page to the palette of the other formats.
func TestPageHasTheColours(t *testing.T) {
	for name, c := range map[string]string{
		"INK": hex(ink), "LAND": hex(land), "RASTER": hex(raster), "RAILS": hex(rails), "BETWEEN": hex(between), "SLEEPERS": hex(sleepers),
		"PARAPET": hex(parapet), "PLACE": hex(place), "CHOSEN": hex(chosen), "STUCK": hex(stuck), "SOFT": hex(soft),
	} {
		if want := fmt.Sprintf("%s = %q", name, c); !strings.Contains(pageJS, want) {
			t.Errorf("page.js: want %s, as in the palette", want)
		}
	}
}

func TestPageTellsTheWindowOfAStop(t *testing.T) {
	for want, w := range map[string][2]rail.Time{
		"by step 49, not before step 51": {rail.At(49), rail.At(51)},
		"by step 49":                     {rail.At(49)},
		"not before step 0":              {{}, rail.At(0)},
		"at any time":                    {},
	} {
		train := &rail.Train{Stops: []rail.Stop{{}, {LatestArrival: w[0], EarliestDeparture: w[1]}, {}}}
		if got := newPageTrain(train).Stops[0].Window; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if want := `join(" or ")}, ${s.window}`; !strings.Contains(pageJS, want) {
		t.Errorf("page.js: want %s", want)
	}
}
