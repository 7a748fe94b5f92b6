//go:build cuda && linux && cgo

package torchtest

import (
	"maps"
	"os"
	"slices"
	"testing"

	"halfnote/cuda/cudatest"
	"halfnote/tensor"
)

func TestMain(m *testing.M) { os.Exit(cudatest.Main(m)) }

// TestFixturesOnGPU runs every case on a GPU.
func TestFixturesOnGPU(t *testing.T) {
	tensor.SetDefaultDevice(tensor.CUDA)
	defer tensor.SetDefaultDevice(tensor.CPU)
	for _, name := range slices.Sorted(maps.Keys(families)) {
		t.Run(name, func(t *testing.T) { runFamily(t, name) })
	}
}
