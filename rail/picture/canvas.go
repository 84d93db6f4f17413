package picture

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"skyrail/internal/drawing"
)

// canvas is what pictures are drawn on. Places are in pixels, from the top left corner, y down.
type canvas interface {
	fill(c color.RGBA, p vg.Path)
	// stroke draws along a path; dashes are lengths of dash, gap, dash, …
	stroke(c color.RGBA, width float64, p vg.Path, dashes ...float64)
	// write writes on the baseline through at; align says which share of the text lies to the left of at.
	write(s drawing.Script, at xy, align float64, text string)
}

// xy is a place, or a way.
type xy struct{ x, y float64 }

func (a xy) plus(b xy) xy { return xy{a.x + b.x, a.y + b.y} }

func (a xy) times(f float64) xy { return xy{a.x * f, a.y * f} }

func (a xy) vg() vg.Point { return vg.Point{X: vg.Length(a.x), Y: vg.Length(a.y)} }

// unit returns the way of length 1 in the same direction.
func (a xy) unit() xy { return a.times(1 / math.Sqrt(float64(a.x*a.x)+float64(a.y*a.y))) }

// lines returns the path through the points.
func lines(points ...xy) (p vg.Path) {
	p.Move(points[0].vg())
	for _, at := range points[1:] {
		p.Line(at.vg())
	}
	return p
}

// polygon returns the closed path through the points.
func polygon(points ...xy) vg.Path {
	p := lines(points...)
	p.Close()
	return p
}

// rectangle returns the box of a width and a height about a centre.
func rectangle(centre xy, w, h float64) vg.Path {
	x, y := centre.x-w/2, centre.y-h/2
	return polygon(xy{x, y}, xy{x + w, y}, xy{x + w, y + h}, xy{x, y + h})
}

// bend is where the handles of a cubic curve stand that looks like a quarter of a circle, as a share of its radius.
const bend = 0.5522847498

func circle(centre xy, r float64) (p vg.Path) {
	at := func(u, v float64) vg.Point { return centre.plus(xy{u * r, v * r}).vg() }
	p.Move(at(1, 0))
	p.CubeTo(at(1, bend), at(bend, 1), at(0, 1))
	p.CubeTo(at(-bend, 1), at(-1, bend), at(-1, 0))
	p.CubeTo(at(-1, -bend), at(-bend, -1), at(0, -1))
	p.CubeTo(at(bend, -1), at(1, -bend), at(1, 0))
	p.Close()
	return p
}

// vector is a canvas that becomes an SVG.
type vector struct {
	bytes.Buffer
	w, h float64
}

func newVector(w, h float64) *vector {
	v := &vector{w: w, h: h}
	fmt.Fprintf(v, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g"`, w, h, w, h)
	v.WriteString(" font-family=\"Liberation Sans,Arimo,Arial,Helvetica,sans-serif\" xml:space=\"preserve\">\n")
	return v
}

func (v *vector) fill(c color.RGBA, p vg.Path) {
	fmt.Fprintf(v, `<path fill="%s" d="%s"/>`+"\n", hex(c), pathData(p))
}

func (v *vector) stroke(c color.RGBA, width float64, p vg.Path, dashes ...float64) {
	fmt.Fprintf(v, `<path fill="none" stroke="%s" stroke-width="%s"`, hex(c), short(width))
	for i, d := range dashes {
		if i == 0 {
			v.WriteString(` stroke-dasharray="`)
		} else {
			v.WriteByte(' ')
		}
		v.WriteString(short(d))
	}
	if len(dashes) > 0 {
		v.WriteByte('"')
	}
	fmt.Fprintf(v, ` d="%s"/>`+"\n", pathData(p))
}

func (v *vector) write(s drawing.Script, at xy, align float64, text string) {
	anchor := ""
	switch align {
	case drawing.Centred:
		anchor = ` text-anchor="middle"`
	case drawing.Right:
		anchor = ` text-anchor="end"`
	}
	weight := ""
	if s.Bold {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(v, `<text x="%s" y="%s" font-size="%s"%s%s fill="%s">%s</text>`+"\n",
		short(at.x), short(at.y), short(s.Size), anchor, weight, hex(s.Color), html.EscapeString(text))
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// short writes a number to a hundredth of a pixel.
func short(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64) // +0 takes the sign of -0
}

func pathData(p vg.Path) string {
	var b bytes.Buffer
	put := func(letter byte, points ...vg.Point) {
		b.WriteByte(letter)
		for i, at := range points {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(short(float64(at.X)) + " " + short(float64(at.Y)))
		}
	}
	for _, c := range p {
		switch c.Type {
		case vg.MoveComp:
			put('M', c.Pos)
		case vg.LineComp:
			put('L', c.Pos)
		case vg.CurveComp:
			put('C', c.Control[0], c.Control[1], c.Pos)
		case vg.CloseComp:
			b.WriteByte('Z')
		}
	}
	return b.String()
}

// pixels is a canvas that is an image.
type pixels struct {
	canvas *vgimg.Canvas
	h      float64
}

// pointsPerInch makes a unit of the library's canvas a pixel.
const pointsPerInch = 72

func newPixels(w, h float64) *pixels {
	return &pixels{vgimg.NewWith(vgimg.UseWH(vg.Length(w), vg.Length(h)), vgimg.UseDPI(pointsPerInch)), h}
}

func (p *pixels) image() *image.RGBA { return p.canvas.Image().(*image.RGBA) }

// up turns a path over, as the library's y points up.
func (p *pixels) up(path vg.Path) vg.Path {
	turn := func(at vg.Point) vg.Point { return vg.Point{X: at.X, Y: vg.Length(p.h) - at.Y} }
	out := make(vg.Path, len(path))
	for i, c := range path {
		out[i] = c
		out[i].Pos = turn(c.Pos)
		if c.Type == vg.CurveComp {
			out[i].Control = []vg.Point{turn(c.Control[0]), turn(c.Control[1])}
		}
	}
	return out
}

func (p *pixels) fill(c color.RGBA, path vg.Path) {
	p.canvas.SetColor(c)
	p.canvas.Fill(p.up(path))
}

func (p *pixels) stroke(c color.RGBA, width float64, path vg.Path, dashes ...float64) {
	drawing.Stroke(p.canvas, c, width, p.up(path), dashes...)
}

func (p *pixels) write(s drawing.Script, at xy, align float64, text string) {
	s.Write(p.canvas, xy{at.x, p.h - at.y}.vg(), align, text)
}
