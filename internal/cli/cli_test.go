package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"go.uber.org/goleak"
)

// What the commands print is told by the scripts under cmd/skyrail; here is what a script cannot do.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestInterruptedRunsWriteNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range [][]string{
		{"flight", "compare", "--agent", "noop"},
		{"flight", "submit", "--agent", "noop", "--out", "s.csv"},
		{"flight", "postmortem", "--agent", "noop"},
		{"flight", "kaggle", "export"},
		{"flight", "seeds", "--out", "seeds.txt"},
	} {
		var out, errs bytes.Buffer
		status := run(ctx, args, &app{strings.NewReader(""), &out, &errs})
		if status != exitFault || !strings.Contains(errs.String(), "interrupted, nothing was written") || out.Len() > 0 {
			t.Errorf("%v: got status %d, output %q, errors %q", args, status, &out, &errs)
		}
	}
	if left := files(t, "."); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// full is a standard output without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestAnOutputThatFailsIsAFault(t *testing.T) {
	for _, args := range [][]string{
		{"flight", "compare", "--agent", "noop", "--limit", "1"},
		{"flight", "compare", "--agent", "noop", "--limit", "1", "--json"},
		{"flight", "postmortem", "--agent", "noop", "--limit", "1"},
		{"flight", "seeds"},
		{"flight", "decode", "1"},
		{"--help"},
	} {
		var errs bytes.Buffer
		status := run(context.Background(), args, &app{strings.NewReader(""), full{}, &errs})
		if status != exitFault || !strings.Contains(errs.String(), "no room") {
			t.Errorf("%v: got status %d, errors %q", args, status, &errs)
		}
	}
}

func TestFilesAppearWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f.csv")
	a := &app{strings.NewReader(""), io.Discard, io.Discard}
	cmd := &cobra.Command{}
	cmd.SetContext(context.Background())
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	read := func() string {
		t.Helper()
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if err := a.writeFiles(cmd, file{name, text("old"), 0}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := a.writeFiles(cmd, file{name, func(w io.Writer) error { io.WriteString(w, "ne"); return broken }, 0}); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
	if got := read(); got != "old" {
		t.Errorf("after a failure: got %q, want %q", got, "old")
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(dir, "link.csv")
		if err := os.Symlink(name, link); err != nil {
			t.Fatal(err)
		}
		if err := a.writeFiles(cmd, file{link, text("new"), 0}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(link)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is no link any more (%v)", err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("permissions: got %v, want those it had", info.Mode())
		}
		if got := read(); got != "new" {
			t.Errorf("got %q, want %q", got, "new")
		}
		if got, want := len(files(t, dir)), 2; got != want {
			t.Errorf("got %d files, want %d", got, want)
		}
	}
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Every command explains itself and shows an example that begins with its own name.
func TestEveryCommandHasHelp(t *testing.T) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Short == "" || c.Example == "" {
			t.Errorf("%s lacks a description or an example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			if !strings.HasPrefix(strings.TrimSpace(line), c.CommandPath()) {
				t.Errorf("%s: the example %q is of another command", c.CommandPath(), strings.TrimSpace(line))
			}
		}
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(newRoot(&app{nil, io.Discard, io.Discard}))
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"rule-based": "rule-based", "my seeds.txt": "'my seeds.txt'", "it's": `'it'\''s'`, "a;b": "'a;b'", "": "''",
		"a\x1b[2J\u202e'\\\n": `$'a\x1b[2J\u202e\'\\\n'`} {
		if got := shellWord(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// An interrupt may end the display just before the bar is due.
func TestNoBarAfterAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &progress{start: time.Now().Add(-time.Minute), total: 10, bars: mpb.NewWithContext(ctx, mpb.WithOutput(io.Discard))}
	cancel()
	p.bars.Wait()
	p.one()
	if p.bar != nil || p.done != 1 {
		t.Errorf("got bar %v after %d episodes, want none after 1", p.bar, p.done)
	}
}
