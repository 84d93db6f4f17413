//go:build unix

package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"skyrail/flight"
	"skyrail/flight/contest"
)

func TestWhatCannotBeReadDoesNotStopTheOthers(t *testing.T) {
	caged(t)
	dir := t.TempDir()
	good := policyTeam("return 0, None\n").zipped(t, dir, "good")
	folder, dangling, pipe := filepath.Join(dir, "folder.zip"), filepath.Join(dir, "dangling.zip"), filepath.Join(dir, "pipe.zip")
	if err := errors.Join(os.Mkdir(folder, 0o755), os.Symlink("nowhere", dangling), syscall.Mkfifo(pipe, 0o644)); err != nil {
		t.Fatal(err)
	}
	records, err := New(settings(t)).ScoreAll(t.Context(), []string{dangling, folder, good, pipe}, flight.DefaultConfig(), contest.PublicSeeds()[:1], 2, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range records {
		if scored := i == 2; r.Result.OK != scored || !scored && r.Result.Code != "zip-unreadable" {
			t.Errorf("%s: got ok %v, code %q", r.Result.Zip, r.Result.OK, r.Result.Code)
		}
	}
}

// Not parallel: it changes the process.
func TestTheUmaskDoesNotCount(t *testing.T) {
	caged(t)
	defer syscall.Umask(syscall.Umask(0o077))
	flown(t, settings(t), stock(t, "envs").with(team{"submission.yaml": "team: test\nenv_entry_point: envs:Flight4DEnv\n" + ruleBased}), 1)
}
