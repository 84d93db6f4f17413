package submission

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Lengths that every file system takes, in bytes.
const (
	maxNameBytes      = 512
	maxComponentBytes = 255
)

// checkName refuses a name of an entry that could not be a file everywhere, or that could be one elsewhere than
// in the folder it is unpacked to. A folder's name comes without its closing slash.
func checkName(name string, maxDepth int) error {
	unusable := func(hint, found string, args ...any) error {
		return refuse(name, ZipNameUnusable, hint, found, args...)
	}
	switch {
	case name == "":
		return refuse("(empty name)", ZipNameUnusable, "pack the folder again with an ordinary zip tool", "an entry has no name")
	case !utf8.ValidString(name):
		return refuse(name, ZipNameNotUTF8, "rename it with plain letters and pack it again", "the name is not valid UTF-8")
	case !isLine(name):
		return unusable("rename it with plain letters", "the name contains control characters")
	case strings.Contains(name, `\`):
		return unusable("pack it with a tool that writes forward slashes, such as Python's zipfile", "the name contains a backslash")
	case strings.HasPrefix(name, "/"):
		return refuse(name, ZipAbsolutePath, "pack the folder by a relative name", "the name begins with a slash")
	case len(name) > maxNameBytes:
		return unusable("shorten it", "the name has %d bytes, more than %d", len(name), maxNameBytes)
	}
	components := strings.Split(name, "/")
	for _, c := range components {
		switch {
		case c == "..":
			return refuse(name, ZipPathEscapes, "pack the folder from within, so that no name contains ..", "the name leads out of the zip")
		case c == "" || c == ".":
			return unusable("pack the folder again with an ordinary zip tool", "the name has an empty component")
		case len(c) > maxComponentBytes:
			return unusable("shorten it", "a component of the name has %d bytes, more than %d", len(c), maxComponentBytes)
		case strings.ContainsAny(c, `<>:"|?*`):
			return unusable("rename it with plain letters", `the name contains one of <>:"|?*, which Windows reserves`)
		case strings.HasSuffix(c, ".") || strings.HasSuffix(c, " "):
			return unusable("rename it", "a component of the name ends with a dot or a space, which Windows drops")
		case isDevice(c):
			return unusable("rename it", "%s is the name of a device on Windows", quoted(c))
		}
	}
	if len(components) > maxDepth {
		return unusable("move it up", "the name is %d levels deep, more than %d", len(components), maxDepth)
	}
	return nil
}

// isLine reports whether s may be printed on a line of its own: no control characters, line separators, or marks
// that turn the direction of writing.
func isLine(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	})
}

// isDevice reports whether Windows takes a component for a device, whatever its extension.
func isDevice(component string) bool {
	stem, _, _ := strings.Cut(component, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, isCOM := strings.CutPrefix(stem, "COM")
	if !isCOM {
		var isLPT bool
		if port, isLPT = strings.CutPrefix(stem, "LPT"); !isLPT {
			return false
		}
	}
	return utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port)
}

// isJunk reports whether a file is one that an operating system or Python leaves behind.
func isJunk(name string) bool {
	for c := range strings.SplitSeq(name, "/") {
		if c == "__MACOSX" || c == "__pycache__" || c == ".DS_Store" || strings.HasPrefix(c, "._") {
			return true
		}
	}
	return strings.HasSuffix(name, ".pyc")
}

// tree is the names claimed so far, by their clash key.
type tree map[string]claim

type claim struct {
	name   string
	folder bool
	listed bool // has an entry of its own, and is not only the folder of another
}

// add claims a name and the folders above it.
func (t tree) add(name string, folder bool) error {
	for i, c := range name {
		if c == '/' {
			if err := t.claim(claim{name: name[:i], folder: true}); err != nil {
				return err
			}
		}
	}
	return t.claim(claim{name, folder, true})
}

func (t tree) claim(c claim) error {
	key := clashKey(c.name)
	was, taken := t[key]
	switch {
	case taken && was.name != c.name:
		return refuse(c.name, ZipCaseClash, "rename one of them", "%s and %s are the same name on macOS and Windows", quoted(was.name), quoted(c.name))
	case taken && was.folder != c.folder:
		return refuse(c.name, ZipFileIsFolder, "rename one of them", "the name is both a file and a folder")
	case was.listed && c.listed:
		return refuse(c.name, ZipDuplicateName, "pack the folder again into a new zip", "the name comes twice")
	}
	c.listed = c.listed || was.listed
	t[key] = c
	return nil
}

// clashKey is the same for names that a file system blind to case, or to how accents are encoded, takes for one.
func clashKey(name string) string {
	return strings.Map(func(r rune) rune {
		least := r // of all the cases of this letter
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, norm.NFD.String(name))
}
