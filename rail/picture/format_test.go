package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	xdraw "image/draw"
	"image/gif"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"

	"skyrail/internal/drawing"
	"skyrail/rail"
)

func draw(t testing.TB, f Format, r *Recording, o Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, f, r, o); err != nil {
		t.Fatalf("%s: %v", f, err)
	}
	return out.Bytes()
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{"a.svg": SVG, "b.PNG": PNG, "c.gif": GIF, "d.html": HTML} {
		if got, err := FormatOf(name); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := FormatOf("a.jpg"); err == nil || !strings.Contains(err.Error(), "it must end in .svg, .png, .gif or .html") {
		t.Errorf("got the error %v, want one that names the endings", err)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteRefuses(t *testing.T) {
	_, r := record(t, "s04_oval")
	wide, err := rail.New(&rail.Scenario{Width: 20_000, Height: 1, Grid: make([]rail.Transitions, 20_000)}, rail.Options{})
	if err != nil {
		t.Fatal(err)
	}
	endless := large(t, 400)
	for _, c := range []struct {
		what   string
		format Format
		r      *Recording
		o      Options
		want   string
	}{
		{"no recording", SVG, nil, Options{}, "nothing was recorded"},
		{"a step after the last", PNG, r, Options{To: rail.At(r.Last() + 1)}, "want steps from 0 to"},
		{"a step before the first", GIF, r, Options{From: rail.At(-1)}, "steps -1 to"},
		{"steps the wrong way round", HTML, r, Options{From: rail.At(3), To: rail.At(2)}, "steps 3 to 2"},
		{"a train that there is not", SVG, r, Options{Selected: []int{99}}, "there is no train 99 to select: want handles from 0 to"},
		{"a cell too small", SVG, r, Options{Cell: 3}, "cells of 3 pixels: want 4 to 128"},
		{"a region outside the map", SVG, r, Options{Region: Region{Row: 1, Col: 1, Height: 1, Width: 999}}, "region: 1 rows from row 1 and 999 columns"},
		{"a region of no cell", HTML, r, Options{Region: Region{Row: 1}}, "want at least one of each"},
		{"a line break in the title", SVG, r, Options{Title: "a\nb"}, "cannot be drawn"},
		{"a title that is no text", HTML, r, Options{Title: "\xff"}, "cannot be drawn"},
		{"a title without end", HTML, r, Options{Title: strings.Repeat("x", drawing.MaxTitle+1)}, "the title has 201 bytes"},
		{"a picture too large", PNG, New(wide), Options{Cell: MaxCell}, "no room: cells of 128 pixels make a picture of 2560050 x"},
		{"a film too large", GIF, endless, Options{Cell: 12}, "no room: an animation of 401 steps"},
		{"another format", "bmp", r, Options{}, `no picture format "bmp"`},
	} {
		var out bytes.Buffer
		if err := Write(&out, c.format, c.r, c.o); err == nil || !strings.Contains(err.Error(), c.want) || out.Len() > 0 {
			t.Errorf("%s: got the error %v and %d bytes, want %q and none", c.what, err, out.Len(), c.want)
		}
	}
	for _, f := range Formats() {
		if err := Write(broken{}, f, r, Options{}); !errors.Is(err, errBroken) {
			t.Errorf("%s: got the error %v, want %v", f, err, errBroken)
		}
	}
}

func TestSameEpisodeMakesTheSameBytes(t *testing.T) {
	_, a := record(t, "t13_tiles_malf_random")
	_, b := record(t, "t13_tiles_malf_random")
	for _, f := range Formats() {
		o := Options{Title: "twice", Selected: []int{1}, From: rail.At(30), To: rail.At(40)}
		if !bytes.Equal(draw(t, f, a, o), draw(t, f, b, o)) {
			t.Errorf("%s: got other bytes the second time, want the same", f)
		}
	}
}

// TestSVGIsWellFormed reads every element, and finds the title as it was given.
func TestSVGIsWellFormed(t *testing.T) {
	_, r := record(t, "t13_tiles_malf_random")
	const title = `a <b> & "c"`
	d := xml.NewDecoder(bytes.NewReader(draw(t, SVG, r, Options{Title: title, Cell: 30})))
	found := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, ok := token.(xml.CharData)
		found = found || ok && string(text) == title
	}
	if !found {
		t.Errorf("got no text %q, want the title", title)
	}
}

func TestPNGHasTheSizeAskedFor(t *testing.T) {
	_, r := record(t, "t50_tiles_200ag")
	img, err := png.Decode(bytes.NewReader(draw(t, PNG, r, Options{Cell: 20})))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := img.Bounds().Dx(), 40*20+coordinates+2*edge; got != int(want) {
		t.Errorf("got a picture %d wide, want %v", got, want)
	}
}

func TestGIFEndsWithTheLastStep(t *testing.T) {
	_, r := record(t, "t13_tiles_malf_random")
	o := Options{From: rail.At(37), To: rail.At(41)}
	moving, err := gif.DecodeAll(bytes.NewReader(draw(t, GIF, r, o)))
	if err != nil {
		t.Fatal(err)
	}
	if len(moving.Image) != 5 || moving.LoopCount != 0 || moving.Delay[0] != filmTimes.First || moving.Delay[4] != filmTimes.Last {
		t.Errorf("got %d frames with delays %v, loop count %d", len(moving.Image), moving.Delay, moving.LoopCount)
	}
	shown := image.NewRGBA(moving.Image[0].Rect)
	for _, frame := range moving.Image {
		xdraw.Draw(shown, frame.Rect, frame, frame.Rect.Min, xdraw.Over)
	}
	alone, err := gif.DecodeAll(bytes.NewReader(draw(t, GIF, r, Options{From: o.To, To: o.To})))
	if err != nil {
		t.Fatal(err)
	}
	want := alone.Image[0]
	for i := range want.Pix {
		x, y := i%want.Stride, i/want.Stride
		if got, want := shown.RGBAAt(x, y), want.At(x, y); got != want {
			t.Fatalf("at (%d, %d) the last frame: got %v, want %v", x, y, got, want)
		}
	}
}

func TestFilmHasTheColours(t *testing.T) {
	p := filmColors()
	if len(p) > 255 {
		t.Fatalf("got %d colours, want at most the 255 that an animation takes", len(p))
	}
	for _, c := range append(stateColors[:], ink, soft, paper, land, stuck, chosen) {
		if !slices.Contains(p, c) {
			t.Errorf("got no %v, want it", c)
		}
	}
}
