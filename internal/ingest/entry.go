package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/internal/checkpoint"
	"skyrail/internal/pyworker"
	"skyrail/internal/submission"
)

// Native is how an entry is flown that needs no Python: by the engine itself.
const Native = "native"

// modelName is where a submission's checkpoint lies.
const modelName = "model/policy.zip"

// Entry is a submission, or a bare checkpoint, ready to be flown.
type Entry struct {
	Zip       string // as it was named
	Manifest  submission.Manifest
	Warnings  []string
	Isolation string // Native, or how its Python runs: cage or process
	Network   string // what the engine flies, empty if that is Python

	cfg     flight.Config
	network *checkpoint.Policy // nil if it needs Python
	session *pyworker.Session  // nil if it does not
	folder  string             // temporary, removed by Close; empty if there is none
}

// Open makes a zip ready to be flown in cfg's scenario. The error is a *submission.Refusal, a *checkpoint.InvalidError or a
// *checkpoint.MismatchError if that is the team's to mend; anything else is a fault of the machine. The Entry is never
// nil: beside an error it has what is known, and is closed.
func (h *Harness) Open(ctx context.Context, path string, cfg flight.Config) (*Entry, error) {
	e := &Entry{Zip: path, cfg: cfg}
	open := h.openSubmission
	if isCheckpoint(path) {
		open = h.openCheckpoint
	}
	if err := open(ctx, e); err != nil {
		return e, errors.Join(err, e.Close())
	}
	return e, nil
}

// isCheckpoint tells a bare checkpoint from a submission, which is what anything else is taken for.
func isCheckpoint(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return checkpoint.IsCheckpoint(f, info.Size())
}

func (h *Harness) openCheckpoint(ctx context.Context, e *Entry) error {
	e.Manifest = submission.Manifest{Team: nameOf(e.Zip), Algo: "PPO", Deterministic: true}
	if info, err := os.Stat(e.Zip); err != nil {
		return err
	} else if info.Size() > h.settings.Zip.MaxZipBytes {
		return &submission.Refusal{
			Path: e.Manifest.Team, Rule: submission.ZipTooLarge, Hint: "train a smaller network",
			Err: fmt.Errorf("the checkpoint has %d bytes, more than %d", info.Size(), h.settings.Zip.MaxZipBytes),
		}
	}
	policy, err := checkpoint.Open(e.Zip)
	var unsupported *checkpoint.UnsupportedError
	switch {
	case err == nil:
		e.Manifest.Algo = policy.Algorithm()
		return e.fly(policy)
	case !errors.As(err, &unsupported):
		return err
	}
	// Stable-Baselines3 reads it in the cage, where only a copy of it is seen.
	root, err := e.temporary()
	if err != nil {
		return err
	}
	const model = "policy.zip"
	if err := copyFile(filepath.Join(root, model), e.Zip); err != nil {
		return err
	}
	if unsupported.Algorithm != "" {
		e.Manifest.Algo = unsupported.Algorithm
	}
	return h.host(ctx, e, root, model)
}

// nameOf is what a bare checkpoint is called: as its file, if that is fit for a board.
func nameOf(zip string) string {
	name := strings.TrimSuffix(filepath.Base(zip), ".zip")
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, name))
	if runes := []rune(name); len(runes) > 80 {
		name = string(runes[:80])
	}
	return cmp.Or(name, "checkpoint")
}

func (h *Harness) openSubmission(ctx context.Context, e *Entry) error {
	s, err := submission.Open(e.Zip, h.settings.Zip)
	if s != nil {
		e.Manifest, e.Warnings = s.Manifest, s.Warnings
	}
	if err != nil {
		return err
	}
	defer s.Close()

	root, err := h.unpack(e, s)
	if err != nil {
		return err
	}
	model := ""
	if s.Has(modelName) {
		model = modelName
	}
	if e.Manifest.EnvEntryPoint == "" && e.Manifest.PolicyEntryPoint == "" {
		policy, err := checkpoint.Open(filepath.Join(root, model))
		var unsupported *checkpoint.UnsupportedError
		switch {
		case err == nil && !ships(root, policy.Package()):
			return e.fly(policy)
		case err != nil && !errors.As(err, &unsupported):
			return err
		}
	}
	return h.host(ctx, e, root, model)
}

// ships reports whether a submission brings a Python package or module of that name. A network whose class it may be
// from can compute something else than its tensors suggest.
func ships(root, name string) bool {
	entries, err := os.ReadDir(root)
	return err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		module, _, _ := strings.Cut(e.Name(), ".") // .py, .pyc, .cpython-312-x86_64-linux-gnu.so, …
		return module == name
	})
}

// fly makes the engine fly the network.
func (e *Entry) fly(policy *checkpoint.Policy) error {
	e.network, e.Isolation, e.Network = policy, Native, policy.String()
	if said := knownAlgorithm(e.Manifest.Algo); said != "" && said != policy.Algorithm() {
		e.Warnings = append(e.Warnings, fmt.Sprintf("the manifest says algo: %s, the checkpoint is of %s and is flown as that", e.Manifest.Algo, policy.Algorithm()))
	}
	a, err := policy.Agent(e.cfg) // whether it fits the observation
	if _, ok := a.(agent.Distribution); err == nil && !ok && !e.Manifest.Deterministic {
		e.Warnings = append(e.Warnings, "deterministic: false changes nothing: the network has no action distribution")
	}
	return err
}

// knownAlgorithm returns the name of an algorithm that the engine flies, however it is spelled; "" for any other, since
// teams write what they like.
func knownAlgorithm(name string) string {
	for _, known := range []string{"PPO", "A2C", "DQN", "MaskablePPO"} {
		if strings.EqualFold(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name), known) {
			return known
		}
	}
	return ""
}

// host has Python fly the entry.
func (h *Harness) host(ctx context.Context, e *Entry, root, model string) (err error) {
	e.Isolation = string(h.settings.Isolation)
	e.session, err = h.session(ctx, pyworker.Team{
		Root: root, Model: model, Algo: e.Manifest.Algo, Deterministic: e.Manifest.Deterministic,
		EnvEntryPoint: e.Manifest.EnvEntryPoint, PolicyEntryPoint: e.Manifest.PolicyEntryPoint,
	}, e.cfg)
	return err
}

// session gives a team's code its place and time.
func (h *Harness) session(ctx context.Context, team pyworker.Team, cfg flight.Config) (*pyworker.Session, error) {
	box, err := h.box()
	if err != nil {
		return nil, err
	}
	python, err := h.python(ctx)
	if err != nil {
		return nil, err
	}
	return pyworker.NewSession(python, box, team, scenarioOf(cfg), h.settings.Run)
}

func scenarioOf(cfg flight.Config) pyworker.Scenario {
	return pyworker.Scenario{
		Flights: cfg.Flights, Range: [2]int{cfg.NLo, cfg.NHi}, MaxSteps: cfg.MaxSteps, HoldSteps: cfg.HoldSteps,
		Actions: cfg.Actions(),
	}
}

// unpack writes the files of a submission and returns the folder of its manifest.
func (h *Harness) unpack(e *Entry, s *submission.Submission) (root string, err error) {
	if h.settings.Workdir == "" {
		root, err = e.temporary()
	} else {
		root, err = h.place(e.Zip)
	}
	if err != nil {
		return "", err
	}
	return root, s.Extract(root)
}

// place makes the folder of a zip in Workdir.
func (h *Harness) place(zip string) (string, error) {
	name := strings.TrimSuffix(filepath.Base(zip), ".zip")
	if strings.Trim(name, ".") == "" { // such as ...zip
		name = "submission"
	}
	root, err := filepath.Abs(filepath.Join(h.settings.Workdir, name))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(h.settings.Workdir, 0o755); err != nil {
		return "", err
	}
	err = os.Mkdir(root, 0o755)
	if errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("%s is there already; remove it, or name another folder to work in", root)
	}
	return root, errors.Join(err, os.Chmod(root, 0o755))
}

func (e *Entry) temporary() (string, error) {
	var err error
	if e.folder, err = os.MkdirTemp("", "skyrail-team-"); err != nil {
		return "", err
	}
	root, err := filepath.Abs(filepath.Join(e.folder, "team"))
	if err != nil {
		return "", err
	}
	// Whatever the umask says: as root, a team's code is somebody else.
	return root, errors.Join(os.Mkdir(root, 0o755), os.Chmod(root, 0o755))
}

// Serial reports whether the entry's episodes must be flown one after the other, by one agent: a team's code may
// remember.
func (e *Entry) Serial() bool { return e.session != nil }

// Agent returns a fresh agent, which may be an agent.Distribution.
func (e *Entry) Agent(ctx context.Context) (agent.Agent, error) {
	if e.session != nil {
		return e.session.Guest(ctx), nil
	}
	return e.network.Agent(e.cfg)
}

// Scored returns a fresh agent as the manifest wants it scored: sampled if it says deterministic: false, and in any case
// if stochastic says so.
func (e *Entry) Scored(ctx context.Context, stochastic bool) (agent.Agent, error) {
	a, err := e.Agent(ctx)
	if d, ok := a.(agent.Distribution); ok && (stochastic || !e.Manifest.Deterministic) {
		return agent.NewSampled(d, e.cfg, 0), nil
	}
	return a, err
}

// Close removes what was unpacked. Agents must be closed before.
func (e *Entry) Close() error {
	var errs []error
	if e.session != nil {
		errs = append(errs, e.session.Close())
	}
	if e.folder != "" {
		errs = append(errs, os.RemoveAll(e.folder))
	}
	return errors.Join(errs...)
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Chmod(0o644), out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return nil
}
