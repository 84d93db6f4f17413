package rail

import (
	"path/filepath"
	"strings"
	"testing"

	"skyrail/internal/golden"
)

// informative says which recorded values describe an episode without deciding it.
func informative(path string) bool {
	switch name, _, _ := strings.Cut(path, "."); name {
	case "name", "description", "policy", "env_seed":
		return true
	}
	// A wish that no train's fate hangs on may change unnoticed, and so may what only such a wish would have met. The
	// recorded results are what must not.
	return !strings.HasPrefix(path, "steps.") && !strings.HasPrefix(path, "final.") && !strings.HasPrefix(path, "info0.")
}

// TestGoldenNoticesEveryChange shows that no check passes by accident: one changed value of a recording is found.
func TestGoldenNoticesEveryChange(t *testing.T) {
	files, err := filepath.Glob("testdata/engine/*.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json.gz")
		check := checkOf(t, path)
		if check == nil || strings.HasPrefix(name, "obs") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := golden.Read(t, path)
			tries := 25
			if len(data) > 500_000 { // every try runs the whole episode
				tries = 5
			}
			var skip func(string) bool
			if strings.HasPrefix(name, "unit") {
				tries = 60
				skip = unitSkips[name]
			} else {
				skip = func(path string) bool {
					// without an end there is no punctuality to compare
					return informative(path) || strings.HasPrefix(path, "final.punctuality") && !strings.Contains(string(data), `"done_all":true`)
				}
			}
			if testing.Short() {
				tries = 3
			}
			golden.Mutate(t, data, tries, skip, check)
		})
	}
}

// unitSkips are values of the tables whose change may go unnoticed: a wish or a speed that leads to the same.
var unitSkips = map[string]func(string) bool{
	"unit_motion":        func(path string) bool { return !strings.Contains(path, ".2.") && !strings.Contains(path, ".3.") },
	"unit_speed":         func(path string) bool { return strings.HasSuffix(path, ".0") || strings.HasSuffix(path, ".max") },
	"unit_snap":          func(path string) bool { return strings.HasSuffix(path, ".0") },
	"unit_state_machine": func(path string) bool { return !strings.HasSuffix(path, ".7") },
}
