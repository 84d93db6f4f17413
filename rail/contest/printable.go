package contest

import (
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// mostShown is how many runes of a foreign text are shown as what was expected or found.
const mostShown = 200

// Printable makes foreign text fit for a terminal and a log: what cannot be printed, such as escapes and marks that
// turn the direction of writing, is escaped as in strconv.Quote, except for the runes to keep. At most so many runes
// of the text are shown, and then …; 0 shows all.
func Printable(text string, most int, keep ...rune) string {
	var b []byte
	for n := 0; len(text) > 0; n++ {
		if most > 0 && n == most {
			return string(b) + "…"
		}
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1, !unicode.IsPrint(r) && !slices.Contains(keep, r):
			quoted := strconv.Quote(text[:size])
			b = append(b, quoted[1:len(quoted)-1]...)
		default:
			b = append(b, text[:size]...)
		}
		text = text[size:]
	}
	return string(b)
}

// clean makes the foreign texts of a difference printable.
func (d *Difference) clean() {
	d.File, d.Expected, d.Found = Printable(d.File, mostShown), Printable(d.Expected, mostShown), Printable(d.Found, mostShown)
}
