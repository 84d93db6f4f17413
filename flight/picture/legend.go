package picture

import (
	"fmt"

	"skyrail/flight"
	"skyrail/internal/drawing"
)

// entry is a sign of the legend and what it means.
type entry struct {
	width float64 // of the sign, in points
	draw  func(p pen, left xy)
	text  string
}

var legendText = drawing.Plain(12, ink)

const (
	legendRow = 20.0
	signGap   = 5.0
	entryGap  = 20.0
)

// legend returns the entries that explain what films show in sectors side points wide.
func legend(films []Film, side float64) []entry {
	sample := flight.FLInc.String()
	grid5 := cell * sectorScale(side)
	var refused, hit bool
	for i := range films {
		for _, m := range films[i].moments {
			refused = refused || m.order.refused
		}
		hit = hit || films[i].at(films[i].last()).midAir
	}
	entries := []entry{
		{16, func(p pen, l xy) { drawDart(p, l.plus(8, 0), xy{1, 0}, converging) }, "converging on the hotspot"},
		{16, func(p pen, l xy) { drawDart(p, l.plus(8, 0), xy{1, 0}, background) }, "background aircraft"},
		{46, drawWay, fmt.Sprintf("%g s behind, %g s ahead", trail*flight.DT, ahead)},
		{30, func(p pen, l xy) {
			drawRing(p, l.plus(8, 0), 7, converging, false)
			drawRing(p, l.plus(22, 0), 7, converging, false)
		}, fmt.Sprintf("rings touch at %g m", flight.SeparationRadius)},
		{26, func(p pen, l xy) {
			a, b := l.plus(8, 0), l.plus(18, 0)
			drawJoin(p, a, b, 7)
			drawRing(p, a, 7, converging, true)
			drawRing(p, b, 7, converging, true)
		}, fmt.Sprintf("loss of separation: within %g m and under %g in level",
			flight.SeparationRadius, flight.VerticalSeparation)},
		{grid5, func(p pen, l xy) {
			p.stroke(soft, 1, open(l.plus(0, 2), l.plus(0, -2), l.plus(grid5, -2), l.plus(grid5, 2)))
		}, "5 km, as the grid"},
		{14, func(p pen, l xy) {
			at := l.plus(7, 0)
			p.fill(hotspot, circle(at, 7))
			p.stroke(hotspotRim, 0.8, circle(at, 7), 2, 2)
		}, "hotspot, 1 km around"},
		{17 + orderText.Width(sample) + 2*platePad, func(p pen, l xy) {
			drawOrder(p, l.plus(7, 0), false)
			drawDart(p, l.plus(7, 0), xy{1, 0}, converging)
			p.fill(told, rounded(box{l.x + 17, l.y - 6, l.x + 17 + orderText.Width(sample) + 2*platePad, l.y + 6}, 2.5))
			p.write(orderText, l.plus(17+platePad, -3.8), drawing.Left, sample)
		}, "clearance of this step"},
		words([]span{
			{text: "374", look: drawing.Bold(labelText, ink)},
			{text: "▲2", look: drawing.Bold(labelText, toldText)},
		}, "level, 2 above the entry level"),
		words([]span{{text: "▼270 m/s", look: drawing.Bold(labelText-1, toldText)}}, "below the entry speed"),
		{16, func(p pen, l xy) {
			drawDart(p, l.plus(8, 0), xy{1, 0}, faded(converging))
		}, "has left the sector, here"},
		{40, func(p pen, l xy) {
			p.fill(danger, box{l.x, l.y, l.x + 5, l.y + 7}.path())
			p.fill(danger, box{l.x + 7, l.y, l.x + 12, l.y + 4}.path())
			p.fill(told, box{l.x + 24, l.y - 6, l.x + 29, l.y - 1}.path())
			p.line(frame, 0.9, l, l.plus(40, 0))
		}, "pairs in loss of separation, clearances, by step"},
	}
	if hit {
		entries = append(entries, entry{16, func(p pen, l xy) { drawBurst(p, l.plus(8, 0), 8) },
			fmt.Sprintf("mid-air: within %g m, under %g in level", flight.MidAirRadius, flight.LevelStep)})
	}
	if refused {
		entries = append(entries, entry{16, func(p pen, l xy) { drawOrder(p, l.plus(7, 0), true) },
			"clearance refused by the mask"})
	}
	return entries
}

// words returns an entry whose sign is text.
func words(sign []span, text string) entry {
	w := 0.0
	for _, s := range sign {
		w += s.width() + 2
	}
	return entry{w, func(p pen, l xy) {
		for _, s := range sign {
			p.write(s.look, l.plus(0, -4.3), drawing.Left, s.text)
			l.x += s.width() + 2
		}
	}, text}
}

// drawWay draws the dots behind an aircraft and the line ahead of it.
func drawWay(p pen, left xy) {
	for i, x := range []float64{1, 6, 11, 16} {
		p.fill(drawing.Mix(converging, sky, 80), circle(left.plus(x, 0), 1+float64(float64(i)*0.25)))
	}
	at := left.plus(23, 0)
	p.line(converging, 1.3, at, at.plus(22, 0))
	drawDart(p, at, xy{1, 0}, converging)
}

// flow returns where the signs of the entries go in a width, from the top left corner, and the height of it all.
func flow(entries []entry, width float64) (places []xy, height float64) {
	x := 0.0
	for _, e := range entries {
		w := e.width + signGap + legendText.Width(e.text)
		if x > 0 && x+w > width {
			x, height = 0, height+legendRow
		}
		places = append(places, xy{x, -height - legendRow/2})
		x += w + entryGap
	}
	return places, height + legendRow
}

// drawLegend writes the entries from the top left corner on.
func drawLegend(p pen, entries []entry, top xy, width float64) {
	places, _ := flow(entries, width)
	for i, e := range entries {
		at := top.plus(places[i].x, places[i].y)
		e.draw(p, at)
		p.write(legendText, at.plus(e.width+signGap, -4.3), drawing.Left, e.text)
	}
}
