package submission

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Submission is a zip that was accepted and stays open, so that what is unpacked is what was checked.
type Submission struct {
	Manifest Manifest
	Warnings []string // for the participant, one line each, in a fixed order; none is nil

	file    io.Closer
	root    string           // what the names in the zip begin with: "" or "folder/"
	files   map[string]entry // by name below the root, without folders and junk
	folders []string         // below the root, parents first, without junk
}

// Open checks the zip at path from end to end and reads its manifest. It writes nothing. What the participant can
// mend is a *[Refusal]; the caller closes what is accepted. If it is refused for want of a file that its manifest asks
// for, what is returned beside the Refusal has Manifest and Warnings, and nothing else.
func Open(path string, limits Limits) (*Submission, error) {
	if err := limits.Validate(); err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	info, err := os.Stat(path) // before opening, which would wait on a pipe
	if err != nil {
		return nil, fmt.Errorf("open submission: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, refuse(name, ZipUnreadable, "hand in a zip of the folder", "it is not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open submission: %w", err)
	}
	s, err := read(f, info.Size(), name, limits)
	if err != nil {
		return s, errors.Join(err, f.Close())
	}
	s.file = f
	return s, nil
}

// read is Open for a zip that is already open.
func read(r io.ReaderAt, size int64, name string, limits Limits) (*Submission, error) {
	entries, err := readArchive(r, size, name, limits)
	if err != nil {
		return nil, err
	}
	s := &Submission{files: make(map[string]entry)}
	if s.root, err = findManifest(entries, name); err != nil {
		return nil, err
	}
	var outside, junk []string
	folders := make(map[string]bool)
	for _, e := range entries {
		below, inside := strings.CutPrefix(e.name, s.root)
		switch {
		case e.junk && !e.folder:
			junk = append(junk, e.name)
		case e.junk, e.folder && !inside:
		case e.folder:
			addFolders(folders, below)
		case inside:
			s.files[below] = e
			addFolders(folders, path.Dir(below))
		default:
			outside = append(outside, e.name)
		}
	}
	for folder := range folders {
		s.folders = append(s.folders, folder)
	}
	slices.Sort(s.folders)

	manifest := s.files[manifestName]
	if manifest.file.UncompressedSize64 > uint64(limits.MaxManifestBytes) {
		return nil, refuse(manifest.name, ManifestTooLarge, "keep only the keys that are read", "the manifest has more than %s", byteCount(limits.MaxManifestBytes))
	}
	text, err := s.ReadFile(manifestName, limits.MaxManifestBytes)
	if err != nil {
		return nil, err
	}
	m, err := readManifest(text, manifest.name)
	if err != nil {
		return nil, err
	}
	s.Manifest = m.Manifest
	s.Warnings = s.warnings(m, outside, junk)
	if err := s.checkContents(m, outside); err != nil {
		return &Submission{Manifest: s.Manifest, Warnings: s.Warnings}, err
	}
	return s, nil
}

// addFolders adds a folder and all above it.
func addFolders(folders map[string]bool, name string) {
	for ; name != "." && name != "" && !folders[name]; name = path.Dir(name) {
		folders[name] = true
	}
}

// Close closes the zip. What was extracted stays.
func (s *Submission) Close() error { return s.file.Close() }

// Has reports whether the submission has a file of that name.
func (s *Submission) Has(name string) bool {
	_, ok := s.files[name]
	return ok
}

// ReadFile returns the content of a file of at most max bytes. A name the submission lacks is fs.ErrNotExist.
func (s *Submission) ReadFile(name string, max int64) ([]byte, error) {
	e, ok := s.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "read from submission", Path: printable(name), Err: fs.ErrNotExist}
	}
	if size := e.file.UncompressedSize64; max < 0 || size > uint64(max) {
		return nil, fmt.Errorf("read from submission %s: it has %d bytes, more than %d", printable(name), size, max)
	}
	var b bytes.Buffer
	if err := e.unpack(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Extract writes the files and folders below the manifest's folder into dir, which the caller made and which is no
// link. Files get mode 0644 and folders 0755, whatever the zip says. Nothing that exists is written to, followed
// or changed: a name that is taken is an error that wraps fs.ErrExist. After an error, what was written is gone.
func (s *Submission) Extract(dir string) (err error) {
	if info, err := os.Lstat(dir); err != nil {
		return fmt.Errorf("extract submission: %w", err)
	} else if !info.IsDir() {
		return fmt.Errorf("extract submission to %s: it is not a folder; make one first", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("extract submission: %w", err)
	}
	var made []string
	defer func() {
		if err != nil {
			for _, name := range slices.Backward(made) {
				err = errors.Join(err, root.Remove(name))
			}
		}
		err = errors.Join(err, root.Close())
	}()
	for _, folder := range s.folders {
		if err := root.Mkdir(folder, 0o755); err != nil {
			return fmt.Errorf("extract submission: %w", err)
		}
		made = append(made, folder)
		if err := root.Chmod(folder, 0o755); err != nil { // the umask had its say
			return fmt.Errorf("extract submission: %w", err)
		}
	}
	for _, name := range sortedNames(s.files) {
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return fmt.Errorf("extract submission: %w", err)
		}
		made = append(made, name)
		if err := errors.Join(f.Chmod(0o644), s.files[name].unpack(f), f.Close()); err != nil {
			return fmt.Errorf("extract submission: %w", err)
		}
	}
	return nil
}
