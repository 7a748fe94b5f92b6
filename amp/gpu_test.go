//go:build cuda && linux && cgo

package amp_test

import (
	"os"
	"testing"

	"halfnote/cuda/cudatest"
	"halfnote/tensor"
)

func TestMain(m *testing.M) { os.Exit(cudatest.Main(m)) }

// TestOnGPU runs the tests of dtypes with tensors on a GPU. Tests that take minutes with
// interpreted kernels run only on a real GPU.
func TestOnGPU(t *testing.T) {
	tensor.SetDefaultDevice(tensor.CUDA)
	defer tensor.SetDefaultDevice(tensor.CPU)
	for _, c := range []struct {
		name string
		slow bool
		test func(t *testing.T)
	}{
		{"DTypes", false, TestDTypes},
		{"TorchDTypes", false, TestTorchDTypes},
		{"OpLists", true, TestOpLists},
		{"ExplicitDType", false, TestExplicitDType},
		{"UpstreamAutocast", true, TestUpstreamAutocast},
	} {
		if cudatest.Real() || !c.slow {
			t.Run(c.name, c.test)
		}
	}
}
