package flight

import "fmt"

// The constants of the sector. Lengths are metres, speeds m/s, times seconds, headings degrees,
// altitudes the challenge's own units (a flight level is 12 of them).
const (
	DT = 2.0 // one step

	LevelStep          = 12.0 // altitude units per flight level
	LowestLevel        = 290.0
	Levels             = 10
	HighestLevel       = LowestLevel + (Levels-1)*LevelStep // 398
	VerticalSeparation = 24.0                               // strictly closer than this counts

	SpeedStep = 35.0
	LowSpeed  = 200.0
	Speeds    = 10
	TopSpeed  = LowSpeed + (Speeds-1)*SpeedStep // 515

	SectorHalfWidth  = 10_000.0 // L: the sector is max(|x|,|y|) < L
	SeparationRadius = 1_000.0  // R: loss of separation at a distance of at most R
	MidAirRadius     = 100.0

	stagger    = 10.0    // converging aircraft are set off their common point by up to this
	spawnLimit = 9_000.0 // background aircraft are drawn from this square
)

// MaxFlights is the largest number of aircraft an environment holds.
const MaxFlights = 64

// The limits of the other whole-number parameters: far beyond any competition, and small enough that
// no counter and no buffer can overflow.
const (
	maxMaxSteps      = 1_000_000
	maxHoldSteps     = 1_000_000
	maxMaxClearances = 1_000_000
)

// Config holds the parameters of an environment, named after the reference's constructor arguments.
type Config struct {
	Flights       int     // n_flights: aircraft in the sector, 1..64
	NLo, NHi      int     // n_range: bounds, both included, of the number of converging aircraft
	MaxSteps      int     // max_steps: the horizon of an episode
	HoldSteps     int     // hold_steps (H): a temporary level change is flown for H-1 moves, a speed pulse for 2H
	WSafe         float64 // w_safe: weight of predicted conflicts and of deviations in the reward
	WClearance    float64 // w_clearance: cost of one clearance in the reward
	CollisionRate float64 // collision_rate: cost of a mid-air, per step that is lost, in units of WSafe
	MaxClearances int     // max_clearances: the episode is cut when this many were given
}

// DefaultConfig returns the ranked scenario: five aircraft, two to four of them converging, 50 steps,
// 40 clearances.
func DefaultConfig() Config {
	return Config{
		Flights: 5, NLo: 2, NHi: 4, MaxSteps: 50, HoldSteps: 5,
		WSafe: 3, WClearance: 0.15, CollisionRate: 3, MaxClearances: 40,
	}
}

// Validate says what is wrong with c, nil if nothing is.
func (c Config) Validate() error {
	inRange := func(name string, v, lo, hi int) error {
		if v < lo || v > hi {
			return fmt.Errorf("%s is %d, it must be within %d..%d", name, v, lo, hi)
		}
		return nil
	}
	for _, err := range []error{
		inRange("n_flights", c.Flights, 1, MaxFlights),
		inRange("max_steps", c.MaxSteps, 1, maxMaxSteps),
		inRange("hold_steps", c.HoldSteps, 1, maxHoldSteps),
		inRange("max_clearances", c.MaxClearances, 1, maxMaxClearances),
	} {
		if err != nil {
			return err
		}
	}
	if c.NLo < 1 || c.NLo > c.NHi || c.NHi > c.Flights {
		return fmt.Errorf("n_range is (%d, %d), it must satisfy 1 <= lo <= hi <= n_flights = %d", c.NLo, c.NHi, c.Flights)
	}
	for _, w := range []struct {
		name string
		v    float64
	}{{"w_safe", c.WSafe}, {"w_clearance", c.WClearance}, {"collision_rate", c.CollisionRate}} {
		if !finite(w.v) {
			return fmt.Errorf("%s is %v, it must be a finite number", w.name, w.v)
		}
	}
	return nil
}

// Ranked reports whether c is the ranked scenario in everything that decides a score; the weights only
// shape the reward, which no score reads.
func (c Config) Ranked() bool {
	d := DefaultConfig()
	d.WSafe, d.WClearance, d.CollisionRate = c.WSafe, c.WClearance, c.CollisionRate
	return c == d
}

// Actions returns the number of action indices: idle and seven clearances an aircraft.
func (c Config) Actions() int { return 1 + Clearances*c.Flights }

// ObservationLen returns the length of an observation: Features values an aircraft, two globals, and
// the legality mask.
func (c Config) ObservationLen() int { return c.maskOffset() + c.Actions() }

func (c Config) maskOffset() int { return Features*c.Flights + globals }

// horizon returns the seconds left at the given step, 0 once the last one is flown.
func (c Config) horizon(step int) float64 { return float64(max(c.MaxSteps-step, 0)) * DT }

func finite(v float64) bool { return v-v == 0 }
