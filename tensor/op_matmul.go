package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// matmul multiplies batches of matrices, the last two dimensions.
type matmul struct{}

func (matmul) Info() Info                   { return info("matmul", "torch.matmul", SavesOperands) }
func (matmul) Forward(in []*Tensor) *Tensor { return multiply("matmul", in) }
func (matmul) products(in []*Tensor, y *Tensor) int {
	return y.Numel() * in[0].shape[len(in[0].shape)-1]
}
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

// multiply returns in[0] in[1], matrices (…, m, k) and (…, k, n) whose leading sizes
// broadcast, plus in[2], if present, which broadcasts to the product. It sums in float32 and
// rounds once.
func multiply(op string, in []*Tensor) *Tensor {
	sameDType(op, in)
	if in[0].dtype == Bool {
		failDType(op, in, "not defined for bool; want a numeric dtype: cast with To(tensor.Int64)")
	}
	dst := unsetTensor(in[0].mem.backend, in[0].dtype, productShape(in[0], in[1]))
	multiplyTo(dst, in)
	return dst
}

// multiplyTo is multiply with a destination.
func multiplyTo(dst *Tensor, in []*Tensor) {
	x, y, done := factors(in[0], in[1])
	defer done()
	views := make([]driver.View, len(in))
	for i, t := range append([]*Tensor{x, y}, in[2:]...) {
		shape := dst.shape
		if i < 2 {
			shape = append(slices.Clone(shape[:len(shape)-2]), t.shape[len(t.shape)-2:]...)
		}
		views[i] = t.view()
		views[i].Shape, views[i].Stride = shape, expandStride(t, shape)
	}
	launch(productKernel(driver.Matmul, nil), dst, views)
}

// productShape returns the shape of a matrix product.
func productShape(x, y *Tensor) []int {
	n, m := len(x.shape), len(y.shape)
	batch, _ := broadcastShapes(x.shape[:n-2], y.shape[:m-2])
	return append(slices.Clone(batch), x.shape[n-2], y.shape[m-1])
}

// MatMul returns the matrix product of t (…, m, k) and o (…, k, n), whose leading dimensions
// broadcast: (…, m, n). A vector t stands for one row and a vector o for one column; that
// dimension is removed from the result. Products are summed over k in float32 and rounded once;
// integers wrap around. It is torch.matmul.
func (t *Tensor) MatMul(o *Tensor) *Tensor {
	given("matmul", t, o)
	if len(t.shape) == 0 || len(o.shape) == 0 {
		fail("matmul", []*Tensor{t, o}, "an operand is a scalar; want (…, m, k) times (…, k, n): use Mul for numbers")
	}
	k, rows := t.shape[len(t.shape)-1], o.shape[max(len(o.shape)-2, 0)]
	if k != rows {
		fail("matmul", []*Tensor{t, o}, "the inner sizes %d and %d differ; want (…, m, k) times (…, k, n)", k, rows)
	}
	switch {
	case len(t.shape) == 1:
		row := t.Unsqueeze(0).MatMul(o)
		return row.Squeeze(max(len(o.shape)-2, 0))
	case len(o.shape) == 1:
		return t.MatMul(o.Unsqueeze(1)).Squeeze(-1)
	case len(t.shape) > 2 && len(o.shape) == 2:
		// One product instead of a batch.
		y := t.Reshape(size(t.shape[:len(t.shape)-1]), k).MatMul(o)
		return y.Reshape(append(slices.Clone(t.shape[:len(t.shape)-1]), o.shape[1])...)
	}
	if _, ok := broadcastShapes(t.shape[:len(t.shape)-2], o.shape[:len(o.shape)-2]); !ok {
		fail("matmul", []*Tensor{t, o}, "the leading dimensions do not broadcast; want (…, m, k) times (…, k, n)")
	}
	return apply(matmul{}, t, o)
}

// linear is x wᵀ + b for x (n, in), w (out, in) and perhaps b (out).
type linear struct{}

func (linear) Info() Info {
	return info("linear", "torch.nn.functional.linear", SavesOperands)
}
func (linear) products(in []*Tensor, y *Tensor) int { return y.Numel() * in[0].shape[1] }
func (linear) Forward(in []*Tensor) *Tensor {
	src := slices.Clone(in)
	src[1] = permuted(in[1], []int{1, 0})
	return multiply("linear", src)
}
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
func Linear(t, w, b *Tensor) *Tensor {
	given("linear", t, w)
	in := []*Tensor{t, w}
	if b != nil {
		in = append(in, b)
	}
	switch {
	case len(t.shape) == 0 || len(w.shape) != 2 || t.shape[len(t.shape)-1] != w.shape[1]:
		fail("linear", in, "input and weight do not match; want (…, in) and (out, in)")
	case b != nil && !slices.Equal(b.shape, w.shape[:1]):
		fail("linear", in, "weight and bias do not match; want (out, in) and (out,)")
	}
	to := append(slices.Clone(t.shape[:len(t.shape)-1]), w.shape[0])
	in[0] = t.Reshape(size(t.shape[:len(t.shape)-1]), w.shape[1])
	return apply(linear{}, in...).Reshape(to...)
}

// Products of matrices and vectors of fixed rank, under torch's names, which autocast's lists
// use. They compute as matmul does.

type mm struct{ matmul }

func (mm) Info() Info                   { return info("mm", "torch.mm", SavesOperands) }
func (mm) Forward(in []*Tensor) *Tensor { return multiply("mm", in) }

// MM returns the product of the matrices t (m, k) and o (k, n): (m, n). It is
// torch.mm.
func (t *Tensor) MM(o *Tensor) *Tensor {
	given("mm", t, o)
	if len(t.shape) != 2 || len(o.shape) != 2 || t.shape[1] != o.shape[0] {
		fail("mm", []*Tensor{t, o}, "cannot multiply the matrices; want (m, k) times (k, n)")
	}
	return apply(mm{}, t, o)
}

type bmm struct{ matmul }

func (bmm) Info() Info                   { return info("bmm", "torch.bmm", SavesOperands) }
func (bmm) Forward(in []*Tensor) *Tensor { return multiply("bmm", in) }

// BMM returns the products of batches of matrices t (b, m, k) and o (b, k, n): (b, m, n). It
// is torch.bmm.
func (t *Tensor) BMM(o *Tensor) *Tensor {
	t.given("bmm")
	if len(t.shape) != 3 || len(o.shape) != 3 || t.shape[0] != o.shape[0] || t.shape[2] != o.shape[1] {
		fail("bmm", []*Tensor{t, o}, "cannot multiply the batches of matrices; want (b, m, k) times (b, k, n)")
	}
	return apply(bmm{}, t, o)
}

type mv struct{ matmul }

func (mv) Info() Info { return info("mv", "torch.mv", SavesOperands) }
func (mv) Forward(in []*Tensor) *Tensor {
	return squeezed(multiply("mv", []*Tensor{in[0], column(in[1])}), 1)
}
func (mv) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, 2)
	if in[0].RequiresGrad() {
		out[0] = dy.Outer(in[1])
	}
	if in[1].RequiresGrad() {
		out[1] = in[0].T().MV(dy)
	}
	return out
}

// MV returns the product of the matrix t (m, k) and the vector o (k): (m). It is
// torch.mv.
func (t *Tensor) MV(o *Tensor) *Tensor {
	given("mv", t, o)
	if len(t.shape) != 2 || len(o.shape) != 1 || t.shape[1] != o.shape[0] {
		fail("mv", []*Tensor{t, o}, "cannot multiply the matrix and the vector; want (m, k) times (k,)")
	}
	return apply(mv{}, t, o)
}

// contractInto sets dst (…, m…, n…) to x (…, m…, k…) times y (…, k…, n…), plus bias, if
// non-nil, whose dimensions are dst's first ones. axes holds the numbers of m, n and k
// dimensions. See [driver.Contract]; for a backend without it the views are copied to matrices.
func contractInto(axes [3]int, dst, x, y, bias *Tensor) {
	m, n, k := axes[0], axes[1], axes[2]
	x, y, done := factors(x, y)
	defer done()
	src := []*Tensor{x, y}
	dtypes := []DType{x.dtype, y.dtype}
	if bias != nil {
		repeated := slices.Concat(bias.stride, make([]int, len(dst.shape)-len(bias.shape)))
		src, dtypes = append(src, bias.alias(bias.offset, dst.shape, repeated)), append(dtypes, bias.dtype)
	}
	if dst.mem.backend.Offers(driver.Contract, dst.dtype, dtypes...) {
		run(productKernel(driver.Contract, driver.ContractParams{Rows: m, Columns: n, Sum: k}), dst, src...)
		return
	}
	lead := len(dst.shape) - m - n
	matrix := func(t *Tensor, rows int) []int {
		return append(slices.Clone(t.shape[:lead]), size(t.shape[lead:lead+rows]), size(t.shape[lead+rows:]))
	}
	for i, rows := range []int{m, k, m}[:len(src)] {
		t := duplicate(src[i])
		defer release(t)
		src[i] = shaped(t, matrix(t, rows))
	}
	matrices := newTensor(dst.mem.backend, dst.dtype, matrix(dst, m))
	run(productKernel(driver.Matmul, nil), matrices, src...)
	run(driver.Kernel{Code: driver.Copy}, dst, shaped(matrices, dst.shape))
	release(matrices)
}
