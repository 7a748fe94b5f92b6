//go:build cuda && linux && cgo

package gpu

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"halfnote/cuda/internal/drv"
	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// VectorWidth returns the number of elements in 16 bytes, the unit in which products read, or 1 for
// dtypes whose products do not benefit.
func (b *Backend) VectorWidth(d driver.DType) int {
	if !d.IsFloat() || d.IsStorage() || d == driver.Float64 {
		return 1
	}
	return 16 / d.Size()
}

// ScratchLimit returns 1 GiB, an eighth of a small GPU's memory.
func (b *Backend) ScratchLimit() int { return 1 << 30 }

// maxMargins is the number of axes of Margins.
const maxMargins = 6

// margins is Margins of pad.cu.
type margins struct {
	rank          uint32
	size          [maxMargins]divider
	before, there [maxMargins]int32
	_             uint32
	to, from      [maxMargins]int64
}

// channels is Channels of pad.cu.
type channels struct {
	count         uint32
	before, there int32
	_             uint32
	from          int64
}

// Pad sets dst to src surrounded by zeros, with before of them in front of src along each axis.
// It follows dst's memory layout.
func (b *Backend) Pad(dst, src driver.View, before []int) {
	driver.Poll()
	if len(dst.Shape) > maxMargins || len(src.Shape) != len(dst.Shape) || len(before) != len(dst.Shape) || src.DType != dst.DType {
		panic(text.Sprintf("%s: pad: src %v %v, dst %v %v, zeros before %v; want equal dtypes and ranks, rank at most %d", b.name, src.Shape, src.DType, dst.Shape, dst.DType, before, maxMargins))
	}
	b.begin(dst, []driver.View{src})
	b.pad(dst, src, before)
	runtime.KeepAlive(dst.Buffer)
	runtime.KeepAlive(src.Buffer)
}

func (b *Backend) pad(dst, src driver.View, before []int) {
	n := dst.Len()
	if n == 0 {
		return
	}
	order := make([]int, len(dst.Shape))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(abs(dst.Stride[j]), abs(dst.Stride[i])) })
	if n > maxItems { // one half at a time
		axis := slices.IndexFunc(dst.Shape, func(n int) bool { return n > 1 })
		half := dst.Shape[axis] / 2
		front, back, later := dst, dst, slices.Clone(before)
		front.Shape, back.Shape = slices.Clone(dst.Shape), slices.Clone(dst.Shape)
		front.Shape[axis], back.Shape[axis] = half, dst.Shape[axis]-half
		back.Offset += half * dst.Stride[axis]
		later[axis] -= half
		b.pad(front, src, before)
		b.pad(back, src, later)
		return
	}
	last := len(order) - 1
	packs := last >= 0 && b.turnsPacks(dst, src, order[last])
	var m margins
	for i, axis := range order {
		if packs && i == last || dst.Shape[axis] == 1 && before[axis] == 0 && src.Shape[axis] == 1 {
			continue
		}
		m.size[m.rank] = dividerOf(dst.Shape[axis])
		m.before[m.rank], m.there[m.rank] = int32(before[axis]), int32(src.Shape[axis])
		m.to[m.rank], m.from[m.rank] = int64(dst.Stride[axis]), int64(src.Stride[axis])
		m.rank++
	}
	a, size := newArgs(), dst.DType.Size()
	if !packs {
		a.I32(int32(n))
		b.padded(a, dst, src, &m)
		b.launchItems(kernel{"pad", fmt.Sprint("pad_", size)}, n, a)
		return
	}
	axis := order[last]
	count := dst.Shape[axis]
	places := n / count
	a.I32(int32(places))
	b.padded(a, dst, src, &m)
	a.Bytes(bytesOf(&channels{count: uint32(count), before: int32(before[axis]), there: int32(src.Shape[axis]), from: int64(src.Stride[axis])}))
	grid := [3]uint32{uint32((places + 63) / 64), uint32((count*size + 127) / 128), 1}
	b.launch(kernel{"pad", fmt.Sprint("pad_turned_", size)}, grid, [3]uint32{threads, 1, 1}, 0, a)
}

// padded adds the parameters shared by both kernels.
func (b *Backend) padded(a *drv.Args, dst, src driver.View, m *margins) {
	a.Ptr(pointer(dst))
	a.Ptr(pointer(src))
	a.Bytes(bytesOf(m))
}

// turnsPacks reports whether dst is written in units of 16 bytes along an axis where elements of
// src are not adjacent.
func (b *Backend) turnsPacks(dst, src driver.View, axis int) bool {
	size := dst.DType.Size()
	if size != 2 && size != 4 || dst.Stride[axis] != 1 || src.Stride[axis] == 1 && src.Shape[axis] > 1 {
		return false
	}
	n := 16 / size
	for other, stride := range dst.Stride {
		if other != axis && dst.Shape[other] > 1 && stride%n != 0 {
			return false
		}
	}
	const most = 65535 // limit of a grid's y
	return pointer(dst)%16 == 0 && dst.Shape[axis]%n == 0 && dst.Shape[axis]*size <= most*128
}
