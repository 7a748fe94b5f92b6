package diagnose

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	casting = tensor.Internal(plumbing.Token{}).Casting
	marks   = tensor.Internal(plumbing.Token{}).Marks
)

type mark = plumbing.Mark[*tensor.Tensor]
