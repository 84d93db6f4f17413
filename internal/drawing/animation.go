package drawing

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"io"
	"slices"
)

// Animation is a GIF in the making: it loops for ever, and after its first frame stores only what changed.
type Animation struct {
	weights [3]int
	known   map[color.RGBA]uint8 // the nearest of the palette
	shown   *image.Paletted      // the last frame, whole
	out     gif.GIF
	palette color.Palette // the transparent colour, then those to draw in
}

// Times says how long frames stay, in hundredths of a second. The last one may be the first, and stays as the last.
type Times struct{ First, Frame, Last int }

// NewAnimation begins an animation in up to 255 colours, all opaque; those after them are left out. Every pixel becomes
// the nearest of them, where weights say how much a difference in red, green and blue counts.
func NewAnimation(colours []color.RGBA, weights [3]int) *Animation {
	a := &Animation{weights: weights, known: map[color.RGBA]uint8{}, palette: color.Palette{color.RGBA{}}}
	for _, c := range colours[:min(len(colours), 255)] {
		a.palette = append(a.palette, c)
	}
	return a
}

// Add adds a frame, an opaque picture as large as those before.
func (a *Animation) Add(img *image.RGBA) {
	now := a.print(img)
	frame := now
	if a.shown != nil {
		frame = changes(a.shown, now)
	}
	a.shown = now
	a.out.Image = append(a.out.Image, frame)
	a.out.Disposal = append(a.out.Disposal, gif.DisposalNone)
}

// Write encodes what was added. The errors are w's, and that there is no frame.
func (a *Animation) Write(w io.Writer, t Times) error {
	n := len(a.out.Image)
	a.out.Delay = slices.Repeat([]int{t.Frame}, n)
	if n > 0 {
		a.out.Delay[0], a.out.Delay[n-1] = t.First, t.Last
		size := a.shown.Rect.Size()
		a.out.Config = image.Config{ColorModel: a.palette, Width: size.X, Height: size.Y}
	}
	return gif.EncodeAll(w, &a.out)
}

// print returns img in the colours of the palette.
func (a *Animation) print(img *image.RGBA) *image.Paletted {
	out := image.NewPaletted(img.Rect, a.palette)
	var last color.RGBA // no opaque colour
	var index uint8
	for i := range out.Pix {
		c := color.RGBA{img.Pix[4*i], img.Pix[4*i+1], img.Pix[4*i+2], 0xFF}
		if c != last {
			last, index = c, a.nearest(c)
		}
		out.Pix[i] = index
	}
	return out
}

// nearest returns the index of the colour closest to c that is not the transparent one.
func (a *Animation) nearest(c color.RGBA) uint8 {
	if i, ok := a.known[c]; ok {
		return i
	}
	best, least := 0, int(^uint(0)>>1)
	for i, q := range a.palette[1:] {
		q := q.(color.RGBA)
		dr, dg, db := int(c.R)-int(q.R), int(c.G)-int(q.G), int(c.B)-int(q.B)
		if d := a.weights[0]*dr*dr + a.weights[1]*dg*dg + a.weights[2]*db*db; d < least {
			best, least = i+1, d
		}
	}
	a.known[c] = uint8(best)
	return uint8(best)
}

// changes returns the smallest part of now that holds every pixel differing from before, transparent where they do not
// differ. It has at least one pixel.
func changes(before, now *image.Paletted) *image.Paletted {
	area := image.Rectangle{}
	for y := range now.Rect.Max.Y {
		was, is := before.Pix[y*now.Stride:(y+1)*now.Stride], now.Pix[y*now.Stride:(y+1)*now.Stride]
		if bytes.Equal(was, is) {
			continue
		}
		left, right := 0, len(is)
		for was[left] == is[left] {
			left++
		}
		for was[right-1] == is[right-1] {
			right--
		}
		area = area.Union(image.Rect(left, y, right, y+1))
	}
	if area.Empty() {
		area = image.Rect(0, 0, 1, 1)
	}
	out := image.NewPaletted(area, now.Palette)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if i := now.PixOffset(x, y); now.Pix[i] != before.Pix[i] {
				out.Pix[out.PixOffset(x, y)] = now.Pix[i]
			}
		}
	}
	return out
}

// Mix returns the opaque colour a share of the way from a to b, in 256ths.
func Mix(a, b color.RGBA, share int) color.RGBA {
	part := func(a, b uint8) uint8 { return uint8((int(a)*(256-share) + int(b)*share + 128) / 256) }
	return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 0xFF}
}
