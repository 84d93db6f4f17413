package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/internal/checkpoint"
	"skyrail/internal/ingest"
	"skyrail/internal/pyworker"
	"skyrail/internal/sandbox"
	"skyrail/internal/submission"
)

// pythonVariable names the environment variable with the interpreter that hosts a team's code.
const pythonVariable = "SKYRAIL_PYTHON"

// What the interpreter needs at least, and what a kernel counts at most.
const (
	leastMemory   = 64 << 20
	mostProcesses = 32768
)

// pythonFlags adds the flags of commands that may host a team's code.
func pythonFlags(cmd *cobra.Command, s *ingest.Settings) {
	*s = ingest.DefaultSettings()
	if name := os.Getenv(pythonVariable); name != "" {
		s.Python = name
	}
	run := &s.Run
	cmd.Flags().StringVar(&s.Python, "python", s.Python, "the Python that hosts a team's code (default $"+pythonVariable+", else python3)")
	cmd.Flags().Lookup("python").DefValue = ""
	choice(cmd, &s.Isolation, "isolation", "how a team's code runs", sandbox.Cage, sandbox.Process)
	size(cmd, &run.Process.Memory, "memory", "most memory of a team's code", leastMemory)
	upTo(cmd, &run.Process.Processes, "processes", "", run.Process.Processes, mostProcesses, "most processes and threads of a team's code")
	lasting(cmd, &run.Process.CPU, "cpu-time", "most processor time of one process of a team and what it starts")
	lasting(cmd, &run.Start, "start-time", "most time to load a team's code, and for a question about its environment")
	lasting(cmd, &run.Decision, "decision-time", "most time for one action")
	lasting(cmd, &run.Episode, "episode-time", "most time for one episode")
	lasting(cmd, &run.Submission, "submission-time", "most time for all of one submission, not counting what it waits for others")
}

// checkSettings refuses settings that make no sense together, after the flags are read.
func checkSettings(cmd *cobra.Command, s *ingest.Settings) error {
	if !cmd.Flags().Changed("file-size") {
		s.Zip.MaxFileBytes = min(s.Zip.MaxFileBytes, s.Zip.MaxBytes)
	}
	if err := s.Zip.Validate(); err != nil {
		return usage(fmt.Errorf("the sizes of --zip-size, --unpacked-size, --file-size and --files: %w", err))
	}
	return nil
}

// zipFlags adds the flags of commands that take submissions in.
func zipFlags(cmd *cobra.Command, s *ingest.Settings) {
	size(cmd, &s.Zip.MaxZipBytes, "zip-size", "largest zip", 1)
	size(cmd, &s.Zip.MaxBytes, "unpacked-size", "most bytes of a zip's files", 1)
	size(cmd, &s.Zip.MaxFileBytes, "file-size", "largest file in a zip", 1)
	positive(cmd, &s.Zip.MaxFiles, "files", "", s.Zip.MaxFiles, "most files and folders in a zip")
	choice(cmd, &s.OnFailure, "on-failure", "what a failure of a team's code costs: its score, or the rest of the episode", ingest.Unscored, ingest.Idle)
}

// word is a flag's value of a closed set.
type word[T ~string] struct {
	v   *T
	set []T
}

func (w word[T]) Type() string   { return "word" }
func (w word[T]) String() string { return string(*w.v) }

func (w word[T]) Set(text string) error {
	if !slices.Contains(w.set, T(text)) {
		return fmt.Errorf("it must be %s", w.names())
	}
	*w.v = T(text)
	return nil
}

func (w word[T]) names() string {
	var names []string
	for _, v := range w.set {
		names = append(names, string(v))
	}
	return strings.Join(names, " or ")
}

// choice adds a flag with a closed set of values, of which *v is the default.
func choice[T ~string](cmd *cobra.Command, v *T, name, usage string, set ...T) {
	w := word[T]{v, set}
	cmd.Flags().Var(w, name, usage+": "+w.names())
}

// amount is a flag's value that is a number of bytes.
type amount struct {
	v     *int64
	least int64
}

func (a amount) Type() string   { return "size" }
func (a amount) String() string { return units.BytesSize(float64(*a.v)) }

func (a amount) Set(text string) error {
	n, err := units.RAMInBytes(text)
	if err != nil || n < 1 {
		return errors.New("it is not a size such as 512MiB or 4GiB")
	}
	if n < a.least {
		return fmt.Errorf("it must be at least %s", units.BytesSize(float64(a.least)))
	}
	*a.v = n
	return nil
}

// size adds a flag that is a number of bytes, of which *v is the default.
func size(cmd *cobra.Command, v *int64, name, usage string, least int64) {
	cmd.Flags().Var(amount{v, least}, name, usage)
}

// span is a flag's value that is a time.
type span struct{ v *time.Duration }

func (s span) Type() string   { return "time" }
func (s span) String() string { return s.v.String() }

func (s span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return errors.New("it is not a time such as 500ms, 10s or 30m")
	}
	*s.v = d
	return nil
}

// lasting adds a flag that is a time, of which *v is the default.
func lasting(cmd *cobra.Command, v *time.Duration, name, usage string) {
	cmd.Flags().Var(span{v}, name, usage)
}

// openEntrant makes an entrant of a file: a submission's zip, or a checkpoint.
func openEntrant(cmd *cobra.Command, h *ingest.Harness, path string, cfg flight.Config, stochastic bool) (entrant, error) {
	ctx := cmd.Context()
	e, err := h.Open(ctx, path, cfg)
	if err != nil {
		return entrant{}, intakeFault(path, err)
	}
	for _, warning := range e.Warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "! %s: %s\n", e.Manifest.Team, warning)
	}
	if e.Isolation == string(sandbox.Process) {
		fmt.Fprintf(cmd.ErrOrStderr(), "! %s: its code runs without a cage\n", e.Manifest.Team)
	}
	return entrant{
		name:   e.Manifest.Team,
		zip:    path,
		plain:  func() (agent.Agent, error) { return e.Agent(ctx) },
		serial: e.Serial(),
		close:  e.Close,
		fresh:  func() (agent.Agent, error) { return e.Scored(ctx, stochastic) },
	}, nil
}

// intakeFault says whose fault it is that something could not be taken in.
func intakeFault(name string, err error) error {
	var (
		refusal     *submission.Refusal
		verdict     *pyworker.Verdict
		invalid     *checkpoint.InvalidError
		mismatch    *checkpoint.MismatchError
		unavailable *sandbox.UnavailableError
		unusable    *pyworker.PythonError
	)
	if _, missing := os.Stat(name); errors.Is(missing, os.ErrNotExist) && errors.Is(err, os.ErrNotExist) {
		return usage(fmt.Errorf("%s: no such file or directory", shown(name)))
	}
	err = fmt.Errorf("%s: %w", shown(name), err)
	switch {
	case errors.As(err, &refusal), errors.As(err, &verdict), errors.As(err, &invalid), errors.As(err, &mismatch):
		return refused(err)
	case errors.As(err, &unavailable), errors.As(err, &unusable):
		return usage(err)
	}
	return err
}
