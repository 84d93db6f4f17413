package pyworker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"skyrail/python"
)

func frame(t testing.TB, v any) []byte {
	t.Helper()
	body, err := msgpack.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestReadAnswer(t *testing.T) {
	a, err := readAnswer(bytes.NewReader(frame(t, map[string]any{"action": 7, "future": []int{1}})))
	if err != nil || a.Action == nil || *a.Action != 7 {
		t.Errorf("got %+v, %v, want action 7", a, err)
	}
	a, err = readAnswer(bytes.NewReader(frame(t, map[string]any{"error": map[string]any{"code": "exception", "reason": "no", "traceback": []string{"x"}}})))
	if err != nil || a.Error == nil || a.Error.Code != Exception || a.Error.Reason != "no" || !slices.Equal(a.Error.Traceback, []string{"x"}) {
		t.Errorf("got %+v, %v, want the error", a, err)
	}
}

func TestBytesThatAreNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		want  error
	}{
		"no length":           {nil, io.EOF},
		"half a length":       {[]byte{0, 0}, io.ErrUnexpectedEOF},
		"half a message":      {frame(t, map[string]int{"action": 7})[:6], io.ErrUnexpectedEOF},
		"a huge message":      {[]byte{0xff, 0xff, 0xff, 0xff}, errProtocol},
		"a byte too long":     {append(binary.BigEndian.AppendUint32(nil, maxMessage+1), make([]byte, maxMessage+1)...), errProtocol},
		"no MessagePack":      {[]byte{0, 0, 0, 1, 0xc1}, errProtocol},
		"a number":            {frame(t, 7), errProtocol},
		"an action of text":   {frame(t, map[string]string{"action": "7"}), errProtocol},
		"a map of 4 billion":  {[]byte{0, 0, 0, 6, 0x81, 0xdf, 0xff, 0xff, 0xff, 0xff}, errProtocol},
		"a text of 4 GiB":     {[]byte{0, 0, 0, 6, 0x81, 0xdb, 0xff, 0xff, 0xff, 0xff}, errProtocol},
		"4 billion checks":    {append([]byte{0, 0, 0, 13, 0x81, 0xa6}, "checks\xdd\xff\xff\xff\xff"...), errProtocol},
		"half a number":       {[]byte{0, 0, 0, 3, 0xcf, 1, 2}, errProtocol},
		"an extension":        {[]byte{0, 0, 0, 3, 0xd4, 1, 2}, errProtocol},
		"more than one value": {[]byte{0, 0, 0, 2, 0x80, 0x80}, errProtocol},
		"a deep nest":         {append([]byte{0, 0, 0, 20}, bytes.Repeat([]byte{0x91}, 20)...), errProtocol},
		"a list, told short":  {[]byte{0, 0, 0, 5, 0xdd, 0xff, 0xff, 0xff, 0xff}, errProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			if a, err := readAnswer(bytes.NewReader(c.bytes)); !errors.Is(err, c.want) {
				t.Errorf("got %+v, %v, want %v", a, err, c.want)
			}
		})
	}
}

func FuzzReadAnswer(f *testing.F) {
	f.Add(frame(f, map[string]any{"action": 7}))
	f.Add(frame(f, map[string]any{"ended": true}))
	f.Add(frame(f, map[string]any{"checks": []any{map[string]any{"name": "a", "passed": true, "reason": ""}}}))
	f.Add(frame(f, map[string]any{"figures": [][]float64{{1, 2}, {3}}}))
	f.Add(frame(f, map[string]any{"error": map[string]any{"code": "x", "reason": "y", "traceback": []string{"z"}}}))
	f.Add([]byte{0, 0, 0, 5, 0xdd, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := readAnswer(bytes.NewReader(data))
		if (a == nil) == (err == nil) {
			t.Errorf("got %v and %v, want one of them", a, err)
		}
	})
}

func TestCheckShapeTakesWhatAWorkerSays(t *testing.T) {
	for _, v := range []any{
		map[string]any{}, map[string]any{"action": 35}, map[string]any{"ended": true},
		map[string]any{"checks": make([]Check, 24), "long": strings.Repeat("x", 70_000), "some": strings.Repeat("x", 300), "nil": nil},
		map[string]any{"figures": [][]float64{{1, 2, 1e300}, make([]float64, 70_000)}, "one": float32(1), "bytes": make([]byte, 300)},
		map[string]any{"numbers": []any{uint64(1) << 63, int64(-1) << 40, -1, -200, -40_000, 200, 40_000, 1 << 20}},
	} {
		if err := checkShape(frame(t, v)[4:]); err != nil {
			t.Errorf("%.80v: %v", v, err)
		}
	}
}

func TestWhatATeamPrintsFitsALine(t *testing.T) {
	got := lastLines([]byte("one\n\x1b[31mt\u202ewo\u2028\x07\n\xff\tthree\n"+strings.Repeat("x", 500)+"\n"), 3)
	want := []string{"[31mtwo", "� three", strings.Repeat("x", 297) + "..."}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := lastLines(nil, 3); got != nil {
		t.Errorf("got %q of nothing", got)
	}
	if got, want := oneLine(" a\n\tb\x1b]0;c "), "a b]0;c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEveryCodeOfTheWorkerIsExplained(t *testing.T) {
	explained := map[Code]bool{}
	for _, e := range Explanations() {
		if explained[e.Code] || e.Hint == "" {
			t.Errorf("%s is explained twice or not at all", e.Code)
		}
		explained[e.Code] = true
	}
	source, err := fs.ReadFile(python.Files, "skyrail/worker.py")
	if err != nil {
		t.Fatal(err)
	}
	raised := regexp.MustCompile(`Refusal\(\s*"([^"]+)"`).FindAllSubmatch(source, -1)
	if len(raised) < 5 {
		t.Errorf("found %d places where the worker refuses, want 5 or more", len(raised))
	}
	for _, match := range raised {
		if !explained[Code(match[1])] {
			t.Errorf("the worker's code %s is not explained", match[1])
		}
	}
}

func TestFindPythonSaysWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	fake := func(name, script string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	told := func(version, missing string) string {
		return `echo '{"executable": "/x/python", "version": ` + version + `, "parts": [], "missing": ` + missing + `}'`
	}
	for name, c := range map[string]struct{ python, want string }{
		"no such program": {filepath.Join(dir, "none"), "name another with --python"},
		"fails":           {fake("fails", "echo broken >&2; exit 3"), "exit status 3; broken"},
		"never stops":     {fake("yes", "yes"), "more than 1048576 bytes"},
		"no JSON":         {fake("babbles", "echo hello"), "asked about itself"},
		"too old":         {fake("old", told("[3, 9, 1]", "[]")), "is version 3.9.1; 3.10 or later is needed"},
		"lacks packages":  {fake("bare", told("[3, 12, 0]", `["gymnasium", "msgpack"]`)), "lacks gymnasium, msgpack: /x/python -m pip install gymnasium msgpack, or name another with --python"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := FindPython(t.Context(), c.python); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	p, err := FindPython(t.Context(), fake("good", told("[3, 12, 4]", "[]")))
	if err != nil || p.Path != "/x/python" || p.Version != "3.12.4" {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestStarterReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "train.py"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Starter(dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want that a file exists", err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "train.py")); err != nil || string(data) != "mine" {
		t.Errorf("got %q, %v, want it untouched", data, err)
	}
}
