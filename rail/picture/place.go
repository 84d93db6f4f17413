package picture

import (
	"image/color"
	"strconv"

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

// drawPlace draws what a cell is in a timetable: a ring for a start, a diamond for a stop, a square for a target, faint or
// strong.
func drawPlace(c canvas, centre xy, size float64, r role, strong bool) {
	var tint color.RGBA = place
	width := max(0.07*size, 0.9)
	if strong {
		tint, width = chosen, max(0.11*size, 1.8)
	}
	switch r {
	case start:
		c.stroke(tint, width, circle(centre, 0.4*size))
	case stop:
		d := 0.47 * size
		c.stroke(tint, width, polygon(centre.plus(xy{d, 0}), centre.plus(xy{0, d}), centre.plus(xy{-d, 0}), centre.plus(xy{0, -d})))
	case target:
		c.stroke(tint, width, rectangle(centre, 0.84*size, 0.84*size))
	}
}
