//go:build cuda && linux && cgo

package cuda_test

import (
	"strings"
	"testing"

	"halfnote/cuda"
	"halfnote/cuda/internal/fake"
	"halfnote/internal/bench"
	"halfnote/tensor"
)

// TestProducts checks the line about cublasLt, also where benchmarks print it.
func TestProducts(t *testing.T) {
	for _, test := range []struct {
		name    string
		options fake.Options
		want    string
	}{
		{"Hopper", fake.Options{}, "cublasLt is missing, so products use halfnote's own kernels, which are expected to reach about 8 % of its speed on this GPU; `pip install nvidia-cublas-cu12`"},
		{"Ampere", fake.Options{Capability: 80}, "own kernels, which are slower; `pip install nvidia-cublas-cu12`"},
		{"Volta", fake.Options{Capability: 70}, "own kernels, which do not use tensor cores; `pip install nvidia-cublas-cu12`"},
		{"new driver", fake.Options{Version: 13000}, "; `pip install nvidia-cublas` brings it, or HALFNOTE_CUBLASLT names its file"},
		{"library", fake.Options{CublasLt: true}, "products use /"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !child(t, test.options) {
				return
			}
			if got := cuda.Products(); !strings.Contains(got, test.want) {
				t.Errorf("got %q, want it to contain %q", got, test.want)
			}
			defer tensor.SetDefaultDevice(tensor.CPU)
			var reply strings.Builder
			if err := bench.Serve("cuda", strings.NewReader(`{"do": "about"}`), &reply); err != nil || !strings.Contains(reply.String(), strings.Split(test.want, "`")[0]) {
				t.Errorf("benchmarks: got %s, %v; want the same", reply.String(), err)
			}
		})
	}
}
