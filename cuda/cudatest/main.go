//go:build cuda && linux && cgo

package cudatest

import (
	"testing"

	_ "halfnote/cuda" // provides the device
	"halfnote/cuda/internal/fake"
)

// Main is for TestMain: it makes tensor.CUDA available, runs the tests of a package, and returns the
// exit code.
func Main(m *testing.M) int { return fake.Main(m, fake.Options{}) }

// Real reports whether the GPU is the machine's own. Tests may then use larger sizes.
func Real() bool { return fake.Real() }
