package diagnose

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	casting = plumbing.Of[plumbing.Casting[tensor.Info, *tensor.Tensor]]()
	marks   = plumbing.Of[plumbing.Marks[*tensor.Tensor]]()
)

type mark = plumbing.Mark[*tensor.Tensor]
