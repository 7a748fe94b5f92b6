package amp

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	fused   = plumbing.Of[plumbing.Fused[*tensor.Tensor]]()
	capture = plumbing.Of[plumbing.Capture]()
	casting = plumbing.Of[plumbing.Casting[tensor.Info, *tensor.Tensor]]()
)

type operandCaster = plumbing.Caster[tensor.Info, *tensor.Tensor]
