//go:build cuda && linux && cgo

package fake_test

import (
	"errors"
	"math"
	"testing"

	"halfnote/cuda/internal/drv"
)

// TestGraphs launches a graph of two kernels repeatedly.
func TestGraphs(t *testing.T) {
	m := open(t)
	p := m.alloc(4)
	out, y := m.pinned(1)
	must(t, m.s.Set32(p, math.Float32bits(1), 1))
	must(t, m.s.BeginCapture())
	must(t, m.launch(m.s, p, 2, 1))
	must(t, m.launch(m.s, p, 3, 1))
	g, err := m.s.EndCapture()
	must(t, err)
	for range 3 {
		must(t, m.s.LaunchGraph(g))
	}
	must(t, m.s.CopyOut(out, 0, p, 4))
	must(t, m.s.Synchronize())
	if y[0] != 216 {
		t.Errorf("3 launches of the graph: got %v, want 216", y[0])
	}
	must(t, g.Free())
}

// TestWaitingInvalidatesCapture checks that calls that wait for recorded work, or query it,
// invalidate the capture. Allocations, copies and fills do not.
func TestWaitingInvalidatesCapture(t *testing.T) {
	m := open(t)
	event, err := m.d.NewEvent()
	must(t, err)
	p := m.alloc(8)
	in, _ := m.pinned(1)
	for _, c := range []struct {
		name string
		do   func() error
		want drv.Code // 0: allowed
	}{
		{"a wait", m.s.Synchronize, drv.CaptureUnsupported},
		{"a query", func() error { _, err := m.s.Query(); return err }, drv.CaptureUnsupported},
		{"a wait for the device", m.d.Synchronize, drv.CaptureUnsupported},
		{"a query of an event", func() error {
			must(t, m.s.Record(event))
			_, err := event.Query()
			return err
		}, 907},
		{"memory", func() error { _, err := m.d.Alloc(8); return err }, 0},
		{"a copy", func() error { return m.s.Copy(p, p+4, 4) }, 0},
		{"a copy from pinned memory", func() error { return m.s.CopyIn(p, in, 0, 4) }, 0},
		{"a fill", func() error { return m.s.Set8(p, 0, 4) }, 0},
	} {
		must(t, m.s.BeginCapture())
		must(t, m.launch(m.s, p, 1, 1))
		err := c.do()
		g, end := m.s.EndCapture()
		if c.want == 0 {
			must(t, err)
			must(t, end)
			must(t, m.s.LaunchGraph(g))
			must(t, g.Free())
		} else {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: got error %v, want code %d", c.name, err, c.want)
			}
			if !errors.Is(end, drv.CaptureInvalidated) {
				t.Errorf("%s: EndCapture: got error %v, want that the capture is invalid", c.name, end)
			}
		}
		must(t, m.launch(m.s, p, 1, 1))
		must(t, m.s.Synchronize())
	}
}

// TestForkedCapture checks that a stream that joins a capture must be joined again before its end.
func TestForkedCapture(t *testing.T) {
	m := open(t)
	other, err := m.d.NewStream()
	must(t, err)
	fork, err := m.d.NewEvent()
	must(t, err)
	join, err := m.d.NewEvent()
	must(t, err)
	p, q := m.alloc(4), m.alloc(4)
	for _, joined := range []bool{true, false} {
		must(t, m.s.BeginCapture())
		must(t, m.launch(m.s, p, 1, 1))
		must(t, m.s.Record(fork))
		must(t, other.Wait(fork))
		must(t, m.launch(other, q, 1, 1))
		if joined {
			must(t, other.Record(join))
			must(t, m.s.Wait(join))
		}
		g, err := m.s.EndCapture()
		if joined {
			must(t, err)
			must(t, m.s.LaunchGraph(g))
			must(t, g.Free())
		} else if e, ok := errors.AsType[*drv.Error](err); !ok || e.Code != 904 {
			t.Errorf("without a join: got error %v, want code 904, unjoined work", err)
		}
		must(t, m.s.Synchronize())
	}
}
