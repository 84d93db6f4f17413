package pyvalue

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"skyrail/internal/golden"
)

//go:embed testdata/peer.py
var peerScript string

type peerAnswer struct {
	Loaded []string    // dumps
	Made   [][2]string // base64 of pickles, dumps
}

// TestAgainstPython reads values that Python made and wrote, and lets Python load what we write of them and of each
// original file. The interpreter is SKYRAIL_PYTHON, or python3. The values depend on SKYRAIL_TEST_SEED, which is new each
// time unless it is set.
func TestAgainstPython(t *testing.T) {
	const count = 2000
	seed := time.Now().UnixNano()
	if text, ok := os.LookupEnv("SKYRAIL_TEST_SEED"); ok {
		var err error
		if seed, err = strconv.ParseInt(text, 10, 64); err != nil {
			t.Fatalf("SKYRAIL_TEST_SEED: %v", err)
		}
	}
	t.Logf("repeat with SKYRAIL_TEST_SEED=%d", seed)
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

func askPython(t *testing.T, files []string, seed int64, count int) peerAnswer {
	t.Helper()
	python, demanded := os.LookupEnv("SKYRAIL_PYTHON")
	missing := t.Fatalf
	if !demanded {
		python, missing = "python3", t.Skipf
	}
	if files == nil {
		files = []string{}
	}
	request, err := json.Marshal(map[string]any{"files": files, "seed": seed, "count": count})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", peerScript)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(request), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		const way = "\n`make test` runs this test with a Python that has NumPy; or set SKYRAIL_PYTHON to one"
		switch {
		case !errors.As(err, &exit):
			missing("no Python to compare with: start %q: %v"+way, python, err)
		case exit.ExitCode() == 42:
			missing("no NumPy to compare with in %q: %s"+way, python, &stderr)
		default:
			t.Fatalf("peer.py under %q: %v\n%s", python, err, &stderr)
		}
	}
	var answer peerAnswer
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
		t.Fatalf("decode the answer of peer.py: %v", err)
	}
	if len(answer.Loaded) != len(files) || len(answer.Made) != count {
		t.Fatalf("got %d loaded and %d made, want %d and %d", len(answer.Loaded), len(answer.Made), len(files), count)
	}
	return answer
}
