//go:build cuda && linux && cgo

package drv_test

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"halfnote/cuda/internal/drv"
	"halfnote/cuda/internal/fake"
)

//go:embed testdata/kernels.ptx
var ptx string

func TestMain(m *testing.M) { os.Exit(fake.Main(m, fake.Options{Devices: 2, Memory: 64 << 20})) }

// child runs the test in a separate process, because a process binds one driver and a dead device
// stays dead. It reports whether this is that process.
func child(t *testing.T) bool {
	if os.Getenv("HALFNOTE_TEST_CHILD") == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	cmd.Env = append(os.Environ(), "HALFNOTE_TEST_CHILD="+t.Name())
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	return false
}

// open returns the first device with a stream and the module of testdata.
func open(t testing.TB) (*drv.Device, *drv.Stream, *drv.Module) {
	t.Helper()
	d, err := drv.Open(0)
	must(t, err)
	s, err := d.NewStream()
	must(t, err)
	m, err := d.Load(ptx)
	must(t, err)
	return d, s, m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func function(t testing.TB, m *drv.Module, name string) *drv.Function {
	t.Helper()
	f, err := m.Function(name)
	must(t, err)
	return f
}

func alloc(t testing.TB, d *drv.Device, n int) drv.Ptr {
	t.Helper()
	p, err := d.Alloc(n)
	must(t, err)
	return p
}

// read returns n words of the device's memory after the pending work of s.
func read(t testing.TB, s *drv.Stream, p drv.Ptr, n int) []uint64 {
	t.Helper()
	host, err := s.Device().Pinned(8 * n)
	must(t, err)
	must(t, s.CopyOut(host, 0, p, 8*n))
	must(t, s.Synchronize())
	words := make([]uint64, n)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(host.Bytes()[8*i:])
	}
	must(t, host.Free())
	return words
}

var one = [3]uint32{1, 1, 1}

// TestUnusableDriver checks the errors for a driver that does not find a GPU or is too old.
func TestUnusableDriver(t *testing.T) {
	for _, c := range []struct {
		name string
		fake.Options
		want string
	}{
		{"NoDevice", fake.Options{NoDevice: true}, "does not start: no CUDA-capable device is detected (CUDA_ERROR_NO_DEVICE, 100)"},
		{"Old", fake.Options{Version: 10020}, "cuda: the NVIDIA driver supports CUDA 10.2; want 11.0 or newer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if fake.Real() {
				t.Skip("only the fake driver can do this")
			}
			if !child(t) {
				return
			}
			fake.Use(t, c.Options)
			if _, err := drv.Open(0); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestDevice checks the properties of a device, and the errors for ordinals that do not exist.
func TestDevice(t *testing.T) {
	n, err := drv.Count()
	must(t, err)
	d, err := drv.Open(n - 1)
	must(t, err)
	major, minor := d.Capability()
	t.Log(d.Ordinal(), d.Name(), major, minor, d.Multiprocessors(), d.Total(), d.Free())
	if d.Ordinal() != n-1 || d.Name() == "" || major < 5 || d.Multiprocessors() < 1 {
		t.Errorf("got device %d %q with capability %d.%d and %d multiprocessors, want device %d", d.Ordinal(), d.Name(), major, minor, d.Multiprocessors(), n-1)
	}
	if d.Free() <= 0 || d.Free() > d.Total() {
		t.Errorf("got %d free bytes of %d", d.Free(), d.Total())
	}
	if again, err := drv.Open(n - 1); again != d || err != nil {
		t.Errorf("second Open: got %p and error %v, want %p", again, err, d)
	}
	for _, ordinal := range []int{-1, n} {
		if _, err := drv.Open(ordinal); err == nil {
			t.Errorf("Open(%d) with %d devices: got no error", ordinal, n)
		}
	}
	must(t, d.Synchronize())
	must(t, d.Err())
}

// TestMemory checks copies, fills and releases.
func TestMemory(t *testing.T) {
	d, s, _ := open(t)
	const n = 64
	host, err := d.Pinned(n)
	must(t, err)
	for i := range host.Bytes() {
		host.Bytes()[i] = byte(i)
	}
	a, b := alloc(t, d, n), alloc(t, d, n)
	must(t, s.CopyIn(a, host, 0, n))
	must(t, s.Copy(b, a+8, n-8))
	must(t, s.Set8(b+n-8, 0xAB, 4))
	must(t, s.Set32(b+n-4, 0x01020304, 1))
	must(t, s.CopyOut(host, 32, b, 32))
	must(t, s.Synchronize())
	if got := host.Bytes()[32:]; got[0] != 8 || got[31] != 39 {
		t.Errorf("CopyOut: got %v, want 8 … 39", got)
	}
	if got := host.Bytes()[:32]; got[0] != 0 || got[31] != 31 {
		t.Errorf("CopyOut wrote before its offset: got %v, want 0 … 31", got)
	}
	if got := read(t, s, b+n-8, 1)[0]; got != 0x01020304_ABABABAB {
		t.Errorf("Set8 and Set32: got %#x, want 0x01020304abababab", got)
	}
	for _, err := range []error{s.CopyIn(a, host, n, 0), s.CopyOut(host, 0, a, 0), s.Copy(a, b, 0), s.Set8(a, 1, 0), s.Set32(a, 1, 0)} {
		if err != nil {
			t.Errorf("0 bytes: got error %v", err)
		}
	}
	must(t, host.Free())
	must(t, host.Free())
	free := d.Free()
	must(t, d.Release(a))
	if d.Free() < free {
		t.Errorf("got %d free bytes after a release, want at least %d", d.Free(), free)
	}
}

func TestOutOfMemory(t *testing.T) {
	d, _, _ := open(t)
	_, err := d.Alloc(1 << 50)
	if !errors.Is(err, drv.OutOfMemory) || !strings.Contains(err.Error(), "cuMemAlloc of 1125899906842624 bytes") {
		t.Errorf("2^50 bytes: got error %v, want out of memory", err)
	}
	if errors.Is(err, drv.NotFound) {
		t.Errorf("error %v is NotFound too", err)
	}
	must(t, d.Err())
	alloc(t, d, 16)
}

// TestPeer copies from another device after its event.
func TestPeer(t *testing.T) {
	if n, _ := drv.Count(); n < 2 {
		t.Skip("needs two devices")
	}
	d, s, _ := open(t)
	other, err := drv.Open(1)
	must(t, err)
	its, err := other.NewStream()
	must(t, err)
	a, b := alloc(t, d, 8), alloc(t, other, 8)
	must(t, its.Set32(b, 7, 2))
	e, err := other.NewEvent()
	must(t, err)
	must(t, its.Record(e))
	must(t, s.Wait(e))
	must(t, s.CopyFrom(a, other, b, 8))
	if got := read(t, s, a, 1)[0]; got != 7<<32|7 {
		t.Errorf("got %#x, want 0x700000007", got)
	}
}

// TestDeadDevice checks that every call on a device returns the error of a kernel that failed, and
// that other devices stay usable.
func TestDeadDevice(t *testing.T) {
	if !child(t) {
		return
	}
	d, s, m := open(t)
	f := function(t, m, "fault")
	host, err := d.Pinned(8)
	must(t, err)
	args := new(drv.Args)
	args.Ptr(0)
	err = s.Launch(f, one, one, 0, args)
	if err == nil {
		err = s.Synchronize()
	}
	var e *drv.Error
	if !errors.As(err, &e) || !e.Sticky() || !errors.Is(err, drv.IllegalAddress) || !strings.Contains(err.Error(), "restart the kernel") {
		t.Fatalf("write to address 0: got error %v, want an illegal address", err)
	}
	if got := d.Err(); got != err {
		t.Errorf("Err: got %v, want %v", got, err)
	}
	_, alloc := d.Alloc(16)
	_, pinned := d.Pinned(16)
	_, load := d.Load(ptx)
	_, query := s.Query()
	_, capture := s.EndCapture()
	for _, c := range []struct {
		what string
		err  error
	}{
		{"Alloc", alloc}, {"Pinned", pinned}, {"Load", load}, {"Query", query}, {"EndCapture", capture},
		{"Launch", s.Launch(f, one, one, 0, args)}, {"CopyIn", s.CopyIn(0, host, 0, 8)}, {"BeginCapture", s.BeginCapture()},
		{"Synchronize", d.Synchronize()}, {"MaxDynamicShared", f.MaxDynamicShared(1)}, {"Free", host.Free()},
	} {
		if c.err != err {
			t.Errorf("%s on a dead device: got error %v, want %v", c.what, c.err, err)
		}
	}
	if n, _ := drv.Count(); n > 1 {
		other, err := drv.Open(1)
		must(t, err)
		if _, err := other.Alloc(16); err != nil {
			t.Errorf("Alloc on the other device: got error %v", err)
		}
	}
}

// TestLostDevice checks the error of a device that becomes unavailable.
func TestLostDevice(t *testing.T) {
	if fake.Real() {
		t.Skip("only the fake driver can do this")
	}
	if !child(t) {
		return
	}
	d, s, _ := open(t)
	fake.Use(t, fake.Options{Lost: true})
	err := s.Synchronize()
	if err == nil || !strings.Contains(err.Error(), "restart the kernel") || d.Err() != err {
		t.Errorf("got error %v and Err %v, want the same error, with advice to restart the kernel", err, d.Err())
	}
	if d.Free() != 0 {
		t.Errorf("got %d free bytes on a lost device, want 0", d.Free())
	}
}
