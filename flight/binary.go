package flight

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"skyrail/numpyrand"
)

// binaryHeader begins what AppendBinary writes; its last byte is the version.
const binaryHeader = "flight\x00\x01"

// AppendBinary appends everything that makes e what it is to b: configuration, scenario, state and stream. The form is
// for [Env.UnmarshalBinary] of the same version alone: 64-bit little-endian words behind a header. There is no error.
func (e *Env) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, binaryHeader...)
	word := func(values ...int) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	float := func(values ...float64) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	c := &e.cfg
	word(c.Flights, c.NLo, c.NHi, c.MaxSteps, c.HoldSteps, c.MaxClearances)
	float(c.WSafe, c.WClearance, c.CollisionRate)
	word(e.scenario.Converging, int(e.scenario.Seed), e.scenario.Shift)
	float(e.scenario.Hotspot[:]...)
	var s State
	e.State(&s)
	word(s.Step, s.Clearances, s.Invalids, s.CongestionTotal)
	for i := range s.Aircraft {
		a := &s.Aircraft[i]
		float(a.X, a.Y, a.Level, a.Speed, a.Heading, a.EntryLevel, a.EntrySpeed, a.DistanceToExit, a.TargetTime, a.Flown, a.ExitTime)
		word(a.Hold, a.Pulse, a.Sign, a.Clearances)
	}
	stream := e.rng.State()
	for _, v := range []*big.Int{stream.State, stream.Inc} {
		var bytes [16]byte
		v.FillBytes(bytes[:])
		slices.Reverse(bytes[:])
		b = append(b, bytes[:]...)
	}
	word(int(stream.Uinteger), int(bit(stream.HasUint32)))
	return b, nil
}

// MarshalBinary returns what [Env.AppendBinary] appends.
func (e *Env) MarshalBinary() ([]byte, error) { return e.AppendBinary(nil) }

// UnmarshalBinary makes e equal to the environment that wrote data. Data from elsewhere is checked as [Env.Restore]
// does; the error says what is wrong with it, and then nothing has changed.
func (e *Env) UnmarshalBinary(data []byte) error {
	r := wordReader{data: data}
	if !r.header() {
		return errors.New("this is not the state of a flight environment of this version")
	}
	var c Config
	r.ints(&c.Flights, &c.NLo, &c.NHi, &c.MaxSteps, &c.HoldSteps, &c.MaxClearances)
	r.floats(&c.WSafe, &c.WClearance, &c.CollisionRate)
	if err := c.Validate(); err != nil {
		return err
	}
	scenario := Scenario{}
	var seed int
	r.ints(&scenario.Converging, &seed, &scenario.Shift)
	scenario.Seed = uint64(seed)
	r.floats(&scenario.Hotspot[0], &scenario.Hotspot[1])
	s := State{Aircraft: make([]AircraftState, c.Flights)}
	r.ints(&s.Step, &s.Clearances, &s.Invalids, &s.CongestionTotal)
	for i := range s.Aircraft {
		a := &s.Aircraft[i]
		r.floats(&a.X, &a.Y, &a.Level, &a.Speed, &a.Heading, &a.EntryLevel, &a.EntrySpeed, &a.DistanceToExit, &a.TargetTime, &a.Flown, &a.ExitTime)
		r.ints(&a.Hold, &a.Pulse, &a.Sign, &a.Clearances)
	}
	stream := numpyrand.PCG64State{State: r.wide(), Inc: r.wide()}
	var uinteger, has int
	r.ints(&uinteger, &has)
	stream.Uinteger, stream.HasUint32 = uint32(uinteger), has == 1
	switch {
	case r.missing || len(r.data) > 0:
		return fmt.Errorf("the state of a flight environment is %d bytes, which is not its length", len(data))
	case scenario.Converging < 0 || scenario.Converging > c.Flights || scenario.Shift < 0:
		return fmt.Errorf("the scenario has %d of %d aircraft converging and a shift of %d steps", scenario.Converging, c.Flights, scenario.Shift)
	case uint(uinteger) > math.MaxUint32 || uint(has) > 1:
		return errors.New("the stream's waiting half is not one")
	}
	for _, v := range scenario.Hotspot {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the hotspot is at %v", scenario.Hotspot)
		}
	}
	made := Env{cfg: c, scenario: scenario, flights: make([]aircraft, c.Flights), near: newNear(c.Flights), pairs: pairs(c.Flights), outlook: newOutlook(c.Flights)}
	if err := made.rng.SetState(stream); err != nil {
		return err
	}
	if err := made.Restore(&s); err != nil {
		return err
	}
	*e = made
	return nil
}

// wordReader takes 64-bit words off data, zeros once there are none left.
type wordReader struct {
	data    []byte
	missing bool
}

func (r *wordReader) header() bool {
	ok := len(r.data) >= len(binaryHeader) && string(r.data[:len(binaryHeader)]) == binaryHeader
	if ok {
		r.data = r.data[len(binaryHeader):]
	}
	return ok
}

func (r *wordReader) word() uint64 {
	if len(r.data) < 8 {
		r.missing, r.data = true, nil
		return 0
	}
	v := binary.LittleEndian.Uint64(r.data)
	r.data = r.data[8:]
	return v
}

func (r *wordReader) ints(dst ...*int) {
	for _, p := range dst {
		*p = int(r.word())
	}
}

func (r *wordReader) floats(dst ...*float64) {
	for _, p := range dst {
		*p = math.Float64frombits(r.word())
	}
}

// wide takes an integer of two words, the low one first.
func (r *wordReader) wide() *big.Int {
	low, high := r.word(), r.word()
	v := new(big.Int).SetUint64(high)
	return v.Or(v.Lsh(v, 64), new(big.Int).SetUint64(low))
}
