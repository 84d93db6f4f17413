package picture

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"

	"skyrail/internal/drawing"
)

// pen draws on a canvas of any kind. Everything on paper is in points, y up.
//
// It draws opaque colours and no arcs of a circle: so every format shows the same, the shared palette of an
// animation holds what is drawn, and no sine decides about a digit of an SVG.
type pen struct{ canvas vg.Canvas }

// xy is a place on paper.
type xy struct{ x, y float64 }

// toward returns a + d*way; the way of unit length makes d a distance.
func (a xy) toward(way xy, d float64) xy {
	return xy{a.x + float64(way.x*d), a.y + float64(way.y*d)}
}

func (a xy) plus(x, y float64) xy { return xy{a.x + x, a.y + y} }

func (a xy) minus(b xy) xy { return xy{a.x - b.x, a.y - b.y} }

func (a xy) length() float64 { return math.Sqrt(float64(a.x*a.x) + float64(a.y*a.y)) }

func (a xy) vg() vg.Point { return vg.Point{X: vg.Length(a.x), Y: vg.Length(a.y)} }

// fill fills the inside of the paths.
func (p pen) fill(c color.Color, path vg.Path) {
	p.canvas.SetColor(c)
	p.canvas.Fill(path)
}

// stroke draws along the path; dashes are lengths of dash, gap, dash, …
func (p pen) stroke(c color.Color, width float64, path vg.Path, dashes ...float64) {
	drawing.Stroke(p.canvas, c, width, path, dashes...)
}

// line draws from a to b.
func (p pen) line(c color.Color, width float64, a, b xy, dashes ...float64) {
	p.stroke(c, width, open(a, b), dashes...)
}

// open returns the path through the points.
func open(points ...xy) (path vg.Path) {
	path.Move(points[0].vg())
	for _, at := range points[1:] {
		path.Line(at.vg())
	}
	return path
}

// polygon returns the closed path through the points.
func polygon(points ...xy) vg.Path {
	path := open(points...)
	path.Close()
	return path
}

// circle returns a circle made of four cubic curves, off by less than 0.03 % of the radius.
func circle(centre xy, r float64) (path vg.Path) {
	const handle = 0.5522847498 // 4/3 (sqrt 2 - 1): the quarter passes through the middle of the true arc
	at := func(u, v float64) vg.Point { return centre.toward(xy{u, v}, r).vg() }
	path.Move(at(1, 0))
	path.CubeTo(at(1, handle), at(handle, 1), at(0, 1))
	path.CubeTo(at(-handle, 1), at(-1, handle), at(-1, 0))
	path.CubeTo(at(-1, -handle), at(-handle, -1), at(0, -1))
	path.CubeTo(at(handle, -1), at(1, -handle), at(1, 0))
	path.Close()
	return path
}

// rounded returns a box with rounded corners.
func rounded(b box, r float64) (path vg.Path) {
	corner := func(x, y float64) vg.Point { return xy{x, y}.vg() }
	path.Move(corner(b.x0+r, b.y0))
	path.Line(corner(b.x1-r, b.y0))
	path.QuadTo(corner(b.x1, b.y0), corner(b.x1, b.y0+r))
	path.Line(corner(b.x1, b.y1-r))
	path.QuadTo(corner(b.x1, b.y1), corner(b.x1-r, b.y1))
	path.Line(corner(b.x0+r, b.y1))
	path.QuadTo(corner(b.x0, b.y1), corner(b.x0, b.y1-r))
	path.Line(corner(b.x0, b.y0+r))
	path.QuadTo(corner(b.x0, b.y0), corner(b.x0+r, b.y0))
	path.Close()
	return path
}

// What sets pieces of a line apart. The spaces do not break: an SVG would make one of several common ones.
const (
	gap = "\u00a0\u00a0\u00a0"
	dot = "\u00a0\u00a0·\u00a0\u00a0"
)

// write writes text on the baseline through at; align says which share of it lies to the left of at.
func (p pen) write(s drawing.Script, at xy, align float64, text string) {
	s.Write(p.canvas, at.vg(), align, text)
}

// box is an upright rectangle on paper.
type box struct{ x0, y0, x1, y1 float64 }

// boxAt returns the box of a width and a height about a centre.
func boxAt(centre xy, w, h float64) box {
	return box{centre.x - w/2, centre.y - h/2, centre.x + w/2, centre.y + h/2}
}

func (b box) width() float64  { return b.x1 - b.x0 }
func (b box) height() float64 { return b.y1 - b.y0 }
func (b box) centre() xy      { return xy{(b.x0 + b.x1) / 2, (b.y0 + b.y1) / 2} }

// grow returns the box with d more on each side.
func (b box) grow(d float64) box { return box{b.x0 - d, b.y0 - d, b.x1 + d, b.y1 + d} }

func (b box) path() vg.Path {
	return polygon(xy{b.x0, b.y0}, xy{b.x1, b.y0}, xy{b.x1, b.y1}, xy{b.x0, b.y1})
}

// overlap returns the area that a and b share.
func (b box) overlap(o box) float64 {
	w, h := min(b.x1, o.x1)-max(b.x0, o.x0), min(b.y1, o.y1)-max(b.y0, o.y0)
	if w <= 0 || h <= 0 {
		return 0
	}
	return float64(w * h)
}

// nearest returns the place in the box closest to a.
func (b box) nearest(a xy) xy {
	return xy{min(max(a.x, b.x0), b.x1), min(max(a.y, b.y0), b.y1)}
}

// holds reports whether a is in the box or on its edge.
func (b box) holds(a xy) bool { return b.nearest(a) == a }

// crossed reports whether the line from a to c passes through the box.
func (b box) crossed(a, c xy) bool {
	_, _, ok := b.clip(a, c)
	return ok
}

// clip returns the part of the line from a to c that lies in the box; ok is false if there is none.
func (b box) clip(a, c xy) (from, to xy, ok bool) {
	enter, leave := 0.0, 1.0
	way := c.minus(a)
	for _, axis := range [2][4]float64{{a.x, way.x, b.x0, b.x1}, {a.y, way.y, b.y0, b.y1}} {
		start, step, low, high := axis[0], axis[1], axis[2], axis[3]
		if step == 0 {
			if start < low || start > high {
				return a, c, false
			}
			continue
		}
		s, t := (low-start)/step, (high-start)/step
		enter, leave = max(enter, min(s, t)), min(leave, max(s, t))
	}
	if enter > leave {
		return a, c, false
	}
	return a.toward(way, enter), a.toward(way, leave), true
}
