package pyworker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"skyrail/internal/sandbox"
)

// maxMessage bounds what a process may answer at once.
const maxMessage = 1 << 20

// printedLines is how many of the last printed lines a verdict tells.
const printedLines = 12

// process is a worker in its cage, and the pipe to it.
type process struct {
	program  *sandbox.Program
	requests *os.File
	answers  *os.File
	verdict  *Verdict // why there is nothing more to be had from it
}

// answer is what a worker may answer; each operation fills its part.
type answer struct {
	Error *struct {
		Code      Code     `msgpack:"code"`
		Reason    string   `msgpack:"reason"`
		Traceback []string `msgpack:"traceback"`
	} `msgpack:"error"`

	Action  *int        `msgpack:"action"`
	Ended   bool        `msgpack:"ended"`
	Checks  []Check     `msgpack:"checks"`
	Figures [][]float64 `msgpack:"figures"`
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
	limits.Wall = s.left()
	program, err := s.box.Start(ctx, sandbox.Command{
		Path:     s.python.Path,
		Args:     []string{"-s", "-B", "-u", s.worker, "3", "4"},
		Env:      environment,
		ReadOnly: append(append([]string{}, s.python.folders...), s.modules, team.Root),
		Files:    []*os.File{requestsRead, answersWrite},
		Limits:   limits,
	})
	requestsRead.Close()
	answersWrite.Close()
	p := &process{program: program, requests: requestsWrite, answers: answersRead}
	if err != nil {
		return nil, errors.Join(err, p.closePipes())
	}
	deadline, late := s.soonest(time.Now().Add(s.limits.Start), StartTime)
	_, err = p.ask(deadline, late, request{
		"op": "host", "root": team.Root, "stock": s.stock, "model": team.Model, "algo": team.Algo,
		"env_entry_point": team.EnvEntryPoint, "policy_entry_point": team.PolicyEntryPoint,
		"deterministic": team.Deterministic, "scenario": s.scenario, "n_actions": s.scenario.Actions,
	})
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// environment is what a process gets of the environment, beside its private folder: the same in every place and run.
// A network this small is slower on several threads.
var environment = []string{
	"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "PYTHONHASHSEED=0",
	"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "MPLBACKEND=Agg",
}

type request map[string]any

// ask sends a request and waits for its answer until deadline. late is the code of the verdict if none comes in time.
func (p *process) ask(deadline time.Time, late Code, r request) (*answer, error) {
	if p.verdict != nil {
		return nil, p.verdict
	}
	body, err := msgpack.Marshal(map[string]any(r))
	if err != nil {
		return nil, fmt.Errorf("worker request: %w", err)
	}
	a, err := p.exchange(deadline, body)
	if err == nil {
		if e := a.Error; e != nil {
			p.verdict = newVerdict(e.Code, e.Traceback, "%s", oneLine(e.Reason))
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
	var a answer
	if err := msgpack.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("%w: %w", errProtocol, err)
	}
	return &a, nil
}

// postmortem ends a process that did not answer and finds out why.
func (p *process) postmortem(err error, late Code) error {
	timedOut, garbled := errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, errProtocol)
	if timedOut || garbled {
		p.program.Kill()
	}
	end, fault := p.program.Wait()
	if fault != nil {
		return fault
	}
	printed := lastLines(end.Output, printedLines)
	switch {
	case end.Cause == sandbox.Memory:
		p.verdict = newVerdict(Memory, printed, "its processes used more memory than allowed")
	case end.Cause == sandbox.CPU:
		p.verdict = newVerdict(CPU, printed, "its processes used more processor time than allowed")
	case end.Cause == sandbox.Output:
		p.verdict = newVerdict(Output, printed, "it printed more than allowed")
	case end.Cause == sandbox.Wall:
		p.verdict = newVerdict(SubmissionTime, printed, "the submission's time is spent")
	case timedOut:
		p.verdict = newVerdict(late, printed, "no answer in time")
	case garbled:
		p.verdict = newVerdict(Protocol, printed, "%s", oneLine(err.Error()))
	case end.Cause == sandbox.Interrupted:
		return context.Canceled
	default:
		p.verdict = newVerdict(Exited, printed, "the process ended with status %d", end.Exit)
	}
	return p.verdict
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

// clean takes out what would steer a terminal, and cuts what is long.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > 300 {
		s = string(runes[:297]) + "..."
	}
	return s
}
