package pyworker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/docker/go-units"
	"github.com/vmihailenco/msgpack/v5"

	"skyrail/internal/sandbox"
)

// maxMessage bounds what a process may answer at once.
const maxMessage = 1 << 20

// printedLines is how many of the last printed lines a verdict tells.
const printedLines = 12

// process is a worker in its cage, and the pipe to it.
type process struct {
	ctx      context.Context // as the program was started with
	session  *Session
	program  *sandbox.Program
	requests *os.File
	answers  *os.File
	verdict  *Verdict // why there is nothing more to be had from it
}

// answer is what a worker may answer; each operation fills its part.
type answer struct {
	Error *failure `msgpack:"error"`

	Action  *int        `msgpack:"action"`
	Ended   bool        `msgpack:"ended"`
	Checks  []Check     `msgpack:"checks"`
	Figures [][]float64 `msgpack:"figures"`
}

// failure is what a worker says went wrong. A team can forge it, but not what it looks like on a terminal.
type failure struct {
	Code      Code     `msgpack:"code"`
	Reason    string   `msgpack:"reason"`
	Traceback []string `msgpack:"traceback"`
}

func (f *failure) verdict() *Verdict {
	if hintOf(f.Code) == "" {
		return newVerdict(Protocol, nil, "an error without a code of ours")
	}
	var lines []string
	for _, l := range f.Traceback[max(len(f.Traceback)-printedLines, 0):] {
		lines = append(lines, clean(l))
	}
	return newVerdict(f.Code, lines, "%s", oneLine(f.Reason))
}

// Check is one check of the contract suite.
type Check struct {
	Name   string `json:"name" msgpack:"name"`
	Passed bool   `json:"passed" msgpack:"passed"`
	Reason string `json:"reason,omitempty" msgpack:"reason"` // of a failure, or a note; one line
}

// start begins a worker and has it load the team's code. An error is a fault of ours or ctx's; what the team's
// code is to blame for is told by a Verdict.
func (s *Session) start(ctx context.Context, team Team) (*process, error) {
	began := time.Now()
	requestsRead, requestsWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answersRead, answersWrite, err := os.Pipe()
	if err != nil {
		requestsRead.Close()
		requestsWrite.Close()
		return nil, err
	}
	limits := s.limits.Process
	limits.Wall = lifetime
	// In every cage at the same place, so that nothing depends on where it is on the host; and where no host has a Python.
	modules := sandbox.Mount{Host: s.modules, Inside: "/run/skyrail/library"}
	root := sandbox.Mount{Host: team.Root, Inside: "/run/skyrail/team"}
	library := path.Join(s.box.Inside(modules), "skyrail")
	program, err := s.box.Start(ctx, sandbox.Command{
		Path:     s.python.Path,
		Args:     []string{"-s", "-B", "-u", path.Join(library, "worker.py"), "3", "4"},
		Env:      environment,
		Dir:      s.box.Inside(root),
		ReadOnly: s.python.parts,
		Mounts:   []sandbox.Mount{modules, root},
		Files:    []*os.File{requestsRead, answersWrite},
		Limits:   limits,
	})
	requestsRead.Close()
	answersWrite.Close()
	p := &process{ctx: ctx, session: s, program: program, requests: requestsWrite, answers: answersRead}
	if err != nil {
		err = errors.Join(err, p.closePipes())
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	s.spend(time.Since(began))
	// Until the worker is ready to host, nothing of the team's has run, so if it ends it is not their fault.
	if _, err = p.ask(s.limits.Start, StartTime, request{"op": "hello"}); err != nil {
		err = errors.Join(err, p.close())
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case p.verdict == nil || p.verdict.Code == Exited:
			err = &FaultError{err}
		}
		return nil, err
	}
	_, err = p.ask(s.limits.Start, StartTime, request{
		"op": "host", "root": s.box.Inside(root), "stock": path.Join(library, "stock"), "model": team.Model, "algo": team.Algo,
		"env_entry_point": team.EnvEntryPoint, "policy_entry_point": team.PolicyEntryPoint,
		"deterministic": team.Deterministic, "scenario": s.scenario, "n_actions": s.scenario.Actions,
	})
	if err != nil {
		if p.verdict != nil {
			p.verdict.Loading = true
		}
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// FaultError is a worker that did not get as far as the team's code: something is wrong with the machine.
type FaultError struct{ Err error }

func (e *FaultError) Error() string { return fmt.Sprintf("the worker does not start: %v", e.Err) }

const (
	// lifetime bounds a process that nobody has asked anything for long. Every question has a limit of its own.
	lifetime = 24 * time.Hour
	// farewell is how long a process may still take to end that has nothing more to say.
	farewell = 2 * time.Second
)

// environment is what a process gets of the environment, beside its private folder: the same in every place and run.
// A network this small is slower on several threads.
var environment = []string{
	"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "PYTHONHASHSEED=0",
	"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "MPLBACKEND=Agg",
}

type request map[string]any

// ask sends a request and waits for its answer. late is the code of the verdict if none comes within the limit.
func (p *process) ask(limit time.Duration, late Code, r request) (*answer, error) {
	if p.verdict != nil {
		return nil, p.verdict
	}
	began := time.Now()
	defer func() { p.session.spend(time.Since(began)) }()
	deadline, late := p.session.deadline(limit, late)
	body, err := msgpack.Marshal(map[string]any(r))
	if err != nil {
		return nil, fmt.Errorf("worker request: %w", err)
	}
	a, err := p.exchange(deadline, body)
	if err == nil {
		if a.Error != nil {
			p.verdict = a.Error.verdict()
			return nil, p.verdict
		}
		return a, nil
	}
	return nil, p.postmortem(err, late)
}

func (p *process) exchange(deadline time.Time, body []byte) (*answer, error) {
	if err := errors.Join(p.requests.SetWriteDeadline(deadline), p.answers.SetReadDeadline(deadline)); err != nil {
		return nil, err
	}
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	if _, err := p.requests.Write(frame); err != nil {
		return nil, err
	}
	return readAnswer(p.answers)
}

// errProtocol is about bytes that are no answer.
var errProtocol = errors.New("not an answer")

func readAnswer(r io.Reader) (*answer, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > maxMessage {
		return nil, fmt.Errorf("%w: %d bytes long", errProtocol, length)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	if err := checkShape(body); err != nil {
		return nil, fmt.Errorf("%w: %w", errProtocol, err)
	}
	var a answer
	if err := msgpack.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("%w: %w", errProtocol, err)
	}
	return &a, nil
}

// postmortem ends a process that did not answer and finds out why.
func (p *process) postmortem(err error, late Code) error {
	timedOut, garbled := errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, errProtocol)
	var closed atomic.Bool // by a process that lives on
	if timedOut || garbled {
		p.program.Kill()
	} else {
		stop := time.AfterFunc(farewell, func() {
			closed.Store(true)
			p.program.Kill()
		})
		defer stop.Stop()
	}
	end, fault := p.program.Wait()
	printed := lastLines(end.Output, printedLines)
	switch {
	case p.ctx.Err() != nil:
		return p.ctx.Err()
	case fault != nil:
		return fault
	case end.Cause == sandbox.Memory:
		p.verdict = newVerdict(Memory, printed, "its processes used more than %s of memory", units.BytesSize(float64(p.session.limits.Process.Memory)))
	case end.Cause == sandbox.CPU:
		p.verdict = newVerdict(CPU, printed, "its processes used more than %v of processor time", p.session.limits.Process.CPU)
	case end.Cause == sandbox.Output:
		p.verdict = newVerdict(Output, printed, "it printed more than %s", units.BytesSize(float64(p.session.limits.Process.Output)))
	case timedOut:
		p.verdict = newVerdict(late, printed, "no answer within %v", p.session.limits.of(late))
	case end.Cause == sandbox.Wall:
		p.verdict = newVerdict(SubmissionTime, printed, "no answer within %v", lifetime)
	case garbled:
		p.verdict = newVerdict(Protocol, printed, "%s", oneLine(err.Error()))
	case closed.Load():
		p.verdict = newVerdict(Protocol, printed, "it closed the pipe")
	default:
		p.verdict = newVerdict(Exited, printed, "the process ended with status %d", end.Exit)
	}
	return p.verdict
}

// of returns the limit that a code is about.
func (l Limits) of(late Code) time.Duration {
	switch late {
	case StartTime:
		return l.Start
	case DecisionTime:
		return l.Decision
	case EpisodeTime:
		return l.Episode
	}
	return l.Submission
}

func (p *process) closePipes() error { return errors.Join(p.requests.Close(), p.answers.Close()) }

// close ends the process and waits until nothing of it is left.
func (p *process) close() error {
	p.program.Kill()
	_, err := p.program.Wait()
	return errors.Join(err, p.closePipes())
}

func lastLines(output []byte, n int) []string {
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(string(output), "�"), "\n"), "\n")
	lines = lines[max(len(lines)-n, 0):]
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	for i, l := range lines {
		lines[i] = clean(l)
	}
	return lines
}

// oneLine makes foreign text fit for one line of a table.
func oneLine(s string) string { return clean(strings.Join(strings.Fields(s), " ")) }

// clean takes out what would steer a terminal or reorder a line, and cuts what is long.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	if runes := []rune(s); len(runes) > 300 {
		s = string(runes[:297]) + "..."
	}
	return s
}
