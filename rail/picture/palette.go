package picture

import (
	"image/color"
	"slices"

	"skyrail/internal/drawing"
	"skyrail/rail"
)

// The colours. Those of the states are told apart with the common kinds of colour blindness, and by more than a hue: what
// moves is dark, what stands is light, what is broken carries a sign, and what is deadlocked a frame.
var (
	paper  = color.RGBA{0xFF, 0xFF, 0xFF, 0xFF}
	land   = color.RGBA{0xF4, 0xF6, 0xF1, 0xFF}
	raster = color.RGBA{0xE3, 0xE8, 0xE0, 0xFF}
	ink    = color.RGBA{0x17, 0x22, 0x2E, 0xFF}
	soft   = color.RGBA{0x5B, 0x66, 0x70, 0xFF} // text of less weight

	rails    = color.RGBA{0x55, 0x5F, 0x69, 0xFF}
	between  = color.RGBA{0xDC, 0xE0, 0xDE, 0xFF} // the rails
	sleepers = color.RGBA{0xB9, 0xB3, 0xA6, 0xFF}
	parapet  = color.RGBA{0x8A, 0x6D, 0x3B, 0xFF}

	place  = color.RGBA{0xA9, 0xB4, 0xBF, 0xFF} // start, stop or target of any train
	chosen = color.RGBA{0x7A, 0x1F, 0xA2, 0xFF} // those of a selected one
	stuck  = color.RGBA{0xC2, 0x18, 0x5B, 0xFF} // deadlocked

	stateColors = [...]color.RGBA{
		rail.Waiting:           {0x9A, 0xA5, 0xAF, 0xFF},
		rail.ReadyToDepart:     {0x56, 0xB4, 0xE9, 0xFF},
		rail.MalfunctionOffMap: {0xB8, 0x7A, 0x5A, 0xFF},
		rail.Moving:            {0x00, 0x5A, 0xA8, 0xFF},
		rail.Stopped:           {0xF0, 0xA8, 0x00, 0xFF},
		rail.Malfunction:       {0xD5, 0x3A, 0x00, 0xFF},
		rail.Done:              {0x00, 0x8A, 0x64, 0xFF},
	}
)

// lettering is the colour of text on a train in a state.
func lettering(s rail.State) color.RGBA {
	if s == rail.Stopped || s == rail.ReadyToDepart || s == rail.Waiting {
		return ink
	}
	return paper
}

// filmColors is what an animation is drawn in: the colours themselves, and what smooth edges make of them.
func filmColors() []color.RGBA {
	grounds := []color.RGBA{paper, land, raster, between}
	inks := []color.RGBA{ink, soft, rails, sleepers, parapet, place, chosen, stuck}
	inks = append(inks, stateColors[:]...)
	colours := slices.Concat(grounds, inks)
	for _, c := range inks {
		for share := 51; share < 256; share += 51 {
			colours = append(colours, drawing.Mix(c, land, share))
		}
	}
	for _, s := range stateColors { // text on trains, trains on tracks
		for share := 64; share < 256; share += 64 {
			colours = append(colours, drawing.Mix(s, paper, share), drawing.Mix(s, ink, share), drawing.Mix(s, rails, share))
		}
	}
	for share := 32; share < 256; share += 32 {
		colours = append(colours, drawing.Mix(ink, paper, share), drawing.Mix(soft, paper, share))
	}
	return colours
}
