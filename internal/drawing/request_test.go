package drawing

import (
	"strings"
	"testing"
)

func TestFormatOf(t *testing.T) {
	formats := []string{"svg", "png", "gif"}
	for name, want := range map[string]string{"a.svg": "svg", "dir.gif/b.PNG": "png", "x.y.Gif": "gif", ".svg": "svg"} {
		if got, err := FormatOf(name, formats); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"", "-", "film", "film.", "film.jpg", "png", "film.gif/x", "a.svg "} {
		got, err := FormatOf(name, formats)
		if err == nil || got != "" || !strings.Contains(err.Error(), "it must end in .svg, .png or .gif") {
			t.Errorf("%q: got %q, %v, want an error that names the endings", name, got, err)
		}
	}
}

func TestCheckTitle(t *testing.T) {
	for title, want := range map[string]string{
		"":                              "",
		"Köln – 東京":                     "",
		strings.Repeat("x", MaxTitle):   "",
		strings.Repeat("x", MaxTitle+1): "the title has 201 bytes, it may have 200",
		"a\nb":                          "cannot be drawn",
		"\xff":                          "cannot be drawn",
		"zero\u200bwidth":               "cannot be drawn",
	} {
		err := CheckTitle(title)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got the error %v, want %q", title, err, want)
		}
	}
}
