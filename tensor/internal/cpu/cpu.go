// Package cpu is the backend "cpu" of tensor/driver: buffers in Go memory, and
// kernels on all cores, in assembly (package asm) where the processor has the
// instructions, else in portable Go. It works on views, and does not depend on tensors
// or tapes.
//
// Halves are widened to float32 when they are read and rounded once when they are written (package
// half). The order of every sum is defined at [sumBlock], [tree] and [product.multiply]. It depends
// only on shapes, not on the number of workers, strides or the processor. So assembly and Go give
// the same bits, for float32 products too: where the processor has no fused multiply-add, Go
// computes it ([fma]).
//
// A kernel belongs to a [family], which decides for which dtypes it is offered, checks the shapes
// and runs it. Work is divided into items of at most a few milliseconds, with a [driver.Poll]
// between them.
package cpu

import (
	"runtime"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

func init() { driver.Register(New(0)) }

// Backend is the CPU. It implements [driver.MemoryReporter], [driver.Releaser] and
// [driver.Recycler] too.
type Backend struct {
	memory
	workerPool
	tier *asm.Tier // nil: portable code
}

// New returns a backend that computes on the given number of goroutines, including the
// caller's. 0 means GOMAXPROCS at the time of Run, at most the number of processors. The bits
// of results do not depend on the number.
func New(workers int) *Backend {
	b := &Backend{}
	b.fixed = workers
	b.limit, _ = driver.Limit()
	b.pace.hot = hotBytes(thirdCache())
	b.helpers = &b.workerPool
	b.tier = asm.Best()
	return b
}

// Tier returns the name of the kernels that products use, for example "avx512" or "portable".
func (b *Backend) Tier() string {
	if b.tier == nil {
		return asm.Portable
	}
	return b.tier.Name
}

// Name returns "cpu".
func (*Backend) Name() string { return "cpu" }

// Synchronize returns at once: Run has finished when it returns.
func (*Backend) Synchronize() {}

// Run computes dst from src. It panics for kernels that it does not offer, and for views that do
// not match the kernel's comment.
func (b *Backend) Run(k driver.Kernel, dst driver.View, src ...driver.View) {
	familyFor(k, dst, src).run(b, k, dst, src)
	runtime.KeepAlive(dst.Buffer)
	runtime.KeepAlive(src)
}

// Offers reports whether Run accepts c with these dtypes: every code except those for GPUs,
// and every dtype except integers where they are meaningless, for example in derivatives and
// quotients.
func (*Backend) Offers(c driver.Code, dst driver.DType, src ...driver.DType) bool {
	return familyOf(c, dst, src) != nil
}
