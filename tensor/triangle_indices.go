package tensor

// TrilIndices returns the rows and the columns of the elements of a matrix (rows, columns)
// up to the k-th diagonal above the main one, in row-major order: (2, count), int64. It is
// torch.tril_indices.
func TrilIndices(rows, columns, k int) *Tensor {
	t := lowerTriangle("tril_indices", rows, columns, k)
	return t.indices("tril_indices", t.count(), func(row int) (from, to int) { return 0, t.width(row) })
}

// TriuIndices returns the rows and the columns of the elements of a matrix (rows, columns)
// from the k-th diagonal above the main one on, in row-major order: (2, count), int64. It
// is torch.triu_indices.
func TriuIndices(rows, columns, k int) *Tensor {
	t := lowerTriangle("triu_indices", rows, columns, k)
	t.k-- // what is left out
	return t.indices("triu_indices", rows*columns-t.count(), func(row int) (from, to int) { return t.width(row), columns })
}

// staircase is the part of a matrix up to a diagonal.
type staircase struct{ rows, columns, k int }

// lowerTriangle checks sizes, and brings a diagonal that lies outside next to the matrix.
func lowerTriangle(op string, rows, columns, k int) staircase {
	checkShape(op, []int{rows, columns})
	return staircase{rows, columns, min(max(k, -rows), columns)}
}

// width returns how many elements of a row there are.
func (s staircase) width(row int) int { return min(max(row+1+s.k, 0), s.columns) }

// count returns how many elements there are.
func (s staircase) count() int {
	first := min(max(-s.k, 0), s.rows)               // rows above have none
	full := min(max(s.columns-1-s.k, first), s.rows) // rows from here on have all
	steps := full - first
	return steps*(first+1+s.k) + steps*(steps-1)/2 + (s.rows-full)*s.columns
}

// indices returns the rows and columns of count elements, those of each row's span.
func (s staircase) indices(op string, count int, span func(row int) (from, to int)) *Tensor {
	y := unsetTensor(CPU.backend(), Int64, checkShape(op, []int{2, count}))
	data := make([]int64, 2*count)
	at := 0
	for row := range s.rows {
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
