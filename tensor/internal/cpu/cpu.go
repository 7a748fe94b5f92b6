// Package cpu is the backend "cpu" of tensor/driver: buffers in Go memory, and
// kernels on all cores, in assembly (package asm) where the processor has the
// instructions, else in portable Go. It knows views; it knows nothing of tensors or
// tapes.
//
// Halves are widened to float32 on the way in and rounded once on the way out
// (package half). The order of every sum is a definition, stated at [sumBlock],
// [tree] and [product.multiply], that depends on shapes and on nothing else: not on the
// number of workers, not on strides, not on the processor. So assembly and Go give
// the same bits, float32 products included: where the processor has no fused
// multiply-add, Go computes it ([fma]).
//
// Work is cut into items of at most a few milliseconds, and [driver.Poll] is
// called between them.
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
	pool
	tier *asm.Tier // nil: portable code
}

// New returns a backend that computes on that many goroutines, the caller's
// among them; 0 stands for GOMAXPROCS at the time of the call of Run, or
// for the number of processors when that is less. The number changes no bit of any
// result.
func New(workers int) *Backend {
	b := &Backend{}
	b.fixed = workers
	b.limit, _ = driver.Limit()
	b.crew = &b.pool
	b.tier = asm.Best()
	return b
}

// Tier returns the name of the kernels that products use: "avx512", "portable".
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

// Run computes dst from src. It panics on kernels that it does not offer and on views that do not
// fit the kernel's comment.
func (b *Backend) Run(k driver.Kernel, dst driver.View, src ...driver.View) {
	familyFor(k, dst, src).run(b, k, dst, src)
	runtime.KeepAlive(dst.Buffer)
	runtime.KeepAlive(src)
}

// Offers reports whether Run accepts c with these dtypes: every code but those for GPUs, and
// all dtypes but integers where they have no meaning, as in derivatives and quotients.
func (*Backend) Offers(c driver.Code, dst driver.DType, src ...driver.DType) bool {
	return familyOf(c, dst, src) != nil
}
