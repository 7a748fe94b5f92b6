package tensor

import "slices"

type permute struct{ order []int }

func (permute) Info() Info { return info("permute", "torch.permute", SavesNothing) }
func (permute) fixed()     {}

func (p permute) Forward(in []*Tensor) *Tensor {
	return permuted(in[0], p.order)
}

func (p permute) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{dy.Permute(undone(p.order)...)}
}

// Permute returns a view with the dimensions in the order dims. It is
// torch.permute.
func (t *Tensor) Permute(dims ...int) *Tensor {
	t.given("permute")
	if len(dims) != len(t.shape) {
		fail("permute", []*Tensor{t}, "order %v has length %d; want %d", dims, len(dims), len(t.shape))
	}
	to := make([]int, len(dims))
	for i, d := range dims {
		to[i] = axis("permute", t, d, len(t.shape))
	}
	axes("permute", t, to) // panics if one is named twice
	return apply(permute{to}, t)
}

// Transpose returns a view with dimensions i and j exchanged. It is
// torch.transpose.
func (t *Tensor) Transpose(i, j int) *Tensor {
	t.given("transpose")
	i, j = axis("transpose", t, i, len(t.shape)), axis("transpose", t, j, len(t.shape))
	order := seq(len(t.shape))
	order[i], order[j] = j, i
	return apply(permute{order}, t)
}

// T returns the transpose of a matrix, a view. It is torch.t.
func (t *Tensor) T() *Tensor {
	t.given("t")
	if len(t.shape) != 2 {
		fail("t", []*Tensor{t}, "t is %d-D; want 2-D: use Transpose or Permute", len(t.shape))
	}
	return t.Transpose(0, 1)
}

// Movedim returns a view with dimension source moved to position destination; the others keep their order.
// It is torch.movedim.
func (t *Tensor) Movedim(source, destination int) *Tensor {
	t.given("movedim")
	f, d := axis("movedim", t, source, len(t.shape)), axis("movedim", t, destination, len(t.shape))
	return t.Permute(slices.Insert(slices.Delete(seq(len(t.shape)), f, f+1), d, f)...)
}

// Swapaxes is Transpose. It is torch.swapaxes.
func (t *Tensor) Swapaxes(i, j int) *Tensor {
	t.given("swapaxes")
	return t.Transpose(i, j)
}
