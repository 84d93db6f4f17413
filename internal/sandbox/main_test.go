package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// secret is in the environment of the tests, and is to be in that of no program.
const secret = "SKYRAIL_TEST_SECRET"

func TestMain(m *testing.M) {
	os.Setenv(secret, "of the host")
	code := m.Run()
	if code == 0 {
		if err := errors.Join(goleak.Find(), leftovers()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// leftovers are private folders of programs, and whatever the platform can leave.
func leftovers() error {
	if folders, _ := filepath.Glob(filepath.Join(os.TempDir(), privateFolders())); len(folders) > 0 {
		return fmt.Errorf("folders %s are left", folders)
	}
	return leftGroupsAndProcesses()
}

// theCage is the cage, or a reason to skip. Where SKYRAIL_CAGE is "required", as in make test and CI, there has to be one.
var theCage = sync.OnceValues(func() (*Box, error) { return New(Cage) })

func cageBox(t *testing.T) *Box {
	t.Helper()
	b, err := theCage()
	if err != nil {
		lack(t, err)
	}
	return b
}

// lack ends a test for want of something that the machine of make test and CI has.
func lack(t *testing.T, why any) {
	t.Helper()
	if os.Getenv("SKYRAIL_CAGE") == "required" {
		t.Fatal(why)
	}
	t.Skip(why)
}

func needGroups(t *testing.T, b *Box) {
	t.Helper()
	if b.groups == nil {
		lack(t, "there are no control groups")
	}
}

var theProcess = sync.OnceValues(func() (*Box, error) { return New(Process) })

func processBox(t *testing.T) *Box {
	t.Helper()
	b, err := theProcess()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// both runs a test in a cage and without one.
func both(t *testing.T, f func(*testing.T, *Box)) {
	t.Parallel()
	t.Run("in a cage", func(t *testing.T) { t.Parallel(); f(t, cageBox(t)) })
	t.Run("as a process", func(t *testing.T) { t.Parallel(); f(t, processBox(t)) })
}

// interpreter is the Python that the tests run, and the folders that it is made of.
type interpreter struct {
	Path    string
	Folders []string
}

var python = sync.OnceValues(func() (interpreter, error) {
	name := os.Getenv("SKYRAIL_PYTHON")
	if name == "" {
		name = "python3"
	}
	var i interpreter
	out, err := exec.Command(name, "-c", `import json, sys; print(json.dumps({"Path": sys.executable, "Folders": [sys.prefix, sys.base_prefix]}))`).Output()
	if err != nil {
		return i, fmt.Errorf("%s: %w", name, err)
	}
	return i, json.Unmarshal(out, &i)
})

// program is a command that runs a Python script with limits that it does not reach by chance, on a loaded machine too.
func program(t *testing.T, script string, args ...string) Command {
	t.Helper()
	py, err := python()
	if err != nil {
		t.Fatal(err)
	}
	return Command{
		Path:     py.Path,
		Args:     append([]string{"-I", "-B", "-u", "-c", script}, args...),
		Env:      []string{"PATH=/usr/bin", "LANG=C.UTF-8"},
		ReadOnly: slices.DeleteFunc(slices.Compact(slices.Clone(py.Folders)), func(f string) bool { return f == "/usr" }),
		Limits: Limits{
			Memory: 256 << 20, CPU: time.Minute, Processes: 16, FileSize: 8 << 20, TmpSize: 16 << 20, Output: 1 << 20,
			Wall: 2 * time.Minute,
		},
	}
}

func run(t *testing.T, b *Box, c Command) Result {
	t.Helper()
	p, err := b.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if r.Isolation != b.Isolation() {
		t.Errorf("got isolation %q, want %q", r.Isolation, b.Isolation())
	}
	return r
}

// wantExit fails unless the program ended by itself with a status and the output.
func wantExit(t *testing.T, r Result, status int, output string) {
	t.Helper()
	if got := strings.TrimSpace(string(r.Output)); r.Cause != Exited || r.Exit != status || got != output {
		t.Errorf("got %s with status %d and output %q, want %s with %d and %q", r.Cause, r.Exit, got, Exited, status, output)
	}
}

func wantCause(t *testing.T, r Result, cause Cause) {
	t.Helper()
	if r.Cause != cause {
		t.Errorf("got %s with status %d and output %q, want %s", r.Cause, r.Exit, r.Output, cause)
	}
}
