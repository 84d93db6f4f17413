package rail

import (
	"errors"
	"fmt"
	"slices"
)

// Closure shuts cells of track for a time.
type Closure struct {
	From, Until int    // steps: shut if From <= elapsed < Until
	Cells       []Cell // at least one
}

// TrackClosures are infrastructure disruptions: tracks that are closed for a time. They are an effect of this project's
// own, flatland-rl has none like it; package skyrail.rail brings it there.
//
// At the start of a step each train on the map, by handle, that is in a cell of an open closure breaks down until the
// closure ends, of several until the last end: if it is not broken its counter becomes the steps from this one to
// Until, so that it can go again in step Until. One that is broken for less has its counter raised to that, which is not
// another malfunction. So a train that drives into a closed cell is caught in the step after, and keeps the cell from
// those behind it. Trains off the map may enter, and are caught likewise. A closed bridge is closed on both axes.
//
// No random number is drawn, and nothing changes while running: after a reset the same closures happen again. They must
// not be changed once an environment has them.
type TrackClosures struct {
	Closures []Closure // in any order

	shut *shutCells // worked out in the first step, shared by clones
}

func (t *TrackClosures) stepStart(e *Env) {
	if len(t.Closures) == 0 {
		return
	}
	if !t.shut.of(e.net, t.Closures) {
		t.shut = newShutCells(e.net, t.Closures)
	}
	if shutUntil(t.shut.anywhere, e.elapsed) <= e.elapsed {
		return
	}
	for i := range e.trains {
		tr := &e.trains[i]
		if !tr.state.OnMap() {
			continue
		}
		left := shutUntil(t.shut.at(tr.node), e.elapsed) - e.elapsed
		switch {
		case left <= 0: // the track is open
		case tr.malfunction == 0:
			tr.breakDown(left)
		case tr.malfunction < left:
			tr.malfunction = left
		}
	}
}

func (t *TrackClosures) checkOn(net *Network) error {
	for i := range t.Closures {
		if err := t.Closures[i].check(net); err != nil {
			return fmt.Errorf("closure %d: %w", i, err)
		}
	}
	return nil
}

func (c *Closure) check(net *Network) error {
	if c.From < 0 || c.Until <= c.From || c.Until > MaxSteps {
		return fmt.Errorf("from step %d until step %d: want 0 <= from_step < until_step <= %d", c.From, c.Until, MaxSteps)
	}
	if len(c.Cells) == 0 {
		return errors.New("it has no cells: name at least one, or leave the closure out")
	}
	for _, cell := range c.Cells {
		if !net.Inside(cell) {
			return fmt.Errorf("cell %s is outside the grid of %d rows and %d columns", cell, net.height, net.width)
		}
	}
	return nil
}

func (t *TrackClosures) clone() Effect {
	c := *t
	return &c
}

func (t *TrackClosures) equal(other Effect) bool {
	o, ok := other.(*TrackClosures)
	return ok && slices.EqualFunc(t.Closures, o.Closures, func(a, b Closure) bool {
		return a.From == b.From && a.Until == b.Until && slices.Equal(a.Cells, b.Cells)
	})
}

// shutCells say of each cell of a grid when it is shut. They do not change.
type shutCells struct {
	net      *Network
	closures []Closure
	anywhere []shutSpan // on the whole grid
	spans    []shutSpan // of all cells, cell by cell
	first    []int32    // of each cell, and one more: where its spans begin
}

// shutSpan is from which step on something is shut, and until when, as far as the spans before it say too.
type shutSpan struct{ from, until int32 }

func newShutCells(net *Network, closures []Closure) *shutCells {
	s := &shutCells{net: net, closures: closures, first: make([]int32, net.width*net.height+1)}
	order := make([]*Closure, len(closures))
	for i := range closures {
		order[i] = &closures[i]
		for _, c := range closures[i].Cells {
			s.first[c.Row*net.width+c.Col+1]++
		}
	}
	slices.SortStableFunc(order, func(a, b *Closure) int { return a.From - b.From })
	for cell := range net.width * net.height {
		s.first[cell+1] += s.first[cell]
	}
	s.spans = make([]shutSpan, s.first[len(s.first)-1])
	filled := slices.Clone(s.first)
	for _, c := range order {
		s.anywhere = append(s.anywhere, c.after(s.anywhere))
		for _, cell := range c.Cells {
			k := cell.Row*net.width + cell.Col
			s.spans[filled[k]] = c.after(s.spans[s.first[k]:filled[k]])
			filled[k]++
		}
	}
	return s
}

// after is the closure as a span behind others, none of which begins later.
func (c *Closure) after(spans []shutSpan) shutSpan {
	s := shutSpan{int32(c.From), int32(c.Until)}
	if n := len(spans); n > 0 {
		s.until = max(s.until, spans[n-1].until)
	}
	return s
}

// of says whether they are those of a network and a list of closures.
func (s *shutCells) of(net *Network, closures []Closure) bool {
	return s != nil && s.net == net && len(s.closures) == len(closures) && &s.closures[0] == &closures[0]
}

// at are the spans of the cell of a configuration.
func (s *shutCells) at(n Node) []shutSpan { return s.spans[s.first[n>>2]:s.first[n>>2+1]] }

// shutUntil is the latest step until which what has begun by a step is shut; it is open again if that is not later.
func shutUntil(spans []shutSpan, step int) int {
	low, high := 0, len(spans)
	for low < high {
		if middle := (low + high) / 2; int(spans[middle].from) <= step {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return 0
	}
	return int(spans[low-1].until)
}
