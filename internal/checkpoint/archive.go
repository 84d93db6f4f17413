package checkpoint

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
)

// The names inside a policy.zip. What else is there (the optimizer's state, free variables, a description of the
// machine) says nothing about the answers.
const (
	dataFile    = "data"
	weightsFile = "policy.pth"
	versionFile = "_stable_baselines3_version"

	manifestFile = "submission.yaml" // of a submission, beside which a checkpoint may lie unpacked
)

// The limits, in bytes but for the last two. They are far above what a policy for this challenge needs: two hidden
// layers of 1024, in actor and critic, are 10 MB.
const (
	maxArchive   = 256 << 20
	maxDirectory = 1 << 20 // what is read to list a zip's files
	maxData      = 32 << 20
	maxWeights   = 128 << 20
	maxPickle    = 1 << 20
	maxSmall     = 256 // files of one word
	maxTensors   = 1024
	maxValues    = 16 << 20
)

// archive is the files of a zip by name.
type archive map[string]*zip.File

func openArchive(r io.ReaderAt, size, limit int64) (archive, error) {
	if size > limit {
		return nil, fmt.Errorf("it has %d bytes, more than the %d that are read", size, limit)
	}
	// A zip's directory takes several times its size in memory. The budget holds while it is read.
	budget := &budgetReader{r, maxDirectory}
	z, err := zip.NewReader(budget, size)
	switch {
	case budget.left < 0:
		return nil, errors.New("its directory of files is too long")
	case err != nil:
		return nil, fmt.Errorf("it is no readable zip: %w", err)
	}
	budget.left = 1 << 62 // from now on readFile has the limits
	files := make(archive, len(z.File))
	for _, f := range z.File {
		if files[f.Name] != nil {
			// Readers differ in which of the two they take.
			return nil, fmt.Errorf("it holds %s twice", quote(f.Name))
		}
		files[f.Name] = f
	}
	return files, nil
}

// readFile returns the content of a file of at most limit bytes; nil if there is no such file.
func (a archive) readFile(name string, limit int64) ([]byte, error) {
	f := a[name]
	if f == nil {
		return nil, nil
	}
	tooLong := func() error { return invalid(name, "it has more than the %d bytes that are read", limit) }
	if f.UncompressedSize64 > uint64(limit) {
		return nil, tooLong()
	}
	content, err := f.Open()
	if err != nil {
		return nil, invalid(name, "%v", err)
	}
	defer content.Close()
	data, err := io.ReadAll(io.LimitReader(content, limit+1)) // the size in the directory is a claim
	if err != nil {
		return nil, invalid(name, "%v", err)
	}
	if int64(len(data)) > limit {
		return nil, tooLong()
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// budgetReader fails once more than left bytes were asked for.
type budgetReader struct {
	io.ReaderAt
	left int64
}

func (b *budgetReader) ReadAt(p []byte, off int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errors.New("too long")
	}
	return b.ReaderAt.ReadAt(p, off)
}
