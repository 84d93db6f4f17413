package flight

import "testing"

// Each quirk that a comment in the engine keeps on purpose has its test here.

// placed returns an environment with hand-placed aircraft.
func placed(t *testing.T, cfg Config, aircraft ...Aircraft) *Env {
	t.Helper()
	cfg.Flights, cfg.NLo, cfg.NHi = len(aircraft), 1, 1
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.ResetTo(Scenario{Aircraft: aircraft}); err != nil {
		t.Fatal(err)
	}
	return e
}

func advance(t *testing.T, e *Env, actions ...int) {
	t.Helper()
	for _, a := range actions {
		if _, err := e.Advance(a); err != nil {
			t.Fatal(err)
		}
	}
}

func TestQuirkShiftRunsTwice(t *testing.T) {
	fs := []aircraft{newAircraft(Aircraft{X: -10_000 - 250*400, Level: 350, Speed: 200})}
	first := shiftIn(fs)
	second := shiftIn(fs)
	if first != 200 || second != 51 {
		t.Errorf("got %d and %d steps, want 200 and 51", first, second)
	}
}

func TestQuirkRewindGoesOneStepFurther(t *testing.T) {
	fs := []aircraft{newAircraft(Aircraft{X: -9900, Level: 350, Speed: 200})}
	rewindOut(fs)
	// Out after one step back, moved once more by the step that finds it out, two steps forward.
	if got, want := fs[0].x, -9900.0; got != want {
		t.Errorf("got x %v, want %v", got, want)
	}
}

func TestQuirkSlowDownFromTheTopFliesAboveIt(t *testing.T) {
	cfg := DefaultConfig()
	e := placed(t, cfg, Aircraft{X: -9900, Level: 350, Speed: TopSpeed})
	advance(t, e, Action(0, SpdDn))
	if got, want := e.Aircraft(0).Speed, 480.0; got != want {
		t.Fatalf("after the clearance: got speed %v, want %v", got, want)
	}
	for range cfg.HoldSteps {
		advance(t, e, Idle)
	}
	if got, want := e.Aircraft(0).Speed, 550.0; got != want {
		t.Errorf("in the second half: got speed %v, want %v", got, want)
	}
	for range cfg.HoldSteps {
		advance(t, e, Idle)
	}
	if got := e.Progress(0); e.Aircraft(0).Speed != TopSpeed || got.Busy {
		t.Errorf("at the end: speed %v, %+v", e.Aircraft(0).Speed, got)
	}
}

func TestQuirkPulseIsReckonedAtThePresentSpeed(t *testing.T) {
	// 20 s are left for 4 100 m: a pulse of 20 s at the present 205 m/s covers the way exactly, at 240 or
	// 170 m/s it would not.
	e := placed(t, DefaultConfig(), Aircraft{X: 10_000 - 4100, Level: 350, Speed: 205})
	if !e.Legal(Action(0, SpdUp)) {
		t.Error("a pulse that fits at the present speed is forbidden")
	}
	e = placed(t, DefaultConfig(), Aircraft{X: 10_000 - 4099, Level: 350, Speed: 205})
	if e.Legal(Action(0, SpdUp)) {
		t.Error("a pulse longer than the time left is legal")
	}
}

func TestQuirkAircraftThatHaveLeftStillCount(t *testing.T) {
	e := placed(t, DefaultConfig(),
		Aircraft{X: 9900, Y: 0, Level: 350, Speed: 200},
		Aircraft{X: 9900, Y: 500, Level: 350, Speed: 200})
	advance(t, e, Idle, Idle)
	if !e.Progress(0).Left || !e.Progress(1).Left {
		t.Fatal("they have not left")
	}
	if got, _ := e.Separation(); got != 1 {
		t.Errorf("got congestion %d, want 1", got)
	}
}

func TestQuirkCosineComesFirst(t *testing.T) {
	e := placed(t, DefaultConfig(), Aircraft{Level: 350, Speed: 300, Heading: 0})
	obs := observe(e)
	if obs[4] != 1 || obs[5] != 0 {
		t.Errorf("heading 0: got %v %v, want 1 0", obs[4], obs[5])
	}
}
