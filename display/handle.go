package display

import (
	"crypto/rand"
	"sync"
	"time"
)

// Handle is an output that can be replaced after it was shown, from any cell and any goroutine.
type Handle struct {
	id     string
	sink   Sink
	screen *Screen

	mu    sync.Mutex
	last  time.Time   // when the latest frame was sent
	rest  any         // value whose whole bundle is still to be sent; nil: none
	timer *time.Timer // sends rest
}

// Framed is a value whose whole bundle is expensive to draw, such as an interactive chart. While
// it changes, a [Handle] shows frames of it, and its whole bundle when it rests.
type Framed interface {
	// Frame returns a bundle that a front end can draw several times a second.
	Frame() Bundle
}

// A framed value is drawn at most once per frameGap. It rests if it has not changed for restGap.
const (
	frameGap = 250 * time.Millisecond
	restGap  = time.Second
)

// Live shows v and returns a handle that can replace it later. It is IPython.display.display(v,
// display_id=True).
func Live(v any) *Handle { return standard.Live(v) }

// Live shows v and returns a handle that can replace it later.
func (s *Screen) Live(v any) *Handle {
	h := &Handle{id: rand.Text(), sink: s.sink(), screen: s}
	v = s.themed(v)
	if f, ok := v.(Framed); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.sink.Display(h.named(f.Frame()))
		h.wait(v)
		return h
	}
	h.sink.Display(h.named(s.Of(v)))
	return h
}

// Update replaces the displayed value by v. Front ends and servers drop messages that arrive too
// fast; four a second is a good rate. A chart may be updated at any rate: it is drawn at most four
// times a second, and its latest state always appears.
func (h *Handle) Update(v any) {
	v = h.screen.themed(v)
	h.mu.Lock()
	defer h.mu.Unlock()
	f, ok := v.(Framed)
	if !ok {
		h.stop()
		h.sink.Update(h.named(h.screen.Of(v)))
		return
	}
	if time.Since(h.last) >= frameGap {
		h.sink.Update(h.named(f.Frame()))
		h.last = time.Now()
	}
	h.wait(v)
}

// wait arranges for the whole bundle of v to be sent when it rests, or by Settle. Its caller holds
// h.mu.
func (h *Handle) wait(v any) {
	h.rest = v
	if h.timer == nil {
		h.last = time.Now()
		h.timer = time.AfterFunc(restGap, h.settle)
	} else {
		h.timer.Reset(restGap)
	}
	h.screen.restless.Store(h, true)
}

// stop forgets the value to be sent. Its caller holds h.mu.
func (h *Handle) stop() {
	if h.timer != nil {
		h.timer.Stop()
	}
	h.rest = nil
	h.screen.restless.Delete(h)
}

// settle sends the whole bundle of the latest value.
func (h *Handle) settle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.rest; v != nil {
		h.stop()
		h.sink.Update(h.named(h.screen.Of(v)))
	}
}

// Settle sends the latest state of every live value at once. An interpreter calls it at the end
// of each cell.
func (s *Screen) Settle() {
	s.restless.Range(func(h, _ any) bool {
		h.(*Handle).settle()
		return true
	})
}

func (h *Handle) named(b Bundle) Bundle {
	b.ID = h.id
	return b
}

// String returns the handle's name.
func (h *Handle) String() string { return "display.Handle " + h.id }
