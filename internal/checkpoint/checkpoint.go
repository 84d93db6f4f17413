package checkpoint

import (
	"fmt"
	"io"
	"os"
	"strings"

	"skyrail/flight"
	"skyrail/flight/agent"
)

// Policy is a trained network. It does not change, and any number of agents may share it.
type Policy struct {
	about   about
	weights int
	network network
}

// network is one of the shapes: mlp, autoregressive.
type network interface {
	shape() string
	agent(a about) agent.Agent
}

// Open reads a policy.zip. Its errors are those of Read, and those of opening a file.
func Open(path string) (*Policy, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p, err := Read(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", path, err)
	}
	return p, nil
}

// Read reads a policy.zip of the given size in bytes. The error is an UnsupportedError if the file is good but needs
// Python, and else an InvalidError.
func Read(r io.ReaderAt, size int64) (*Policy, error) {
	files, err := openArchive(r, size, maxArchive)
	if err != nil {
		return nil, invalid("the checkpoint", "%v", err)
	}
	a, err := readAbout(files)
	if err != nil {
		return nil, err
	}
	p := &Policy{about: a}
	if err := p.readNetwork(files); err != nil {
		return nil, withAbout(err, a)
	}
	return p, nil
}

// readNetwork reads the tensors, once it is known that they may make a network: the limits on them are for policies
// that are read here.
func (p *Policy) readNetwork(files archive) error {
	build := newAutoregressive
	if p.about.class.name != autoregressivePolicy {
		kind, err := p.about.mlpKind()
		if err != nil {
			return err
		}
		build = kind.newMLP
	}
	all, err := readTensors(files)
	if err != nil {
		return err
	}
	for _, t := range all {
		p.weights += len(t.values)
	}
	p.network, err = build(p.about, all)
	return err
}

// IsCheckpoint reports whether a file of the given size in bytes is a Stable-Baselines3 policy.zip, good or not, rather
// than a submission, which has a manifest. It reads no more than the list of files.
func IsCheckpoint(r io.ReaderAt, size int64) bool {
	files, err := openArchive(r, size, maxArchive)
	return err == nil && files[dataFile] != nil && files[weightsFile] != nil && files[manifestFile] == nil
}

// Algorithm returns what the policy was trained with: PPO, A2C, MaskablePPO or DQN.
func (p *Policy) Algorithm() string { return p.about.algorithm }

// Package returns the top-level Python package that the policy's class is from, such as stable_baselines3 or policies.
func (p *Policy) Package() string {
	name, _, _ := strings.Cut(p.about.class.module, ".")
	return name
}

// String describes the network in a line: "PPO, 103-64-64-36 Tanh, 12345 weights, Stable-Baselines3 2.9.2".
func (p *Policy) String() string {
	text := fmt.Sprintf("%s, %s, %d weights", p.about.algorithm, p.network.shape(), p.weights)
	if p.about.version != "" {
		text += ", Stable-Baselines3 " + p.about.version
	}
	return text
}

// Agent returns a fresh agent that flies the policy in environments of cfg; a MismatchError if the policy was trained
// for another observation or other actions. Act is the deterministic answer, model.predict(deterministic=True).
//
// It is an agent.Distribution but for DQN, which values actions and gives them no probability. Only MaskablePPO and
// the autoregressive policy look at the legality mask, as in Stable-Baselines3. Where an observation makes the network
// overflow, the answer is flight.Idle; Stable-Baselines3 stops with an error there.
func (p *Policy) Agent(cfg flight.Config) (agent.Agent, error) {
	if p.about.observation != cfg.ObservationLen() {
		return nil, &MismatchError{"values in an observation", p.about.observation, cfg.ObservationLen()}
	}
	if p.about.actions != cfg.Actions() {
		return nil, &MismatchError{"actions", p.about.actions, cfg.Actions()}
	}
	return p.network.agent(p.about), nil
}
