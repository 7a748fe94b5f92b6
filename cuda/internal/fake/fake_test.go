//go:build cuda && linux && cgo

package fake_test

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"halfnote/cuda/internal/drv"
	"halfnote/cuda/internal/fake"
)

func TestMain(m *testing.M) {
	os.Exit(fake.Main(m, fake.Options{Devices: 2, Memory: 64 << 20, CublasLt: true}))
}

// child runs the test in a separate process with additional environment variables, because a dead
// device stays dead. It reports whether this is that process.
func child(t *testing.T, env ...string) bool {
	if fake.Real() {
		t.Skip("only the fake driver can do this")
	}
	if os.Getenv("HALFNOTE_FAKE_CHILD") == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(append(os.Environ(), "HALFNOTE_FAKE_CHILD="+t.Name()), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const text = `
.version 7.0
.target sm_70
.address_size 64

.global .align 4 .u32 state = 5;

.visible .entry scale(.param .u64 p, .param .f32 a, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<5>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<5>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	ld.param.u32 %r1, [n];
	setp.ge.u32 %p1, %r4, %r1;
	@%p1 bra done;
	ld.param.u64 %rd1, [p];
	mul.wide.u32 %rd2, %r4, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.f32 %f1, [%rd3];
	ld.param.f32 %f2, [a];
	mul.f32 %f3, %f1, %f2;
	st.global.f32 [%rd3], %f3;
done:
	ret;
}
.extern .shared .align 16 .b8 s[];
.visible .entry wide(.param .u64 p)
{
	ret;
}
`

// machine is the first device with a stream and the module of text.
type machine struct {
	t      testing.TB
	d      *drv.Device
	s      *drv.Stream
	scale  *drv.Function
	module *drv.Module
}

func open(t testing.TB) *machine {
	t.Helper()
	d, err := drv.Open(0)
	must(t, err)
	s, err := d.NewStream()
	must(t, err)
	m, err := d.Load(text)
	must(t, err)
	f, err := m.Function("scale")
	must(t, err)
	return &machine{t, d, s, f, m}
}

func (m *machine) alloc(n int) drv.Ptr {
	m.t.Helper()
	p, err := m.d.Alloc(n)
	must(m.t, err)
	return p
}

// pinned returns page-locked memory of n floats.
func (m *machine) pinned(n int) (*drv.Pinned, []float32) {
	m.t.Helper()
	p, err := m.d.Pinned(4 * n)
	must(m.t, err)
	return p, unsafe.Slice((*float32)(unsafe.Pointer(&p.Bytes()[0])), n)
}

func (m *machine) launch(s *drv.Stream, p drv.Ptr, a float32, n int) error {
	args := new(drv.Args)
	args.Ptr(p)
	args.F32(a)
	args.I32(int32(n))
	return s.Launch(m.scale, [3]uint32{uint32(n+63) / 64, 1, 1}, [3]uint32{64, 1, 1}, 0, args)
}

// TestWorkIsDelayed checks that work runs when it is waited for, not before.
func TestWorkIsDelayed(t *testing.T) {
	m := open(t)
	const n = 100
	p := m.alloc(4 * n)
	in, x := m.pinned(n)
	out, y := m.pinned(n)
	for i := range x {
		x[i] = float32(i)
	}
	must(t, m.s.CopyIn(p, in, 0, 4*n))
	must(t, m.launch(m.s, p, 2, n))
	must(t, m.s.CopyOut(out, 0, p, 4*n))
	if !fake.Real() {
		if y[1] == y[1] {
			t.Errorf("before a wait: got %v, want NaN", y[1])
		}
		x[1] = 10 // the copy has not run yet, so it reads this value
		if done, err := m.s.Query(); done || err != nil {
			t.Errorf("first query: got done %v and error %v, want not done", done, err)
		}
	}
	must(t, m.s.Synchronize())
	for i := range y {
		want := 2 * float32(i)
		if i == 1 && !fake.Real() {
			want = 20
		}
		if y[i] != want {
			t.Fatalf("element %d is %v, want %v", i, y[i], want)
		}
	}
}

// TestEventsOrderStreams checks that only events order the work of two streams.
func TestEventsOrderStreams(t *testing.T) {
	m := open(t)
	other, err := m.d.NewStream()
	must(t, err)
	event, err := m.d.NewEvent()
	must(t, err)
	p := m.alloc(4)
	out, y := m.pinned(1)
	must(t, m.s.Set32(p, math.Float32bits(3), 1))
	must(t, m.s.Synchronize())

	must(t, m.launch(m.s, p, 2, 1))
	if !fake.Real() { // the streams are not ordered
		must(t, other.CopyOut(out, 0, p, 4))
		must(t, other.Synchronize())
		if y[0] != 3 {
			t.Errorf("without an event: got %v, want 3", y[0])
		}
	}
	must(t, m.s.Record(event))
	must(t, other.Wait(event))
	must(t, other.CopyOut(out, 0, p, 4))
	must(t, other.Synchronize())
	if y[0] != 6 {
		t.Errorf("after an event: got %v, want 6", y[0])
	}
}

func TestNewMemoryIsNaN(t *testing.T) {
	if fake.Real() {
		t.Skip("only the fake driver fills new memory")
	}
	m := open(t)
	out, y := m.pinned(2)
	y[0], y[1] = 1, 1
	must(t, m.s.CopyOut(out, 0, m.alloc(8), 8))
	must(t, m.s.Synchronize())
	if y[0] == y[0] || y[1] == y[1] {
		t.Errorf("new memory: got %v, want NaN", y)
	}
}

// TestQueueLength checks that operations run when the queue of a stream is full.
func TestQueueLength(t *testing.T) {
	if fake.Real() {
		t.Skip("needs the fake driver's counters")
	}
	m := open(t)
	p := m.alloc(4)
	before := fake.Runs()
	for range 100 {
		must(t, m.s.Set32(p, 1, 1))
	}
	if n := fake.Runs() - before; n != 100-64 {
		t.Errorf("got %d of 100 operations done, want %d", n, 100-64)
	}
	must(t, m.s.Synchronize())
}

func TestCounters(t *testing.T) {
	if fake.Real() {
		t.Skip("needs the fake driver's counters")
	}
	m := open(t)
	launches, allocs, syncs := fake.Launches(), fake.Allocs(), fake.Syncs()
	p := m.alloc(4)
	must(t, m.launch(m.s, p, 1, 1))
	must(t, m.launch(m.s, p, 1, 1))
	must(t, m.s.Synchronize())
	must(t, m.d.Synchronize())
	if a, b, c := fake.Launches()-launches, fake.Allocs()-allocs, fake.Syncs()-syncs; a != 2 || b != 1 || c != 2 {
		t.Errorf("got %d launches, %d allocations and %d waits, want 2, 1 and 2", a, b, c)
	}
}

func TestOutOfMemory(t *testing.T) {
	m := open(t)
	free := m.d.Free()
	if _, err := m.d.Alloc(int(free + 1)); !errors.Is(err, drv.OutOfMemory) {
		t.Errorf("one byte more than is free: got error %v, want out of memory", err)
	}
	p := m.alloc(1 << 20)
	if got := free - m.d.Free(); got != 1<<20 {
		t.Errorf("got %d bytes taken, want 1 MiB", got)
	}
	must(t, m.d.Release(p))
	if m.d.Free() != free {
		t.Errorf("after a release: got %d free bytes, want %d", m.d.Free(), free)
	}
}

// TestBounds checks that copies, fills and releases of invalid addresses fail.
func TestBounds(t *testing.T) {
	m := open(t)
	p := m.alloc(16)
	in, _ := m.pinned(8)
	for name, err := range map[string]error{
		"copy past the end":   m.s.CopyIn(p, in, 0, 20),
		"copy to address 8":   m.s.CopyIn(8, in, 0, 4),
		"fill past the end":   m.s.Set32(p+8, 0, 3),
		"misaligned fill":     m.s.Set32(p+2, 0, 1),
		"release of a middle": m.d.Release(p + 4),
	} {
		if !errors.Is(err, drv.InvalidValue) {
			t.Errorf("%s: got error %v, want invalid value", name, err)
		}
	}
	must(t, m.d.Err())
}

// TestModuleErrors checks the errors for modules that a driver cannot load.
func TestModuleErrors(t *testing.T) {
	m := open(t)
	for _, test := range []struct{ from, to, want string }{
		{"sm_70", "sm_120", "sm_90"},
		{"mul.f32", "multiply.f32", "line"},
		{".version 7.0", ".version 9.9", "9.9"},
		{".version 7.0", "hello", "hello"},
	} {
		broken, err := m.d.Load(strings.Replace(text, test.from, test.to, 1))
		if err == nil {
			_, err = broken.Function("scale")
		}
		var e *drv.Error
		if !errors.As(err, &e) {
			t.Errorf("%q in place of %q: got error %v, want one of the driver", test.to, test.from, err)
		} else if !fake.Real() && !strings.Contains(e.Log+errorText(fake.LastFault()), test.want) {
			t.Errorf("%q in place of %q: got log %q, want one with %q", test.to, test.from, e.Log, test.want)
		}
	}
	if _, err := m.module.Function("none"); !errors.Is(err, drv.NotFound) {
		t.Errorf("missing kernel: got error %v, want not found", err)
	}
	must(t, m.d.Err())
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestSharedMemoryLimit(t *testing.T) {
	m := open(t)
	f, err := m.module.Function("wide")
	must(t, err)
	args := new(drv.Args)
	args.Ptr(0)
	one := [3]uint32{1, 1, 1}
	if err := m.s.Launch(f, one, one, 100<<10, args); !errors.Is(err, drv.InvalidValue) {
		t.Errorf("100 KiB without MaxDynamicShared: got error %v, want invalid value", err)
	}
	must(t, f.MaxDynamicShared(100<<10))
	must(t, m.s.Launch(f, one, one, 100<<10, args))
	must(t, m.s.Synchronize())
}

// TestTwoDevices checks that each device has its own memory, and copies between them.
func TestTwoDevices(t *testing.T) {
	if n, _ := drv.Count(); n < 2 {
		t.Skip("needs two devices")
	}
	m := open(t)
	d, err := drv.Open(1)
	must(t, err)
	its, err := d.NewStream()
	must(t, err)
	q, err := d.Alloc(4)
	must(t, err)
	must(t, its.Set32(q, math.Float32bits(7), 1))
	must(t, its.Synchronize())
	p := m.alloc(4)
	must(t, m.s.CopyFrom(p, d, q, 4))
	out, y := m.pinned(1)
	must(t, m.s.CopyOut(out, 0, p, 4))
	must(t, m.s.Synchronize())
	if y[0] != 7 {
		t.Errorf("got %v, want 7", y[0])
	}
	if err := m.s.Copy(p, q, 4); !errors.Is(err, drv.InvalidValue) && !fake.Real() {
		t.Errorf("Copy with an address of the other device: got error %v, want invalid value", err)
	}
}

func BenchmarkLaunch(b *testing.B) {
	m := open(b)
	p := m.alloc(4)
	args := new(drv.Args)
	for b.Loop() {
		args.Reset()
		args.Ptr(p)
		args.F32(1)
		args.I32(1)
		if err := m.s.Launch(m.scale, [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, 0, args); err != nil {
			b.Fatal(err)
		}
	}
	must(b, m.s.Synchronize())
}
