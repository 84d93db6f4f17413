package handles

import (
	"sync"
	"testing"
)

func TestAHandleStandsForOneObjectOnly(t *testing.T) {
	var table Table[string]
	seen := map[int64]bool{}
	for range 3 {
		var all []int64
		for _, object := range []string{"a", "b", "c"} {
			h := table.Add(object)
			if h <= 0 || seen[h] {
				t.Fatalf("handle %d was given out before", h)
			}
			seen[h] = true
			all = append(all, h)
		}
		if table.Len() != 3 {
			t.Errorf("%d handles are out, want 3", table.Len())
		}
		for i, h := range all {
			p := table.Acquire(h)
			if want := string(rune('a' + i)); p == nil || p.Object != want {
				t.Fatalf("handle %d does not stand for %q", h, want)
			}
			p.Unlock()
			if object, ok := table.Remove(h); !ok || object != string(rune('a'+i)) {
				t.Errorf("removing %d gave %q, %v", h, object, ok)
			}
			if _, ok := table.Remove(h); ok {
				t.Errorf("handle %d was taken back twice", h)
			}
		}
	}
	for _, h := range []int64{0, -1, 1, 7, 1 << 31, 1<<31 + 9, -1 << 63, 1<<63 - 1} {
		if table.Acquire(h) != nil {
			t.Errorf("handle %d stands for something", h)
		}
	}
	for h := range seen {
		if table.Acquire(h) != nil {
			t.Errorf("handle %d stands for something after it was taken back", h)
		}
	}
	if table.Len() != 0 {
		t.Errorf("%d handles are out, want none", table.Len())
	}
}

func TestUseAtTheSameTime(t *testing.T) {
	var table Table[*int]
	shared := table.Add(new(int))
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 500 {
				own := table.Add(new(int))
				for _, h := range []int64{own, shared} {
					p := table.Acquire(h)
					*p.Object++
					p.Unlock()
				}
				if n, _ := table.Remove(own); *n != 1 {
					t.Errorf("an object was used %d times, want once", *n)
				}
			}
		})
	}
	wait.Wait()
	if n, _ := table.Remove(shared); *n != 2000 {
		t.Errorf("the shared object was used %d times, want 2000", *n)
	}
}
