package main

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
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
			checkpoints, err := filepath.Abs("../../checkpoints")
			e.Setenv("CHECKPOINTS", checkpoints)
			return err
		},
		Condition: func(name string) (bool, error) {
			if name != "cage" {
				return false, errors.New("unknown condition")
			}
			return noCage == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"zip": zipFolder},
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
