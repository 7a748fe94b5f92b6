//go:build cuda && linux && cgo

package gpu

import (
	"errors"
	"sync"

	"halfnote/cuda/internal/lt"
	"halfnote/tensor/driver"
)

// cublas is the cublasLt library, loaded for the first product.
type cublas struct {
	once   sync.Once
	handle *lt.Handle // nil if it is not installed
	err    error      // reason for the failure to load
}

func (b *Backend) cublas() *lt.Handle {
	c := &b.library
	c.once.Do(func() { c.handle, c.err = lt.Open(b.device.Context()) })
	return c.handle
}

// Library returns the file of cublasLt that computes products, or an error if it cannot be
// loaded; then the backend uses its own kernels.
func (b *Backend) Library() (string, error) {
	if h := b.cublas(); h != nil {
		return h.File(), nil
	}
	return "", b.library.err
}

var ltTypes = map[driver.DType]lt.Type{
	driver.Float16: lt.Float16, driver.BFloat16: lt.BFloat16, driver.Float32: lt.Float32, driver.Float64: lt.Float64,
}

// matrix returns the distance between lines, or between the elements of a line if they are not
// adjacent along k. ok is false if the distances vary.
func (o operand) matrix(lines, depth int) (distance int, along, ok bool) {
	if len(o.lines) > 1 || len(o.depth) > 1 || len(o.batch) > 1 {
		return 0, false, false
	}
	l, k := o.lines.inner().stride, o.depth.inner().stride
	switch {
	case lines == 1 && (k == 1 || depth == 1):
		return depth, true, true
	case (k == 1 || depth == 1) && l >= depth:
		return l, true, true
	case (l == 1 || lines == 1) && k >= lines:
		return k, false, true
	case l == 1 && depth == 1:
		return lines, false, true
	}
	return 0, false, false
}

// matrix returns the distance between rows; columns are adjacent.
func (r result) matrix(rows, columns int) (distance int, ok bool) {
	if len(r.rows) > 1 || len(r.columns) > 1 || len(r.batch) > 1 || columns > 1 && r.columns.inner().stride != 1 {
		return 0, false
	}
	if rows == 1 {
		return columns, true
	}
	d := r.rows.inner().stride
	return d, d >= columns
}

// productByLibrary multiplies with cublasLt, and reports whether it could. cublasLt takes
// column-major matrices: D's transpose is that of B times that of A.
func (b *Backend) productByLibrary(folded *product, dst driver.View, src []driver.View) bool {
	p := folded.unfolded()
	ldb, kb, ok1 := p.b.matrix(p.n, p.k)
	lda, ka, ok2 := p.a.matrix(p.m, p.k)
	ldd, ok3 := p.d.matrix(p.m, p.n)
	factors, known := ltTypes[p.dtype]
	if !ok1 || !ok2 || !ok3 || !known || p.k == 0 || p.batches > 1 && p.d.batch.inner().stride < p.n || p.a.batch.inner().stride < 0 || p.b.batch.inner().stride < 0 {
		return false
	}
	h := b.cublas()
	if h == nil {
		return false
	}
	s := lt.Shape{
		M: p.n, N: p.m, K: p.k, Batches: p.batches, Factors: factors, Results: ltTypes[p.d.dtype],
		LDA: ldb, LDB: lda, LDC: ldd, LDD: ldd, TransposeA: kb, TransposeB: !ka,
		A: p.b.batch.inner().stride, B: p.a.batch.inner().stride, C: p.d.batch.inner().stride, D: p.d.batch.inner().stride,
		TF32: p.tf32,
	}
	o := lt.Operands{A: uintptr(p.b.at), B: uintptr(p.a.at), C: uintptr(p.d.at), D: uintptr(p.d.at)}
	if p.c.at == 0 {
		return b.runLibrary(h, s, o, 0)
	}
	if p.c.dtype == p.d.dtype {
		if c := p.c; (len(c.rows) == 0 && p.m == 1 || c.rows.repeats()) && (len(c.batch) == 0 || c.batch.repeats()) && c.columns.run() == p.n {
			biased, with := s, o
			biased.Bias, with.Bias = true, uintptr(c.at)
			if b.runLibrary(h, biased, with, 0) {
				return true
			}
		}
		if ldc, ok := p.c.matrix(p.m, p.n); ok && (p.batches == 1 || p.c.batch.inner().stride > 0) {
			s.LDC, s.C, o.C = ldc, p.c.batch.inner().stride, uintptr(p.c.at)
			return b.runLibrary(h, s, o, 1)
		}
	}
	if _, err := b.plan(h, s, o); err != nil {
		return false
	}
	b.Run(driver.Kernel{Code: driver.Copy}, dst, src[2])
	return b.runLibrary(h, s, o, 1)
}

// plan returns the library's plan.
func (b *Backend) plan(h *lt.Handle, s lt.Shape, o lt.Operands) (*lt.Plan, error) {
	size := func(t lt.Type) int {
		for d, other := range ltTypes {
			if t == other {
				return d.Size()
			}
		}
		return 1
	}
	factor, result := size(s.Factors), size(s.Results)
	for i, at := range [4]uintptr{o.A | uintptr(s.A*factor), o.B | uintptr(s.B*factor), o.C | uintptr(s.C*result), o.D | uintptr(s.D*result)} {
		s.Align[i] = int((at | 256) & -(at | 256))
	}
	return h.Plan(s, o.Bias)
}

// runLibrary enqueues a product, and reports whether the library supports it.
func (b *Backend) runLibrary(h *lt.Handle, s lt.Shape, o lt.Operands, beta float64) bool {
	plan, err := b.plan(h, s, o)
	if err != nil {
		return false
	}
	room, err := b.AllocUnset(plan.Workspace())
	b.must(err)
	defer b.Release(room)
	o.Workspace = uintptr(bufferOf(room).at())
	turn := b.stream.enter()
	err = h.Run(plan, o, beta, b.stream.Handle())
	b.stream.leave(turn)
	if errors.Is(err, lt.NotSupported) {
		return false
	}
	b.must(err)
	return true
}
