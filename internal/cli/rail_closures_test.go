package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"skyrail/rail"
	"skyrail/rail/railfile"
)

// TestInspectShowsClosures tells closed tracks apart from malfunctions, as text and as JSON.
func TestInspectShowsClosures(t *testing.T) {
	file, err := readEnvironment(sample)
	if err != nil {
		t.Fatal(err)
	}
	e, err := file.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	closures := []rail.Closure{
		{From: 30, Until: 90, Cells: []rail.Cell{{Row: 1, Col: 2}, {Row: 1, Col: 3}}},
		{From: 12, Until: 40, Cells: []rail.Cell{{Row: 1, Col: 3}, {Row: 1, Col: 4}, {Row: 1, Col: 4}}},
	}
	p := rail.MalfunctionParameters{Rate: 0.5, MinDuration: 1, MaxDuration: 2}
	err = e.SetEffects([]rail.Effect{&rail.TrackClosures{Closures: closures}, rail.NewDepartureMalfunctions(p, 3), rail.NewBreakdowns(rail.MalfunctionParameters{}), &rail.TrackClosures{}})
	if err != nil {
		t.Fatal(err)
	}
	content, err := railfile.SaveEnvironment(e)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "closed.pkl")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	inspect := func(args ...string) string {
		var out bytes.Buffer
		if status := Main(append([]string{"rail", "inspect", path, "--no-map"}, args...), strings.NewReader(""), &out, &out); status != 0 {
			t.Fatalf("status %d: %s", status, out.String())
		}
		return out.String()
	}
	want := `
closed tracks: 2 closures of 3 cells, from step 12 to step 89
departure delays: rate 0.5 a step, 1 to 2 steps and one more, from step 3
breakdowns: none
closed tracks: none
`
	if text := inspect(); !strings.Contains(text, want) {
		t.Errorf("got %s, want%s", text, want)
	}
	var got struct{ Effects []map[string]any }
	if err := json.Unmarshal([]byte(inspect("--json")), &got); err != nil {
		t.Fatal(err)
	}
	number := func(n int) any { return float64(n) }
	wanted := []map[string]any{
		{"kind": "closed tracks", "closures": number(2), "from_step": number(12), "until_step": number(90), "closed_cells": number(3)},
		{"kind": "departure delays", "malfunction_rate": 0.5, "min_duration": number(1), "max_duration": number(2), "earliest_malfunction": number(3)},
		{"kind": "breakdowns", "malfunction_rate": number(0), "min_duration": number(0), "max_duration": number(0)},
		{"kind": "closed tracks", "closures": number(0), "from_step": number(0), "until_step": number(0), "closed_cells": number(0)},
	}
	if !reflect.DeepEqual(got.Effects, wanted) {
		t.Errorf("got %v, want %v", got.Effects, wanted)
	}
}
