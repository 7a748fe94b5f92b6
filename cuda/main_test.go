//go:build cuda && linux && cgo

package cuda_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"halfnote/cuda/cudatest"
	"halfnote/cuda/internal/fake"
	"halfnote/tensor"
)

func TestMain(m *testing.M) { os.Exit(cudatest.Main(m)) }

// child runs the test in a separate process with another fake driver: a process loads one driver,
// and a dead GPU stays dead. It reports whether this is that process.
func child(t *testing.T, o fake.Options) bool {
	t.Helper()
	if fake.Real() {
		t.Skip("only the fake driver can do this")
	}
	if os.Getenv("HALFNOTE_TEST_CHILD") == t.Name() {
		fake.Use(t, o)
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "HALFNOTE_TEST_CHILD="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// numbers returns 0 to n-1 on the GPU.
func numbers(n int) *tensor.Tensor { return tensor.Arange(0, float64(n)).ToDevice(tensor.CUDA) }

// zeros returns a tensor of zeros on the GPU.
func zeros(shape ...int) (x *tensor.Tensor) {
	tensor.OnDevice(tensor.CUDA, func() { x = tensor.Zeros(shape...) })
	return x
}

// collected reports whether garbage collection reduces the live GPU memory to the given number of
// bytes.
func collected(bytes int) bool {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		runtime.GC()
		if tensor.CUDA.Memory().Live <= bytes {
			return true
		}
	}
	return false
}
