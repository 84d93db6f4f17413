package cli

import (
	"reflect"
	"testing"

	"skyrail/rail/generate"
)

// FuzzReadSuiteFile: what is understood of a suite.yaml is what is written again.
func FuzzReadSuiteFile(f *testing.F) {
	whole, err := suiteYAML(suiteFile{"Flatland ECML 2026", 1, generate.DefaultSuiteParameters()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte("competition: a\nseed: 1\nparameters: {groups: [], apart: 0, roundabout: 1, aside: 0, detour: 0, travel_factor: 1.5, dwell_time: 2, levels: []}\n"))
	f.Add([]byte("seed: 1.5\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := readSuiteFile(data)
		if err != nil {
			return
		}
		again, err := suiteYAML(read)
		if err != nil {
			t.Fatal(err)
		}
		back, err := readSuiteFile(again)
		if err != nil || !reflect.DeepEqual(back, read) {
			t.Fatalf("got %+v, %v after writing, want %+v", back, err, read)
		}
	})
}
