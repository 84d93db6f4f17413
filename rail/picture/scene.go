package picture

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"

	"skyrail/internal/drawing"
	"skyrail/rail"
)

// The parts of a picture around the map, in pixels.
const (
	edge        = 12.0
	titleHeight = 28.0
	coordinates = 26.0 // left of the map and above it
	narrowest   = 620.0
)

// scene is the layout of a picture of one step.
type scene struct {
	*Recording
	next     []rail.Node // of nexts
	title    string
	selected []int
	region   Region
	size     float64 // of a cell
	map0     xy      // the top left corner of the region
	badges   []badge // of the selected trains' places
	w, h     float64
}

func newScene(r *Recording, o *Options, size float64) *scene {
	s := &scene{Recording: r, next: r.nexts(), title: o.Title, selected: o.Selected, region: o.Region.of(r.net), size: size}
	width, height := float64(s.region.Width)*size, float64(s.region.Height)*size
	s.w = math.Ceil(max(width+coordinates+2*edge, narrowest))
	_, counted := flow(s.tallies(r.first), s.inner())
	_, signed := flow(s.signs(), s.inner())
	s.map0 = xy{edge + coordinates, edge + titleHeight + counted + coordinates}
	s.h = math.Ceil(s.map0.y + height + 8 + signed + edge)
	s.badges = s.placeBadges()
	return s
}

func (s *scene) inner() float64 { return s.w - 2*edge }

// centre of a cell.
func (s *scene) centre(c rail.Cell) xy {
	return s.map0.plus(xy{float64(c.Col-s.region.Col) + 0.5, float64(c.Row-s.region.Row) + 0.5}.times(s.size))
}

// ground draws what is the same in every step.
func (s *scene) ground(c canvas) {
	c.fill(paper, polygon(xy{0, 0}, xy{s.w, 0}, xy{s.w, s.h}, xy{0, s.h}))
	s.grid(c)
	s.places(c)
	s.tracks(c)
	for _, i := range s.selected {
		for _, m := range marks(&s.scenario.Trains[i]) {
			if s.region.holds(m.cell) {
				drawPlace(c, s.centre(m.cell), s.size, m.role, true)
			}
		}
	}
	for _, b := range s.badges {
		b.draw(c)
	}
	bottom := s.map0.y + float64(s.region.Height)*s.size + 8
	drawEntries(c, s.signs(), xy{edge, bottom}, s.inner())
}

// grid draws the land with the numbers of rows and columns.
func (s *scene) grid(c canvas) {
	width, height := float64(s.region.Width)*s.size, float64(s.region.Height)*s.size
	c.fill(land, polygon(s.map0, s.map0.plus(xy{width, 0}), s.map0.plus(xy{width, height}), s.map0.plus(xy{0, height})))
	every := 1
	for _, every = range []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000} {
		if float64(every)*s.size >= 24 {
			break
		}
	}
	look := drawing.Plain(10, soft)
	var p vg.Path
	first := func(from int) int { return (from + every - 1) / every * every } // a round number, as on the whole map
	for col := first(s.region.Col); col < s.region.Col+s.region.Width; col += every {
		x := s.map0.x + float64(col-s.region.Col)*s.size
		p = append(p, lines(xy{x, s.map0.y}, xy{x, s.map0.y + height})...)
		c.write(look, xy{x + s.size/2, s.map0.y - 5}, drawing.Centred, strconv.Itoa(col))
	}
	for row := first(s.region.Row); row < s.region.Row+s.region.Height; row += every {
		y := s.map0.y + float64(row-s.region.Row)*s.size
		p = append(p, lines(xy{s.map0.x, y}, xy{s.map0.x + width, y})...)
		c.write(look, xy{s.map0.x - 5, y + s.size/2 + 3.6}, drawing.Right, strconv.Itoa(row))
	}
	c.stroke(raster, 0.7, p)
}

// places draws the starts, stops and targets of all trains, each once.
func (s *scene) places(c canvas) {
	type spot struct {
		rail.Cell
		role
	}
	drawn := map[spot]bool{}
	for i := range s.scenario.Trains {
		for _, m := range marks(&s.scenario.Trains[i]) {
			if at := (spot{m.cell, m.role}); !drawn[at] && s.region.holds(m.cell) {
				drawn[at] = true
				drawPlace(c, s.centre(m.cell), s.size, m.role, false)
			}
		}
	}
}

func (s *scene) tracks(c canvas) {
	var all, buffers vg.Path
	for k := range s.levelFree {
		cell := s.net.Cell(rail.Node(4 * k))
		if !s.region.holds(cell) {
			continue
		}
		for _, l := range links(s.net.At(cell)) {
			all = append(all, l.path(s.centre(cell), s.size)...)
			if l.deadEnd() {
				buffers = append(buffers, l.buffer(s.centre(cell), s.size)...)
			}
		}
	}
	drawTracks(c, s.size, all)
	c.stroke(ink, max(0.1*s.size, 1.2), buffers)
	for k, bridge := range s.levelFree {
		if cell := s.net.Cell(rail.Node(4 * k)); bridge && s.region.holds(cell) {
			drawBridge(c, s.net.At(cell), s.centre(cell), s.size)
		}
	}
}

// draw draws what a step shows on the ground.
func (s *scene) draw(c canvas, step int) {
	now := fmt.Sprintf("step %d", step)
	if limit := s.scenario.MaxEpisodeSteps; limit > 0 {
		now = fmt.Sprintf("step %d / %d", step, limit)
	}
	look := drawing.Bold(17, ink)
	c.write(look, xy{s.w - edge, edge + 17}, drawing.Right, now)
	c.write(look, xy{edge, edge + 17}, drawing.Left, look.Fit(s.title, s.inner()-look.Width(now)-20))
	drawEntries(c, s.tallies(step), xy{edge, edge + titleHeight}, s.inner())

	for _, cell := range s.shut(step) {
		if s.region.holds(cell) {
			drawShut(c, s.centre(cell), s.size)
		}
	}
	trains := s.at(step)
	occupied := map[rail.Cell]bool{}
	for i := range trains {
		if trains[i].node != rail.NoNode {
			occupied[s.net.Cell(trains[i].node)] = true
		}
	}
	var broken []breakdown
	sign := func(cell xy, m *moment) { broken = append(broken, breakdown{cell: cell, steps: int(m.malfunction)}) }
	for i := range trains {
		if m := &trains[i]; s.entering(c, m, i, occupied) && m.malfunction > 0 {
			sign(s.centre(s.scenario.Trains[i].Initial.Cell), m)
		}
	}
	for i := range trains {
		if m := &trains[i]; s.shows(m.node) {
			at, p := s.centre(s.net.Cell(m.node)), s.pose(step, i)
			drawTrain(c, at, s.size, p, m.state, false)
			drawHandle(c, at, s.size, p, m.state, i)
		}
	}
	for i := range trains {
		m := &trains[i]
		if !s.shows(m.node) {
			continue
		}
		at := s.centre(s.net.Cell(m.node))
		if m.deadlocked {
			drawFrame(c, at, s.size)
		}
		if m.state.InMalfunction() || m.malfunction > 0 {
			sign(at, m)
		}
	}
	for _, i := range s.selected {
		if m := &trains[i]; s.shows(m.node) {
			c.stroke(chosen, max(0.09*s.size, 1.8), circle(s.centre(s.net.Cell(m.node)), s.ring()))
		}
	}
	taken := s.arrange(broken)
	for i := range broken {
		drawBreakdown(c, broken[i].at, s.size, broken[i].steps)
	}
	for _, i := range s.selected {
		if m := &trains[i]; s.shows(m.node) {
			s.point(c, s.centre(s.net.Cell(m.node)), i, taken)
		}
	}
}

// shows tells whether a train on a node is in the picture.
func (s *scene) shows(n rail.Node) bool { return n != rail.NoNode && s.region.holds(s.net.Cell(n)) }

// entering draws a train that is ready to enter, the first of those at the same place, if nothing stands there, and tells
// whether it did.
func (s *scene) entering(c canvas, m *moment, i int, occupied map[rail.Cell]bool) bool {
	at := s.scenario.Trains[i].Initial
	if m.state != rail.ReadyToDepart && m.state != rail.MalfunctionOffMap || occupied[at.Cell] || !s.region.holds(at.Cell) {
		return false
	}
	occupied[at.Cell] = true
	p := pose{way: sides[at.Heading].unit()}
	drawTrain(c, s.centre(at.Cell), s.size, p, m.state, true)
	drawHandle(c, s.centre(at.Cell), s.size, p, rail.ReadyToDepart, i)
	return true
}

// ring is the radius of the ring around a selected train.
func (s *scene) ring() float64 { return max(0.62*s.size, 7) }

// point writes the number of a selected train beside its ring.
func (s *scene) point(c canvas, at xy, handle int, taken []box) {
	b := badge{look: drawing.Bold(max(0.36*s.size, 10), paper), text: strconv.Itoa(handle)}
	b.w, b.h = b.look.Width(b.text)+0.6*b.look.Size, 1.25*b.look.Size
	aside, up := s.ring()+b.w/2, 0.5*s.size
	b.box = s.free(b.box, taken, []xy{
		at.plus(xy{aside, -up}), at.plus(xy{aside, up}), at.plus(xy{-aside, -up}), at.plus(xy{-aside, up}),
	})
	b.draw(c)
}

// entry is a sign and what it means.
type entry struct {
	draw func(c canvas, at xy) // about its centre
	text string
}

// The measures of entries, in pixels.
const (
	entryHeight = 22.0
	signSize    = 20.0
	entryGap    = 16.0
)

var entryText = drawing.Plain(12.5, ink)

// tallies are how many trains are in each state.
func (s *scene) tallies(step int) []entry {
	n := s.count(step)
	var all []entry
	for state, number := range n.states {
		state := rail.State(state)
		text := fmt.Sprintf("%d %s", number, stateName(state))
		if state == rail.Done {
			text = fmt.Sprintf("%d of %d arrived", number, s.Trains())
		}
		all = append(all, entry{func(c canvas, at xy) {
			drawTrain(c, at, signSize, pose{way: xy{1, 0}}, state, state.OffMap() && state != rail.Waiting)
		}, text})
	}
	return append(all, entry{func(c canvas, at xy) { drawFrame(c, at, signSize*0.8) }, fmt.Sprintf("%d deadlocked", n.deadlocked)})
}

// signs explain the rest of what is drawn.
func (s *scene) signs() []entry {
	at := func(r role, strong bool) func(canvas, xy) {
		return func(c canvas, at xy) {
			drawPlace(c, at, signSize*0.9, r, strong)
			if strong {
				newBadges(at, signSize*0.9, []string{"S"})[0].draw(c)
			}
		}
	}
	all := []entry{
		{at(start, false), "start"},
		{at(stop, false), "stop"},
		{at(target, false), "target"},
		{at(start, true), "of a selected train"},
		{func(c canvas, at xy) { drawBreakdown(c, at, 30, 7) }, "malfunction, steps left"},
		{func(c canvas, at xy) {
			drawTracks(c, signSize, link{rail.North, rail.South}.path(at, signSize))
			drawBridge(c, rail.DiamondCrossing, at, signSize)
		}, "bridge"},
		{func(c canvas, at xy) {
			l := link{rail.West, rail.West}
			drawTracks(c, signSize, l.path(at, signSize))
			c.stroke(ink, 2, l.buffer(at, signSize))
		}, "dead end"},
	}
	if len(s.closures) > 0 {
		all = append(all, entry{func(c canvas, at xy) {
			drawTracks(c, signSize, link{rail.West, rail.East}.path(at, signSize))
			drawShut(c, at, signSize)
		}, "closed track"})
	}
	return all
}

// flow returns the centres of the signs of entries in a width, from the top left corner, and the height of them all.
func flow(entries []entry, width float64) (places []xy, height float64) {
	x := 0.0
	for _, e := range entries {
		w := signSize + 5 + entryText.Width(e.text)
		if x > 0 && x+w > width {
			x, height = 0, height+entryHeight
		}
		places = append(places, xy{x + signSize/2, height + entryHeight/2})
		x += math.Ceil(w + entryGap)
	}
	return places, height + entryHeight
}

func drawEntries(c canvas, entries []entry, corner xy, width float64) {
	places, _ := flow(entries, width)
	for i, e := range entries {
		at := corner.plus(places[i])
		e.draw(c, at)
		c.write(entryText, at.plus(xy{signSize/2 + 5, 4.5}), drawing.Left, e.text)
	}
}
