package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skyrail/flight"
	"skyrail/flight/contest"
	"skyrail/internal/sandbox"
)

// twenty makes twenty zips: fifteen that can be scored, and five that should not have been made.
func twenty(t *testing.T, dir string) (zips []string, hostile map[string]string) {
	teams := map[string]team{}
	for i := range 12 {
		// Each gives a clearance of its own at times of its own.
		tm := policyTeam(fmt.Sprintf("return (%d if self.steps %% %d == 0 else 0), None\n", 1+i*3%36, 5+i))
		tm["submission.yaml"] = fmt.Sprintf("team: team %02d\npolicy_entry_point: policy.mine:Mine\n", i)
		teams[fmt.Sprintf("team%02d", i)] = tm
	}
	teams["controller"] = team{"submission.yaml": "team: controller\n" + ruleBased}
	teams["honest"] = stock(t, "envs").with(team{"submission.yaml": "team: honest\nenv_entry_point: envs:Flight4DEnv\n" + ruleBased})
	teams["saboteur"] = saboteur(t, "team: saboteur\nenv_entry_point: envs:Flight4DEnv\n"+ruleBased)
	hostileTeams := map[string]struct {
		team
		code string
	}{
		"fork-bomb": {policyTeam("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"), "cpu"},
		"hog":       {policyTeam("x = []\nwhile True: x.append(bytearray(1 << 24))\n"), "memory"},
		"flood":     {policyTeam("while True: print('x' * 10000)\n"), "output"},
		"thief":     {policyTeam("return len(open('/etc/shadow').read()), None\n"), "exception"},
		"escape":    {team{"submission.yaml": "team: escape\n", "../escape.py": "1"}, "zip-path-escapes"},
	}
	hostile = map[string]string{}
	for name, h := range hostileTeams {
		teams[name], hostile[name] = h.team, h.code
	}
	for _, name := range slices.Sorted(maps.Keys(teams)) {
		zips = append(zips, teams[name].zipped(t, dir, name))
	}
	return zips, hostile
}

func TestTwentyZipsScoreTheSameTwice(t *testing.T) {
	caged(t)
	zips, hostile := twenty(t, t.TempDir())
	if len(zips) != 20 || len(hostile) != 5 {
		t.Fatalf("there are %d zips, %d of them hostile", len(zips), len(hostile))
	}
	s := settings(t)
	s.Contract = true
	s.Run.Process.CPU, s.Run.Decision, s.Run.Episode = 5*time.Second, time.Hour, time.Hour // so that only one of them ends a fork bomb
	s.Run.Process.Memory = 400 << 20
	s.Run.Process.Output = 1 << 20
	seeds := contest.PublicSeeds()[:5]
	var rounds [2][]Record
	for i := range rounds {
		var flownEpisodes atomic.Int64
		records, err := New(s).ScoreAll(t.Context(), zips, flight.DefaultConfig(), seeds, 2, nil, nil, func() { flownEpisodes.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		if n := flownEpisodes.Load(); n < 15*5 {
			t.Errorf("%d episodes were counted, want 75 or more", n)
		}
		rounds[i] = records
	}
	// What a traceback says may name a moment; nothing else may differ.
	if diff := cmp.Diff(rounds[0], rounds[1], cmpopts.IgnoreFields(Result{}, "Traceback")); diff != "" {
		t.Errorf("first (-), second (+):\n%s", diff)
	}
	scores := map[string]contest.Score{}
	for i, r := range rounds[0] {
		if r.Result.Zip != zips[i] {
			t.Errorf("record %d is of %s, want %s", i, r.Result.Zip, zips[i])
		}
		name := strings.TrimSuffix(filepath.Base(r.Result.Zip), ".zip")
		code, isHostile := hostile[name]
		if r.Result.OK == isHostile || r.Result.Code != code {
			t.Errorf("%s: got ok %v, code %q (%s), want code %q", name, r.Result.OK, r.Result.Code, r.Result.Error, code)
		}
		scores[name] = r.Total
	}
	if scores["honest"] != scores["saboteur"] || scores["honest"] != scores["controller"] {
		t.Errorf("honest %+v, saboteur %+v and controller %+v differ", scores["honest"], scores["saboteur"], scores["controller"])
	}
	if scores["team00"] == scores["team05"] {
		t.Error("different teams score the same; the comparison shows nothing")
	}
}

func TestRecordsAreReadBackAndNotFoundAgain(t *testing.T) {
	caged(t)
	dir := t.TempDir()
	zips := []string{
		policyTeam("return 0, None\n").zipped(t, dir, "good"),
		policyTeam("return None\n").zipped(t, dir, "bad"),
	}
	score := func(known map[string]Record, fly func()) []Record {
		t.Helper()
		records, err := New(settings(t)).ScoreAll(t.Context(), zips, flight.DefaultConfig(), contest.PublicSeeds()[:2], 2, known, nil, fly)
		if err != nil {
			t.Fatal(err)
		}
		return records
	}
	first := score(nil, nil)
	var file bytes.Buffer
	for _, r := range first {
		if err := WriteRecord(&file, r); err != nil {
			t.Fatal(err)
		}
	}
	length := file.Len()
	file.WriteString(`{"key":"cut o`)
	known, whole, err := ReadRecords(&file)
	if err != nil {
		t.Fatal(err)
	}
	if len(known) != 2 || whole != int64(length) {
		t.Fatalf("read %d records in %d bytes, want 2 in %d", len(known), whole, length)
	}
	again := score(known, func() { t.Error("an episode was flown again") })
	if diff := cmp.Diff(first, again, cmpopts.IgnoreFields(Result{}, "Episodes")); diff != "" {
		t.Errorf("first (-), again (+):\n%s", diff)
	}

	policyTeam("return 1, None\n").zipped(t, dir, "good")
	flownAgain := 0
	score(known, func() { flownAgain++ })
	if flownAgain != 2 {
		t.Errorf("%d episodes of the changed zip were flown, want 2", flownAgain)
	}
}

func TestWhatDependsOnTheMachineIsFoundAgain(t *testing.T) {
	caged(t)
	zips := []string{policyTeam("").with(team{"policy/mine.py": "import not_installed\n"}).zipped(t, t.TempDir(), "needy")}
	known, found := map[string]Record{}, 0
	for round := range 2 {
		_, err := New(settings(t)).ScoreAll(t.Context(), zips, flight.DefaultConfig(), contest.PublicSeeds()[:1], 1, known, func(r Record) error {
			found++
			known[r.Key] = r
			return nil
		}, nil)
		if err != nil || found != round+1 {
			t.Fatalf("round %d: found %d times, %v", round, found, err)
		}
	}
}

// TestTheKeyIsOfAllThatCounts changes one thing after the other.
func TestTheKeyIsOfAllThatCounts(t *testing.T) {
	dir := t.TempDir()
	zip := policyTeam("return 0, None\n").zipped(t, dir, "a")
	renamed := policyTeam("return 0, None\n").zipped(t, dir, "b")
	changed := policyTeam("return 1, None\n").zipped(t, t.TempDir(), "a")
	seeds := contest.PublicSeeds()[:2]
	keys := map[string]string{}
	key := func(what, zip string, seeds []uint64, change func(*Settings)) {
		t.Helper()
		s := settings(t)
		change(&s)
		k, err := New(s).key(zip, flight.DefaultConfig(), seeds)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := keys[k]; ok {
			t.Errorf("%s and %s have the same key", what, other)
		}
		keys[k] = what
	}
	nothing := func(*Settings) {}
	key("as it is", zip, seeds, nothing)
	key("another name", renamed, seeds, nothing)
	key("another zip", changed, seeds, nothing)
	key("fewer seeds", zip, seeds[:1], nothing)
	key("the contract", zip, seeds, func(s *Settings) { s.Contract = true })
	key("idled failures", zip, seeds, func(s *Settings) { s.OnFailure = Idle })
	key("no cage", zip, seeds, func(s *Settings) { s.Isolation = sandbox.Process })
	key("more memory", zip, seeds, func(s *Settings) { s.Run.Process.Memory *= 2 })
	key("fewer files", zip, seeds, func(s *Settings) { s.Zip.MaxFiles-- })
}

func TestReadRecordsSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no line":  {"correct horse battery staple", "line 1 is none of a results file"},
		"no JSON":  {"hello\n", "line 1: "},
		"no key":   {"{\"key\":\"a\"}\n{}\n", "line 2 has no key"},
		"too long": {`{"key":"` + strings.Repeat("x", maxRecord), "line 1 is longer"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := ReadRecords(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

func TestAnInterruptEndsEverything(t *testing.T) {
	caged(t)
	ctx, cancel := context.WithCancel(t.Context())
	// It sleeps in its second episode, and at the end of the first somebody interrupts.
	zips := []string{policyTeam("if obs[65] == -1 and self.steps > 1:\n    import time\n    time.sleep(1000)\nreturn 0, None\n").zipped(t, t.TempDir(), "sleeper")}
	s := settings(t)
	s.Run.Decision, s.Run.Episode = time.Hour, time.Hour
	_, err := New(s).ScoreAll(ctx, zips, flight.DefaultConfig(), contest.PublicSeeds()[:2], 1, nil, nil, cancel)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

func FuzzReadRecords(f *testing.F) {
	f.Add([]byte(`{"key":"a","result":{"zip":"x","warnings":[]},"total":{}}` + "\n"))
	f.Add([]byte("{}\n"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, whole, err := ReadRecords(bytes.NewReader(data))
		if err != nil {
			return
		}
		if whole < 0 || whole > int64(len(data)) || whole > 0 && whole < int64(len(data)) && data[whole-1] != '\n' {
			t.Errorf("got %d whole bytes of %d", whole, len(data))
		}
		for _, r := range records {
			if err := WriteRecord(&bytes.Buffer{}, r); err != nil {
				t.Errorf("a record that was read cannot be written: %v", err)
			}
		}
	})
}

func TestMissingFilesAreFaults(t *testing.T) {
	_, err := New(settings(t)).Score(t.Context(), filepath.Join(t.TempDir(), "none.zip"), flight.DefaultConfig(), contest.PublicSeeds()[:1], nil)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that there is no such file", err)
	}
}
