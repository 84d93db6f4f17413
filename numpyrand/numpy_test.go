package numpyrand

import (
	"math/rand/v2"
	"testing"

	"skyrail/internal/golden"
)

// recordedFile holds sessions that NumPy has answered, for machines without it. `go test -run AgainstNumPy -record`
// makes it anew.
const recordedFile = "testdata/sessions.json.gz"

// recording is the content of recordedFile.
type recording struct {
	NumPy    string    `json:"numpy"` // version
	Sessions []session `json:"sessions"`
}

// TestAgainstNumPy makes the draws of edgeSessions and 10 000 random ones here and in NumPy.
func TestAgainstNumPy(t *testing.T) {
	const sessions, draws = 400, 25
	seed := golden.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	played := edgeSessions()
	recorded := len(played) + sessions/10
	for range sessions {
		played = append(played, randomSession(r, draws))
	}
	version, answers := askNumPy(t, played, len(played))
	for i := range played {
		played[i].Answers = answers[i]
		if err := played[i].check(); err != nil {
			t.Fatalf("session %d against NumPy %s: %v", i, version, err)
		}
	}
	if *record {
		writeGzipJSON(t, recordedFile, recording{version, played[:recorded]})
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

func readRecording(t *testing.T) recording {
	t.Helper()
	var rec recording
	readGzipJSON(t, recordedFile, &rec)
	return rec
}
