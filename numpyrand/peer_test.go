package numpyrand

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"skyrail/internal/golden"
)

//go:embed testdata/peer.py
var peerScript string

var record = flag.Bool("record", false, "write a part of NumPy's answers to testdata")

// askNumPy plays a list of n sessions in NumPy and returns its version and, per session, per draw, its answers.
func askNumPy(t *testing.T, sessions any, n int) (version string, answers [][][]string) {
	t.Helper()
	var reply struct {
		NumPy   string       `json:"numpy"`
		Answers [][][]string `json:"answers"`
	}
	golden.AskPython(t, peerScript, sessions, &reply)
	if got := len(reply.Answers); got != n {
		t.Fatalf("got answers to %d sessions, want %d", got, n)
	}
	return reply.NumPy, reply.Answers
}

func writeGzipJSON(t *testing.T, path string, v any) {
	t.Helper()
	plain, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	zw, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := zw.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
