package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

// openRegular opens a file to read that is neither a folder nor anything else, such as a named pipe, whose opening may wait
// for ever.
func openRegular(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder, not a file", name)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	return os.Open(name)
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

// file is a file to write.
type file struct {
	name  string // - is standard output
	write func(io.Writer) error
	mode  os.FileMode // of a new file; 0 is readable by all
}

// writeFiles puts what the write functions give into files, each whole or not at all: everything is made first,
// which an interrupt ends, then each file is written to a temporary one beside it and renamed. What is no regular
// file, such as a device or a pipe, is written to as it is. A file that a flag of cmd names as input is not
// replaced.
func (a *app) writeFiles(cmd *cobra.Command, files ...file) error {
	contents := make([]bytes.Buffer, len(files))
	for i, f := range files {
		if err := refuseInput(cmd, f.name); err != nil {
			return err
		}
		if err := f.write(cancellable{cmd.Context(), &contents[i]}); err != nil {
			return err
		}
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	for i, f := range files {
		if err := a.put(f.name, contents[i].Bytes(), cmp.Or(f.mode, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// cancellable is a writer that fails once its context is cancelled.
type cancellable struct {
	ctx context.Context
	w   io.Writer
}

func (c cancellable) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}

// refuseInput refuses to write over a file that the command reads.
func refuseInput(cmd *cobra.Command, name string) error {
	out, err := os.Stat(name)
	if err != nil {
		return nil // it is not there yet
	}
	var clash error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		var inputs []string
		switch f.Name {
		case "seeds", "private", "salt-file", "solution", "submission", "zip", "python":
			inputs = []string{f.Value.String()}
		case "agent":
			inputs = f.Value.(pflag.SliceValue).GetSlice()
		}
		for _, input := range inputs {
			if in, err := os.Stat(input); err == nil && out.Mode().IsRegular() && os.SameFile(in, out) {
				clash = usage(fmt.Errorf("%s is the file that --%s reads; it would be replaced", name, f.Name))
			}
		}
	})
	return clash
}

// put writes one file.
func (a *app) put(name string, content []byte, mode os.FileMode) error {
	if name == "-" {
		_, err := a.out.Write(content)
		return err
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return usage(fmt.Errorf("%s is a folder, a file name is needed", name))
		}
		return os.WriteFile(name, content, 0)
	}
	// A link is followed, so that the file it points to is replaced and not the link.
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	return replace(name, content, mode)
}

func replace(name string, content []byte, mode os.FileMode) (err error) {
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
	if err = temp.Chmod(permissions(name, mode)); err != nil {
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

// permissions keeps those of a file that is there.
func permissions(name string, fresh os.FileMode) os.FileMode {
	if info, err := os.Stat(name); err == nil {
		return info.Mode().Perm()
	}
	return fresh
}
