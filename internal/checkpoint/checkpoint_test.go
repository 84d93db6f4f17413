package checkpoint

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"skyrail/flight"
	"skyrail/flight/agent"
)

// TestAnswersEqualStableBaselines3 flies every native model over the recorded observations.
func TestAnswersEqualStableBaselines3(t *testing.T) {
	all := observations(t)
	for _, model := range models(t) {
		t.Run(model, func(t *testing.T) {
			want := readRecording(t, model, len(all))
			pilot, err := open(t, model).Agent(flight.DefaultConfig())
			if err != nil {
				t.Fatal(err)
			}
			distribution, _ := pilot.(agent.Distribution)
			if got := distribution != nil; got != (len(want.probabilities) > 0) {
				t.Fatalf("got a distribution: %v, want the opposite", got)
			}
			p := make([]float64, flight.DefaultConfig().Actions())
			worst := 0.0
			for i, obs := range all {
				if got := pilot.Act(obs); got != int(want.actions[i]) {
					t.Errorf("observation %d: got action %d, want %d", i, got, want.actions[i])
				}
				if distribution == nil {
					continue
				}
				distribution.Probabilities(obs, p)
				var sum float64
				for a, got := range p {
					sum += got
					off := math.Abs(got - float64(want.probabilities[i][a]))
					if worst = max(worst, off); !(off <= 1e-5) {
						t.Fatalf("observation %d, action %d: got probability %v, want %v", i, a, got, want.probabilities[i][a])
					}
				}
				if math.Abs(sum-1) > 1e-12 {
					t.Errorf("observation %d: the probabilities add up to %v, want 1", i, sum)
				}
				if got := first(p); got != int(want.actions[i]) {
					t.Errorf("observation %d: got %d as the most probable action, want %d", i, got, want.actions[i])
				}
			}
			t.Logf("%d observations; probabilities within %.1e", len(all), worst)
		})
	}
}

func TestPolicyKnowsWhatItIs(t *testing.T) {
	// Weights are sum(p.numel() for p in model.policy.parameters()), as make_fixtures.py prints it.
	for model, want := range map[string]struct {
		algorithm, shape string
		weights          int
	}{
		"ppo-default":        {"PPO", "103-64-64-36 Tanh", 24037},
		"ppo-empty":          {"PPO", "103-36 Tanh", 3848},
		"ppo-relu":           {"PPO", "103-32-16-36 ReLU", 5309},
		"ppo-leakyrelu":      {"PPO", "103-8-36 LeakyReLU", 1260},
		"ppo-silu":           {"PPO", "103-8-36 SiLU", 1260},
		"ppo-gelu":           {"PPO", "103-8-36 GELU", 1260},
		"ppo-sigmoid":        {"PPO", "103-8-36 Sigmoid", 1260},
		"ppo-identity":       {"PPO", "103-8-36 Identity", 1260},
		"a2c-elu":            {"A2C", "103-16-16-36 ELU", 4501},
		"dqn":                {"DQN", "103-16-16-36 ReLU", 5096},
		"dqn-tanh":           {"DQN", "103-8-36 Tanh", 2312},
		"maskableppo":        {"MaskablePPO", "103-32-32-36 Tanh", 9989},
		"autoregressive-16":  {"PPO", "autoregressive, 5 flights, hidden 16", 3418},
		"autoregressive-128": {"PPO", "autoregressive, 5 flights, hidden 128", 184970},
	} {
		p := open(t, model)
		if got, want := p.String(), fmt.Sprintf("%s, %s, %d weights, Stable-Baselines3 2.9.2", want.algorithm, want.shape, want.weights); got != want {
			t.Errorf("%s: got %q, want %q", model, got, want)
		}
		from := "stable_baselines3"
		switch {
		case strings.HasPrefix(model, "autoregressive"):
			from = "policies"
		case model == "maskableppo":
			from = "sb3_contrib"
		}
		if p.Algorithm() != want.algorithm || p.Package() != from {
			t.Errorf("%s: got %s from %s, want %s from %s", model, p.Algorithm(), p.Package(), want.algorithm, from)
		}
	}
}

func TestOtherEnvironmentsAreAMismatch(t *testing.T) {
	for _, model := range models(t) {
		cfg := flight.DefaultConfig()
		cfg.Flights = 8
		_, err := open(t, model).Agent(cfg)
		var mismatch *MismatchError
		if !errors.As(err, &mismatch) || mismatch.Got != 103 || mismatch.Want != 163 {
			t.Errorf("%s: got %v, want a MismatchError of 103 and 163", model, err)
		}
	}
}

func TestAgentsShareAPolicyAndNothingElse(t *testing.T) {
	all := observations(t)
	for _, model := range models(t) {
		p := open(t, model)
		fly := func() (actions []int) {
			pilot, err := p.Agent(flight.DefaultConfig())
			if err != nil {
				t.Error(err)
				return nil
			}
			for _, obs := range all {
				actions = append(actions, pilot.Act(obs))
			}
			return actions
		}
		other := make(chan []int)
		go func() { other <- fly() }()
		if got, want := fly(), <-other; !slices.Equal(got, want) {
			t.Errorf("%s: two agents at once: got %v and %v", model, got, want)
		}
	}
}

func TestMaskingAlgorithmsStayLegal(t *testing.T) {
	cfg := flight.DefaultConfig()
	p := make([]float64, cfg.Actions())
	for _, model := range []string{"maskableppo", "autoregressive-16", "autoregressive-128"} {
		pilot, err := open(t, model).Agent(cfg)
		if err != nil {
			t.Fatal(err)
		}
		obs := slices.Clone(observations(t)[0])
		for legal := range cfg.Actions() { // idling, and one clearance
			mask := obs[len(obs)-cfg.Actions():]
			clear(mask)
			mask[flight.Idle], mask[legal] = 1, 1
			if got := pilot.Act(obs); mask[got] != 1 {
				t.Errorf("%s: got the illegal action %d", model, got)
			}
			pilot.(agent.Distribution).Probabilities(obs, p)
			for a, v := range p {
				if mask[a] != 1 && v != 0 {
					t.Errorf("%s: got probability %v for the illegal action %d, want 0", model, v, a)
				}
			}
			if p[legal] == 0 {
				t.Errorf("%s: got probability 0 for the legal action %d", model, legal)
			}
		}
	}
}

// An observation that no environment of ours gives must not be answered by a panic or by NaN.
func TestOverflowIdles(t *testing.T) {
	cfg := flight.DefaultConfig()
	p := make([]float64, cfg.Actions())
	for _, model := range models(t) {
		pilot, err := open(t, model).Agent(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32} {
			obs := make([]float32, cfg.ObservationLen())
			for i := range obs {
				obs[i] = v
			}
			got := pilot.Act(obs)
			if v != v && got != flight.Idle {
				t.Errorf("%s: got action %d for NaN, want idle", model, got)
			}
			if d, ok := pilot.(agent.Distribution); ok {
				d.Probabilities(obs, p)
				var sum float64
				for _, v := range p {
					sum += v
				}
				if !(math.Abs(sum-1) <= 1e-12) || first(p) != got {
					t.Errorf("%s, all %v: got probabilities %v for action %d", model, v, p, got)
				}
			}
		}
	}
}

func TestTiesGoToTheFirst(t *testing.T) {
	c := chances{[]float64{0.2, 0.4, 0.4, 0.1}}
	p := make([]float64, 4)
	if c.write(p); c.best() != 1 || first(p) != 1 || p[1] != p[2] {
		t.Errorf("got action %d, and of the probabilities %v action %d, want 1", c.best(), p, first(p))
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	if _, err := Open("testdata/missing.zip"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that the file does not exist", err)
	}
	_, err := Open("testdata/observations.gz")
	var bad *InvalidError
	if !errors.As(err, &bad) || bad.Part != "the checkpoint" {
		t.Errorf("got %v, want an InvalidError of the checkpoint", err)
	}
}

func TestIsCheckpoint(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  bool
	}{
		"a checkpoint":              {[]string{"data", "policy.pth", "_stable_baselines3_version"}, true},
		"a submission around it":    {[]string{"data", "policy.pth", "submission.yaml"}, false},
		"a submission":              {[]string{"submission.yaml", "model/policy.zip"}, false},
		"an unpacked checkpoint":    {[]string{"policy/data", "policy/policy.pth"}, false},
		"weights alone":             {[]string{"policy.pth"}, false},
		"data of something else":    {[]string{"data"}, false},
		"an empty zip":              {nil, false},
		"a checkpoint out of order": {[]string{"policy.pth", "data"}, true},
	} {
		var file bytes.Buffer
		z := zip.NewWriter(&file)
		for _, f := range c.files {
			if _, err := z.Create(f); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if got := IsCheckpoint(bytes.NewReader(file.Bytes()), int64(file.Len())); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestAnsweringDoesNotAllocate(t *testing.T) {
	all := observations(t)
	p := make([]float64, flight.DefaultConfig().Actions())
	for _, model := range models(t) {
		pilot, err := open(t, model).Agent(flight.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		d, _ := pilot.(agent.Distribution)
		if got := testing.AllocsPerRun(20, func() {
			pilot.Act(all[0])
			if d != nil {
				d.Probabilities(all[1], p)
			}
		}); got != 0 {
			t.Errorf("%s: got %v allocations, want 0", model, got)
		}
	}
}

func BenchmarkAct(b *testing.B) {
	for _, model := range []string{"ppo-default", "autoregressive-128"} {
		b.Run(model, func(b *testing.B) {
			all := observations(b)
			pilot, err := open(b, model).Agent(flight.DefaultConfig())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				pilot.Act(all[i%len(all)])
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		open(b, "autoregressive-128")
	}
}
