package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// kernelsFor returns this processor's kernels of rows of a dtype, which are nil where it has none.
func kernelsFor(d driver.DType) *asm.RowKernels {
	switch d {
	case driver.Float32:
		return &norms.RowKernels
	case driver.Float16:
		return &norms.Float16
	case driver.BFloat16:
		return &norms.BFloat16
	}
	return new(asm.RowKernels)
}

// dtypeOf returns the dtype of memory that holds T.
func dtypeOf[T number]() driver.DType {
	switch any(T(0)).(type) {
	case float32:
		return driver.Float32
	case float64:
		return driver.Float64
	}
	return driver.Int64
}

// address returns the address of n elements from lo on, or nil if they are not adjacent.
func (r *reader[T]) address(lo, n int) unsafe.Pointer {
	at := r.layout.offset + lo
	if !r.layout.dense() {
		var ok bool
		if at, ok = r.layout.inRun(lo, n); !ok {
			return nil
		}
	}
	if n == 0 {
		return nil
	}
	switch {
	case r.halves != nil:
		return unsafe.Pointer(&r.halves[at:][:n][0])
	case r.asIs():
		return unsafe.Pointer(&r.wide[at:][:n][0])
	}
	return nil
}

// softmaxRows computes [driver.Softmax] and its kin by assembly for adjacent rows of at most one block,
// and reports whether it could.
func (b *Backend) softmaxRows(k driver.Kernel, dst reader[float32], src []reader[float32], rows, n int) bool {
	run, first := kernelsFor(dst.dtype), kernelsFor(src[0].dtype)
	if run.ExpRows == nil || first.ExpRows == nil || n > block || !dst.layout.dense() {
		return false
	}
	for i := range src {
		if !src[i].layout.dense() {
			return false
		}
	}
	each := max(1, copyItem/4/n)
	b.each((rows+each-1)/each, func(item int) {
		withScratch(func(s *scratch[float32]) {
			together := min(len(s.in)*chunk/n, chunk)
			room := unsafe.Pointer(&s.in[0][0])
			for row, end := item*each, min(rows, (item+1)*each); row < end; row += together {
				count := min(together, end-row)
				at := func(r *reader[float32]) unsafe.Pointer { return r.address(row*n, count*n) }
				to, x, sums := at(&dst), at(&src[0]), s.out[:count]
				switch k.Code {
				case driver.Softmax:
					first.ExpRows(room, unsafe.Pointer(&sums[0]), x, count, n)
					run.QuotientRows(to, room, unsafe.Pointer(&sums[0]), count, n)
				case driver.LogSoftmax:
					first.ShiftRows(room, unsafe.Pointer(&sums[0]), x, count, n)
					evaluateAll(asm.Log, sums, sums, nil, 0)
					run.LowerRows(to, room, unsafe.Pointer(&sums[0]), count, n)
				case driver.SoftmaxGrad:
					run.SoftmaxGradRows(to, x, at(&src[1]), count, n)
				default:
					run.LogSoftmaxGradRows(to, x, at(&src[1]), count, n)
				}
			}
		})
	})
	return true
}
