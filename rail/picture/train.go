package picture

import (
	"strconv"

	"skyrail/internal/drawing"
	"skyrail/rail"
)

// pose is where a train is drawn: its place relative to the centre of the cell, in cells, and the way it points.
type pose struct{ place, way xy }

// The middle of a train is between these shares of the way through its cell, so that the whole train is in it.
const (
	entered = 0.38
	leaving = 0.62
)

// pose of train i after a step in which it is on the map.
func (s *scene) pose(step, i int) pose {
	m := &s.at(step)[i]
	travelled := s.fractions[m.travelled].Float64()
	l := link{opposite(m.node.Heading()), s.exit(m.node, s.next[(step-s.first)*s.Trains()+i])}
	place, way := l.inside(travelled)
	return pose{place, way}
}

// inside is at for the middle of a train that has travelled a share of its cell.
func (l link) inside(travelled float64) (place, way xy) {
	from, to := entered, leaving
	if l.deadEnd() { // half as long
		from, to = 2*entered, 1
	}
	return l.at(from + (to-from)*travelled)
}

// The shape of a train, in cells.
const (
	halfLength = 0.34
	halfWidth  = 0.25
	shoulder   = 0.10 // from the middle: where the nose begins
)

// drawTrain draws a wedge with its nose ahead. An empty one waits off the map.
func drawTrain(c canvas, centre xy, size float64, p pose, s rail.State, empty bool) {
	middle := centre.plus(p.place.times(size))
	across := xy{-p.way.y, p.way.x}
	corner := func(along, aside float64) xy {
		return middle.plus(p.way.times(along * size)).plus(across.times(aside * size))
	}
	body := polygon(corner(halfLength, 0), corner(shoulder, halfWidth), corner(-halfLength, halfWidth),
		corner(-halfLength, -halfWidth), corner(shoulder, -halfWidth))
	if empty {
		c.fill(paper, body)
		c.stroke(stateColors[s], max(0.07*size, 1), body)
		return
	}
	c.fill(stateColors[s], body)
	if size >= roomForRails {
		c.stroke(paper, 0.04*size, body)
	}
}

// smallestText is the size of text below which there is none, in pixels.
const smallestText = 6.5

// drawHandle writes a train's number on it if there is room.
func drawHandle(c canvas, centre xy, size float64, p pose, s rail.State, handle int) {
	text := strconv.Itoa(handle)
	look := drawing.Bold(min(0.38*size, 0.95*size/float64(len(text))), lettering(s))
	if look.Size < smallestText {
		return
	}
	at := centre.plus(p.place.plus(p.way.times(-0.07)).times(size))
	c.write(look, at.plus(xy{0, 0.36 * look.Size}), drawing.Centred, text)
}

// drawFrame marks a deadlocked train.
func drawFrame(c canvas, centre xy, size float64) {
	c.stroke(stuck, max(0.11*size, 1.6), rectangle(centre, 0.96*size, 0.96*size))
}

// breakdownCorner is where the sign of a malfunction stands if nothing else does, in cells from the centre.
var breakdownCorner = xy{0.42, -0.4}

func breakdownText(size float64) drawing.Script { return drawing.Bold(0.3*size, paper) }

// breakdownSize is the room that drawBreakdown takes.
func breakdownSize(size float64, steps int) (w, h float64) {
	look := breakdownText(size)
	if look.Size < smallestText {
		return 0.48 * size, 0.48 * size
	}
	return max(look.Width(strconv.Itoa(steps))+0.14*size, 0.4*size) + 0.1*size, 0.46 * size
}

// drawBreakdown draws the sign of a malfunction about a place, with the steps that are left if there is room for them.
func drawBreakdown(c canvas, at xy, size float64, steps int) {
	look := breakdownText(size)
	if look.Size < smallestText {
		c.fill(paper, circle(at, 0.24*size))
		c.fill(stateColors[rail.Malfunction], circle(at, 0.19*size))
		return
	}
	w, h := breakdownSize(size, steps)
	c.fill(paper, rectangle(at, w, h))
	c.fill(stateColors[rail.Malfunction], rectangle(at, w-0.1*size, h-0.1*size))
	c.write(look, at.plus(xy{0, 0.36 * look.Size}), drawing.Centred, strconv.Itoa(steps))
}
