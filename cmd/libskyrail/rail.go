package main

// #include "skyrail.h"
import "C"

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"skyrail/internal/handles"
	"skyrail/internal/memory"
	"skyrail/rail"
	"skyrail/rail/batch"
)

// railways are the batches given out, policies what answers for them.
var (
	railways handles.Table[*batch.Batch]
	policies handles.Table[*batch.Crew]
)

// onRailway runs f on the object of a handle.
func onRailway(h C.skyrail_handle, f func(b *batch.Batch) error) error {
	p := railways.Acquire(int64(h))
	if p == nil {
		return errHandle
	}
	defer p.Unlock()
	return f(p.Object)
}

func railOptions(c *C.skyrail_rail_config) (o batch.Options, err error) {
	if c == nil || c.rewards == nil {
		return o, errors.New("there is no configuration, or it names no rewards")
	}
	o = batch.Options{Threads: int(c.threads), Autoreset: batch.Autoreset(c.autoreset), Fresh: c.fresh != 0, Leave: c.leave != 0}
	o.Rewards, err = rail.RewardsByName(C.GoString(c.rewards))
	return o, err
}

// newRailway gives out a batch of copies of a source.
func newRailway(c *C.skyrail_rail_config, open func() (*batch.Source, error)) C.skyrail_handle {
	o, err := railOptions(c)
	if err != nil {
		return C.skyrail_handle(fail(err))
	}
	if c.n_envs < 1 || c.n_envs > batch.MaxEnvs {
		return C.skyrail_handle(fail(fmt.Errorf("number of environments is %d, it must be within 1..%d", c.n_envs, batch.MaxEnvs)))
	}
	source, err := open()
	if err != nil {
		return C.skyrail_handle(fail(err))
	}
	b, err := batch.New(slices.Repeat([]*batch.Source{source}, int(c.n_envs)), o)
	if err != nil {
		return C.skyrail_handle(fail(err))
	}
	return C.skyrail_handle(railways.Add(b))
}

//export skyrail_rail_create_file
func skyrail_rail_create_file(config *C.skyrail_rail_config, bytes *C.uint8_t, length C.int64_t) (handle C.skyrail_handle) {
	defer guard(&handle)
	return newRailway(config, func() (*batch.Source, error) {
		if bytes == nil || length < 0 {
			return nil, errors.New("there is no file")
		}
		return batch.FromFile(slices.Clone(array[byte](bytes, int(length))))
	})
}

//export skyrail_rail_create_generated
func skyrail_rail_create_generated(config *C.skyrail_rail_config, parameters C.skyrail_text) (handle C.skyrail_handle) {
	defer guard(&handle)
	return newRailway(config, func() (*batch.Source, error) {
		if parameters == nil {
			return nil, errors.New("there are no parameters")
		}
		p, err := batch.ParseParameters([]byte(C.GoString(parameters)))
		if err != nil {
			return nil, err
		}
		return batch.Generated(p)
	})
}

//export skyrail_rail_create_suite
func skyrail_rail_create_suite(config *C.skyrail_rail_config, dir C.skyrail_text, level, scenario C.int64_t) (handle C.skyrail_handle) {
	defer guard(&handle)
	return newRailway(config, func() (*batch.Source, error) {
		if dir == nil {
			return nil, errors.New("there is no folder")
		}
		return batch.FromSuite(C.GoString(dir), int(level), int(scenario))
	})
}

//export skyrail_rail_join
func skyrail_rail_join(config *C.skyrail_rail_config, from *C.skyrail_handle, count C.int64_t) (handle C.skyrail_handle) {
	defer guard(&handle)
	o, err := railOptions(config)
	if err == nil && (from == nil || count < 1 || count > batch.MaxEnvs) {
		err = fmt.Errorf("number of handles is %d, it must be within 1..%d", count, batch.MaxEnvs)
	}
	if err != nil {
		return C.skyrail_handle(fail(err))
	}
	handles := array[C.skyrail_handle](from, int(count))
	sizes, total := map[C.skyrail_handle]int64{}, int64(0)
	for _, h := range handles {
		if _, known := sizes[h]; !known {
			if err := onRailway(h, func(b *batch.Batch) error {
				sizes[h] = b.Size()
				return nil
			}); err != nil {
				return C.skyrail_handle(fail(err))
			}
		}
		total += 2 * sizes[h] // they are copied, and joined
	}
	if err := memory.Fits(total); err != nil {
		return C.skyrail_handle(fail(err))
	}
	// Copies, one after the other: places locked at once could wait for each other.
	var parts []*batch.Batch
	defer func() {
		for _, b := range parts {
			b.Close()
		}
	}()
	for _, h := range handles {
		if err := onRailway(h, func(b *batch.Batch) error {
			parts = append(parts, b.Clone())
			return nil
		}); err != nil {
			return C.skyrail_handle(fail(err))
		}
	}
	b, err := batch.Join(parts, o)
	if err != nil {
		return C.skyrail_handle(fail(err))
	}
	return C.skyrail_handle(railways.Add(b))
}

//export skyrail_rail_destroy
func skyrail_rail_destroy(h C.skyrail_handle) (result C.int32_t) {
	defer guard(&result)
	b, ok := railways.Remove(int64(h))
	if !ok {
		return fail(errHandle)
	}
	b.Close()
	return C.SKYRAIL_OK
}

//export skyrail_rail_clone
func skyrail_rail_clone(h C.skyrail_handle) (handle C.skyrail_handle) {
	defer guard(&handle)
	var c *batch.Batch
	if err := onRailway(h, func(b *batch.Batch) error {
		if b.Len() > 1 { // a single one is small, and copied often in a search
			if err := memory.Fits(b.Size()); err != nil {
				return err
			}
		}
		c = b.Clone()
		return nil
	}); err != nil {
		return C.skyrail_handle(fail(err))
	}
	return C.skyrail_handle(railways.Add(c))
}

//export skyrail_rail_facts_of
func skyrail_rail_facts_of(h C.skyrail_handle, i C.int64_t, facts *C.skyrail_rail_facts) (result C.int32_t) {
	defer guard(&result)
	return code(onRailway(h, func(b *batch.Batch) error {
		if err := b.Check(int(i)); err != nil {
			return err
		}
		if facts == nil {
			return errors.New("there is no room for the facts")
		}
		e := b.Env(int(i))
		*facts = C.skyrail_rail_facts{
			n_envs: C.int64_t(b.Len()), trains: C.int64_t(b.Trains()), reward_width: C.int64_t(b.Options().Rewards.Width()),
			own_trains: C.int64_t(e.Trains()), rows: C.int64_t(e.Network().Height()), columns: C.int64_t(e.Network().Width()),
			max_episode_steps: C.int64_t(e.MaxEpisodeSteps()), elapsed: C.int64_t(e.Elapsed()),
		}
		if e.AllDone() {
			facts.all_done = 1
		}
		return nil
	}))
}

//export skyrail_rail_transitions
func skyrail_rail_transitions(h C.skyrail_handle, i C.int64_t, cells *C.uint16_t) (result C.int32_t) {
	defer guard(&result)
	return code(onRailway(h, func(b *batch.Batch) error {
		if err := b.Check(int(i)); err != nil {
			return err
		}
		grid := b.Env(int(i)).Scenario().Grid
		copy(array[rail.Transitions](cells, len(grid)), grid)
		return nil
	}))
}

//export skyrail_rail_timetable
func skyrail_rail_timetable(h C.skyrail_handle, i C.int64_t, rows *C.int64_t, maxSpeeds *C.double) (result C.int32_t) {
	defer guard(&result)
	return code(onRailway(h, func(b *batch.Batch) error {
		if err := b.Check(int(i)); err != nil {
			return err
		}
		e := b.Env(int(i))
		trains := e.Scenario().Trains
		w, speeds := array[int64](rows, C.SKYRAIL_RAIL_TIMETABLE*len(trains)), array[float64](maxSpeeds, len(trains))
		for k := range trains {
			t := &trains[k]
			if w != nil {
				copy(w[C.SKYRAIL_RAIL_TIMETABLE*k:], []int64{
					int64(t.Initial.Row), int64(t.Initial.Col), int64(t.Initial.Heading), int64(t.Target.Row), int64(t.Target.Col),
					int64(t.EarliestDeparture), int64(t.LatestArrival),
				})
			}
			if speeds != nil {
				speeds[k] = e.MaxSpeed(k).Float64()
			}
		}
		return nil
	}))
}

//export skyrail_rail_stops
func skyrail_rail_stops(h C.skyrail_handle, i C.int64_t, rows *C.int64_t, room C.int64_t) (result C.int64_t) {
	defer guard(&result)
	count := 0
	err := onRailway(h, func(b *batch.Batch) error {
		if err := b.Check(int(i)); err != nil {
			return err
		}
		w := array[[C.SKYRAIL_RAIL_STOP]int64](rows, max(int(room), 0))
		trains := b.Env(int(i)).Scenario().Trains
		for train := range trains {
			for number, stop := range trains[train].Intermediate() {
				for _, at := range stop.Alternatives {
					if count < len(w) {
						w[count] = [C.SKYRAIL_RAIL_STOP]int64{
							int64(train), int64(number), int64(at.Row), int64(at.Col), int64(at.Heading),
							step(stop.EarliestDeparture), step(stop.LatestArrival),
						}
					}
					count++
				}
			}
		}
		return nil
	})
	if err != nil {
		return C.int64_t(fail(err))
	}
	return C.int64_t(count)
}

// step is the step of a time, or -1.
func step(t rail.Time) int64 {
	if !t.Given {
		return -1
	}
	return int64(t.Step)
}

//export skyrail_rail_bind
func skyrail_rail_bind(h C.skyrail_handle, w *C.skyrail_rail_buffers) (result C.int32_t) {
	defer guard(&result)
	return code(onRailway(h, func(b *batch.Batch) error {
		if w == nil {
			return b.Bind(batch.Buffers{})
		}
		if w.tree_depth < 0 || w.tree_depth > rail.MaxTreeDepth {
			return fmt.Errorf("trees of depth %d: want 0 to %d", w.tree_depth, rail.MaxTreeDepth)
		}
		e := b.Len()
		n := e * b.Trains()
		return b.Bind(batch.Buffers{
			Rewards:    array[float64](w.rewards, n*b.Options().Rewards.Width()),
			Terminated: array[bool](w.terminated, n),
			Truncated:  array[bool](w.truncated, n),
			AllDone:    array[bool](w.all_done, e),
			Now:        railArrays(b, &w.now, int(w.tree_depth)),
			Final:      railArrays(b, &w.final, int(w.tree_depth)),
			TreeDepth:  int(w.tree_depth),
			Radius:     float64(w.radius),
		})
	}))
}

func railArrays(b *batch.Batch, w *C.skyrail_rail_arrays, depth int) batch.Arrays {
	e := b.Len()
	n := e * b.Trains()
	net := b.Env(0).Network()
	tree := n * rail.TreeFeatures * rail.TreeNodes(depth)
	return batch.Arrays{
		State:          array[int8](w.state, n),
		Position:       array[int32](w.position, n*3),
		Malfunction:    array[int32](w.malfunction, n),
		Speed:          array[float64](w.speed, n),
		Travelled:      array[float64](w.travelled, n),
		Distance:       array[int32](w.distance, n),
		ActionRequired: array[bool](w.action_required, n),
		Deadlocked:     array[bool](w.deadlocked, n),
		Masks:          array[bool](w.masks, n*rail.Actions),
		Elapsed:        array[int32](w.elapsed, e),
		Tree:           array[float64](w.tree, tree),
		FlatTree:       array[float64](w.flat_tree, tree),
		Global:         array[float64](w.global, n*net.Width()*net.Height()*batch.GlobalCell),
	}
}

//export skyrail_rail_reset
func skyrail_rail_reset(h C.skyrail_handle, seeds *C.uint64_t, seeded, chosen *C.uint8_t) (result C.int32_t) {
	defer guard(&result)
	return code(onRailway(h, func(b *batch.Batch) error {
		return b.Reset(array[uint64](seeds, b.Len()), array[bool](seeded, b.Len()), array[bool](chosen, b.Len()))
	}))
}

//export skyrail_rail_step
func skyrail_rail_step(h C.skyrail_handle, actions *C.int8_t) (result C.int32_t) {
	defer guard(&result)
	return code(onRailway(h, func(b *batch.Batch) error { return b.Step(array[int8](actions, b.Len()*b.Trains())) }))
}

//export skyrail_rail_step_words
func skyrail_rail_step_words(h C.skyrail_handle, actions *C.int64_t) (result C.int32_t) {
	defer guard(&result)
	return code(onRailway(h, func(b *batch.Batch) error { return b.StepWords(array[int64](actions, b.Len()*b.Trains())) }))
}

//export skyrail_rail_step_live
func skyrail_rail_step_live(h C.skyrail_handle, actions *C.uint8_t, count C.int32_t) (result C.int32_t) {
	defer guard(&result)
	p := railways.Acquire(int64(h))
	if p == nil {
		return fail(errHandle)
	}
	defer p.Unlock()
	var given []byte
	if actions != nil && count > 0 {
		given = unsafe.Slice((*byte)(unsafe.Pointer(actions)), int(count))
	}
	outcome, err := p.Object.StepLive(0, given)
	if err != nil {
		return fail(err)
	}
	return C.int32_t(outcome)
}

//export skyrail_rail_observe
func skyrail_rail_observe(h C.skyrail_handle) (result C.int32_t) {
	defer guard(&result)
	return code(onRailway(h, func(b *batch.Batch) error { return b.Report() }))
}

//export skyrail_rail_look
func skyrail_rail_look(h C.skyrail_handle, w *C.skyrail_rail_arrays) (result C.int32_t) {
	defer guard(&result)
	return code(onRailway(h, func(b *batch.Batch) error {
		if w == nil {
			return nil
		}
		return b.Look(railArrays(b, w, b.TreeDepth()))
	}))
}

//export skyrail_rail_save
func skyrail_rail_save(h C.skyrail_handle, i C.int64_t, bytes *C.uint8_t, capacity C.int64_t) (result C.int64_t) {
	defer guard(&result)
	var size int
	err := onRailway(h, func(b *batch.Batch) error {
		data, err := b.Save(nil, int(i))
		if err != nil {
			return err
		}
		if size = len(data); bytes == nil {
			return nil
		}
		if int(capacity) < size {
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

//export skyrail_rail_load
func skyrail_rail_load(h C.skyrail_handle, i C.int64_t, bytes *C.uint8_t, length C.int64_t) (result C.int32_t) {
	defer guard(&result)
	return code(onRailway(h, func(b *batch.Batch) error {
		if length < 0 {
			return fmt.Errorf("the length is %d", length)
		}
		return b.Load(array[byte](bytes, int(length)), int(i))
	}))
}

//export skyrail_rail_copy
func skyrail_rail_copy(h C.skyrail_handle, i C.int64_t, from C.skyrail_handle, j C.int64_t) (result C.int32_t) {
	defer guard(&result)
	if h == from {
		return code(onRailway(h, func(b *batch.Batch) error { return put(b, i, b, j) }))
	}
	// Always the lower handle first, or two copies at once could wait for each other.
	first, second := railways.Acquire(int64(min(h, from))), railways.Acquire(int64(max(h, from)))
	for _, p := range []*handles.Held[*batch.Batch]{first, second} {
		if p != nil {
			defer p.Unlock()
		}
	}
	if first == nil || second == nil {
		return fail(errHandle)
	}
	if h < from {
		return code(put(first.Object, i, second.Object, j))
	}
	return code(put(second.Object, i, first.Object, j))
}

func put(b *batch.Batch, i C.int64_t, from *batch.Batch, j C.int64_t) error {
	if err := from.Check(int(j)); err != nil {
		return err
	}
	return b.Put(int(i), from.Env(int(j)))
}

//export skyrail_rail_policy_create
func skyrail_rail_policy_create(name C.skyrail_text, seed C.uint32_t) (handle C.skyrail_handle) {
	defer guard(&handle)
	if name == nil {
		return C.skyrail_handle(fail(errors.New("there is no name")))
	}
	c, err := batch.NewCrew(C.GoString(name), uint32(seed))
	if err != nil {
		return C.skyrail_handle(fail(err))
	}
	return C.skyrail_handle(policies.Add(c))
}

//export skyrail_rail_policy_destroy
func skyrail_rail_policy_destroy(policy C.skyrail_handle) (result C.int32_t) {
	defer guard(&result)
	if _, ok := policies.Remove(int64(policy)); !ok {
		return fail(errHandle)
	}
	return C.SKYRAIL_OK
}

//export skyrail_rail_policy_act
func skyrail_rail_policy_act(policy, h C.skyrail_handle, actions *C.int8_t) (result C.int32_t) {
	defer guard(&result)
	p := policies.Acquire(int64(policy))
	if p == nil {
		return fail(errHandle)
	}
	defer p.Unlock()
	return code(onRailway(h, func(b *batch.Batch) error {
		if actions == nil {
			return errors.New("there is no room for actions")
		}
		return p.Object.Act(b, array[int8](actions, b.Len()*b.Trains()))
	}))
}
