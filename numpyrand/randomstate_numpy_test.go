package numpyrand

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"skyrail/internal/golden"
)

//go:embed testdata/randomstate_peer.py
var randomStatePeer string

// recordedStates holds sessions that NumPy 1.26 has answered, for machines without it.
// `go test -run RandomStateAgainstNumPy -record` makes it anew.
const recordedStates = "testdata/randomstate_sessions.json.gz"

// TestRandomStateAgainstNumPy makes 10 000 random draws here and in NumPy, in every way and dtype there is, and compares
// the states they end in. The interpreter is SKYRAIL_PYTHON, or python3. The draws depend on SKYRAIL_TEST_SEED, which
// is new each time unless it is set.
func TestRandomStateAgainstNumPy(t *testing.T) {
	const sessions, draws, recorded = 400, 25, 40
	seed := testSeed(t)
	t.Logf("repeat with SKYRAIL_TEST_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var played []stateSession
	for range sessions {
		played = append(played, randomStateSession(r, draws))
	}
	var reply struct {
		NumPy   string       `json:"numpy"`
		Answers [][][]string `json:"answers"`
	}
	askPeer(t, randomStatePeer, played, &reply)
	if got, want := len(reply.Answers), len(played); got != want {
		t.Fatalf("got answers to %d sessions, want %d", got, want)
	}
	for i := range played {
		played[i].Answers = reply.Answers[i]
		if err := played[i].check(); err != nil {
			t.Fatalf("session %d against NumPy %s: %v", i, reply.NumPy, err)
		}
	}
	if *record {
		writeStates(t, played[:recorded])
	}
}

func TestRecordedRandomStates(t *testing.T) {
	ops := map[string]int{}
	for i, item := range golden.Items(t, golden.Read(t, recordedStates)) {
		check := func(data []byte) error {
			var s stateSession
			if err := golden.Decode(data, &s); err != nil {
				return err
			}
			return s.check()
		}
		if err := check(item); err != nil {
			t.Errorf("session %d: %v", i, err)
			continue
		}
		// A bound or a probability may move without moving what is drawn.
		golden.Mutate(t, item, every, func(path string) bool { return strings.HasPrefix(path, "draws.") }, check)
		var s stateSession
		if err := json.Unmarshal(item, &s); err != nil {
			t.Fatal(err)
		}
		for _, d := range s.Draws {
			ops[strings.TrimSpace(d.Op+" "+d.DType)]++
		}
	}
	for _, op := range []string{
		"uint32", "random", "randint", "randint bool", "randint int8", "randint uint8", "randint int16", "randint uint16",
		"randint int32", "randint uint32", "randint int64", "randint uint64", "choice", "choice n", "choice distinct",
		"choice weighted", "choice n weighted", "choice distinct weighted", "permutation", "shuffle", "gauss", "normal",
		"poisson", "skip", "state", "set state",
	} {
		if ops[op] < 3 {
			t.Errorf("draws of %q in the recording: got %d, want at least 3", op, ops[op])
		}
	}
}

// askPeer runs a script that answers REQUEST, and decodes what it prints.
func askPeer(t *testing.T, script string, request, reply any) {
	t.Helper()
	python, demanded := os.LookupEnv("SKYRAIL_PYTHON")
	missing := t.Fatalf
	if !demanded {
		python, missing = "python3", t.Skipf
	}
	text, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-")
	var stdout, stderr bytes.Buffer
	cmd.Stdin = strings.NewReader("REQUEST = r'''" + string(text) + "'''\n" + script) // it holds no quotes of that kind
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
			t.Fatalf("the peer under %q: %v\n%s", python, err, &stderr)
		}
	}
	if err := json.Unmarshal(stdout.Bytes(), reply); err != nil {
		t.Fatalf("decode the reply of the peer: %v", err)
	}
}

func writeStates(t *testing.T, sessions []stateSession) {
	t.Helper()
	plain, err := json.Marshal(sessions)
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
	if err := os.WriteFile(recordedStates, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
