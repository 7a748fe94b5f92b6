package cpu

import (
	"math"
	"runtime"
	"sync"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
	"halfnote/tensor/internal/half"
)

// Count counts the kinds of numbers in v. It implements [driver.Counter].
func (b *Backend) Count(v driver.View) driver.Counts {
	switch v.DType {
	case driver.Float16:
		return count(b, v, pattern[uint16]{0x7fff, 0x0400, 0x7c00, 0x7c01})
	case driver.BFloat16:
		return count(b, v, pattern[uint16]{0x7fff, 0x0080, 0x7f80, 0x7f81})
	case driver.Float32:
		return count(b, v, pattern[uint32]{1<<31 - 1, 1 << 23, 0xff << 23, 0xff<<23 + 1})
	case driver.Float64:
		return count(b, v, pattern[uint64]{1<<63 - 1, 1 << 52, 0x7ff << 52, 0x7ff<<52 + 1})
	case driver.Float8E5M2:
		return count(b, v, pattern[uint8]{0x7f, 0x04, 0x7c, 0x7d})
	case driver.Float8E4M3:
		return count(b, v, pattern[uint8]{0x7f, 0x08, 0x7f, 0x7f})
	}
	switch v.DType.Size() {
	case 1:
		return zeros[uint8](b, v)
	case 2:
		return zeros[uint16](b, v)
	case 4:
		return zeros[uint32](b, v)
	default:
		return zeros[uint64](b, v)
	}
}

// pattern holds the bits of a format, without the sign, that separate the kinds of
// numbers.
type pattern[E uint8 | uint16 | uint32 | uint64] struct {
	magnitude E // all bits but the sign
	normal    E // the least normal number
	inf, nan  E // the least of each; equal in a format without infinity
}

// census holds counts. least is stored as bits less 1, so that 0 becomes the largest
// value and never counts.
type census[E uint8 | uint16 | uint32 | uint64] struct {
	zeros, subnormals, infs, nans int
	least, most                   E
}

// count counts the elements of v, in parts.
func count[E uint8 | uint16 | uint32 | uint64](b *Backend, v driver.View, p pattern[E]) driver.Counts {
	var mu sync.Mutex
	none := ^E(0)
	all := census[E]{least: none}
	parts(b, v, func(part []E) {
		c := census[E]{least: none}
		part = part[c.addFast(part, p):]
		for len(part) > 0 {
			n := min(len(part), chunk)
			c.add(part[:n], p)
			part = part[n:]
		}
		mu.Lock()
		all.merge(c)
		mu.Unlock()
	})
	c := driver.Counts{Count: v.Len(), Zeros: all.zeros, Subnormals: all.subnormals, Infs: all.infs, NaNs: all.nans, AbsMin: math.NaN(), AbsMax: math.NaN()}
	if all.most > 0 {
		c.AbsMin, c.AbsMax = value(all.least+1, v.DType), value(all.most, v.DType)
	}
	return c
}

// addFast counts the elements that assembly can count, from the first on, and returns
// their number.
func (c *census[E]) addFast(part []E, p pattern[E]) int {
	n := len(part) &^ 31
	var kernel asm.Count
	switch unsafe.Sizeof(p.inf) {
	case 2:
		kernel = loops.Count16
	case 4:
		kernel = loops.Count32
	}
	if kernel == nil || n == 0 {
		return 0
	}
	var found asm.Census
	format := asm.Format{Magnitude: uint32(p.magnitude), Normal: uint32(p.normal), Inf: uint32(p.inf), NaN: uint32(p.nan)}
	kernel(unsafe.Pointer(&part[0]), n, &format, &found)
	c.merge(census[E]{found.Zeros, found.Subnormals, found.Infs, found.NaNs, E(found.Least), E(found.Most)})
	return n
}

// add counts a chunk. If all elements are zero or normal, it takes three comparisons
// per element.
func (c *census[E]) add(part []E, p pattern[E]) {
	least, most := ^E(0), E(0)
	zeros := 0
	for _, x := range part {
		x &= p.magnitude
		if x == 0 {
			zeros++
		}
		least = min(least, x-1)
		most = max(most, x)
	}
	if most < p.inf && least >= p.normal-1 {
		c.zeros += zeros
		c.least, c.most = min(c.least, least), max(c.most, most)
		return
	}
	for _, x := range part {
		switch x &= p.magnitude; {
		case x == 0:
			c.zeros++
			continue
		case x >= p.nan:
			c.nans++
			continue
		case x >= p.inf:
			c.infs++
			continue
		case x < p.normal:
			c.subnormals++
		}
		c.least, c.most = min(c.least, x-1), max(c.most, x)
	}
}

func (c *census[E]) merge(d census[E]) {
	c.zeros += d.zeros
	c.subnormals += d.subnormals
	c.infs += d.infs
	c.nans += d.nans
	c.least, c.most = min(c.least, d.least), max(c.most, d.most)
}

func zeros[E uint8 | uint16 | uint32 | uint64](b *Backend, v driver.View) driver.Counts {
	var mu sync.Mutex
	c := driver.Counts{Count: v.Len(), AbsMin: math.NaN(), AbsMax: math.NaN()}
	parts(b, v, func(part []E) {
		n := 0
		for _, x := range part {
			if x == 0 {
				n++
			}
		}
		mu.Lock()
		c.Zeros += n
		mu.Unlock()
	})
	return c
}

// countItem is the number of elements that one goroutine counts at a time: in assembly
// this takes less time than waking another goroutine.
const countItem = 64 * chunk

// parts calls body for all elements of v, in parts, on several goroutines at once.
func parts[E any](b *Backend, v driver.View, body func(part []E)) {
	defer runtime.KeepAlive(v.Buffer)
	l, mem := layoutOf(v), elements[E](bufferOf(v.Buffer))
	if n := v.Len(); n <= countItem && l.dense() {
		body(mem[l.offset : l.offset+n])
		return
	}
	b.ranges(v.Len(), countItem, func(lo, hi int) {
		if l.dense() {
			body(mem[l.offset+lo : l.offset+hi])
			return
		}
		part := make([]E, hi-lo)
		gather(part, mem, l, lo)
		body(part)
	})
}

// value returns the number that bits represent in d.
func value[E uint8 | uint16 | uint32 | uint64](bits E, d driver.DType) float64 {
	switch d {
	case driver.Float16:
		return float64(half.Float16frombits(uint16(bits)))
	case driver.BFloat16:
		return float64(half.BFloat16frombits(uint16(bits)))
	case driver.Float8E4M3:
		return float8(half.FromFloat8E4M3, uint8(bits))
	case driver.Float8E5M2:
		return float8(half.FromFloat8E5M2, uint8(bits))
	case driver.Float32:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(uint64(bits))
}

func float8(convert func(dst []float32, src []uint8), bits uint8) float64 {
	var x [1]float32
	convert(x[:], []uint8{bits})
	return float64(x[0])
}
