package pyworker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"skyrail/internal/sandbox"
)

// Team is what of a submission is run.
type Team struct {
	Root             string // the folder its modules are imported from
	EnvEntryPoint    string // pkg.mod:Class; empty if its policy observes the stock environment
	PolicyEntryPoint string // pkg.mod:Class; empty if it is a checkpoint
	Model            string // the file of the checkpoint, from Root; empty if there is none
	Algo             string // of the checkpoint, as Stable-Baselines3 names it
	Deterministic    bool   // as predict is told
}

// Scenario is how a team's environment is constructed, by the reference's names.
type Scenario struct {
	Flights   int    `msgpack:"n_flights"`
	Range     [2]int `msgpack:"n_range"`
	MaxSteps  int    `msgpack:"max_steps"`
	HoldSteps int    `msgpack:"hold_steps"`
	Actions   int    `msgpack:"-"` // number of actions
}

// Limits are what a submission may take. All must be positive.
type Limits struct {
	Start      time.Duration  // to be ready for the first episode, and for a question about its environment
	Decision   time.Duration  // for one action
	Episode    time.Duration  // for one episode
	Submission time.Duration  // for everything, not counting what it waits for others
	Process    sandbox.Limits // of one process; its Wall is not looked at
}

// DefaultLimits are generous for a network on one core, and end a hanging submission the same day.
func DefaultLimits() Limits {
	return Limits{
		Start: 2 * time.Minute, Decision: 10 * time.Second, Episode: time.Minute, Submission: 30 * time.Minute,
		Process: sandbox.DefaultLimits(),
	}
}

// Session is one submission's time with Python. Its methods may be used by several goroutines; each makes processes
// of its own.
type Session struct {
	python   Python
	box      *sandbox.Box
	team     Team
	scenario Scenario
	limits   Limits

	mu    sync.Mutex
	spent time.Duration // by its code, in all its processes

	folder, modules string
}

// NewSession prepares a session. Close removes what it wrote.
func NewSession(python Python, box *sandbox.Box, team Team, scenario Scenario, limits Limits) (*Session, error) {
	folder, err := os.MkdirTemp("", "skyrail-python-")
	if err == nil {
		folder, err = filepath.Abs(folder)
	}
	if err != nil {
		return nil, err
	}
	s := &Session{
		python: python, box: box, team: team, scenario: scenario, limits: limits,
		folder: folder, modules: filepath.Join(folder, "python"),
	}
	if err := makeFolder(s.modules); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if _, err := writeTree(".", s.modules); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close removes the files of the session. Guests must be closed before.
func (s *Session) Close() error { return os.RemoveAll(s.folder) }

// deadline returns when an answer must be there: within the limit, or when the submission's time is spent, and the code of
// the verdict when that has come.
func (s *Session) deadline(limit time.Duration, late Code) (time.Time, Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := s.limits.Submission - s.spent; left < limit {
		limit, late = max(left, 0), SubmissionTime
	}
	return time.Now().Add(limit), late
}

// spend counts time towards the submission's.
func (s *Session) spend(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent += d
}

// Contract runs the 24 checks of the contract suite on the team's environment, up to the first that fails. The error
// is a Verdict if they could not be run. What is returned is what the team's process says: a gate against mistakes,
// not against malice, for which the score needs none.
func (s *Session) Contract(ctx context.Context) ([]Check, error) {
	var checks []Check
	err := s.inspect(ctx, func(ask func(request) (*answer, error)) error {
		a, err := ask(request{"op": "contract"})
		if err == nil {
			checks = a.Checks
		}
		return err
	})
	for i := range checks {
		checks[i].Name, checks[i].Reason = oneLine(checks[i].Name), oneLine(checks[i].Reason)
	}
	return checks, err
}

// Recording is a team's environment flown with given actions.
type Recording struct {
	Seed    uint64
	Actions []int
	// Figures is what its info says after each step: congestion_events, congestion_total, clearances, invalids,
	// aircraft_involved, collided, exit_miss. There are fewer than actions if its episode ended earlier.
	Figures [][]float64
	Ended   bool // its episode had ended after the last of them
}

// Record flies the actions of each recording in the team's environment and fills in the figures.
func (s *Session) Record(ctx context.Context, recordings []Recording) error {
	return s.inspect(ctx, func(ask func(request) (*answer, error)) error {
		for i, r := range recordings {
			a, err := ask(request{"op": "record", "seed": r.Seed, "actions": r.Actions})
			if err != nil {
				return err
			}
			recordings[i].Figures, recordings[i].Ended = a.Figures, a.Ended
		}
		return nil
	})
}

// inspect starts a process with the team's environment alone, for questions about it.
func (s *Session) inspect(ctx context.Context, questions func(ask func(request) (*answer, error)) error) error {
	environmentOnly := s.team
	environmentOnly.PolicyEntryPoint, environmentOnly.Model = "", ""
	p, err := s.start(ctx, environmentOnly)
	if err != nil {
		return err
	}
	err = questions(func(r request) (*answer, error) {
		return p.ask(s.limits.Start, StartTime, r)
	})
	return errors.Join(err, p.close())
}
