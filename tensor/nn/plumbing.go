package nn

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	inner      = tensor.Internal(plumbing.Token{})
	functional = inner.Functional
	gradients  = inner.Gradients
	calls      = inner.Calls
	modules    = inner.Modules
)

// Internal returns methods for the other packages of this module. Cells and other modules cannot make a Token.
func Internal(plumbing.Token) internals { return internals{} }

// internals are methods for the other packages of this module.
type internals struct{}
