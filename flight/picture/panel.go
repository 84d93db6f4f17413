package picture

import (
	"fmt"
	"image/color"

	"skyrail/flight"
	"skyrail/internal/drawing"
)

// The parts of a panel, in points: a line of step and state above, the sector, a line of counters below.
const (
	panelHead = 21.0
	panelFoot = 19.0
)

// panel draws the moment of a film after k steps into an area whose width and height differ by the head and
// the foot. was is what panel returned for the moment before, nil for the first or where moments are not
// neighbours: then labels do not care where they were.
func (f *Film) panel(p pen, area box, k int, was []xy) []xy {
	m := f.at(k)
	f.panelHead(p, area, k)
	s := sector{
		pen: p, area: box{area.x0, area.y0 + panelFoot, area.x1, area.y1 - panelHead},
		film: f, m: m, late: k > f.last(),
	}
	offsets := s.draw(was)
	counters := fmt.Sprintf("congestion %d%sexit miss %.2f%sclearances %d", m.congestion, gap, m.exitMiss, gap, m.clearances)
	p.write(drawing.Plain(12, ink), xy{area.x0 + 1, area.y0 + 5}, drawing.Left, counters)
	return offsets
}

// panelHead writes the step, and the state as a badge.
func (f *Film) panelHead(p pen, area box, k int) {
	m := f.at(k)
	base := area.y1 - 14
	step := fmt.Sprintf("step %d", k)
	look := drawing.Bold(14, ink)
	p.write(look, xy{area.x0 + 1, base}, drawing.Left, step)
	seconds := fmt.Sprintf("%g s", float64(k)*flight.DT)
	p.write(drawing.Plain(12, soft), xy{area.x0 + 1 + look.Width(step) + 7, base}, drawing.Left, seconds)

	text := m.state.String()
	if k > f.last() {
		text = fmt.Sprintf("ended at step %d: %s", f.last(), text)
	} else if m.state == completed && m.midAir {
		text += ", mid-air"
	}
	tone := m.tone()
	if m.state == flying {
		p.write(drawing.Plain(12, soft), xy{area.x1 - 1, base}, drawing.Right, text)
		return
	}
	badge := drawing.Bold(12, paper)
	w := badge.Width(text) + 12
	p.fill(tone, rounded(box{area.x1 - w, base - 4.2, area.x1, base + 12.2}, 4))
	p.write(badge, xy{area.x1 - 6, base}, drawing.Right, text)
}

// tone is the colour of a state.
func (m *moment) tone() color.RGBA {
	switch {
	case m.midAir:
		return danger
	case m.state == completed:
		return done
	case m.state == budgetSpent:
		return toldText
	}
	return frame
}
