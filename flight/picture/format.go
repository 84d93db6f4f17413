package picture

import (
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"skyrail/internal/drawing"
)

// Format is a kind of picture file.
type Format string

// The formats, named after the endings of their files.
const (
	SVG Format = "svg" // a strip of moments
	PNG Format = "png" // the same
	GIF Format = "gif" // an animation, one frame a step
)

// Formats returns the formats there are.
func Formats() []Format { return []Format{SVG, PNG, GIF} }

// FormatOf returns the format that a file's ending stands for, in capitals or not. The error names the endings
// there are.
func FormatOf(filename string) (Format, error) {
	return drawing.FormatOf(filename, Formats())
}

// MaxFilms is how many films a picture compares at most.
const MaxFilms = 6

// pngDPI makes a point of a strip two pixels.
const pngDPI = 144

// Write draws 1 to MaxFilms films in a format: a row (SVG, PNG) or a panel (GIF) each, in their order.
func Write(w io.Writer, format Format, films []Film) error {
	switch {
	case len(films) == 0:
		return errors.New("no film to draw")
	case len(films) > MaxFilms:
		return fmt.Errorf("%d films in a picture, at most %d fit", len(films), MaxFilms)
	}
	for i := range films {
		if len(films[i].moments) == 0 {
			return fmt.Errorf("film %d of %d is empty, it was not recorded", i+1, len(films))
		}
	}
	switch format {
	case SVG:
		s := newStrip(films)
		canvas := &vector{Canvas: vgsvg.New(vg.Length(s.w), vg.Length(s.h))}
		s.draw(pen{canvas})
		return canvas.write(w)
	case PNG:
		s := newStrip(films)
		canvas := vgimg.NewWith(vgimg.UseWH(vg.Length(s.w), vg.Length(s.h)), vgimg.UseDPI(pngDPI))
		s.draw(pen{canvas})
		_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
		return err
	case GIF:
		return newAnimation(films).write(w)
	}
	return fmt.Errorf("no picture format %q", format)
}
