//go:build cuda && linux && cgo

package gpu

import (
	"testing"

	"halfnote/tensor/drivertest"
)

func TestUpdates(t *testing.T) {
	drivertest.Check(t, open(t), "Unscale", "SGD", "Adam", "Batch")
}
