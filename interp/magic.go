package interp

import (
	"context"

	"halfnote/kernel"
)

func (s *Session) magic(ctx context.Context, in kernel.Cell, out kernel.Output) (kernel.Result, bool) {
	return kernel.Result{}, false
}
