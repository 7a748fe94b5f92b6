package tensor

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
