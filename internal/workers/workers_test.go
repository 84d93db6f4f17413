package workers

import (
	"errors"
	"testing"

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
