package cpu

import (
	"slices"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// normGradient holds the operands of normGrad.
type normGradient[T real] struct {
	dy, x reader[T]
	to    writer[T]
	f     factors[T]
	run   func(dst, dy, x unsafe.Pointer, rows, n int, row *asm.Factors) // nil if the views need other code
}

func normGradientOf[T real](dst driver.View, src []driver.View) normGradient[T] {
	g := normGradient[T]{dy: read[T](src[0]), x: read[T](src[1]), to: write[T](dst)}
	views := append([]driver.View{absent}, src[2:6]...)
	if len(src) == 7 {
		views[0] = src[6]
	}
	g.f = factorsOf(dst.Shape, seqTo(len(dst.Shape)), []T{1}, views...)
	g.run = g.f.gradKernel(kernelsFor(dst.DType))
	for i, r := range []*reader[T]{&g.dy, &g.x, &g.to.reader} {
		if i < 2 && src[i].DType != dst.DType || !r.layout.dense() {
			g.run = nil
		}
	}
	return g
}

// fast sets elements lo … hi-1 by run.
func (g *normGradient[T]) fast(lo, hi int) {
	var row asm.Factors
	g.f.tiles(lo, hi, func(at viewOffsets, rows, count int) {
		g.f.row(at, &row)
		g.run(g.to.address(lo, rows*count), g.dy.address(lo, rows*count), g.x.address(lo, rows*count), rows, count, &row)
		lo += rows * count
	})
}

// normGrad sets dst to ((dy*w - first) - ((x-mean)*scale)*second)*scale.
func normGrad[T real](b *Backend, dst driver.View, src []driver.View) {
	g := normGradientOf[T](dst, src)
	b.ranges(dst.Len(), copyItem, func(lo, hi int) {
		if g.run != nil {
			g.fast(lo, hi)
			return
		}
		withScratch(func(s *scratch[T]) {
			each := chunk
			if g.dy.bulk() && g.x.bulk() && g.to.bulk() {
				each = bulk
			}
			for ; lo < hi; lo += each {
				n := min(each, hi-lo)
				out := g.to.spare(lo, n, s.out[:])
				g.f.grad(out, g.dy.some(lo, n, s.in[0][:]), g.x.some(lo, n, s.in[1][:]), lo)
				g.to.put(lo, out)
			}
		})
	})
}

// gradRows is the number of elements whose sums and gradients normGradAndSums computes in turn. They are in the L2 cache
// then.
const gradRows = 32 << 10

// normGradAndSums is normGrad with the results of normSums, along the axes where mean repeats. If these are rows in memory,
// it computes the sums of a few rows and then their gradients.
func normGradAndSums[T real](b *Backend, dst driver.View, src []driver.View, divisor T) {
	first, second := b.sumsLike(src[2]), b.sumsLike(src[2])
	defer b.Release(first.Buffer)
	defer b.Release(second.Buffer)
	sources := append([]driver.View{second}, src...)
	g := normGradientOf[T](dst, slices.Insert(slices.Clone(src), 4, repeated(first, dst.Shape), repeated(second, dst.Shape)))
	n, order := normSumOf[T](first, sources)
	r := n.dy
	if dst.Len() == 0 || g.run == nil || r.blocks != 1 || r.columns > 0 || !slices.IsSorted(order) || n.both.rowLength() != r.count || n.kernel(r.dtype) == nil {
		normSums(b, first, sources, divisor)
		normGrad[T](b, dst, slices.Insert(slices.Clone(src), 4, repeated(first, dst.Shape), repeated(second, dst.Shape)))
		return
	}
	sums, products := elements[T](bufferOf(first.Buffer)), elements[T](bufferOf(second.Buffer))
	each := max(1, gradRows/r.count)
	b.ranges(r.outs, max(each, copyItem/r.count/each*each), func(lo, hi int) {
		for i := lo; i < hi; i += each {
			k := min(each, hi-i)
			at, size := i*r.count, k*r.count
			n.addFast(sums[i:i+k], products[i:i+k], r.dtype, r.address(at, size), n.x.address(at, size), at, r.count)
			for j := i; j < i+k; j++ {
				sums[j] /= divisor
				products[j] /= divisor
			}
			g.fast(at, at+size)
		}
	})
}

// sumsLike returns a new contiguous view of v's dtype and shape, but with size 1 along the axes where v repeats.
func (b *Backend) sumsLike(v driver.View) driver.View {
	s := driver.View{DType: v.DType, Shape: slices.Clone(v.Shape), Stride: make([]int, len(v.Shape))}
	n := 1
	for i := len(v.Shape) - 1; i >= 0; i-- {
		if v.Stride[i] == 0 {
			s.Shape[i] = 1
		}
		s.Stride[i] = n
		n *= s.Shape[i]
	}
	buffer, err := b.AllocUnset(n * v.DType.Size())
	if err != nil {
		panic(err)
	}
	s.Buffer = buffer
	return s
}

// repeated returns v with shape, in which the axes of size 1 repeat.
func repeated(v driver.View, shape []int) driver.View {
	stride := slices.Clone(v.Stride)
	for i, n := range v.Shape {
		if n == 1 {
			stride[i] = 0
		}
	}
	v.Shape, v.Stride = shape, stride
	return v
}

// gradKernel is normalizeKernel for [factors.grad], without a bias.
func (f *factors[T]) gradKernel(k *asm.RowKernels) func(dst, dy, x unsafe.Pointer, rows, n int, row *asm.Factors) {
	switch step := f.inner(); {
	case f.rowLength() < fast/2 || step[1]|step[2]|step[3]|step[4] != 0:
	case step[0] == 0:
		return k.NormGrad
	case step[0] == 1:
		return k.NormGradRow
	}
	return nil
}

func (f *factors[T]) grad(out, dy, x []T, lo int) {
	step, m := f.inner(), &f.memory
	quick := f.gradKernel(kernelsFor(dtypeOf[T]()))
	var row asm.Factors
	f.tiles(lo, lo+len(out), func(at viewOffsets, rows, count int) {
		n := rows * count
		y, g, v := out[:n], dy[:n], x[:n]
		out, dy, x = out[n:], dy[n:], x[n:]
		if quick != nil && count >= fast/2 {
			f.row(at, &row)
			quick(unsafe.Pointer(&y[0]), unsafe.Pointer(&g[0]), unsafe.Pointer(&v[0]), rows, count, &row)
			return
		}
		next := f.outer()
		for r := range rows {
			for i := range count {
				scale, p := m[2][at[2]+i*step[2]], r*count+i
				z := (v[p] - m[1][at[1]+i*step[1]]) * scale
				y[p] = (T(g[p]*m[0][at[0]+i*step[0]]) - m[3][at[3]+i*step[3]] - T(z*m[4][at[4]+i*step[4]])) * scale
			}
			for i := range at {
				at[i] += next[i]
			}
		}
	})
}
