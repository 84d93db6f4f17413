package picture

import (
	"image/color"
	"strconv"

	"skyrail/internal/drawing"
	"skyrail/rail"
)

// role is what a cell is in a timetable.
type role int

const (
	start role = iota
	stop
	target
)

// mark is a cell of a timetable.
type mark struct {
	cell rail.Cell
	role role
	text string // of a selected train: S, the numbers of its stops, T
}

// marks returns the cells of a train's timetable. All platforms of a stop have its number.
func marks(t *rail.Train) []mark {
	all := []mark{{t.Initial.Cell, start, "S"}}
	for k, s := range t.Intermediate() {
		for _, a := range s.Alternatives {
			all = append(all, mark{a.Cell, stop, strconv.Itoa(k + 1)})
		}
	}
	return append(all, mark{t.Target, target, "T"})
}

// drawPlace draws a mark: a ring for a start, a diamond for a stop, a square for a target, faint or strong.
func drawPlace(c canvas, centre xy, size float64, m mark, strong bool) {
	var tint color.RGBA = place
	width := max(0.07*size, 0.9)
	if strong {
		tint, width = chosen, max(0.11*size, 1.8)
	}
	switch m.role {
	case start:
		c.stroke(tint, width, circle(centre, 0.4*size))
	case stop:
		d := 0.47 * size
		c.stroke(tint, width, polygon(centre.plus(xy{d, 0}), centre.plus(xy{0, d}), centre.plus(xy{-d, 0}), centre.plus(xy{0, -d})))
	case target:
		c.stroke(tint, width, rectangle(centre, 0.84*size, 0.84*size))
	}
	if strong {
		look := drawing.Bold(max(0.36*size, 9), paper)
		at := centre.plus(xy{-0.42, -0.42}.times(size))
		w := look.Width(m.text) + 0.5*look.Size
		c.fill(chosen, rectangle(at, w, 1.25*look.Size))
		c.write(look, at.plus(xy{0, 0.36 * look.Size}), drawing.Centred, m.text)
	}
}
