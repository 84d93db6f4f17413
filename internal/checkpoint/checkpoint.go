package checkpoint

import (
	"fmt"
	"io"
	"os"
	"slices"

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

// IsCheckpoint reports whether a zip that holds files of these names is a Stable-Baselines3 policy.zip, and not, say,
// a submission with a policy.zip inside.
func IsCheckpoint(names []string) bool {
	return slices.Contains(names, dataFile) && slices.Contains(names, weightsFile)
}

// Algorithm returns what the policy was trained with: PPO, A2C, MaskablePPO or DQN.
func (p *Policy) Algorithm() string { return p.about.algorithm }

// Version returns the version of Stable-Baselines3 that wrote the file, "" if it does not say.
func (p *Policy) Version() string { return p.about.version }

// Shape describes the network, such as "103-64-64-36 Tanh" or "autoregressive, 5 flights, hidden 128".
func (p *Policy) Shape() string { return p.network.shape() }

// Weights returns the number of trained values in the file, those of value and target networks included.
func (p *Policy) Weights() int { return p.weights }

// ObservationLen returns the length of the observations that the policy was trained on.
func (p *Policy) ObservationLen() int { return p.about.observation }

// Actions returns the number of actions that the policy chooses from.
func (p *Policy) Actions() int { return p.about.actions }

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
