//go:build cuda && linux && cgo

package fake_test

import (
	"errors"
	"math"
	"testing"

	"halfnote/cuda/internal/drv"
)

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
		t.Errorf("three launches of two kernels give %v, want 216", y[0])
	}
	must(t, g.Free())
}

func TestWaitingInvalidatesCapture(t *testing.T) {
	m := open(t)
	p := m.alloc(4)
	must(t, m.s.BeginCapture())
	must(t, m.launch(m.s, p, 1, 1))
	if err := m.s.Synchronize(); !errors.Is(err, drv.CaptureUnsupported) {
		t.Errorf("waiting for a stream that is captured: %v", err)
	}
	if _, err := m.s.EndCapture(); !errors.Is(err, drv.CaptureInvalidated) {
		t.Errorf("end of the capture: %v, want that it is invalid", err)
	}
	must(t, m.launch(m.s, p, 1, 1))
	must(t, m.s.Synchronize())
}

// A capture that another stream joins must be joined again.
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
			t.Errorf("without a join: %v, want unjoined work", err)
		}
		must(t, m.s.Synchronize())
	}
}
