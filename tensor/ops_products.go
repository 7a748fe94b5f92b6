package tensor

import "slices"

// crossProduct is the cross product of vectors of three elements along a dimension.
type crossProduct struct{ dim int }

func (crossProduct) Info() Info { return info("cross", "torch.cross", SavesOperands) }
func (crossProduct) promotes()  {}
func (c crossProduct) f(in []*Tensor) *Tensor {
	shape, _ := broadcastShapes(in[0].shape, in[1].shape)
	x, y := in[0].expandTo(shape), in[1].expandTo(shape)
	turned := func(t *Tensor, first int) *Tensor { // t[first:] and t[:first]
		return Cat(c.dim, t.Slice(c.dim, first, 3), t.Slice(c.dim, 0, first))
	}
	return turned(x, 1).Mul(turned(y, 2)).Sub(turned(x, 2).Mul(turned(y, 1)))
}
func (c crossProduct) Forward(in []*Tensor) *Tensor              { return compose(c.f, in) }
func (c crossProduct) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(c.f, dy, in) }

// Cross returns the cross products of the vectors of size 3 along dim of t and o, broadcast.
// It is torch.linalg.cross and torch.cross.
func (t *Tensor) Cross(o *Tensor, dim int) *Tensor {
	in := []*Tensor{t, o}
	shape := broadcast("cross", in)
	d := axis("cross", t.expandTo(shape), dim, len(shape))
	if shape[d] != 3 {
		fail("cross", in, "dimension %d has size %d; want 3", dim, shape[d])
	}
	return apply(crossProduct{d}, in...)
}

// bilinear is x w y + b. Its operands are x (n, i), y (n, j), w (o, i, j) and perhaps b
// (o).
type bilinear struct{}

func (bilinear) Info() Info {
	return info("bilinear", "torch.nn.functional.bilinear", SavesOperands)
}
func (bilinear) products(in []*Tensor, y *Tensor) int {
	w := in[2]
	return in[0].shape[0]*w.Numel() + y.Numel()*w.shape[2]
}
func (bilinear) f(in []*Tensor) *Tensor {
	y := Einsum("ni,oij,nj->no", in[0], in[2], in[1])
	if len(in) == 4 {
		y = y.Add(in[3])
	}
	return y
}
func (b bilinear) Forward(in []*Tensor) *Tensor {
	sameDType("bilinear", in)
	return compose(b.f, in)
}
func (b bilinear) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(b.f, dy, in) }

// Bilinear returns the sums of t w y over i and j, plus b, for t (…, i), y (…, j),
// w (out, i, j) and b (out), which may be nil: (…, out). It computes in float32 and rounds
// once. It is torch.nn.functional.bilinear.
func Bilinear(t, y, w, b *Tensor) *Tensor {
	given("bilinear", t, y, w)
	in := []*Tensor{t, y, w}
	if b != nil {
		in = append(in, b)
	}
	n := len(t.shape)
	switch {
	case n == 0 || len(y.shape) != n || len(w.shape) != 3 || !slices.Equal(t.shape[:n-1], y.shape[:n-1]) || t.shape[n-1] != w.shape[1] || y.shape[n-1] != w.shape[2]:
		fail("bilinear", in, "inputs and weight do not match; want (…, i), (…, j) and (out, i, j)")
	case b != nil && !slices.Equal(b.shape, w.shape[:1]):
		fail("bilinear", in, "weight and bias do not match; want (out, i, j) and (out,)")
	}
	to := append(slices.Clone(t.shape[:n-1]), w.shape[0])
	rows := size(t.shape[:n-1])
	in[0], in[1] = t.Reshape(rows, t.shape[n-1]), y.Reshape(rows, y.shape[n-1])
	return apply(bilinear{}, in...).Reshape(to...)
}

// Kron returns the Kronecker product: each element of t times the whole of o. Sizes multiply;
// missing leading sizes are 1. It is torch.kron.
func (t *Tensor) Kron(o *Tensor) *Tensor {
	given("kron", t, o)
	n := max(len(t.shape), len(o.shape))
	var first, second, to []int
	size := func(x *Tensor, i int) int {
		if i += len(x.shape) - n; i >= 0 {
			return x.shape[i]
		}
		return 1
	}
	for i := range n {
		a, b := size(t, i), size(o, i)
		first, second, to = append(first, a, 1), append(second, 1, b), append(to, a*b)
	}
	return t.Reshape(first...).Mul(o.Reshape(second...)).Reshape(to...)
}

// matrixPower is computed by repeated squaring.
type matrixPower struct{ n int }

func (m matrixPower) Info() Info {
	// The powers 0 and 1 have no product that autocast would cast.
	return info("linalg_matrix_power", "torch.linalg.matrix_power", SavesOperands).given(m.n < 2)
}
func (m matrixPower) f(in []*Tensor) *Tensor {
	x := in[0]
	var y *Tensor
	for n := m.n; n > 0; n >>= 1 {
		if n&1 == 1 {
			if y == nil {
				y = x
			} else {
				y = y.MatMul(x)
			}
		}
		if n > 1 {
			x = x.MatMul(x)
		}
	}
	if y == nil {
		k := in[0].shape[len(in[0].shape)-1]
		y = Eye(k).To(in[0].dtype).ToDevice(in[0].Device()).expandTo(in[0].shape)
	}
	return y
}
func (m matrixPower) Forward(in []*Tensor) *Tensor              { return compose(m.f, in) }
func (m matrixPower) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(m.f, dy, in) }

// MatrixPower returns the n-th power of the square matrices t (…, k, k), where n is at least 0.
// It computes in float32 and rounds once. It is torch.linalg.matrix_power.
func (t *Tensor) MatrixPower(n int) *Tensor {
	t.given("linalg_matrix_power")
	r := len(t.shape)
	switch {
	case r < 2 || t.shape[r-2] != t.shape[r-1]:
		fail("linalg_matrix_power", []*Tensor{t}, "t is not a batch of square matrices; want (…, k, k)")
	case n < 0:
		fail("linalg_matrix_power", []*Tensor{t}, "n is %d; want at least 0", n)
	}
	return apply(matrixPower{n}, t)
}
