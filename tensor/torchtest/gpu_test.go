//go:build cuda && linux && cgo

package torchtest

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/cuda/cudatest"
	"halfnote/tensor"
)

func TestMain(m *testing.M) { os.Exit(cudatest.Main(m)) }

// TestFixturesOnGPU runs the cases on a GPU, except those of dropout, whose masks differ there. An emulated
// GPU is slow: it skips float64 and bfloat16, which the backend's own tests check, and has gaps between
// elements only in float32.
func TestFixturesOnGPU(t *testing.T) {
	tensor.SetDefaultDevice(tensor.CUDA)
	skips = func(name, dtype, layout string) bool {
		slow := dtype == "float64" || dtype == "bfloat16" || layout == "strided" && dtype != "float32"
		return strings.Contains(name, "dropout") || slow && !cudatest.Real()
	}
	coarse = func(op string, order int, d tensor.DType) bool {
		return op == "scaled_dot_product_attention" && order < 2 && d.Size() == 2
	}
	defer func() {
		tensor.SetDefaultDevice(tensor.CPU)
		skips, coarse = nil, coarseOnCPU
	}()
	for _, name := range slices.Sorted(maps.Keys(families)) {
		t.Run(name, func(t *testing.T) { runFamily(t, name) })
	}
}
