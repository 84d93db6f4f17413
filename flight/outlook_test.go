package flight

import (
	"math"
	"slices"
	"testing"

	"skyrail/internal/elementary"
	"skyrail/numpyrand"
)

// TestKeptThingsAreAsNew holds an environment that keeps its outlook from step to step to a copy that starts from
// nothing.
func TestKeptThingsAreAsNew(t *testing.T) {
	for _, n := range []int{1, 5, 12, MaxFlights} {
		cfg := DefaultConfig()
		cfg.Flights, cfg.NLo, cfg.NHi, cfg.HoldSteps = n, 1, n, 1+n%7
		e, stream := mustNew(cfg), numpyrand.NewGenerator(uint64(n))
		other := mustNew(cfg)
		for step := range 400 {
			switch stream.Choice(40) {
			case 0:
				e.ResetNext()
			case 1:
				other.CopyFrom(e)
				e, other = other, e
			}
			if _, _, err := e.Step(stream.Choice(cfg.Actions())); err != nil {
				t.Fatal(err)
			}
			fresh := e.Clone()
			fresh.pairUp()
			if !slices.Equal(e.near, fresh.near) {
				t.Fatalf("%d aircraft, step %d: other pairs are near", n, step)
			}
			if got, want := observe(e), observe(fresh); !slices.Equal(got, want) {
				t.Fatalf("%d aircraft, step %d: got observation %v, want %v", n, step, got, want)
			}
			if !slices.Equal(e.outlook.deviation, fresh.outlook.deviation) || e.ExitMiss() != fresh.ExitMiss() {
				t.Fatalf("%d aircraft, step %d: other deviations", n, step)
			}
			for action := range cfg.Actions() { // fresh has looked; a clone of it has not, and works a mask out alone
				if alone := fresh.Clone(); e.Legal(action) != alone.Legal(action) {
					t.Fatalf("%d aircraft, step %d, action %d: legal %v", n, step, action, e.Legal(action))
				}
				if n == MaxFlights && action > 50 {
					break
				}
			}
		}
	}
}

// TestDeviationIsALength has deviations in time of all sizes beside levels.
func TestDeviationIsALength(t *testing.T) {
	e, stream := mustNew(DefaultConfig()), numpyrand.NewGenerator(3)
	span := float64(e.cfg.MaxSteps) * DT
	for range 20_000 {
		f := &e.flights[0]
		f.climbTo(f.entryLevel + float64(stream.Choice(5)-2)*LevelStep)
		f.target = f.total/f.speed + math.Ldexp(stream.Uniform(-1, 1), stream.Choice(70)-60)
		e.outlook.forget()
		e.look()
		want := min(elementary.Hypot(e.outlook.views[0].dt/span, f.above/(Levels-1)), 1)
		if got := e.outlook.deviation[0]; got != want {
			t.Fatalf("%v s and %v levels: got %x, want %x", e.outlook.views[0].dt, f.above, got, want)
		}
	}
}

// TestLatenessIsATangent observes lateness of all sizes again and again, a rounding error beside, also where two float32s
// meet.
func TestLatenessIsATangent(t *testing.T) {
	e, stream := mustNew(DefaultConfig()), numpyrand.NewGenerator(4)
	unit := float64(e.cfg.HoldSteps) * DT
	e.look()
	v := &e.outlook.views[0]
	check := func(late float64) {
		t.Helper()
		v.dt = late * unit
		was := v.lateness
		got, want := observe(e)[6], float32(elementary.Tanh(v.dt/unit))
		if math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("tanh %x after %x: got %x, want %x", v.dt/unit, was.at, got, want)
		}
	}
	kept := 0
	for k := range 50_000 {
		x := math.Ldexp(stream.Uniform(-1, 1), stream.Choice(45)-35)
		if k%2 == 0 { // the tangent is midway between two float32s
			low := float32(stream.Uniform(-1, 1))
			x = elementary.Atanh((float64(low) + float64(math.Nextafter32(low, 2))) / 2)
		}
		for range 8 {
			near := x + float64(steadiness*stream.Uniform(-1, 1))
			if v.lateness.is(near) {
				kept++
			}
			check(near)
		}
	}
	if kept < 50_000 {
		t.Errorf("only %d tangents were kept", kept)
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 0x1p-28, -0x1p-28, 0x1.fffffffffffffp-29, 0x1p-29, -0x1p-29, 0x1.fffffffffffffp-30, 1e-40, 19, 1e300} {
		check(x)
	}
}

// TestDistanceToExitIsTheSmallest compares with all four edges.
func TestDistanceToExitIsTheSmallest(t *testing.T) {
	const l = SectorHalfWidth
	stream := numpyrand.NewGenerator(5)
	for range 20_000 {
		a := Aircraft{X: stream.Uniform(-1.5*l, 1.5*l), Y: stream.Uniform(-1.5*l, 1.5*l), Level: 350, Speed: 200}
		a.Heading = stream.Uniform(0, 360)
		switch stream.Choice(4) {
		case 0:
			a.X = []float64{-l, l, 0}[stream.Choice(3)]
		case 1:
			a.Heading = float64(stream.Choice(8)) * 45
		}
		f := newAircraft(a)
		want := math.Inf(1)
		for _, bound := range []float64{-l, l} {
			for _, axis := range [][2]float64{{f.x, f.ux}, {f.y, f.uy}} {
				if d := (bound - axis[0]) / axis[1]; math.Abs(axis[1]) >= 1e-12 && d > 0 {
					want = min(want, d)
				}
			}
		}
		if math.IsInf(want, 1) {
			want = 2 * l
		}
		if got := f.distanceToExit(); got != want {
			t.Fatalf("%+v: got %v, want %v", a, got, want)
		}
	}
}

func TestFiguresAndCountsAreThoseOfInfo(t *testing.T) {
	e, stream := mustNew(DefaultConfig()), numpyrand.NewGenerator(6)
	figures := make([]float64, 1+2*e.cfg.Flights)
	var info Info
	for range 200 {
		if status, err := e.Advance(stream.Choice(e.cfg.Actions())); err != nil || status.Over() {
			e.ResetNext()
		}
		e.Figures(figures)
		c := e.Counts()
		e.Info(&info)
		if want := append(append([]float64{info.ExitMiss}, info.DtExit...), info.DAltExit...); !slices.Equal(figures, want) {
			t.Fatalf("got figures %v, want %v", figures, want)
		}
		if want := (Counts{info.N, info.M, info.CongestionEvents, info.CongestionTotal, info.Clearances, info.Invalids,
			info.AircraftInvolved, info.Collided}); c != want {
			t.Fatalf("got counts %+v, want %+v", c, want)
		}
	}
}

// TestClosestIsTheEncounters compares the short way to the closest moment with the long one.
func TestClosestIsTheEncounters(t *testing.T) {
	stream := numpyrand.NewGenerator(11)
	met := 0
	for range 300_000 {
		r := relative{x: stream.Uniform(-3000, 3000), y: stream.Uniform(-3000, 3000), vx: stream.Uniform(-500, 500), vy: stream.Uniform(-500, 500)}
		switch stream.Choice(6) {
		case 0: // straight towards each other, which makes the discriminant the square of a radius alone
			r.vx, r.vy = -r.x/30, -r.y/30
		case 1: // almost touching: the discriminant is about zero
			r.y, r.vy = SeparationRadius*(1+stream.Uniform(-1e-15, 1e-15)), 0
		case 2: // almost side by side
			r.vx, r.vy = r.vx*1e-9, r.vy*1e-9
		case 3:
			r.vx, r.vy = 0, 0
		}
		horizon := stream.Uniform(1, 100)
		_, _, want, wantOK := r.encounter(horizon)
		got, ok := r.closest(horizon)
		if ok != wantOK || ok && got != want {
			t.Fatalf("%+v within %v: got %v, %v, want %v, %v", r, horizon, got, ok, want, wantOK)
		}
		met += int(bit(ok))
	}
	if met < 10_000 {
		t.Fatalf("only %d encounters", met)
	}
}
