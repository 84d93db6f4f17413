package picture

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"skyrail/flight"
	"skyrail/internal/drawing"
	"skyrail/internal/elementary"
)

// What a panel shows around the sector, and of the way of an aircraft.
const (
	margin = 600.0 // metres beyond the border: a ring at the border shows whole
	trail  = 8     // steps behind
	ahead  = 6.0   // seconds ahead: the speed vector
	cell   = 5_000 // metres between the lines of the grid
)

// sector draws the sector of a moment.
type sector struct {
	pen
	area box
	film *Film
	m    *moment
	late bool  // the episode had ended before the step of the panel
	busy []box // what labels must leave free
}

// draw draws the sector from the ground up. was and the offsets returned are those of panel.
func (s *sector) draw(was []xy) []xy {
	s.ground()
	s.history()
	for _, l := range s.m.losses {
		s.join(l)
	}
	for i := range s.m.craft {
		s.ring(i)
	}
	for i := range s.m.craft {
		s.vector(i)
	}
	if s.m.midAir {
		s.burst()
	}
	for i := range s.m.craft {
		s.dart(i)
	}
	labels, centres := s.layOut(was)
	offsets := make([]xy, len(labels))
	for i := range labels {
		labels[i].leader(s.pen, centres[i])
	}
	for i := range labels {
		labels[i].draw(s.pen, centres[i])
		offsets[i] = centres[i].minus(labels[i].anchor)
	}
	s.rim()
	return offsets
}

// scale returns points per metre.
func (s *sector) scale() float64 { return sectorScale(s.area.width()) }

func sectorScale(side float64) float64 { return side / (2 * (flight.SectorHalfWidth + margin)) }

// at returns the place of a point of the sector, in metres.
func (s *sector) at(x, y float64) xy {
	return s.area.centre().toward(xy{x, y}, s.scale())
}

// reach is the square, in metres, in which aircraft are drawn where they are.
var reach = boxAt(xy{}, 2*flight.SectorHalfWidth+margin/2, 2*flight.SectorHalfWidth+margin/2)

// spot returns where an aircraft is drawn: where it is, or, when it has flown on beyond the margin, where it
// left. An aircraft that never was in the sector is drawn at the edge nearest to it.
func (s *sector) spot(c *craft) xy {
	here := xy{c.X, c.Y}
	if s.shown(c) {
		return s.at(c.X, c.Y)
	}
	const farBehind = -1e6 // metres
	if _, left, ok := reach.clip(here.toward(c.way(), farBehind), here); ok {
		return s.at(left.x, left.y)
	}
	near := reach.nearest(here)
	return s.at(near.x, near.y)
}

// shown reports whether an aircraft is drawn where it is.
func (s *sector) shown(c *craft) bool { return reach.holds(xy{c.X, c.Y}) }

// square is the sector on paper.
func (s *sector) square() box {
	const l = flight.SectorHalfWidth
	low, high := s.at(-l, -l), s.at(l, l)
	return box{low.x, low.y, high.x, high.y}
}

// way returns the unit vector an aircraft flies along.
func (c *craft) way() xy {
	sin, cos := elementary.SinCos(c.Heading * (math.Pi / 180))
	return xy{cos, sin}
}

// ground draws the square, its grid, and the hotspot. It says when the episode had ended before.
func (s *sector) ground() {
	const l = flight.SectorHalfWidth
	tint := sky
	if s.late {
		tint = dusk
	}
	s.fill(tint, s.square().path())
	for d := -l + cell; d < l; d += cell {
		s.line(grid, 0.7, s.at(d, -l), s.at(d, l))
		s.line(grid, 0.7, s.at(-l, d), s.at(l, d))
	}
	h := s.film.scenario.Hotspot
	centre := s.at(h[0], h[1])
	r := flight.SeparationRadius * s.scale()
	s.fill(hotspot, circle(centre, r))
	s.stroke(hotspotRim, 0.8, circle(centre, r), 2, 2)
	s.line(hotspotRim, 0.8, centre.plus(-3, 0), centre.plus(3, 0))
	s.line(hotspotRim, 0.8, centre.plus(0, -3), centre.plus(0, 3))
	if s.late {
		text := fmt.Sprintf("last moment (step %d)", s.m.step)
		look := drawing.Bold(11, soft)
		at := s.at(l, -l).plus(-5, 6)
		s.write(look, at, drawing.Right, text)
		s.busy = append(s.busy, box{at.x - look.Width(text), at.y - 3, at.x, at.y + 11})
	}
}

// rim draws the border of the sector over what passes it.
func (s *sector) rim() {
	c, w := frame, 0.9
	if s.m.midAir && !s.late {
		c, w = danger, 2.2
	}
	s.stroke(c, w, s.square().path())
}

// history draws where the aircraft were, one dot a step, and where they were given a clearance.
func (s *sector) history() {
	for i := range s.m.craft {
		var dots, orders vg.Path
		for k := max(s.m.step-trail, 0); k < s.m.step; k++ {
			was := &s.film.moments[k].craft[i]
			if !s.shown(was) {
				continue
			}
			at := s.at(was.X, was.Y)
			age := float64(s.m.step - k)
			dots = append(dots, circle(at, 1.9-float64(age*0.14))...)
			if o := s.film.moments[k].order; o.given && !o.refused && o.aircraft == i {
				orders = append(orders, circle(at, 3.4)...)
			}
		}
		c := &s.m.craft[i]
		if len(orders) > 0 {
			s.fill(told, orders)
		}
		if len(dots) > 0 {
			s.fill(drawing.Mix(c.color(), sky, 80), dots)
		}
	}
}

// join draws the line between two aircraft that have lost separation.
func (s *sector) join(l loss) {
	drawJoin(s.pen, s.spot(&s.m.craft[l.i]), s.spot(&s.m.craft[l.j]), s.radius())
}

func drawJoin(p pen, a, b xy, r float64) {
	p.fill(dangerWash, circle(a, r))
	p.fill(dangerWash, circle(b, r))
	p.line(danger, 2, a, b)
}

// radius is that of a ring on paper: half the separation radius.
func (s *sector) radius() float64 { return flight.SeparationRadius / 2 * s.scale() }

// ring draws the half of the separation that belongs to an aircraft: dashed while it is separated from all,
// solid once it is not.
func (s *sector) ring(i int) {
	c := &s.m.craft[i]
	if lost := s.m.inLoss(i); lost || s.shown(c) {
		drawRing(s.pen, s.spot(c), s.radius(), c.color(), lost)
	}
}

func drawRing(p pen, at xy, r float64, tint color.RGBA, lost bool) {
	if lost {
		p.stroke(danger, 1.9, circle(at, r))
		return
	}
	p.stroke(drawing.Mix(tint, sky, 60), 0.8, circle(at, r), 2.2, 1.6)
}

// vector draws how far an aircraft flies in the time ahead.
func (s *sector) vector(i int) {
	c := &s.m.craft[i]
	if a, b, ok := s.vectorLine(c); ok {
		s.line(c.color(), 1.3, a, b)
	}
}

func (s *sector) vectorLine(c *craft) (a, b xy, ok bool) {
	if !s.shown(c) {
		return a, b, false
	}
	a = s.at(c.X, c.Y)
	return s.area.clip(a, a.toward(c.way(), float64(c.Speed*ahead)*s.scale()))
}

// dart draws an aircraft pointing along its heading, on a spot of its own if it was given a clearance.
func (s *sector) dart(i int) {
	c := &s.m.craft[i]
	at := s.spot(c)
	if o := s.m.order; o.given && o.aircraft == i {
		drawOrder(s.pen, at, o.refused)
	}
	tint := c.color()
	if s.m.midAir && s.m.inLoss(i) {
		tint = ink
	}
	drawDart(s.pen, at, c.way(), tint)
}

// drawOrder draws the spot under an aircraft that was given a clearance, pale if it was refused.
func drawOrder(p pen, at xy, refused bool) {
	tint := told
	if refused {
		tint = grid
	}
	p.fill(tint, circle(at, 6.2))
	p.stroke(ink, 0.6, circle(at, 6.2))
}

func drawDart(p pen, at, way xy, tint color.Color) {
	side := xy{-way.y, way.x}
	corner := func(along, across float64) xy { return at.toward(way, along).toward(side, across) }
	body := polygon(corner(6.8, 0), corner(-5, 4.3), corner(-2.4, 0), corner(-5, -4.3))
	p.fill(tint, body)
	p.stroke(paper, 0.6, body)
}

// burst marks the aircraft of a mid-air, once for those that are close together.
func (s *sector) burst() {
	var marked []xy
	for _, l := range s.m.losses {
		if !l.midAir {
			continue
		}
		a, b := s.spot(&s.m.craft[l.i]), s.spot(&s.m.craft[l.j])
		at := xy{(a.x + b.x) / 2, (a.y + b.y) / 2}
		if slices.ContainsFunc(marked, func(m xy) bool { return boxAt(m, 30, 30).holds(at) }) {
			continue
		}
		marked = append(marked, at)
		drawBurst(s.pen, at, 19)
		cry := drawing.Bold(12, paper)
		plate := boxAt(at.plus(0, 30), cry.Width("MID-AIR")+12, 17)
		s.fill(danger, rounded(plate, 3))
		s.write(cry, xy{at.x, plate.y0 + 4.4}, drawing.Centred, "MID-AIR")
		s.busy = append(s.busy, boxAt(at, 34, 34), plate)
	}
}

// drawBurst draws a star of twelve points.
func drawBurst(p pen, at xy, r float64) {
	star := func(r float64) vg.Path {
		var points []xy
		for i := range 24 {
			sin, cos := elementary.SinCos((float64(i) + 0.5) * (2 * math.Pi / 24))
			reach := r
			if i%2 == 1 {
				reach = r * 0.62
			}
			points = append(points, at.toward(xy{cos, sin}, reach))
		}
		return polygon(points...)
	}
	p.fill(danger, star(r))
	p.stroke(paper, 0.8, star(r))
	p.fill(told, star(r*0.66))
}

// layOut makes the labels and finds the places of their centres.
func (s *sector) layOut(was []xy) (labels []label, centres []xy) {
	around := surroundings{bounds: s.square().grow(-2), boxes: s.busy}
	labels = make([]label, len(s.m.craft))
	own := max(s.radius(), 7)
	for i := range labels {
		c := &s.m.craft[i]
		at := s.spot(c)
		labels[i] = newLabel(s.m, i, at, own)
		around.discs = append(around.discs, disc{at, own + 1})
		if a, b, ok := s.vectorLine(c); ok {
			around.lines = append(around.lines, segment{a, b, 50})
			past := &s.film.moments[max(s.m.step-trail, 0)].craft[i]
			if from, to, ok := s.area.clip(s.at(past.X, past.Y), a); ok {
				around.lines = append(around.lines, segment{from, to, 20})
			}
		}
	}
	for _, l := range s.m.losses {
		around.lines = append(around.lines, segment{labels[l.i].anchor, labels[l.j].anchor, 100})
	}
	for i := range labels {
		near := boxAt(labels[i].anchor, 6*own, 6*own)
		for j := range labels {
			labels[i].crowd = labels[i].crowd || i != j && near.holds(labels[j].anchor)
		}
	}
	for i := range labels {
		if labels[i].crowd { // they stand off together
			labels[i].clear += 9
			around.discs[i].r += 5
		}
	}
	return labels, place(labels, around, was)
}
