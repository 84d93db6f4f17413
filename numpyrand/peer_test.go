package numpyrand

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/peer.py
var peerScript string

var record = flag.Bool("record", false, "write a part of NumPy's answers to testdata")

// askNumPy plays a list of n sessions in NumPy and returns its version and, per session, per draw, its answers. The
// interpreter is SKYRAIL_PYTHON, or python3.
func askNumPy(t *testing.T, sessions any, n int) (version string, answers [][][]string) {
	t.Helper()
	python, demanded := os.LookupEnv("SKYRAIL_PYTHON")
	missing := t.Fatalf
	if !demanded {
		python, missing = "python3", t.Skipf
	}
	request, err := json.Marshal(sessions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-")
	var stdout, stderr bytes.Buffer
	cmd.Stdin = strings.NewReader("REQUEST = r'''" + string(request) + "'''\n" + peerScript) // it holds no quotes of that kind
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
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
	var reply struct {
		NumPy   string       `json:"numpy"`
		Answers [][][]string `json:"answers"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &reply); err != nil {
		t.Fatalf("decode the reply of peer.py: %v", err)
	}
	if got := len(reply.Answers); got != n {
		t.Fatalf("got answers to %d sessions, want %d", got, n)
	}
	return reply.NumPy, reply.Answers
}

func testSeed(t *testing.T) uint64 {
	t.Helper()
	text, ok := os.LookupEnv("SKYRAIL_TEST_SEED")
	if !ok {
		return uint64(time.Now().UnixNano())
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("SKYRAIL_TEST_SEED: %v", err)
	}
	return seed
}

func writeGzipJSON(t *testing.T, path string, v any) {
	t.Helper()
	plain, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	zw, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := zw.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
