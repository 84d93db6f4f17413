package picture

import (
	"image/color"

	"skyrail/internal/drawing"
)

// The colours. Meaning never hangs on a hue alone: a loss of separation is also a solid ring and a line, a
// clearance also a plate with its name. Blue, grey, red-orange and amber stay apart for the common kinds of
// colour blindness.
var (
	paper = color.RGBA{0xFF, 0xFF, 0xFF, 0xFF}
	sky   = color.RGBA{0xF5, 0xF8, 0xFB, 0xFF} // the sector
	dusk  = color.RGBA{0xE9, 0xEC, 0xEF, 0xFF} // the sector of an episode that has ended before
	grid  = color.RGBA{0xDD, 0xE4, 0xEB, 0xFF}
	frame = color.RGBA{0x8E, 0x9B, 0xA8, 0xFF}
	ink   = color.RGBA{0x17, 0x22, 0x2E, 0xFF}
	soft  = color.RGBA{0x56, 0x62, 0x6E, 0xFF} // text of less weight

	converging = color.RGBA{0x00, 0x5A, 0xA8, 0xFF} // aircraft that meet at the hotspot
	background = color.RGBA{0x66, 0x70, 0x7B, 0xFF} // the others
	hotspot    = color.RGBA{0xFF, 0xF0, 0xC9, 0xFF}
	hotspotRim = color.RGBA{0xC9, 0x9A, 0x2E, 0xFF}

	danger     = color.RGBA{0xD6, 0x1F, 0x0A, 0xFF} // loss of separation, mid-air
	dangerWash = color.RGBA{0xFB, 0xD9, 0xD2, 0xFF}

	told     = color.RGBA{0xFF, 0xB5, 0x1A, 0xFF} // what the controller did
	toldText = color.RGBA{0x8F, 0x4E, 0x00, 0xFF}
	done     = color.RGBA{0x0B, 0x6E, 0x5C, 0xFF} // an episode that reached its horizon
)

// What is drawn, most important first, and what it is drawn on.
var (
	inks = []color.RGBA{
		ink, danger, converging, background, soft, told, toldText, done, frame, hotspotRim,
		faded(converging), faded(background),
	}
	grounds = []color.RGBA{paper, sky, dusk, grid, hotspot, dangerWash}
)

// faded returns the colour of something that is of less interest.
func faded(c color.RGBA) color.RGBA { return drawing.Mix(c, sky, 140) }

// gifWeights are what differences in red, green and blue count: the eye minds green most.
var gifWeights = [3]int{3, 6, 1}

// gifColors returns what an animation is drawn in: the colours themselves, and what smooth edges make of them on the
// grounds they are drawn on. The most important come first, as there may be more than fit.
func gifColors() (colours []color.RGBA) {
	have := map[color.RGBA]bool{}
	add := func(c color.RGBA) {
		if !have[c] {
			have[c] = true
			colours = append(colours, c)
		}
	}
	for _, c := range grounds {
		add(c)
	}
	for _, c := range inks {
		add(c)
	}
	edge := func(ink, ground color.RGBA, shades int) {
		for s := 1; s <= shades; s++ {
			add(drawing.Mix(ink, ground, s*256/(shades+1)))
		}
	}
	for i, c := range inks {
		edge(c, paper, 10-2*min(i/4, 2))
	}
	for _, c := range inks[:5] {
		edge(c, dusk, 4)
	}
	edge(ink, told, 6)
	edge(ink, hotspot, 4)
	edge(converging, hotspot, 4)
	edge(danger, dangerWash, 4)
	edge(converging, danger, 4)
	edge(danger, told, 4)
	edge(hotspotRim, hotspot, 4)
	return colours
}
