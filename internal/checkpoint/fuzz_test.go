package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"skyrail/flight/agent"
)

// The fuzz targets begin with tiny checkpoints: the engine shrinks what it finds, and takes minutes for a file of
// tens of kilobytes.

// tiny is the smallest checkpoint of a kind, as its data, its data.pkl and its zip.
type tiny struct{ data, pickle, file []byte }

// shaped is a tensor's name and shape.
type shaped struct {
	name  string
	shape []int
}

func newTiny(t testing.TB, class, function, settings string, observation, actions int, all []shaped) tiny {
	data := fmt.Sprintf(`{"policy_class":{"__module__":"%s","__init__":"<function %s.__init__ at 0x7f>"},"policy_kwargs":{},%s,`+
		`"observation_space":{":type:":"<class 'gymnasium.spaces.box.Box'>","_shape":[%d]},`+
		`"action_space":{":type:":"<class 'gymnasium.spaces.discrete.Discrete'>","n":"%d","start":"0"}}`,
		class, function, settings, observation, actions)
	var p strings.Builder
	p.WriteString("}")
	text := func(s string) string {
		return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
	}
	for i, s := range all {
		n := 1
		size, strides := "(", ""
		for j := len(s.shape) - 1; j >= 0; j-- {
			strides = fmt.Sprintf("K%c", n) + strides
			n *= s.shape[j]
		}
		for _, d := range s.shape {
			size += fmt.Sprintf("K%c", d)
		}
		p.WriteString(text(s.name) + rebuildOp + "((" + text("storage") + "ctorch\nFloatStorage\n" + text(fmt.Sprint(i)) + text("cpu") +
			fmt.Sprintf("K%ctQK\x00%st(%st\x89)tRs", n, size, strides))
	}
	tiny := tiny{data: []byte(data), pickle: pickled(p.String(), ".")}
	tiny.file = tiny.pack(t, []byte("\x00\x00\x80\x3f\x00\x00\x00\xbf"))
	return tiny
}

// pack makes the zip, with storages of the lengths that data.pkl gives, filled with values over and over.
func (c tiny) pack(t testing.TB, values []byte) []byte {
	torch := map[string][]byte{"archive/data.pkl": c.pickle, "archive/byteorder": []byte("little")}
	stored, _ := unpickle(c.pickle)
	for _, s := range stored {
		if n := s.storage.values; n < 1000 && len(values) > 0 {
			whole := []byte(strings.Repeat(string(values), 4*n/len(values)+1))
			torch["archive/data/"+s.storage.key] = whole[:4*n]
		}
	}
	return pack(t, map[string][]byte{dataFile: c.data, weightsFile: pack(t, torch), versionFile: []byte("2.9.2")})
}

func tinies(t testing.TB) []tiny {
	linear := func(name string, in, out int) []shaped {
		return []shaped{{name + ".weight", []int{out, in}}, {name + ".bias", []int{out}}}
	}
	join := func(parts ...[]shaped) (all []shaped) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	return []tiny{
		newTiny(t, "stable_baselines3.common.policies", "ActorCriticPolicy", `"clip_range":0.2`, 2, 3,
			join(linear("mlp_extractor.policy_net.0", 2, 1), linear("action_net", 1, 3), linear("value_net", 2, 1))),
		newTiny(t, "sb3_contrib.common.maskable.policies", "MaskableActorCriticPolicy", `"clip_range":0.2`, 5, 3, linear("action_net", 5, 3)),
		newTiny(t, "stable_baselines3.dqn.policies", "DQNPolicy", `"exploration_rate":NaN`, 2, 2, linear("q_net.q_net.0", 2, 2)),
		newTiny(t, "policies", autoregressivePolicy, `"clip_range":0.2`, 6, 3, join( // two aircraft, a feature and a clearance each, a global
			linear("encoder.per_flight.0", 1, 1), linear("encoder.per_flight.2", 1, 1), linear("aircraft_head.0", 4, 1), linear("aircraft_head.2", 1, 1),
			linear("clearance_head.0", 4, 1), linear("clearance_head.2", 1, 1), linear("idle_head.0", 3, 1), linear("idle_head.2", 1, 1),
			linear("value_net_.0", 3, 1), linear("value_net_.2", 1, 1))),
	}
}

// TestTiniesFly keeps the fuzz targets from beginning with files that are refused.
func TestTiniesFly(t *testing.T) {
	for i, c := range tinies(t) {
		p, err := read(c.file)
		if err != nil {
			t.Errorf("tiny %d: got %v, want a policy", i, err)
			continue
		}
		t.Log(len(c.file), p)
		fly(t, c.file)
	}
}

func FuzzUnpickle(f *testing.F) {
	for _, c := range tinies(f) {
		f.Add(c.pickle)
	}
	f.Add(forge(f, "ppo-empty").torch["data.pkl"])
	f.Add(pickled("cos\nsystem\n", aOp, "\x85R."))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := unpickle(data)
		if err != nil && all != nil {
			t.Errorf("got both %v and %v", all, err)
		}
		for _, s := range all {
			if len(s.shape) != len(s.strides) || len(s.shape) > 8 || s.storage.values < 0 {
				t.Errorf("got tensor %+v", s.storedTensor)
			}
			contiguous(s.shape, s.strides)
		}
	})
}

// FuzzRead changes the parts of a checkpoint, which are packed anew, so that checksums do not stop every change at the
// door.
func FuzzRead(f *testing.F) {
	for _, c := range tinies(f) {
		f.Add(c.data, c.pickle, []byte("\x00\x00\x80\x3f\x00\x00\x00\xbf"))
	}
	f.Fuzz(func(t *testing.T, data, pickle, values []byte) {
		fly(t, tiny{data: data, pickle: pickle}.pack(t, values))
	})
}

// FuzzReadBytes changes whole files.
func FuzzReadBytes(f *testing.F) {
	for _, c := range tinies(f) {
		f.Add(c.file)
	}
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(fly)
}

// fly reads a file, and flies some observations if it is a policy.
func fly(t *testing.T, file []byte) {
	p, err := read(file)
	if err != nil {
		var u *UnsupportedError
		var i *InvalidError
		if !errors.As(err, &u) && !errors.As(err, &i) {
			t.Errorf("got an error of another kind: %v", err)
		}
		return
	}
	pilot := p.network.agent(p.about)
	obs, probabilities := make([]float32, p.about.observation), make([]float64, p.about.actions)
	for step := range 4 {
		for i := range obs {
			obs[i] = float32((i*i+step)%3) - 1
		}
		if got := pilot.Act(obs); got < 0 || got >= p.about.actions {
			t.Errorf("got action %d of %d", got, p.about.actions)
		}
		if d, ok := pilot.(agent.Distribution); ok {
			if d.Probabilities(obs, probabilities); !finite(probabilities) {
				t.Errorf("got probabilities %v", probabilities)
			}
		}
	}
}
