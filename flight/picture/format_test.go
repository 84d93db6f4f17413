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
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"skyrail/flight"
	"skyrail/internal/drawing"
)

func draw(t *testing.T, format Format, films ...Film) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, format, films); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return out.Bytes()
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{"a.svg": SVG, "b.PNG": PNG, "c.gif": GIF} {
		if got, err := FormatOf(name); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := FormatOf("a.html"); err == nil || !strings.Contains(err.Error(), "it must end in .svg, .png or .gif") {
		t.Errorf("got the error %v, want one that names the endings", err)
	}
}

func TestWriteRefuses(t *testing.T) {
	f := film(t, small(1, 1), 1, nil, "")
	for _, c := range []struct {
		what   string
		format Format
		films  []Film
		want   string
	}{
		{"no films", PNG, nil, "no film to draw"},
		{"too many", PNG, make([]Film, MaxFilms+1), "7 films in a picture, at most 6 fit"},
		{"a film not recorded", PNG, []Film{f, {}}, "film 2 of 2 is empty"},
		{"another format", "bmp", []Film{f}, `no picture format "bmp"`},
	} {
		var out bytes.Buffer
		if err := Write(&out, c.format, c.films); err == nil || !strings.Contains(err.Error(), c.want) || out.Len() > 0 {
			t.Errorf("%s: got the error %v and %d bytes, want %q and none", c.what, err, out.Len(), c.want)
		}
	}
	for _, format := range Formats() {
		if err := Write(broken{}, format, []Film{f}); !errors.Is(err, errBroken) {
			t.Errorf("%s: got the error %v, want %v", format, err, errBroken)
		}
	}
}

var errBroken = errors.New("disk full")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestSameFilmsMakeTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, format := range Formats() {
		if !bytes.Equal(draw(t, format, brief(t)[0]), draw(t, format, brief(t)[0])) {
			t.Errorf("%s: got other bytes the second time", format)
		}
	}
}

// mark is an element of an SVG: its style, and what it says.
type mark struct{ name, style, text, length string }

func marks(t *testing.T, svg []byte) (all []mark) {
	t.Helper()
	in := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := in.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			m := mark{name: token.Name.Local}
			for _, a := range token.Attr {
				switch a.Name.Local {
				case "style":
					m.style = a.Value
				case "textLength":
					m.length = a.Value
				}
			}
			all = append(all, m)
		case xml.CharData:
			if n := len(all); n > 0 && all[n-1].name == "text" && all[n-1].text == "" {
				all[n-1].text = string(token)
			}
		}
	}
}

func TestSVGShowsWhatTheFilmsHold(t *testing.T) {
	films := two(t)
	films[0].title = `idle <&> "x"`
	all := marks(t, draw(t, SVG, films...))

	counted := func(want func(mark) bool) (n int) {
		for _, m := range all {
			if want(m) {
				n++
			}
		}
		return n
	}
	says := func(text string) func(mark) bool { return func(m mark) bool { return m.text == text } }
	styled := func(parts ...string) func(mark) bool {
		return func(m mark) bool {
			for _, p := range parts {
				if !strings.Contains(m.style, p) {
					return false
				}
			}
			return true
		}
	}

	steps := keyMoments(films)
	solid, dashed, levels := 0, 0, map[string]int{}
	for i := range films {
		for _, k := range steps {
			m := films[i].at(k)
			for a := range m.craft {
				levels[number(m.craft[a].Level)]++
				if m.inLoss(a) {
					solid++
				} else if (&sector{}).shown(&m.craft[a]) {
					dashed++
				}
			}
		}
	}
	levels["374"]++ // the legend's
	panels := len(films) * len(steps)
	for _, c := range []struct {
		what string
		got  int
		want int
	}{
		{"rings of aircraft in loss, with the legend's two", counted(styled("stroke:#D61F0A", "stroke-width:1.9")), solid + 2},
		{"rings of separated aircraft, with the legend's two", counted(styled("stroke-dasharray:2.2,1.6")), dashed + 2},
		{"titles", counted(says(films[0].title)), 1},
		{"panels that say mid-air", counted(says("MID-AIR")), 3},
		{"panels after the end", counted(says("last moment (step 15)")), 2},
		{"badges after the end", counted(says("ended at step 15: mid-air")), 2},
		{"completed", counted(says("completed")), 1},
		{"step 0", counted(says("step 0")), len(films)},
		{"hotspots, with the legend's", counted(styled("fill:#FFF0C9")), panels + 1},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %d, want %d", c.what, c.got, c.want)
		}
	}
	for a := range 5 {
		// The number of an aircraft is white on its plate; the numbers of steps are not white.
		number := func(m mark) bool { return m.text == strconv.Itoa(a) && strings.Contains(m.style, "fill:#FFFFFF") }
		if got := counted(number); got != panels {
			t.Errorf("labels of aircraft %d: got %d, want one in each of %d panels", a, got, panels)
		}
	}
	for level, want := range levels {
		if got := counted(says(level)); got != want {
			t.Errorf("level %s: got %d times, want %d", level, got, want)
		}
	}
	for _, m := range all {
		if m.name != "text" {
			continue
		}
		if length, err := strconv.ParseFloat(m.length, 64); err != nil || length <= 0 {
			t.Errorf("text %q: got the length %q, want one", m.text, m.length)
		}
		if !strings.Contains(m.style, ",Arial,Helvetica,sans-serif") {
			t.Errorf("text %q: got the style %q, want common fonts", m.text, m.style)
		}
	}
}

func TestPNGIsTheStripAtTwoPixelsAPoint(t *testing.T) {
	t.Parallel()
	films := two(t)[1:]
	img, err := png.Decode(bytes.NewReader(draw(t, PNG, films...)))
	if err != nil {
		t.Fatal(err)
	}
	s := newStrip(films)
	want := image.Pt(int(2*s.w+0.5), int(2*s.h+0.5))
	if got := img.Bounds().Size(); got != want {
		t.Errorf("got a picture of %v, want %v", got, want)
	}
	if w := 1432.0; s.w != w {
		t.Errorf("got a strip %v points wide, want %v", s.w, w)
	}
}

func TestGIFHasAFrameAStep(t *testing.T) {
	t.Parallel()
	films := brief(t)
	out := draw(t, GIF, films...)
	moving, err := gif.DecodeAll(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if share := 3_000_000 * 4 / 51; len(out) > share { // of the size that a film of 50 steps may have
		t.Errorf("got %d bytes for 4 frames, want at most %d", len(out), share)
	}
	a := newAnimation(films)
	size := image.Rect(0, 0, int(a.w*gifDPI/72+0.5), int(a.h*gifDPI/72+0.5))
	if got := image.Rect(0, 0, moving.Config.Width, moving.Config.Height); got != size || moving.Image[0].Rect != size {
		t.Errorf("got a picture of %v beginning with %v, want %v", got, moving.Image[0].Rect, size)
	}
	if len(moving.Image) != 4 || moving.LoopCount != 0 {
		t.Errorf("got %d frames, loop count %d, want 4 and 0, for ever", len(moving.Image), moving.LoopCount)
	}
	for k, want := range []int{gifTimes.First, gifTimes.Frame, gifTimes.Frame, gifTimes.Last} {
		if moving.Delay[k] != want {
			t.Errorf("frame %d: got %d hundredths, want %d", k, moving.Delay[k], want)
		}
	}

	// What a viewer has put together at the end is the last moment, whole.
	shown := image.NewRGBA(size)
	for _, frame := range moving.Image {
		xdraw.Draw(shown, frame.Rect, frame, frame.Rect.Min, xdraw.Over)
	}
	var last *image.RGBA
	for k := range a.frames() {
		canvas := vgimg.NewWith(vgimg.UseWH(vg.Length(a.w), vg.Length(a.h)), vgimg.UseDPI(gifDPI))
		a.draw(pen{canvas}, k)
		last = canvas.Image().(*image.RGBA)
	}
	want := still(t, last)
	for i := range want.Pix {
		x, y := i%want.Stride, i/want.Stride
		if got, want := shown.RGBAAt(x, y), want.At(x, y); got != want {
			t.Fatalf("at (%d, %d) the last frame: got %v, want %v", x, y, got, want)
		}
	}
}

// still is a picture as an animation of nothing else shows it.
func still(t *testing.T, img *image.RGBA) *image.Paletted {
	t.Helper()
	alone := drawing.NewAnimation(gifColors(), gifWeights)
	alone.Add(img)
	var out bytes.Buffer
	if err := alone.Write(&out, gifTimes); err != nil {
		t.Fatal(err)
	}
	decoded, err := gif.DecodeAll(&out)
	if err != nil {
		t.Fatal(err)
	}
	return decoded.Image[0]
}

func TestAnimationHasTheColours(t *testing.T) {
	all := slices.Concat(inks, grounds)
	img := image.NewRGBA(image.Rect(0, 0, len(all), 1))
	for x, c := range all {
		img.SetRGBA(x, 0, c)
	}
	shown := still(t, img)
	for x, c := range all {
		if got := shown.At(x, 0); got != c {
			t.Errorf("got %v for %v, want it unchanged", got, c)
		}
	}
}

func TestEveryAircraftIsNumbered(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, fullLabels + 1, rowLabels + 1, flight.MaxFlights} {
		films := []Film{film(t, small(n, 1), 3, nil, "")}
		numbered := 0
		for _, m := range marks(t, draw(t, SVG, films...)) {
			if m.name == "text" && m.text == strconv.Itoa(n-1) && strings.Contains(m.style, "fill:#FFFFFF") {
				numbered++
			}
		}
		if n == 1 || n == flight.MaxFlights {
			draw(t, GIF, films...)
		}
		if want := len(keyMoments(films)); numbered != want {
			t.Errorf("%d aircraft: got the last one's number %d times, want %d", n, numbered, want)
		}
	}
}
