package amp_test

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	fused   = tensor.Internal(plumbing.Token{}).Fused
	casting = tensor.Internal(plumbing.Token{}).Casting
)
