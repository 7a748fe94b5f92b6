//go:build cuda && linux && cgo

package gpu

import (
	"testing"

	"halfnote/tensor/drivertest"
)

func TestNorms(t *testing.T) { drivertest.Check(t, open(t), "Norms") }
