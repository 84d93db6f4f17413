package generate

import (
	"errors"
	"fmt"
	"slices"

	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// Closures draws infrastructure disruptions over an episode of so many steps: stretches of plain track that are closed
// for a time. They are this project's own; flatland-rl has no generator of them.
//
// Plain track is straights and turns. A stretch is a drawn cell of it and what follows along the track, a cell at one end
// and a cell at the other in turn, up to closure_length cells; it ends before all that is no plain track, a switch, a
// crossing or a dead end. Its cells are listed from one end to the other.
//
// From the stream it takes one double for each step from 1 on. If that is below 1/closure_interval a closure begins in
// the step, and takes two more: randint(0, cells of plain track), which counts them row by row, and
// randint(closure_duration_min, closure_duration_max+1), its steps. So closures are listed by their begin, at most one
// begins in a step, and the last ones may outlast the episode.
//
// It is an error if one of the four values is missing or cannot be, or if there is no plain track.
func Closures(net *rail.Network, specs railfile.InfrastructureSpecs, steps int, rng *numpyrand.RandomState) (*rail.TrackClosures, error) {
	if err := checkClosures(specs, steps); err != nil {
		return nil, err
	}
	var plain []rail.Cell
	for row := range net.Height() {
		for col := range net.Width() {
			if c := (rail.Cell{Row: row, Col: col}); isPlainTrack(net.At(c)) {
				plain = append(plain, c)
			}
		}
	}
	if len(plain) == 0 {
		return nil, errors.New("closures: there is no straight and no turn that could be closed")
	}
	all := &rail.TrackClosures{}
	rate, cells := 1/specs.Interval.Value, 0
	for step := 1; step <= steps; step++ {
		if rng.Random() >= rate {
			continue
		}
		cell := plain[rng.Randint(0, int64(len(plain)))]
		duration := int(rng.Randint(int64(*specs.DurationMin), int64(*specs.DurationMax)+1))
		stretch := closedStretch(net, cell, *specs.Length)
		if cells += len(stretch); cells > mostClosedCells {
			return nil, fmt.Errorf("infrastructureSpecs: closures of more than %d cells: want a longer closure_interval or a smaller closure_length", mostClosedCells)
		}
		all.Closures = append(all.Closures, rail.Closure{From: step, Until: step + duration, Cells: stretch})
	}
	return all, nil
}

// mostClosedCells bounds the cells of all closures together.
const mostClosedCells = 1 << 20

func checkClosures(s railfile.InfrastructureSpecs, steps int) error {
	switch {
	case s.Interval == nil || s.DurationMin == nil || s.DurationMax == nil || s.Length == nil:
		return errors.New("infrastructureSpecs: want closure_interval, closure_duration_min, closure_duration_max and closure_length")
	case !(s.Interval.Value >= 1):
		return fmt.Errorf("infrastructureSpecs: closure_interval is %s, want 1 or more: at most one closure begins in a step", *s.Interval)
	case *s.DurationMin < 1 || *s.DurationMin > *s.DurationMax:
		return fmt.Errorf("infrastructureSpecs: closures last %d to %d steps: want 1 <= closure_duration_min <= closure_duration_max",
			*s.DurationMin, *s.DurationMax)
	case *s.Length < 1:
		return fmt.Errorf("infrastructureSpecs: closure_length is %d, want 1 or more cells", *s.Length)
	case steps < 0 || steps > rail.MaxSteps || *s.DurationMax > rail.MaxSteps-steps:
		return fmt.Errorf("infrastructureSpecs: closures of up to %d steps in an episode of %d: want 0 or more steps, and at most %d together",
			*s.DurationMax, steps, rail.MaxSteps)
	}
	return nil
}

// isPlainTrack says whether a cell is a straight or a turn.
func isPlainTrack(t rail.Transitions) bool {
	for quarters := range 4 {
		if t == rail.StraightTrack.Rotated(quarters) || t == rail.RightTurn.Rotated(quarters) {
			return true
		}
	}
	return false
}

// closedStretch is the plain track around a cell, most cells of it at most.
func closedStretch(net *rail.Network, middle rail.Cell, most int) []rail.Cell {
	var ends [2]trackEnd
	k := 0
	for h := rail.North; h <= rail.West; h++ {
		if net.At(middle).Exits(h) != 0 {
			ends[k] = trackEnd{at: rail.Configuration{Cell: middle, Heading: h}}
			k++
		}
	}
	for n, turn := 1, 0; n < most && !(ends[0].closed && ends[1].closed); turn = 1 - turn {
		if ends[turn].extend(net, ends[1-turn].at.Cell) {
			n++
		}
	}
	slices.Reverse(ends[0].cells)
	return append(append(ends[0].cells, middle), ends[1].cells...)
}

// trackEnd is one end of a stretch: a train that drives out of it there.
type trackEnd struct {
	at     rail.Configuration
	cells  []rail.Cell // beyond the middle
	closed bool        // it goes no further
}

// extend goes on by one cell, if there is plain track and it is not the other end, as on a ring.
func (e *trackEnd) extend(net *rail.Network, other rail.Cell) bool {
	if e.closed {
		return false
	}
	exits := net.At(e.at.Cell).Exits(e.at.Heading)
	to := rail.North
	for exits&(8>>to) == 0 {
		to++
	}
	next := e.at.Cell.Toward(to)
	if t := net.At(next); !isPlainTrack(t) || t.Exits(to) == 0 || next == other {
		e.closed = true
		return false
	}
	e.at = rail.Configuration{Cell: next, Heading: to}
	e.cells = append(e.cells, next)
	return true
}
