package optim

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	fused     = plumbing.Of[plumbing.Fused[*tensor.Tensor]]()
	capture   = plumbing.Of[plumbing.Capture]()
	marks     = plumbing.Of[plumbing.Marks[*tensor.Tensor]]()
	gradients = plumbing.Of[plumbing.Gradients[*tensor.Tensor]]()
)
