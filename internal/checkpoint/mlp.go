package checkpoint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/internal/elementary"
)

// mlp is the MlpPolicy of PPO, A2C and MaskablePPO, whose last layer gives logits, or of DQN, whose last layer gives
// values of actions.
type mlp struct {
	layers     []linear
	activation func(float64) float64 // between the layers
	name       string                // of the activation
}

// mlpKind is what an algorithm's MlpPolicy looks like.
type mlpKind struct {
	class      class
	hidden     string   // where the layers of the network that acts begin
	last       string   // its last layer; "": the last of hidden
	others     []string // where tensors begin that do not act
	activation class    // unless policy_kwargs name another
}

// mlpKinds are the policies that are read, by algorithm.
var mlpKinds = map[string]mlpKind{
	"PPO":         {class{"stable_baselines3.common.policies", "ActorCriticPolicy"}, actorHidden, actorLast, actorOthers, tanhClass},
	"A2C":         {class{"stable_baselines3.common.policies", "ActorCriticPolicy"}, actorHidden, actorLast, actorOthers, tanhClass},
	"MaskablePPO": {class{"sb3_contrib.common.maskable.policies", "MaskableActorCriticPolicy"}, actorHidden, actorLast, actorOthers, tanhClass},
	"DQN":         {class{"stable_baselines3.dqn.policies", "DQNPolicy"}, "q_net.q_net.", "", []string{"q_net_target.q_net."}, reluClass},
}

const (
	actorHidden = "mlp_extractor.policy_net."
	actorLast   = "action_net"
)

var (
	actorOthers = []string{"mlp_extractor.value_net.", "value_net."}
	tanhClass   = class{"torch.nn.modules.activation", "Tanh"}
	reluClass   = class{"torch.nn.modules.activation", "ReLU"}
	flatten     = class{"stable_baselines3.common.torch_layers", "FlattenExtractor"}
)

// harmless are the policy_kwargs that do not change what the tensors compute.
var harmless = []string{
	":type:", ":serialized:", "net_arch", "ortho_init", "log_std_init", "full_std", "use_expln", "features_extractor_kwargs",
	"share_features_extractor", "normalize_images", "optimizer_class", "optimizer_kwargs",
}

// mlpKind returns the kind of MlpPolicy that a checkpoint says it is, with its activation; an UnsupportedError if it is
// none.
func (a about) mlpKind() (mlpKind, error) {
	kind, ok := mlpKinds[a.algorithm]
	switch {
	case a.algorithm == "":
		return kind, unsupported("its algorithm is not known")
	case !ok:
		return kind, unsupported("only PPO, A2C, MaskablePPO and DQN are read without it")
	case a.class != kind.class:
		return kind, unsupported("the policy is neither the plain MlpPolicy nor %s", autoregressivePolicy)
	case a.useSDE:
		return kind, unsupported("the policy uses state-dependent exploration (use_sde)")
	}
	for _, name := range slices.Sorted(maps.Keys(a.kwargs)) {
		switch name {
		case "activation_fn", "features_extractor_class", "use_sde", "squash_output":
		default:
			if !slices.Contains(harmless, name) {
				return kind, unsupported("policy_kwargs have %s, which is not known here", quote(name))
			}
		}
	}
	for _, name := range []string{"use_sde", "squash_output"} {
		set, err := a.flag(name)
		if err != nil {
			return kind, err
		}
		if set {
			return kind, unsupported("policy_kwargs set %s", name)
		}
	}
	if c, ok := a.classKwarg("features_extractor_class"); ok && c != flatten {
		return kind, unsupported("its features extractor is %s", c)
	}
	if c, ok := a.classKwarg("activation_fn"); ok {
		if activations[c] == nil {
			return kind, unsupported("its activation is %s", c)
		}
		kind.activation = c
	}
	return kind, nil
}

func (kind mlpKind) newMLP(a about, all tensors) (network, error) {
	m := &mlp{activation: activations[kind.activation], name: kind.activation.name}
	names := all.layersOf(kind.hidden)
	for i, n := range names {
		if want := fmt.Sprintf("%s%d", kind.hidden, 2*i); n != want {
			return nil, unsupported("the network has a layer %s where MlpPolicy has %s", quote(n), want)
		}
	}
	if kind.last != "" {
		names = append(names, kind.last)
	}
	for _, t := range all {
		layer := strings.TrimSuffix(strings.TrimSuffix(t.name, ".weight"), ".bias")
		isOther := func(prefix string) bool { return strings.HasPrefix(t.name, prefix) }
		if !slices.Contains(names, layer) && !slices.ContainsFunc(kind.others, isOther) {
			return nil, unsupported("MlpPolicy has no tensor %s", quote(t.name))
		}
	}
	if len(names) == 0 {
		return nil, invalid(weightsFile, "it has no layer %s0", kind.hidden)
	}
	width := a.observation
	for _, n := range names {
		l, err := newLinear(all, n)
		if err != nil {
			return nil, err
		}
		if l.in != width {
			return nil, invalid(weightsFile, "layer %s takes %d values and gets %d", n, l.in, width)
		}
		width = l.out
		m.layers = append(m.layers, l)
	}
	if width != a.actions {
		return nil, invalid(weightsFile, "the network has %d outputs for %d actions", width, a.actions)
	}
	return m, nil
}

func (m *mlp) shape() string {
	sizes := []string{fmt.Sprint(m.layers[0].in)}
	for _, l := range m.layers {
		sizes = append(sizes, fmt.Sprint(l.out))
	}
	return strings.Join(sizes, "-") + " " + m.name
}

func (m *mlp) agent(a about) agent.Agent {
	widest := a.observation
	for _, l := range m.layers {
		widest = max(widest, l.out)
	}
	run := mlpRun{m, make([]float64, widest), make([]float64, widest)}
	if a.algorithm == "DQN" {
		return &greedy{run}
	}
	return &categorical{run: run, masked: a.algorithm == "MaskablePPO", chances: chances{make([]float64, a.actions)}}
}

// mlpRun is an mlp with the memory for one observation at a time.
type mlpRun struct {
	*mlp
	x, y []float64
}

// outputs returns what the last layer says, float32 values; valid until the next call.
func (r *mlpRun) outputs(obs []float32) []float64 {
	x, y := r.x, r.y
	for i := range r.layers[0].in {
		x[i] = float64(obs[i])
	}
	last := len(r.layers) - 1
	for i, l := range r.layers {
		f := r.activation
		if i == last {
			f = identity
		}
		l.apply(x, y, f)
		x, y = y, x
	}
	return x[:r.layers[last].out]
}

// greedy takes the action of the highest value.
type greedy struct{ run mlpRun }

// Reset does nothing.
func (*greedy) Reset() {}

// Act returns the first action of the highest value.
func (g *greedy) Act(obs []float32) int {
	values := g.run.outputs(obs)
	if !finite(values) {
		return flight.Idle
	}
	return first(values)
}

// categorical draws from the softmax of the last layer.
type categorical struct {
	run     mlpRun
	masked  bool
	chances chances
}

// Reset does nothing.
func (*categorical) Reset() {}

// Act returns the most probable action.
func (c *categorical) Act(obs []float32) int { return c.decide(obs).best() }

// Probabilities writes the softmax.
func (c *categorical) Probabilities(obs []float32, p []float64) { c.decide(obs).write(p) }

// decide computes the probabilities as torch's Categorical does, which normalises logits before it makes probabilities
// of them; and as sb3-contrib's does, which then masks and normalises again.
func (c *categorical) decide(obs []float32) *chances {
	logits := c.run.outputs(obs)
	logSoftmax(logits)
	if c.masked {
		for i, legal := range obs[len(obs)-len(logits):] {
			if !(legal > 0.5) {
				logits[i] = illegal
			}
		}
		logSoftmax(logits)
	}
	top := slices.Max(logits)
	var sum float64
	for i, l := range logits {
		c.chances.p[i] = elementary.Exp(l - top)
		sum += c.chances.p[i]
	}
	for i, e := range c.chances.p {
		c.chances.p[i] = round(e / sum)
	}
	return &c.chances
}
