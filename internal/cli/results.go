package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"github.com/gofrs/flock"

	"skyrail/internal/ingest"
)

// resultsFile is where a run puts what it finds at once, and finds what an earlier one did. The zero value is none.
type resultsFile struct {
	name  string
	file  *os.File
	lock  *flock.Flock
	known map[string]ingest.Record
	kept  int // how many records it holds
}

// openResults opens a results file, or makes it. One of a secret list is the organiser's alone. A line that an earlier run
// was cut off in is taken away.
func openResults(name string, secret bool) (r *resultsFile, err error) {
	if name == "" {
		return &resultsFile{}, nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() || name == "-" {
		return nil, usage(fmt.Errorf("--results %s is not a file", name))
	}
	mode := os.FileMode(0o644)
	if secret {
		mode = 0o600
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, mode)
	if err != nil {
		return nil, usage(fmt.Errorf("--results: %w", err))
	}
	r = &resultsFile{name: name, file: f, lock: flock.New(name)}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	switch locked, err := r.lock.TryLock(); {
	case err != nil:
		return r, fmt.Errorf("lock %s: %w", name, err)
	case !locked:
		return r, usage(fmt.Errorf("--results %s is in use by another run", name))
	}
	known, whole, err := ingest.ReadRecords(bufio.NewReader(f))
	if err != nil {
		return r, usage(fmt.Errorf("--results %s: %w", name, err))
	}
	if secret {
		if err := f.Chmod(mode); err != nil {
			return r, fmt.Errorf("results: %w", err)
		}
	}
	r.known, r.kept = known, len(known)
	if err := f.Truncate(whole); err != nil {
		return r, fmt.Errorf("results: %w", err)
	}
	last := []byte{'\n'}
	if whole > 0 {
		_, err = f.ReadAt(last, whole-1)
	}
	if err == nil && last[0] != '\n' { // as some editors leave it
		_, err = f.WriteString("\n")
	}
	return r, err
}

// save puts a record at the end.
func (r *resultsFile) save(rec ingest.Record) error {
	if r.file == nil {
		return nil
	}
	if err := r.inPlace(); err != nil {
		return err
	}
	r.kept++
	return ingest.WriteRecord(r.file, rec)
}

// inPlace is an error if the file is no longer the one that has its name: some editors replace what they save.
func (r *resultsFile) inPlace() error {
	named, err := os.Stat(r.name)
	if err == nil {
		var ours os.FileInfo
		if ours, err = r.file.Stat(); err == nil && !os.SameFile(named, ours) {
			err = errors.New("it was replaced while this run used it; the same command goes on from the one that is there")
		}
	}
	if err != nil {
		return fmt.Errorf("results %s: %w", r.name, err)
	}
	return nil
}

func (r *resultsFile) close() error {
	if r.file == nil {
		return nil
	}
	return errors.Join(r.lock.Unlock(), r.file.Close())
}

// interrupted is an interrupt that has left something behind.
type interrupted struct {
	kept string // what, and how to go on
	err  error
}

func (e *interrupted) Error() string { return e.kept }
func (e *interrupted) Unwrap() error { return e.err }
