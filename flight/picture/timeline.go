package picture

import (
	"strconv"

	"gonum.org/v1/plot/vg"

	"skyrail/internal/drawing"
)

// The timeline is the whole episode in a line: bars for the pairs that had lost separation after each step,
// ticks below for the clearances, and a mark where it ended before its time.
const (
	timelineHeight = 34.0
	timelineBars   = 15.0
	timelineTicks  = 7.0
)

// timeline draws the film up to a step into the area. most is the number of pairs a full bar stands for. The
// steps of shown, those of the panels, are marked and numbered.
func (f *Film) timeline(p pen, area box, most, horizon, until int, shown []int) {
	at := func(step float64) float64 {
		return area.x0 + float64(area.width()*step)/float64(horizon)
	}
	axis := area.y1 - timelineBars
	ended := until >= f.last()
	end := area.x1
	if ended {
		end = at(float64(f.last()))
	}
	p.fill(sky, box{area.x0, axis - timelineTicks, end, area.y1}.path())
	if end < area.x1 {
		p.fill(dusk, box{end, axis - timelineTicks, area.x1, area.y1}.path())
	}
	for _, k := range shown {
		x := at(float64(k))
		p.line(soft, 0.8, xy{x, axis - timelineTicks - 2}, xy{x, area.y1})
		p.write(drawing.Bold(9, soft), xy{x, area.y0 + 1.5}, share(k, horizon), strconv.Itoa(k))
	}

	half := min(float64(area.width())/float64(horizon)*0.38, 4.5)
	var bars, ticks, refused vg.Path
	for k := range min(until+1, len(f.moments)) {
		m := &f.moments[k]
		x := at(float64(k))
		if m.events > 0 {
			high := 3 + float64((timelineBars-3)*float64(m.events))/float64(most)
			bars = append(bars, box{max(x-half, area.x0), axis, min(x+half, area.x1), axis + high}.path()...)
		}
		if m.order.given {
			tick := box{max(x-half, area.x0), axis - timelineTicks + 1.2, min(x+half, area.x1), axis - 1.2}.path()
			if m.order.refused {
				refused = append(refused, tick...)
			} else {
				ticks = append(ticks, tick...)
			}
		}
	}
	for _, layer := range []struct {
		path  vg.Path
		paint func(vg.Path)
	}{
		{bars, func(path vg.Path) { p.fill(danger, path) }},
		{ticks, func(path vg.Path) { p.fill(told, path) }},
		{refused, func(path vg.Path) { p.stroke(frame, 0.8, path) }},
	} {
		if len(layer.path) > 0 {
			layer.paint(layer.path)
		}
	}
	p.line(frame, 0.9, xy{area.x0, axis}, xy{area.x1, axis})
	if last := f.at(f.last()); ended && (last.state != completed || last.midAir) {
		f.endMark(p, xy{end, axis})
	}
}

// endMark marks a mid-air by its star, a spent budget by a bar.
func (f *Film) endMark(p pen, at xy) {
	if f.at(f.last()).midAir {
		drawBurst(p, at, 7)
		return
	}
	p.line(toldText, 2.4, xy{at.x, at.y - timelineTicks}, xy{at.x, at.y + timelineBars})
}

// share keeps the numbers at the ends of a scale over the scale.
func share(k, horizon int) float64 {
	switch k {
	case 0:
		return drawing.Left
	case horizon:
		return drawing.Right
	}
	return drawing.Centred
}

// mostEvents returns the largest number of pairs in loss after a step of any film, at least 1.
func mostEvents(films []Film) int {
	most := 1
	for _, f := range films {
		for k := range f.moments {
			most = max(most, f.moments[k].events)
		}
	}
	return most
}
