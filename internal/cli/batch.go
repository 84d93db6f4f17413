package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"skyrail/rail"
	"skyrail/rail/railfile"
)

// batch is a folder of environments that is to be made.
type batch struct {
	out     string
	format  string   // the flag
	formats []string // suffixes
	plan    []planned
	inputs  string // what they are made of, to be blamed
	whole   bool   // nothing is written before all are made; otherwise each as soon as it is, so that any number may be made
	sources []source
}

// planned is one environment of a batch.
type planned struct {
	name  string // of its files below the folder, with slashes and without suffix
	make  func() (*rail.Env, error)
	scene func(*rail.Env) (*railfile.Scene, error) // its JSON
}

// source is a file of a whole batch; those of batch say what it was made of.
type source struct {
	name    string
	content []byte
}

func (b *batch) flags(cmd *cobra.Command, f *railFlags, format string) {
	cmd.Flags().StringVar(&b.out, "out", "", "the folder to write to; files of the same names with other contents are not replaced")
	cmd.Flags().StringVar(&b.format, "format", format, "what to write of each environment: pkl, json or pkl,json; a json has neither malfunctions nor closures")
	positive(cmd, &f.jobs, "jobs", "j", runtime.NumCPU(), "environments made at once; the files are the same for every number")
	f.machine(cmd)
}

func (b *batch) prepare() error {
	if b.out == "" {
		return usage(errors.New("--out is missing"))
	}
	for _, format := range strings.Split(b.format, ",") {
		if format != "pkl" && format != "json" || slices.Contains(b.formats, "."+format) {
			return usage(fmt.Errorf("--format %s: want pkl, json or pkl,json", b.format))
		}
		b.formats = append(b.formats, "."+format)
	}
	return nil
}

// run makes a batch and says what was made.
func (b *batch) run(a *app, cmd *cobra.Command, f *railFlags) error {
	if len(b.plan) == 0 {
		return usage(fmt.Errorf("%s: it asks for no environment", b.inputs))
	}
	p := a.startProgress(cmd.Context(), len(b.plan))
	p.what = "environment"
	made, written, err := b.write(cmd.Context(), f.jobs, p.one)
	a.stopProgress(p, "made", err)
	if err != nil {
		return b.leftBehind(written, err)
	}
	return (&generated{Directory: b.out, Environments: made, Repeat: repeat(cmd)}).print(a.out, f.json)
}

// leftBehind says what a run that did not come to its end has left.
func (b *batch) leftBehind(written int, err error) error {
	if written == 0 {
		return err
	}
	there := fmt.Sprintf("%d of %s are there, whole, in %s", written, count(len(b.plan), "environment"), b.out)
	if errors.Is(err, context.Canceled) {
		return &interrupted{"interrupted; " + there + "; the same command goes on", err}
	}
	left := fmt.Errorf("%w\n%s", err, there)
	if status := (*exitError)(nil); errors.As(err, &status) {
		return &exitError{status.status, left}
	}
	return left
}

// write makes all environments, jobs at a time, and writes them; written is how many. Neither the files nor the error, which
// is that of the first environment that has one, depend on the number of jobs.
func (b *batch) write(ctx context.Context, jobs int, done func()) (made []madeEnvironment, written int, err error) {
	made = make([]madeEnvironment, len(b.plan))
	contents, errs := make([][][]byte, len(b.plan)), make([]error, len(b.plan))
	var there atomic.Int64
	var failed atomic.Int64 // one with an error; none behind it is begun
	failed.Store(int64(len(b.plan)))
	one := func(i int) (err error) {
		if made[i], contents[i], err = b.make(i); err == nil && !b.whole {
			if err = b.put(i, contents[i]); err == nil {
				there.Add(1)
			}
			contents[i] = nil
		}
		return err
	}
	var g errgroup.Group
	g.SetLimit(jobs)
	for i := range b.plan {
		g.Go(func() error {
			if ctx.Err() != nil || int64(i) > failed.Load() {
				return nil
			}
			if errs[i] = one(i); errs[i] != nil {
				failed.Store(int64(i))
				return nil
			}
			done()
			return nil
		})
	}
	_ = g.Wait()
	for _, err := range append([]error{ctx.Err()}, errs...) {
		if err != nil {
			return nil, int(there.Load()), err
		}
	}
	if b.whole {
		if err := b.putAll(contents); err != nil {
			return nil, 0, err
		}
	}
	return made, len(b.plan), nil
}

// make makes one environment and its contents, one a format. What cannot be made is the inputs' fault.
func (b *batch) make(i int) (madeEnvironment, [][]byte, error) {
	p := &b.plan[i]
	fail := func(err error) error { return usage(fmt.Errorf("%s: %s: %w", b.inputs, p.name, err)) }
	e, err := p.make()
	if err != nil {
		return madeEnvironment{}, nil, fail(err)
	}
	made := describe(p.name, e)
	var contents [][]byte
	for _, format := range b.formats {
		content, err := environmentContent(format, e, func() (*railfile.Scene, error) { return p.scene(e) })
		if err != nil {
			return made, nil, fail(err)
		}
		contents = append(contents, content)
		made.Files = append(made.Files, b.path(p, format))
	}
	return made, contents, nil
}

func (b *batch) path(p *planned, format string) string {
	return filepath.Join(b.out, filepath.FromSlash(p.name)+format)
}

// put writes one environment.
func (b *batch) put(i int, contents [][]byte) error {
	for k, format := range b.formats {
		if err := putNew(b.path(&b.plan[i], format), contents[k]); err != nil {
			return err
		}
	}
	return nil
}

// putAll writes a whole batch, if no other file is in the way of any of its own.
func (b *batch) putAll(contents [][][]byte) error {
	all := make([]source, 0, len(b.sources)+len(b.plan))
	for _, f := range b.sources {
		all = append(all, source{filepath.Join(b.out, f.name), f.content})
	}
	for i := range b.plan {
		for k, format := range b.formats {
			all = append(all, source{b.path(&b.plan[i], format), contents[i][k]})
		}
	}
	for _, f := range all {
		if _, err := isThere(f.name, f.content); err != nil {
			return err
		}
	}
	for _, f := range all {
		if err := putNew(f.name, f.content); err != nil {
			return err
		}
	}
	return nil
}

// isThere says whether a file is there already. It is an error if it is with another content.
func isThere(path string, content []byte) (bool, error) {
	there, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, usage(plainly(err))
	case !bytes.Equal(there, content):
		return false, usage(fmt.Errorf("%s is already there, and is another; write into another folder", path))
	}
	return true, nil
}

// putNew writes a file whole or not at all, and its folder. One with the same content may be there already.
func putNew(path string, content []byte) error {
	if there, err := isThere(path, content); there || err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return usage(fmt.Errorf("cannot make %s: %w", filepath.Dir(path), plainly(err)))
	}
	return replace(path, content, 0o644)
}

// sceneOfEnvironment is the JSON of an environment that was not derived from a scene.
func sceneOfEnvironment(e *rail.Env) (*railfile.Scene, error) {
	return railfile.SceneOf(e.Scenario(), nil)
}
