package python_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"skyrail/python"
)

// training is the folder of environments to train in. They fly with libskyrail, which no cage has.
const training = "skyrail/flight"

// onDisk walks the folder skyrail of the repository, byte code and training environments apart.
func onDisk(t *testing.T, visit func(name string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), "skyrail", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "__pycache__" || name == training):
			return fs.SkipDir
		case entry.Type().IsRegular():
			visit(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesCarriesEverySource(t *testing.T) {
	sources := 0
	onDisk(t, func(name string) {
		switch path.Ext(name) {
		case ".py", ".md", ".yaml":
		default:
			return
		}
		sources++
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := python.Files.ReadFile(name)
		switch {
		case err != nil:
			t.Errorf("%s is not carried: %v", name, err)
		case !bytes.Equal(got, want):
			t.Errorf("%s is carried with %d bytes, want the %d on disk", name, len(got), len(want))
		}
	})
	if sources < 15 {
		t.Errorf("got %d sources on disk, want at least the 15 of stock and starter", sources)
	}
}

func TestFilesCarriesNothingElse(t *testing.T) {
	err := fs.WalkDir(python.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if strings.Contains(name, "__pycache__") || strings.HasPrefix(path.Base(name), ".") && name != "." {
			t.Errorf("%s is carried, want sources only", name)
		}
		if name == training {
			t.Errorf("%s is carried, want nothing that needs libskyrail", name)
		}
		if ext := path.Ext(name); !entry.IsDir() && ext != ".py" && ext != ".md" && ext != ".yaml" && ext != ".typed" {
			t.Errorf("%s is carried, want .py, .md, .yaml and py.typed only", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesHasWhatATeamImports(t *testing.T) {
	for _, name := range []string{
		"skyrail/__init__.py", "skyrail/contract.py", "skyrail/rail/__init__.py", "skyrail/rail/effects.py",
		"skyrail/stock/envs/__init__.py", "skyrail/stock/envs/flight_4d.py",
		"skyrail/stock/agents/__init__.py", "skyrail/stock/competition/__init__.py", "skyrail/stock/policies/__init__.py",
		"skyrail/starter/README.md", "skyrail/starter/submission.yaml",
		"skyrail/starter/envs/my_env.py", "skyrail/starter/policy/__init__.py",
	} {
		if _, err := fs.Stat(python.Files, name); err != nil {
			t.Error(err)
		}
	}
}
