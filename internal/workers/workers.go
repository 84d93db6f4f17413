// Package workers runs the parts of a job on a fixed number of goroutines.
//
// A [Pool] is made for work that comes again and again in small portions, such as stepping a thousand environments.
// Each goroutine has a share of the parts, the same one in every job, so that what it works on stays in its processor's
// cache. It goes through them forwards in one job and backwards in the next: where the cache has no room for all, it
// then begins with what is still there. Who is done early takes from the shares of others. After a job the goroutines
// look out for the next one for some hundred microseconds, and only then sleep. [Pool.Do] does not allocate. Which
// goroutine does which part is left to chance, so a part may only write what is its own; then the result is the same
// for any number of goroutines.
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
	helpers  []*helper // the goroutines besides the caller of Do
	ended    sync.WaitGroup
	patience int // how often a goroutine looks whether it can go on, before it sleeps

	// The job.
	parts, portion int
	part           func(i int)
	shares         []share // one for each goroutine, the caller's first
	fault          atomic.Pointer[Fault]

	_    [cacheLine]byte
	jobs atomic.Int64 // counts the jobs; over when there are no more
	_    [cacheLine]byte
	gate atomic.Int64  // how many helpers are at the job, with marks; see open, shut and waited
	done chan struct{} // the last helper has left, when the caller sleeps
}

// share is a range of parts, of which those before next are taken.
type share struct {
	next       atomic.Int64
	begin, end int
	_          [cacheLine]byte // shares are written by different processors
}

// turn is at, or as far from the other end of the range.
func (s *share) turn(at int, backwards bool) int {
	if backwards {
		return s.begin + s.end - 1 - at
	}
	return at
}

const cacheLine = 64

// helper is a goroutine of the pool.
type helper struct {
	asleep atomic.Bool // it waits for wake; who takes the mark away sends
	wake   chan struct{}
}

// The marks of Pool.gate.
const (
	open   = 0
	shut   = -1 << 60 // nobody enters any more
	waited = 1 << 59  // the last one to leave sends to done
)

// over is the number of jobs when there are no more.
const over = -1

// patience is how often a goroutine looks within some hundred microseconds: as long as Python takes between two steps.
const patience = 1 << 18

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
	threads = max(threads, 1)
	p := &Pool{helpers: make([]*helper, threads-1), shares: make([]share, threads), done: make(chan struct{}, 1)}
	if threads <= Threads() { // else looking out takes the time of those who work
		p.patience = patience
	}
	p.gate.Store(shut)
	for i := range p.helpers {
		h := &helper{wake: make(chan struct{}, 1)}
		p.helpers[i] = h
		p.ended.Go(func() { p.help(h, i+1) })
	}
	return p
}

// Threads is the number of goroutines, the caller of Do included.
func (p *Pool) Threads() int { return len(p.helpers) + 1 }

// Do calls part for 0 to parts-1, each once and in any order, and returns when all are done. A panic in a part ends up
// as a Fault here; which parts were done then is not known.
func (p *Pool) Do(parts int, part func(i int)) error {
	if parts <= 0 {
		return nil
	}
	p.divide(parts)
	p.part = part
	p.fault.Store(nil)
	p.gate.Store(open)
	p.jobs.Add(1)
	for _, h := range p.helpers[:min(len(p.helpers), (parts-1)/p.portion)] {
		h.rouse()
	}
	p.work(0)
	p.finish()
	p.part = nil
	if f := p.fault.Load(); f != nil {
		return f
	}
	return nil
}

// divide makes the shares of a job.
func (p *Pool) divide(parts int) {
	n := len(p.shares)
	p.parts = parts
	// Small portions even out parts that take long; large ones spare the counters.
	p.portion = max(1, parts/(64*n))
	for k := range p.shares {
		s := &p.shares[k]
		s.begin, s.end = k*parts/n, (k+1)*parts/n
		s.next.Store(int64(s.begin))
	}
}

// work does portions of the job until there are none left, first of a goroutine's own share.
func (p *Pool) work(own int) {
	part, backwards := 0, p.jobs.Load()%2 != 0
	defer func() {
		if v := recover(); v != nil {
			p.fault.CompareAndSwap(nil, &Fault{Part: part, Value: v, Stack: string(debug.Stack())})
		}
	}()
	for k := range p.shares {
		s := &p.shares[(own+k)%len(p.shares)]
		for p.fault.Load() == nil {
			end := int(s.next.Add(int64(p.portion)))
			at := end - p.portion
			if at >= s.end {
				break
			}
			for ; at < min(end, s.end); at++ {
				part = s.turn(at, backwards)
				p.part(part)
			}
		}
	}
}

// finish waits until no helper is at the job. Those that come late find the gate shut.
func (p *Pool) finish() {
	p.gate.Add(shut)
	for range p.patience {
		if p.gate.Load() == shut {
			return
		}
	}
	if p.gate.Add(waited) != shut+waited {
		<-p.done
	}
	p.gate.Store(shut)
}

// help is the life of a helper.
func (p *Pool) help(h *helper, own int) {
	for seen := int64(0); ; {
		if seen = p.await(h, seen); seen == over {
			return
		}
		if p.enter() {
			p.work(own)
			if p.gate.Add(-1) == shut+waited {
				p.done <- struct{}{}
			}
		}
	}
}

// await returns when the number of jobs is no longer what it was.
func (p *Pool) await(h *helper, was int64) int64 {
	for range p.patience {
		if now := p.jobs.Load(); now != was {
			return now
		}
	}
	h.asleep.Store(true)
	// A job that came before the mark was set did not rouse anyone.
	if now := p.jobs.Load(); now != was && h.asleep.CompareAndSwap(true, false) {
		return now
	}
	<-h.wake
	return p.jobs.Load()
}

// rouse wakes a helper that sleeps.
func (h *helper) rouse() {
	if h.asleep.Load() && h.asleep.CompareAndSwap(true, false) {
		h.wake <- struct{}{}
	}
}

// enter goes to the job, unless it is over.
func (p *Pool) enter() bool {
	for {
		at := p.gate.Load()
		if at < 0 {
			return false
		}
		if p.gate.CompareAndSwap(at, at+1) {
			return true
		}
	}
}

// Close ends the goroutines and waits for them. A closed pool still does jobs, by the caller alone; closing it again
// does nothing.
func (p *Pool) Close() {
	p.jobs.Store(over)
	for _, h := range p.helpers {
		h.rouse()
	}
	p.ended.Wait()
	p.helpers = nil
}
