//go:build cuda && linux && cgo

package gpu

import (
	"testing"

	"halfnote/tensor/drivertest"
)

func TestAttention(t *testing.T) { drivertest.Check(t, open(t), "Attention") }
