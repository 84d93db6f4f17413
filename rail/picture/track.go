package picture

import (
	"slices"

	"gonum.org/v1/plot/vg"

	"skyrail/rail"
)

// link is a piece of track within a cell, from one side of it to another. A dead end goes from a side to the same one.
type link struct{ from, to rail.Heading }

func opposite(h rail.Heading) rail.Heading { return (h + 2) & 3 }

// links returns the pieces of track of a cell, each once.
func links(t rail.Transitions) []link {
	var all []link
	for in := rail.North; in <= rail.West; in++ {
		for out := rail.North; out <= rail.West; out++ {
			l := link{min(opposite(in), out), max(opposite(in), out)}
			if t.Allows(in, out) && !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	return all
}

func (l link) deadEnd() bool { return l.from == l.to }

func (l link) straight() bool { return l.from == opposite(l.to) }

// sides are the ways from the centre of a cell to the middles of its sides, in cells.
var sides = [4]xy{{0, -0.5}, {0.5, 0}, {0, 0.5}, {-0.5, 0}}

// at returns the place on the link a share of its way from the start, and the direction there, with the centre of the
// cell at (0, 0) and the cell of size 1. On a dead end it is the way in.
func (l link) at(share float64) (place, way xy) {
	a, b := sides[l.from], sides[l.to]
	switch {
	case l.deadEnd():
		return a.times(1 - share), a.times(-1).unit()
	case l.straight():
		return a.times(1 - 2*share), b.unit()
	}
	// The curve's handles are the ends themselves, drawn in towards the centre.
	s, h := 1-share, 1-bend
	place = a.times(s*s*s + 3*s*s*share*h).plus(b.times(share*share*share + 3*s*share*share*h))
	return place, curveWay(a, b, share).unit()
}

// curveWay is the derivative of the curve of a link.
func curveWay(a, b xy, share float64) xy {
	s, h := 1-share, 1-bend
	first := a.times(h - 1)                // from the start to its handle
	second := b.times(h).plus(a.times(-h)) // to the other handle
	third := b.times(1 - h)
	return first.times(s * s).plus(second.times(2 * s * share)).plus(third.times(share * share))
}

// path returns the link as a path.
func (l link) path(centre xy, size float64) (p vg.Path) {
	at := func(side rail.Heading, share float64) xy { return centre.plus(sides[side].times(share * size)) }
	p.Move(at(l.from, 1).vg())
	switch {
	case l.deadEnd():
		p.Line(centre.vg())
	case l.straight():
		p.Line(at(l.to, 1).vg())
	default:
		p.CubeTo(at(l.from, 1-bend).vg(), at(l.to, 1-bend).vg(), at(l.to, 1).vg())
	}
	return p
}

// buffer returns the buffer stop of a dead end: a bar across the end of its track.
func (l link) buffer(centre xy, size float64) vg.Path {
	way := sides[l.from]
	across := xy{-way.y, way.x}.times(0.56 * size)
	end := centre.plus(way.times(-0.06 * size))
	return lines(end.plus(across), end.plus(across.times(-1)))
}

// What tracks look like depends on the size of a cell, in pixels: from roomForRails on they have two rails and sleepers.
const roomForRails = 14

// drawTracks draws tracks given as one path, so that rails meet where tracks do.
func drawTracks(c canvas, size float64, p vg.Path) {
	if size < roomForRails {
		c.stroke(rails, max(0.17*size, 1), p)
		return
	}
	c.stroke(sleepers, 0.34*size, p, 0.06*size, 0.08*size)
	c.stroke(rails, 0.23*size, p)
	c.stroke(between, 0.12*size, p)
}

// drawBridge draws what lies over the other track of a level-free cell: its east-west track, with parapets. A cell that
// is no crossing of two straight tracks shows the parapets only.
func drawBridge(c canvas, t rail.Transitions, centre xy, size float64) {
	const high, long = 0.25, 0.32 // where the parapets are, and their half length
	deck := rectangle(centre, 0.7*size, 2*high*size)
	over := link{rail.East, rail.West}
	if slices.Contains(links(t), over) {
		c.fill(land, deck)
		drawTracks(c, size, over.path(centre, size))
	}
	for _, y := range []float64{-high, high} {
		wing := y * 1.5
		c.stroke(parapet, max(0.07*size, 1), lines(
			centre.plus(xy{-long - 0.1, wing}.times(size)), centre.plus(xy{-long, y}.times(size)),
			centre.plus(xy{long, y}.times(size)), centre.plus(xy{long + 0.1, wing}.times(size))))
	}
}

// drawShut crosses out a cell whose track is closed.
func drawShut(c canvas, centre xy, size float64) {
	r := 0.36 * size
	cross := append(lines(centre.plus(xy{-r, -r}), centre.plus(xy{r, r})), lines(centre.plus(xy{-r, r}), centre.plus(xy{r, -r}))...)
	c.stroke(stateColors[rail.Malfunction], max(0.12*size, 1.6), cross)
}
