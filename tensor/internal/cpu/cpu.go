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
	"fmt"
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

// Run computes dst from src. It panics on what it does not offer and on views
// that the kernel's comment does not allow.
func (b *Backend) Run(k driver.Kernel, dst driver.View, src ...driver.View) {
	b.verify(k, dst, src)
	switch k.Code {
	case driver.Fill:
		b.fill(dst, k.Alpha)
	case driver.Copy:
		b.copy(dst, src[0])
	case driver.Sum, driver.Mean, driver.SumSquares, driver.ReduceMax, driver.ReduceMin, driver.Prod:
		switch src[0].DType.Wide() {
		case driver.Float32:
			reduce[float32](b, k.Code, dst, src[0])
		case driver.Float64:
			reduce[float64](b, k.Code, dst, src[0])
		default:
			reduce[int64](b, k.Code, dst, src[0])
		}
	case driver.Recurrence:
		switch dst.DType.Wide() {
		case driver.Float32:
			if dst.DType == driver.Float32 {
				recurrence[float32, float64](b, k, dst, src)
			} else {
				recurrence[float32, float32](b, k, dst, src)
			}
		case driver.Float64:
			recurrence[float64, float64](b, k, dst, src)
		default:
			recurrence[int64, int64](b, k, dst, src)
		}
	case driver.CumArgMax, driver.CumArgMin:
		switch src[0].DType.Wide() {
		case driver.Float32:
			cumArg[float32](b, k, dst, src[0])
		case driver.Float64:
			cumArg[float64](b, k, dst, src[0])
		default:
			cumArg[int64](b, k, dst, src[0])
		}
	case driver.Matmul, driver.Contract:
		switch f := formOf(k); dst.DType.Wide() {
		case driver.Float32:
			matmul[float32](b, f, dst, src)
		case driver.Float64:
			matmul[float64](b, f, dst, src)
		default:
			matmul[int64](b, f, dst, src)
		}
	case driver.Gather:
		b.gatherAt(k.Axis, dst, src[0], src[1])
	case driver.Scatter:
		b.scatterAt(k.Axis, dst, src[0], src[1])
	case driver.ScatterAdd, driver.ScatterMul, driver.ScatterMax, driver.ScatterMin:
		switch dst.DType {
		case driver.Float32:
			scatterAt(b, k.Axis, dst, src[0], src[1], meetingOf[float32](k.Code))
		case driver.Float64:
			scatterAt(b, k.Axis, dst, src[0], src[1], meetingOf[float64](k.Code))
		default:
			scatterAt(b, k.Axis, dst, src[0], src[1], meetingOf[int64](k.Code))
		}
	case driver.ArgMax, driver.ArgMin, driver.ArgSort:
		switch src[0].DType.Wide() {
		case driver.Float32:
			arg[float32](b, k, dst, src[0])
		case driver.Float64:
			arg[float64](b, k, dst, src[0])
		default:
			arg[int64](b, k, dst, src[0])
		}
	case driver.Unscale, driver.SGD, driver.Adam:
		b.update(updateOf(b, k, dst, src))
	case driver.Dropout:
		b.dropout(dst, src[0], src[1], float32(k.Alpha))
	case driver.Softmax, driver.LogSoftmax, driver.SoftmaxGrad, driver.LogSoftmaxGrad:
		b.softmax(k, dst, src)
	case driver.Moments, driver.Normalize, driver.NormalizeGrad, driver.NormalizeSums:
		if src[0].DType.Wide() == driver.Float64 {
			norm[float64](b, k, dst, src)
		} else {
			norm[float32](b, k, dst, src)
		}
	default:
		b.pointwise(k, dst, src)
	}
	runtime.KeepAlive(dst.Buffer)
	runtime.KeepAlive(src)
}

// Offers reports whether Run accepts c with these dtypes. It accepts every code, but
// derivatives, quotients and the like for integers.
func (*Backend) Offers(c driver.Code, dst driver.DType, src ...driver.DType) bool {
	if dst.Size() == 0 {
		return false
	}
	all := func(list []driver.DType, want driver.DType) bool {
		for _, d := range list {
			if d != want {
				return false
			}
		}
		return len(list) > 0
	}
	switch c {
	case driver.Fill:
		return len(src) == 0
	case driver.Copy:
		return len(src) == 1 && src[0].Size() > 0
	case driver.Gather, driver.Scatter:
		return len(src) == 2 && src[0] == dst && src[1] == driver.Int64
	}
	if len(src) == 0 || src[0].Size() == 0 || src[len(src)-1].IsStorage() || dst.IsStorage() {
		return false
	}
	float := dst.IsFloat()
	widened := func(d driver.DType) bool { return d.Size() < dst.Size() && dst == d.Wide() }
	switch c {
	case driver.Mean:
		return len(src) == 1 && float && (src[0] == dst || widened(src[0]))
	case driver.Sum, driver.SumSquares, driver.ReduceMax, driver.ReduceMin, driver.Prod:
		return len(src) == 1 && (src[0] == dst || widened(src[0]))
	case driver.Recurrence:
		return len(src) <= 2 && all(src, dst)
	case driver.CumArgMax, driver.CumArgMin:
		return len(src) == 1 && dst == driver.Int64
	case driver.Matmul, driver.Contract:
		return dst != driver.Bool && (len(src) == 2 || len(src) == 3) &&
			src[0] == src[1] && (src[0] == dst || float && widened(src[0])) &&
			(len(src) == 2 || src[2] == dst || src[2] == src[0])
	case driver.ScatterAdd, driver.ScatterMul, driver.ScatterMax, driver.ScatterMin:
		return len(src) == 2 && src[0] == dst && src[1] == driver.Int64 && dst == dst.Wide()
	case driver.ArgMax, driver.ArgMin, driver.ArgSort:
		return len(src) == 1 && dst == driver.Int64
	case driver.Unscale:
		return float && len(src) == 1 && src[0] == driver.Float32
	case driver.Dropout:
		return dst.Wide() == driver.Float32 && len(src) == 2 && src[0] == dst && src[1] == driver.Bool
	case driver.Softmax, driver.LogSoftmax:
		return dst.Wide() == driver.Float32 && len(src) == 1 && (src[0] == dst || widened(src[0]))
	case driver.SoftmaxGrad, driver.LogSoftmaxGrad:
		return dst.Wide() == driver.Float32 && len(src) == 2 && all(src, dst)
	case driver.SGD:
		return float && len(src) <= 2 && all(src, dst)
	case driver.Adam:
		return float && dst.Size() > 2 && len(src) == 3 && all(src, dst)
	}
	if c >= driver.Moments && c <= driver.NormalizeSums {
		return offersNorm(c, dst, src)
	}
	if int(c) >= len(pointwises) || len(src) != pointwises[c].operands || !offered(pointwises[c], src[len(src)-1]) {
		return false
	}
	switch c {
	case driver.Equal, driver.Less, driver.LessEqual:
		return src[0] == src[1] && (dst == driver.Bool || dst == src[0])
	case driver.Where:
		return all(src[1:], dst) && (src[0] == driver.Bool || src[0] == dst)
	}
	return all(src, dst)
}

// offered reports whether there is a loop of p for what d is computed in.
func offered(p pointwise, d driver.DType) bool {
	switch {
	case d == driver.Float64:
		return p.f64 != nil
	case d.IsFloat():
		return p.f32 != nil
	}
	return p.i64 != nil
}

// dtypesOf appends the dtypes of views to list.
func dtypesOf(list []driver.DType, views []driver.View) []driver.DType {
	for _, v := range views {
		list = append(list, v.DType)
	}
	return list
}

// verify panics on what Run does not offer and on views that do not fit.
func (b *Backend) verify(k driver.Kernel, dst driver.View, src []driver.View) {
	var room [4]driver.DType
	if !b.Offers(k.Code, dst.DType, dtypesOf(room[:0], src)...) {
		panic(fmt.Sprintf("cpu: %v: not offered for %v from %v", k.Code, dst.DType, dtypesOf(nil, src)))
	}
	check(k, dst, src)
}

// check panics unless shapes fit together as the code's comment in package
// driver asks.
func check(k driver.Kernel, dst driver.View, src []driver.View) {
	c := k.Code
	if c == driver.Matmul || c == driver.Contract {
		formOf(k).check(c, dst, src)
		return
	}
	for i, v := range src {
		ok := len(v.Shape) == len(dst.Shape)
		for axis := range v.Shape {
			if !ok {
				break
			}
			n, want := v.Shape[axis], dst.Shape[axis]
			switch {
			case c == driver.Unscale:
			case c >= driver.Sum && c <= driver.Prod || c == driver.ArgMax || c == driver.ArgMin || c == driver.Moments && i == 0 || c == driver.NormalizeSums && i > 0:
				ok = n == want || want == 1
			case c >= driver.Gather && c <= driver.ScatterMin:
				ok = true // below
			default:
				ok = n == want
			}
		}
		if c == driver.Unscale {
			ok = v.Len() == 1
		}
		if !ok {
			panic(fmt.Sprintf("cpu: %v: operand %d has shape %v, which does not fit the result's %v", c, i, v.Shape, dst.Shape))
		}
	}
	if c >= driver.Gather && c <= driver.ScatterMin {
		checkPositions(k, dst, src[0], src[1])
	}
}
