package checkpoint

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestNeedsStableBaselines3 reads real checkpoints of every kind that is left to Python.
func TestNeedsStableBaselines3(t *testing.T) {
	wants := map[string]UnsupportedError{
		"cnn":             {"PPO", "stable_baselines3.common.policies.ActorCriticCnnPolicy", "the observation has the shape [1 36 36] and is not flat"},
		"multiinput":      {"PPO", "stable_baselines3.common.policies.MultiInputActorCriticPolicy", "the observation space is gymnasium.spaces.dict.Dict and not a flat Box"},
		"own-features":    {"PPO", "stable_baselines3.common.policies.ActorCriticPolicy", "its features extractor is make_fixtures.Slice"},
		"own-policy":      {"PPO", "make_fixtures", "the policy is neither the plain MlpPolicy nor AutoregressivePolicy"},
		"own-activation":  {"PPO", "stable_baselines3.common.policies.ActorCriticPolicy", "its activation is torch.nn.modules.activation.Softsign"},
		"dqn-cnn":         {"DQN", "stable_baselines3.dqn.policies.CnnPolicy", "the observation has the shape [1 36 36] and is not flat"},
		"matrix":          {"PPO", "stable_baselines3.common.policies.ActorCriticPolicy", "the observation has the shape [2 3] and is not flat"},
		"multidiscrete":   {"PPO", "stable_baselines3.common.policies.ActorCriticPolicy", "the action space is gymnasium.spaces.multi_discrete.MultiDiscrete and not Discrete"},
		"discrete-from-1": {"PPO", "stable_baselines3.common.policies.ActorCriticPolicy", "the action space counts from 1 and not from 0"},
		"continuous":      {"PPO", "stable_baselines3.common.policies.ActorCriticPolicy", "the action space is gymnasium.spaces.box.Box and not Discrete"},
		"sde":             {"PPO", "stable_baselines3.common.policies.ActorCriticPolicy", "the action space is gymnasium.spaces.box.Box and not Discrete"},
		"sac":             {"SAC", "stable_baselines3.sac.policies.SACPolicy", "the action space is gymnasium.spaces.box.Box and not Discrete"},
		"trpo":            {"TRPO", "stable_baselines3.common.policies.ActorCriticPolicy", "only PPO, A2C, MaskablePPO and DQN are read without it"},
		"qrdqn":           {"QRDQN", "sb3_contrib.qrdqn.policies.QRDQNPolicy", "only PPO, A2C, MaskablePPO and DQN are read without it"},
		"recurrentppo":    {"RecurrentPPO", "sb3_contrib.common.recurrent.policies.RecurrentActorCriticPolicy", "only PPO, A2C, MaskablePPO and DQN are read without it"},
	}
	files := refused(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, err := read(files[name])
		checkUnsupported(t, name, err, wants[name])
	}
	if len(files) != len(wants) {
		t.Errorf("got %d checkpoints, want %d", len(files), len(wants))
	}
}

func checkUnsupported(t *testing.T, name string, err error, want UnsupportedError) {
	t.Helper()
	var got *UnsupportedError
	if !errors.As(err, &got) || *got != want {
		t.Errorf("%s: got %v, want %v", name, err, &want)
		return
	}
	if !strings.HasPrefix(err.Error(), "needs Stable-Baselines3: ") {
		t.Errorf("%s: got %q, want that it needs Stable-Baselines3", name, err)
	}
}

// TestForgedUnsupported changes native checkpoints into some that Python flies.
func TestForgedUnsupported(t *testing.T) {
	const (
		actorCritic = "stable_baselines3.common.policies.ActorCriticPolicy"
		maskable    = "sb3_contrib.common.maskable.policies.MaskableActorCriticPolicy"
	)
	for name, c := range map[string]struct {
		model  string
		change func(f *forgery)
		want   UnsupportedError
	}{
		"state-dependent exploration": {"ppo-relu", func(f *forgery) { f.data["use_sde"] = true },
			UnsupportedError{"PPO", actorCritic, "the policy uses state-dependent exploration (use_sde)"}},
		"use_sde in the arguments": {"ppo-relu", func(f *forgery) { f.object("policy_kwargs")["use_sde"] = true },
			UnsupportedError{"PPO", actorCritic, "policy_kwargs set use_sde"}},
		"squashed output": {"ppo-relu", func(f *forgery) { f.object("policy_kwargs")["squash_output"] = true },
			UnsupportedError{"PPO", actorCritic, "policy_kwargs set squash_output"}},
		"an argument of the future": {"ppo-relu", func(f *forgery) { f.object("policy_kwargs")["dropout"] = 0.5 },
			UnsupportedError{"PPO", actorCritic, `policy_kwargs have "dropout", which is not known here`}},
		"a function as activation": {"ppo-relu", func(f *forgery) { f.object("policy_kwargs")["activation_fn"] = "<function <lambda> at 0x7f>" },
			UnsupportedError{"PPO", actorCritic, `its activation is "<function <lambda> at 0x7f>"`}},
		"a shared network": {"ppo-relu", func(f *forgery) { f.replace("mlp_extractor.value_net.0.weight", "mlp_extractor.shared_net.0weight") },
			UnsupportedError{"PPO", actorCritic, `MlpPolicy has no tensor "mlp_extractor.shared_net.0weight"`}},
		"a layer with a number of its own": {"ppo-relu", func(f *forgery) {
			f.replace("mlp_extractor.policy_net.2.weight", "mlp_extractor.policy_net.3.weight")
			f.replace("mlp_extractor.policy_net.2.bias", "mlp_extractor.policy_net.3.bias")
		}, UnsupportedError{"PPO", actorCritic, `the network has a layer "mlp_extractor.policy_net.3" where MlpPolicy has mlp_extractor.policy_net.2`}},
		"an unknown algorithm": {"a2c-elu", func(f *forgery) { delete(f.data, "gae_lambda") },
			UnsupportedError{"", actorCritic, "its algorithm is not known"}},
		"big-endian tensors": {"maskableppo", func(f *forgery) { f.torch["byteorder"] = []byte("big") },
			UnsupportedError{"MaskablePPO", maskable, `the byte order of its tensors is "big" and not little`}},
		"double precision": {"ppo-relu", func(f *forgery) { f.replace("torch\nFloatStorage", "torch\nDoubleStorage") },
			UnsupportedError{"PPO", actorCritic, `tensor "mlp_extractor.policy_net.0.weight" holds Double values and not float32`}},
		"the challenge's tensors in a subclass": {"autoregressive-16", func(f *forgery) {
			f.object("policy_class")["__init__"] = "<function Mine.__init__ at 0x7f>"
		}, UnsupportedError{"PPO", "policies.autoregressive.Mine", "the policy is neither the plain MlpPolicy nor AutoregressivePolicy"}},
		"the challenge's policy with another tensor": {"autoregressive-16", func(f *forgery) {
			f.replace("idle_head.0.weight", "busy_head.0.weight")
		}, UnsupportedError{"PPO", "policies.autoregressive.AutoregressivePolicy", "its tensors are not those of the challenge's AutoregressivePolicy"}},
		"the challenge's policy of another algorithm": {"autoregressive-16", func(f *forgery) { f.data["cg_max_steps"] = 10 },
			UnsupportedError{"TRPO", "policies.autoregressive.AutoregressivePolicy", "only PPO and A2C are read with AutoregressivePolicy"}},
	} {
		f := forge(t, c.model)
		c.change(f)
		_, err := read(f.pack())
		checkUnsupported(t, name, err, c.want)
	}
}

// TestInvalid changes native checkpoints into files that nobody can fly, or should.
func TestInvalid(t *testing.T) {
	longer := func(b []byte) []byte { return append(slices.Clone(b), 0, 0, 0, 0) }
	for name, c := range map[string]struct {
		change       func(f *forgery)
		part, reason string
	}{
		"no data":              {func(f *forgery) { f.files["data"] = nil }, "the checkpoint", `no file "data"`},
		"no policy.pth":        {func(f *forgery) { f.files["policy.pth"] = nil }, "the checkpoint", `no file "policy.pth"`},
		"no policy class":      {func(f *forgery) { delete(f.data, "policy_class") }, "data", "no policy_class"},
		"a class that is text": {func(f *forgery) { f.data["policy_class"] = "MlpPolicy" }, "data", "policy_class is not an object"},
		"arguments in a list":  {func(f *forgery) { f.data["policy_kwargs"] = []int{} }, "data", "policy_kwargs is not an object"},
		"a strange flag":       {func(f *forgery) { f.data["use_sde"] = "yes" }, "data", "use_sde is neither true nor false"},
		"no shape":             {func(f *forgery) { delete(f.object("observation_space"), "_shape") }, "data", "observation_space has no shape"},
		"a negative shape":     {func(f *forgery) { f.object("observation_space")["_shape"] = []int{-1} }, "data", "-1 values"},
		"actions in words":     {func(f *forgery) { f.object("action_space")["n"] = "many" }, "data", "n is \"\\\"many\\\"\" and not a whole number"},
		"no actions":           {func(f *forgery) { f.object("action_space")["n"] = 0 }, "data", "0 actions"},
		"a strange version":    {func(f *forgery) { f.files[versionFile] = []byte("2.9\x1b[31m") }, versionFile, "is no version"},
		"a long version":       {func(f *forgery) { f.files[versionFile] = make([]byte, 1000) }, versionFile, "more than the 256 bytes"},

		"weights that are no zip":   {func(f *forgery) { f.torch, f.files[weightsFile] = nil, []byte("PK") }, weightsFile, "no readable zip"},
		"no data.pkl":               {func(f *forgery) { f.torch["data.pkl"] = nil }, weightsFile, "it has no data.pkl"},
		"a storage missing":         {func(f *forgery) { f.torch["data/0"] = nil }, weightsFile, "has 0 bytes, it must have 13184"},
		"a storage cut off":         {func(f *forgery) { f.torch["data/0"] = f.torch["data/0"][:1000] }, weightsFile, "has 1000 bytes, it must have 13184"},
		"a storage too long":        {func(f *forgery) { f.torch["data/0"] = longer(f.torch["data/0"]) }, weightsFile, "more than the 13184 bytes"},
		"a layer missing":           {func(f *forgery) { f.replace("action_net.bias", "value_net.extra") }, weightsFile, "layer action_net lacks its weight or its bias"},
		"another observation":       {func(f *forgery) { f.object("observation_space")["_shape"] = []int{63} }, weightsFile, "takes 103 values and gets 63"},
		"another number of actions": {func(f *forgery) { f.object("action_space")["n"] = 22 }, weightsFile, "36 outputs for 22 actions"},
		"not a number":              {func(f *forgery) { copy(f.torch["data/6"][8:], "\x00\x00\xc0\x7f") }, weightsFile, `tensor "action_net.weight" holds NaN`},
		"infinity":                  {func(f *forgery) { copy(f.torch["data/0"], "\x00\x00\x80\xff") }, weightsFile, `tensor "mlp_extractor.policy_net.0.weight" holds -Inf`},
		"a shell command":           {func(f *forgery) { f.torch["data.pkl"] = []byte("\x80\x02cposix\nsystem\nX\x04\x00\x00\x00true\x85R.") }, weightsFile, `it names "posix.system", which is not one of the names that are accepted`},
	} {
		f := forge(t, "ppo-relu")
		c.change(f)
		_, err := read(f.pack())
		var got *InvalidError
		if !errors.As(err, &got) || !strings.Contains(got.Part, c.part) || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: got %v, want %s: %s", name, err, c.part, c.reason)
		}
	}
}

func TestAutoregressiveSizes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *forgery)
		reason string
	}{
		"one aircraft fewer": {func(f *forgery) { f.object("observation_space")["_shape"] = []int{83} },
			"13 features, 2 globals and 7 clearances do not make 83 observation values and 36 actions"},
		"actions of another": {func(f *forgery) { f.object("action_space")["n"] = "29" },
			"13 features, 2 globals and 7 clearances do not make 103 observation values and 29 actions"},
	} {
		f := forge(t, "autoregressive-16")
		c.change(f)
		_, err := read(f.pack())
		var got *InvalidError
		if !errors.As(err, &got) || got.Reason != c.reason {
			t.Errorf("%s: got %v, want %s", name, err, c.reason)
		}
	}
}

// TestOtherSpellings are differences between versions of the libraries that change nothing.
func TestOtherSpellings(t *testing.T) {
	for name, change := range map[string]func(f *forgery){
		"gym instead of Gymnasium": func(f *forgery) {
			f.object("observation_space")[":type:"] = "<class 'gym.spaces.box.Box'>"
			f.object("action_space")[":type:"] = "<class 'gym.spaces.discrete.Discrete'>"
			delete(f.object("action_space"), "start")
		},
		"a whole number of actions": func(f *forgery) { f.object("action_space")["n"] = 36 },
		"no byte order":             func(f *forgery) { f.torch["byteorder"] = nil },
		"no version":                func(f *forgery) { f.files[versionFile] = nil },
		"no buffer class":           func(f *forgery) { delete(f.data, "rollout_buffer_class") },
		"the flattening extractor": func(f *forgery) {
			f.object("policy_kwargs")["features_extractor_class"] = "<class 'stable_baselines3.common.torch_layers.FlattenExtractor'>"
		},
		"the default written out":    func(f *forgery) { f.object("policy_kwargs")["squash_output"] = false },
		"an orthogonal beginning":    func(f *forgery) { f.object("policy_kwargs")["ortho_init"] = false },
		"optimizer state left out":   func(f *forgery) { f.files["policy.optimizer.pth"] = nil },
		"an infinite gradient bound": func(f *forgery) { f.data["max_grad_norm"] = nil },
	} {
		f := forge(t, "ppo-relu")
		change(f)
		p, err := read(f.pack())
		if err != nil || p.Algorithm() != "PPO" || p.network.shape() != "103-32-16-36 ReLU" {
			t.Errorf("%s: got %+v, %v", name, p, err)
		}
	}
}

func TestStrictJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":NaN,"b":-Infinity,"c":[Infinity,1]}`: `{"a":null,"b":null,"c":[null,1]}`,
		`{"a":"NaN \" Infinity","b":-1,"c":NaN}`:   `{"a":"NaN \" Infinity","b":-1,"c":null}`,
		`{"NaN":"\\","b":NaN}`:                     `{"NaN":"\\","b":null}`,
		`{"a":1}`:                                  `{"a":1}`,
		`NaN"\`:                                    `null"\`,
	} {
		if got := string(strictJSON([]byte(in))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestMessagesSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&UnsupportedError{"PPO", "a.B", "it is odd"}, "needs Stable-Baselines3: it is odd (PPO, a.B)"},
		{&UnsupportedError{"", "a.B", "it is odd"}, "needs Stable-Baselines3: it is odd (a.B)"},
		{&UnsupportedError{Reason: "it is odd"}, "needs Stable-Baselines3: it is odd"},
		{invalid("data", "it is not %s", "JSON"), "data: it is not JSON; save it again with model.save"},
		{&MismatchError{"actions", 22, 36}, "the policy was trained with 22 actions, this environment has 36; train in the environment that is flown, or submit the one it was trained in"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
