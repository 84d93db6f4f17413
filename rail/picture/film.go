package picture

import (
	"io"

	"skyrail/internal/drawing"
)

// filmTimes makes five frames a second.
var filmTimes = drawing.Times{First: 60, Frame: 20, Last: 300}

// writeFilm encodes steps as a GIF.
func (s *scene) writeFilm(w io.Writer, from, to int) error {
	ground := newPixels(s.w, s.h)
	s.ground(ground)
	film := drawing.NewAnimation(filmColors(), [3]int{1, 1, 1})
	for step := from; step <= to; step++ {
		c := newPixels(s.w, s.h)
		copy(c.image().Pix, ground.image().Pix)
		s.draw(c, step)
		film.Add(c.image())
	}
	return film.Write(w, filmTimes)
}
