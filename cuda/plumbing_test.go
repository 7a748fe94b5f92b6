//go:build cuda && linux && cgo

package cuda_test

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	fused     = tensor.Internal(plumbing.Token{}).Fused
	capturing = tensor.Internal(plumbing.Token{}).Capture.Capturing
)
