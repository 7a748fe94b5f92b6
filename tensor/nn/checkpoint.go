package nn

import (
	"fmt"
	"strconv"

	"halfnote/tensor"
)

// CheckpointSequential computes c.Forward with c's modules split into segments of nearly
// equal length. All segments except the last run under tensor.Checkpoint: Backward recomputes their
// intermediate results instead of keeping them. It panics unless segments is from 1 to the
// number of modules. It is torch.utils.checkpoint.checkpoint_sequential.
func CheckpointSequential(c *Sequential, segments int, x *tensor.Tensor) *tensor.Tensor {
	need("checkpoint_sequential", "c", c != nil, "a Sequential")
	if segments < 1 || segments > len(c.Modules) {
		panic(&tensor.Error{Op: "checkpoint_sequential", Why: fmt.Sprintf("%d segments for %d modules; want 1 to %d", segments, len(c.Modules), len(c.Modules))})
	}
	part := func(from, to int) func(in ...*tensor.Tensor) *tensor.Tensor {
		return func(in ...*tensor.Tensor) *tensor.Tensor {
			y := in[0]
			for i := from; i < to; i++ {
				modules.In(strconv.Itoa(i), c.Modules[i], func() { y = c.Modules[i].Forward(y) })
			}
			return y
		}
	}
	size := len(c.Modules) / segments
	for s := range segments - 1 {
		x = tensor.Checkpoint(part(s*size, (s+1)*size), x)
	}
	return part((segments-1)*size, len(c.Modules))(x)
}
