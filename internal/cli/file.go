package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// readInput opens a file that a flag names; - is standard input.
func (a *app) readInput(flag, name string, read func(io.Reader) error) error {
	if name == "-" {
		if err := read(a.in); err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		return nil
	}
	file, err := openInput(name)
	if err != nil {
		return usage(fmt.Errorf("--%s: %w", flag, err))
	}
	defer file.Close()
	if err := read(file); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// openInput opens a file to read; a folder is none.
func openInput(name string) (*os.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		file.Close()
		return nil, fmt.Errorf("%s is a folder, not a file", name)
	}
	return file, nil
}

// output is standard output that remembers its first error, so that a table that could not be printed is not
// taken for one that was.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(b)
	o.err = err
	return n, err
}

// writeFile puts what write gives into a file, whole or not at all: into a temporary file beside it, which is
// then renamed. - is standard output. What is no regular file, such as a device or a pipe, is written to as it
// is.
func (a *app) writeFile(name string, write func(io.Writer) error) error {
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return err
	}
	if name == "-" {
		_, err := a.out.Write(content.Bytes())
		return err
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return usage(fmt.Errorf("%s is a folder, a file name is needed", name))
		}
		return os.WriteFile(name, content.Bytes(), 0)
	}
	// A link is followed, so that the file it points to is replaced and not the link.
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	return replace(name, content.Bytes())
}

func replace(name string, content []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return usage(fmt.Errorf("cannot write %s: %w", name, errors.Unwrap(err)))
	}
	defer func() {
		if err != nil {
			temp.Close()
			os.Remove(temp.Name())
			err = fmt.Errorf("cannot write %s: %w", name, err)
		}
	}()
	if _, err = temp.Write(content); err != nil {
		return err
	}
	if err = temp.Chmod(permissions(name)); err != nil {
		return err
	}
	if err = temp.Sync(); err != nil {
		return err
	}
	if err = temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), name)
}

// permissions keeps those of a file that is there; a new one is readable by all, as ordinary files are.
func permissions(name string) os.FileMode {
	if info, err := os.Stat(name); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}
