package notebook

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"halfnote/internal/text"
)

// watchEvery is the least time between two versions of a page that shows a run as it goes.
const watchEvery = 2 * time.Second

// watch writes files that show a run while it goes.
type watch struct {
	runner *Runner
	write  func(nb *Notebook, live *live) error

	mu      sync.Mutex
	started time.Time // start of the running cell
	now     Progress
	stop    chan struct{}
	stopped chan struct{}
}

// live is the state of a run on its page.
type live struct {
	cell  *Cell // running cell; nil between cells
	state string
}

// newWatch calls write every two seconds, or less often if it takes long, until end is called.
func newWatch(r *Runner, write func(*Notebook, *live) error) *watch {
	w := &watch{runner: r, write: write, stop: make(chan struct{}), stopped: make(chan struct{})}
	go func() {
		defer close(w.stopped)
		pause := time.Duration(0)
		for {
			select {
			case <-w.stop:
				return
			case <-time.After(pause):
			}
			start := time.Now()
			w.show() // a folder that is full shows at the end of the run
			pause = max(watchEvery, 10*time.Since(start))
		}
	}()
	return w
}

// progress records the running cell.
func (w *watch) progress(p Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now, w.started = p, time.Now()
}

func (w *watch) show() error {
	w.mu.Lock()
	now, started := w.now, w.started
	w.mu.Unlock()
	state := "The kernel is starting."
	if now.Cell != nil {
		state = fmt.Sprintf("Cell %d of %d has been running for %v.", now.Number, now.Total, time.Since(started).Round(time.Second))
		if now.Done {
			state = fmt.Sprintf("Cell %d of %d has ended.", now.Number, now.Total)
		}
	}
	state += " This page was written at " + time.Now().Format(time.TimeOnly) + " and reloads itself."
	l := &live{state: state}
	nb, copies := w.runner.snapshot()
	if now.Cell != nil && !now.Done {
		l.cell = copies[now.Cell]
	}
	return w.write(nb, l)
}

// end stops writing.
func (w *watch) end() {
	close(w.stop)
	<-w.stopped
}

// snapshot returns a copy of the notebook as it is now, and the copies of its cells.
func (r *Runner) snapshot() (*Notebook, map[*Cell]*Cell) {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	raw := map[*Output]string{}
	for _, a := range r.out.areas {
		for out, written := range a.raw {
			raw[out] = text.Overwritten(written.String())
		}
	}
	nb := *r.nb
	nb.Metadata, nb.Cells = maps.Clone(nb.Metadata), nil
	copies := map[*Cell]*Cell{}
	for _, c := range r.nb.Cells {
		cell := *c
		cell.Outputs = nil
		for _, o := range c.Outputs {
			out := *o
			if text, ok := raw[o]; ok {
				out.Text = text
			}
			cell.Outputs = append(cell.Outputs, &out)
		}
		copies[c] = &cell
		nb.Cells = append(nb.Cells, &cell)
	}
	return &nb, copies
}
