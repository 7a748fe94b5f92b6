package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// matmul multiplies matrices, the last two dimensions, batch by batch.
type matmul struct{}

func (matmul) Info() Info { return Info{"matmul", "torch.matmul", Lower, ReadsOperands} }
func (matmul) Forward(in []*Tensor) *Tensor {
	sameDType("matmul", in)
	x, y := in[0], in[1]
	n, m := len(x.shape), len(y.shape)
	batch, _ := broadcastShapes(x.shape[:n-2], y.shape[:m-2])
	full := func(t *Tensor) *Tensor {
		k := len(t.shape) - 2
		shape := append(slices.Clone(batch), t.shape[k:]...)
		return t.alias(t.offset, shape, expandStride(t, shape))
	}
	dst := newTensor(x.mem.backend, x.dtype, append(slices.Clone(batch), x.shape[n-2], y.shape[m-1]))
	run(driver.Kernel{Code: driver.Matmul}, dst, full(x), full(y))
	return dst
}
func (matmul) products(in []*Tensor, y *Tensor) int { return y.Numel() * in[0].Size(-1) }
func (matmul) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, 2)
	if in[0].RequiresGrad() {
		out[0] = dy.MatMul(in[1].Transpose(-1, -2)).sumTo(in[0])
	}
	if in[1].RequiresGrad() {
		out[1] = in[0].Transpose(-1, -2).MatMul(dy).sumTo(in[1])
	}
	return out
}

// MatMul returns the matrix product of t (…, m, k) and o (…, k, n), the leading
// dimensions broadcast: (…, m, n). A vector t stands for one row, a vector o for
// one column, and drops out again. Products are added in float32 over k and
// rounded once. It is torch.matmul.
func (t *Tensor) MatMul(o *Tensor) *Tensor {
	if len(t.shape) == 0 || len(o.shape) == 0 {
		fail("matmul", []*Tensor{t, o}, "an operand has no dimension; expected (…, m, k) times (…, k, n): use Mul for numbers")
	}
	k, rows := t.shape[len(t.shape)-1], o.shape[max(len(o.shape)-2, 0)]
	if k != rows {
		fail("matmul", []*Tensor{t, o}, "the inner sizes %d and %d differ; expected (…, m, k) times (…, k, n)", k, rows)
	}
	switch {
	case len(t.shape) == 1:
		row := t.Unsqueeze(0).MatMul(o)
		return row.Squeeze(max(len(o.shape)-2, 0))
	case len(o.shape) == 1:
		return t.MatMul(o.Unsqueeze(1)).Squeeze(-1)
	case len(t.shape) > 2 && len(o.shape) == 2:
		// One product instead of many.
		y := t.Reshape(size(t.shape[:len(t.shape)-1]), k).MatMul(o)
		return y.Reshape(append(slices.Clone(t.shape[:len(t.shape)-1]), o.shape[1])...)
	}
	if _, ok := broadcastShapes(t.shape[:len(t.shape)-2], o.shape[:len(o.shape)-2]); !ok {
		fail("matmul", []*Tensor{t, o}, "the leading sizes do not broadcast; expected (…, m, k) times (…, k, n)")
	}
	return apply(matmul{}, t, o)
}

// linear is x wᵀ + b for x (n, in), w (out, in) and perhaps b (out).
type linear struct{}

func (linear) Info() Info {
	return Info{"linear", "torch.nn.functional.linear", Lower, ReadsOperands}
}
func (linear) Forward(in []*Tensor) *Tensor {
	sameDType("linear", in)
	x, w := in[0], in[1]
	dst := newTensor(x.mem.backend, x.dtype, []int{x.shape[0], w.shape[0]})
	src := []*Tensor{x, permuted(w, []int{1, 0})}
	if len(in) == 3 {
		src = append(src, in[2].alias(in[2].offset, dst.shape, expandStride(in[2], dst.shape)))
	}
	run(driver.Kernel{Code: driver.Matmul}, dst, src...)
	return dst
}
func (linear) products(in []*Tensor, y *Tensor) int { return y.Numel() * in[0].Size(-1) }
func (linear) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, len(in))
	if in[0].RequiresGrad() {
		out[0] = dy.MatMul(in[1])
	}
	if in[1].RequiresGrad() {
		out[1] = dy.T().MatMul(in[0])
	}
	if len(in) == 3 && in[2].RequiresGrad() {
		out[2] = dy.Sum(0)
	}
	return out
}

// Linear returns t wᵀ + b for t (…, in), w (out, in) and b (out), which may be nil:
// (…, out). The bias joins the float32 sum, which is rounded once. It is
// torch.nn.functional.linear.
func (t *Tensor) Linear(w, b *Tensor) *Tensor {
	in := []*Tensor{t, w}
	if b != nil {
		in = append(in, b)
	}
	switch {
	case len(t.shape) == 0 || len(w.shape) != 2 || t.shape[len(t.shape)-1] != w.shape[1]:
		fail("linear", in, "input and weight do not fit; expected (…, in) and (out, in)")
	case b != nil && !slices.Equal(b.shape, w.shape[:1]):
		fail("linear", in, "weight and bias do not fit; expected (out, in) and (out,)")
	}
	to := append(slices.Clone(t.shape[:len(t.shape)-1]), w.shape[0])
	in[0] = t.Reshape(size(t.shape[:len(t.shape)-1]), w.shape[1])
	return apply(linear{}, in...).Reshape(to...)
}
