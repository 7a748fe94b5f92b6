//go:build cuda && linux && cgo

package gpu

import (
	"os"
	"sync"
	"testing"

	"halfnote/cuda/internal/fake"
	"halfnote/tensor/driver"
)

// The tests run on a driver that interprets kernels on the CPU, or on the first GPU of
// this machine where fake.Real says so.
func TestMain(m *testing.M) { os.Exit(fake.Main(m, fake.Options{CublasLt: true})) }

// emulated is the backend where kernels are interpreted: package drivertest checks less.
type emulated struct{ *Backend }

func (emulated) Slow() {}

var opened = sync.OnceValues(func() (driver.Backend, error) { return Open("cuda") })

// open returns the first GPU, for checks of package drivertest.
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
