package numpyrand

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

//go:embed testdata/peer.py
var peerScript string

// recordedFile holds sessions that NumPy has answered, for machines without it. `go test -run AgainstNumPy -record`
// makes it anew.
const recordedFile = "testdata/sessions.json.gz"

var record = flag.Bool("record", false, "write a part of NumPy's answers to "+recordedFile)

// recording is the content of recordedFile.
type recording struct {
	NumPy    string    `json:"numpy"` // version
	Sessions []session `json:"sessions"`
}

// TestAgainstNumPy makes the draws of edgeSessions and 10 000 random ones here and in NumPy. The interpreter is
// SKYRAIL_PYTHON, or python3. The random ones depend on SKYRAIL_TEST_SEED, which is new each time unless it is set.
func TestAgainstNumPy(t *testing.T) {
	const sessions, draws = 400, 25
	seed := testSeed(t)
	t.Logf("repeat with SKYRAIL_TEST_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	played := edgeSessions()
	recorded := len(played) + sessions/10
	for range sessions {
		played = append(played, randomSession(r, draws))
	}
	version := askNumPy(t, played)
	for i := range played {
		if err := played[i].check(); err != nil {
			t.Fatalf("session %d against NumPy %s: %v", i, version, err)
		}
	}
	if *record {
		writeRecording(t, recording{version, played[:recorded]})
	}
}

func TestRecordedNumPy(t *testing.T) {
	for i, s := range readRecording(t).Sessions {
		if err := s.check(); err != nil {
			t.Errorf("session %d: %v", i, err)
		}
	}
}

// Each answer of the recording is changed in its first and in its last value, and each seed; the check must notice.
func TestRecordedNumPyNoticesChanges(t *testing.T) {
	seen := map[string]int{}
	for i, s := range readRecording(t).Sessions {
		demandError := func(what string, at int) {
			t.Helper()
			if s.check() == nil {
				t.Errorf("session %d with another %s %d: got no error, want one", i, what, at)
			}
		}
		change := func(text *string, what string, at int) {
			t.Helper()
			old := *text
			if old == "error" {
				*text = "0"
			} else {
				*text = onePlus(t, old)
			}
			demandError(what, at)
			*text = old
		}
		for j := range s.Entropy {
			change(&s.Entropy[j], "entropy", j)
		}
		for j, answer := range s.Answers {
			seen[s.Draws[j].Op]++
			if n := len(answer); n > 0 {
				change(&answer[0], "start of answer", j)
				change(&answer[n-1], "end of answer", j)
				s.Answers[j] = answer[:n-1]
				demandError("length of answer", j)
				s.Answers[j] = answer
			}
		}
	}
	for _, op := range []string{
		"raw", "uint32", "random", "float32", "uniform", "integers", "choice", "choice n", "choice distinct",
		"choice weighted", "choice n weighted", "choice distinct weighted", "generate state", "generate state 64",
		"state", "set state", "advance",
	} {
		if seen[op] < 3 {
			t.Errorf("draws of %q in the recording: got %d, want at least 3", op, seen[op])
		}
	}
}

// askNumPy fills in the answers and returns NumPy's version.
func askNumPy(t *testing.T, sessions []session) string {
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
	var stdin, stdout, stderr bytes.Buffer
	stdin.WriteString("REQUEST = r'''" + string(request) + "'''\n" + peerScript) // it holds no quotes of that kind
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &stdin, &stdout, &stderr
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
	if got, want := len(reply.Answers), len(sessions); got != want {
		t.Fatalf("got answers to %d sessions, want %d", got, want)
	}
	for i := range sessions {
		sessions[i].Answers = reply.Answers[i]
	}
	return reply.NumPy
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

func readRecording(t *testing.T) recording {
	t.Helper()
	var rec recording
	readGzipJSON(t, recordedFile, &rec)
	return rec
}

func writeRecording(t *testing.T, rec recording) {
	t.Helper()
	plain, err := json.Marshal(rec)
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
	if err := os.WriteFile(recordedFile, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
