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

// Options say what the driver shows. The zero value is one H100 with 1 GiB.
type Options struct {
	Devices    int   // 0: one
	NoDevice   bool  // cuInit fails
	Memory     int64 // bytes of each device, 0: 1 GiB
	Capability int   // 0: 90
	Version    int   // of the driver, 0: 12060
	Queue      int   // operations that a stream holds back at most, 0: 64; -1: each is done at once
	FailLaunch int   // the n-th launch fails, 0: none
	FailCode   int   // with this CUresult, 0: 719
	Lost       bool  // every call that needs a context fails
	Unchecked  bool  // do not look for races on shared memory
	CublasLt   bool  // there is a cublasLt, too; otherwise there is none, whatever the machine has
}

// driverVariable is where package link looks for the driver.
const driverVariable = "HALFNOTE_CUDA_DRIVER"

// Real reports whether tests run on the machine's own driver.
func Real() bool { return os.Getenv("HALFNOTE_CUDA_TEST") == "device" }

var built struct {
	sync.Mutex
	path string
}

// Use makes the fake driver the one that this process and its children load; a
// driver is loaded once, so that the first call decides which, and a later one
// changes options only: those of devices no more, once they are in use. Where
// [Real] is true it does nothing.
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

// libraryVariable is where package lt looks for cublasLt, and nowhere else if it is set.
const libraryVariable = "HALFNOTE_CUBLASLT"

// library makes the fake cublasLt the one that is found, or none.
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

// Main is for TestMain: it uses the driver for all tests of a package, runs them
// and removes what it built. It returns the code to exit with.
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

// owned is the folder that this process, not its parent, made.
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
	args := []string{"-shared", "-fPIC", "-O1", "-Wl,-Bsymbolic", "-o", path} // symbolic: libc has a step, too
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
