package ingest

import (
	"encoding/json"
	"fmt"
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
)

// fly scores a team over the first n published seeds; a fault of ours ends the test.
func fly(t *testing.T, s Settings, tm team, n int) Result {
	t.Helper()
	result, err := New(s).Score(t.Context(), tm.zipped(t, t.TempDir(), "team"), flight.DefaultConfig(), contest.PublicSeeds()[:n], nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// flown is fly for a team that must be scored.
func flown(t *testing.T, s Settings, tm team, n int) Result {
	t.Helper()
	result := fly(t, s, tm, n)
	if !result.OK {
		t.Fatalf("not scored: %s: %s %v", result.Code, result.Error, result.Traceback)
	}
	return result
}

// byAgent is what an agent of ours scores on the same seeds.
func byAgent(t *testing.T, name string, n int) []contest.Episode {
	t.Helper()
	cfg := flight.DefaultConfig()
	episodes, err := contest.Run(t.Context(), cfg, contest.PublicSeeds()[:n], 1, func() (agent.Agent, error) { return agent.New(name, cfg) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return episodes
}

const ruleBased = "policy_entry_point: agents.rule_based_4d:Priority4DController\n"

func TestTheStockControllerScoresAsTheAgent(t *testing.T) {
	caged(t)
	for name, manifest := range map[string]string{
		"sent our observation":           "team: test\n" + ruleBased,
		"in the stock environment":       "team: test\nenv_entry_point: envs:Flight4DEnv\n" + ruleBased,
		"named with dots":                "team: test\nenv_entry_point: envs.flight_4d.Flight4DEnv\n" + ruleBased,
		"in a folder's zip, with copies": "",
	} {
		t.Run(name, func(t *testing.T) {
			tm := team{"submission.yaml": manifest}
			if manifest == "" {
				tm = team{"sub/submission.yaml": "team: test\nenv_entry_point: envs.flight_4d:Flight4DEnv\n" + ruleBased}
				for _, p := range []string{"envs", "agents"} {
					for name, content := range stock(t, p) {
						tm["sub/"+name] = content
					}
				}
			}
			result := flown(t, settings(t), tm, 12)
			if diff := cmp.Diff(byAgent(t, "rule-based", 12), result.Episodes); diff != "" {
				t.Errorf("agent (-), submission (+):\n%s", diff)
			}
			if result.Isolation != "cage" {
				t.Errorf("got isolation %q, want cage", result.Isolation)
			}
		})
	}
}

// saboteur ships the whole environment with one edit.
func saboteur(t *testing.T, manifest string) team {
	tm := stock(t, "envs").with(team{"submission.yaml": manifest})
	source := tm["envs/flight_4d.py"]
	at := strings.Index(source, "def _count_congestion(")
	if at < 0 {
		t.Fatal("the stock environment has no _count_congestion")
	}
	body := at + strings.Index(source[at:], ":\n") + 2
	tm["envs/flight_4d.py"] = source[:body] + "        return 0\n" + source[body:]
	return tm
}

func TestASabotagedEnvironmentChangesNothing(t *testing.T) {
	caged(t)
	s := settings(t)
	s.Contract = true
	manifest := "team: test\nenv_entry_point: envs.flight_4d:Flight4DEnv\n" + ruleBased
	honest := flown(t, s, stock(t, "envs").with(team{"submission.yaml": manifest}), 8)
	sabotaged := flown(t, s, saboteur(t, manifest), 8)
	if honest.Total.Congestion == 0 {
		t.Fatal("there is no congestion to hide")
	}
	if diff := cmp.Diff(honest.Episodes, sabotaged.Episodes); diff != "" {
		t.Errorf("honest (-), sabotaged (+):\n%s", diff)
	}
	if sabotaged.Contract != "24 passed" {
		t.Errorf("got contract %q, want 24 passed", sabotaged.Contract)
	}
	if len(honest.Warnings) != 0 {
		t.Errorf("the honest one got warnings: %q", honest.Warnings)
	}
	last := sabotaged.Warnings[len(sabotaged.Warnings)-1]
	if !strings.Contains(last, "parts from ours") || !strings.Contains(last, "congestion_events is 0, ours ") {
		t.Errorf("got advice %q, want the first step at which congestion_events parts from ours", last)
	}
}

// child is a team with an environment that inherits ours and changes step.
func child(body string) team {
	return team{
		"submission.yaml": "team: test\nenv_entry_point: envs.mine:Mine\n" + ruleBased,
		"envs/mine.py": "from envs.flight_4d import Flight4DEnv\n\n\nclass Mine(Flight4DEnv):\n    def step(self, action):\n" +
			"        obs, reward, terminated, truncated, info = super().step(action)\n" + indent(body, "        "),
	}
}

// shipped is a child together with the stock package it inherits from: envs/ of a team replaces ours.
func shipped(t *testing.T, body string) team { return stock(t, "envs").with(child(body)) }

func TestAMangledRewardChangesNothing(t *testing.T) {
	caged(t)
	result := flown(t, settings(t), shipped(t, "return obs, reward * -1000 + 7, terminated, truncated, {}\n"), 8)
	if diff := cmp.Diff(byAgent(t, "rule-based", 8), result.Episodes); diff != "" {
		t.Errorf("agent (-), submission (+):\n%s", diff)
	}
}

func TestAnEnvironmentThatEndsEarlyDoesNotEndTheEpisode(t *testing.T) {
	caged(t)
	result := flown(t, settings(t), shipped(t, "return obs, reward, terminated or self.step_idx >= 3, truncated, info\n"), 8)
	env, err := flight.New(flight.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	for i, whole := range byAgent(t, "rule-based", 8) {
		want, err := contest.Replay(env, whole.Actions[:3], whole.Seed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, result.Episodes[i]); diff != "" {
			t.Errorf("idled after three steps (-), submission (+):\n%s", diff)
		}
	}
}

func TestAMissingStockModuleOfATeamIsTheirs(t *testing.T) {
	caged(t)
	// Their envs/ stands before ours, so what it lacks is not there.
	result := fly(t, settings(t), child("return obs, reward, terminated, truncated, info\n"), 1)
	if result.OK || result.Code != string(pyworker.EntryPoint) && result.Code != string(pyworker.MissingPackage) {
		t.Errorf("got ok %v, code %q, error %q; want the module that is not there", result.OK, result.Code, result.Error)
	}
}

func TestPrintsDoNotReachThePipe(t *testing.T) {
	caged(t)
	tm := policyTeam(`print("noise" * 100, flush=True)
import os, sys
os.write(1, b"\x00\x00\x00\x01\x80" * 50)
sys.__stdout__.write("more")
return 0, None
`)
	if diff := cmp.Diff(byAgent(t, "noop", 3), flown(t, settings(t), tm, 3).Episodes); diff != "" {
		t.Errorf("agent (-), submission (+):\n%s", diff)
	}
}

// forged is a policy that writes an error of its own into the pipe.
func forged(code, reason string) string {
	return fmt.Sprintf(`import os, struct, time
import msgpack
body = msgpack.packb({"error": {"code": "%s", "reason": "%s", "traceback": []}})
os.write(4, struct.pack(">I", len(body)) + body)
time.sleep(100)
`, code, reason)
}

func TestFailuresAreVerdicts(t *testing.T) {
	caged(t)
	for name, c := range map[string]struct {
		team      team
		settings  func(*Settings)
		code      pyworker.Code
		reason    string
		traceback string
	}{
		"raises in the third step": {team: policyTeam("if self.steps == 3:\n    raise ValueError('no idea')\nreturn 0, None\n"), code: pyworker.Exception, reason: "ValueError: no idea", traceback: `File "policy/mine.py", line 7`},
		"leaves":                   {team: policyTeam("import sys\nsys.exit(0)\n"), code: pyworker.Exception, reason: "SystemExit: 0"},
		"ends its process":         {team: policyTeam("import os\nprint('bye')\nimport sys; sys.stdout.flush()\nos._exit(7)\n"), code: pyworker.Exited, reason: "status 7", traceback: "bye"},
		"is killed":                {team: policyTeam("import os\nos.kill(os.getpid(), 9)\n"), code: pyworker.Exited, reason: "137"},
		"answers NaN":              {team: policyTeam("return float('nan'), None\n"), code: pyworker.BadAction, reason: "nan"},
		"answers half a number":    {team: policyTeam("return 1.5, None\n"), code: pyworker.BadAction, reason: "whole number"},
		"answers two numbers":      {team: policyTeam("return [1, 2], None\n"), code: pyworker.BadAction, reason: "[1, 2]"},
		"answers text":             {team: policyTeam("return 'climb', None\n"), code: pyworker.BadAction, reason: "climb"},
		"answers nothing":          {team: policyTeam("return None\n"), code: pyworker.BadAction, reason: "(action, state), not None"},
		"answers too much":         {team: policyTeam("return 36, None\n"), code: pyworker.BadAction, reason: "action 36 is outside 0 to 35"},
		"answers too little":       {team: policyTeam("return -1, None\n"), code: pyworker.BadAction, reason: "action -1"},
		"never answers": {team: policyTeam("import time\nwhile True: time.sleep(1)\n"),
			settings: func(s *Settings) { s.Run.Decision = 300 * time.Millisecond }, code: pyworker.DecisionTime, reason: "no answer within 300ms"},
		"is slow": {team: policyTeam("import time\ntime.sleep(0.05)\nreturn 0, None\n"),
			settings: func(s *Settings) { s.Run.Episode = 400 * time.Millisecond }, code: pyworker.EpisodeTime},
		"is slow all day": {team: policyTeam("import time\ntime.sleep(0.05)\nreturn 0, None\n"),
			settings: func(s *Settings) { s.Run.Submission = 3 * time.Second }, code: pyworker.SubmissionTime},
		"does not get ready": {team: team{"submission.yaml": "team: test\npolicy_entry_point: policy.mine:Mine\n", "policy/mine.py": "import time\ntime.sleep(100)\n"},
			settings: func(s *Settings) { s.Run.Start = time.Second }, code: pyworker.StartTime},
		"wants memory": {team: policyTeam("x = bytearray(400 << 20)\nreturn 0, None\n"),
			settings: func(s *Settings) { s.Run.Process.Memory = 200 << 20 }, code: pyworker.Memory},
		"computes for ever": {team: policyTeam("while True: pass\n"),
			settings: func(s *Settings) { s.Run.Process.CPU = 2 * time.Second }, code: pyworker.CPU},
		"prints for ever": {team: policyTeam("while True: print('x' * 1000)\n"),
			settings: func(s *Settings) { s.Run.Process.Output = 1 << 20 }, code: pyworker.Output},
		"closes the pipe":            {team: policyTeam("import os, time\nos.close(4)\ntime.sleep(100)\n"), code: pyworker.Protocol, reason: "closed the pipe"},
		"forges an error":            {team: policyTeam(forged("exception", "a\x1b[31mb")), code: pyworker.Exception, reason: "a[31mb"},
		"forges a code":              {team: policyTeam(forged("mine", "x")), code: pyworker.Protocol, reason: "without a code of ours"},
		"raises what cannot be told": {team: policyTeam("class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd()\n"), code: pyworker.Exception, reason: "Odd"},
		"raises no characters":       {team: policyTeam("raise ValueError('\\udcff')\n"), code: pyworker.Exception, reason: "ValueError: ?"},
		"interrupts itself":          {team: policyTeam("raise KeyboardInterrupt\n"), code: pyworker.Exception, reason: "KeyboardInterrupt"},
		"wants another signature":    {team: policyTeam("").with(team{"policy/mine.py": "class Mine:\n    def predict(self, obs): return 0, None\n"}), code: pyworker.Exception, reason: "deterministic"},
		"names a module":             {team: team{"submission.yaml": "team: test\npolicy_entry_point: policy.mine\n", "policy/__init__.py": "from policy import mine\n", "policy/mine.py": "class Mine: pass\n"}, code: pyworker.EntryPoint, reason: "is a module; name a class in it; it has Mine"},
		"writes into the pipe":       {team: policyTeam("import os\nos.write(4, b'\\xff' * 100)\nreturn 0, None\n"), code: pyworker.Protocol},
		"has no predict":             {team: team{"submission.yaml": "team: test\npolicy_entry_point: policy.mine:Mine\n", "policy/mine.py": "class Mine: pass\n"}, code: pyworker.NoPredict, reason: "predict"},
		"names no class":             {team: team{"submission.yaml": "team: test\npolicy_entry_point: policy.mine:Yours\n", "policy/mine.py": "class Mine: pass\n"}, code: pyworker.EntryPoint, reason: "policy.mine has no Yours"},
		"needs a package":            {team: team{"submission.yaml": "team: test\npolicy_entry_point: policy.mine:Mine\n", "policy/mine.py": "import nowhere_to_be_found\n"}, code: pyworker.MissingPackage, reason: "nowhere_to_be_found"},
		"cannot be imported":         {team: team{"submission.yaml": "team: test\npolicy_entry_point: policy.mine:Mine\n", "policy/mine.py": "1/0\n"}, code: pyworker.Exception, reason: "ZeroDivisionError"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings(t)
			if c.settings != nil {
				c.settings(&s)
			}
			result := fly(t, s, c.team, 5)
			if result.OK || result.Score != nil {
				t.Fatal("it was scored")
			}
			if result.Code != string(c.code) || !strings.Contains(result.Error, c.reason) {
				t.Errorf("got %s: %s, want %s with %q", result.Code, result.Error, c.code, c.reason)
			}
			if all := strings.Join(result.Traceback, "\n"); !strings.Contains(all, c.traceback) {
				t.Errorf("got traceback\n%s\nwant %q in it", all, c.traceback)
			}
			if result.Hint == "" {
				t.Error("there is no hint")
			}
		})
	}
}

func TestAFailureCostsTheRestOfTheEpisodeWithIdle(t *testing.T) {
	caged(t)
	s := settings(t)
	s.OnFailure = Idle
	tm := policyTeam("if self.steps == 60:\n    raise RuntimeError('tired')\nreturn 2, None\n")
	seeds := contest.PublicSeeds()[:4]
	result := flown(t, s, tm, len(seeds))
	if len(result.Failures) == 0 || result.Failures[0].Code != "exception" || result.Failures[0].Why != "RuntimeError: tired" {
		t.Fatalf("got failures %+v, want an exception", result.Failures)
	}
	env, err := flight.New(flight.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	// The policy gives the same action 59 times, fails, and begins anew with the next episode.
	steps := 0
	var failed []uint64
	for i, seed := range seeds {
		var actions []int
		fails := false
		for range result.Episodes[i].Actions {
			if steps++; steps == 60 {
				fails = true
				break
			}
			actions = append(actions, 2)
		}
		if fails {
			failed, steps = append(failed, seed), 0
		}
		want, err := contest.Replay(env, actions, seed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, result.Episodes[i]); diff != "" {
			t.Errorf("seed %d: want (-), got (+):\n%s", seed, diff)
		}
	}
	var got []uint64
	for _, f := range result.Failures {
		got = append(got, f.At.Seed)
	}
	if !slices.Equal(got, failed) {
		t.Errorf("got failures in %v, want %v", got, failed)
	}
}

func TestARedContractIsUnscored(t *testing.T) {
	caged(t)
	s := settings(t)
	s.Contract = true
	result := fly(t, s, shipped(t, "info['clearances'] = -1\nreturn obs, reward, terminated, truncated, info\n"), 1)
	if result.OK || result.Code != ContractFailed || !strings.Contains(result.Error, "failed: ") || strings.Contains(result.Error, "\n") {
		t.Errorf("got ok %v, %s: %q; want the first red check in one line", result.OK, result.Code, result.Error)
	}
}

// Not parallel: it changes where temporary files go.
func TestAFolderForTheFilesIsKeptAndATemporaryOneIsNot(t *testing.T) {
	caged(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	s := settings(t)
	flown(t, s, policyTeam("return 0, None\n"), 1)
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("got %v, %v in the temporary folder, want nothing", left, err)
	}
	s.Workdir = filepath.Join(temporary, "work")
	flown(t, s, policyTeam("return 0, None\n"), 1)
	if _, err := os.Stat(filepath.Join(s.Workdir, "team", "policy", "mine.py")); err != nil {
		t.Error(err)
	}
}

func TestAResultReadsAsTheReferencePrintsIt(t *testing.T) {
	caged(t)
	data, err := json.Marshal(flown(t, settings(t), team{"submission.yaml": "team: test\nnotes: hello\n" + ruleBased}, 1))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	score := got["score"].(map[string]any)
	for _, key := range []string{"version", "n_episodes", "failed_episodes", "congestion_total", "congestion_per_episode", "zero_conflict_episodes",
		"exit_miss_mean", "clearances_total", "clearances_per_episode", "aircraft_involved_total", "invalids_total", "rank_key"} {
		if _, ok := score[key]; !ok {
			t.Errorf("the score has no %s", key)
		}
	}
	delete(got, "score")
	delete(got, "zip")
	want := map[string]any{
		"team": "test", "algo": "PPO", "env_entry_point": nil, "policy_entry_point": "agents.rule_based_4d:Priority4DController",
		"notes": "hello", "warnings": []any{}, "isolation": "cage", "ok": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}
