package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
)

// A float32 product of high precision ([driver.Kernel].High) is a product of bfloat16 matrices with three times as many
// elements along k. A number x becomes two: hi is x rounded to bfloat16, and lo is x - hi rounded to bfloat16. For each
// block of 32 elements of k there are three blocks, which hold lo, hi and hi of the first operand, and hi, lo and hi of the
// second, so that small products are added before large ones. lo times lo is left out: it is less than 2^-16 of
// the product. The last block is padded with zeros.

// lows reports for each of the three blocks whether it holds lo.
type lows [3]bool

var firstLows, secondLows = lows{true, false, false}, lows{false, true, false}

// splitUnit is the number of elements along k for a block of 32 elements of float32. Parts of k are multiples of it.
const splitUnit = blockLen * len(lows{})

// splitLen returns the number of elements along k of the bfloat16 matrices for k of float32.
func splitLen(k int) int { return (k + blockLen - 1) / blockLen * splitUnit }

// splitting holds what an operand of bfloat16 is made of.
type splitting struct {
	from  operand // float32
	lows  lows
	slots int // slots of a block
}

// splitOf returns the operand of bfloat16 for one of float32. It refers to s.
func (g *gemm) splitOf(s *splitting, from operand, l lows) operand {
	*s = splitting{from, l, g.slots(blockLen)}
	o := from
	o.split, o.even, o.spread, o.packing = s, false, nil, nil
	if g.tier.Packs != nil {
		o.packing = &g.tier.Packs.BF16
	}
	o.inner = layout{n: splitLen(from.inner.len())}
	return o
}

// packSplit is pack for an operand with a splitting: it packs a panel of float32, splits the numbers, and packs their parts.
func (o *operand) packSplit(dst unsafe.Pointer, width, first, lines, k0, kc int) {
	from := o.split.from
	from.base = o.base // of the matrix of the batch
	k, n := k0/len(lows{}), kc/len(lows{})
	count, given := n*width, min(n, from.inner.len()-k)
	panel := panelSize(width, (n+15)/16*16)
	room := takeBytes(panel + count*8)
	defer room.give()
	x, wide := unsafe.Slice((*float32)(room.base), count), unsafe.Slice((*float32)(unsafe.Add(room.base, panel)), count)
	hi := unsafe.Slice((*uint16)(unsafe.Add(room.base, panel+count*4)), count)
	lo := unsafe.Slice((*uint16)(unsafe.Add(room.base, panel+count*6)), count)
	from.pack(room.base, width, first, lines, k, given)
	clear(x[given*width:])
	if loops.SplitBF16 != nil {
		loops.SplitBF16(unsafe.Pointer(&hi[0]), unsafe.Pointer(&lo[0]), room.base, count)
	} else {
		narrow(hi, x, driver.BFloat16)
		widen(wide, hi, driver.BFloat16)
		sub(x, x, wide, nil, 0, 0)
		narrow(lo, x, driver.BFloat16)
	}
	part := operand{dtype: driver.BFloat16, size: 2, even: true, across: 2, along: width * 2, lines: layout{n: width}, packing: o.packing}
	size := o.split.slots * width * 4
	for at := 0; at < count; at += blockLen * width {
		var same unsafe.Pointer // the block of hi, once it is packed
		for _, low := range o.split.lows {
			switch {
			case low:
				part.base = unsafe.Pointer(&lo[at])
				part.pack(dst, width, 0, width, 0, blockLen)
			case same == nil:
				part.base, same = unsafe.Pointer(&hi[at]), dst
				part.pack(dst, width, 0, width, 0, blockLen)
			default:
				copy(unsafe.Slice((*byte)(dst), size), unsafe.Slice((*byte)(same), size))
			}
			dst = unsafe.Add(dst, size)
		}
	}
}

// split sets room to the parts of elements k0/3 … of a line l at a position, for portable code.
func (m *matrix[T]) split(l layout, at, k0 int, room []T) {
	var wide [chunk]T
	var halves [blockLen]uint16
	var hi, lo [blockLen]T
	k := k0 / len(lows{})
	line := wide[:len(room)/len(lows{})]
	given := min(len(line), l.len()-k)
	copy(line, m.part(l, at, k, wide[:given]))
	for ; len(line) > 0; line = line[blockLen:] {
		narrow(halves[:], line[:blockLen], driver.BFloat16)
		widen(hi[:], halves[:], driver.BFloat16)
		sub(lo[:], line[:blockLen], hi[:], nil, 0, 0)
		narrow(halves[:], lo[:], driver.BFloat16)
		widen(lo[:], halves[:], driver.BFloat16)
		for _, low := range m.lows {
			if low {
				copy(room, lo[:])
			} else {
				copy(room, hi[:])
			}
			room = room[blockLen:]
		}
	}
}
