package workers

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDoesEveryPartOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 7} {
		p := New(threads)
		if p.Threads() != threads {
			t.Errorf("a pool of %d has %d", threads, p.Threads())
		}
		for _, parts := range []int{0, 1, 2, 3, 100, 1000, 1024} {
			times := make([]int, parts)
			if err := p.Do(parts, func(i int) { times[i]++ }); err != nil {
				t.Fatal(err)
			}
			for i, n := range times {
				if n != 1 {
					t.Fatalf("%d threads: part %d of %d was done %d times", threads, i, parts, n)
				}
			}
		}
		p.Close()
		p.Close()
		if n := 0; p.Do(3, func(int) { n++ }) != nil || n != 3 {
			t.Errorf("a closed pool did %d of 3 parts", n)
		}
	}
}

func TestDoesNotAllocate(t *testing.T) {
	p := New(2)
	defer p.Close()
	sums := make([]int, 256)
	part := func(i int) { sums[i]++ }
	if n := testing.AllocsPerRun(100, func() { _ = p.Do(len(sums), part) }); n != 0 {
		t.Errorf("Do allocates %v times", n)
	}
}

func TestPanicBecomesAFault(t *testing.T) {
	for _, threads := range []int{1, 3} {
		p := New(threads)
		err := p.Do(100, func(i int) {
			if i == 41 {
				panic("broken")
			}
		})
		var f *Fault
		if !errors.As(err, &f) || f.Part != 41 || f.Value != "broken" || f.Stack == "" || f.Error() != "part 41: broken" {
			t.Errorf("%d threads: got %v", threads, err)
		}
		if err := p.Do(100, func(int) {}); err != nil {
			t.Errorf("%d threads: the next job: %v", threads, err)
		}
		p.Close()
	}
}

// TestHelpersGoToSleep waits for the helpers in a bubble: that ends when all of them are blocked.
func TestHelpersGoToSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(2)
		defer p.Close()
		for range 3 {
			sum := make([]int, 100)
			if err := p.Do(len(sum), func(i int) { sum[i] = i }); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if !p.helpers[0].asleep.Load() {
				t.Fatal("a helper without work is awake")
			}
		}
	})
}

// TestEachKeepsItsShare holds one goroutine up in its share: the other does all the rest, its own share first, from the
// end backwards in the first job and from the beginning in the second one.
func TestEachKeepsItsShare(t *testing.T) {
	p := New(2)
	defer p.Close()
	const parts, half = 1000, 500
	for job := range 2 {
		forwards := job == 1
		// turned is where a part would be if the shares were gone through forwards.
		turned := func(i int) int {
			if forwards {
				return i
			}
			return i/half*half + half - 1 - i%half
		}
		begun, goOn := make(chan struct{}), make(chan struct{})
		var order []int // of the one that is not held up
		err := p.Do(parts, func(i int) {
			switch i = turned(i); {
			case i == half: // the helper begins here
				close(begun)
				<-goOn
			case i < half || i >= half+p.portion: // the caller's share, then the helper's but for the portion begun
				if i == 0 {
					<-begun
				}
				if order = append(order, i); len(order) == parts-p.portion {
					close(goOn)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, i := range order {
			if want == half {
				want += p.portion
			}
			if i != want {
				t.Fatalf("job %d: part %d came where %d was due", job, i, want)
			}
			want++
		}
	}
}

// TestTheCallerWaitsForHelpers lets the caller run out of work long before a helper.
func TestTheCallerWaitsForHelpers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(2)
		defer p.Close()
		begun, slow, done := make(chan struct{}), make(chan struct{}), false
		go func() {
			synctest.Wait() // the caller sleeps in Do, the helper in its part
			close(slow)
		}()
		err := p.Do(2, func(i int) {
			if i == 0 {
				<-begun
				return
			}
			close(begun)
			<-slow
			done = true
		})
		if err != nil || !done {
			t.Errorf("Do returned %v, part 1 done: %v", err, done)
		}
	})
}

// TestManyJobs hands over job after job, with pauses for the helpers to sleep and without.
func TestManyJobs(t *testing.T) {
	for _, threads := range []int{2, 3, 2 * runtime.GOMAXPROCS(0)} {
		p := New(threads)
		times := make([]int, 64)
		for job := range 3000 {
			if job%100 == 0 {
				for _, h := range p.helpers {
					for !h.asleep.Load() {
						runtime.Gosched()
					}
				}
			}
			if err := p.Do(len(times), func(i int) { times[i]++ }); err != nil {
				t.Fatal(err)
			}
			for i, n := range times {
				if n != job+1 {
					t.Fatalf("%d threads: after %d jobs part %d was done %d times", threads, job+1, i, n)
				}
			}
		}
		p.Close()
	}
}
