package picture

import (
	"image/color"
	"math"
	"strconv"

	"skyrail/internal/drawing"
)

// label is the block of text of one aircraft.
type label struct {
	anchor xy      // the aircraft
	clear  float64 // radius around the anchor that belongs to the aircraft
	crowd  bool    // other aircraft are near: only a leader tells whose label this is
	rows   []row
	w, h   float64
	alarm  bool // the aircraft has lost separation
	faint  bool // the aircraft is outside the sector
}

// row is a line of a label.
type row []span

// span is a piece of text in a label, on a plate of its own if plate is set.
type span struct {
	text  string
	look  drawing.Script
	plate color.Color
}

// The size of a label's text, and the air in it.
const (
	labelText = 12
	labelPad  = 2.5
	platePad  = 2.5
	rowGap    = 1.5
	spanGap   = 2.0
)

// orderText is how the name of a clearance looks.
var orderText = drawing.Bold(labelText-1.5, ink)

// How many aircraft a picture may hold for labels of full length, and of one row.
const (
	fullLabels = 8
	rowLabels  = 20
)

// newLabel writes the label of aircraft i: its number and its level, with an arrow and the number of levels it
// is off its entry level; its speed, with an arrow if it is off its entry speed; the clearance given in this
// step. Where aircraft are many the label is shorter.
func newLabel(m *moment, i int, anchor xy, clear float64) label {
	c := &m.craft[i]
	l := label{anchor: anchor, clear: clear, alarm: m.inLoss(i), faint: !c.inside()}
	text := drawing.Bold(labelText, ink)
	quiet := drawing.Plain(labelText-1, soft)
	if l.faint {
		text.Color = soft
	}

	head := row{{strconv.Itoa(i), drawing.Bold(labelText-0.5, paper), c.color()}}
	if len(m.craft) <= rowLabels {
		head = append(head, span{text: number(c.Level), look: text})
		if off := c.levelsOff(); off != 0 {
			head = append(head, span{text: arrow(off) + number(math.Abs(off)), look: drawing.Bold(labelText, toldText)})
		}
	}
	l.rows = append(l.rows, head)
	if len(m.craft) <= fullLabels && !l.faint {
		speed := span{text: number(c.Speed) + " m/s", look: quiet}
		if off := c.Speed - c.entrySpeed; off != 0 {
			speed = span{text: arrow(off) + number(c.Speed) + " m/s", look: drawing.Bold(labelText-1, toldText)}
		}
		l.rows = append(l.rows, row{speed})
	}
	if o := m.order; o.given && o.aircraft == i {
		plate := span{o.clearance.String(), orderText, told}
		if o.refused {
			plate = span{plate.text + " refused", drawing.Bold(orderText.Size, soft), grid}
		}
		l.rows = append(l.rows, row{plate})
	}

	for _, r := range l.rows {
		w, h := r.size()
		l.w, l.h = max(l.w, w), l.h+h+rowGap
	}
	l.w += 2 * labelPad
	l.h += 2*labelPad - rowGap - 1 // text sits a little high in its row
	return l
}

// size returns the width and the height of a row.
func (r row) size() (w, h float64) {
	for i, s := range r {
		if i > 0 {
			w += spanGap
		}
		w += s.width()
		h = max(h, s.look.Size)
	}
	return w, h
}

func (s span) width() float64 {
	w := s.look.Width(s.text)
	if s.plate != nil {
		w += 2 * platePad
	}
	return w
}

// number writes v as a whole number where it is one: levels and speeds on the challenge's grid are.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func arrow(off float64) string {
	if off > 0 {
		return "▲"
	}
	return "▼"
}

// color tells converging aircraft from background ones.
func (c *craft) color() color.RGBA {
	hue := background
	if c.converging {
		hue = converging
	}
	if !c.inside() {
		hue = faded(hue)
	}
	return hue
}

// draw draws the label about its centre.
func (l *label) draw(p pen, centre xy) {
	at := boxAt(centre, l.w, l.h)
	edge, rim := color.Color(grid), 0.7
	if l.alarm {
		edge, rim = danger, 1.1
	}
	p.fill(paper, rounded(at, 3))
	p.stroke(edge, rim, rounded(at, 3))

	y := at.y1 - labelPad + 0.5
	for _, r := range l.rows {
		_, h := r.size()
		y -= h
		x := at.x0 + labelPad
		for _, s := range r {
			w := s.width()
			pad := 0.0
			if s.plate != nil {
				pad = platePad
				p.fill(s.plate, rounded(box{x, y - 0.5, x + w, y + h - 0.5}, 2.5))
			}
			// Digits and capitals are 0.72 of the size high; this centres them in the row.
			base := y - 0.5 + (h-float64(0.72*s.look.Size))/2
			p.write(s.look, xy{x + pad, base}, drawing.Left, s.text)
			x += w + spanGap
		}
		y -= rowGap
	}
}

// leader draws the line from the label about its centre to its aircraft, if it needs one.
func (l *label) leader(p pen, centre xy) {
	const tip = 4 // points: the leader ends in the dart
	from, to, long := l.leaderLine(centre, tip)
	if !long {
		return
	}
	c := frame
	if l.alarm {
		c = danger
	}
	p.line(c, 0.7, from, to)
}

// leaderLine returns the leader of a label at its centre, ending a distance from the aircraft; long is false if the
// label needs none.
func (l *label) leaderLine(centre xy, end float64) (from, to xy, long bool) {
	from = boxAt(centre, l.w, l.h).nearest(l.anchor)
	way := from.minus(l.anchor)
	d := way.length()
	if d <= l.clear+4 && !l.crowd {
		return from, from, false
	}
	return from, l.anchor.toward(way, min(end/d, 1)), true
}
