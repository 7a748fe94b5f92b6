//go:build cuda && linux && cgo

package gpu

import (
	"fmt"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

func init() {
	offer(family{func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
		return dst == driver.Int64 && len(src) == 1 && src[0].Size() > 0 && !src[0].IsStorage()
	}, argSort}, driver.ArgSort)
}

// Maximum line lengths for sorting by counting, and in one block. Longer lines are sorted in
// tiles of sortTile, digit by digit, as many lines at a time as fit in sortRoom.
const (
	sortFew  = 64
	sortTile = 4096
	sortRoom = 256 << 20
)

// sorting holds the parameters of kernels of sort.cu: Source, and the number of bits in which
// keys may differ.
type sorting struct {
	source struct {
		at       drv.Ptr
		flip     uint64
		step     int64
		dtype, n uint32
	}
	bits int
	wide bool // 64-bit keys
}

func (s sorting) kernel(name string) kernel {
	if s.wide {
		return kernel{"sort", name + "_64"}
	}
	return kernel{"sort", name + "_32"}
}

// keyBytes is the size of a key.
func (s sorting) keyBytes() int {
	if s.wide {
		return 8
	}
	return 4
}

// argSort sets dst to the order of src along the axis.
func argSort(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	x := src[0]
	n := x.Shape[k.Axis]
	if x.Len() == 0 {
		return
	}
	if n > maxItems {
		panic(fmt.Sprintf("%s: argsort: axis has %d elements; want at most %d", b.name, n, maxItems))
	}
	s := sorting{bits: 8 * x.DType.Size(), wide: x.DType.Size() == 8}
	s.source.step, s.source.dtype, s.source.n = int64(x.Stride[k.Axis]), uint32(x.DType), uint32(n)
	if driver.ParamsOf[driver.SortParams](k).Descending {
		s.source.flip = 1<<64 - 1
	}
	step := dst.Stride[k.Axis]
	walkOf(first(dst, k.Axis), first(x, k.Axis)).parts(func(axes *axes, lines int, offset []int) {
		s.source.at = pointer(x) + drv.Ptr(offset[1]*x.DType.Size())
		b.sortLines(s, pointer(dst)+drv.Ptr(8*offset[0]), step, lines, axes)
	})
}

// first returns v at index 0 of an axis.
func first(v driver.View, axis int) driver.View {
	v.Shape = append([]int(nil), v.Shape...)
	v.Shape[axis] = 1
	return v
}

// sortLines sets dst to the orders of lines.
func (b *Backend) sortLines(s sorting, dst drv.Ptr, step, lines int, axes *axes) {
	n := int(s.source.n)
	if n > sortTile {
		b.sortLong(s, dst, step, lines, axes)
		return
	}
	if n > sortFew {
		b.sortBlocks(s, dst, step, 0, 0, lines, axes)
		return
	}
	a := newArgs()
	a.Ptr(dst)
	a.I64(int64(step))
	a.Bytes(bytesOf(&s.source))
	a.I32(int32(lines))
	a.Bytes(bytesOf(axes))
	b.launchItems(s.kernel("sort_few"), (lines+threads/n-1)/(threads/n)*threads, a)
}

// sortBlocks sorts lines of at most sortTile elements in a block each. It writes the order to
// dst, or to order together with the keys.
func (b *Backend) sortBlocks(s sorting, dst drv.Ptr, step int, keys, order drv.Ptr, lines int, axes *axes) {
	each := 1
	for threads*each < int(s.source.n) {
		each *= 4
	}
	a := newArgs()
	a.Ptr(dst)
	a.I64(int64(step))
	a.Ptr(keys)
	a.Ptr(order)
	a.Bytes(bytesOf(&s.source))
	a.I32(int32(s.bits))
	a.I32(int32(lines))
	a.Bytes(bytesOf(axes))
	b.launchItems(s.kernel(fmt.Sprintf("sort_block%d", each)), lines*threads, a)
}

// sortLong sorts lines of more than sortTile elements into dst; if dst is nil, it sorts one line
// and returns its keys and order in buffers.
func (b *Backend) sortLong(s sorting, dst drv.Ptr, step, lines int, axes *axes) (keys, order driver.Buffer) {
	n := int(s.source.n)
	tiles := (n + sortTile - 1) / sortTile
	together := max(1, min(lines, sortRoom/(n*(s.keyBytes()+4)*2), 1<<16-1))
	passes := (s.bits + 7) / 8
	buffers := 1 // buffers of keys and places, between passes
	if passes > 1 {
		buffers = 2
	}
	var room [2]struct{ keys, places driver.Buffer }
	for i := range room[:buffers] {
		room[i].keys, room[i].places = b.scratch(n*together*s.keyBytes()), b.scratch(n*together*4)
	}
	counts, totals := b.scratch(together*tiles*256*4), b.scratch(together*256*4)
	last := 0
	for first := 0; first < lines; first += together {
		count := uint32(min(together, lines-first))
		in, places := s, drv.Ptr(0)
		for pass := range passes {
			a := newArgs()
			a.Ptr(at(counts))
			a.Bytes(bytesOf(&in.source))
			a.I32(int32(8 * pass))
			a.I32(int32(first))
			a.Bytes(bytesOf(axes))
			b.launch(s.kernel("sort_count"), [3]uint32{uint32(tiles), count, 1}, [3]uint32{threads, 1, 1}, 0, a)
			a = newArgs()
			a.Ptr(at(counts))
			a.Ptr(at(totals))
			a.I32(int32(tiles))
			b.launch(kernel{"sort", "sort_scan"}, [3]uint32{256, count, 1}, [3]uint32{threads, 1, 1}, 0, a)
			last = pass % 2
			to := drv.Ptr(0)
			if pass == passes-1 {
				to = dst
			}
			a = newArgs()
			a.Ptr(to)
			a.I64(int64(step))
			a.Ptr(at(room[last].keys))
			a.Ptr(at(room[last].places))
			a.Ptr(at(counts))
			a.Ptr(at(totals))
			a.Bytes(bytesOf(&in.source))
			a.Ptr(places)
			a.I32(int32(8 * pass))
			a.I32(int32(first))
			a.Bytes(bytesOf(axes))
			b.launch(s.kernel("sort_move"), [3]uint32{uint32(tiles), count, 1}, [3]uint32{threads, 1, 1}, 0, a)
			in.source.at, in.source.dtype, in.source.flip = at(room[last].keys), 0, 0
			places = at(room[last].places)
		}
	}
	for i := range room[:buffers] {
		if dst == 0 && i == last {
			continue
		}
		b.Release(room[i].keys)
		b.Release(room[i].places)
	}
	b.Release(counts)
	b.Release(totals)
	if dst != 0 {
		return nil, nil
	}
	return room[last].keys, room[last].places
}

// sortKeys sorts n keys that differ in their lowest bits only, and returns them with their
// original places.
func (b *Backend) sortKeys(keys driver.Buffer, n, bits int, wide bool) (sorted, order driver.Buffer) {
	s := sorting{bits: bits, wide: wide}
	s.source.at, s.source.n = at(keys), uint32(n)
	none := &axes{rank: 1}
	none.size[0] = dividerOf(1)
	if n > sortTile {
		return b.sortLong(s, 0, 0, 1, none)
	}
	sorted, order = b.scratch(n*s.keyBytes()), b.scratch(4*n)
	b.sortBlocks(s, 0, 0, at(sorted), at(order), 1, none)
	return sorted, order
}

// at returns a buffer's address.
func at(b driver.Buffer) drv.Ptr { return bufferOf(b).at() }
