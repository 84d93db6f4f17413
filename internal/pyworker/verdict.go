package pyworker

import (
	"fmt"
	"strings"
)

// Code says what became of a team's code. Codes are stable: teams look them up.
type Code string

// The codes. Those of the worker itself, in Python, come first.
const (
	EntryPoint     Code = "entry-point"       // the manifest names a module or a class that is not there
	MissingPackage Code = "missing-package"   // its code needs a package that the organiser's Python lacks
	NoPredict      Code = "policy-no-predict" // the policy has no predict method
	BadAction      Code = "bad-action"        // the policy's answer is not one whole number among the actions
	Exception      Code = "exception"         // its code raised

	StartTime      Code = "time-start"      // not ready in time
	DecisionTime   Code = "time-decision"   // a decision took too long
	EpisodeTime    Code = "time-episode"    // an episode took too long
	SubmissionTime Code = "time-submission" // the submission's time is spent

	Memory   Code = "memory"   // more memory than allowed
	CPU      Code = "cpu"      // more processor time than allowed
	Output   Code = "output"   // more printed than allowed
	Exited   Code = "exited"   // the process ended by itself
	Protocol Code = "protocol" // what came over the pipe is no answer, or it was closed
)

// Explanation is what a team can do about a code.
type Explanation struct {
	Code Code
	Hint string
}

// Explanations explains every code, in their order.
func Explanations() []Explanation {
	return []Explanation{
		{EntryPoint, "write it as package.module:Class, of a module in the zip or a stock one"},
		{MissingPackage, "a module of the team's belongs in the zip, a package has to be installed in the organiser's Python"},
		{NoPredict, "give the class a method predict(obs, deterministic=True) that returns (action, state)"},
		{BadAction, "return one whole number, the index of an action"},
		{Exception, "the traceback's last lines say where; there is no network, and no file outside the zip"},
		{StartTime, "do less on import, in the constructors and in reset"},
		{DecisionTime, "decide faster"},
		{EpisodeTime, "decide faster"},
		{SubmissionTime, "decide faster"},
		{Memory, "use less memory"},
		{CPU, "compute less"},
		{Output, "print less"},
		{Exited, "the code, or something it calls, ends the process; the last lines printed may say why"},
		{Protocol, "leave file descriptors above 2 alone"},
	}
}

// hintOf returns what a team can do about a code.
func hintOf(code Code) string {
	for _, e := range Explanations() {
		if e.Code == code {
			return e.Hint
		}
	}
	return ""
}

// Verdict says that a team's code did not answer, and why. It is an error for those who asked for an action.
type Verdict struct {
	Code      Code     `json:"code"`
	Reason    string   `json:"reason"`              // one line
	Hint      string   `json:"hint"`                // what to do
	Traceback []string `json:"traceback,omitempty"` // last lines of Python's, or of what was printed
	Loading   bool     `json:"-"`                   // it was not even ready to be flown
}

// Error gives the code, the reason and the hint in one line, then the traceback.
func (v *Verdict) Error() string {
	line := fmt.Sprintf("%s: %s (%s)", v.Code, v.Reason, v.Hint)
	return strings.Join(append([]string{line}, v.Traceback...), "\n    ")
}

func newVerdict(code Code, traceback []string, format string, args ...any) *Verdict {
	if len(traceback) == 0 {
		traceback = nil // as it reads back from JSON
	}
	return &Verdict{Code: code, Reason: fmt.Sprintf(format, args...), Hint: hintOf(code), Traceback: traceback}
}
