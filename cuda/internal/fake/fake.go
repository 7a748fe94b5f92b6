//go:build cuda && linux && cgo

package fake

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

//go:embed driver
var sources embed.FS

// Options are the properties of the fake driver. The zero value is one H100 with 1 GiB.
type Options struct {
	Devices    int   // number of devices; 0: one
	NoDevice   bool  // cuInit fails
	Memory     int64 // bytes of each device; 0: 1 GiB
	Capability int   // compute capability times 10; 0: 90
	Version    int   // driver version; 0: 12060
	Queue      int   // queue length of a stream; 0: 64; -1: operations run at once
	FailLaunch int   // number of the launch that fails; 0: none
	FailCode   int   // CUresult of that launch; 0: 719
	Lost       bool  // every call that needs a context fails
	Unchecked  bool  // skip the check for races on shared memory
	CublasLt   bool  // provide a fake cublasLt; otherwise there is none, even if the machine has one
}

// driverVariable names the environment variable with the driver's path for package link.
const driverVariable = "HALFNOTE_CUDA_DRIVER"

// Real reports whether tests run on the machine's own driver.
func Real() bool { return os.Getenv("HALFNOTE_CUDA_TEST") == "device" }

var built struct {
	sync.Mutex
	path string
}

// Use makes the fake driver the one that this process and its children load. A driver is loaded
// once, so the first call decides; later calls change only options, and those of devices only
// before they are used. If [Real], Use does nothing.
func Use(t testing.TB, o Options) {
	t.Helper()
	if Real() {
		t.Log("fake: the tests run on this machine's own driver")
		return
	}
	if err := use(o); err != nil {
		t.Fatal(err)
	}
}

func use(o Options) error {
	built.Lock()
	defer built.Unlock()
	o.export()
	if built.path == "" {
		path, err := provide()
		if err == nil {
			err = join(path)
		}
		if err != nil {
			return err
		}
		built.path = path
	}
	if err := library(o.CublasLt); err != nil {
		return err
	}
	unchecked.Store(o.Unchecked)
	configure()
	return nil
}

// libraryVariable names the environment variable with the only place where package lt looks for
// cublasLt.
const libraryVariable = "HALFNOTE_CUBLASLT"

// library makes the fake cublasLt the one that package lt finds, or hides all.
func library(wanted bool) error {
	path := filepath.Join(filepath.Dir(built.path), "libcublasLt.so.13")
	if !wanted {
		return os.Setenv(libraryVariable, filepath.Join(filepath.Dir(built.path), "none"))
	}
	if _, err := os.Stat(path); err != nil {
		if path, err = compile(filepath.Dir(built.path), filepath.Base(path), "cublaslt.c"); err != nil {
			return err
		}
	}
	return os.Setenv(libraryVariable, path)
}

// Main is for TestMain: it uses the driver for all tests of a package, runs them, removes the
// built files and returns the exit code.
func Main(m *testing.M, o Options) int {
	if Real() {
		return m.Run()
	}
	if err := use(o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer Remove()
	return m.Run()
}

// Remove removes the built libraries.
func Remove() {
	if owned != "" {
		_ = os.RemoveAll(owned)
	}
}

// owned is the folder made by this process rather than its parent.
var owned string

// provide returns the parent's driver, or builds one.
func provide() (string, error) {
	if path := os.Getenv(driverVariable); path != "" {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	dir, err := os.MkdirTemp("", "halfnote-fake")
	if err != nil {
		return "", err
	}
	owned = dir
	path, err := Build(dir)
	if err != nil {
		return "", err
	}
	return path, os.Setenv(driverVariable, path)
}

// Build compiles the driver into a folder and returns its path.
func Build(dir string) (string, error) {
	return compile(dir, "libcuda.so.1", "device.c", "memory.c", "stream.c", "event.c", "graph.c", "module.c")
}

func compile(dir, name string, files ...string) (string, error) {
	path := filepath.Join(dir, name)
	args := []string{"-shared", "-fPIC", "-O1", "-Wl,-Bsymbolic", "-o", path} // -Bsymbolic: libc also exports step
	for _, f := range append([]string{"driver.h", "join.h"}, files...) {
		text, err := sources.ReadFile("driver/" + f)
		if err != nil {
			return "", err
		}
		file := filepath.Join(dir, f)
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return "", err
		}
		if strings.HasSuffix(f, ".c") {
			args = append(args, file)
		}
	}
	if out, err := exec.Command("cc", append(args, "-lpthread", "-ldl", "-lm")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("fake: cc: %w\n%s", err, out)
	}
	return path, nil
}

// export sets the variables that the driver reads.
func (o Options) export() {
	set := func(name string, v int64, otherwise int64) {
		if v == 0 {
			v = otherwise
		}
		_ = os.Setenv("HALFNOTE_FAKE_"+name, strconv.FormatInt(v, 10))
	}
	flag := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	set("DEVICES", int64(o.Devices), 1)
	if o.NoDevice {
		set("DEVICES", 0, 0)
	}
	set("MEMORY", o.Memory, 1<<30)
	set("CAPABILITY", int64(o.Capability), 90)
	set("VERSION", int64(o.Version), 12060)
	set("QUEUE", max(0, int64(o.Queue)), 64)
	if o.Queue < 0 {
		set("QUEUE", 0, 0)
	}
	set("FAIL_LAUNCH", int64(o.FailLaunch), 0)
	set("FAIL_CODE", int64(o.FailCode), 719)
	set("LOST", flag(o.Lost), 0)
}
