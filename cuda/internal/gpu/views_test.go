//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"slices"

	"halfnote/cuda/internal/fake"
	"halfnote/tensor/driver"
)

// anyView returns views of a shape with random strides and offset: axes in any order, with gaps,
// reversed, or repeated if repeats is set.
func (p *pair) anyView(d driver.DType, shape []int, repeats bool) twin {
	p.Helper()
	stride, offset := make([]int, len(shape)), p.random.IntN(4)*p.random.IntN(2)
	order := p.random.Perm(len(shape))
	if p.random.IntN(2) == 0 {
		slices.Sort(order)
		slices.Reverse(order)
	}
	last := 1
	for _, axis := range order {
		step := last
		switch p.random.IntN(10) {
		case 0:
			step = 2*last + p.random.IntN(2)
		case 1:
			step = -last
			offset += last * max(0, shape[axis]-1)
		case 2:
			if repeats {
				step = 0
			}
		}
		stride[axis] = step
		last = max(last, abs(step)*shape[axis])
	}
	return p.view(d, offset+2*last+5, 0, offset, shape, stride)
}

// few sets all elements of the buffers of t to whole numbers from -2 to 2, or from 0 to 2 for uint8.
// Sums of half precision are then exact, and many elements are equal.
func (p *pair) few(t twin) twin {
	d := t.cpu.DType
	n := t.cpu.Buffer.Bytes() / d.Size()
	numbers := p.view(driver.Int64, n, 5, 0, []int{n}, []int{1}).cpu
	p.cpu.Run(driver.Kernel{Code: driver.Affine, Alpha: 1, Beta: -2}, numbers, numbers)
	if d == driver.Uint8 {
		p.cpu.Run(driver.Kernel{Code: driver.Abs}, numbers, numbers)
	}
	all := driver.View{Buffer: t.cpu.Buffer, DType: d, Shape: []int{n}, Stride: []int{1}}
	p.cpu.Run(driver.Kernel{Code: driver.Copy}, all, numbers)
	bytes := make([]byte, t.cpu.Buffer.Bytes())
	p.cpu.Read(bytes, t.cpu.Buffer, 0)
	p.gpu.Write(t.gpu.Buffer, 0, bytes)
	return t
}

// shape returns a random shape of rank 0 to 4, sometimes with an axis of size 0 or a long one.
func (p *pair) shape() []int {
	shape := make([]int, p.random.IntN(5))
	for i := range shape {
		shape[i] = []int{1, 2, 3, 7, 8, 16, 33, 1 + p.random.IntN(40)}[p.random.IntN(8)]
	}
	if len(shape) > 0 && p.random.IntN(4) == 0 {
		shape[p.random.IntN(len(shape))] = []int{0, 130, 1030, 2100}[p.random.IntN(4)]
	}
	for (driver.View{Shape: shape}).Len() > 20000 {
		shape = shape[1:]
	}
	return shape
}

// dtype returns a random element of list.
func (p *pair) dtype(list []driver.DType) driver.DType { return list[p.random.IntN(len(list))] }

// compare runs k on both backends and compares the whole buffers of dst.
func (p *pair) compare(k driver.Kernel, dst twin, src ...twin) {
	p.Helper()
	what := fmt.Sprintf("%v along %d: %v %v %v+%d", k.Code, k.Axis, dst.cpu.DType, dst.cpu.Shape, dst.cpu.Stride, dst.cpu.Offset)
	for _, s := range src {
		what += fmt.Sprintf(" from %v %v %v+%d", s.cpu.DType, s.cpu.Shape, s.cpu.Stride, s.cpu.Offset)
	}
	p.run(k, dst, src...)
	p.same(what, dst)
}

// rounds returns the number of random views to try.
func rounds() int {
	if fake.Real() {
		return 5000
	}
	return 400
}
