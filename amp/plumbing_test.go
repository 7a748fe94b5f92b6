package amp_test

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	fused   = plumbing.Of[plumbing.Fused[*tensor.Tensor]]()
	casting = plumbing.Of[plumbing.Casting[tensor.Info, *tensor.Tensor]]()
)
