package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"skyrail/rail"
)

func TestParseRegion(t *testing.T) {
	_, r := record(t, "t50_tiles_200ag") // 40 x 40
	for text, want := range map[string]Region{
		"0,0,40,40":   {0, 0, 40, 40},
		"3, 5, 10, 7": {3, 5, 10, 7},
		"39,39,1,1":   {39, 39, 1, 1},
	} {
		if got, err := ParseRegion(text, r.net); got != want || err != nil {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "1,2,3", "1,2,3,4,5", "a,2,3,4", "1,2,3,4.5", "0,0,0,0", "0,0,0,5", "0,0,5,0", "-1,0,5,5", "0,-1,5,5", "35,0,6,5", "0,35,5,6",
		"40,0,1,1", "1,1,9223372036854775807,1", "9223372036854775807,0,1,1", "0,0,99999999999999999999,1",
	} {
		if _, err := ParseRegion(text, r.net); err == nil || !strings.Contains(err.Error(), "the map of 40 rows and 40 columns") {
			t.Errorf("%q: got the error %v, want one that names the map's size", text, err)
		}
	}
}

// TestRegionIsCutOutOfTheMap compares every pixel of the inner cells.
func TestRegionIsCutOutOfTheMap(t *testing.T) {
	_, r := record(t, "t50_tiles_200ag")
	const cell = 26
	g := Region{Row: 7, Col: 11, Height: 18, Width: 25}
	picture := func(g Region) (*scene, image.Image) {
		o := Options{To: rail.At(30), Cell: cell, Region: g}
		img, err := png.Decode(bytes.NewReader(draw(t, PNG, r, o)))
		if err != nil {
			t.Fatal(err)
		}
		return newScene(r, &o, cell), img
	}
	whole, all := picture(Region{})
	part, cut := picture(g)
	if got, want := cut.Bounds().Dx(), g.Width*cell+coordinates+2*edge; got != int(want) {
		t.Errorf("got a picture %d wide, want %v", got, want)
	}
	corner := whole.centre(rail.Cell{Row: g.Row, Col: g.Col}).plus(part.centre(rail.Cell{Row: g.Row, Col: g.Col}).times(-1))
	for y := int(part.map0.y) + cell; y < int(part.map0.y)+(g.Height-1)*cell; y++ {
		for x := int(part.map0.x) + cell; x < int(part.map0.x)+(g.Width-1)*cell; x++ {
			if got, want := cut.At(x, y), all.At(x+int(corner.x), y+int(corner.y)); got != want {
				t.Fatalf("at (%d, %d): got %v, want %v as on the whole map", x, y, got, want)
			}
		}
	}
}

// TestRegionShowsItsOwnOnly looks for the number of every train.
func TestRegionShowsItsOwnOnly(t *testing.T) {
	r := large(t, 3)
	g := Region{Row: 60, Col: 20, Height: 30, Width: 40}
	handle := regexp.MustCompile(`font-weight="bold" fill="#ffffff">(\d+)</text>`)
	drawn := func(g Region) map[string]bool {
		found := map[string]bool{}
		for _, m := range handle.FindAllStringSubmatch(string(draw(t, SVG, r, Options{Region: g})), -1) {
			found[m[1]] = true
		}
		return found
	}
	if n := len(drawn(Region{})); n > 1 {
		t.Fatalf("got %d numbers on the whole map, want the legend's alone: there is no room", n)
	}
	got := drawn(g)
	inside := 0
	for i, m := range r.at(r.Last()) {
		in := g.holds(r.net.Cell(m.node))
		if in {
			inside++
		}
		if name := fmt.Sprint(i); got[name] != in && name != "7" { // 7 is in the legend
			t.Errorf("train %d at %v: got it drawn %t, want %t", i, r.net.Cell(m.node), got[name], in)
		}
	}
	if inside == 0 || inside == r.Trains() {
		t.Errorf("got %d trains inside, want some", inside)
	}
	svg := string(draw(t, SVG, r, Options{Region: g}))
	for text, want := range map[string]int{"20": 1, "59": 1, "60": 1, "89": 1, "19": 0, "90": 0} {
		if got := strings.Count(svg, hex(soft)+`">`+text+"<"); got != want {
			t.Errorf("the coordinate %s: got it %d times, want %d", text, got, want)
		}
	}
	if want := fmt.Sprintf(">%d moving<", largeTrains); !strings.Contains(svg, want) {
		t.Errorf("got no %q, want all trains counted", want)
	}
}

// TestRegionDrawsNothingOutside looks at every place in a picture, at a step in which trains wait to enter.
func TestRegionDrawsNothingOutside(t *testing.T) {
	_, r := record(t, "t50_tiles_200ag")
	step := r.First()
	for r.count(step).states[rail.ReadyToDepart] < 20 {
		step++ // past the last one it panics
	}
	o := Options{To: rail.At(step), Region: Region{Row: 12, Col: 14, Height: 9, Width: 15}, Selected: []int{0, 1, 2, 3, 4, 5}}
	s := newScene(r, &o, o.Region.cellSize(SVG, 0))
	svg := string(draw(t, SVG, r, o))
	for _, m := range regexp.MustCompile(`[MLC ](-?[0-9.]+) (-?[0-9.]+)|x="(-?[0-9.]+)" y="(-?[0-9.]+)"`).FindAllStringSubmatch(svg[strings.Index(svg, "\n"):], -1) {
		var at xy
		if _, err := fmt.Sscan(m[1]+m[3]+" "+m[2]+m[4], &at.x, &at.y); err != nil {
			t.Fatalf("%s: %v", m[0], err)
		}
		if at.x < 0 || at.x > s.w || at.y < 0 || at.y > s.h {
			t.Fatalf("got something drawn at %v, want it in the picture of %v x %v", at, s.w, s.h)
		}
	}
}

func TestPageHasTheRegion(t *testing.T) {
	_, r := record(t, "t50_tiles_200ag")
	for want, g := range map[[4]int]Region{{0, 0, 40, 40}: {}, {2, 3, 4, 5}: {2, 3, 4, 5}} {
		if d, _ := embedded(t, draw(t, HTML, r, Options{Region: g})); d.Region != want || d.Width != 40 {
			t.Errorf("got the region %v of a map %d wide, want %v of 40", d.Region, d.Width, want)
		}
	}
}
