package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Program is a command that runs, or has run.
type Program struct {
	isolation Isolation
	limits    Limits
	tree      *held
	group     *group // nil where there are no control groups
	output    *tail
	ended     <-chan struct{}

	stop     chan struct{}
	stopOnce sync.Once
	done     chan struct{}
	result   Result // once done
	err      error
}

// Result is how a program ended and what it took.
type Result struct {
	Isolation    Isolation
	Cause        Cause
	Exit         int           // as a shell tells it: the status, or 128 and the number of the signal; -1 if unknown
	CPU          time.Duration // processor time of its tree, or of what its parents waited for if there are no control groups
	Wall         time.Duration
	PeakMemory   int64  // bytes, /tmp and page cache included; 0 if the kernel does not tell
	ForksRefused int64  // how often it asked for a process or thread more than it may have
	Output       []byte // the last bytes, at most OutputKept, of its standard output and error
	OutputBytes  int64  // how many there were
}

// Cause is what ended a program.
type Cause string

// The causes. All but Exited are a kill of the whole tree.
const (
	Exited      Cause = "exited"      // it ended by itself, or by its own fault
	Memory      Cause = "memory"      // it needed more memory than it may have
	CPU         Cause = "cpu"         // it used up its processor time
	Wall        Cause = "wall"        // it took too long
	Output      Cause = "output"      // it wrote too much to standard output and error
	Interrupted Cause = "interrupted" // Kill was called, or the context was cancelled
)

// Wait returns how the program ended. Nothing of its tree is alive then, and no folder or control group of it is left.
// The error is a fault of ours; the result then holds what is known. Any number of callers may wait.
func (p *Program) Wait() (Result, error) {
	<-p.done
	return p.result, p.err
}

// Kill ends the program and all of its tree, if it still runs. It does not wait.
func (p *Program) Kill() { p.stopOnce.Do(func() { close(p.stop) }) }

// held is a program of one way of isolation: started, and held back until letGo.
type held struct {
	cmd    *exec.Cmd
	inside []*os.File              // our copies of what the program's side has, closed once it has started
	root   func() (int, error)     // after the start: the process that limits are put on and whose death is that of the tree
	letGo  func() error            // runs the program
	kill   func()                  // ends the tree, as far as that goes without a control group
	close  func(exited bool) error // gives back pipes and folders; exited says that nobody killed it
	extra  int                     // processes of ours in the tree
}

func (b *Box) start(ctx context.Context, c Command) (p *Program, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	h, err := b.way.hold(c, w)
	if err != nil {
		return nil, errors.Join(err, r.Close(), w.Close())
	}
	p = &Program{
		isolation: b.isolation, limits: c.Limits, tree: h, output: newTail(r, c.Limits.Output),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	h.inside = append(h.inside, w)
	p.ended, err = launch(h.cmd)
	for _, f := range h.inside {
		f.Close()
	}
	if err != nil {
		return nil, errors.Join(err, p.output.wait(), h.close(false))
	}
	if err := p.confine(ctx, b.groups); err != nil {
		h.kill()
		h.cmd.Process.Kill()
		<-p.ended
		if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPIPE) { // it ended before it was let go
			err = errNotReached
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		err = errors.Join(err, p.clear(), p.output.wait(), h.close(false))
		if text := p.output.last(); len(text) > 0 {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return nil, err
	}
	began := time.Now()
	go p.run(ctx, began)
	return p, nil
}

// launch starts cmd and returns a channel that is closed when it has ended.
//
// A program asks the kernel to be killed when its parent dies, and by parent the kernel means the thread. So the thread
// that starts it is kept, and kept from ending, until the program has ended.
func launch(cmd *exec.Cmd) (<-chan struct{}, error) {
	started, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		closeOnExec()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait() // the status is read from cmd.ProcessState
		}
	}()
	return ended, <-started
}

// confine puts the limits on the held program and lets it go.
func (p *Program) confine(ctx context.Context, groups *hierarchy) error {
	// The root of the tree is told by a program of ours, which may hang on a sick machine.
	stop := context.AfterFunc(ctx, func() { p.tree.cmd.Process.Kill() })
	defer stop()
	root, err := p.tree.root()
	if err != nil {
		return err
	}
	if groups != nil {
		if p.group, err = groups.newGroup(p.limits, p.tree.extra); err != nil {
			return err
		}
		if err := p.group.add(root); err != nil {
			return err
		}
	}
	if err := limitProcess(root, p.limits, p.group != nil); err != nil {
		return fmt.Errorf("limit process: %w", err)
	}
	return p.tree.letGo()
}

// run sees the program to its end.
func (p *Program) run(ctx context.Context, began time.Time) {
	defer close(p.done)
	cause := p.watch(ctx)
	wall := time.Since(began)
	// The program has ended. What it left behind ends now.
	p.tree.kill()
	state := p.tree.cmd.ProcessState
	use, err := p.settle(state)
	exit := -1
	if state == nil {
		err = errors.Join(err, errors.New("the status of the program is lost: somebody else has waited for it"))
	} else {
		exit = exitStatus(state)
		if cause == Exited && p.group == nil && outOfTime(state) {
			cause = CPU
		}
	}
	if cause == Exited && use.oomKills > 0 {
		cause = Memory
	}
	err = errors.Join(err, p.output.wait(), p.tree.close(cause == Exited))
	p.result = Result{
		Isolation: p.isolation, Cause: cause, Exit: exit,
		CPU: use.cpu, Wall: wall, PeakMemory: use.peak, ForksRefused: use.forksRefused,
		Output: p.output.last(), OutputBytes: p.output.count(),
	}
	if errors.Is(err, errNotReached) {
		err = fmt.Errorf("%w: %s", err, p.result.Output)
	}
	p.err = err
}

// watch returns what ended the program, after it has.
func (p *Program) watch(ctx context.Context) Cause {
	wall := time.NewTimer(p.limits.Wall)
	defer wall.Stop()
	check := time.NewTimer(checkSoonest)
	defer check.Stop()
	cause := Exited
	for cause == Exited {
		select {
		case <-p.ended:
			return Exited
		case <-ctx.Done():
			cause = Interrupted
		case <-p.stop:
			cause = Interrupted
		case <-wall.C:
			cause = Wall
		case <-p.output.flooded:
			cause = Output
		case <-check.C:
			var next time.Duration
			cause, next = p.check()
			check.Reset(next)
		}
	}
	p.tree.kill()
	if p.group != nil {
		// Where the tree has no root whose death is that of all. An error is told by settle, which tries again.
		_ = p.group.kill()
	}
	<-p.ended
	return cause
}

// A tree has one core, so it cannot run out of CPU time sooner than the remainder of it; but the death of one of its
// processes for want of memory should not go unnoticed for long.
const (
	checkSoonest = 10 * time.Millisecond
	checkLatest  = 100 * time.Millisecond
)

// check returns Exited if nothing is amiss, and when to look again.
func (p *Program) check() (Cause, time.Duration) {
	if p.group == nil {
		return Exited, checkLatest
	}
	use, err := p.group.usage()
	switch {
	case err != nil: // told by settle
	case use.oomKills > 0:
		return Memory, 0
	case use.cpu > p.limits.CPU:
		return CPU, 0
	}
	return Exited, min(max(p.limits.CPU-use.cpu, checkSoonest), checkLatest)
}

// settle ends what is left of the tree and returns what it took in all.
func (p *Program) settle(state *os.ProcessState) (usage, error) {
	switch {
	case p.group != nil:
	case state == nil:
		return usage{}, nil
	default:
		return processUsage(state), nil
	}
	err := p.group.kill()
	use, usageErr := p.group.usage()
	return use, errors.Join(err, usageErr, p.clear())
}

// clear removes the control group, if there is one, and all in it.
func (p *Program) clear() error {
	if p.group == nil {
		return nil
	}
	return errors.Join(p.group.kill(), p.group.remove())
}

// usage is what a tree of processes has taken.
type usage struct {
	cpu          time.Duration
	peak         int64 // bytes
	oomKills     int64
	forksRefused int64
}
