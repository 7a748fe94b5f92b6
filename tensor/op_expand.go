package tensor

import (
	"fmt"
	"slices"
)

type expand struct{ shape []int }

func (expand) Info() Info { return info("expand", "torch.Tensor.expand", SavesNothing) }
func (expand) fixed()     {}

func (e expand) Forward(in []*Tensor) *Tensor {
	stride := slices.Clone(expandStride(in[0], e.shape))
	for i := len(e.shape) - len(in[0].shape) - 1; i >= 0; i-- {
		if e.shape[i] == 1 && i+1 < len(stride) {
			stride[i] = e.shape[i+1] * stride[i+1] // like torch
		}
	}
	return in[0].alias(in[0].offset, e.shape, stride)
}

func (expand) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return []*Tensor{dy.sumTo(in[0])} }

// Expand returns a view broadcast to shape: sizes of 1 and new leading dimensions repeat; -1
// keeps a size. It is torch.Tensor.expand.
func (t *Tensor) Expand(shape ...int) *Tensor {
	t.given("expand")
	to := slices.Clone(shape)
	shift := len(to) - len(t.shape)
	for i, s := range to {
		if s == -1 && i >= shift && shift >= 0 {
			to[i] = t.shape[i-shift]
		}
	}
	checkShape("expand", to)
	if got, ok := broadcastShapes(t.shape, to); !ok || !slices.Equal(got, to) {
		panic(named(&Error{Op: "expand", Shapes: [][]int{t.shape, shape}, Why: fmt.Sprintf("cannot broadcast %s to %s", shapeString(t.shape), shapeString(shape))}))
	}
	return t.expandTo(to)
}

func (t *Tensor) expandTo(shape []int) *Tensor {
	if slices.Equal(shape, t.shape) {
		return t
	}
	return apply(expand{shape}, t)
}

// BroadcastTo is Expand. It is torch.broadcast_to.
func (t *Tensor) BroadcastTo(shape ...int) *Tensor {
	t.given("broadcast_to")
	return t.Expand(shape...)
}

// BroadcastTensors returns views of ts broadcast to their common shape. It is
// torch.broadcast_tensors.
func BroadcastTensors(ts ...*Tensor) []*Tensor {
	shape := broadcast("broadcast_tensors", ts)
	out := make([]*Tensor, len(ts))
	for i, t := range ts {
		out[i] = t.expandTo(shape)
	}
	return out
}
