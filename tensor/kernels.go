package tensor

import (
	"fmt"
	"sync"

	"halfnote/tensor/driver"
)

// The kernels that Forward methods compute with, below the tape.

// arguments are the operands passed to a backend. They are reused between calls.
type arguments struct{ views [4]driver.View }

func (a *arguments) launch(k driver.Kernel, dst *Tensor, src []driver.View) {
	done := false
	defer explain(&done, k.Code, dst, src)
	dst.mem.backend.Run(k, dst.view(), src...)
	done = true
	*a = arguments{} // release references to memory
	pooled.Put(a)
}

var pooled = sync.Pool{New: func() any { return new(arguments) }}

// run computes dst from src.
func run(k driver.Kernel, dst *Tensor, src ...*Tensor) {
	a := pooled.Get().(*arguments)
	views := a.views[:0]
	for _, s := range src {
		views = append(views, s.view())
	}
	a.launch(k, dst, views)
}

// runBroadcast is run with the operands broadcast to dst's shape.
func runBroadcast(k driver.Kernel, dst *Tensor, src ...*Tensor) {
	a := pooled.Get().(*arguments)
	views := a.views[:0]
	for _, s := range src {
		v := s.view()
		v.Shape, v.Stride = dst.shape, expandStride(s, dst.shape)
		views = append(views, v)
	}
	a.launch(k, dst, views)
}

// launch runs a kernel. It panics with an [*Error] if there is none for these dtypes.
func launch(k driver.Kernel, dst *Tensor, src []driver.View) {
	pooled.Get().(*arguments).launch(k, dst, src)
}

// explain is deferred while a kernel runs. If that panics because the backend does not offer the
// kernel, explain panics with an [*Error] instead.
func explain(done *bool, c driver.Code, dst *Tensor, src []driver.View) {
	if *done {
		return
	}
	var dtypes []DType
	for _, v := range src {
		dtypes = append(dtypes, v.DType)
	}
	if b := dst.mem.backend; !b.Offers(c, dst.dtype, dtypes...) {
		_ = recover()
		panic(named(&Error{Op: c.String(), DTypes: dtypes, Why: fmt.Sprintf("%s has no kernel for %v; convert with To to a floating-point dtype", b.Name(), dst.dtype)}))
	}
}

// elementwise returns k of in, broadcast. All operands have one dtype.
func elementwise(op string, k driver.Kernel, in ...*Tensor) *Tensor {
	dst := unsetTensor(in[0].mem.backend, in[0].dtype, broadcast(op, in))
	runBroadcast(k, dst, in...)
	return dst
}

func unary(c driver.Code, x *Tensor) *Tensor {
	return elementwise("", driver.Kernel{Code: c}, x)
}

func pairwise(op string, c driver.Code, x, y *Tensor) *Tensor {
	return elementwise(op, driver.Kernel{Code: c}, x, y)
}

// equalMask returns 1 where x equals y and 0 elsewhere, without a gradient.
func equalMask(x, y *Tensor) *Tensor { return pairwise("eq", driver.Equal, x, y) }

func affineOf(x *Tensor, alpha, beta float64) *Tensor {
	return elementwise("", driver.Kernel{Code: driver.Affine, Alpha: alpha, Beta: beta}, x)
}

// convert returns t as a contiguous tensor of dtype d, or t itself if it is one.
func convert(t *Tensor, d DType) *Tensor {
	if t.dtype == d {
		return compact(t)
	}
	dst := unsetTensor(t.mem.backend, d, t.shape)
	run(driver.Kernel{Code: driver.Copy}, dst, t)
	return dst
}

// compact returns a contiguous t, or t itself if it is contiguous.
func compact(t *Tensor) *Tensor {
	if t.IsContiguous() {
		return t
	}
	return duplicate(t)
}

// duplicate returns a contiguous copy.
func duplicate(t *Tensor) *Tensor {
	dst := unsetTensor(t.mem.backend, t.dtype, t.shape)
	run(driver.Kernel{Code: driver.Copy}, dst, t)
	return dst
}

// wide returns t in the dtype that arithmetic is computed in.
func wide(t *Tensor) *Tensor {
	if w := wideOf(t.dtype); w != t.dtype {
		return convert(t, w)
	}
	return t
}

// constant returns a scalar on t's device.
func constant(t *Tensor, d DType, value float64) *Tensor {
	c := unsetTensor(t.mem.backend, d, []int{})
	run(driver.Kernel{Code: driver.Fill, Alpha: value}, c)
	return c
}

// reduce returns c's reduction of x along dims, which keep size 1, as d: x's dtype or the dtype
// of arithmetic on it.
func reduce(c driver.Code, x *Tensor, dims []int, d DType) *Tensor {
	dst := unsetTensor(x.mem.backend, d, keepDims(x.shape, dims))
	run(driver.Kernel{Code: c}, dst, x)
	return dst
}

// narrow returns the temporary t as d.
func narrow(t *Tensor, d DType) *Tensor {
	if t.dtype == d {
		return t
	}
	y := convert(t, d)
	release(t)
	return y
}

// release frees the memory of temporaries before the garbage collector would.
func release(ts ...*Tensor) {
	for _, t := range ts {
		if r, ok := t.mem.backend.(driver.Releaser); ok {
			r.Release(t.mem.buffer)
		}
	}
}

// shaped returns x, which is contiguous, in another shape of equal size.
func shaped(x *Tensor, shape []int) *Tensor {
	return x.alias(x.offset, shape, rowMajor(shape))
}

// dropTemporaries frees the tensors of list that do not share x's memory.
func dropTemporaries(x *Tensor, list ...*Tensor) {
	for _, t := range list {
		if t.mem != x.mem {
			release(t)
		}
	}
}
