// Package handles gives out numbers for objects, for callers who cannot hold a Go pointer.
//
// A number that was taken back stands for nothing ever after, so a caller who keeps one too long gets a refusal and not
// somebody else's object. Each object has a lock, so that one call at a time works on it.
package handles

import (
	"sync"
	"sync/atomic"
)

// Table holds objects of one kind by number. The zero value is an empty one. All methods may be called at any time.
type Table[T any] struct {
	change sync.Mutex // of table
	free   []int
	table  atomic.Pointer[[]*Held[T]] // by the low half of a handle; replaced when it grows
	count  atomic.Int64
}

// Held is the place of an object.
type Held[T any] struct {
	sync.Mutex
	Object     T
	generation int64 // high half of the handle, odd while there is an object
}

const halfBits = 31

// Add gives out a handle for an object: a positive number that was never given out before.
func (h *Table[T]) Add(object T) int64 {
	h.change.Lock()
	defer h.change.Unlock()
	var places []*Held[T]
	if p := h.table.Load(); p != nil {
		places = *p
	}
	if len(h.free) == 0 {
		places = append(places[:len(places):len(places)], &Held[T]{})
		h.table.Store(&places)
		h.free = append(h.free, len(places)-1)
	}
	i := h.free[len(h.free)-1]
	h.free = h.free[:len(h.free)-1]
	p := places[i]
	p.Lock()
	defer p.Unlock()
	p.generation++
	p.Object = object
	h.count.Add(1)
	return p.generation<<halfBits | int64(i)
}

// Acquire finds an object and locks its place, which the caller unlocks; nil if there is no such handle.
func (h *Table[T]) Acquire(handle int64) *Held[T] {
	table := h.table.Load()
	i, generation := handle&(1<<halfBits-1), handle>>halfBits
	if table == nil || i >= int64(len(*table)) || generation&1 == 0 {
		return nil
	}
	p := (*table)[i]
	p.Lock()
	if p.generation != generation {
		p.Unlock()
		return nil
	}
	return p
}

// Len is how many handles are given out.
func (h *Table[T]) Len() int { return int(h.count.Load()) }

// Remove takes a handle back and returns its object, as soon as nobody works on it.
func (h *Table[T]) Remove(handle int64) (object T, ok bool) {
	p := h.Acquire(handle)
	if p == nil {
		return object, false
	}
	object = p.Object
	var none T
	p.Object = none
	p.generation++
	p.Unlock()
	h.change.Lock()
	h.free = append(h.free, int(handle&(1<<halfBits-1)))
	h.change.Unlock()
	h.count.Add(-1)
	return object, true
}
