package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// diagonal is a view whose last dimension holds the elements (i, i+offset) of dimensions
// dim1 and dim2.
type diagonal struct{ offset, dim1, dim2 int }

func (diagonal) Info() Info                     { return info("diagonal", "torch.diagonal", SavesNothing) }
func (diagonal) fixed()                         {}
func (d diagonal) Forward(in []*Tensor) *Tensor { return d.of(in[0]) }
func (d diagonal) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(diagonalGrad{d, in[0].shape}, dy)}
}

func (d diagonal) of(x *Tensor) *Tensor {
	rows, cols, at := x.shape[d.dim1], x.shape[d.dim2], x.offset
	if d.offset >= 0 {
		cols = max(cols-d.offset, 0)
	} else {
		rows = max(rows+d.offset, 0)
	}
	n := min(rows, cols)
	if n > 0 {
		at += max(d.offset, 0)*x.stride[d.dim2] + max(-d.offset, 0)*x.stride[d.dim1]
	}
	var shape, stride []int
	for i := range x.shape {
		if i != d.dim1 && i != d.dim2 {
			shape, stride = append(shape, x.shape[i]), append(stride, x.stride[i])
		}
	}
	return x.alias(at, append(shape, n), append(stride, x.stride[d.dim1]+x.stride[d.dim2]))
}

// Diagonal returns a view in which dimensions dim1 and dim2 are replaced by a last dimension
// with their elements (i, i+offset). It is torch.diagonal.
func (t *Tensor) Diagonal(offset, dim1, dim2 int) *Tensor {
	t.given("diagonal")
	n := len(t.shape)
	a, b := axis("diagonal", t, dim1, n), axis("diagonal", t, dim2, n)
	if a == b {
		fail("diagonal", []*Tensor{t}, "dimensions %d and %d are the same; want two different dimensions", dim1, dim2)
	}
	return apply(diagonal{offset, a, b}, t)
}

// diagonalGrad puts its operand on the diagonal of a zero tensor of the given shape.
type diagonalGrad struct {
	diagonal
	shape []int
}

func (diagonalGrad) Info() Info {
	return info("diagonal_backward", "torch.ops.aten.diagonal_backward", SavesNothing)
}
func (d diagonalGrad) Forward(in []*Tensor) *Tensor {
	y := newTensor(in[0].mem.backend, in[0].dtype, d.shape)
	run(driver.Kernel{Code: driver.Copy}, d.of(y), in[0])
	return y
}
func (d diagonalGrad) VJP(dd, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(d.diagonal, dd)}
}

// DiagEmbed returns matrices with the rows of t on the k-th diagonal above the main diagonal
// and 0 elsewhere. It is torch.diag_embed.
func (t *Tensor) DiagEmbed(k int) *Tensor {
	t.given("diag_embed")
	last := axis("diag_embed", t, -1, len(t.shape))
	n := t.shape[last] + max(k, -k)
	return apply(diagonalGrad{diagonal{k, last, last + 1}, append(slices.Clone(t.shape[:last]), n, n)}, t)
}

// Diag returns a matrix with the vector t on the k-th diagonal above the main diagonal, or a
// view of that diagonal of a matrix t. It is torch.diag.
func (t *Tensor) Diag(k int) *Tensor {
	t.given("diag")
	switch len(t.shape) {
	case 1:
		return t.DiagEmbed(k)
	case 2:
		return t.Diagonal(k, 0, 1)
	}
	fail("diag", []*Tensor{t}, "t is %d-D; want a vector or a matrix", len(t.shape))
	return nil
}

type trace struct{}

func (trace) Info() Info { return info("trace", "torch.trace", SavesNothing) }
func (trace) Forward(in []*Tensor) *Tensor {
	return (sum{over: over{dims: []int{0}}}).Forward([]*Tensor{(diagonal{0, 0, 1}).of(in[0])})
}
func (trace) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	n := min(in[0].shape[0], in[0].shape[1])
	return []*Tensor{apply(diagonalGrad{diagonal{0, 0, 1}, in[0].shape}, dy.expandTo([]int{n}))}
}

// Trace returns the sum of the diagonal of a matrix; integers are summed in int64. It is
// torch.trace.
func (t *Tensor) Trace() *Tensor {
	t.given("trace")
	if len(t.shape) != 2 {
		fail("trace", []*Tensor{t}, "t is %d-D; want a matrix", len(t.shape))
	}
	return apply(trace{}, t)
}

// triangle keeps one triangle of matrices.
type triangle struct {
	k     int
	upper bool
}

type (
	tril struct{ triangle }
	triu struct{ triangle }
)

func (tril) Info() Info { return info("tril", "torch.tril", SavesNothing) }
func (triu) Info() Info { return info("triu", "torch.triu", SavesNothing) }

func (a triangle) Forward(in []*Tensor) *Tensor {
	x := in[0]
	m, n := x.shape[len(x.shape)-2], x.shape[len(x.shape)-1]
	column := Arange(0, float64(n)).To(Int64).ToDevice(x.Device())
	diagonal := Arange(float64(a.k), float64(m+a.k)).To(Int64).ToDevice(x.Device()).Reshape(m, 1)
	kept := newTensor(x.mem.backend, Bool, []int{m, n})
	if a.upper {
		runBroadcast(driver.Kernel{Code: driver.LessEqual}, kept, diagonal, column)
	} else {
		runBroadcast(driver.Kernel{Code: driver.LessEqual}, kept, column, diagonal)
	}
	y := newTensor(x.mem.backend, x.dtype, x.shape)
	runBroadcast(driver.Kernel{Code: driver.Where}, y, kept, x, y)
	return y
}
func (a tril) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{apply(a, dy)} }
func (a triu) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{apply(a, dy)} }

// Tril returns matrices (…, m, n) with 0 above the k-th diagonal above the main diagonal. It is
// torch.tril.
func (t *Tensor) Tril(k int) *Tensor { return apply(tril{triangle{matrices("tril", t, k), false}}, t) }

// Triu returns matrices (…, m, n) with 0 below the k-th diagonal above the main diagonal. It is
// torch.triu.
func (t *Tensor) Triu(k int) *Tensor { return apply(triu{triangle{matrices("triu", t, k), true}}, t) }

// TrilIndices returns the row and column indices of the elements of a (rows, columns) matrix up
// to the k-th diagonal above the main one, in row-major order: (2, count), int64. It is
// torch.tril_indices.
func TrilIndices(rows, columns, k int) *Tensor {
	t := lowerTriangle("tril_indices", rows, columns, k)
	return t.indices("tril_indices", t.count(), t.first(), t.rows, func(row int) (from, to int) { return 0, t.width(row) })
}

// TriuIndices returns the row and column indices of the elements of a (rows, columns) matrix
// from the k-th diagonal above the main one on, in row-major order: (2, count), int64. It is
// torch.triu_indices.
func TriuIndices(rows, columns, k int) *Tensor {
	t := lowerTriangle("triu_indices", rows, columns, k)
	t.k-- // the complement's diagonal
	return t.indices("triu_indices", rows*columns-t.count(), 0, t.full(), func(row int) (from, to int) { return t.width(row), columns })
}

// staircase is the part of a matrix up to a diagonal.
type staircase struct{ rows, columns, k int }

// lowerTriangle checks the sizes, and clamps a diagonal that lies outside the matrix.
func lowerTriangle(op string, rows, columns, k int) staircase {
	checkShape(op, []int{rows, columns})
	return staircase{rows, columns, min(max(k, -rows), columns)}
}

// width returns the number of elements in a row.
func (s staircase) width(row int) int { return min(max(row+1+s.k, 0), s.columns) }

// first returns the first row with any elements, full the first row with all.
func (s staircase) first() int { return min(max(-s.k, 0), s.rows) }
func (s staircase) full() int  { return min(max(s.columns-1-s.k, s.first()), s.rows) }

// count returns the number of elements.
func (s staircase) count() int {
	steps := s.full() - s.first()
	return steps*(s.first()+1+s.k) + steps*(steps-1)/2 + (s.rows-s.full())*s.columns
}

// indices returns the row and column indices of count elements, those in the spans of rows
// first to last-1.
func (s staircase) indices(op string, count, first, last int, span func(row int) (from, to int)) *Tensor {
	y := unsetTensor(CPU.backend(), Int64, checkShape(op, []int{2, count}))
	if count == 0 {
		return y.brought()
	}
	data := hostSlice[int64](op, 2*count)
	at := 0
	for row := first; row < last; row++ {
		pollAt(row)
		from, to := span(row)
		for column := from; column < to; column++ {
			pollAt(at)
			data[at], data[count+at] = int64(row), int64(column)
			at++
		}
	}
	return setContents(y, data).brought()
}
