package picture

import (
	"bytes"
	"fmt"
	"io"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// vector is a canvas of an SVG whose text shows as measured wherever it is opened: it names the fonts that
// machines have, of which the first ones have the same widths, and gives the length of each text, to which a
// browser that has none of them fits its own. Embedding the fonts would take a megabyte.
type vector struct {
	*vgsvg.Canvas
	lengths []float64 // of the texts, in the order they were written
}

// FillString writes text and notes its length.
func (v *vector) FillString(face font.Face, at vg.Point, text string) {
	v.lengths = append(v.lengths, float64(face.Width(text)))
	v.Canvas.FillString(face, at, text)
}

// write writes the finished SVG.
func (v *vector) write(w io.Writer) error {
	var drawn bytes.Buffer
	if _, err := v.Canvas.WriteTo(&drawn); err != nil {
		return err
	}
	// Text is escaped, so these marks are the canvas's own.
	parts := bytes.Split(drawn.Bytes(), []byte("<text "))
	if len(parts) != len(v.lengths)+1 {
		panic(fmt.Sprintf("picture: %d texts were written, the SVG has %d", len(v.lengths), len(parts)-1))
	}
	var out bytes.Buffer
	out.Write(parts[0])
	for i, part := range parts[1:] {
		fmt.Fprintf(&out, `<text textLength="%.5g" lengthAdjust="spacingAndGlyphs" `, v.lengths[i])
		out.Write(bytes.Replace(part,
			[]byte("font-family:Liberation Sans;"),
			[]byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif;"), 1))
	}
	_, err := w.Write(out.Bytes())
	return err
}
