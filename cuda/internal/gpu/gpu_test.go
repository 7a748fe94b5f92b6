//go:build cuda && linux && cgo

package gpu

import (
	"os"
	"sync"
	"testing"

	"halfnote/cuda/internal/fake"
	"halfnote/tensor/driver"
)

// The tests run on a fake driver that interprets kernels on the CPU, or on the machine's first GPU
// if fake.Real reports true.
func TestMain(m *testing.M) { os.Exit(fake.Main(m, fake.Options{CublasLt: true})) }

// emulated is the backend on the fake driver. Its method Slow makes package drivertest check fewer
// cases.
type emulated struct{ *Backend }

func (emulated) Slow() {}

var opened = sync.OnceValues(func() (driver.Backend, error) { return Open("cuda") })

// open returns the backend of the first GPU for package drivertest. It fails the test if a kernel
// failed.
func open(t *testing.T) driver.Backend {
	t.Helper()
	b, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	if fake.Real() {
		return b
	}
	t.Cleanup(func() {
		if err := fake.LastFault(); err != nil {
			t.Errorf("a kernel failed: %v", err)
		}
	})
	return emulated{b.(*Backend)}
}
