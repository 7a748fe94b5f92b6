//go:build cuda && linux && cgo

package gpu

import (
	"testing"

	"halfnote/tensor/drivertest"
)

func TestCopy(t *testing.T) {
	drivertest.Check(t, open(t), "Fill", "Copy", "CopyAllHalves", "DTypes", "Count")
}
