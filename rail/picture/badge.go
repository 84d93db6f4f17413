package picture

import (
	"math"
	"strconv"

	"skyrail/internal/drawing"
	"skyrail/rail"
)

// badge is a word in a box, about a selected train.
type badge struct {
	box
	look drawing.Script
	text string
}

func (b *badge) draw(c canvas) {
	c.fill(chosen, rectangle(b.at, b.w, b.h))
	c.write(b.look, b.at.plus(xy{0, 0.36 * b.look.Size}), drawing.Centred, b.text)
}

// box is a rectangle about a centre.
type box struct {
	at   xy
	w, h float64
}

// hides is how much of other boxes a box covers, in square pixels.
func (b box) hides(others []box) (area float64) {
	for _, o := range others {
		wide := (b.w+o.w)/2 - math.Abs(b.at.x-o.at.x)
		high := (b.h+o.h)/2 - math.Abs(b.at.y-o.at.y)
		area += max(min(wide, b.w, o.w), 0) * max(min(high, b.h, o.h), 0)
	}
	return area
}

// newBadges lays the badges of a cell out: in a row from its top left corner on, smaller where there are many so that
// those of the next cell have room, or one with their number where they would be too small to read.
func newBadges(centre xy, size float64, texts []string) []badge {
	const room, gap = 0.92, 0.03 // in cells
	look := drawing.Bold(max(0.36*size, 9), paper)
	width := func(text string) float64 { return look.Width(text) + 0.5*look.Size }
	if len(texts) > 1 {
		total := 0.0
		for _, text := range texts {
			total += width(text)
		}
		smaller := look.Size * min((room-gap*float64(len(texts)-1))*size/total, 1)
		if smaller < smallestText {
			texts = []string{"×" + strconv.Itoa(len(texts))}
		} else {
			look.Size = smaller
		}
	}
	at := centre.plus(xy{-0.42, -0.42}.times(size))
	var all []badge
	for i, text := range texts {
		w := width(text)
		if i > 0 {
			at.x += w / 2
		}
		all = append(all, badge{box{at, w, 1.25 * look.Size}, look, text})
		at.x += w/2 + gap*size
	}
	return all
}

// placeBadges returns the badges of the places of all selected trains in the region.
func (s *scene) placeBadges() []badge {
	var cells []rail.Cell
	texts := map[rail.Cell][]string{}
	for _, i := range s.selected {
		for _, m := range marks(&s.scenario.Trains[i]) {
			if !s.region.holds(m.cell) {
				continue
			}
			if texts[m.cell] == nil {
				cells = append(cells, m.cell)
			}
			texts[m.cell] = append(texts[m.cell], m.text)
		}
	}
	var all []badge
	for _, cell := range cells {
		all = append(all, newBadges(s.centre(cell), s.size, texts[cell])...)
	}
	return all
}

// boxes are those of the badges.
func (s *scene) boxes() (all []box) {
	for i := range s.badges {
		all = append(all, s.badges[i].box)
	}
	return all
}

// free puts a box at the first of some places if it hides no badge there, or else where it hides least of the badges and
// of what is taken besides.
func (s *scene) free(b box, taken []box, places []xy) box {
	badges := s.boxes()
	best, least := b, math.Inf(1)
	for i, at := range places {
		b.at = at
		hidden := b.hides(badges)
		if i > 0 || hidden > 0 {
			hidden += b.hides(taken)
		}
		if hidden < least {
			best, least = b, hidden
		}
	}
	return best
}

// breakdown is the sign of a malfunction about to be drawn.
type breakdown struct {
	box
	cell  xy // the centre
	steps int
}

// Where the sign of a malfunction may stand, in cells from the centre. Where there are badges all around, the middles of
// the sides are left.
var breakdownPlaces = [...]xy{breakdownCorner, {0.42, 0.4}, {-0.42, 0.4}, {-0.42, -0.4}, {0.42, 0.07}, {-0.42, 0.07}}

// arrange puts signs where they hide no badge. Those that have to leave their corner make way for those that do not.
func (s *scene) arrange(all []breakdown) (taken []box) {
	badges := s.boxes()
	for i := range all {
		b := &all[i]
		b.w, b.h = breakdownSize(s.size, b.steps)
		b.at = b.cell.plus(breakdownCorner.times(s.size))
		if b.hides(badges) == 0 {
			taken = append(taken, b.box)
		}
	}
	for i := range all {
		b := &all[i]
		if b.hides(badges) == 0 {
			continue
		}
		var places []xy
		for _, way := range breakdownPlaces {
			places = append(places, b.cell.plus(way.times(s.size)))
		}
		b.box = s.free(b.box, taken, places)
		taken = append(taken, b.box)
	}
	return taken
}
