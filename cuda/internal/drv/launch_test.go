//go:build cuda && linux && cgo

package drv_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"halfnote/cuda/internal/drv"
)

// TestLaunch checks that a kernel receives its parameters and the shape of the launch.
func TestLaunch(t *testing.T) {
	d, s, m := open(t)
	f := function(t, m, "k848848")
	out := alloc(t, d, 8*8)
	args := new(drv.Args)
	for range 2 {
		args.Reset()
		args.Ptr(out)
		args.I32(-1)
		args.I64(1 << 40)
		args.F64(1.5)
		args.F32(2.5)
		drv.Struct(args, &struct{ x, y uint32 }{3, 4})
		must(t, s.Launch(f, [3]uint32{2, 3, 1}, [3]uint32{4, 2, 1}, 16, args))
	}
	want := []uint64{1<<32 - 1 + 1<<40 + math.Float64bits(1.5) + uint64(math.Float32bits(2.5)) + 3 + 4<<32, 2, 3, 1, 4, 2, 1}
	for i, got := range read(t, s, out, 7) {
		if got != want[i] {
			t.Errorf("word %d: got %#x, want %#x", i, got, want[i])
		}
	}
}

// TestGoroutines launches from several goroutines, whose threads must all have the context.
func TestGoroutines(t *testing.T) {
	d, _, m := open(t)
	f := function(t, m, "k848848")
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			s, err := d.NewStream()
			if err != nil {
				t.Error(err)
				return
			}
			out, err := d.Alloc(8 * 8)
			if err != nil {
				t.Error(err)
				return
			}
			args := new(drv.Args)
			for i := range 20 {
				args.Reset()
				args.Ptr(out)
				args.I32(int32(g))
				args.I64(int64(i))
				args.Bytes([]byte{4, 0, 0, 0, 0, 0, 0, 0})
				args.I32(0)
				args.I64(0)
				if err := s.Launch(f, one, one, 0, args); err != nil {
					t.Error(err)
				}
				if got := read(t, s, out, 1)[0]; got != uint64(g+i+4) {
					t.Errorf("goroutine %d, launch %d: got %d, want %d", g, i, got, g+i+4)
				}
			}
		})
	}
	all.Wait()
}

func TestModuleErrors(t *testing.T) {
	d, _, m := open(t)
	_, err := d.Load("this is not PTX")
	var e *drv.Error
	if !errors.As(err, &e) || e.Log == "" || !strings.Contains(err.Error(), e.Log) {
		t.Errorf("text that is not PTX: got error %v, want one with the compiler's log", err)
	}
	if _, err := m.Function("nothing"); !errors.Is(err, drv.NotFound) || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("missing kernel: got error %v, want not found and its name", err)
	}
	must(t, d.Err())
}

// TestDynamicShared checks the limit of dynamic shared memory, and the attributes of a kernel.
func TestDynamicShared(t *testing.T) {
	d, s, m := open(t)
	f := function(t, m, "large")
	args := new(drv.Args)
	out := alloc(t, d, 8)
	must(t, s.Set32(out, 0, 2))
	args.Ptr(out)
	args.I32(60 << 8)
	if err := s.Launch(f, one, one, 60<<10, args); !errors.Is(err, drv.InvalidValue) || !strings.Contains(err.Error(), "large") {
		t.Errorf("60 KiB of shared memory without MaxDynamicShared: got error %v, want invalid value and the kernel's name", err)
	}
	must(t, f.MaxDynamicShared(60<<10))
	must(t, s.Launch(f, one, one, 60<<10, args))
	if got := read(t, s, out, 1)[0]; got != 60<<8 {
		t.Errorf("last word of shared memory: got %d, want %d", got, 60<<8)
	}
	if err := f.MaxDynamicShared(1 << 20); !errors.Is(err, drv.InvalidValue) {
		t.Errorf("1 MiB of shared memory: got error %v, want invalid value", err)
	}
	if v, err := f.Attribute(drv.FunctionRegisters); v <= 0 || err != nil {
		t.Errorf("got %d registers and error %v, want 1 or more", v, err)
	}
	if n, err := f.Occupancy(256, 0); n < 1 || err != nil {
		t.Errorf("got %d blocks per multiprocessor and error %v, want 1 or more", n, err)
	}
	must(t, d.Err())
}

func TestEvents(t *testing.T) {
	d, s, m := open(t)
	start, err := d.NewTimer()
	must(t, err)
	end, err := d.NewTimer()
	must(t, err)
	if done, err := end.Query(); !done || err != nil {
		t.Errorf("event that was never recorded: got done %v and error %v, want done", done, err)
	}
	p := alloc(t, d, 8)
	args := new(drv.Args)
	args.Ptr(p)
	must(t, s.Set32(p, 0, 2))
	must(t, s.Record(start))
	must(t, s.Launch(function(t, m, "increment"), one, one, 0, args))
	must(t, s.Record(end))
	for _, query := range []func() (bool, error){end.Query, s.Query} {
		for done := false; !done; {
			done, err = query()
			must(t, err)
		}
	}
	must(t, end.Synchronize())
	if took, err := start.Elapsed(end); took < 0 || err != nil {
		t.Errorf("Elapsed: got %v and error %v, want 0 or more", took, err)
	}
	if got := read(t, s, p, 1)[0]; got != 1 {
		t.Errorf("got %d, want 1", got)
	}
	must(t, start.Free())
	must(t, s.Free())
}

func TestGraph(t *testing.T) {
	d, s, m := open(t)
	p := alloc(t, d, 8)
	must(t, s.Set32(p, 0, 2))
	f := function(t, m, "increment")
	args := new(drv.Args)
	args.Ptr(p)
	must(t, s.BeginCapture())
	must(t, s.Launch(f, one, one, 0, args))
	must(t, s.Launch(f, one, one, 0, args))
	g, err := s.EndCapture()
	must(t, err)
	args.Reset() // the graph has a copy
	for range 3 {
		must(t, s.LaunchGraph(g))
	}
	if got := read(t, s, p, 1)[0]; got != 6 {
		t.Errorf("3 launches of 2 increments: got %d, want 6", got)
	}
	must(t, g.Free())

	must(t, s.BeginCapture())
	if err := s.Synchronize(); err == nil {
		t.Error("Synchronize during capture: got no error")
	}
	if _, err := s.EndCapture(); !errors.Is(err, drv.CaptureInvalidated) {
		t.Errorf("EndCapture after Synchronize: got error %v, want that the capture is invalid", err)
	}
	must(t, d.Err())
	must(t, s.Synchronize())
}

// TestLaunchDoesNotAllocate checks that a launch allocates no Go memory.
func TestLaunchDoesNotAllocate(t *testing.T) {
	d, s, m := open(t)
	f := function(t, m, "increment")
	p := alloc(t, d, 8)
	args := new(drv.Args)
	if n := testing.AllocsPerRun(50, func() {
		args.Reset()
		args.Ptr(p)
		must(t, s.Launch(f, one, one, 0, args))
	}); n != 0 {
		t.Errorf("got %v allocations per launch, want 0", n)
	}
}
