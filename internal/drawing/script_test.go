package drawing

import (
	"image/color"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/recorder"
)

var ink = color.RGBA{1, 2, 3, 0xFF}

// TestWidthIsThatOfArial holds the font to the published widths of Arial, of which 2048 are an em.
func TestWidthIsThatOfArial(t *testing.T) {
	for _, c := range []struct {
		look Script
		text string
		want float64
	}{
		{Plain(2048, ink), "A", 1366},
		{Bold(2048, ink), "A", 1479},
		{Plain(2048, ink), "1234", 4 * 1139},
		{Bold(1024, ink), "12", 1139},
		{Plain(12, ink), "", 0},
	} {
		if got := c.look.Width(c.text); math.Abs(got-c.want) > 0.1 {
			t.Errorf("%q in %+v: got %v, want %v", c.text, c.look, got, c.want)
		}
	}
}

func TestFitIsTheLongestThatFits(t *testing.T) {
	look := Plain(12, ink)
	const text = "Zug 12, Gleis 3, Köln–Bonn"
	if got := look.Fit(text, look.Width(text)); got != text {
		t.Errorf("got %q where there is room, want %q", got, text)
	}
	for width := 15.0; width < look.Width(text); width += 3 {
		got := look.Fit(text, width)
		start, cut := strings.CutSuffix(got, "…")
		if !cut || !strings.HasPrefix(text, start) || look.Width(got) > width {
			t.Fatalf("width %v: got %q, %v wide, want a start of %q and an ellipsis", width, got, look.Width(got), text)
		}
		_, n := utf8.DecodeRuneInString(text[len(start):])
		if more := text[:len(start)+n] + "…"; look.Width(more) <= width {
			t.Errorf("width %v: got %q, want at least %q", width, got, more)
		}
	}
	if got := look.Fit(text, 0); got != "…" {
		t.Errorf("got %q where there is no room, want an ellipsis", got)
	}
}

func TestWriteAligns(t *testing.T) {
	look := Bold(10, ink)
	const text = "374"
	w := look.Width(text)
	for align, want := range map[float64]float64{Left: 50, Centred: 50 - w/2, Right: 50 - w} {
		var canvas recorder.Canvas
		look.Write(&canvas, vg.Point{X: 50, Y: 7}, align, text)
		if n := len(canvas.Actions); n != 2 {
			t.Fatalf("got %d actions, want a colour and a text", n)
		}
		if c := canvas.Actions[0].(*recorder.SetColor).Color; c != color.Color(ink) {
			t.Errorf("got the colour %v, want %v", c, ink)
		}
		if got := canvas.Actions[1].(*recorder.FillString); math.Abs(float64(got.Point.X)-want) > 1e-9 || got.Point.Y != 7 || got.String != text {
			t.Errorf("aligned by %v: got %q at %v, want it at %v, 7", align, got.String, got.Point, want)
		}
	}
}
