package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
		return nil, plainly(err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder, not a file", name)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	file, err := os.Open(name)
	return file, plainly(err)
}

// plainly is an error of the file system without the operation: the path, and what is wrong.
func plainly(err error) error {
	path := (*fs.PathError)(nil)
	switch {
	case !errors.As(err, &path):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", path.Path, errNoFile)
	}
	return fmt.Errorf("%s: %w", path.Path, path.Err)
}

// errNoFile is that there is neither a file nor a folder.
var errNoFile = errors.New("no such file")

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
	if !out.Mode().IsRegular() {
		return nil
	}
	var clash error
	check := func(what, input string) {
		if isRead(input, out) {
			clash = usage(fmt.Errorf("%s is the file that %s reads; it would be replaced", name, what))
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "seeds", "private", "salt-file", "solution", "submission", "zip", "python", "agent", "env", "contest", "fork",
			"rail", "line", "timetable":
		default:
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, input := range list.GetSlice() {
				check("--"+f.Name, input)
			}
			return
		}
		check("--"+f.Name, f.Value.String())
	})
	for _, input := range cmd.Flags().Args() {
		check(cmd.CommandPath(), input)
	}
	return clash
}

// isRead says whether a file is an input, or one of those that are read of an input that is a folder: tables and
// environments.
func isRead(input string, file os.FileInfo) bool {
	in, err := os.Stat(input)
	if err != nil {
		return false
	}
	if !in.IsDir() {
		return os.SameFile(in, file)
	}
	found := false
	_ = filepath.WalkDir(input, func(path string, d fs.DirEntry, err error) error {
		_, environment := trimEnvSuffix(path)
		if err != nil || d.IsDir() || !environment && filepath.Base(filepath.Dir(path)) != "event_logs" {
			return nil // what cannot be read is not read either
		}
		if in, err := os.Stat(path); err == nil && os.SameFile(in, file) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
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
