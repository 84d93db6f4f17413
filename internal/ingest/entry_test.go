package ingest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/flight/contest"
	"skyrail/internal/pyworker"
	"skyrail/internal/sandbox"
)

func TestWhatNeverLoadsIsUnscoredWithIdleToo(t *testing.T) {
	caged(t)
	s := settings(t)
	s.OnFailure = Idle
	result := fly(t, s, policyTeam("").with(team{"policy/mine.py": "1/0\n"}), 50)
	if result.OK || result.Code != "exception" || len(result.Failures) != 0 {
		t.Errorf("got ok %v, code %q, %d failures; want that it is not scored", result.OK, result.Code, len(result.Failures))
	}
}

func TestADiscreetResultHasNoSeedAndNoWordOfTheTeams(t *testing.T) {
	caged(t)
	tm := policyTeam("raise ValueError('my seed is 123')\n")
	for _, on := range []OnFailure{Unscored, Idle} {
		s := settings(t)
		s.OnFailure = on
		result := fly(t, s, tm, 2)
		told, err := json.Marshal(result)
		if err != nil || !strings.Contains(string(told), "my seed is 123") || !strings.Contains(string(told), `"seed":`) {
			t.Fatalf("%s: %v, the result does not say where and what: %s", on, err, told)
		}
		told, err = json.Marshal(result.Discreet())
		if err != nil || strings.Contains(string(told), "my seed is") || strings.Contains(string(told), `"seed"`) {
			t.Errorf("%s: %v, a discreet result says %s", on, err, told)
		}
		if len(result.Discreet().Failures) != len(result.Failures) {
			t.Errorf("%s: got %d failures, want %d to be counted", on, len(result.Discreet().Failures), len(result.Failures))
		}
	}
}

func TestTheSameStreamsAreDrawnAgain(t *testing.T) {
	caged(t)
	tm := policyTeam("import random\nimport numpy as np\nreturn random.randrange(18) + np.random.randint(18), None\n")
	first, second := flown(t, settings(t), tm, 2), flown(t, settings(t), tm, 2)
	if diff := cmp.Diff(first.Episodes, second.Episodes); diff != "" {
		t.Errorf("first (-), second (+):\n%s", diff)
	}
	if actions := first.Episodes[0].Actions; slices.Max(actions) == slices.Min(actions) {
		t.Error("nothing was drawn")
	}
}

func TestPredictIsToldWhatTheManifestSays(t *testing.T) {
	caged(t)
	for yaml, python := range map[string]string{"true": "True", "false": "False"} {
		tm := policyTeam("assert deterministic is " + python + "\nreturn 0, None\n")
		tm["submission.yaml"] += "deterministic: " + yaml + "\n"
		flown(t, settings(t), tm, 1)
	}
}

// fakeLibrary stands in for sb3_contrib, and demands the mask.
const fakeLibrary = `class MaskablePPO:
    @classmethod
    def load(cls, path, device):
        assert open(path, "rb").read() == b"a checkpoint of its own", path
        return cls()

    def predict(self, obs, deterministic, action_masks):
        assert (action_masks == (obs[67:] > 0.5)).all() and action_masks.dtype == bool
        return int(action_masks.nonzero()[0][-1]), None
`

func TestAMaskablePolicyIsGivenTheMask(t *testing.T) {
	caged(t)
	tm := team{
		"submission.yaml": "team: test\nalgo: maskable_ppo\nenv_entry_point: envs:Flight4DEnv\n", "model/policy.zip": "a checkpoint of its own",
		"sb3_contrib.py": fakeLibrary,
	}
	if result := flown(t, settings(t), tm, 2); result.Total.Invalids != 0 || result.Total.Clearances == 0 {
		t.Errorf("got %+v, want legal clearances", result.Total)
	}
}

func checkpointFixture(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../checkpoint/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestANetworkNeedsNoPython(t *testing.T) {
	s := settings(t)
	s.Python, s.Contract = "none", true
	manifest := "team: test\nalgo: dqn\n"
	tm := team{"submission.yaml": manifest, "model/policy.zip": checkpointFixture(t, "autoregressive-16.zip")}
	result := flown(t, s, tm, 3)
	if result.Isolation != Native || !strings.HasPrefix(result.Network, "PPO, autoregressive, 5 flights, hidden 16") {
		t.Errorf("got isolation %q, network %q", result.Isolation, result.Network)
	}
	if len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "algo: dqn, the checkpoint is of PPO") {
		t.Errorf("got warnings %q, want that the algorithm is another", result.Warnings)
	}
	sampled := flown(t, s, tm.with(team{"submission.yaml": manifest + "deterministic: false\n"}), 3)
	if cmp.Equal(result.Episodes, sampled.Episodes) {
		t.Error("sampled, it flies as it does deterministically")
	}

	result = fly(t, s, tm.with(team{"model/policy.zip": "no checkpoint"}), 1)
	if result.Code != ModelUnreadable || !strings.HasPrefix(result.Error, "model/policy.zip: ") {
		t.Errorf("got %s: %s, want that the model is unreadable", result.Code, result.Error)
	}
}

func TestANetworkWhoseClassATeamShipsIsLeftToPython(t *testing.T) {
	s := settings(t)
	s.Python = "none"
	tm := stock(t, "policies").with(team{"submission.yaml": "team: test\n", "model/policy.zip": checkpointFixture(t, "autoregressive-16.zip")})
	_, err := New(s).Score(t.Context(), tm.zipped(t, t.TempDir(), "team"), flight.DefaultConfig(), contest.PublicSeeds()[:1], nil)
	if err == nil {
		t.Error("it was flown by the engine, which does not know the team's class")
	}
}

func TestTheContractAsksOnlyForTheEnvironment(t *testing.T) {
	caged(t)
	s := settings(t)
	s.Contract = true
	tm := stock(t, "envs").with(policyTeam("").with(team{"policy/mine.py": "1/0\n"}))
	tm["submission.yaml"] += "env_entry_point: envs:Flight4DEnv\n"
	if result := fly(t, s, tm, 1); result.Contract != "24 passed" || result.Code != "exception" {
		t.Errorf("got contract %q, code %q; want that it passes and the policy fails later", result.Contract, result.Code)
	}
	for body, advice := range map[string]string{
		"return obs, reward, terminated, truncated or self.step_idx >= 30, info\n":  "its episode has ended, ours goes on",
		"return obs, reward, terminated, truncated and self.max_steps < 50, info\n": "ours has ended, its episode goes on",
	} {
		if result := fly(t, s, shipped(t, body), 1); !strings.Contains(strings.Join(result.Warnings, " "), advice) {
			t.Errorf("got contract %q, warnings %q; want the advice %q", result.Contract, result.Warnings, advice)
		}
	}
}

func TestAContractPassesOnlyWhole(t *testing.T) {
	var c Contract
	for range ContractChecks - 1 {
		c.Checks = append(c.Checks, pyworker.Check{Name: "x", Passed: true})
	}
	if c.Passed() || !strings.Contains(c.Verdict(), "told 23 checks of 24") {
		t.Errorf("23 checks passed: %s", c.Verdict())
	}
	c.Checks = append(c.Checks, pyworker.Check{Name: "last", Reason: "so"})
	if c.Passed() || c.Verdict() != "check 24 of 24 failed: last: so" {
		t.Errorf("got %s", c.Verdict())
	}
	c.Checks[23].Passed = true
	if !c.Passed() || c.Verdict() != "24 passed" {
		t.Errorf("got %s", c.Verdict())
	}
}

func TestAMachineThatDoesNotStartTheWorkerIsNotTheTeamsFault(t *testing.T) {
	caged(t)
	s := settings(t)
	s.Python = fakePython(t, "exit 7")
	result, err := New(s).Score(t.Context(), policyTeam("return 0, None\n").zipped(t, t.TempDir(), "team"), flight.DefaultConfig(), contest.PublicSeeds()[:1], nil)
	var fault *pyworker.FaultError
	if !errors.As(err, &fault) || result.Code != "" {
		t.Errorf("got %v and code %q, want a fault", err, result.Code)
	}
}

// fakePython is an interpreter that says of itself that all is well, and then runs a script.
func fakePython(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	text := "#!/bin/sh\nif [ \"$1\" = -E ]; then\n" +
		`echo '{"executable": "` + path + `", "version": [3, 12, 1], "parts": ["` + path + `"], "missing": []}'` + "\nexit\nfi\n" + script + "\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestATeamsCodeStartsInItsFolder(t *testing.T) {
	caged(t)
	tm := policyTeam("return int(open('policy/answer.txt').read()), None\n").with(team{"policy/answer.txt": "2"})
	for _, isolation := range []sandbox.Isolation{sandbox.Cage, sandbox.Process} {
		s := settings(t)
		s.Isolation = isolation
		if result := flown(t, s, tm, 1); result.Total.Clearances == 0 {
			t.Errorf("%s: it gave no clearance", isolation)
		}
	}
}

func TestASubmissionWhoseTimeIsSpentIsNotAFault(t *testing.T) {
	caged(t)
	s := settings(t)
	s.OnFailure, s.Run.Submission = Idle, 2*time.Second
	// Each episode fails after a while, and the next begins with a fresh process.
	result := fly(t, s, policyTeam("import time\ntime.sleep(0.7)\nif self.steps == 2: raise ValueError\nreturn 0, None\n"), 50)
	if result.OK || result.Code != string(pyworker.SubmissionTime) {
		t.Errorf("got ok %v, code %q, want that its time is spent", result.OK, result.Code)
	}
}

func TestTheStockEnvironmentIsNotTakenForTheTeams(t *testing.T) {
	caged(t)
	s := settings(t)
	s.Contract = true
	tm := stock(t, "envs").with(team{"submission.yaml": "team: test\nenv_entry_point: envs.flight_4d:Flight4DEnv\n" + ruleBased})
	delete(tm, "envs/__init__.py")
	result := fly(t, s, tm, 1)
	if result.OK || result.Code != string(pyworker.EntryPoint) || !strings.Contains(result.Error, "it needs an __init__.py") {
		t.Errorf("got ok %v, %s: %s, contract %q; want that envs/ is not the team's", result.OK, result.Code, result.Error, result.Contract)
	}
}

func TestASubmissionAroundAnUnpackedCheckpointIsASubmission(t *testing.T) {
	caged(t)
	tm := team{"submission.yaml": "team: test\n" + ruleBased, "data": "{}", "policy.pth": "x"}
	if result := flown(t, settings(t), tm, 1); result.Team != "test" || result.Isolation == Native {
		t.Errorf("got team %q, isolation %q", result.Team, result.Isolation)
	}
}

func TestABareCheckpointKeepsToTheLimitsAndIsCalledByItsFile(t *testing.T) {
	for name, want := range map[string]string{"my net.zip": "my net", "a\x1b[31m\nb\u202e.zip": "a[31mb", ".zip": "checkpoint"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(checkpointFixture(t, "autoregressive-16.zip")), 0o644); err != nil {
			t.Fatal(err)
		}
		s := settings(t)
		score := func() Result {
			result, err := New(s).Score(t.Context(), path, flight.DefaultConfig(), contest.PublicSeeds()[:1], nil)
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		if result := score(); !result.OK || result.Team != want {
			t.Errorf("got ok %v, team %q, want %q", result.OK, result.Team, want)
		}
		s.Zip.MaxZipBytes = 1000
		if result := score(); result.OK || result.Code != "zip-too-large" {
			t.Errorf("got ok %v, code %q, want that it is too large", result.OK, result.Code)
		}
	}
}

func TestATeamMayHaveAPackageOfOurName(t *testing.T) {
	caged(t)
	s := settings(t)
	s.Contract = true
	tm := stock(t, "envs").with(team{
		"submission.yaml":     "team: test\nenv_entry_point: skyrail.mine:Mine\n" + ruleBased,
		"skyrail/__init__.py": "", "skyrail/mine.py": "from envs import Flight4DEnv as Mine\n",
	})
	if result := flown(t, s, tm, 1); result.Contract != "24 passed" {
		t.Errorf("got contract %q", result.Contract)
	}
}

func TestAMissingInterpreterIsNoTeamsFault(t *testing.T) {
	caged(t)
	s := settings(t)
	s.Python = "/nonexistent/python"
	zips := []string{policyTeam("return 0, None\n").zipped(t, t.TempDir(), "team")}
	_, err := New(s).ScoreAll(t.Context(), zips, flight.DefaultConfig(), contest.PublicSeeds()[:1], 1, nil, nil, nil)
	var unusable *pyworker.PythonError
	if !errors.As(err, &unusable) {
		t.Errorf("got %v, want that there is no Python", err)
	}
}

func TestTheTimeOfOthersDoesNotCount(t *testing.T) {
	caged(t)
	s := settings(t)
	s.Run.Submission = 3 * time.Second
	cfg := flight.DefaultConfig()
	e, err := New(s).Open(t.Context(), policyTeam("return 0, None\n").zipped(t, t.TempDir(), "team"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := e.Agent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer a.(agent.Remote).Close()
	env, err := flight.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range contest.PublicSeeds()[:2] {
		if _, err := contest.Play(env, a, seed); err != nil {
			t.Fatal(err)
		}
		time.Sleep(s.Run.Submission) // others are flown
	}
}

func TestAPackageMayReplaceItself(t *testing.T) {
	caged(t)
	lazy := `import sys, types


class Idle:
    def predict(self, obs, deterministic=True):
        return 0, None


made = types.ModuleType("policy")
made.Idle = Idle
sys.modules["policy"] = made
`
	flown(t, settings(t), team{"submission.yaml": "team: test\npolicy_entry_point: policy:Idle\n", "policy/__init__.py": lazy}, 1)
}
