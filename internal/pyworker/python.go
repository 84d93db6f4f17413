package pyworker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"skyrail/python"
)

// Python is an interpreter that can host submissions.
type Python struct {
	Path     string            // of the interpreter itself, not of a wrapper script
	Version  string            // such as 3.12.4
	Packages map[string]string // those that matter and are installed, with their versions
	folders  []string          // what a process must see to run it
}

// needed are the packages that the worker itself imports.
var needed = []string{"numpy", "gymnasium", "msgpack"}

// probe tells about an interpreter, in JSON. It imports none of the packages.
const probe = `
import importlib.metadata, json, os, site, sys
packages = {}
for name in ("numpy", "gymnasium", "msgpack", "stable-baselines3", "sb3-contrib", "torch"):
    try:
        packages[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps({
    "executable": sys.executable,
    "version": list(sys.version_info[:3]),
    "folders": [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, os.path.dirname(os.path.realpath(sys.executable))]
               + [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))],
    "packages": packages,
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
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "-s", "-c", probe)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return Python{}, ctx.Err()
		}
		return Python{}, &PythonError{path, oneLine(errs.String()), err}
	}
	var told struct {
		Executable string
		Version    []int
		Folders    []string
		Packages   map[string]string
	}
	if err := json.Unmarshal(out.Bytes(), &told); err != nil {
		return Python{}, &PythonError{path, "it is asked about itself and should answer in JSON", err}
	}
	p := Python{
		Path: told.Executable, Packages: told.Packages, folders: told.Folders,
		Version: strings.Trim(strings.ReplaceAll(fmt.Sprint(told.Version), " ", "."), "[]"),
	}
	if len(told.Version) != 3 || told.Version[0] != 3 || told.Version[1] < 10 {
		return p, &PythonError{p.Path, "is version " + p.Version + "; 3.10 or later is needed", nil}
	}
	var missing []string
	for _, name := range needed {
		if p.Packages[name] == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return p, &PythonError{p.Path, fmt.Sprintf("lacks %s: %s -m pip install %s", strings.Join(missing, ", "), p.Path, strings.Join(missing, " ")), nil}
	}
	return p, nil
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
			if err := os.Mkdir(target, 0o755); !errors.Is(err, fs.ErrExist) {
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
		return errors.Join(err, f.Close())
	})
	return written, err
}
