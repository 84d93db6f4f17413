// Package skyrail_test holds the rules of ARCHITECTURE.md that a compiler does not enforce.
package skyrail_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"skyrail/internal/golden"
)

const module = "skyrail/"

// mayImport says for each package, or tree of packages ending in /..., what of the module it may import. A package
// without a line here may import nothing, so a new one has to be thought about.
var mayImport = map[string][]string{
	"numpyrand":           {"internal/elementary"},
	"rail":                {"numpyrand", "internal/elementary"},
	"rail/railfile":       {"numpyrand", "rail", "internal/pyvalue"},
	"rail/agent":          {"numpyrand", "rail"},
	"rail/picture":        {"rail", "internal/drawing"},
	"rail/generate":       {"numpyrand", "rail", "rail/railfile"},
	"rail/contest":        {"rail", "rail/agent", "rail/railfile"},
	"rail/batch":          {"numpyrand", "rail", "rail/agent", "rail/generate", "rail/railfile", "internal/memory", "internal/workers"},
	"contests":            {},
	"flight":              {"numpyrand", "internal/elementary"},
	"flight/agent":        {"numpyrand", "flight", "internal/elementary"},
	"flight/planner":      {"flight", "flight/agent", "internal/elementary"},
	"flight/picture":      {"flight", "internal/elementary", "internal/drawing"},
	"flight/contest":      {"numpyrand", "flight", "flight/agent"},
	"flight/batch":        {"flight", "flight/agent", "internal/memory", "internal/workers"},
	"internal/elementary": {},
	"internal/drawing":    {},
	"internal/golden":     {},
	"internal/handles":    {},
	"internal/memory":     {},
	"internal/workers":    {},
	"python":              {},
	"internal/sandbox":    {},
	"internal/submission": {},
	"internal/pyvalue":    {},
	"internal/checkpoint": {"flight", "flight/agent", "internal/elementary", "internal/pyvalue"},
	"internal/pyworker":   {"internal/sandbox", "python"},
	"internal/ingest":     {"flight", "flight/agent", "flight/contest", "internal/sandbox", "internal/submission", "internal/checkpoint", "internal/pyworker"},
	"internal/cli": {"numpyrand", "flight", "flight/agent", "flight/contest", "flight/picture", "flight/planner",
		"internal/sandbox", "internal/submission", "internal/checkpoint", "internal/pyworker", "internal/ingest",
		"rail", "rail/agent", "rail/contest", "rail/generate", "rail/picture", "rail/railfile", "contests"},
	"cmd/skyrail":    {"internal/cli"},
	"cmd/libskyrail": {"numpyrand", "flight", "flight/agent", "flight/batch", "flight/planner", "internal/checkpoint", "internal/handles", "internal/memory", "internal/workers", "rail", "rail/batch"},
}

// pure are the engines: no clock, no goroutine, no I/O, no logger. Their sources may not import these.
var (
	pure      = []string{"numpyrand", "flight", "rail"}
	notInPure = []string{"bufio", "context", "io", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec", "os/signal", "sync", "sync/atomic", "syscall", "time"}
)

func TestImportRules(t *testing.T) {
	packages := list(t)
	for _, p := range packages {
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == p.ImportPath { // the root, which has tests only
			continue
		}
		allowed, ok := rule(name)
		if !ok {
			t.Errorf("package %s has no import rule; see ARCHITECTURE.md and mayImport", name)
		}
		for _, imported := range p.Imports {
			own, inModule := strings.CutPrefix(imported, module)
			switch {
			case inModule && !slices.ContainsFunc(allowed, func(a string) bool { return covers(a, own) }):
				t.Errorf("%s imports %s, which the import rules forbid", name, own)
			case !inModule && slices.Contains(pure, name) && slices.Contains(notInPure, imported):
				t.Errorf("%s is an engine and imports %s", name, imported)
			case imported == "C" && name != "cmd/libskyrail":
				t.Errorf("%s uses cgo", name)
			}
		}
	}
	for pattern := range mayImport {
		if !slices.ContainsFunc(packages, func(p pkg) bool { return covers(pattern, strings.TrimPrefix(p.ImportPath, module)) }) {
			t.Errorf("the rule for %s is about no package", pattern)
		}
	}
}

func rule(name string) (allowed []string, ok bool) {
	for pattern, allowed := range mayImport {
		if covers(pattern, name) {
			return allowed, true
		}
	}
	return nil, false
}

func covers(pattern, name string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == tree || strings.HasPrefix(name, tree+"/")
	}
	return pattern == name
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	out := run(t, []string{"CGO_ENABLED=1"}, "go", "list", "-pgo=off", "-json=ImportPath,Imports", "./...") // cmd/libskyrail is all cgo
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// exact are the packages whose floats must be the same bits on every platform.
var exact = []string{"numpyrand", "rail", "rail/generate", "rail/agent", "rail/contest", "flight", "internal/elementary", "flight/agent", "flight/planner", "flight/contest", "flight/batch", "rail/batch", "internal/checkpoint"}

// TestNoFusedArithmetic compiles for arm64, where the compiler may turn a*b + c into one instruction that rounds
// once. The references round twice, so the sources write float64(a*b) + c; a fused instruction in the listing is a
// place that forgot. Where math.FMA is called by name, one is meant.
func TestNoFusedArithmetic(t *testing.T) {
	profile, err := filepath.Abs("cmd/libskyrail/default.pgo") // with it the library inlines other functions
	if err != nil {
		t.Fatal(err)
	}
	fused := regexp.MustCompile(`\(([^()\s]+\.go):(\d+)\)\s+(FN?M(?:ADD|SUB)[SD])\b`)
	seen := map[string]bool{}
	for _, pgo := range []string{"off", profile} {
		args := []string{"build", "-gcflags=-S", "-pgo=" + pgo}
		for _, p := range exact {
			args = append(args, "./"+p)
		}
		listing := run(t, []string{"GOOS=linux", "GOARCH=arm64"}, "go", args...)
		if !bytes.Contains(listing, []byte("TEXT")) {
			t.Fatal("the compiler printed no listing")
		}
		for _, m := range fused.FindAllSubmatch(listing, -1) {
			file, op := string(m[1]), string(m[3])
			line, _ := strconv.Atoi(string(m[2]))
			where := fmt.Sprintf("%s:%d", file, line)
			if seen[where] {
				continue
			}
			seen[where] = true
			if text := sourceLine(t, file, line); !strings.Contains(text, "math.FMA(") {
				t.Errorf("%s: %s for %q; write float64(a*b) + c", where, op, strings.TrimSpace(text))
			}
		}
	}
}

func sourceLine(t *testing.T, file string, line int) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	if line < 1 || line > len(lines) {
		t.Fatalf("%s has no line %d", file, line)
	}
	return lines[line-1]
}

// run returns what a command prints, the compiler's listing on standard error included.
func run(t *testing.T, env []string, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%.2000s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// TestGoldenFilesAreWhole pins the recorded truth: not a byte of it may change.
func TestGoldenFilesAreWhole(t *testing.T) {
	for _, root := range []string{"flight/testdata", "rail/testdata", "rail/railfile/testdata", "rail/generate/testdata"} {
		sums, err := os.ReadFile(filepath.Join(root, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string]bool{}
		for line := range strings.Lines(string(sums)) {
			want, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
			if !ok {
				t.Fatalf("%s/SHA256SUMS: malformed line %q", root, line)
			}
			path := filepath.Join(root, name)
			if _, err := os.Stat(path); err != nil {
				path += ".gz" // listed by the name of its content
			}
			listed[path] = true
			if got := contentSum(t, path); got != want {
				t.Errorf("%s: got %s, want %s", path, got, want)
			}
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".gz") && !listed[path] {
				t.Errorf("%s is not in SHA256SUMS", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// contentSum is the SHA-256 of a gzipped file's content.
func contentSum(t *testing.T, path string) string {
	t.Helper()
	return fmt.Sprintf("%x", sha256.Sum256(golden.Read(t, path)))
}
