//go:build cuda && linux && cgo

package link_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"halfnote/cuda/internal/link"

	"gorgonia.org/cu"
)

// child runs the test in a separate process, because a process binds one driver. It reports whether
// this is that process.
func child(t *testing.T, env ...string) bool {
	if os.Getenv("HALFNOTE_TEST_CHILD") == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(append(os.Environ(), "HALFNOTE_CUDA_DRIVER=", "HALFNOTE_TEST_CHILD="+t.Name()), env...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	return false
}

// driver builds testdata/driver.c and returns the library's path.
func driver(t testing.TB) string {
	so := filepath.Join(t.TempDir(), "libcuda.so.1")
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-Wl,-soname,libcuda.so.1", "-o", so, "testdata/driver.c").CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	return so
}

// TestGenerated checks that ztable.c is up to date with names.txt.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	names, err := os.ReadFile("names.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "names.txt"), names, 0o644); err != nil {
		t.Fatal(err)
	}
	gen := filepath.Join(dir, "gen")
	if out, err := exec.Command("go", "build", "-o", gen, "./gen").CombinedOutput(); err != nil {
		t.Skipf("needs the go command: %v\n%s", err, out)
	}
	cmd := exec.Command(gen)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gen: %v\n%s", err, out)
	}
	want, _ := os.ReadFile(filepath.Join(dir, "ztable.c"))
	got, err := os.ReadFile("ztable.c")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("ztable.c is stale; run: go generate ./cuda/internal/link")
	}
}

func TestWithoutDriver(t *testing.T) {
	if !child(t, "HALFNOTE_CUDA_DRIVER=/nonexistent/libcuda.so.1") {
		return
	}
	if _, err := cu.NumDevices(); err != cu.NotInitialized {
		t.Errorf("before Load: got error %v, want %v", err, cu.NotInitialized)
	}
	err := link.Load("")
	if err == nil || !strings.Contains(err.Error(), "no NVIDIA driver: /nonexistent/libcuda.so.1") {
		t.Errorf("Load: got error %v, want one that names the missing file", err)
	}
	if again := link.Load("/elsewhere"); again != err {
		t.Errorf("second Load: got error %v, want that of the first", again)
	}
	if _, err := cu.MemAlloc(16); err != cu.NoDevice {
		t.Errorf("after a failed Load: got error %v, want %v", err, cu.NoDevice)
	}
	if name, text := link.ErrorName(2); name != "" || text != "" {
		t.Errorf("ErrorName without a driver: got %q and %q, want \"\"", name, text)
	}
}

// TestOtherLibrary loads a library that is not a driver.
func TestOtherLibrary(t *testing.T) {
	so := filepath.Join(t.TempDir(), "other.so")
	c := filepath.Join(t.TempDir(), "other.c")
	os.WriteFile(c, []byte("int other;"), 0o644)
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", so, c).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	if !child(t, "LINKTEST_OTHER="+so) {
		return
	}
	err := link.Load(os.Getenv("LINKTEST_OTHER"))
	if err == nil || !strings.Contains(err.Error(), "no cuInit") {
		t.Errorf("Load: got error %v, want that the file has no cuInit", err)
	}
}

func TestWithoutDevice(t *testing.T) {
	if !child(t, "LINKTEST_INIT=100") {
		return
	}
	err := link.Load(driver(t))
	if want := "no CUDA-capable device is detected (CUDA_ERROR_NO_DEVICE, 100)"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Load: got error %v, want %s", err, want)
	}
	if _, err := cu.NumDevices(); err != cu.NoDevice {
		t.Errorf("NumDevices: got error %v, want %v", err, cu.NoDevice)
	}
}

// TestLaunch checks the calls of package cu and of this package that reach the driver.
func TestLaunch(t *testing.T) {
	if !child(t) {
		return
	}
	ctx, f := bind(t)
	if v := cu.Version(); v != 12060 {
		t.Errorf("got version %d, want 12060", v)
	}
	if r := link.Launch(ctx, f, [3]uint32{2, 3, 4}, [3]uint32{5, 6, 7}, 8, 0, &launched.params[0], &launched.offset[0], 5); r != 0 {
		t.Fatal(r)
	}
	if want := [8]uint64{2 + 1<<56 + 3 + 4 + 5, 2, 3, 4, 5, 6, 7, 8}; launched.out != want {
		t.Errorf("the driver received %v, want %v", launched.out, want)
	}
	if r := link.Launch(ctx, f, one, one, 0, 0, &launched.params[0], &launched.offset[0], link.Params+1); r != 1 {
		t.Errorf("too many parameters: got %d, want 1, invalid value", r)
	}
	if _, err := cu.MemAllocManaged(16, cu.AttachGlobal); err != cu.NotFound {
		t.Errorf("function that this driver lacks: got error %v, want %v", err, cu.NotFound)
	}
	if r := link.FreeGraph(0, 1); r != 201 {
		t.Errorf("call without a context: got %d, want 201, invalid context", r)
	}
}

// BenchmarkLaunch measures the time of a launch outside the driver.
func BenchmarkLaunch(b *testing.B) {
	ctx, f := bind(b)
	b.ReportAllocs()
	for b.Loop() {
		if r := link.Launch(ctx, f, one, one, 0, 0, &launched.params[0], &launched.offset[0], 5); r != 0 {
			b.Fatal(r)
		}
	}
}

var one = [3]uint32{1, 1, 1}

// launched is memory that the driver reads and writes. As a package variable it does not move.
var launched = struct {
	function [7]byte
	params   [32]byte
	offset   [5]uint16
	out      [8]uint64
}{
	function: [7]byte([]byte("k88128\x00")),
	params:   [32]byte{8: 2, 15: 1, 16: 3, 18: 4, 24: 5},
	offset:   [5]uint16{0, 8, 16, 18, 24},
}

// bind loads the driver and returns a context and the function in launched.
func bind(t testing.TB) (ctx, f uintptr) {
	t.Helper()
	if err := link.Load(driver(t)); err != nil {
		t.Fatal(err)
	}
	d, err := cu.GetDevice(0)
	if err != nil {
		t.Fatal(err)
	}
	primary, err := d.RetainPrimaryCtx()
	if err != nil {
		t.Fatal(err)
	}
	*(*uintptr)(unsafe.Pointer(&launched.params[0])) = uintptr(unsafe.Pointer(&launched.out))
	return *(*uintptr)(unsafe.Pointer(&primary)), uintptr(unsafe.Pointer(&launched.function))
}
