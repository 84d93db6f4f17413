package picture

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"

	"skyrail/rail"
)

func TestLinksOfAllKinds(t *testing.T) {
	drawings := map[string]rail.Transitions{}
	for _, kind := range rail.Kinds() {
		var p, buffers vg.Path
		for _, l := range links(kind) {
			p = append(p, l.path(xy{}, 40)...)
			if l.deadEnd() {
				buffers = append(buffers, l.buffer(xy{}, 40)...)
			}
		}
		drawing := pathData(p) + "|" + pathData(buffers)
		name, _ := kind.Kind()
		if other, ok := drawings[drawing]; ok {
			was, _ := other.Kind()
			t.Errorf("%s is drawn as %s, want another drawing", name, was)
		}
		drawings[drawing] = kind
	}
	if got, want := len(drawings), 30; got != want {
		t.Errorf("got %d drawings, want %d", got, want)
	}
	for _, c := range []struct {
		kind rail.Transitions
		want []link
	}{
		{32800, []link{{rail.North, rail.South}}},
		{rail.DiamondCrossing, []link{{rail.North, rail.South}, {rail.East, rail.West}}},
		{8192, []link{{rail.South, rail.South}}},                                                                            // dead end from the south
		{16386, []link{{rail.East, rail.South}}},                                                                            // right turn from the south
		{37408, []link{{rail.North, rail.South}, {rail.South, rail.West}}},                                                  // switch: north, or left
		{20994, []link{{rail.East, rail.South}, {rail.South, rail.West}}},                                                   // symmetric switch from the south
		{52275, []link{{rail.North, rail.South}, {rail.North, rail.West}, {rail.East, rail.South}, {rail.East, rail.West}}}, // double slip
	} {
		got := links(c.kind)
		slices.SortFunc(got, func(a, b link) int { return int(4*a.from+a.to) - int(4*b.from+b.to) })
		if !slices.Equal(got, c.want) {
			name, _ := c.kind.Kind()
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// TestTrainsStayInTheirCell puts a train on every way through a cell.
func TestTrainsStayInTheirCell(t *testing.T) {
	for from := rail.North; from <= rail.West; from++ {
		for to := rail.North; to <= rail.West; to++ {
			l := link{from, to}
			before := -1.0
			for share := 0.0; share <= 1; share += 0.125 {
				at, way := l.inside(share)
				if math.Abs(way.x*way.x+way.y*way.y-1) > 1e-12 {
					t.Fatalf("%v: got the way %v, want one of length 1", l, way)
				}
				for _, along := range []float64{halfLength, -halfLength} {
					if tip := at.plus(way.times(along)); max(math.Abs(tip.x), math.Abs(tip.y)) > 0.51 {
						t.Errorf("%v at %v: got an end at %v, want it in the cell", l, share, tip)
					}
				}
				side := sides[from]
				if d := math.Hypot(at.x-side.x, at.y-side.y); d <= before {
					t.Errorf("%v at %v: got %v from where it came in, before %v, want it to go on", l, share, d, before)
				} else {
					before = d
				}
			}
		}
	}
	// It comes in as it is headed, and goes out where it will be headed.
	l := link{rail.South, rail.East}
	if at, way := l.at(0); at != sides[rail.South] || way != (xy{0, -1}) {
		t.Errorf("got the start %v, %v, want the south side and north", at, way)
	}
	if at, way := l.at(1); at != sides[rail.East] || way != (xy{1, 0}) {
		t.Errorf("got the end %v, %v, want the east side and east", at, way)
	}
}

// pictured is a step whose trains may be changed before it is drawn.
func pictured(t *testing.T, name string, step int, change func(*Recording, []moment)) []byte {
	t.Helper()
	_, r := record(t, name)
	if change != nil {
		change(r, r.at(step))
	}
	return draw(t, SVG, r, Options{To: rail.At(step)})
}

func TestPictureChangesWithTheTrains(t *testing.T) {
	const name, step = "t13_tiles_malf_random", 40
	plain := pictured(t, name, step, nil)
	if !bytes.Equal(plain, pictured(t, name, step, func(*Recording, []moment) {})) {
		t.Fatal("got two pictures of one step, want the same")
	}
	first := func(trains []moment, ok func(moment) bool) *moment {
		k := slices.IndexFunc(trains, ok)
		if k < 0 {
			t.Fatalf("step %d has no such train", step)
		}
		return &trains[k]
	}
	moving := func(m moment) bool { return m.state == rail.Moving }
	for what, change := range map[string]func(*Recording, []moment){
		"moves in its cell": func(r *Recording, trains []moment) {
			m := first(trains, moving)
			m.travelled = r.fraction(r.fractions[m.travelled].Add(rail.Frac(1, 7)))
		},
		"is in another cell": func(r *Recording, trains []moment) {
			m := first(trains, moving)
			m.node = r.net.Successors(nil, m.node)[0]
		},
		"stops":  func(_ *Recording, trains []moment) { first(trains, moving).state = rail.Stopped },
		"breaks": func(_ *Recording, trains []moment) { first(trains, moving).malfunction = 5 },
		"is mended": func(_ *Recording, trains []moment) {
			first(trains, func(m moment) bool { return m.malfunction > 1 && m.node != rail.NoNode }).malfunction--
		},
		"is stuck": func(_ *Recording, trains []moment) { first(trains, moving).deadlocked = true },
		"has arrived": func(_ *Recording, trains []moment) {
			m := first(trains, moving)
			m.node, m.state = rail.NoNode, rail.Done
		},
	} {
		if bytes.Equal(pictured(t, name, step, change), plain) {
			t.Errorf("a train %s: got the same picture, want another", what)
		}
	}
}

// TestPictureTellsWhatIsOnIt counts signs of a step of a recorded episode.
func TestPictureTellsWhatIsOnIt(t *testing.T) {
	g, r := record(t, "t13_tiles_malf_random")
	const step = 40
	out := string(draw(t, SVG, r, Options{To: rail.At(step), Selected: []int{3}}))
	broken := 0
	for i, m := range g.Steps[step-1].Malf {
		if g.Steps[step-1].Pos[i] != nil && m > 0 {
			broken++
		}
	}
	plain := string(draw(t, SVG, r, Options{To: rail.At(step)}))
	n := r.count(step)
	for _, c := range []struct {
		what, svg, mark string
		want            int
	}{
		{"frames of deadlocked trains, with the one of the tallies", out, `stroke="` + hex(stuck), n.deadlocked + 1},
		{"signs of malfunctions, trains and tally and legend", out, `fill="` + hex(stateColors[rail.Malfunction]), n.states[rail.Malfunction] + broken + 2},
		{"the step", out, ">step 40 / 150<", 1},
		{"arrivals", out, ">2 of 15 arrived<", 1},
		{"the target of the selected train", out, ">T<", 1},
		{"the target of nobody", plain, ">T<", 0},
		{"the number of train 12", out, ">12<", 1},
	} {
		if got := bytes.Count([]byte(c.svg), []byte(c.mark)); got != c.want {
			t.Errorf("%s: got %d, want %d", c.what, got, c.want)
		}
	}
}
