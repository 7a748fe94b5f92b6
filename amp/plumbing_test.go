package amp_test

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var fused = plumbing.Of[plumbing.Fused[*tensor.Tensor]]()
