package picture

import (
	"image"
	"image/color"

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

// mix returns the colour a share of the way from a to b, in 256ths.
func mix(a, b color.RGBA, share int) color.RGBA {
	part := func(a, b uint8) uint8 { return uint8((int(a)*(256-share) + int(b)*share + 128) / 256) }
	return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 0xFF}
}

// filmColors is the one palette of an animation: the transparent colour, the colours themselves, and what smooth edges
// make of them.
func filmColors() color.Palette {
	grounds := []color.RGBA{paper, land, raster, between}
	inks := []color.RGBA{ink, soft, rails, sleepers, parapet, place, chosen, stuck}
	inks = append(inks, stateColors[:]...)
	colours := color.Palette{color.RGBA{}}
	for _, c := range append(grounds, inks...) {
		colours = append(colours, c)
	}
	for _, c := range inks {
		for share := 51; share < 256; share += 51 {
			colours = append(colours, mix(c, land, share))
		}
	}
	for _, s := range stateColors { // text on trains, trains on tracks
		for share := 64; share < 256; share += 64 {
			colours = append(colours, mix(s, paper, share), mix(s, ink, share), mix(s, rails, share))
		}
	}
	for share := 32; share < 256; share += 32 {
		colours = append(colours, mix(ink, paper, share), mix(soft, paper, share))
	}
	return colours
}

// press brings pictures into the colours of an animation.
type press struct {
	colours color.Palette
	known   map[color.RGBA]uint8
}

// print returns img with each pixel in the nearest colour.
func (p *press) print(img *image.RGBA) *image.Paletted {
	out := image.NewPaletted(img.Bounds(), p.colours)
	var last color.RGBA
	var index uint8
	for i := range out.Pix {
		c := color.RGBA{img.Pix[4*i], img.Pix[4*i+1], img.Pix[4*i+2], 0xFF}
		if c != last {
			known := false
			if index, known = p.known[c]; !known {
				index = uint8(1 + p.colours[1:].Index(c))
				p.known[c] = index
			}
			last = c
		}
		out.Pix[i] = index
	}
	return out
}
