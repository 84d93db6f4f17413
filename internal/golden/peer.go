package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// AskPython runs a script that does the same in Python: it reads the request as JSON from its standard input and prints
// the answer as JSON. Where a package is missing that it needs it ends with status 42.
//
// The interpreter is SKYRAIL_PYTHON, which then has to be there and have all, as in `make test`; or else python3, without
// which the test is skipped.
func AskPython(t testing.TB, script string, request, answer any) {
	t.Helper()
	python, demanded := os.LookupEnv("SKYRAIL_PYTHON")
	missing := t.Fatalf
	if !demanded {
		python, missing = "python3", t.Skipf
	}
	asked, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", script)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(asked), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		const way = "\n`make test` runs this test with a Python that has what it needs; or set SKYRAIL_PYTHON to one"
		switch {
		case !errors.As(err, &exit):
			missing("no Python to compare with: start %q: %v"+way, python, err)
		case exit.ExitCode() == 42:
			missing("a package is missing in %q: %s"+way, python, &stderr)
		default:
			t.Fatalf("the script under %q: %v\n%s", python, err, &stderr)
		}
	}
	if err := Decode(stdout.Bytes(), answer); err != nil {
		t.Fatalf("decode the answer of Python: %v", err)
	}
}

// FlatlandPython is SKYRAIL_FLATLAND, a Python that has flatland-rl 4.2.5. `make test` makes one and sets it; without it
// the test is skipped.
func FlatlandPython(t testing.TB) string {
	t.Helper()
	python := os.Getenv("SKYRAIL_FLATLAND")
	if python == "" {
		t.Skip("SKYRAIL_FLATLAND is not set: `make test` runs this beside flatland-rl")
	}
	return python
}

// Seed is SKYRAIL_TEST_SEED, or a new one each time. The test says how to repeat it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text, ok := os.LookupEnv("SKYRAIL_TEST_SEED"); ok {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SKYRAIL_TEST_SEED: %v", err)
		}
	}
	t.Logf("repeat with SKYRAIL_TEST_SEED=%d", seed)
	return seed
}
