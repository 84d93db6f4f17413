package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"skyrail": main})
}

// TestScript tells the product as stories: each file of testdata/script is one.
//
// SKYRAIL_UPDATE=1 rewrites the expected outputs.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("SKYRAIL_UPDATE") != "",
	})
}
