package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"io"
)

// How long a frame of an animation stays, in hundredths of a second.
const (
	frameTime = 20
	firstTime = 60
	lastTime  = 300
)

// writeFilm encodes steps as a GIF that loops for ever. After the first frame only what changed is stored.
func (s *scene) writeFilm(w io.Writer, from, to int) error {
	ground := newPixels(s.w, s.h)
	s.ground(ground)
	p := press{filmColors(), map[color.RGBA]uint8{}}
	out := gif.GIF{}
	var before *image.Paletted
	for step := from; step <= to; step++ {
		c := newPixels(s.w, s.h)
		copy(c.image().Pix, ground.image().Pix)
		s.draw(c, step)
		now := p.print(c.image())
		frame := now
		if before != nil {
			frame = changes(before, now)
		}
		before = now
		out.Image = append(out.Image, frame)
		out.Delay = append(out.Delay, frameTime)
		out.Disposal = append(out.Disposal, gif.DisposalNone)
	}
	out.Delay[0] = firstTime
	out.Delay[len(out.Delay)-1] = lastTime
	size := before.Rect.Size()
	out.Config = image.Config{ColorModel: p.colours, Width: size.X, Height: size.Y}
	return gif.EncodeAll(w, &out)
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
