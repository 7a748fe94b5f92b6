package tensor

import (
	"fmt"
	"slices"
	"strings"
)

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
		panic(named(&Error{Op: "einsum", Why: "no tensors given; want one for each operand of the equation"}))
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
		panic(named(&Error{Op: "chain_matmul", Why: "no tensors given; want at least 1 matrix"}))
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

func (e einsum) parts(in []*Tensor) *Tensor { return e.equation.evaluateBy(in, pairUp) }

// parts sums the products of all elements without a matrix product, as torch does.
func (d tensordot) parts(in []*Tensor) *Tensor {
	if len(d.dims[0]) != len(in[0].shape) || len(d.dims[1]) != len(in[1].shape) {
		return d.f(in)
	}
	return in[0].Permute(d.dims[0]...).Ravel().Dot(in[1].Permute(d.dims[1]...).Ravel())
}

func (chainMatmul) parts(in []*Tensor) *Tensor { return multiplyChain(in) }

// equation is a parsed Einsum equation for operands of known shapes. Labels are letters; the
// dimensions of an ellipsis have the labels 0, 1, …, the last label being the last dimension.
type equation struct {
	labels [][]byte // labels of each operand's dimensions
	out    []byte
	sizes  map[byte]int
}

// parseEquation parses text, or panics with an [*Error] that quotes it.
func parseEquation(text string, in []*Tensor) *equation {
	wrong := func(format string, args ...any) {
		fail("einsum", in, "equation %q: "+format, append([]any{text}, args...)...)
	}
	left, right, explicit := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(in) {
		wrong("it has %d operands; want %d, the number of tensors", len(terms), len(in))
	}
	e := &equation{sizes: map[byte]int{}}
	ellipsis := 0
	for i, term := range terms {
		letters, n := strings.Replace(term, "...", "", 1), 0
		if len(letters) != len(term) {
			n = len(in[i].shape) - len(letters)
		}
		checkLetters(letters, wrong)
		if n < 0 || n == 0 && len(letters) != len(in[i].shape) {
			wrong("operand %d is %d-dimensional; want the dimensions of %q", i, len(in[i].shape), term)
		}
		ellipsis = max(ellipsis, n)
	}
	if ellipsis > 'A' {
		wrong("an ellipsis stands for %d dimensions; want at most %d", ellipsis, 'A')
	}
	for i, term := range terms {
		n := len(in[i].shape) - len(strings.Replace(term, "...", "", 1))
		labels := expandEllipsis(term, ellipsis, n)
		e.labels = append(e.labels, labels)
		for d, l := range labels {
			size := in[i].shape[d]
			switch old, seen := e.sizes[l]; {
			case slices.Contains(labels[:d], l) && size != in[i].shape[slices.Index(labels, l)]:
				wrong("%s occurs twice in operand %d, with sizes %d and %d; want equal sizes", labelName(l), i, in[i].shape[slices.Index(labels, l)], size)
			case !seen || old == 1:
				e.sizes[l] = size
			case size != old && size != 1:
				wrong("%s has size %d in operand %d but size %d in an earlier one; want equal sizes, or 1", labelName(l), size, i, old)
			}
		}
	}
	if !explicit {
		e.out = e.implicit(ellipsis)
		return e
	}
	checkLetters(strings.Replace(right, "...", "", 1), wrong)
	e.out = expandEllipsis(right, ellipsis, ellipsis)
	for i, l := range e.out {
		if _, ok := e.sizes[l]; !ok {
			wrong("%s of the result does not occur in any operand", labelName(l))
		}
		if slices.Contains(e.out[:i], l) {
			wrong("%s occurs twice in the result; want each label once", labelName(l))
		}
	}
	return e
}

func checkLetters(letters string, wrong func(string, ...any)) {
	for _, r := range letters {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			wrong("%q is not a label; want letters, and at most one ... per operand", r)
		}
	}
}

// expandEllipsis returns the labels of a term. Its ellipsis stands for the last n of all
// ellipsis dimensions.
func expandEllipsis(term string, all, n int) []byte {
	before, after, has := strings.Cut(term, "...")
	labels := []byte(before)
	for i := all - n; has && i < all; i++ {
		labels = append(labels, byte(i))
	}
	return append(labels, after...)
}

func labelName(l byte) string {
	if l < 'A' {
		return "a dimension of the ellipsis"
	}
	return fmt.Sprintf("label %q", l)
}

// implicit returns the labels of the result of an equation without ->: the ellipsis, then the
// letters that occur once, in alphabetical order.
func (e *equation) implicit(ellipsis int) []byte {
	var count [256]int
	for _, labels := range e.labels {
		for _, l := range labels {
			count[l]++
		}
	}
	var out []byte
	for l := range count {
		if l < ellipsis || count[l] == 1 && l >= 'A' {
			out = append(out, byte(l))
		}
	}
	return out
}

// order returns all labels: those of the result, then those that are summed over.
func (e *equation) order() []byte {
	all := slices.Clone(e.out)
	for _, labels := range e.labels {
		for _, l := range labels {
			if !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	return all
}

// evaluate contracts the operands from left to right with matrix products.
func (e *equation) evaluate(in []*Tensor) *Tensor { return e.evaluateBy(in, contract) }

// evaluateBy is evaluate with a given function to multiply two operands and sum over dims.
func (e *equation) evaluateBy(in []*Tensor, contract func(x, y *Tensor, dims []int) *Tensor) *Tensor {
	order := e.order()
	var y *Tensor
	for i, x := range in {
		x = spreadOut(x, e.labels[i], order)
		// Labels that no later operand has can be summed over now.
		var over []int
		for d := len(e.out); d < len(order); d++ {
			if !slices.ContainsFunc(e.labels[i+1:], func(l []byte) bool { return slices.Contains(l, order[d]) }) {
				over = append(over, d)
			}
		}
		if y == nil {
			y = sumOver(x, over)
		} else {
			y = contract(y, x, over)
		}
	}
	// Summed dimensions still have size 1.
	return y.Reshape(y.shape[:len(e.out)]...)
}

// spreadOut returns x with a dimension for each label of order, of size 1 for labels that x
// lacks. A label that occurs twice in x selects the diagonal.
func spreadOut(x *Tensor, labels, order []byte) *Tensor {
	labels = slices.Clone(labels)
	for i := 0; i < len(labels); i++ {
		if j := slices.Index(labels[i+1:], labels[i]); j >= 0 {
			l := labels[i]
			j += i + 1
			x = x.Diagonal(0, i, j)
			labels = append(slices.Delete(slices.Delete(labels, j, j+1), i, i+1), l)
			i = -1
		}
	}
	var axes, shape []int
	for _, l := range order {
		if d := slices.Index(labels, l); d >= 0 {
			axes, shape = append(axes, d), append(shape, x.shape[d])
		} else {
			shape = append(shape, 1)
		}
	}
	return x.Permute(axes...).Reshape(shape...)
}

func sumOver(x *Tensor, dims []int) *Tensor {
	dims = slices.DeleteFunc(slices.Clone(dims), func(d int) bool { return x.shape[d] == 1 })
	if len(dims) == 0 {
		return x
	}
	return x.KeepDim().Sum(dims...)
}

// pairUp is contract, but uses a matrix product only to sum over dimensions of both operands.
// Otherwise it multiplies element by element.
func pairUp(x, y *Tensor, dims []int) *Tensor {
	if slices.ContainsFunc(dims, func(d int) bool { return x.shape[d] != 1 && y.shape[d] != 1 }) {
		return contract(x, y, dims)
	}
	x, y = sumsOf(x, dims, y, dims)
	return x.Mul(y)
}

// sumsOf returns the sums of x and y over dimensions. If one is a sum of integers, int64, so is the other.
func sumsOf(x *Tensor, overX []int, y *Tensor, overY []int) (*Tensor, *Tensor) {
	x, y = sumOver(x, overX), sumOver(y, overY)
	if x.dtype != y.dtype && !x.dtype.IsFloat() && !y.dtype.IsFloat() {
		x, y = x.Long(), y.Long()
	}
	return x, y
}

// contract multiplies x and y, of equal rank, and sums over dims, which keep size 1, as one
// batch of matrix products.
func contract(x, y *Tensor, dims []int) *Tensor {
	// Axes of both that are kept, of x only, of y only, and of both that are summed.
	var both, left, right, inner, xOnly, yOnly []int
	shape := make([]int, len(x.shape))
	for d := range shape {
		a, b := x.shape[d] != 1, y.shape[d] != 1
		gone := slices.Contains(dims, d)
		switch {
		case gone:
			shape[d] = 1
		case a:
			shape[d] = x.shape[d]
		default:
			shape[d] = y.shape[d]
		}
		switch {
		case gone && a && b:
			inner = append(inner, d)
		case gone && a:
			xOnly = append(xOnly, d)
		case gone && b:
			yOnly = append(yOnly, d)
		case gone:
		case a && b:
			both = append(both, d)
		case b:
			right = append(right, d)
		default:
			left = append(left, d)
		}
	}
	x, y = sumsOf(x, xOnly, y, yOnly)
	extent := func(t *Tensor, dims []int) int {
		n := 1
		for _, d := range dims {
			n *= t.shape[d]
		}
		return n
	}
	ones := func(used ...[]int) []int { // size 1 for the axes that are not used
		all := slices.Concat(used...)
		return append(all, slices.DeleteFunc(seq(len(shape)), func(d int) bool { return slices.Contains(all, d) })...)
	}
	b, k := extent(x, both), extent(x, inner)
	xs := x.Permute(ones(both, left, inner)...).Reshape(b, extent(x, left), k)
	ys := y.Permute(ones(both, inner, right)...).Reshape(b, k, extent(y, right))
	p := xs.BMM(ys)
	order := ones(both, left, right)
	sizes := make([]int, len(order))
	back := make([]int, len(order))
	for i, d := range order {
		sizes[i], back[d] = shape[d], i
	}
	return p.Reshape(sizes...).Permute(back...)
}
