package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// Operations that add a tensor to a matrix product, beta in[0] + alpha in[1] in[2], with one
// rounding.

// AddMMOptions are the factors of AddMM, AddBMM, AddMV, AddR and BAddBMM.
type AddMMOptions struct {
	Beta  float64 // factor of the tensor itself; 0 stands for 1. To leave the tensor out use MM
	Alpha float64 // factor of the product; 0 stands for 1
}

// addmm is the operation for matrices; the others reshape their operands to it.
type addmm struct{ beta, alpha float64 }

func (addmm) Info() Info { return info("addmm", "torch.addmm", SavesOperands) }
func (addmm) products(in []*Tensor, y *Tensor) int {
	return y.Numel() * in[1].shape[len(in[1].shape)-1]
}
func (a addmm) Forward(in []*Tensor) *Tensor { return a.add("addmm", in[0], in[1], in[2]) }
func (a addmm) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return a.derivatives(dy, in, dy, in[1], in[2])
}

// add returns c beta + x y alpha.
func (a addmm) add(op string, c, x, y *Tensor) *Tensor {
	if a.beta == 1 && a.alpha == 1 {
		return multiply(op, []*Tensor{x, y, c})
	}
	d := x.dtype
	sameDType(op, []*Tensor{c, x, y})
	if !d.IsFloat() && (a.beta != float64(int64(a.beta)) || a.alpha != float64(int64(a.alpha))) {
		failDType(op, []*Tensor{c, x, y}, "factors are %v and %v; want whole numbers for integer tensors", a.beta, a.alpha)
	}
	sum := unsetTensor(x.mem.backend, wideOf(d), productShape(x, y))
	if d.IsFloat() {
		multiplyTo(sum, []*Tensor{x, y})
	} else {
		multiplyTo(sum, []*Tensor{convert(x, sum.dtype), convert(y, sum.dtype)})
	}
	if a.alpha != 1 {
		run(driver.Kernel{Code: driver.Affine, Alpha: a.alpha}, sum, sum)
	}
	runBroadcast(driver.Kernel{Code: driver.AddScaled, Alpha: a.beta}, sum, sum, wide(c))
	return narrow(sum, d)
}

// derivatives returns the gradients of in for the gradient dy. d, x and y are dy, in[1] and
// in[2] as matrices; the gradients of in[1] and in[2] have the shapes of x and y.
func (a addmm) derivatives(dy *Tensor, in []*Tensor, d, x, y *Tensor) []*Tensor {
	out := make([]*Tensor, 3)
	if in[0].RequiresGrad() {
		out[0] = dy.scaled(a.beta).sumTo(in[0])
	}
	if in[1].RequiresGrad() {
		out[1] = d.MatMul(y.Transpose(-1, -2)).scaled(a.alpha)
	}
	if in[2].RequiresGrad() {
		out[2] = x.Transpose(-1, -2).MatMul(d).scaled(a.alpha)
	}
	return out
}

// scaled returns t if c is 1, and otherwise Scale.
func (t *Tensor) scaled(c float64) *Tensor {
	if c == 1 {
		return t
	}
	return t.MulScalar(c)
}

// AddMM returns t + x y for matrices x (m, k) and y (k, n): (m, n). t broadcasts to that
// shape and joins the float32 sum, which is rounded once. It is torch.addmm.
func (t *Tensor) AddMM(x, y *Tensor, o AddMMOptions) *Tensor {
	given("addmm", t, x, y)
	in := []*Tensor{t, x, y}
	if len(x.shape) != 2 || len(y.shape) != 2 || x.shape[1] != y.shape[0] {
		fail("addmm", in, "cannot multiply the matrices; want (m, k) times (k, n)")
	}
	return apply(o.factors("addmm", in, x.shape[0], y.shape[1]), in...)
}

type baddbmm struct{ addmm }

func (baddbmm) Info() Info                     { return info("baddbmm", "torch.baddbmm", SavesOperands) }
func (b baddbmm) Forward(in []*Tensor) *Tensor { return b.add("baddbmm", in[0], in[1], in[2]) }

// BAddBMM returns t + x y for batches of matrices x (b, m, k) and y (b, k, n): (b, m, n). t
// broadcasts to that shape. It rounds once. It is torch.baddbmm.
func (t *Tensor) BAddBMM(x, y *Tensor, o AddMMOptions) *Tensor {
	in := []*Tensor{t, x, y}
	checkBatches("baddbmm", in)
	return apply(baddbmm{o.factors("baddbmm", in, x.shape[0], x.shape[1], y.shape[2])}, in...)
}

// addbmm is one sum over a batch of matrices and their inner dimension.
type addbmm struct{ addmm }

func (addbmm) Info() Info { return info("addbmm", "torch.addbmm", SavesOperands) }
func (addbmm) products(in []*Tensor, y *Tensor) int {
	return y.Numel() * in[1].shape[0] * in[1].shape[2]
}
func (a addbmm) Forward(in []*Tensor) *Tensor {
	x, y := compact(permuted(in[1], []int{1, 0, 2})), compact(in[2])
	k := x.shape[1] * x.shape[2]
	return a.add("addbmm", in[0], shaped(x, []int{x.shape[0], k}), shaped(y, []int{k, y.shape[2]}))
}

// AddBMM returns t plus the sum over b of x y, for the matrices x (b, m, k) and
// y (b, k, n): (m, n). t broadcasts to that shape. It rounds once. It is torch.addbmm.
func (t *Tensor) AddBMM(x, y *Tensor, o AddMMOptions) *Tensor {
	in := []*Tensor{t, x, y}
	checkBatches("addbmm", in)
	return apply(addbmm{o.factors("addbmm", in, x.shape[1], y.shape[2])}, in...)
}

type addmv struct{ addmm }

func (addmv) Info() Info { return info("addmv", "torch.addmv", SavesOperands) }
func (a addmv) Forward(in []*Tensor) *Tensor {
	return squeezed(a.add("addmv", column(in[0]), in[1], column(in[2])), 1)
}
func (a addmv) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := a.derivatives(dy, in, dy.Unsqueeze(1), in[1], in[2].Unsqueeze(1))
	if out[2] != nil {
		out[2] = out[2].Squeeze(1)
	}
	return out
}

// AddMV returns t + x y for a matrix x (m, k) and a vector y (k): (m). t broadcasts to that
// shape. It rounds once. It is torch.addmv.
func (t *Tensor) AddMV(x, y *Tensor, o AddMMOptions) *Tensor {
	given("addmv", t, x, y)
	in := []*Tensor{t, x, y}
	if len(x.shape) != 2 || len(y.shape) != 1 || x.shape[1] != y.shape[0] {
		fail("addmv", in, "cannot multiply the matrix and the vector; want (m, k) times (k,)")
	}
	return apply(addmv{o.factors("addmv", in, x.shape[0])}, in...)
}

type addr struct{ addmm }

func (addr) Info() Info                          { return info("addr", "torch.addr", SavesOperands) }
func (addr) promotes()                           {}
func (addr) products(_ []*Tensor, y *Tensor) int { return y.Numel() }
func (a addr) Forward(in []*Tensor) *Tensor {
	return a.add("addr", in[0], column(in[1]), row(in[2]))
}
func (a addr) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := a.derivatives(dy, in, dy, in[1].Unsqueeze(1), in[2].Unsqueeze(0))
	if out[1] != nil {
		out[1] = out[1].Squeeze(1)
	}
	if out[2] != nil {
		out[2] = out[2].Squeeze(0)
	}
	return out
}

// AddR returns t plus the outer product of the vectors x (m) and y (n): (m, n). t broadcasts
// to that shape. It rounds once. It is torch.addr.
func (t *Tensor) AddR(x, y *Tensor, o AddMMOptions) *Tensor {
	given("addr", t, x, y)
	in := []*Tensor{t, x, y}
	if len(x.shape) != 1 || len(y.shape) != 1 {
		fail("addr", in, "the outer product needs two vectors; want (m,) and (n,)")
	}
	return apply(addr{o.factors("addr", in, x.shape[0], y.shape[0])}, in...)
}

func checkBatches(op string, in []*Tensor) {
	given(op, in...)
	x, y := in[1], in[2]
	if len(x.shape) != 3 || len(y.shape) != 3 || x.shape[0] != y.shape[0] || x.shape[2] != y.shape[1] {
		fail(op, in, "cannot multiply the batches of matrices; want (b, m, k) times (b, k, n)")
	}
}

// factors returns the operation of o. It panics unless in[0] broadcasts to shape.
func (o AddMMOptions) factors(op string, in []*Tensor, shape ...int) addmm {
	if got, ok := broadcastShapes(shape, in[0].shape); !ok || !slices.Equal(got, shape) {
		fail(op, in, "cannot broadcast %s to the product's shape %s", shapeString(in[0].shape), shapeString(shape))
	}
	a := addmm{o.Beta, o.Alpha}
	if a.beta == 0 {
		a.beta = 1
	}
	if a.alpha == 0 {
		a.alpha = 1
	}
	return a
}
