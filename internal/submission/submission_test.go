package submission

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// opened is the submission of a zip, closed at the end of the test.
func opened(t testing.TB, data []byte) (*Submission, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "team.zip")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return openedFile(t, path), path
}

func openedFile(t testing.TB, path string) *Submission {
	t.Helper()
	s, err := Open(path, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestItOpensWhatToolsMake(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.zip")
	if err != nil || len(paths) != 7 {
		t.Fatalf("got zips %v, %v, want seven", paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := openedFile(t, path)
			want := Manifest{Team: "Sky Rail Heroes", Algo: "PPO", EnvEntryPoint: "envs.my_env:MyEnv", Deterministic: true}
			if d := gocmp.Diff(s.Manifest, want); d != "" {
				t.Error(d)
			}
			if len(s.Warnings) > 0 {
				t.Errorf("got warnings %q, want none", s.Warnings)
			}
			dir := t.TempDir()
			if err := s.Extract(dir); err != nil {
				t.Fatal(err)
			}
			if d := gocmp.Diff(treeOf(t, dir), []string{"envs/", "envs/my_env.py", "model/", "model/policy.zip", "submission.yaml"}); d != "" {
				t.Error(d)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "envs", "my_env.py")); err != nil || string(got) != "class MyEnv:\n    pass\n" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestItAcceptsAZip64EndThatAgrees(t *testing.T) {
	for name, e := range map[string]*end{
		"beside a full end":   {zip64: value(int64(0))},
		"in place of the end": {zip64: value(int64(0)), count: value(uint16(1<<16 - 1)), offset: value(uint32(1<<32 - 1)), length: value(uint32(1<<32 - 1))},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t, rawZipEnd(e, manifestPart, modelPart))
			if !s.Has("model/policy.zip") {
				t.Error("the model is not there")
			}
		})
	}
}

func TestItAcceptsAComment(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, p := range []part{manifestPart, modelPart} {
		f, err := w.Create(p.name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, p.data)
	}
	if err := errors.Join(w.SetComment("made on a plane"), w.Close()); err != nil {
		t.Fatal(err)
	}
	s, _ := opened(t, b.Bytes())
	if s.Manifest.Team != "Sky Rail Heroes" {
		t.Errorf("got %+v", s.Manifest)
	}
}

func TestItAcceptsASmallFileOfZeros(t *testing.T) {
	s, _ := opened(t, honest(part{name: "envs/zeros", data: strings.Repeat("\x00", 1<<20-100), method: zip.Deflate}))
	got, err := s.ReadFile("envs/zeros", 1<<20)
	if err != nil || len(got) != 1<<20-100 {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestTheShallowestManifestWins(t *testing.T) {
	s, _ := opened(t, honest(part{name: "other/submission.yaml", data: "team: other\n"}, part{name: "more/submission.yaml", data: "team: more\n"}))
	if s.Manifest.Team != "Sky Rail Heroes" {
		t.Errorf("got team %q", s.Manifest.Team)
	}
}

func TestNamesAreBelowTheManifestsFolder(t *testing.T) {
	s, _ := opened(t, rawZip(
		part{name: "team/"}, part{name: "team/submission.yaml", data: "team: a\n"}, part{name: "team/model/policy.zip", data: "m"},
		part{name: "team/envs/empty/", attrs: unixFolder << 16}, part{name: "team/.DS_Store", data: "j"}, part{name: "team/__pycache__/"},
		part{name: "README.md", data: "beside"}, part{name: "aside/"},
	))
	if got, err := s.ReadFile("model/policy.zip", 1); err != nil || string(got) != "m" {
		t.Errorf("got %q, %v", got, err)
	}
	for name, want := range map[string]bool{"model/policy.zip": true, "submission.yaml": true, "model": false, "team/submission.yaml": false, "README.md": false, ".DS_Store": false} {
		if got := s.Has(name); got != want {
			t.Errorf("has %s: got %v, want %v", name, got, want)
		}
	}
	dir := t.TempDir()
	if err := s.Extract(dir); err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(treeOf(t, dir), []string{"envs/", "envs/empty/", "model/", "model/policy.zip", "submission.yaml"}); d != "" {
		t.Error(d)
	}
}

func TestReadFileIsBounded(t *testing.T) {
	s, _ := opened(t, honest())
	if _, err := s.ReadFile("model/policy.zip", 14); err == nil || !strings.Contains(err.Error(), "15 bytes, more than 14") {
		t.Errorf("got error %v", err)
	}
	if _, err := s.ReadFile("model/policy.zip", -1); err == nil {
		t.Error("a negative bound is no bound")
	}
	for _, name := range []string{"no", "", ".", "model", "../team.zip"} {
		if _, err := s.ReadFile(name, 100); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: got error %v, want fs.ErrNotExist", name, err)
		}
	}
}

func TestWarningsComeInOrder(t *testing.T) {
	s, _ := opened(t, stating(lines("team: a", "policy_entry_point: nets.a:A", "tean: b"),
		part{name: "notebook.ipynb"}, part{name: "a/6"}, part{name: "a/5"}, part{name: "a/4"}, part{name: "a/3"}, part{name: "a/2"}, part{name: "a/1"},
		part{name: "model/vecnormalize.pkl"}, part{name: "envs/my_env.py"}, part{name: "nets/a.py"}, part{name: "policies/x.py"}, part{name: "agents/x.py"}, part{name: "policy/x.py"},
		part{name: "docs/README.rst"}, part{name: "LICENSE"}, part{name: "requirements.txt"}, part{name: "x.md"},
		part{name: "__MACOSX/._x"}, part{name: "envs/.DS_Store"}, part{name: "envs/__pycache__/a.pyc"}, part{name: "x.pyc"},
	))
	want := []string{
		"model/vecnormalize.pkl is not applied: the policy gets the observations as the environment gives them",
		"nothing but the team's own code would look for a/1, a/2, a/3, a/4, a/5 and 2 more",
		"envs is in the zip but env_entry_point is not set, so the policy observes the stock environment",
		"model/policy.zip is only there for the policy's own use, as policy_entry_point is set",
		"left out, as operating systems and Python leave such files behind: __MACOSX/._x, envs/.DS_Store, envs/__pycache__/a.pyc, x.pyc",
		`submission.yaml:3:1: unknown key "tean" is ignored; did you mean team?`,
	}
	if d := gocmp.Diff(s.Warnings, want); d != "" {
		t.Error(d)
	}
	dir := t.TempDir()
	if err := s.Extract(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range treeOf(t, dir) {
		if isJunk(strings.TrimSuffix(name, "/")) {
			t.Errorf("%s was extracted", name)
		}
	}
}

func TestUnknownKeysAreCounted(t *testing.T) {
	s, _ := opened(t, stating(lines("team: a", "q1:", "q2:", "q3:", "q4:", "q5:", "q6:", "q7:")))
	if n := len(s.Warnings); n != 6 || s.Warnings[5] != "submission.yaml: 2 more unknown keys are ignored" {
		t.Errorf("got %q", s.Warnings)
	}
}

func TestEntryPointsThatAreThere(t *testing.T) {
	for name, c := range map[string]struct{ point, file string }{
		"a module":                        {"envs.my_env:X", "envs/my_env.py"},
		"a package":                       {"envs.my_env:X", "envs/my_env/__init__.py"},
		"a module at the top":             {"my_env:X", "my_env.py"},
		"a package at the top":            {"my_env.X", "my_env/__init__.py"},
		"a stock package the zip has not": {"policies.stock:X", "envs/y.py"},
	} {
		s, _ := opened(t, stating("team: a\npolicy_entry_point: "+c.point+"\n", part{name: c.file}))
		if s.Manifest.PolicyEntryPoint != c.point {
			t.Errorf("%s: got %q", name, s.Manifest.PolicyEntryPoint)
		}
	}
}

func TestExtractTouchesNothingThatExists(t *testing.T) {
	s, _ := opened(t, honest(part{name: "a/b/c.py", data: "c"}))
	elsewhere := t.TempDir()
	for name, make := range map[string]func(dir string) error{
		"the last file": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "submission.yaml"), []byte("mine"), 0o600)
		},
		"a folder":            func(dir string) error { return os.Mkdir(filepath.Join(dir, "model"), 0o700) },
		"a link for a folder": func(dir string) error { return os.Symlink(elsewhere, filepath.Join(dir, "a")) },
		"a link that hangs": func(dir string) error {
			return os.Symlink(filepath.Join(elsewhere, "x"), filepath.Join(dir, "submission.yaml"))
		},
		"a link within the same": func(dir string) error { return os.Symlink("a", filepath.Join(dir, "model")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := make(dir); err != nil {
				t.Fatal(err)
			}
			before := treeOf(t, dir)
			if err := s.Extract(dir); !errors.Is(err, fs.ErrExist) {
				t.Errorf("got error %v, want fs.ErrExist", err)
			}
			if d := gocmp.Diff(treeOf(t, dir), before); d != "" {
				t.Error(d)
			}
			if found := treeOf(t, elsewhere); len(found) > 0 {
				t.Errorf("got %v elsewhere", found)
			}
			if data, err := os.ReadFile(filepath.Join(dir, "submission.yaml")); err == nil && string(data) != "mine" {
				t.Errorf("the file was overwritten with %q", data)
			}
		})
	}
}

func TestExtractWantsAFolder(t *testing.T) {
	s, path := opened(t, honest())
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{path, link} {
		if err := s.Extract(dir); err == nil || !strings.Contains(err.Error(), "it is not a folder") {
			t.Errorf("%s: got error %v", filepath.Base(dir), err)
		}
	}
	if err := s.Extract(filepath.Join(real, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v, want fs.ErrNotExist", err)
	}
	if found := treeOf(t, real); len(found) > 0 {
		t.Errorf("got %v, want nothing", found)
	}
}

func TestExtractCleansUpWhenTheZipChanges(t *testing.T) {
	s, path := opened(t, rawZip(part{name: "a/b/c.py", data: "c"}, modelPart, part{name: "z.md", data: "the last file"}, manifestPart))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(data, []byte("the last file"), []byte("the lost file"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var got *Refusal
	if err := s.Extract(dir); !errors.As(err, &got) || got.Rule != ZipChecksum || got.Path != "z.md" {
		t.Errorf("got error %v, want %s", err, ZipChecksum)
	}
	if found := treeOf(t, dir); len(found) > 0 {
		t.Errorf("got %v, want nothing", found)
	}
}

func TestOpenTellsFaultsFromRefusals(t *testing.T) {
	var refusal *Refusal
	if _, err := Open(filepath.Join(t.TempDir(), "no.zip"), DefaultLimits()); !errors.Is(err, fs.ErrNotExist) || errors.As(err, &refusal) {
		t.Errorf("no file: got error %v, want fs.ErrNotExist", err)
	}
	if _, err := Open(t.TempDir(), DefaultLimits()); !errors.As(err, &refusal) || refusal.Rule != ZipUnreadable {
		t.Errorf("a folder: got error %v, want %s", err, ZipUnreadable)
	}
	unreadable := rawZip(part{name: "a", usize: value(uint32(1<<32 - 1)), extra: zip64()})
	if _, err := read(bytes.NewReader(unreadable), int64(len(unreadable)), "team.zip", DefaultLimits()); !errors.Is(err, zip.ErrFormat) {
		t.Errorf("got error %v, want a refusal that wraps zip.ErrFormat", err)
	}
	broken := &fs.PathError{Op: "read", Path: "team.zip", Err: errors.New("bad sector")}
	data := honest(part{name: "envs/a.py", data: "a", method: zip.Deflate})
	for reads := 0; ; reads++ {
		_, err := read(&failing{bytes.NewReader(data), reads, broken}, int64(len(data)), "team.zip", DefaultLimits())
		if err == nil {
			if reads < 10 {
				t.Errorf("got a submission with %d reads", reads)
			}
			return
		}
		if !errors.Is(err, broken) || errors.As(err, new(*Refusal)) {
			t.Errorf("after %d reads: got error %v, want %v and no refusal", reads, err, broken)
		}
	}
}

// failing is a disk that breaks after some reads.
type failing struct {
	*bytes.Reader
	reads int
	err   error
}

func (f *failing) ReadAt(b []byte, offset int64) (int, error) {
	if f.reads--; f.reads < 0 {
		return 0, f.err
	}
	return f.Reader.ReadAt(b, offset)
}

func TestLimitsAreValidated(t *testing.T) {
	if err := DefaultLimits().Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Limits){
		"MaxZipBytes":                        func(l *Limits) { l.MaxZipBytes = 0 },
		"MaxZipBytes is 4294967295":          func(l *Limits) { l.MaxZipBytes = 1<<32 - 1 },
		"MaxFiles":                           func(l *Limits) { l.MaxFiles = -1 },
		"MaxBytes":                           func(l *Limits) { l.MaxBytes = 0 },
		"MaxFileBytes":                       func(l *Limits) { l.MaxFileBytes = 0 },
		"MaxRatio":                           func(l *Limits) { l.MaxRatio = 0 },
		"MaxDepth":                           func(l *Limits) { l.MaxDepth = 101 },
		"MaxManifestBytes":                   func(l *Limits) { l.MaxManifestBytes = 2 << 20 },
		"MaxFileBytes is 11, more than MaxB": func(l *Limits) { l.MaxBytes, l.MaxFileBytes = 10, 11 },
	} {
		l := DefaultLimits()
		change(&l)
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want it to name %s", err, want)
		}
		if _, err := Open("no.zip", l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("open: got error %v, want it to name %s", err, want)
		}
	}
}

func TestRatioIsInclusiveAboveTheFloor(t *testing.T) {
	limits := DefaultLimits()
	for _, c := range []struct {
		unpacked, packed uint64
		want             bool
	}{{1 << 20, 0, false}, {1<<20 + 1, 0, true}, {2_000_000, 20_000, false}, {2_000_001, 20_000, true}, {2_000_000, 19_999, true}} {
		if got := tooDense(c.unpacked, c.packed, limits); got != c.want {
			t.Errorf("%d from %d: got %v, want %v", c.unpacked, c.packed, got, c.want)
		}
	}
}

func TestARealCheckpointFits(t *testing.T) {
	// A checkpoint is a zip of noise: stored, not dense, and tens of MiB.
	noise := make([]byte, 40<<20)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	s, _ := opened(t, rawZip(manifestPart, part{name: "model/policy.zip", data: string(noise)}))
	got, err := s.ReadFile("model/policy.zip", 1<<30)
	if err != nil || !slices.Equal(got, noise) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}
