package submission

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzOpen holds that no zip makes the reader panic, exceed its limits or write outside the folder, and that what
// is accepted is what archive/zip sees.
func FuzzOpen(f *testing.F) {
	for _, h := range hostiles() {
		if len(h.zip) <= 1<<12 {
			f.Add(h.zip)
		}
	}
	paths, err := filepath.Glob("testdata/*.zip")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(honest(part{name: "envs/a.py", data: "a", method: zip.Deflate}, part{name: "__MACOSX/._a"}))
	parent := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) { checkOpen(t, parent, data) })
}

// FuzzEntry is FuzzOpen for zips that make sense but for what one entry says of itself.
func FuzzEntry(f *testing.F) {
	f.Add("envs/a.py", "envs/a.py", "content", uint16(zip.Deflate), uint16(0), uint32(0), uint32(0), uint32(0), uint32(0), "")
	f.Add("../a", "../a", "", uint16(zip.Store), uint16(1), uint32(0o120777<<16), uint32(1), uint32(2), uint32(3), zip64(7))
	parent := f.TempDir()
	f.Fuzz(func(t *testing.T, name, localName, data string, method, flags uint16, attrs, crc, usize, csize uint32, extra string) {
		if len(name)+len(localName)+len(data)+len(extra) > 1<<14 {
			return
		}
		p := part{name: name, localName: &localName, data: data, method: method, flags: flags, attrs: attrs, extra: extra}
		for stated, v := range map[**uint32]uint32{&p.crc: crc, &p.usize: usize, &p.csize: csize} {
			if v != 0 { // else the truth
				*stated = &v
			}
		}
		checkOpen(t, parent, rawZip(p, manifestPart, modelPart))
		checkOpen(t, parent, rawZip(part{name: "t/" + name, data: data}, part{name: "t/submission.yaml", data: manifestPart.data}, part{name: "t/model/policy.zip"}))
	})
}

// fuzzLimits are tight, so that inputs reach them.
var fuzzLimits = Limits{MaxZipBytes: 1 << 16, MaxFiles: 20, MaxBytes: 1 << 16, MaxFileBytes: 1 << 15, MaxRatio: 50, MaxDepth: 5, MaxManifestBytes: 1 << 12}

func checkOpen(t *testing.T, parent string, data []byte) {
	t.Helper()
	s, err := read(bytes.NewReader(data), int64(len(data)), "team.zip", fuzzLimits)
	if err != nil {
		var refusal *Refusal
		if !errors.As(err, &refusal) {
			t.Fatalf("got error %v, want a refusal", err)
		}
		if refusal.Rule.Explanation() == "" || !isLine(err.Error()) {
			t.Fatalf("got %q by the rule %q", err, refusal.Rule)
		}
		return
	}
	if m := s.Manifest; m.Team == "" || m.Team != strings.TrimSpace(m.Team) || !isLine(m.Team+m.Algo+m.EnvEntryPoint+m.PolicyEntryPoint) {
		t.Errorf("got manifest %+v", m)
	}
	home, err := os.MkdirTemp(parent, "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	dir := filepath.Join(home, "target")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.Extract(dir); err != nil {
		t.Fatal(err)
	}
	other, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	theirs := make(map[string]uint64)
	for _, f := range other.File {
		theirs[f.Name] = f.UncompressedSize64
	}
	var total, files int64
	for _, name := range treeOf(t, home) {
		if strings.HasSuffix(name, "/") {
			continue
		}
		below, inside := strings.CutPrefix(name, "target/")
		info, err := os.Lstat(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		if !inside || !info.Mode().IsRegular() || uint64(info.Size()) != theirs[s.root+below] {
			t.Errorf("%s: got mode %v and %d bytes, want a file of %d below the target", name, info.Mode(), info.Size(), theirs[s.root+below])
		}
		total += info.Size()
		files++
	}
	if total > fuzzLimits.MaxBytes || files > int64(fuzzLimits.MaxFiles) || int(files) != len(s.files) {
		t.Errorf("got %d files with %d bytes, want %d within %+v", files, total, len(s.files), fuzzLimits)
	}
}

// FuzzManifest holds that no text makes the reader panic or accept what could not be printed.
func FuzzManifest(f *testing.F) {
	for _, c := range badManifests {
		if len(c.text) < 1000 {
			f.Add([]byte(c.text))
		}
	}
	f.Add([]byte(lines("team: Sky Rail", "algo: DQN", "env_entry_point: envs.e:E", "policy_entry_point: p.q.R", "deterministic: false", "notes: |", "  hello", "x: [1, {a: b}]")))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<12 {
			return
		}
		m, err := readManifest(text, manifestName)
		if err != nil {
			var refusal *Refusal
			if !errors.As(err, &refusal) || refusal.Rule.Explanation() == "" || !isLine(err.Error()) {
				t.Fatalf("got error %q, want a refusal of one line", err)
			}
			return
		}
		if m.Team == "" || !isLine(m.Team+m.Algo+m.EnvEntryPoint+m.PolicyEntryPoint) || len([]rune(m.Team)) > maxTextRunes {
			t.Errorf("got %+v", m.Manifest)
		}
		for _, w := range m.unknown {
			if !isLine(w) {
				t.Errorf("got warning %q, want one line", w)
			}
		}
	})
}
