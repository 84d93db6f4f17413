package drawing

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	xdraw "image/draw"
	"image/gif"
	"slices"
	"testing"
)

var (
	black = color.RGBA{0, 0, 0, 0xFF}
	white = color.RGBA{0xFF, 0xFF, 0xFF, 0xFF}
	red   = color.RGBA{0xFF, 0, 0, 0xFF}
)

// picture is 6 by 4 pixels, white but for those given.
func picture(c color.RGBA, at ...image.Point) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, 6, 4))
	xdraw.Draw(img, img.Rect, image.NewUniform(white), image.Point{}, xdraw.Src)
	for _, p := range at {
		img.SetRGBA(p.X, p.Y, c)
	}
	return img
}

func decoded(t *testing.T, a *Animation, times Times) *gif.GIF {
	t.Helper()
	var out bytes.Buffer
	if err := a.Write(&out, times); err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(&out)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestAnimationStoresWhatChanged(t *testing.T) {
	a := NewAnimation([]color.RGBA{black, white, red}, [3]int{1, 1, 1})
	frames := []*image.RGBA{
		picture(black, image.Pt(0, 0)),
		picture(red, image.Pt(0, 0), image.Pt(3, 2), image.Pt(4, 1)),
		picture(red, image.Pt(0, 0), image.Pt(3, 2), image.Pt(4, 1)),
		picture(red, image.Pt(0, 0), image.Pt(5, 3), image.Pt(4, 3), image.Pt(4, 1)),
	}
	for _, f := range frames {
		a.Add(f)
	}
	g := decoded(t, a, Times{First: 7, Frame: 2, Last: 90})
	if want := []int{7, 2, 2, 90}; !slices.Equal(g.Delay, want) || g.LoopCount != 0 {
		t.Errorf("got the delays %v, loop count %d, want %v and 0, for ever", g.Delay, g.LoopCount, want)
	}
	shown := image.NewRGBA(frames[0].Rect)
	for k, area := range []image.Rectangle{image.Rect(0, 0, 6, 4), image.Rect(0, 0, 5, 3), image.Rect(0, 0, 1, 1), image.Rect(3, 2, 6, 4)} {
		if got := g.Image[k].Rect; got != area {
			t.Errorf("frame %d: got %v, want %v", k, got, area)
		}
		xdraw.Draw(shown, g.Image[k].Rect, g.Image[k], g.Image[k].Rect.Min, xdraw.Over)
		if !bytes.Equal(shown.Pix, frames[k].Pix) {
			t.Errorf("frame %d: got %v, want %v", k, shown.Pix, frames[k].Pix)
		}
	}
}

func TestAnimationTakesTheNearestColour(t *testing.T) {
	green, red, blue := color.RGBA{0, 90, 0, 0xFF}, color.RGBA{100, 0, 0, 0xFF}, color.RGBA{0, 0, 160, 0xFF}
	colours := []color.RGBA{green, red, blue}
	for weights, want := range map[[3]int]color.RGBA{{1, 1, 1}: green, {2, 6, 2}: red, {3, 6, 1}: blue} {
		a := NewAnimation(colours, weights)
		a.Add(picture(black, image.Pt(0, 0)))
		if got := decoded(t, a, Times{}).Image[0].At(0, 0); got != want {
			t.Errorf("black by the weights %v: got %v, want %v", weights, got, want)
		}
	}
}

func TestAnimationHasRoomFor255Colours(t *testing.T) {
	var greys []color.RGBA
	for v := range 256 {
		greys = append(greys, color.RGBA{uint8(v), uint8(v), uint8(v), 0xFF})
	}
	a := NewAnimation(greys, [3]int{1, 1, 1})
	a.Add(picture(black, image.Pt(0, 0)))
	first := decoded(t, a, Times{}).Image[0]
	if got := first.At(0, 0); got != black {
		t.Errorf("got %v, want %v", got, black)
	}
	if got, want := first.At(1, 0), greys[254]; got != want {
		t.Errorf("got %v for the colour left out, want its neighbour %v", got, want)
	}
}

func TestAnimationOfOneFrameOrNone(t *testing.T) {
	a := NewAnimation([]color.RGBA{white}, [3]int{1, 1, 1})
	if err := a.Write(&bytes.Buffer{}, Times{}); err == nil {
		t.Error("got no error without a frame, want one")
	}
	a.Add(picture(white))
	if g := decoded(t, a, Times{1, 2, 3}); len(g.Delay) != 1 || g.Delay[0] != 3 {
		t.Errorf("got the delays %v of one frame, want that of the last", g.Delay)
	}
	if err := a.Write(broken{}, Times{}); !errors.Is(err, errBroken) {
		t.Errorf("got the error %v, want %v", err, errBroken)
	}
}

var errBroken = errors.New("disk full")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestMix(t *testing.T) {
	for share, want := range map[int]color.RGBA{0: red, 256: black, 128: {128, 0, 0, 0xFF}, 64: {191, 0, 0, 0xFF}} {
		if got := Mix(red, black, share); got != want {
			t.Errorf("share %d: got %v, want %v", share, got, want)
		}
	}
}
