//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"math"
	"math/bits"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

func init() {
	offers := func(c driver.Code, dst driver.DType, src []driver.DType) bool {
		return len(src) == 2 && src[0] == dst && src[1] == driver.Int64 && (c == driver.Scatter || dst == dst.Wide())
	}
	offer(family{offers, scatter}, driver.Scatter, driver.ScatterAdd, driver.ScatterMul, driver.ScatterMax, driver.ScatterMin)
}

// scattering holds the parameters of a scatter: lines along the axis of dst, x and index, and the
// walk through them.
type scattering struct {
	code          driver.Code
	dst, x, index driver.View
	size, m       int // size of dst, and of x and index, along the axis
	walk          walk
	bytes         int // element size in bytes
	kernel        string
	to, from      int // strides along the axis
	step          int // stride of the index
}

const (
	fewPositions = 16      // line length that one thread handles
	manyLines    = 1 << 14 // lines that keep the GPU busy with a thread each
)

// scatter combines elements of x with those of dst at the positions in index along the axis, for
// each element of dst in the order of x. If lines are short, or many with their own positions,
// one thread handles each. Otherwise the positions are sorted, and equal ones are handled by one
// thread, or by a row of threads if lines share the positions.
func scatter(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	x, index := src[0], src[1]
	m := x.Shape[k.Axis]
	if x.Len() == 0 {
		return
	}
	if m > maxItems { // one part after the other
		scatter(b, k, dst, []driver.View{cut(x, k.Axis, 0, m/2), cut(index, k.Axis, 0, m/2)})
		scatter(b, k, dst, []driver.View{cut(x, k.Axis, m/2, m), cut(index, k.Axis, m/2, m)})
		return
	}
	s := scattering{
		code: k.Code, dst: dst, x: x, index: index, size: dst.Shape[k.Axis], m: m, bytes: dst.DType.Size(),
		to: dst.Stride[k.Axis], from: x.Stride[k.Axis], step: index.Stride[k.Axis],
	}
	to := first(x, k.Axis)
	to.Stride = dst.Stride
	s.walk = walkOf(to, first(x, k.Axis), first(index, k.Axis))
	lines, shared := s.walk.n, true
	for _, step := range s.walk.stride[2] {
		shared = shared && step == 0
	}
	switch {
	case m <= fewPositions || lines >= manyLines && !shared:
		s.widen()
		s.lines(b)
	case shared:
		s.widen()
		s.rows(b)
	default:
		s.widenNothing()
		s.elements(b)
	}
}

// widen selects the kernel and merges adjacent elements.
func (s *scattering) widen() {
	s.widenNothing()
	least := 1
	if s.code != driver.Scatter {
		least = 16 / s.bytes
	}
	if s.size > math.MaxUint32 {
		return
	}
	n := s.walk.widen(s.bytes, least, pointer(s.dst)|pointer(s.x), s.to, s.from)
	if n == 1 {
		return
	}
	s.to, s.from, s.bytes = s.to/n, s.from/n, s.bytes*n
	if s.code == driver.Scatter {
		s.widenNothing()
	} else {
		s.kernel += "s"
	}
}

func (s *scattering) widenNothing() {
	s.kernel = s.dst.DType.String()
	if s.code == driver.Scatter {
		s.kernel = fmt.Sprint(8 * s.bytes)
	}
}

// arguments returns the first arguments of a kernel for n lines.
func (s *scattering) arguments(n int) *drv.Args {
	a := newArgs()
	a.Bytes(bytesOf(&struct {
		code, n, m, _   uint32
		to, from, index int64
	}{uint32(s.code), uint32(n), uint32(s.m), 0, int64(s.to), int64(s.from), int64(s.step)}))
	return a
}

// at returns the address of view v's line at offset.
func (s *scattering) at(v int, offset []int) drv.Ptr {
	switch v {
	case 0:
		return pointer(s.dst) + drv.Ptr(offset[0]*s.bytes)
	case 1:
		return pointer(s.x) + drv.Ptr(offset[1]*s.bytes)
	}
	return pointer(s.index) + drv.Ptr(offset[2]*8)
}

// lines gives each line a thread.
func (s *scattering) lines(b *Backend) {
	s.walk.parts(func(axes *axes, n int, offset []int) {
		a := s.arguments(n)
		for v := range 3 {
			a.Ptr(s.at(v, offset))
		}
		a.Bytes(bytesOf(axes))
		b.launchItems(kernel{"position", "scatter_lines_" + s.kernel}, n, a)
	})
}

// sorted returns the sorted positions of lines, from first, and their original places. Each
// line's positions are offset by size from those of the line before. wide reports whether they
// have 64 bits.
func (s *scattering) sorted(b *Backend, first, lines int, index drv.Ptr, axes *axes) (keys, order driver.Buffer, wide bool) {
	count := lines * s.m
	digits := bits.Len(uint(lines*s.size - 1))
	wide, name, bytes := digits > 32, "scatter_keys_32", 4
	if wide {
		name, bytes = "scatter_keys_64", 8
	}
	unsorted := b.scratch(count * bytes)
	a := s.arguments(lines)
	a.I32(int32(count))
	a.Ptr(at(unsorted))
	a.Ptr(index)
	a.I64(int64(s.size))
	m := dividerOf(s.m)
	a.Bytes(bytesOf(&m))
	a.I32(int32(first))
	a.Bytes(bytesOf(axes))
	b.launchItems(kernel{"position", name}, count, a)
	keys, order = b.sortKeys(unsorted, count, digits, wide)
	b.Release(unsorted)
	return keys, order, wide
}

// meet processes the lines in the order of the sorted keys: all lines share the keys if size is
// 0, otherwise each line has its own.
func (s *scattering) meet(b *Backend, keys, order driver.Buffer, wide bool, count, size, first, lines int, offset []int, axes *axes) {
	name := "scatter_sorted_" + s.kernel + "_32"
	if wide {
		name = "scatter_sorted_" + s.kernel + "_64"
	}
	group := 0 // threads per key, a power of two
	if size == 0 {
		group = min(bits.Len(uint(lines-1)), bits.Len(threads-1))
	}
	a := s.arguments(lines)
	a.I32(int32(count))
	a.Ptr(at(keys))
	a.Ptr(at(order))
	a.I32(int32(group))
	a.I64(int64(size))
	a.I32(int32(first))
	a.Ptr(s.at(0, offset))
	a.Ptr(s.at(1, offset))
	a.Bytes(bytesOf(axes))
	each, beside := threads>>group, 1
	if size == 0 {
		beside = min((lines+1<<group-1)>>group, 1<<16-1)
	}
	b.launch(kernel{"position", name}, [3]uint32{uint32((count + each - 1) / each), uint32(beside), 1}, [3]uint32{threads, 1, 1}, 0, a)
}

// rows sorts positions that all lines share.
func (s *scattering) rows(b *Backend) {
	none := &axes{rank: 1}
	none.size[0] = dividerOf(1)
	keys, order, wide := s.sorted(b, 0, 1, pointer(s.index), none)
	s.walk.parts(func(axes *axes, n int, offset []int) {
		s.meet(b, keys, order, wide, s.m, 0, 0, n, offset, axes)
	})
	b.Release(keys)
	b.Release(order)
}

// elements sorts the positions of all lines, or of as many as the counter allows.
func (s *scattering) elements(b *Backend) {
	together := maxItems / s.m
	s.walk.parts(func(axes *axes, n int, offset []int) {
		for first := 0; first < n; first += together {
			lines := min(together, n-first)
			keys, order, wide := s.sorted(b, first, lines, s.at(2, offset), axes)
			s.meet(b, keys, order, wide, lines*s.m, s.size, first, lines, offset, axes)
			b.Release(keys)
			b.Release(order)
		}
	})
}
