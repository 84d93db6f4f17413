package main

// #include "skyrail.h"
import "C"

import (
	"fmt"
	"math/big"

	"skyrail/flight"
	"skyrail/flight/batch"
	"skyrail/internal/handles"
	"skyrail/internal/memory"
	"skyrail/numpyrand"
)

// sectors are the batches given out. Nothing is stepped before its first reset.
var sectors handles.Table[*sector]

type sector struct {
	*batch.Batch
	begun     bool
	conflicts []flight.Conflict
}

// onSector runs f on the object of a handle.
func onSector(h C.skyrail_handle, f func(s *sector) error) error {
	p := sectors.Acquire(int64(h))
	if p == nil {
		return errHandle
	}
	defer p.Unlock()
	return f(p.Object)
}

func configOf(c *C.skyrail_flight_config) flight.Config {
	return flight.Config{
		Flights: int(c.n_flights), NLo: int(c.n_lo), NHi: int(c.n_hi),
		MaxSteps: int(c.max_steps), HoldSteps: int(c.hold_steps), MaxClearances: int(c.max_clearances),
		WSafe: float64(c.w_safe), WClearance: float64(c.w_clearance), CollisionRate: float64(c.collision_rate),
	}
}

//export skyrail_flight_create
func skyrail_flight_create(config *C.skyrail_flight_config, nEnvs, threads C.int64_t, autoreset C.int32_t) (handle C.skyrail_handle) {
	defer guard(&handle)
	if config == nil {
		return C.skyrail_handle(fail(fmt.Errorf("there is no configuration")))
	}
	b, err := batch.New(configOf(config), int(nEnvs), int(threads), batch.Autoreset(autoreset))
	if err != nil {
		return C.skyrail_handle(fail(err))
	}
	return C.skyrail_handle(sectors.Add(&sector{Batch: b}))
}

//export skyrail_flight_destroy
func skyrail_flight_destroy(h C.skyrail_handle) (result C.int32_t) {
	defer guard(&result)
	s, ok := sectors.Remove(int64(h))
	if !ok {
		return fail(errHandle)
	}
	s.Close()
	return C.SKYRAIL_OK
}

//export skyrail_flight_clone
func skyrail_flight_clone(h C.skyrail_handle) (handle C.skyrail_handle) {
	defer guard(&handle)
	var c *sector
	if err := onSector(h, func(s *sector) error {
		if s.Len() > 1 { // a single one is small, and copied often in a search
			if err := memory.Fits(s.Size()); err != nil {
				return err
			}
		}
		c = &sector{Batch: s.Clone(), begun: s.begun}
		return nil
	}); err != nil {
		return C.skyrail_handle(fail(err))
	}
	return C.skyrail_handle(sectors.Add(c))
}

//export skyrail_flight_bind
func skyrail_flight_bind(h C.skyrail_handle, w *C.skyrail_flight_buffers) (result C.int32_t) {
	defer guard(&result)
	return code(onSector(h, func(s *sector) error {
		if w == nil {
			return s.Bind(batch.Buffers{})
		}
		cfg := s.Config()
		e, n := s.Len(), cfg.Flights
		return s.Bind(batch.Buffers{
			Observations:      array[float32](w.observations, e*cfg.ObservationLen()),
			Masks:             array[bool](w.masks, e*cfg.Actions()),
			Rewards:           array[float64](w.rewards, e),
			Terminated:        array[bool](w.terminated, e),
			Truncated:         array[bool](w.truncated, e),
			Actions:           array[int64](w.actions, e),
			Issued:            array[int64](w.issued, e),
			Counts:            array[int64](w.counts, e*batch.CountColumns),
			Figures:           array[float64](w.figures, e*(1+2*n)),
			Aircraft:          array[float64](w.aircraft, e*n*batch.AircraftColumns),
			AircraftCounts:    array[int64](w.aircraft_counts, e*n*batch.AircraftCountColumns),
			FinalObservations: array[float32](w.final_observations, e*cfg.ObservationLen()),
			FinalCounts:       array[int64](w.final_counts, e*batch.CountColumns),
			FinalFigures:      array[float64](w.final_figures, e*(1+2*n)),
		})
	}))
}

//export skyrail_flight_reset
func skyrail_flight_reset(h C.skyrail_handle, seeds *C.uint64_t, seeded, chosen *C.uint8_t) (result C.int32_t) {
	defer guard(&result)
	return code(onSector(h, func(s *sector) error {
		which := array[bool](chosen, s.Len())
		if !s.begun && which != nil {
			for i, c := range which {
				if !c {
					return fmt.Errorf("environment %d has no episode yet: the first reset is of all: %w", i, errNotNow)
				}
			}
		}
		s.begun = true
		return s.Reset(array[uint64](seeds, s.Len()), array[bool](seeded, s.Len()), which)
	}))
}

//export skyrail_flight_step
func skyrail_flight_step(h C.skyrail_handle, actions *C.int64_t) (result C.int32_t) {
	return skyrail_flight_step_into(h, actions, nil, nil, nil)
}

//export skyrail_flight_step_into
func skyrail_flight_step_into(h C.skyrail_handle, actions *C.int64_t, observations *C.float, counts *C.int64_t, figures *C.double) (result C.int32_t) {
	defer guard(&result)
	return code(onSector(h, func(s *sector) error {
		switch {
		case !s.begun:
			return errNotNow
		case actions == nil:
			return fmt.Errorf("there are no actions")
		}
		cfg := s.Config()
		return s.StepInto(array[int64](actions, s.Len()), batch.Into{
			Observations: array[float32](observations, s.Len()*cfg.ObservationLen()),
			Counts:       array[int64](counts, s.Len()*batch.CountColumns),
			Figures:      array[float64](figures, s.Len()*(1+2*cfg.Flights)),
		})
	}))
}

//export skyrail_flight_step_one
func skyrail_flight_step_one(h C.skyrail_handle, action C.int32_t) (result C.int32_t) {
	defer guard(&result)
	p := sectors.Acquire(int64(h))
	if p == nil {
		return fail(errHandle)
	}
	defer p.Unlock()
	if !p.Object.begun {
		return fail(errNotNow)
	}
	status, err := p.Object.StepOne(0, int(action))
	if err != nil {
		return fail(err)
	}
	if status.Terminated {
		result |= 1
	}
	if status.Truncated {
		result |= 2
	}
	return result
}

//export skyrail_flight_observe
func skyrail_flight_observe(h C.skyrail_handle) (result C.int32_t) {
	defer guard(&result)
	return code(onSector(h, func(s *sector) error { return s.Report() }))
}

//export skyrail_flight_state
func skyrail_flight_state(h C.skyrail_handle, aircraft *C.double, counts *C.int64_t) (result C.int32_t) {
	defer guard(&result)
	return code(onSector(h, func(s *sector) error {
		e, n := s.Len(), s.Config().Flights
		return s.Track(array[float64](aircraft, e*n*batch.AircraftColumns), array[int64](counts, e*n*batch.AircraftCountColumns))
	}))
}

//export skyrail_flight_set_n_range
func skyrail_flight_set_n_range(h C.skyrail_handle, lo, hi C.int64_t) (result C.int32_t) {
	defer guard(&result)
	return code(onSector(h, func(s *sector) error { return s.SetNRange(int(lo), int(hi)) }))
}

//export skyrail_flight_save
func skyrail_flight_save(h C.skyrail_handle, i C.int64_t, bytes *C.uint8_t, capacity C.int64_t) (result C.int64_t) {
	defer guard(&result)
	var size int
	err := onSector(h, func(s *sector) error {
		data, err := s.Save(nil, int(i))
		if err != nil {
			return err
		}
		if size = len(data); bytes == nil || int(capacity) < size {
			return &tooSmall{int(max(capacity, 0)), size}
		}
		copy(array[byte](bytes, size), data)
		return nil
	})
	if err != nil {
		return C.int64_t(fail(err))
	}
	return C.int64_t(size)
}

//export skyrail_flight_load
func skyrail_flight_load(h C.skyrail_handle, i C.int64_t, bytes *C.uint8_t, length C.int64_t) (result C.int32_t) {
	defer guard(&result)
	return code(onSector(h, func(s *sector) error {
		if length < 0 {
			return fmt.Errorf("the length is %d", length)
		}
		if err := s.Load(array[byte](bytes, int(length)), int(i)); err != nil {
			return err
		}
		s.begun = true
		return nil
	}))
}

//export skyrail_flight_copy
func skyrail_flight_copy(h C.skyrail_handle, i C.int64_t, from C.skyrail_handle, j C.int64_t) (result C.int32_t) {
	defer guard(&result)
	// A copy in between: two places locked at once could wait for each other.
	var source *flight.Env
	var ended bool
	if err := onSector(from, func(s *sector) (err error) {
		source, ended, err = s.Copy(int(j))
		return err
	}); err != nil {
		return fail(err)
	}
	return code(onSector(h, func(s *sector) error { return s.Put(int(i), source, ended) }))
}

//export skyrail_flight_stream
func skyrail_flight_stream(h C.skyrail_handle, i C.int64_t, words *C.uint64_t) (result C.int32_t) {
	defer guard(&result)
	return code(onSector(h, func(s *sector) error {
		if err := s.Check(int(i)); err != nil {
			return err
		}
		if words == nil {
			return fmt.Errorf("there is no room for the stream")
		}
		stream := s.Env(int(i)).Stream()
		state := stream.State()
		w := array[uint64](words, 6)
		w[0], w[1] = halves(state.State)
		w[2], w[3] = halves(state.Inc)
		w[4], w[5] = 0, uint64(state.Uinteger)
		if state.HasUint32 {
			w[4] = 1
		}
		return nil
	}))
}

//export skyrail_flight_set_stream
func skyrail_flight_set_stream(h C.skyrail_handle, i C.int64_t, words *C.uint64_t) (result C.int32_t) {
	defer guard(&result)
	return code(onSector(h, func(s *sector) error {
		if err := s.Check(int(i)); err != nil {
			return err
		}
		w := array[uint64](words, 6)
		if w == nil || w[4] > 1 || w[5] >= 1<<32 {
			return fmt.Errorf("this is not the state of a stream")
		}
		var stream numpyrand.Generator
		if err := stream.SetState(numpyrand.PCG64State{
			State: joined(w[0], w[1]), Inc: joined(w[2], w[3]), HasUint32: w[4] == 1, Uinteger: uint32(w[5]),
		}); err != nil {
			return err
		}
		s.Env(int(i)).SetStream(stream)
		return nil
	}))
}

func halves(v *big.Int) (low, high uint64) {
	return v.Uint64(), new(big.Int).Rsh(v, 64).Uint64()
}

func joined(low, high uint64) *big.Int {
	v := new(big.Int).Lsh(new(big.Int).SetUint64(high), 64)
	return v.Or(v, new(big.Int).SetUint64(low))
}

//export skyrail_flight_conflicts
func skyrail_flight_conflicts(h C.skyrail_handle, i C.int64_t, rows *C.double, room C.int64_t) (result C.int64_t) {
	defer guard(&result)
	count := 0
	err := onSector(h, func(s *sector) error {
		if err := s.Check(int(i)); err != nil {
			return err
		}
		s.conflicts = s.Env(int(i)).Conflicts(s.conflicts[:0])
		count = len(s.conflicts)
		w := array[float64](rows, C.SKYRAIL_CONFLICT*max(min(int(room), count), 0))
		for k := 0; k*C.SKYRAIL_CONFLICT < len(w); k++ {
			c := &s.conflicts[k]
			*(*[C.SKYRAIL_CONFLICT]float64)(w[k*C.SKYRAIL_CONFLICT:]) = [C.SKYRAIL_CONFLICT]float64{
				float64(c.I), float64(c.J), c.Enter, c.Cpa, c.Duration, c.Distance, c.DAlt, c.Severity, c.Centre[0], c.Centre[1],
			}
		}
		return nil
	})
	if err != nil {
		return C.int64_t(fail(err))
	}
	return C.int64_t(count)
}
