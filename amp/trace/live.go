package trace

import (
	"sync"
	"time"

	"halfnote/display"
	"halfnote/display/chart"
)

// Live shows the recording's [Recorder.Dashboard] while it runs: in a cell
//
//	rec := trace.Start(trace.Live())
//	… train …
//	rec.Stop()
//
// It is drawn as a picture at most four times a second, in at most 1 % of the time, and becomes an
// interactive chart when the recording stops or the cell ends, also by an error or an interrupt. A
// program outside a notebook prints it as a line of text.
//
// Operations are left out of a step while recording and counting them have taken more than half a
// percent of the time; the loss, the scale, the time and the memory of every step are known.
// [CountAlways] records all operations. Steps are told apart by optimizers and scalers; where a program
// changes its parameters itself, all operations are recorded.
func Live() Option { return shownBy(display.Live) }

// LiveOn is [Live] on a screen.
func LiveOn(s *display.Screen) Option { return shownBy(s.Live) }

func shownBy(show func(any) *display.Handle) Option { return func(s *settings) { s.show = show } }

// Dashboard shows the steps of the recording: the loss, the quantities given to [Recorder.Log], the
// loss scale with the skipped steps, the throughput, the memory of tensors, which is read before
// backward, and the share of elements that casts flushed to zero. The loss is the operand of
// [amp.GradScaler.Scale], or what Backward was called on; a loss on a device is read at most four times
// a second. Quantities that are unknown are left out.
func (r *Recorder) Dashboard() *chart.Figure {
	defer r.read()()
	list := r.history.panels()
	flushed := chart.Panel{Name: "flushed to zero", Unit: "%"}
	for i, t := range r.sums.steps {
		if t.Rounded > 0 {
			flushed.X, flushed.Values = append(flushed.X, float64(i*r.sums.stride)), append(flushed.Values, t.FlushedShare())
		}
	}
	return chart.Panels(append(list, flushed))
}

// Log adds a value to a panel of the dashboard, for example an accuracy. A quantity named "loss" takes
// the place of the loss that the recording finds.
func (r *Recorder) Log(name string, value float64) {
	defer r.read()()
	r.history.log(name, value, r.clock.step)
}

// live shows the dashboard of a recording that runs.
type live struct {
	board board
	next  time.Time // time of the next update; guarded by the recorder's mu

	mu     sync.Mutex
	handle *display.Handle
	shared bool // whether Overhead shows several recordings with the handle
	ended  bool
}

// board is the dashboard of a recording as a value that changes.
type board struct {
	*Recorder
	theme string
}

// Frame implements display.Framed.
func (b board) Frame() display.Bundle { return b.figure().Frame() }

// Bundle is found by display.Of.
func (b board) Bundle() display.Bundle { return b.figure().Interactive().Bundle() }

// InTheme implements display.Themed.
func (b board) InTheme(name string) any { return board{b.Recorder, name} }

func (b board) figure() *chart.Figure {
	f := b.Dashboard()
	if b.theme == "" {
		return f
	}
	return f.InTheme(b.theme).(*chart.Figure)
}

// newLive shows the dashboard of r by show.
func newLive(r *Recorder, show func(any) *display.Handle, shared bool) *live {
	l := &live{board: board{Recorder: r}, shared: shared}
	l.handle = show(l.board)
	return l
}

// event updates the dashboard if that is due. Its caller holds the recorder's mu, which the dashboard
// needs, so it is drawn by another goroutine.
func (l *live) event(now time.Time) {
	if l != nil && now.After(l.next) {
		l.next = now.Add(liveEvery)
		go l.update()
	}
}

// liveEvery is the time between two updates. The handle may draw less often.
const liveEvery = 250 * time.Millisecond

func (l *live) update() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.handle.Update(l.board)
	}
}

// stop shows the final state.
func (l *live) stop() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	if l.handle.Update(l.board); !l.shared {
		l.handle.Settle()
	}
}
