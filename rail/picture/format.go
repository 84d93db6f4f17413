package picture

import (
	"errors"
	"fmt"
	"image/png"
	"io"

	"skyrail/internal/drawing"
	"skyrail/rail"
)

// Format is a kind of picture file.
type Format string

// The formats, named after the endings of their files.
const (
	SVG  Format = "svg"  // one step
	PNG  Format = "png"  // the same
	GIF  Format = "gif"  // an animation, one frame a step
	HTML Format = "html" // a page that plays the steps in a browser, with nothing from outside
)

// Formats returns the formats there are.
func Formats() []Format { return []Format{SVG, PNG, GIF, HTML} }

// FormatOf returns the format that a file's ending stands for, in capitals or not. The error names the endings there
// are.
func FormatOf(filename string) (Format, error) {
	return drawing.FormatOf(filename, Formats())
}

// Options say what of a recording is drawn, and how. The zero value draws all of it.
type Options struct {
	// Title is written above the map.
	Title string
	// Selected are the handles of trains whose start, stops and target are drawn strongly.
	Selected []int
	// Cell is the side of a cell in pixels, MinCell to MaxCell; 0 stands for a size that suits a screen. A page, in
	// which one can zoom, does not look at it.
	Cell int
	// Region is the part of the map that is drawn, in any format. What is counted are all trains nevertheless.
	Region Region
	// From and To are the first and the last step; those of the recording if not given. An SVG or a PNG shows To.
	From, To rail.Time
}

// The sides of a cell that can be asked for, in pixels.
const (
	MinCell = 4
	MaxCell = 128
)

const (
	maxPixels = 64 << 20  // of a picture
	maxFilm   = 512 << 20 // of all frames of an animation
)

// Write draws a recording. On one platform the same recording makes the same bytes. Errors are about steps that were
// not recorded, trains that there are not, a region outside the map, a title that cannot be drawn, or a picture that would
// be too large, and say what to do.
func Write(w io.Writer, format Format, r *Recording, o Options) error {
	from, to, err := r.check(&o)
	if err != nil {
		return err
	}
	if format == HTML {
		return r.writePage(w, &o, from, to)
	}
	s := newScene(r, &o, o.Region.of(r.net).cellSize(format, o.Cell))
	if s.w*s.h > maxPixels {
		return fmt.Errorf("no room: cells of %.0f pixels make a picture of %.0f x %.0f; want smaller cells or a smaller region", s.size, s.w, s.h)
	}
	switch format {
	case SVG:
		c := newVector(s.w, s.h)
		s.ground(c)
		s.draw(c, to)
		c.WriteString("</svg>\n")
		_, err := w.Write(c.Bytes())
		return err
	case PNG:
		c := newPixels(s.w, s.h)
		s.ground(c)
		s.draw(c, to)
		return png.Encode(w, c.image())
	case GIF:
		if frames := to - from + 1; float64(frames)*s.w*s.h > maxFilm {
			return fmt.Errorf("no room: an animation of %d steps of %.0f x %.0f pixels; want fewer steps, smaller cells or a smaller region, or a page (%s)",
				frames, s.w, s.h, HTML)
		}
		return s.writeFilm(w, from, to)
	}
	return fmt.Errorf("no picture format %q", format)
}

// check returns the steps to draw.
func (r *Recording) check(o *Options) (from, to int, err error) {
	if r == nil || r.steps == 0 {
		return 0, 0, errors.New("nothing was recorded: begin a recording with New")
	}
	from, to = r.First(), r.Last()
	if o.From.Given {
		from = o.From.Step
	}
	if o.To.Given {
		to = o.To.Step
	}
	switch {
	case from < r.First() || to > r.Last() || from > to:
		return 0, 0, fmt.Errorf("steps %d to %d: want steps from %d to %d, which were recorded", from, to, r.First(), r.Last())
	case o.Cell != 0 && (o.Cell < MinCell || o.Cell > MaxCell):
		return 0, 0, fmt.Errorf("cells of %d pixels: want %d to %d, or 0 for a size that suits", o.Cell, MinCell, MaxCell)
	}
	if o.Region != (Region{}) {
		if err := o.Region.Check(r.net); err != nil {
			return 0, 0, fmt.Errorf("region: %w", err)
		}
	}
	if err := drawing.CheckTitle(o.Title); err != nil {
		return 0, 0, err
	}
	for _, i := range o.Selected {
		if i < 0 || i >= r.Trains() {
			return 0, 0, fmt.Errorf("there is no train %d to select: want handles from 0 to %d", i, r.Trains()-1)
		}
	}
	return from, to, nil
}

// cellSize is what was asked for, or what makes the longer side fill a screen, within limits.
func (g Region) cellSize(f Format, asked int) float64 {
	longer := max(g.Width, g.Height)
	switch {
	case asked != 0:
		return float64(asked)
	case f == GIF:
		return float64(min(max(900/longer, 6), 40))
	}
	return float64(min(max(1800/longer, 12), 48))
}
