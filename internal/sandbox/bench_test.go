//go:build unix

package sandbox

import (
	"os/exec"
	"testing"
)

// BenchmarkStart is what a program costs that does nothing.
func BenchmarkStart(b *testing.B) {
	path, err := exec.LookPath("true")
	if err != nil {
		b.Fatal(err)
	}
	for _, isolation := range []Isolation{Cage, Process} {
		b.Run(string(isolation), func(b *testing.B) {
			box, err := New(isolation)
			if err != nil {
				b.Skip(err)
			}
			for b.Loop() {
				p, err := box.Start(b.Context(), Command{Path: path, Limits: DefaultLimits()})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.Wait(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
