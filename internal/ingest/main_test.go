package ingest

import (
	"archive/zip"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"skyrail/internal/sandbox"
	"skyrail/python"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// settings are those of the tests: the Python of the test run, and limits that a hostile team meets soon.
func settings(t *testing.T) Settings {
	t.Helper()
	s := DefaultSettings()
	if name := os.Getenv("SKYRAIL_PYTHON"); name != "" {
		s.Python = name
	}
	s.Run.Decision = 20 * time.Second
	return s
}

// caged demands the cage, for teams that nobody should run without one.
func caged(t *testing.T) {
	t.Helper()
	_, err := sandbox.New(sandbox.Cage)
	if err == nil {
		return
	}
	if os.Getenv("SKYRAIL_CAGE") == "required" {
		t.Fatal(err)
	}
	t.Skip(err)
}

// team is the content of a zip, by name.
type team map[string]string

// with returns the team with more files.
func (t team) with(more team) team {
	all := maps.Clone(t)
	maps.Copy(all, more)
	return all
}

// stock returns the files of a stock package, as a team that has copied them would hand them in.
func stock(t *testing.T, name string) team {
	t.Helper()
	files := make(team)
	names, err := fs.Glob(python.Files, "skyrail/stock/"+name+"/*.py")
	if err != nil || len(names) == 0 {
		t.Fatalf("stock package %s: %v, %d files", name, err, len(names))
	}
	for _, n := range names {
		data, err := fs.ReadFile(python.Files, n)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(n, "skyrail/stock/")] = string(data)
	}
	return files
}

// replaced returns the team with a piece of a file replaced, which must be there.
func (tm team) replaced(t *testing.T, file, old, new string) team {
	t.Helper()
	if strings.Count(tm[file], old) != 1 {
		t.Fatalf("%s has %d times %q, want once", file, strings.Count(tm[file], old), old)
	}
	return tm.with(team{file: strings.Replace(tm[file], old, new, 1)})
}

// zipped writes the zip of a team and returns its path.
func (tm team) zipped(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name+".zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, n := range slices.Sorted(maps.Keys(tm)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: n, Method: zip.Deflate})
		if err == nil {
			_, err = w.Write([]byte(tm[n]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// policyTeam is a team whose policy is the body of predict.
func policyTeam(predict string) team {
	return team{
		"submission.yaml": "team: test\npolicy_entry_point: policy.mine:Mine\n",
		"policy/mine.py": "class Mine:\n    steps = 0\n\n    def predict(self, obs, deterministic=True):\n        self.steps += 1\n" +
			indent(predict, "        "),
	}
}

func indent(text, by string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(by + line)
	}
	return b.String()
}
