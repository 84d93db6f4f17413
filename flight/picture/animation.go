package picture

import (
	"image"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"skyrail/internal/drawing"
)

// The measures of an animation: points, and dots per inch.
const (
	gifPanel = 372.0 // of several
	gifAlone = 500.0
	gifGap   = 16.0
	gifEdge  = 14.0
	gifHead  = 24.0
	gifDPI   = 96
)

// gifTimes makes about eight frames a second.
var gifTimes = drawing.Times{First: 60, Frame: 12, Last: 300}

// animation is the layout of a moving picture: one panel a film, side by side.
type animation struct {
	films   []Film
	side    float64 // of a panel
	horizon int
	entries []entry
	w, h    float64
	labels  [][]xy // of each film: where its labels were in the frame before
}

func newAnimation(films []Film) *animation {
	a := &animation{films: films, side: gifPanel, horizon: horizon(films), labels: make([][]xy, len(films))}
	if len(films) == 1 {
		a.side = gifAlone
	}
	a.entries = legend(films, a.side)
	n := float64(len(films))
	a.w = 2*gifEdge + float64(n*a.side) + float64((n-1)*gifGap)
	_, legendHeight := flow(a.entries, a.w-2*gifEdge)
	a.h = 2*gifEdge + titleRow + gifHead + panelHead + a.side + panelFoot + 6 + timelineHeight + 8 + legendHeight
	return a
}

// frames returns how many there are: one a step of the longest film, and the reset.
func (a *animation) frames() int {
	n := 0
	for i := range a.films {
		n = max(n, len(a.films[i].moments))
	}
	return n
}

// draw draws frame k. Frames must be drawn in order, as labels stay near where they were.
func (a *animation) draw(p pen, k int) {
	p.fill(paper, box{0, 0, a.w, a.h}.path())
	top := a.h - gifEdge
	title := drawing.Bold(15, ink)
	p.write(title, xy{gifEdge, top - 14}, drawing.Left, title.Fit(heading(a.films), a.w-2*gifEdge))
	top -= titleRow - 6
	most := mostEvents(a.films)
	bottom := top - gifHead - panelHead - a.side - panelFoot - 6 - timelineHeight
	for i := range a.films {
		f := &a.films[i]
		x := gifEdge + float64(float64(i)*(a.side+gifGap))
		look := drawing.Bold(15, ink)
		p.write(look, xy{x, top - 17}, drawing.Left, look.Fit(nameOf(f, a.films), a.side))
		y := top - gifHead
		a.labels[i] = f.panel(p, box{x, y - panelHead - a.side - panelFoot, x + a.side, y}, k, a.labels[i])
		f.timeline(p, box{x, bottom, x + a.side, bottom + timelineHeight}, most, a.horizon, k, []int{k})
	}
	drawLegend(p, a.entries, xy{gifEdge, bottom - 8}, a.w-2*gifEdge)
}

// write encodes the animation as a GIF.
func (a *animation) write(w io.Writer) error {
	out := drawing.NewAnimation(gifColors(), gifWeights)
	for k := range a.frames() {
		canvas := vgimg.NewWith(vgimg.UseWH(vg.Length(a.w), vg.Length(a.h)), vgimg.UseDPI(gifDPI))
		a.draw(pen{canvas}, k)
		out.Add(canvas.Image().(*image.RGBA))
	}
	return out.Write(w, gifTimes)
}
