//go:build cuda && linux && cgo

package cudatest

import (
	"testing"

	_ "halfnote/cuda" // provides the device
	"halfnote/cuda/internal/fake"
)

// Main is for TestMain: it runs the tests of a package, for which tensor.CUDA is there, and
// returns the code to exit with.
func Main(m *testing.M) int { return fake.Main(m, fake.Options{}) }

// Real reports whether the GPU is the machine's own: tests may take larger sizes then.
func Real() bool { return fake.Real() }
