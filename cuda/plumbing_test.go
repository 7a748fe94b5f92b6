//go:build cuda && linux && cgo

package cuda_test

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	fused     = plumbing.Of[plumbing.Fused[*tensor.Tensor]]()
	capturing = plumbing.Of[plumbing.Capture]().Capturing
)
