package pyvalue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"skyrail/internal/golden"
)

// recorded is where the original files are, each as its name and .gz, and what Python reads from X as X.json.gz.
const recorded = "../../rail/railfile/testdata/files"

// flatland is what the files of the Flatland simulator use.
var flatland = Globals{
	{"flatland.envs.agent_utils", "Agent"}:                                 {New: []int{12, 16, 19}},
	{"flatland.envs.agent_utils", "RailAgentStatus"}:                       {Enum: true},
	{"flatland.envs.malfunction_generators", "MalfunctionProcessData"}:     {New: []int{3}},
	{"flatland.envs.rail_trainrun_data_structures", "Waypoint"}:            {New: []int{0, 2}, State: DictState | TupleState},
	{"flatland.envs.step_utils.speed_counter", "SpeedCounter"}:             {New: []int{0}, State: DictState},
	{"flatland.envs.step_utils.action_saver", "ActionSaver"}:               {New: []int{0}, State: DictState},
	{"flatland.envs.step_utils.state_machine", "TrainStateMachine"}:        {New: []int{0}, State: DictState},
	{"flatland.envs.step_utils.malfunction_handler", "MalfunctionHandler"}: {New: []int{0}, State: DictState},
	{"flatland.envs.step_utils.states", "StateTransitionSignals"}:          {New: []int{0}, State: DictState},
	{"flatland.envs.step_utils.states", "TrainState"}:                      {Enum: true},
	{"flatland.core.grid.grid4", "Grid4TransitionsEnum"}:                   {Enum: true},
	{"flatland.envs.rail_env", "RailEnvActions"}:                           {Enum: true},
	{"flatland.envs.timetable_utils", "Line"}:                              {New: []int{2}},
	{"flatland.envs.timetable_utils", "Timetable"}:                         {New: []int{3}},
	{"fractions", "Fraction"}:                                              {Call: []int{1, 2}},
}

// originals are the names, below recorded, of the files that there is a dump of.
func originals(t testing.TB) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(recorded, func(path string, _ fs.DirEntry, err error) error {
		name, ok := strings.CutSuffix(path, ".json.gz")
		if err != nil || !ok || strings.HasSuffix(name, ".loaded") {
			return err
		}
		if _, err := os.Stat(name + ".gz"); err == nil {
			rel, _ := filepath.Rel(recorded, name)
			names = append(names, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// dump is what a file holds in the form of the recorded dumps.
func dump(t testing.TB, data []byte) []byte {
	t.Helper()
	v, err := Decode(data, Options{Globals: flatland})
	if err != nil {
		t.Fatal(err)
	}
	return append(AppendJSON(fmt.Appendf(nil, `{"container":"%v","value":`, Detect(data)), v), '}')
}

// TestFilesDecodeToTheirDumps compares whole texts, so the order of dicts too, then shows that a changed value is found.
func TestFilesDecodeToTheirDumps(t *testing.T) {
	const files = 60
	names := originals(t)
	if len(names) != files {
		t.Errorf("got %d files, want %d", len(names), files)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(recorded, name)
			got, want := dump(t, golden.Read(t, path+".gz")), bytes.TrimSpace(golden.Read(t, path+".json.gz"))
			if !bytes.Equal(got, want) {
				at := 0
				for at < min(len(got), len(want)) && got[at] == want[at] {
					at++
				}
				from := max(0, at-60)
				t.Fatalf("at byte %d: got …%.100s, want …%.100s", at, got[from:], want[from:])
			}
			decoded := parse(t, got)
			golden.Mutate(t, want, 8, nil, func(want []byte) error {
				return differs(decoded, parse(t, want), "")
			})
		})
	}
}

func parse(t testing.TB, data []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// differs returns the first difference of two JSON values.
func differs(got, want any, path string) error {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			break
		}
		for k := range w {
			if err := differs(g[k], w[k], path+"."+k); err != nil {
				return err
			}
		}
		return nil
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			if err := differs(g[i], w[i], path+"."+strconv.Itoa(i)); err != nil {
				return err
			}
		}
		return nil
	default:
		if got == want {
			return nil
		}
	}
	return fmt.Errorf("%s: got %.80v, want %.80v", path, got, want)
}

// TestFilesSurviveEncoding writes each file as a pickle and reads that.
func TestFilesSurviveEncoding(t *testing.T) {
	for _, name := range originals(t) {
		data := golden.Read(t, filepath.Join(recorded, name+".gz"))
		v, err := Decode(data, Options{Globals: flatland})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again := reencode(t, v, Options{Globals: flatland})
		if Detect(data) == Pickle && len(again) > len(data)*11/10 {
			t.Errorf("%s: got a pickle of %d bytes, want about the %d of Python's", name, len(again), len(data))
		}
	}
}

// reencode demands that a pickle of v is read as v and written as the same bytes again.
func reencode(t testing.TB, v Value, o Options) []byte {
	t.Helper()
	first, err := EncodePickle(v)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodePickle(first, o)
	if err != nil {
		t.Fatalf("%v, in %q", err, first)
	}
	if g, w := AppendJSON(nil, got), AppendJSON(nil, v); !bytes.Equal(g, w) {
		t.Fatalf("got %s, want %s", g, w)
	}
	second, err := EncodePickle(got)
	if err != nil || !bytes.Equal(first, second) {
		t.Fatalf("got %q, %v, want %q", second, err, first)
	}
	return first
}
