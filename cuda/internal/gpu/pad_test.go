//go:build cuda && linux && cgo

package gpu

import (
	"testing"

	"halfnote/cuda/internal/fake"
	"halfnote/tensor/drivertest"
)

func TestPad(t *testing.T) {
	before := fake.Launched("pad_turned")
	drivertest.Check(t, open(t), "Pad")
	if fake.Launched("pad_turned") == before && !fake.Real() {
		t.Error("the kernels pad_turned were not launched")
	}
}
