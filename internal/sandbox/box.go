package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Box is this machine's way of confining programs. It is safe for concurrent use.
type Box struct {
	isolation Isolation
	way       way
	groups    *hierarchy // nil where there are no control groups
}

// Isolation is how far a program is kept from the host.
type Isolation string

const (
	// Cage hides the host and the network from the program and limits its whole tree.
	Cage Isolation = "cage"
	// Process only limits the program: for code that is trusted.
	Process Isolation = "process"
)

// New finds out what the machine offers. For Cage it also runs a trivial program, so that a cage which is installed but
// not permitted is known at once; then, and where something is missing, the error is an *UnavailableError.
//
// Under version 2 of control groups, New may move this process one group down: see unifiedParent. Groups that a crashed
// run has left behind are removed.
func New(isolation Isolation) (*Box, error) {
	switch isolation {
	case Cage:
		return newCage()
	case Process:
		groups, _ := findHierarchy() // without them the limits are those of single processes
		return &Box{isolation: Process, way: plain{}, groups: groups}, nil
	}
	return nil, fmt.Errorf("isolation %q: want %q or %q", isolation, Cage, Process)
}

// UnavailableError says why there is no cage on this machine and what to do.
type UnavailableError struct {
	Missing []string // what the machine lacks, in words
	Hint    string   // what to do about it
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("no cage on this machine: %s; %s, or choose isolation %q, which limits a program but hides nothing from it",
		strings.Join(e.Missing, "; "), e.Hint, Process)
}

// Command is a program to run.
type Command struct {
	Path     string     // of the program: absolute, as the program sees it
	Args     []string   // without the name of the program
	Env      []string   // all of its environment as NAME=value, except for HOME and TMPDIR, which are its private folder
	Dir      string     // where it starts, as it sees it; empty is its private folder
	ReadOnly []string   // host paths that it may read at the same place; absolute
	Mounts   []Mount    // host paths that it may read at another place
	Files    []*os.File // open files that it inherits as descriptors 3, 4, …; they stay the caller's to close
	Limits   Limits
}

// Mount shows a file or folder of the host, read-only, at another place. Both are absolute paths.
type Mount struct {
	Host   string
	Inside string
}

// Inside returns where a program of this box finds the mount. Without a cage that is its place on the host, so use this
// for whatever the program is told: its arguments, its environment, its folder.
func (b *Box) Inside(m Mount) string {
	if b.isolation == Cage {
		return m.Inside
	}
	return m.Host
}

// Isolation returns how far programs of this box are kept from the host.
func (b *Box) Isolation() Isolation { return b.isolation }

// Limits of a program and everything that it starts. All must be positive. Sizes are in bytes.
type Limits struct {
	Memory    int64         // resident memory with /tmp and page cache, without swap; more is Cause Memory
	CPU       time.Duration // processor time of the tree, which has one core; more is Cause CPU
	Processes int           // processes and threads at a time; starting more fails, and Result.ForksRefused counts
	FileSize  int64         // of one file, 4096 at least; writing more fails
	TmpSize   int64         // of /tmp; writing more fails
	Output    int64         // standard output and error together; more is Cause Output
	Wall      time.Duration // from start to end; more is Cause Wall
}

// DefaultLimits suit an agent that answers thousands of observations with a small network on one core.
func DefaultLimits() Limits {
	const mib = 1 << 20
	return Limits{
		Memory:    2048 * mib,
		CPU:       10 * time.Minute,
		Processes: 64,
		FileSize:  64 * mib,
		TmpSize:   128 * mib,
		Output:    16 * mib,
		Wall:      15 * time.Minute,
	}
}

// openFiles is how many files a program may have open, as is usual for a process of a login.
const openFiles = 1024

func (l Limits) check() error {
	for _, v := range []struct {
		name  string
		value int64
	}{
		{"memory", l.Memory}, {"CPU time", int64(l.CPU)}, {"processes", int64(l.Processes)}, {"file size", l.FileSize},
		{"/tmp size", l.TmpSize}, {"output", l.Output}, {"wall time", int64(l.Wall)},
	} {
		if v.value <= 0 {
			return fmt.Errorf("the limit on %s is %d; it must be positive", v.name, v.value)
		}
	}
	// The files of the cage itself are made under the same limit.
	if l.FileSize < 4096 {
		return fmt.Errorf("the limit on file size is %d; it must be 4096 at least", l.FileSize)
	}
	return nil
}

func (c Command) check() error {
	paths := []string{c.Path}
	paths = append(paths, c.ReadOnly...)
	for _, m := range c.Mounts {
		paths = append(paths, m.Host, m.Inside)
	}
	if c.Dir != "" {
		paths = append(paths, c.Dir)
	}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("path %q is not absolute", p)
		}
	}
	for _, v := range c.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
			return fmt.Errorf("environment: %q is not NAME=value", v)
		}
	}
	for _, s := range append(append(paths, c.Args...), c.Env...) {
		if strings.Contains(s, "\x00") {
			return fmt.Errorf("%q contains a zero byte", s)
		}
	}
	// env, which clears the environment, would take such a path for a variable.
	if strings.Contains(c.Path, "=") {
		return fmt.Errorf("path %q of the program contains =", c.Path)
	}
	return c.Limits.check()
}

// Start runs the command. Cancelling ctx ends the program with Cause Interrupted. Whoever starts a program must Wait
// for it.
func (b *Box) Start(ctx context.Context, c Command) (*Program, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	p, err := b.start(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	return p, nil
}

// way starts programs of one isolation. What it starts is held back: not one instruction of the program runs before
// letGo, so that limits can be put on in between.
type way interface {
	hold(c Command, out *os.File) (*held, error)
}

// privateFolders is the pattern of the folders that programs without a cage get: it tells whose they are.
func privateFolders() string { return fmt.Sprintf("skyrail-run-%d-*", os.Getpid()) }

// errNotReached says that a program ended before its first instruction, by a fault that is not its own.
var errNotReached = errors.New("the program was not reached")
