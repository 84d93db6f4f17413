package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skyrail/rail"
	"skyrail/rail/generate"
	"skyrail/rail/railfile"
)

// newBatch plans so many small environments; what bad names cannot be made.
func newBatch(t *testing.T, n int, bad ...int) *batch {
	b := &batch{out: filepath.Join(t.TempDir(), "out"), formats: []string{".pkl", ".json"}, inputs: "--table t.csv"}
	for i := range n {
		b.plan = append(b.plan, planned{
			name: fmt.Sprintf("level/e%d", i),
			make: func() (*rail.Env, error) {
				for _, k := range bad {
					if k == i {
						return nil, fmt.Errorf("fault %d", i)
					}
				}
				p := generate.DefaultParameters()
				p.Seed = uint64(i)
				return generate.Environment(p)
			},
			scene: sceneOfEnvironment,
		})
	}
	return b
}

// madeFiles are the files of a batch by their names.
func madeFiles(t *testing.T, b *batch) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(b.out, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = content
	}
	return all
}

func TestABatchIsTheSameForAnyNumberOfJobs(t *testing.T) {
	var first map[string][]byte
	for _, jobs := range []int{1, 3, 8} {
		for _, whole := range []bool{true, false} {
			b := newBatch(t, 6)
			b.whole = whole
			made, written, err := b.write(t.Context(), jobs, func() {})
			if err != nil || written != 6 || len(made) != 6 || made[3].Name != "level/e3" || made[3].Trains != 7 || len(made[3].Files) != 2 {
				t.Fatalf("-j %d: got %d written, %v, %v", jobs, written, made, err)
			}
			got := madeFiles(t, b)
			if len(got) != 12 {
				t.Fatalf("-j %d: got %d files, want 12", jobs, len(got))
			}
			if first == nil {
				first = got
			}
			for name, content := range got {
				if !bytes.Equal(content, first[name]) {
					t.Errorf("-j %d: %s is another", jobs, name)
				}
			}
		}
	}
}

func TestAFailedBatchSaysWhatItLeft(t *testing.T) {
	for name, c := range map[string]struct {
		whole   bool
		written int
		want    string
	}{
		"as soon as each is made": {false, 2, "--table t.csv: level/e2: fault 2\n2 of 5 environments are there, whole, in "},
		"only when all are":       {true, 0, "--table t.csv: level/e2: fault 2"},
	} {
		for _, jobs := range []int{1, 4} {
			b := newBatch(t, 5, 2, 4)
			b.whole = c.whole
			_, written, err := b.write(t.Context(), jobs, func() {})
			err = b.leftBehind(written, err)
			status := (*exitError)(nil)
			if !errors.As(err, &status) || status.status != exitUsage || !strings.HasPrefix(err.Error(), strings.Split(c.want, "\n")[0]) {
				t.Fatalf("%s, -j %d: got %v, want %s", name, jobs, err, c.want)
			}
			if jobs > 1 && !c.whole { // how many depends on who was faster
				continue
			}
			if written != c.written || !strings.HasPrefix(err.Error(), c.want) || len(madeFiles(t, b)) != 2*c.written {
				t.Errorf("%s, -j %d: got %d written, %d files, %v; want %d, %s", name, jobs, written, len(madeFiles(t, b)), err, c.written, c.want)
			}
		}
	}
}

func TestAWholeBatchWritesNothingIfAFileIsInTheWay(t *testing.T) {
	b := newBatch(t, 4)
	b.whole, b.sources = true, []source{{"what.yaml", []byte("of this")}}
	last := filepath.Join(b.out, "level", "e3.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(last), 0o755), os.WriteFile(last, []byte("another"), 0o644)); err != nil {
		t.Fatal(err)
	}
	_, written, err := b.write(t.Context(), 2, func() {})
	if err == nil || !strings.Contains(err.Error(), "e3.json is already there, and is another") || written != 0 || len(madeFiles(t, b)) != 1 {
		t.Fatalf("got %v, %d written and %d files, want a refusal and the one file", err, written, len(madeFiles(t, b)))
	}
	if _, err := os.Stat(filepath.Join(b.out, "what.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what.yaml: got %v, want that it is not there", err)
	}
	if err := os.Remove(last); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.write(t.Context(), 2, func() {}); err != nil || len(madeFiles(t, b)) != 8 {
		t.Errorf("with nothing in the way: got %v and %d files, want 8", err, len(madeFiles(t, b)))
	}
}

func TestAnInterruptedBatchGoesOn(t *testing.T) {
	b := newBatch(t, 4)
	_, written, err := b.write(&interruptedAfter{t.Context(), 2}, 1, func() {})
	if !errors.Is(err, context.Canceled) || written != 2 || len(madeFiles(t, b)) != 4 {
		t.Fatalf("got %d written, %v, want 2 and an interrupt", written, err)
	}
	if message, want := b.leftBehind(written, err).Error(), "interrupted; 2 of 4 environments are there, whole, in "+b.out+"; the same command goes on"; message != want {
		t.Errorf("got %q, want %q", message, want)
	}
	if err := b.leftBehind(0, context.Canceled); err != context.Canceled {
		t.Errorf("with nothing left: got %v", err)
	}
	if _, written, err = b.write(t.Context(), 1, func() {}); err != nil || written != 4 {
		t.Errorf("the second time: got %d written, %v", written, err)
	}
	b = newBatch(t, 4)
	b.whole = true
	if _, written, err := b.write(&interruptedAfter{t.Context(), 2}, 1, func() {}); !errors.Is(err, context.Canceled) || written != 0 || len(madeFiles(t, b)) != 0 {
		t.Errorf("a whole batch: got %d written, %v", written, err)
	}
}

func TestWithoutALimitAnEndIsNeeded(t *testing.T) {
	e, err := generate.Environment(generate.DefaultParameters())
	if err != nil {
		t.Fatal(err)
	}
	s := e.Scenario().Clone()
	s.MaxEpisodeSteps = 0
	if e, err = rail.New(s, rail.Options{}); err != nil {
		t.Fatal(err)
	}
	content, err := railfile.SaveEnvironment(e)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := filepath.Join(dir, "env.pkl")
	if err := os.WriteFile(env, content, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want string // "": it runs
	}{
		{"run --agent do-nothing", "may never end; give --end-step"},
		{"run --agent do-nothing --end-step 5", ""},
		{"render --agent do-nothing --out " + filepath.Join(dir, "a.svg"), "may never end; give --step or --to"},
		{"render --agent do-nothing --step 5 --out " + filepath.Join(dir, "a.svg"), ""},
	} {
		var out, errs bytes.Buffer
		args := append([]string{"rail"}, append(strings.Fields(c.args), "--env", env)...)
		status := run(t.Context(), args, &app{strings.NewReader(""), &out, &errs})
		if (c.want == "") != (status == exitDone) || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: got status %d, %s", c.args, status, errs.String())
		}
	}
}
