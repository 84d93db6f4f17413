package main

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"skyrail/internal/sandbox"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"skyrail": main})
}

// TestScript tells the product as stories: each file of testdata/script is one.
//
// SKYRAIL_UPDATE=1 rewrites the expected outputs. Stories that begin with [cage] run where there is one, and must run
// with SKYRAIL_CAGE=required.
func TestScript(t *testing.T) {
	_, noCage := sandbox.New(sandbox.Cage)
	if noCage != nil && os.Getenv("SKYRAIL_CAGE") == "required" {
		t.Fatal(noCage)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("SKYRAIL_UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SKYRAIL_PYTHON", os.Getenv("SKYRAIL_PYTHON"))
			e.Setenv("TMPDIR", os.TempDir())
			for name, path := range map[string]string{"CHECKPOINTS": "../../checkpoints", "RAILFILES": "../../rail/railfile/testdata/files"} {
				absolute, err := filepath.Abs(path)
				if err != nil {
					return err
				}
				e.Setenv(name, absolute)
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "cage" {
				return false, errors.New("unknown condition")
			}
			return noCage == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"zip": zipFolder, "change": changeFile},
	})
}

// zipFolder is the command "zip FILE FOLDER": it packs what is in the folder.
func zipFolder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: zip FILE FOLDER")
	}
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	z := zip.NewWriter(f)
	ts.Check(z.AddFS(os.DirFS(filepath.Clean(ts.MkAbs(args[1])))))
	ts.Check(errors.Join(z.Close(), f.Close()))
}

// changeFile is the command "change FILE OLD NEW": it replaces a text that is in the file, the first time it is.
func changeFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: change FILE OLD NEW")
	}
	was := ts.ReadFile(args[0])
	is := strings.Replace(was, args[1], args[2], 1)
	if is == was {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(is), 0o644))
}
