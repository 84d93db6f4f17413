package submission

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// entryPoint is a class in a Python module.
type entryPoint struct {
	module []string // the components of its dotted name; nil for no entry point
	class  string
	place  string // in the manifest
}

// parseEntryPoint reads pkg.mod:Class or pkg.mod.Class.
func parseEntryPoint(s string) (entryPoint, error) {
	module, class, colon := strings.Cut(s, ":")
	if !colon {
		i := strings.LastIndex(s, ".")
		if i < 0 {
			return entryPoint{}, errors.New("it names no module")
		}
		module, class = s[:i], s[i+1:]
	}
	e := entryPoint{module: strings.Split(module, "."), class: class}
	for _, part := range append(slices.Clone(e.module), class) {
		if !isIdentifier(part) {
			return entryPoint{}, fmt.Errorf("%s is not a Python name", quoted(part))
		}
	}
	return e, nil
}

// isIdentifier follows Python's rule for names: a letter or an underscore, then also digits and combining marks.
func isIdentifier(s string) bool {
	for i, r := range s {
		first := r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start)
		if !first && (i == 0 || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)) {
			return false
		}
	}
	return s != ""
}

// isPackage reports whether a file belongs to the package or module of that name.
func isPackage(file, name string) bool {
	return file == name+".py" || strings.HasPrefix(file, name+"/")
}

// checkModule refuses an entry point whose package is in the zip while its module is not. Packages that the zip
// lacks are the worker's: the stock ones, and whatever is installed there.
func (s *Submission) checkModule(e entryPoint) error {
	if e.module == nil {
		return nil
	}
	path := strings.Join(e.module, "/")
	if s.Has(path+".py") || s.Has(path+"/__init__.py") {
		return nil
	}
	shipped := false
	var sources []string
	for _, name := range sortedNames(s.files) {
		if isPackage(name, e.module[0]) {
			shipped = true
			if strings.HasSuffix(name, ".py") {
				sources = append(sources, name)
			}
		}
	}
	if !shipped {
		return nil
	}
	hint := fmt.Sprintf("add %s.py", path)
	if near, ok := nearest(path+".py", sources, maxNameBytes); ok {
		module := strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(near, ".py"), "/__init__"), "/", ".")
		hint = fmt.Sprintf("the nearest file is %s, which is written %s:%s", quoted(near), module, e.class)
	}
	return refuse(e.place, ManifestEntryPoint, hint, "the zip contains %s but no module %s", quoted(e.module[0]), quoted(strings.Join(e.module, ".")))
}

// nearest returns the word that takes the fewest edits to reach, up to most, blind to case; the first on ties.
func nearest(word string, among []string, most int) (string, bool) {
	best, edits, found := "", most+1, false
	for _, w := range among {
		if d := len(w) - len(word); d >= 4*edits || -d >= 4*edits { // a letter has at most four bytes
			continue
		}
		if n := distance([]rune(strings.ToLower(word)), []rune(strings.ToLower(w))); n < edits {
			best, edits, found = w, n, true
		}
	}
	return best, found
}

// distance is Levenshtein's: how many letters to insert, remove or replace.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ra := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, rb := range b {
			replace := diagonal
			if ra != rb {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
