package optim

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	inner     = tensor.Internal(plumbing.Token{})
	capture   = inner.Capture
	fused     = inner.Fused
	gradients = inner.Gradients
	calls     = inner.Calls
	memory    = inner.Memory
)
