//go:build cuda && linux && cgo

package cuda

import (
	"halfnote/cuda/internal/gpu"
	"halfnote/tensor/driver"
)

func init() { driver.RegisterFamily("cuda", gpu.Open) }
