package drawing

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FormatOf returns which of two formats or more a file's ending stands for, in capitals or not. The error names the
// endings there are.
func FormatOf[F ~string](filename string, formats []F) (F, error) {
	ending := F(strings.ToLower(strings.TrimPrefix(filepath.Ext(filename), ".")))
	if slices.Contains(formats, ending) {
		return ending, nil
	}
	var names []string
	for _, f := range formats {
		names = append(names, "."+string(f))
	}
	last := len(names) - 1
	return "", fmt.Errorf("cannot tell the kind of picture from the name %q, it must end in %s or %s",
		filename, strings.Join(names[:last], ", "), names[last])
}

// MaxTitle is how long the title of a picture may be, in bytes.
const MaxTitle = 200

// CheckTitle returns an error if a title is too long or cannot be drawn.
func CheckTitle(title string) error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case len(title) > MaxTitle:
		return fmt.Errorf("the title has %d bytes, it may have %d", len(title), MaxTitle)
	case !utf8.ValidString(title) || strings.ContainsFunc(title, unprintable):
		return fmt.Errorf("the title %q holds characters that cannot be drawn", title)
	}
	return nil
}
