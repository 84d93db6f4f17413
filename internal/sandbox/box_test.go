//go:build unix

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAProgramTellsItsStatusAndOutput(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		r := run(t, b, program(t, `import sys; print("out"); print("err", file=sys.stderr); sys.exit(3)`))
		wantExit(t, r, 3, "out\nerr")
		if r.CPU <= 0 || r.Wall <= 0 || r.PeakMemory < 1<<20 || r.OutputBytes != 8 || r.ForksRefused != 0 {
			t.Errorf("got CPU %v, wall %v, peak %d, output %d, refused %d", r.CPU, r.Wall, r.PeakMemory, r.OutputBytes, r.ForksRefused)
		}
	})
}

func TestASignalIsToldAsAShellDoes(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		wantExit(t, run(t, b, program(t, `import os, signal; os.kill(os.getpid(), signal.SIGTERM)`)), 128+15, "")
	})
}

func TestMoreThanALimitEndsTheProgram(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		limit  func(*Limits)
		want   Cause
	}{
		"a busy loop": {`while True: pass`, func(l *Limits) { l.CPU = 200 * time.Millisecond }, CPU},
		"a busy tree": {"import os\nfor _ in range(3): os.fork()\nwhile True: pass", func(l *Limits) { l.CPU = 400 * time.Millisecond }, CPU},
		"a sleeper":   {`import time; time.sleep(1000)`, func(l *Limits) { l.Wall = 200 * time.Millisecond }, Wall},
		"a sleeper that ignores signals": {
			"import signal, time\nfor s in signal.SIGTERM, signal.SIGINT, signal.SIGHUP: signal.signal(s, signal.SIG_IGN)\nwhile True: time.sleep(1000)",
			func(l *Limits) { l.Wall = time.Second }, Wall,
		},
		"a hog of memory": {"kept = []\nwhile True: kept.append(b'x' * (1 << 20))", func(*Limits) {}, Memory},
		"a child that is a hog, behind its parent's back": {
			"import os, time\nif os.fork() == 0:\n  kept = []\n  while True: kept.append(b'x' * (1 << 20))\nwhile True: time.sleep(1)",
			func(*Limits) {}, Memory,
		},
		"a flood": {"while True: print('x' * 1000)", func(*Limits) {}, Output},
		"a fork bomb": {
			"import os\nwhile True:\n  try: os.fork()\n  except OSError: print('no more' * 100)",
			func(l *Limits) { l.Output = 50000 }, Output,
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, b *Box) {
				command := program(t, c.script)
				c.limit(&command.Limits)
				if c.want == Memory || name == "a busy tree" || name == "a fork bomb" {
					needGroups(t, b)
				}
				r := run(t, b, command)
				wantCause(t, r, c.want)
				if name == "a fork bomb" && r.ForksRefused == 0 {
					t.Error("got no refused fork")
				}
				if r.Exit != 128+9 && b.groups != nil { // without them the kernel's own limit ends it by another signal
					t.Errorf("got status %d, want that of a kill", r.Exit)
				}
			})
		})
	}
}

func TestAForkTooManyFailsAndIsCounted(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		needGroups(t, b)
		c := program(t, `
import os, signal, time
children = []
try:
    while True:
        pid = os.fork()
        if pid == 0:
            while True: time.sleep(1000)
        children.append(pid)
except OSError as e:
    print(len(children) + 1, e.errno)
`)
		c.Limits.Processes = 7
		r := run(t, b, c)
		wantExit(t, r, 0, "7 11") // EAGAIN
		if r.ForksRefused != 1 {
			t.Errorf("got %d forks refused, want 1", r.ForksRefused)
		}
	})
}

func TestAFileTooLargeFails(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		wantExit(t, run(t, b, program(t, `
import os
f = open(os.environ["TMPDIR"] + "/f", "wb", buffering=0)
n = 0
try:
    while True: n += f.write(b"x" * 65536)
except OSError as e:
    print(n, e.errno)
`)), 0, "8388608 27") // EFBIG
	})
}

func TestOnlyTheLastOutputIsKept(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		r := run(t, b, program(t, `print("a" * 100000); print("the end")`))
		if len(r.Output) != OutputKept || !strings.HasSuffix(string(r.Output), "aaa\nthe end\n") || r.OutputBytes != 100009 {
			t.Errorf("got %d bytes ending in %q of %d, want %d of 100009", len(r.Output), r.Output[max(0, len(r.Output)-20):], r.OutputBytes, OutputKept)
		}
	})
}

func TestTheEnvironmentIsWhatTheCommandSays(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		c := program(t, `
import os
home = os.environ["HOME"]
names = [n for n in os.environ if n != "LC_CTYPE"]  # Python's own
print(*sorted(names), home == os.environ["TMPDIR"] == os.getcwd(), os.environ["TRICKY"])`)
		c.Env = append(c.Env, "TRICKY=a =b\n'c'", "HOME=/elsewhere")
		wantExit(t, run(t, b, c), 0, "HOME LANG PATH TMPDIR TRICKY True a =b\n'c'")
	})
}

// stray stands for a file that we have inherited ourselves, and may not pass on.
var stray, errStray = syscall.Dup(0)

func TestOnlyTheGivenFilesAreInherited(t *testing.T) {
	if errStray != nil {
		t.Fatal(errStray)
	}
	both(t, func(t *testing.T, b *Box) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		c := program(t, `
import os
open_ = []
for fd in range(1024):
    try: os.fstat(fd)
    except OSError: continue
    open_.append(fd)
print(open_, repr(os.read(0, 1)))
os.write(3, b"hello")`)
		c.Files = []*os.File{w}
		wantExit(t, run(t, b, c), 0, "[0, 1, 2, 3] b''")
		w.Close()
		if got, err := io.ReadAll(r); string(got) != "hello" || err != nil {
			t.Errorf("got %q, %v over the file, want hello", got, err)
		}
	})
}

// daemonize leaves a process of another session and parent, which holds descriptor 3 and says so.
const daemonize = `
import os, signal, time
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for s in signal.SIGTERM, signal.SIGINT, signal.SIGHUP: signal.signal(s, signal.SIG_IGN)
        os.write(3, b"d")
        os.write(w, b"d")
        while True: time.sleep(1000)
    os._exit(0)
os.read(r, 1)
`

// startDaemon starts a command that daemonizes and returns when the daemon runs. The pipe is at its end when no process of
// the program lives.
func startDaemon(t *testing.T, ctx context.Context, b *Box, script string) (*Program, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	c := program(t, daemonize+script)
	c.Files = []*os.File{w}
	p, err := b.Start(ctx, c)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 1 {
		_, waitErr := p.Wait()
		t.Fatalf("the daemon does not run: %v, %v", err, waitErr)
	}
	return p, r
}

func TestADaemonIsDeadWhenWaitReturns(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		stop   func(*Program, context.CancelFunc)
		want   Cause
	}{
		"its parent exits":         {"", func(*Program, context.CancelFunc) {}, Exited},
		"Kill is called":           {"while True: time.sleep(1)", func(p *Program, _ context.CancelFunc) { p.Kill(); p.Kill() }, Interrupted},
		"the context is cancelled": {"while True: time.sleep(1)", func(_ *Program, cancel context.CancelFunc) { cancel() }, Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, b *Box) {
				needGroups(t, b)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				p, r := startDaemon(t, ctx, b, c.script)
				c.stop(p, cancel)
				got, err := p.Wait()
				if err != nil {
					t.Fatal(err)
				}
				wantCause(t, got, c.want)
				// It would hang if somebody held the other end.
				r.SetReadDeadline(time.Now().Add(time.Minute))
				if rest, err := io.ReadAll(r); err != nil || len(rest) != 0 {
					t.Errorf("got %q, %v from the pipe that the daemon held, want its end", rest, err)
				}
				if again, err := p.Wait(); err != nil || again.Cause != got.Cause {
					t.Errorf("the second Wait: got %v, %v, want what the first said", again, err)
				}
			})
		})
	}
}

func TestStartRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Command)
		want   string
	}{
		"a relative program":     {func(c *Command) { c.Path = "python3" }, `path "python3" is not absolute`},
		"a relative mount":       {func(c *Command) { c.Mounts = []Mount{{"/usr", "team"}} }, `path "team" is not absolute`},
		"a program with =":       {func(c *Command) { c.Path = "/usr/bin/a=b" }, `contains =`},
		"a variable without =":   {func(c *Command) { c.Env = []string{"PATH"} }, `"PATH" is not NAME=value`},
		"a zero byte":            {func(c *Command) { c.Args = []string{"a\x00--bind"} }, "contains a zero byte"},
		"no limit on wall time":  {func(c *Command) { c.Limits.Wall = 0 }, "the limit on wall time is 0; it must be positive"},
		"a negative output":      {func(c *Command) { c.Limits.Output = -1 }, "the limit on output is -1"},
		"a tiny limit on a file": {func(c *Command) { c.Limits.FileSize = 100 }, "it must be 4096 at least"},
	} {
		t.Run(name, func(t *testing.T) {
			command := program(t, "")
			c.change(&command)
			_, err := processBox(t).Start(t.Context(), command)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q in it", err, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := processBox(t).Start(ctx, program(t, "")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got error %v", err)
	}
	if _, err := New("chroot"); err == nil || !strings.Contains(err.Error(), `isolation "chroot": want "cage" or "process"`) {
		t.Errorf("got error %v for an unknown isolation", err)
	}
}

func TestManyProgramsRunAtATime(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		var programs []*Program
		for i := range 8 {
			p, err := b.Start(t.Context(), program(t, "import sys; print(sys.argv[1])", fmt.Sprint(i)))
			if err != nil {
				t.Error(err)
				break
			}
			programs = append(programs, p)
		}
		for i, p := range programs {
			r, err := p.Wait()
			if err != nil {
				t.Error(err)
			}
			wantExit(t, r, 0, fmt.Sprint(i))
		}
	})
}

func TestThePrivateFolderOfAProcessIsGone(t *testing.T) {
	t.Parallel()
	r := run(t, processBox(t), program(t, `
import os
os.makedirs("a/b")
open("a/b/f", "w").close()
os.chmod("a/b", 0)
os.chmod("a", 0)
print(os.getcwd())`))
	folder := strings.TrimSpace(string(r.Output))
	if !filepath.IsAbs(folder) {
		t.Fatalf("got %q, want a folder", folder)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v for %s, want that it is gone", err, folder)
	}
}

// Where there are no control groups, the limits are those of single processes.
func TestAProcessWithoutControlGroups(t *testing.T) {
	b := &Box{isolation: Process, way: plain{}}
	t.Run("runs out of CPU time", func(t *testing.T) {
		t.Parallel()
		c := program(t, `while True: pass`)
		c.Limits.CPU = time.Second
		r := run(t, b, c)
		wantCause(t, r, CPU)
		if r.CPU < time.Second/2 {
			t.Errorf("got CPU time %v, want about a second", r.CPU)
		}
	})
	t.Run("runs out of memory by itself", func(t *testing.T) {
		t.Parallel()
		r := run(t, b, program(t, `b'x' * (1 << 30)`))
		if r.Cause != Exited || r.Exit != 1 || !strings.Contains(string(r.Output), "MemoryError") {
			t.Errorf("got %s with status %d and output %q, want a MemoryError", r.Cause, r.Exit, r.Output)
		}
	})
	t.Run("is killed with its session", func(t *testing.T) {
		t.Parallel()
		c := program(t, "import os, time\nos.fork()\ntime.sleep(1000)")
		c.Limits.Wall = time.Second
		wantCause(t, run(t, b, c), Wall)
	})
}
