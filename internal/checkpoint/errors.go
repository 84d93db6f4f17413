package checkpoint

import (
	"errors"
	"fmt"
	"strconv"
)

// UnsupportedError is a checkpoint that Stable-Baselines3 can fly and this package cannot.
type UnsupportedError struct {
	Algorithm string // "" if not known
	Class     string // the policy class, with its module; "" if not known
	Reason    string
}

func (e *UnsupportedError) Error() string {
	what := ""
	switch {
	case e.Algorithm != "" && e.Class != "":
		what = fmt.Sprintf(" (%s, %s)", e.Algorithm, e.Class)
	case e.Algorithm+e.Class != "":
		what = fmt.Sprintf(" (%s)", e.Algorithm+e.Class)
	}
	return "needs Stable-Baselines3: " + e.Reason + what
}

func unsupported(format string, args ...any) error {
	return &UnsupportedError{Reason: fmt.Sprintf(format, args...)}
}

// withAbout completes an UnsupportedError.
func withAbout(err error, a about) error {
	var u *UnsupportedError
	if errors.As(err, &u) {
		u.Algorithm, u.Class = a.algorithm, a.class.String()
	}
	return err
}

// InvalidError is a file that is no checkpoint, is damaged, or is larger than any policy for this challenge.
type InvalidError struct {
	Part   string // of the file: "the checkpoint", "data", "policy.pth", …
	Reason string
	Hint   string // what to do
}

func (e *InvalidError) Error() string { return e.Part + ": " + e.Reason + "; " + e.Hint }

func invalid(part, format string, args ...any) error {
	return &InvalidError{part, fmt.Sprintf(format, args...), "save it again with model.save"}
}

// MismatchError is a policy that was trained for another environment.
type MismatchError struct {
	What      string // what is counted: "actions", …
	Got, Want int    // of the policy, of the environment
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("the policy was trained with %d %s, this environment has %d; train in the environment that is flown, "+
		"or submit the one it was trained in", e.Got, e.What, e.Want)
}

// quote shows foreign text in an error, the beginning of it if it is long.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
