package tensor

import "slices"

// Products of tensors of any rank, computed by matrix products.

type einsum struct{ equation *equation }

func (einsum) Info() Info { return info("einsum", "torch.einsum", SavesOperands) }
func (e einsum) products(_ []*Tensor, _ *Tensor) int {
	n := 1
	for _, s := range e.equation.sizes {
		n *= s
	}
	return n
}
func (e einsum) Forward(in []*Tensor) *Tensor {
	sameDType("einsum", in)
	return compose(e.equation.evaluate, in)
}
func (e einsum) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(e.equation.evaluate, dy, in)
}

// Einsum returns the sums of products that equation describes: "ij,jk->ik" is the matrix
// product, "ii->i" a diagonal, "bij,bjk" the products of a batch. The letters before -> name
// the dimensions of ts; letters that do not appear after it are summed over. Without -> the
// result has the letters that appear once, in alphabetical order. "..." stands for unnamed
// dimensions, which broadcast. Operands are contracted from left to right, in float32, with one
// rounding. It is torch.einsum.
func Einsum(equation string, ts ...*Tensor) *Tensor {
	given("einsum", ts...)
	if len(ts) == 0 {
		panic(&Error{Op: "einsum", Why: "no tensors given; want one for each operand of the equation"})
	}
	return apply(einsum{parseEquation(equation, ts)}, ts...)
}

type tensordot struct{ dims [2][]int }

func (tensordot) Info() Info                             { return info("tensordot", "torch.tensordot", SavesOperands) }
func (d tensordot) products(in []*Tensor, y *Tensor) int { return y.Numel() * d.inner(in) }
func (d tensordot) inner(in []*Tensor) int               { return over{dims: d.dims[0]}.count(in[0]) }
func (d tensordot) f(in []*Tensor) *Tensor {
	x, y := in[0], in[1]
	first := slices.DeleteFunc(seq(len(x.shape)), func(i int) bool { return slices.Contains(d.dims[0], i) })
	last := slices.DeleteFunc(seq(len(y.shape)), func(i int) bool { return slices.Contains(d.dims[1], i) })
	k := d.inner(in)
	shape := func(t *Tensor, dims []int) (s []int) {
		for _, i := range dims {
			s = append(s, t.shape[i])
		}
		return s
	}
	to := append(shape(x, first), shape(y, last)...)
	m, n := size(shape(x, first)), size(shape(y, last))
	x = x.Permute(append(first, d.dims[0]...)...).Reshape(m, k)
	y = y.Permute(append(slices.Clone(d.dims[1]), last...)...).Reshape(k, n)
	return x.MM(y).Reshape(to...)
}
func (d tensordot) Forward(in []*Tensor) *Tensor {
	sameDType("tensordot", in)
	return compose(d.f, in)
}
func (d tensordot) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(d.f, dy, in) }

// TensorDot returns the products of t and o, summed over pairs of dimensions: dims of t with
// others of o. The result has the remaining sizes of t, then those of o. It is
// torch.tensordot.
func (t *Tensor) TensorDot(o *Tensor, dims, others []int) *Tensor {
	t.given("tensordot")
	in := []*Tensor{t, o}
	if len(dims) != len(others) {
		fail("tensordot", in, "dimensions are %v and %v; want the same number of each", dims, others)
	}
	var d tensordot
	for i, x := range in {
		for _, dim := range [][]int{dims, others}[i] {
			dim = axis("tensordot", x, dim, len(x.shape))
			if slices.Contains(d.dims[i], dim) {
				fail("tensordot", in, "dimension %d of operand %d is named twice", dim, i)
			}
			d.dims[i] = append(d.dims[i], dim)
		}
	}
	for i, a := range d.dims[0] {
		if b := d.dims[1][i]; t.shape[a] != o.shape[b] {
			fail("tensordot", in, "dimension %d of t and dimension %d of o have sizes %d and %d; want equal sizes", a, b, t.shape[a], o.shape[b])
		}
	}
	return apply(d, in...)
}

// chainMatmul multiplies matrices in the cheapest order. The first and the last operand may
// be vectors.
type chainMatmul struct{}

func (chainMatmul) Info() Info {
	return info("chain_matmul", "torch.chain_matmul", SavesOperands)
}
func (chainMatmul) Forward(in []*Tensor) *Tensor {
	sameDType("chain_matmul", in)
	return compose(multiplyChain, in)
}
func (chainMatmul) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(multiplyChain, dy, in) }

type multiDot struct{ chainMatmul }

func (multiDot) Info() Info {
	return info("linalg_multi_dot", "torch.linalg.multi_dot", SavesOperands)
}
func (multiDot) Forward(in []*Tensor) *Tensor {
	sameDType("linalg_multi_dot", in)
	return compose(multiplyChain, in)
}

// ChainMatMul returns the product of matrices, multiplied in the cheapest order, in float32
// with one rounding. It is torch.chain_matmul.
func ChainMatMul(ts ...*Tensor) *Tensor {
	given("chain_matmul", ts...)
	if len(ts) == 0 {
		panic(&Error{Op: "chain_matmul", Why: "no tensors given; want at least 1 matrix"})
	}
	for i, t := range ts {
		if len(t.shape) != 2 || i > 0 && ts[i-1].shape[1] != t.shape[0] {
			fail("chain_matmul", ts, "operand %d does not match; want matrices (m, k), (k, n), …", i)
		}
	}
	return apply(chainMatmul{}, ts...)
}

// MultiDot is ChainMatMul for at least two matrices. The first may be a vector that stands
// for a row and the last a vector that stands for a column; their dimensions are removed from
// the result. It is torch.linalg.multi_dot.
func MultiDot(ts ...*Tensor) *Tensor {
	given("linalg_multi_dot", ts...)
	if len(ts) < 2 {
		fail("linalg_multi_dot", ts, "%d given; want at least 2 tensors", len(ts))
	}
	for i, t := range ts {
		vector := len(t.shape) == 1 && (i == 0 || i == len(ts)-1)
		if !vector && len(t.shape) != 2 || i > 0 && ts[i-1].shape[len(ts[i-1].shape)-1] != t.shape[0] {
			fail("linalg_multi_dot", ts, "operand %d does not match; want matrices (m, k), (k, n), …, where the first and the last may be vectors", i)
		}
	}
	return apply(multiDot{}, ts...)
}

func multiplyChain(ts []*Tensor) *Tensor {
	n := len(ts)
	x := slices.Clone(ts)
	row, column := len(x[0].shape) == 1, len(x[n-1].shape) == 1 && n > 1
	if row {
		x[0] = x[0].Unsqueeze(0)
	}
	if column {
		x[n-1] = x[n-1].Unsqueeze(1)
	}
	split := chainOrder(x)
	var multiply func(i, j int) *Tensor
	multiply = func(i, j int) *Tensor {
		if i == j {
			return x[i]
		}
		return multiply(i, split[i][j]).MM(multiply(split[i][j]+1, j))
	}
	y := multiply(0, n-1)
	if column {
		y = y.Squeeze(1)
	}
	if row {
		y = y.Squeeze(0)
	}
	return y
}

// chainOrder returns for matrices i to j the place where the last product splits them: the
// matrix-chain order of Cormen, Leiserson, Rivest and Stein, "Introduction to
// Algorithms", section 15.2.
func chainOrder(x []*Tensor) [][]int {
	n := len(x)
	cost, split := make([][]int, n), make([][]int, n)
	for i := range n {
		cost[i], split[i] = make([]int, n), make([]int, n)
	}
	for length := 1; length < n; length++ {
		for i := 0; i+length < n; i++ {
			j, best := i+length, -1
			for k := i; k < j; k++ {
				c := cost[i][k] + cost[k+1][j] + x[i].shape[0]*x[k].shape[1]*x[j].shape[1]
				if best < 0 || c < best {
					best, split[i][j] = c, k
				}
			}
			cost[i][j] = best
		}
	}
	return split
}
