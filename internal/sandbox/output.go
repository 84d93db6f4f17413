package sandbox

import (
	"os"
	"sync"
	"time"
)

// OutputKept is how many bytes of a program's output are kept: the last ones, where a traceback is.
const OutputKept = 16 << 10

// tail reads a pipe to its end and keeps the last bytes.
type tail struct {
	pipe    *os.File
	limit   int64
	flooded chan struct{} // closed when more than limit bytes have come
	done    chan struct{} // closed at the end of the pipe

	mu    sync.Mutex
	kept  []byte
	total int64
}

func newTail(pipe *os.File, limit int64) *tail {
	t := &tail{pipe: pipe, limit: limit, flooded: make(chan struct{}), done: make(chan struct{})}
	go t.read()
	return t
}

func (t *tail) read() {
	defer close(t.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := t.pipe.Read(buf)
		t.add(buf[:n])
		if err != nil { // the end, or the deadline that wait sets
			return
		}
	}
}

func (t *tail) add(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	within := t.total <= t.limit
	t.total += int64(len(b))
	if within && t.total > t.limit {
		close(t.flooded)
	}
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - OutputKept; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
}

// outputGrace is how long a process that escaped its tree, as it can without a cage, may keep the pipe open.
const outputGrace = time.Second

// wait is called when all writers have ended.
func (t *tail) wait() error {
	// Not every system can set a deadline on a pipe; then the writers have to end.
	_ = t.pipe.SetReadDeadline(time.Now().Add(outputGrace))
	<-t.done
	return t.pipe.Close()
}

func (t *tail) last() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.kept...)
}

func (t *tail) count() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}
