package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// patience is how long a run goes on before a bar appears.
const patience = 500 * time.Millisecond

// progress counts the episodes of a run, with a bar on standard error if that is a terminal and the run takes
// long.
type progress struct {
	bars  *mpb.Progress
	bar   *mpb.Bar
	start time.Time
	what  string // that is counted
	total int
	mu    sync.Mutex
	done  int
}

// startProgress begins to count towards total.
func (a *app) startProgress(ctx context.Context, total int) *progress {
	p := &progress{start: time.Now(), what: "episode", total: total}
	if !isTerminal(a.err) {
		return p
	}
	p.bars = mpb.NewWithContext(ctx, mpb.WithOutput(a.err), mpb.WithWidth(48), mpb.WithRefreshRate(150*time.Millisecond), mpb.WithAutoRefresh())
	return p
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// one counts an episode. It is safe for concurrent use.
func (p *progress) one() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.bars == nil {
		return
	}
	if p.bar == nil {
		if time.Since(p.start) < patience || p.done == p.total {
			return
		}
		// Add fails, and AddBar would panic, once an interrupt has ended the display: then there is no bar.
		bar, err := p.bars.Add(int64(p.total), mpb.BarStyle().Build(), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.CountersNoUnit("%d of %d "+p.what+"s ")),
			mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)))
		if err != nil {
			p.bars = nil
			return
		}
		p.bar = bar
	}
	p.bar.SetCurrent(int64(p.done))
}

// stop takes the bar away and, if the run came to its end, says what it took.
func (a *app) stopProgress(p *progress, verb string, err error) {
	if p.bars != nil {
		if p.bar != nil && !p.bar.Completed() {
			p.bar.Abort(true)
		}
		p.bars.Wait()
	}
	if err == nil {
		fmt.Fprintf(a.err, "%s %s in %.4f s\n", verb, count(p.done, p.what), time.Since(p.start).Seconds())
	}
}
