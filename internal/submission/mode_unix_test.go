//go:build unix

package submission

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestExtractGivesPlainModesWhateverTheUmask(t *testing.T) {
	s, _ := opened(t, honest(part{name: "envs/", attrs: 0o040777 << 16}, part{name: "envs/run.py", attrs: 0o104777 << 16}, part{name: "envs/none.py", attrs: unixRegular << 16}))
	dir := t.TempDir()
	defer syscall.Umask(syscall.Umask(0o077)) // which must have no say
	if err := s.Extract(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"envs": fs.ModeDir | 0o755, "model": fs.ModeDir | 0o755, "envs/run.py": 0o644, "envs/none.py": 0o644, "submission.yaml": 0o644} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s: got mode %v, want %v", name, info.Mode(), want)
		}
	}
}
