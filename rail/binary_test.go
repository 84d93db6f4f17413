package rail

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skyrail/internal/golden"
)

// TestBinaryOfRecordedEpisodes writes and reads environments in the middle of all recorded episodes.
func TestBinaryOfRecordedEpisodes(t *testing.T) {
	files, err := filepath.Glob("testdata/engine/[grst]*.json.gz")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json.gz")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, actions := recorded(t, name)
			for k, a := range actions {
				if k%(1+len(actions)/5) == 0 {
					e = rewritten(t, e)
				}
				if err := e.Step(a); err != nil {
					t.Fatal(err)
				}
			}
			end := rewritten(t, e)
			for f := range e.RewardFunctions() {
				if !slices.Equal(end.Rewards(f), e.Rewards(f)) {
					t.Fatalf("function %d: rewards %v, want %v", f, end.Rewards(f), e.Rewards(f))
				}
			}
			var g goldenEpisode // the whole episode again, from what was written at its start
			if err := golden.Decode(golden.Read(t, file), &g); err != nil {
				t.Fatal(err)
			}
			start, err := g.env()
			if err != nil {
				t.Fatal(err)
			}
			start = rewritten(t, start)
			for k, a := range actions {
				if err := start.Step(a); err != nil {
					t.Fatal(err)
				}
				if err := g.Steps[k].check(start); err != nil {
					t.Fatalf("step %d: %v", k+1, err)
				}
			}
			if !start.Equal(e) {
				t.Error("what was written on the way became another environment")
			}
			e.Reset(nil) // which leaves the bookkeeping of rewards as it is
			rewritten(t, e)
		})
	}
}

// rewritten is an environment written and read.
func rewritten(t interface {
	Helper()
	Fatal(...any)
}, e *Env) *Env {
	t.Helper()
	data, err := e.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	read := new(Env)
	if err := read.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if !read.Equal(e) || read.Resets() != e.Resets() {
		t.Fatal("the environment read is not the one written")
	}
	if again, _ := read.AppendBinary([]byte("before")); string(again) != "before"+string(data) {
		t.Fatal("written again it is different")
	}
	return read
}

// TestCopiesOfAnyWorldGoOnAlike compares clones, copies into other environments, and what was written and read.
func TestCopiesOfAnyWorldGoOnAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEnv(t)
		other := drawEnv(t)
		sister := e.Clone()
		run := func(e *Env, steps int) {
			for range steps {
				if e.AllDone() {
					e.Reset(nil)
				}
				if err := e.Step(drawActions(t, e)); err != nil {
					t.Fatal(err)
				}
			}
		}
		run(e, rapid.IntRange(0, 20).Draw(t, "steps"))
		run(sister, rapid.IntRange(0, 20).Draw(t, "steps of another"))
		other.CopyFrom(e)
		sister.CopyFrom(e)
		read := rewritten(t, e)
		shared := rewritten(t, e)
		shared.Share(e)
		if shared.net != e.net || shared.plan != e.plan {
			t.Fatal("tracks and timetables are not shared")
		}
		copies := []*Env{e.Clone(), other, sister, read, shared}
		for range rapid.IntRange(0, 20).Draw(t, "more steps") {
			if e.AllDone() {
				break
			}
			actions := drawActions(t, e)
			if err := e.Step(actions); err != nil {
				t.Fatal(err)
			}
			for k, c := range copies {
				if err := c.Step(actions); err != nil {
					t.Fatal(err)
				}
				if !c.Equal(e) {
					t.Fatalf("copy %d became another environment", k)
				}
				for f := range e.RewardFunctions() {
					if !slices.Equal(c.Rewards(f), e.Rewards(f)) {
						t.Fatalf("copy %d has rewards %v, want %v", k, c.Rewards(f), e.Rewards(f))
					}
				}
			}
		}
	})
}

func TestCopyFromTakesOverMemory(t *testing.T) {
	e, actions := recorded(t, "g09_sparse_200")
	e.SetRewards()
	c := e.Clone()
	for _, a := range actions[:100] {
		if err := c.Step(a); err != nil {
			t.Fatal(err)
		}
	}
	c.CopyFrom(e)
	if n := testing.AllocsPerRun(20, func() { c.CopyFrom(e) }); n > 3 { // an effect
		t.Errorf("a copy allocates %v times", n)
	}
	if !c.Equal(e) {
		t.Error("the copy is another environment")
	}
}

func TestBinaryKeepsTracksThatAreShut(t *testing.T) {
	e, actions := recorded(t, "g01_sparse_30_7")
	shut := &TrackClosures{Closures: []Closure{{From: 3, Until: 40, Cells: []Cell{{1, 1}, {2, 2}}}}}
	if err := e.SetEffects([]Effect{shut, e.Effects()[0]}); err != nil {
		t.Fatal(err)
	}
	if err := e.Step(actions[0]); err != nil {
		t.Fatal(err)
	}
	rewritten(t, e)
}

func TestBinaryRefusesWhatItDidNotWrite(t *testing.T) {
	e, actions := recorded(t, "t06_tiles_40ag_conflict")
	for _, a := range actions[:9] {
		if err := e.Step(a); err != nil {
			t.Fatal(err)
		}
	}
	data, _ := e.MarshalBinary()
	with := func(at int, bytes ...byte) []byte {
		d := []byte(string(data))
		copy(d[at:], bytes)
		return d
	}
	before := e.Clone()
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":             {nil, "not the state of a railway"},
		"another version":     {with(len(binaryHeader)-1, 9), "of this version"},
		"its beginning alone": {data[:len(data)-1], "ends too early"},
		"a part of it":        {data[:len(data)/2], "too early"},
		"bytes after the end": {append([]byte(string(data)), 0), "left over"},
		"a huge grid":         {with(len(binaryHeader)+16, 0xff, 0xff, 0xff, 0xff), "no room"},
		"another grid":        {with(len(binaryHeader), 1), "grid"},
	} {
		err := e.UnmarshalBinary(c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want something about %q", name, err, c.want)
		}
		if !e.Equal(before) {
			t.Fatalf("%s: the environment has changed", name)
		}
	}
}

// FuzzUnmarshalBinary: whatever is read can be run, written and read again.
func FuzzUnmarshalBinary(f *testing.F) {
	for _, name := range []string{"s01_simple_rail", "t35_cond_any", "t41_inter_early_departure", "s07_cross_level_free"} {
		e, actions := recorded(f, name)
		for _, a := range actions[:len(actions)/2] {
			if err := e.Step(a); err != nil {
				f.Fatal(err)
			}
		}
		data, _ := e.MarshalBinary()
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e := new(Env)
		if e.UnmarshalBinary(data) != nil || e.Trains() > 100 {
			return
		}
		again, _ := e.MarshalBinary()
		o := new(Env)
		if err := o.UnmarshalBinary(again); err != nil {
			t.Fatal(err)
		}
		if third, _ := o.MarshalBinary(); !bytes.Equal(third, again) {
			t.Fatal("written again it is different")
		}
		actions, mask := make([]Action, e.Trains()), make([]bool, Actions)
		for k := range 5 {
			for i := range actions {
				e.ActionMask(mask, i)
				actions[i] = Action((i + k) % Actions)
			}
			e.Deadlocked(nil)
			if e.Step(actions) != nil { // trains may be where they cannot be
				return
			}
		}
	})
}
