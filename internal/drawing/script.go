package drawing

import (
	"fmt"
	"image/color"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// Script is how text looks. Its size, and all lengths of text, are in the unit of the canvas.
type Script struct {
	Size  float64
	Color color.RGBA
	Bold  bool
}

// Plain returns the script of common text.
func Plain(size float64, c color.RGBA) Script { return Script{size, c, false} }

// Bold returns the script of text that stands out.
func Bold(size float64, c color.RGBA) Script { return Script{size, c, true} }

// The places of text about the point it is written at: the share of it that lies to the left.
const (
	Left    = 0.0
	Centred = 0.5
	Right   = 1.0
)

// The fonts have the widths of Arial and Helvetica, so that an SVG looks the same where those take over.
var (
	regular = parseFont(liberationsansregular.TTF)
	bold    = parseFont(liberationsansbold.TTF)
)

func parseFont(ttf []byte) *opentype.Font {
	f, err := opentype.Parse(ttf)
	if err != nil {
		panic(fmt.Sprintf("drawing: a font compiled in does not parse: %v", err))
	}
	return f
}

func (s Script) face() font.Face {
	f := font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(s.Size)}, Face: regular}
	if s.Bold {
		f.Font.Weight, f.Face = xfont.WeightBold, bold
	}
	return f
}

// Width returns the length of text.
func (s Script) Width(text string) float64 {
	face := s.face()
	return float64(face.Width(text))
}

// Fit shortens text to a width.
func (s Script) Fit(text string, width float64) string {
	if s.Width(text) <= width {
		return text
	}
	runes := []rune(text)
	for len(runes) > 0 && s.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// Write writes text on the baseline through at; align says which share of it lies to the left of at.
func (s Script) Write(canvas vg.Canvas, at vg.Point, align float64, text string) {
	at.X -= vg.Length(s.Width(text) * align)
	canvas.SetColor(s.Color)
	canvas.FillString(s.face(), at, text)
}

// Stroke draws along a path; dashes are lengths of dash, gap, dash, …
func Stroke(canvas vg.Canvas, c color.Color, width float64, path vg.Path, dashes ...float64) {
	pattern := make([]vg.Length, len(dashes))
	for i, d := range dashes {
		pattern[i] = vg.Length(d)
	}
	canvas.SetColor(c)
	canvas.SetLineWidth(vg.Length(width))
	canvas.SetLineDash(pattern, 0)
	canvas.Stroke(path)
}
