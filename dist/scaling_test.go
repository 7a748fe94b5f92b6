package dist

import (
	"errors"
	"math"
	"testing"
	"time"
)

// TestAllReduceTime compares with the formulas, at numbers that are easy to compute by hand.
func TestAllReduceTime(t *testing.T) {
	l := Link{Latency: time.Millisecond, Bandwidth: 1e6}
	for _, c := range []struct {
		a            Algorithm
		ranks, bytes int
		want         time.Duration
	}{
		{Ring, 1, 1e6, 0}, {Direct, 1, 1e6, 0}, {Tree, 1, 1e6, 0},
		{Ring, 2, 1e6, 1002 * time.Millisecond}, {Direct, 2, 1e6, 1002 * time.Millisecond}, {Tree, 2, 1e6, 2002 * time.Millisecond},
		{Ring, 4, 1e6, 1506 * time.Millisecond}, {Direct, 4, 1e6, 1502 * time.Millisecond}, {Tree, 5, 1e6, 6006 * time.Millisecond},
		{Ring, 1024, 0, 2046 * time.Millisecond}, {Tree, 1024, 0, 20 * time.Millisecond},
	} {
		if got := l.AllReduceTime(c.a, c.ranks, c.bytes); got != c.want {
			t.Errorf("%s of %d bytes on %d ranks: got %v, want %v", c.a, c.bytes, c.ranks, got, c.want)
		}
	}
	fitted := LinkOf(4, l.AllReduceTime(Direct, 4, 100), 100, l.AllReduceTime(Direct, 4, 1e6), 1e6)
	if math.Abs(fitted.Bandwidth/1e6-1) > 1e-6 || (fitted.Latency-l.Latency).Abs() > time.Microsecond {
		t.Errorf("got %v from two of its times, want %v", fitted, l)
	}
	for name, f := range map[string]func(){
		"no bandwidth": func() { Link{}.AllReduceTime(Ring, 2, 1) },
		"no rank":      func() { l.AllReduceTime(Ring, 0, 1) },
		"no algorithm": func() { l.AllReduceTime("star", 2, 1) },
		"one rank":     func() { LinkOf(1, 1, 1, 2, 2) },
		"not slower":   func() { LinkOf(2, 2, 1, 2, 2) },
	} {
		func() {
			defer func() {
				var e *Error
				if err, ok := recover().(error); !ok || !errors.As(err, &e) || e.Code != "argument" {
					t.Errorf("%s: got %v, want an *Error", name, err)
				}
			}()
			f()
		}()
	}
}

// TestStepTime hides what backward covers.
func TestStepTime(t *testing.T) {
	s := Step{Forward: time.Second, Backward: 2 * time.Second, Update: time.Second, Buckets: []int{1e6, 1e6}, Algorithm: Ring}
	for _, c := range []struct {
		bandwidth     float64
		ranks         int
		step, exposed time.Duration
	}{
		{1e6, 1, 4 * time.Second, 0},
		{1e6, 2, 5 * time.Second, time.Second},                                 // the first second is hidden
		{0.5e6, 2, 7 * time.Second, 3 * time.Second},                           // the second bucket waits for the first
		{1e9, 2, 4*time.Second + time.Millisecond, time.Millisecond},           // only the last bucket
		{2e6, 4, 4*time.Second + 750*time.Millisecond, 750 * time.Millisecond}, // 2·3/4 of 1 MB at 2 MB/s
	} {
		if step, exposed := s.Time(Link{Bandwidth: c.bandwidth}, c.ranks); step != c.step || exposed != c.exposed {
			t.Errorf("%g B/s, %d ranks: got %v, %v exposed, want %v, %v", c.bandwidth, c.ranks, step, exposed, c.step, c.exposed)
		}
	}
	for _, m := range Machines() {
		if m.Source == "" || m.Link(m.PerNode) != m.Inside || m.Link(m.PerNode+1) != m.Between || m.Between.Bandwidth > m.Inside.Bandwidth {
			t.Errorf("%+v", m)
		}
	}
}
