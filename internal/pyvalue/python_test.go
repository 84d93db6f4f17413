package pyvalue

import (
	_ "embed"
	"encoding/base64"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"skyrail/internal/golden"
)

//go:embed testdata/peer.py
var peerScript string

type peerAnswer struct {
	Loaded []string    // dumps
	Made   [][2]string // base64 of pickles, dumps
}

// TestAgainstPython reads values that Python made and wrote, and lets Python load what we write of them and of each
// original file.
func TestAgainstPython(t *testing.T) {
	const count = 2000
	seed := golden.Seed(t)
	dir := t.TempDir()
	var files, names, dumps []string
	write := func(name string, v Value) {
		data, err := EncodePickle(v)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		path := filepath.Join(dir, strconv.Itoa(len(files)))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		files, names, dumps = append(files, path), append(names, name), append(dumps, string(AppendJSON(nil, v)))
	}
	for _, name := range originals(t) {
		v, err := Decode(golden.Read(t, filepath.Join(recorded, name+".gz")), Options{Globals: flatland})
		if err != nil {
			t.Fatal(err)
		}
		write(name, v)
	}
	originals := len(files)
	for i, m := range askPython(t, nil, seed, count).Made {
		data, err := base64.StdEncoding.DecodeString(m[0])
		if err != nil {
			t.Fatal(err)
		}
		v, err := DecodePickle(data, Options{Globals: flatland})
		if err != nil {
			t.Fatalf("value %d: %v, in %q", i, err, data)
		}
		if got, want := string(AppendJSON(nil, v)), m[1]; got != want {
			t.Fatalf("value %d: got %s, want %s", i, got, want)
		}
		write("value "+strconv.Itoa(i), v)
	}
	if got, want := len(files), originals+count; got != want {
		t.Fatalf("got %d values to write, want %d", got, want)
	}
	for i, got := range askPython(t, files, seed, 0).Loaded {
		// NumPy turns the bytes of an array into the machine's order when it loads them, whoever wrote them.
		if want := strings.ReplaceAll(dumps[i], `"$ndarray":">`, `"$ndarray":"<`); got != want {
			t.Fatalf("%s: got %.300s in Python, want %.300s", names[i], got, want)
		}
	}
}

func askPython(t *testing.T, files []string, seed uint64, count int) peerAnswer {
	t.Helper()
	var answer peerAnswer
	golden.AskPython(t, peerScript, map[string]any{"files": append([]string{}, files...), "seed": seed, "count": count}, &answer)
	if len(answer.Loaded) != len(files) || len(answer.Made) != count {
		t.Fatalf("got %d loaded and %d made, want %d and %d", len(answer.Loaded), len(answer.Made), len(files), count)
	}
	return answer
}
