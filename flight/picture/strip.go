package picture

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skyrail/internal/drawing"
)

// columns is how many moments a strip shows at most.
const columns = 5

// The measures of a strip, in points: five panels and their margins make a slide's width.
const (
	stripPanel = 268.0
	stripGap   = 12.0
	edge       = 22.0
	titleRow   = 34.0
	filmHead   = 26.0
	filmGap    = 14.0
)

// strip is the layout of a still picture: one row a film, one column a moment.
type strip struct {
	films   []Film
	steps   []int // the moments
	horizon int
	entries []entry
	w, h    float64
}

func newStrip(films []Film) strip {
	s := strip{films: films, steps: keyMoments(films), horizon: horizon(films)}
	s.w = 2*edge + columns*stripPanel + (columns-1)*stripGap
	s.entries = legend(films, s.panelWidth())
	_, legendHeight := flow(s.entries, s.inner())
	s.h = 2*edge + titleRow + float64(float64(len(films))*(s.filmHeight()+filmGap)) + legendHeight
	return s
}

func (s *strip) inner() float64 { return s.w - 2*edge }

func (s *strip) panelWidth() float64 {
	n := float64(len(s.steps))
	return min((s.inner()-float64((n-1)*stripGap))/n, stripPanel)
}

func (s *strip) filmHeight() float64 {
	return filmHead + panelHead + s.panelWidth() + panelFoot + 6 + timelineHeight
}

// draw draws the strip.
func (s *strip) draw(p pen) {
	p.fill(paper, box{0, 0, s.w, s.h}.path())
	top := s.h - edge
	p.write(drawing.Bold(19, ink), xy{edge, top - 16}, drawing.Left, heading(s.films))
	top -= titleRow
	most := mostEvents(s.films)
	for i := range s.films {
		f := &s.films[i]
		drawFilmHead(p, f, box{edge, top - filmHead, s.w - edge, top}, nameOf(f, s.films))
		y := top - filmHead
		side := s.panelWidth()
		for c, k := range s.steps {
			x := edge + float64(float64(c)*(side+stripGap))
			f.panel(p, box{x, y - panelHead - side - panelFoot, x + side, y}, k, nil)
		}
		bottom := top - s.filmHeight()
		f.timeline(p, box{edge, bottom, s.w - edge, bottom + timelineHeight}, most, s.horizon, s.horizon, s.steps)
		top = bottom - filmGap
	}
	drawLegend(p, s.entries, xy{edge, top}, s.inner())
}

// drawFilmHead writes the name of a film and how it ended.
func drawFilmHead(p pen, f *Film, area box, name string) {
	end := drawing.Plain(13, ink)
	outcome := f.outcome()
	if f.at(f.last()).midAir {
		end.Color = danger
	}
	look := drawing.Bold(16, ink)
	room := area.width() - end.Width(outcome) - 16
	p.line(grid, 1, xy{area.x0, area.y1}, xy{area.x1, area.y1})
	p.write(look, xy{area.x0, area.y0 + 7}, drawing.Left, look.Fit(name, room))
	p.write(end, xy{area.x1, area.y0 + 7}, drawing.Right, outcome)
}

// heading is the title of a picture.
func heading(films []Film) string {
	f := &films[0]
	if !sameSeed(films) {
		return "Flight Challenge" + dot + count(len(films), "episode")
	}
	s := f.scenario
	return strings.Join([]string{
		"Flight Challenge", fmt.Sprintf("seed %d", f.seed),
		fmt.Sprintf("%d aircraft, %d converging", len(s.Aircraft), s.Converging),
	}, dot)
}

// nameOf returns the title of one of the films, with its seed where the heading cannot tell it.
func nameOf(f *Film, films []Film) string {
	if sameSeed(films) {
		return f.title
	}
	return f.title + dot + "seed " + strconv.FormatUint(f.seed, 10)
}

func sameSeed(films []Film) bool {
	return !slices.ContainsFunc(films, func(f Film) bool {
		return f.seed != films[0].seed || f.cfg != films[0].cfg
	})
}

// horizon returns the number of steps the longest film may have.
func horizon(films []Film) int {
	h := 0
	for i := range films {
		h = max(h, films[i].cfg.MaxSteps)
	}
	return h
}

// keyMoments chooses the steps a strip shows, ascending, the same for all films so that agents are compared at
// the same moments: the first and the last; then, as far as there is room, where an episode ended early, the
// first and the worst loss of separation of each film; and what is left halves the widest gaps.
func keyMoments(films []Film) []int {
	end := 0
	for i := range films {
		end = max(end, films[i].last())
	}
	steps := []int{0}
	apart := max(end/12, 1) // steps closer than this show much the same
	add := func(k, apart int) {
		near := func(have int) bool { return max(k-have, have-k) < apart }
		if len(steps) < columns && !slices.ContainsFunc(steps, near) {
			steps = append(steps, k)
		}
	}
	add(end, 1)
	for i := range films {
		if f := &films[i]; f.at(f.last()).state != completed {
			add(f.last(), 1)
		}
	}
	for i := range films {
		if k, ok := films[i].firstLoss(); ok {
			add(k, 1)
		}
	}
	for i := range films {
		if k, ok := films[i].worstLoss(); ok {
			add(k, apart)
		}
	}
	for slices.Sort(steps); len(steps) < min(columns, end+1); slices.Sort(steps) {
		widest := 0
		for c := range steps[1:] {
			if steps[c+1]-steps[c] > steps[widest+1]-steps[widest] {
				widest = c
			}
		}
		steps = append(steps, (steps[widest]+steps[widest+1])/2)
	}
	return steps
}

// firstLoss returns the first step after which a pair has lost separation.
func (f *Film) firstLoss() (step int, ok bool) {
	for k := range f.moments {
		if len(f.moments[k].losses) > 0 {
			return k, true
		}
	}
	return 0, false
}

// worstLoss returns the step with the most pairs in loss, of those the one with the closest pair, of those the
// first.
func (f *Film) worstLoss() (step int, ok bool) {
	most, closest := 0, 0.0
	for k := range f.moments {
		m := &f.moments[k]
		if n, d := len(m.losses), m.closest(); n > most || n == most && n > 0 && d < closest {
			step, most, closest = k, n, d
		}
	}
	return step, most > 0
}
