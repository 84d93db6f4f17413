package numpyrand

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"skyrail/internal/golden"
)

// recordedStates holds sessions that NumPy 1.26 has answered, for machines without it.
// `go test -run RandomStateAgainstNumPy -record` makes it anew.
const recordedStates = "testdata/randomstate_sessions.json.gz"

// TestRandomStateAgainstNumPy makes 10 000 random draws here and in NumPy, in every way and dtype there is, and compares
// the states they end in.
func TestRandomStateAgainstNumPy(t *testing.T) {
	const sessions, draws, recorded = 400, 25, 40
	seed := golden.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	var played []stateSession
	for range sessions {
		played = append(played, randomStateSession(r, draws))
	}
	version, answers := askNumPy(t, played, len(played))
	for i := range played {
		played[i].Answers = answers[i]
		if err := played[i].check(); err != nil {
			t.Fatalf("session %d against NumPy %s: %v", i, version, err)
		}
	}
	if *record {
		writeGzipJSON(t, recordedStates, played[:recorded])
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
