package generate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// TestGoldenCurriculum makes the whole curriculum, and compares all that five published files of it hold.
func TestGoldenCurriculum(t *testing.T) {
	stations, err := railfile.ReadStations(golden.Read(t, "../railfile/testdata/files/auxiliary/stations.pkl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	global := numpyrand.NewRandomState(0)
	lessons, err := DefaultCurriculum(stations).Lessons(&global)
	if err != nil || len(lessons) != 27 {
		t.Fatalf("%d lessons, want 27: %v", len(lessons), err)
	}
	if fresh := numpyrand.NewRandomState(0); !global.Equal(&fresh) {
		t.Error("numbers were drawn where there is no choice")
	}
	published, err := filepath.Glob("../railfile/testdata/files/curriculum/*.pkl.gz")
	if err != nil || len(published) != 5 {
		t.Fatalf("%d published files, want 5: %v", len(published), err)
	}
	e := openSample(t)
	found := 0
	for i := range lessons {
		made, err := lessons[i].Environment(e, nil)
		if err != nil {
			t.Fatalf("%s: %v", lessons[i].Name(), err)
		}
		for _, path := range published {
			if filepath.Base(path) != lessons[i].Name()+".pkl.gz" {
				continue
			}
			found++
			if err := sameFile(made, golden.Read(t, path)); err != nil {
				t.Errorf("%s: %v", lessons[i].Name(), err)
			}
		}
	}
	if found != 5 {
		t.Errorf("%d of the published files are among the lessons, want 5", found)
	}
}

// sameFile compares an environment, saved and read again, with a file.
func sameFile(e *rail.Env, published []byte) error {
	saved, err := railfile.SaveEnvironment(e)
	if err != nil {
		return err
	}
	got, err := railfile.ReadEnvironment(saved)
	if err != nil {
		return err
	}
	want, err := railfile.ReadEnvironment(published)
	if err != nil {
		return err
	}
	for _, f := range []*railfile.Environment{got, want} {
		slices.SortFunc(f.Scenario.LevelFree, func(a, b rail.Cell) int {
			return strings.Compare(fmt.Sprintf("%05d %05d", a.Row, a.Col), fmt.Sprintf("%05d %05d", b.Row, b.Col))
		})
	}
	a, err := got.Open(nil)
	if err != nil {
		return err
	}
	b, err := want.Open(nil)
	if err != nil {
		return err
	}
	if !a.Equal(b) {
		return fmt.Errorf("another environment: %w", differEnvironments(got, want))
	}
	return nil
}

func differEnvironments(got, want *railfile.Environment) error {
	for i := range min(len(got.Scenario.Trains), len(want.Scenario.Trains)) {
		if err := differ(fmt.Sprintf("train %d", i), got.Scenario.Trains[i], want.Scenario.Trains[i]); err != nil {
			return err
		}
		if err := differ(fmt.Sprintf("state of train %d", i), got.State.Trains[i], want.State.Trains[i]); err != nil {
			return err
		}
	}
	if err := differ("limit", got.Scenario.MaxEpisodeSteps, want.Scenario.MaxEpisodeSteps); err != nil {
		return err
	}
	if err := differ("bridges", got.Scenario.LevelFree, want.Scenario.LevelFree); err != nil {
		return err
	}
	return differ("state", got.State, want.State)
}

func TestLessonsRefuse(t *testing.T) {
	global := numpyrand.NewRandomState(0)
	for _, n := range []TrainRange{{0, 5}, {3, 3}, {5, 2}} {
		c := DefaultCurriculum(&railfile.Stations{})
		c.Trains = []TrainRange{n}
		if _, err := c.Lessons(&global); err == nil {
			t.Errorf("a range of trains %v was taken", n)
		}
	}
}
