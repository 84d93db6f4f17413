package planner

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"skyrail/flight"
	"skyrail/flight/contest"
	"skyrail/internal/elementary"
	"skyrail/numpyrand"
)

// Every moment of an episode is decoded as if nothing was seen before.
func TestBeliefFromOneObservation(t *testing.T) {
	eachShape(t, func(t *testing.T, cfg flight.Config, seeds []uint64) {
		w, b := newTruth(cfg), newBelief(cfg)
		var s flight.State
		aircraft, undecided := 0, 0
		for _, seed := range seeds {
			w.begin(seed)
			for range cfg.MaxSteps {
				w.observe()
				b.reset()
				if b.see(w.obs) {
					t.Fatalf("seed %d step %d: the first observation is as expected", seed, w.StepCount())
				}
				b.env.State(&s)
				within := w.within()
				for i := range s.Aircraft {
					got, want := s.Aircraft[i], w.state.Aircraft[i]
					wrong := wrongOutside(&got, &want, cfg, s.Step)
					if within>>i&1 != 0 {
						aircraft++
						if undecidable(&got, &want) {
							undecided++
							got.Hold, got.Pulse, got.Sign = want.Hold, want.Pulse, want.Sign
						}
						wrong = discrete(got) != discrete(want) || apart(got.X, want.X, 0.001) || apart(got.Y, want.Y, 0.001) ||
							apart(got.DistanceToExit, want.DistanceToExit, 0.02) || got.ExitTime != 0
					}
					if wrong {
						t.Fatalf("seed %d step %d, aircraft %d, within %b: got, want\n%+v\n%+v", seed, s.Step, i, within, got, want)
					}
				}
				// What was decoded tells what was seen, masks and exit times included.
				b.env.Observe(b.told)
				for i := range s.Aircraft {
					if w.inside>>i&1 != 0 && !b.aircraftFits(i, w.obs) {
						at := flight.Features * i
						t.Fatalf("seed %d step %d, aircraft %d: told, seen\n%v\n%v", seed, w.StepCount(), i,
							b.told[at:at+flight.Features], w.obs[at:at+flight.Features])
					}
				}
				w.fly(t, w.choose())
			}
		}
		if aircraft == 0 || undecided*100 > aircraft {
			t.Errorf("of %d aircraft %d were not decided", aircraft, undecided)
		}
	})
}

// wrongOutside reports whether got is wrong about an aircraft that is outside the sector. How far it is outside is not
// told, nor what it is busy with; and it is believed to be on schedule.
func wrongOutside(got, want *flight.AircraftState, cfg flight.Config, step int) bool {
	if got.Level != want.Level || got.EntryLevel != want.EntryLevel || got.Clearances != min(want.Clearances, 6) {
		return true
	}
	if busy := max(want.Hold, want.Pulse); busy > 0 {
		return max(got.Hold, got.Pulse) != busy || got.Hold >= cfg.HoldSteps
	}
	onSchedule := want.EntrySpeed * flight.DT * float64(step)
	return got.Speed != want.Speed || got.EntrySpeed != want.EntrySpeed || got.Flown != onSchedule && got.Flown != want.Flown
}

// In one scenario of fifty the reset cannot have all aircraft within the sector at once, and leaves them far outside.
func TestBeliefOfAircraftThatStray(t *testing.T) {
	usual, more := flight.DefaultConfig(), flight.DefaultConfig()
	more.Flights, more.HoldSteps, more.MaxSteps, more.MaxClearances = 8, 2, 80, 1_000
	for _, cfg := range []flight.Config{usual, more} {
		w, b, fresh := newTruth(cfg), newBelief(cfg), newBelief(cfg)
		strays, forbidden := 0, 0
		for _, seed := range contest.DeriveSeeds("strays", 400) {
			w.begin(seed)
			if w.inside != 0 {
				continue
			}
			strays++
			b.reset()
			for step := range cfg.MaxSteps {
				if got, want := b.see(w.observe()), step > 0; got != want {
					t.Fatalf("seed %d step %d: as expected: got %v, want %v", seed, step, got, want)
				}
				w.compare(t, b, 0)
				if conflicts := b.env.Conflicts(nil); len(conflicts) > 0 {
					t.Fatalf("seed %d step %d: got conflicts %+v, want none", seed, step, conflicts)
				}
				w.compareStrays(t, b, func(int) bool { return true })
				// Where a mask tells of an exit to come, the aircraft is known to stray without a memory.
				fresh.reset()
				fresh.see(w.obs)
				w.compareStrays(t, fresh, func(i int) bool {
					told := !w.Progress(i).Busy &&
						!w.Legal(flight.Action(i, flight.SpdDn)) && !w.Legal(flight.Action(i, flight.SpdUp))
					if told {
						forbidden++
					}
					return told
				})
				action := w.choose()
				b.answer(action)
				w.fly(t, action)
			}
		}
		if strays < 4 || forbidden < 10 {
			t.Errorf("%d scenarios stray, %d masks tell of an exit", strays, forbidden)
		}
	}
}

// compareStrays fails the test if aircraft that never were in the sector have another way than the truth, or are 30 km
// off after hundreds.
func (w *truth) compareStrays(t *testing.T, b *belief, which func(i int) bool) {
	t.Helper()
	for i := range w.Config().Flights {
		if !which(i) {
			continue
		}
		got, want := b.env.Aircraft(i), w.Aircraft(i)
		way, wantWay := b.env.Progress(i).DistanceToExit, w.Progress(i).DistanceToExit
		if elementary.Hypot(got.X-want.X, got.Y-want.Y) > 3*flight.SectorHalfWidth || apart(way, wantWay, 0.02+1e-7*wantWay) {
			t.Fatalf("step %d, aircraft %d: got %+v, way %v, want %+v, way %v", w.StepCount(), i, got, way, want, wantWay)
		}
	}
}

// Where the exit time is off so far that its feature is all but -1, it does not tell of earlier pulses, and none are
// believed in.
func TestBeliefOfAnExitFarTooEarly(t *testing.T) {
	cfg := flight.DefaultConfig()
	cfg.Flights, cfg.NLo, cfg.NHi, cfg.HoldSteps = 1, 1, 1, 1
	w, b := newTruth(cfg), newBelief(cfg)
	w.inside = 1
	for x := -9_990.0; x < -8_000; x += 20 {
		entered := flight.Aircraft{X: x, Y: -9900, Level: 350, Speed: 200, Heading: 60}
		if err := w.ResetTo(flight.Scenario{Aircraft: []flight.Aircraft{entered}}); err != nil {
			t.Fatal(err)
		}
		w.fly(t, flight.Action(0, flight.SpdUp))
		b.reset()
		if b.see(w.observe()); w.obs[6] > -0.9999998 {
			t.Fatalf("exit time: got %v, want all but -1", w.obs[6])
		}
		w.compare(t, b, w.inside)
	}
}

// An aircraft off the ten speeds, which only a hand-placed scenario has, is believed as it is.
func TestBeliefOfAnySpeed(t *testing.T) {
	cfg := flight.DefaultConfig()
	cfg.Flights, cfg.NLo, cfg.NHi = 1, 1, 1
	w, b := newTruth(cfg), newBelief(cfg)
	entered := flight.Aircraft{X: -9000, Y: 10, Level: 350, Speed: 251.5, Heading: 3}
	if err := w.ResetTo(flight.Scenario{Aircraft: []flight.Aircraft{entered}}); err != nil {
		t.Fatal(err)
	}
	for step := range cfg.MaxSteps {
		if got, want := b.see(w.observe()), step > 0; got != want {
			t.Fatalf("step %d: as expected: got %v, want %v", step, got, want)
		}
		if got, want := b.env.Aircraft(0), w.Aircraft(0); apart(got.X, want.X, 0.01) || apart(got.Speed, want.Speed, 1e-4) {
			t.Fatalf("step %d: got %+v, want %+v", step, got, want)
		}
		action := flight.Idle
		if step == 3 {
			action = flight.Action(0, flight.SpdUp)
		}
		b.answer(action)
		w.fly(t, action)
	}
}

func TestHeadingOf(t *testing.T) {
	stream := numpyrand.NewGenerator(7)
	for k := range 4_000 {
		want := stream.Uniform(-135, 225)
		if k < 8 {
			want = float64(45*k) - 134.999999
		}
		y, x := elementary.SinCos(want * degree)
		scale := stream.Uniform(0.5, 1)
		if got := headingOf(x*scale, y*scale); apart(got, want, 1e-12) && apart(math.Abs(got-want), 360, 1e-12) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if got := headingOf(0, 0); got != 0 {
		t.Errorf("of nothing: got %v, want 0", got)
	}
}

// Whatever is observed, the belief is a state that can be flown on, on the grid of levels.
func FuzzBelief(f *testing.F) {
	bytesOf := func(values ...float32) (data []byte) {
		for _, v := range values {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		return data
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	f.Add(uint8(4), uint8(4), uint64(1), []byte{})
	f.Add(uint8(0), uint8(0), uint64(2), bytesOf(nan, inf, -inf, 0, 1, -1, nan, 1e38, 1e-45))
	f.Add(uint8(1), uint8(1), uint64(3), bytesOf(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
	f.Add(uint8(7), uint8(9), uint64(4), bytesOf(1, -1, 0.5, -1, 0.7, -0.7, -1, 1, 1, 0.2, nan))
	f.Fuzz(func(t *testing.T, flights, hold uint8, seed uint64, data []byte) {
		cfg := flight.DefaultConfig()
		cfg.Flights, cfg.HoldSteps = 1+int(flights%9), 1+int(hold)*int(hold)
		cfg.NLo, cfg.NHi = 1, cfg.Flights
		w, b, again := newTruth(cfg), newBelief(cfg), newTruth(cfg)
		w.begin(seed)
		var s flight.State
		for range 8 {
			obs := slices.Clone(w.observe())
			// Some of it is true, and some, or all, of the data.
			for at := range obs {
				if len(data) < 4 || w.stream.Random() < 0.5 {
					continue
				}
				obs[at] = math.Float32frombits(binary.LittleEndian.Uint32(data))
				data = append(data[4:], data[:4]...)
			}
			b.see(obs)
			b.env.State(&s)
			if err := again.Restore(&s); err != nil {
				t.Fatal(err)
			}
			for i, a := range s.Aircraft {
				for _, level := range []float64{a.Level, a.EntryLevel} {
					index := (level - flight.LowestLevel) / flight.LevelStep
					if index != math.Round(index) || index < 0 || index >= flight.Levels {
						t.Fatalf("aircraft %d: level %v", i, level)
					}
				}
				if min(a.Speed, a.EntrySpeed) < flight.LowSpeed || a.EntrySpeed > flight.TopSpeed ||
					a.Speed > flight.TopSpeed+flight.SpeedStep {
					t.Fatalf("aircraft %d: speed %v, at entry %v", i, a.Speed, a.EntrySpeed)
				}
			}
			for i, v := range again.observe() {
				if !(v >= -1 && v <= 1) {
					t.Fatalf("observation[%d] is %v", i, v)
				}
			}
			action := w.choose()
			b.answer(action - int(seed&1))
			w.fly(t, action)
		}
	})
}
