package pyworker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"skyrail/python"
)

// Python is an interpreter that can host submissions.
type Python struct {
	Path    string   // of the interpreter itself, not of a wrapper script
	Version string   // such as 3.12.4
	parts   []string // files and folders that a process must see to run it
}

// An interpreter, or a script that wraps one, has this long to tell about itself, and this much to say.
const (
	probeTime = 30 * time.Second
	maxProbe  = 1 << 20
)

// probe tells about an interpreter, in JSON. It imports none of the packages.
const probe = `
import importlib.metadata, json, os, sys
missing = []
for name in ("numpy", "gymnasium", "msgpack"):
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        missing.append(name)
# Not the whole of a prefix: it may be a folder in which other things lie, such as the submissions.
parts = ["bin", "lib", "lib64", "libexec", "share", "pyvenv.cfg"]
prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
seen = {os.path.join(prefix, part) for prefix in prefixes for part in parts}
seen |= {path for path in sys.path if path.endswith(("site-packages", "dist-packages"))}
seen.add(os.path.dirname(os.path.realpath(sys.executable)))
print(json.dumps({
    "executable": os.path.abspath(sys.executable),
    "version": list(sys.version_info[:3]),
    "parts": sorted({os.path.abspath(path) for path in seen if os.path.exists(path)}),
    "missing": missing,
}))`

// PythonError is an interpreter that cannot host submissions.
type PythonError struct {
	Python string // by name or path
	Reason string // and what to do
	Err    error  // what running it gave, or nil
}

func (e *PythonError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("python %s: %v; %s", e.Python, e.Err, e.Reason)
	}
	return fmt.Sprintf("python %s %s", e.Python, e.Reason)
}

// Unwrap returns what running the interpreter gave.
func (e *PythonError) Unwrap() error { return e.Err }

// FindPython looks an interpreter up and asks it about itself. The error is a *PythonError, or ctx's.
func FindPython(ctx context.Context, name string) (Python, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return Python{}, &PythonError{name, "name another with --python", err}
	}
	probing, cancel := context.WithTimeoutCause(ctx, probeTime, fmt.Errorf("no answer within %v", probeTime))
	defer cancel()
	out, errs := bounded{stop: cancel}, bounded{stop: cancel}
	cmd := exec.CommandContext(probing, path, "-E", "-s", "-c", probe) // as the worker is started: without PYTHONPATH
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		switch {
		case ctx.Err() != nil:
			return Python{}, ctx.Err()
		case out.over || errs.over:
			err = fmt.Errorf("it says more than %d bytes", maxProbe)
		case probing.Err() != nil:
			err = context.Cause(probing)
		}
		return Python{}, &PythonError{path, cmp.Or(oneLine(errs.kept.String()), "name another with --python"), err}
	}
	var told struct {
		Executable string
		Version    []int
		Parts      []string
		Missing    []string
	}
	if err := json.Unmarshal(out.kept.Bytes(), &told); err != nil {
		return Python{}, &PythonError{path, "it is asked about itself and should answer in JSON", err}
	}
	p := Python{
		Path: told.Executable, parts: told.Parts,
		Version: strings.Trim(strings.ReplaceAll(fmt.Sprint(told.Version), " ", "."), "[]"),
	}
	if len(told.Version) != 3 || told.Version[0] != 3 || told.Version[1] < 10 {
		return p, &PythonError{p.Path, "is version " + p.Version + "; 3.10 or later is needed", nil}
	}
	if len(told.Missing) > 0 {
		return p, &PythonError{p.Path, fmt.Sprintf("lacks %s: %s -m pip install %s, or name another with --python",
			strings.Join(told.Missing, ", "), p.Path, strings.Join(told.Missing, " ")), nil}
	}
	return p, nil
}

// bounded keeps up to maxProbe bytes, and stops who writes more.
type bounded struct {
	kept bytes.Buffer // not embedded: its ReadFrom would go round Write
	over bool
	stop func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.over = b.over || b.kept.Len()+len(p) > maxProbe; b.over {
		b.stop()
		return len(p), nil
	}
	return b.kept.Write(p)
}

// Starter writes what a team starts from into dir, which must exist: the stock environment, agents and policies to
// edit, an example policy, a manifest, a training script and a README. It returns the names of the files; none that
// exists is replaced.
func Starter(dir string) (written []string, err error) {
	for _, part := range []string{"skyrail/stock", "skyrail/starter"} {
		names, err := writeTree(part, dir)
		written = append(written, names...)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// writeTree writes the files below part of those that come with Skyrail into dir, and returns their names.
func writeTree(part, dir string) (written []string, err error) {
	tree, err := fs.Sub(python.Files, part)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(name))
		if d.IsDir() {
			if err := makeFolder(target); !errors.Is(err, fs.ErrExist) {
				return err
			}
			return nil
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		written = append(written, name)
		_, err = f.Write(data)
		return errors.Join(err, f.Chmod(0o644), f.Close())
	})
	return written, err
}

// makeFolder makes a folder that everybody may read, whatever the umask: in a cage of root, the worker is nobody.
func makeFolder(name string) error {
	if err := os.Mkdir(name, 0o755); err != nil {
		return err
	}
	return os.Chmod(name, 0o755)
}
