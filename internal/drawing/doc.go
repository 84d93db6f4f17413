// Package drawing is what the pictures of both challenges are made with: text in one font, and animations of few colours.
//
// A [Script] is how text looks; it measures, shortens and writes. An [Animation] takes whole pictures and becomes a
// small GIF. [FormatOf] and [CheckTitle] judge what is asked for.
//
//	look := drawing.Bold(15, ink)
//	look.Write(canvas, vg.Point{X: 10, Y: 20}, drawing.Centred, look.Fit(title, 300))
//
//	film := drawing.NewAnimation(colours, [3]int{1, 1, 1})
//	for … {
//		film.Add(img)
//	}
//	err := film.Write(w, drawing.Times{First: 60, Frame: 20, Last: 300})
//
// It hides the font compiled in, how colours become those of a palette, and that a frame stores only what changed. It
// does not know which way y points, nor in what unit a canvas measures, and it draws neither sectors nor railways.
package drawing
