// Package workers runs the parts of a job on a fixed number of goroutines.
//
// A [Pool] is made for work that comes again and again in small portions, such as stepping a thousand environments: its
// goroutines wait in between, and [Pool.Do] does not allocate. Which goroutine does which part is left to chance, so a
// part may only write what is its own; then the result is the same for any number of goroutines.
package workers

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Pool is a fixed number of goroutines. It does one job at a time: Do and Close must not be called at the same time.
type Pool struct {
	wake []chan struct{} // one for each goroutine besides the caller of Do
	done sync.WaitGroup

	// The job.
	parts, portion int
	part           func(i int)
	next           atomic.Int64
	fault          atomic.Pointer[Fault]
}

// Fault is a panic in a part of a job.
type Fault struct {
	Part  int
	Value any
	Stack string
}

func (f *Fault) Error() string { return fmt.Sprintf("part %d: %v", f.Part, f.Value) }

// Threads is how many goroutines run at the same time, the most that make sense in a pool.
func Threads() int { return runtime.GOMAXPROCS(0) }

// New starts a pool of so many goroutines, at least 1: the one that calls [Pool.Do] is one of them. Close it when it is
// no longer needed.
func New(threads int) *Pool {
	p := &Pool{wake: make([]chan struct{}, max(threads, 1)-1)}
	for i := range p.wake {
		wake := make(chan struct{}, 1)
		p.wake[i] = wake
		go func() {
			for range wake {
				p.work()
				p.done.Done()
			}
			p.done.Done()
		}()
	}
	return p
}

// Threads is the number of goroutines, the caller of Do included.
func (p *Pool) Threads() int { return len(p.wake) + 1 }

// Do calls part for 0 to parts-1, each once and in any order, and returns when all are done. A panic in a part ends up
// as a Fault here; which parts were done then is not known.
func (p *Pool) Do(parts int, part func(i int)) error {
	p.parts, p.part = parts, part
	// Small portions even out parts that take long; large ones spare the counter.
	p.portion = max(1, parts/(16*p.Threads()))
	p.next.Store(0)
	p.fault.Store(nil)
	helpers := min(len(p.wake), (parts-1)/p.portion)
	if helpers > 0 {
		p.done.Add(helpers)
		for _, wake := range p.wake[:helpers] {
			wake <- struct{}{}
		}
	}
	p.work()
	p.done.Wait()
	p.part = nil
	if f := p.fault.Load(); f != nil {
		return f
	}
	return nil
}

// work does portions of the job until there are none left.
func (p *Pool) work() {
	at := 0
	defer func() {
		if v := recover(); v != nil {
			p.fault.CompareAndSwap(nil, &Fault{Part: at, Value: v, Stack: string(debug.Stack())})
		}
	}()
	for {
		end := int(p.next.Add(int64(p.portion)))
		at = end - p.portion
		if at >= p.parts || p.fault.Load() != nil {
			return
		}
		for ; at < min(end, p.parts); at++ {
			p.part(at)
		}
	}
}

// Close ends the goroutines and waits for them. A closed pool still does jobs, by the caller alone; closing it again
// does nothing.
func (p *Pool) Close() {
	p.done.Add(len(p.wake))
	for _, wake := range p.wake {
		close(wake)
	}
	p.done.Wait()
	p.wake = nil
}
