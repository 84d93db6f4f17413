package ingest

import (
	"context"
	"sync"

	"skyrail/internal/pyworker"
	"skyrail/internal/sandbox"
	"skyrail/internal/submission"
)

// OnFailure says what becomes of a submission whose code fails in an episode.
type OnFailure string

const (
	// Unscored leaves the submission without a score, as the reference does.
	Unscored OnFailure = "unscored"
	// Idle flies the rest of the failed episode without clearances, and the other episodes with a fresh process.
	Idle OnFailure = "idle"
)

// Settings are the organiser's choices.
type Settings struct {
	Python    string            // the interpreter, by name or path
	Isolation sandbox.Isolation // how Python runs
	Zip       submission.Limits // what a zip may hold
	Run       pyworker.Limits   // what its code may take
	Contract  bool              // run the contract suite first; a red one is unscored
	OnFailure OnFailure
	Workdir   string // where zips are unpacked and left; empty for a temporary place
}

// DefaultSettings are those of a careful organiser, without the contract suite.
func DefaultSettings() Settings {
	return Settings{
		Python: "python3", Isolation: sandbox.Cage, Zip: submission.DefaultLimits(), Run: pyworker.DefaultLimits(),
		OnFailure: Unscored,
	}
}

// Harness takes submissions in. It may be used by several goroutines. Interpreter and cage are looked for when the
// first submission needs them.
type Harness struct {
	settings Settings
	python   func(context.Context) (pyworker.Python, error)
	box      func() (*sandbox.Box, error)
}

// New returns a harness.
func New(settings Settings) *Harness {
	var mu sync.Mutex
	var python pyworker.Python
	return &Harness{
		settings: settings,
		python: func(ctx context.Context) (pyworker.Python, error) {
			mu.Lock()
			defer mu.Unlock()
			var err error
			if python.Path == "" { // a failure may have been an interrupt, so it is not kept
				python, err = pyworker.FindPython(ctx, settings.Python)
			}
			return python, err
		},
		box: sync.OnceValues(func() (*sandbox.Box, error) { return sandbox.New(settings.Isolation) }),
	}
}
