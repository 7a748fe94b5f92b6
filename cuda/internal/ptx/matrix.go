package ptx

import (
	"math/bits"
	"strings"
	"unsafe"
)

// shape is the shape of an mma tile: A is (m,k), B is (k,n).
type shape struct{ m, n, k int }

// buildProduct decodes mma.sync.aligned with a row-major A and a column-major B. The PTX ISA
// manual defines which thread holds which elements. With group = lane/4 and quad = lane%4, element
// i of a thread is at
//
//	A (row, column)  group + 8*(i&1), quad*per + column within a register + k/2 for the upper half of the registers
//	B (row, column)  the same for rows, column group
//	C and D          group + 8*(i>>1), 2*quad + i&1
func buildProduct(in *instr) run {
	if !in.has("sync") || !in.has("aligned") || !in.has("row") || !in.has("col") {
		in.refuse("needs .sync.aligned and .row.col")
	}
	s := map[string]shape{"m16n8k4": {16, 8, 4}, "m16n8k8": {16, 8, 8}, "m16n8k16": {16, 8, 16}}[in.one("m16n8k4", "m16n8k8", "m16n8k16")]
	if s.m == 0 {
		in.refuse("shape is not supported")
	}
	in.count(4)
	td, ta, tb, tc := in.typ(0), in.typ(1), in.typ(2), in.typ(3)
	halves := ta == types["f16"] || ta == types["bf16"]
	switch {
	case ta != tb || td != tc:
		in.refuse("operand types differ")
	case halves && s.k == 4, ta == types["tf32"] && s.k == 16, !halves && ta != types["tf32"]:
		in.refuse("shape is not supported for %s", ta.name())
	case td != types["f32"] && (td != types["f16"] || ta != types["f16"]):
		in.refuse("accumulator %s is not supported for %s", td.name(), ta.name())
	}
	if ta == types["f16"] && s.k == 8 {
		in.need(65, 75)
	} else {
		in.need(70, 80)
	}
	per := 1 // elements per register
	if halves {
		per = 2
	}
	value := func(x uint64, i int) float64 { return float64(f32(x &^ 0x1FFF)) } // the tensor core cuts off
	if halves {
		_, from := halfCodec(ta)
		value = func(x uint64, i int) float64 { return from(x >> (16 * i) & 0xFFFF) }
	}
	a := in.fragment(in.args[1], s.m*s.k/32/per, types["b32"], false)
	b := in.fragment(in.args[2], s.n*s.k/32/per, types["b32"], false)
	narrow := td == types["f16"]
	tacc := types["f32"]
	count := s.m * s.n / 32
	if narrow {
		tacc, count = types["b32"], count/2
	}
	c, d := in.fragment(in.args[3], count, tacc, false), in.fragment(in.args[0], count, tacc, true)
	in.out.kind, in.out.member = opSync, -1
	return func(w *warp, m uint32) {
		if m != all {
			w.faultAt(w.first(), "only threads %#x participate, want the whole warp", m)
			return
		}
		var x [16][16]float64
		var y [8][16]float64
		for lane := range 32 {
			group, quad := lane/4, lane%4
			for i, r := range a {
				for e := range per {
					x[group+8*(i&1)][quad*per+e+4*per*(i>>1)] = value(w.r[r][lane], e)
				}
			}
			for i, r := range b {
				for e := range per {
					y[group][quad*per+e+4*per*i] = value(w.r[r][lane], e)
				}
			}
		}
		for lane := range 32 {
			group, quad := lane/4, lane%4
			var old, result [4]uint64
			for i := range old {
				old[i] = w.r[c[i>>boolInt(narrow)]][lane]
				if narrow {
					old[i] = old[i] >> (16 * (i & 1)) & 0xFFFF
				}
			}
			for i := range result {
				row, col := group+8*(i>>1), 2*quad+i&1
				sum := 0.0
				for k := range s.k {
					sum += x[row][k] * y[col][k]
				}
				if narrow {
					result[i] = toF16(sum + fromF16(old[i]))
				} else {
					result[i] = bits32(float32(sum + float64(f32(old[i]))))
				}
			}
			if narrow {
				w.r[d[0]][lane], w.r[d[1]][lane] = result[0]|result[1]<<16, result[2]|result[3]<<16
				continue
			}
			for i := range result {
				w.r[d[i]][lane] = result[i]
			}
		}
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fragment returns the registers of a matrix.
func (in *instr) fragment(a arg, n int, t typ, result bool) (list []int) {
	parts := a.list
	if a.kind != '{' {
		parts = []arg{a}
	}
	if len(parts) != n {
		in.refuse("fragment of %d registers, want %d", len(parts), n)
	}
	for _, p := range parts {
		if result {
			list = append(list, in.target(p, t))
		} else {
			list = append(list, in.source(p, t))
		}
	}
	return list
}

// buildMatrixLoad decodes ldmatrix: lanes 8i to 8i+7 hold the addresses of the rows of the i-th
// 8x8 matrix, and every lane gets two adjacent elements of each matrix.
func buildMatrixLoad(in *instr) run {
	in.need(65, 75)
	if !in.has("sync") || !in.has("aligned") || !in.has("m8n8") || in.space() != shared || in.typ(-1) != types["b16"] {
		in.refuse("only .sync.aligned.m8n8.shared.b16 is supported")
	}
	n := map[string]int{"x1": 1, "x2": 2, "x4": 4}[in.one("x1", "x2", "x4")]
	if n == 0 {
		in.refuse("needs .x1, .x2 or .x4")
	}
	trans := in.has("trans")
	in.count(2)
	d := in.fragment(in.args[0], n, types["b32"], true)
	base, offset := in.memory(in.args[1], shared)
	in.out.kind, in.out.member = opSync, -1
	return func(w *warp, m uint32) {
		if m != all {
			w.faultAt(w.first(), "only threads %#x participate, want the whole warp", m)
			return
		}
		var tiles [4][8][8]uint16
		for row := range 8 * n {
			p := w.at(shared, w.r[base][row]+offset, 16, row, reads)
			if p == nil {
				return
			}
			tiles[row/8][row%8] = *(*[8]uint16)(p)
		}
		for lane := range 32 {
			i, j := lane/4, 2*(lane%4)
			for k, r := range d {
				t := &tiles[k]
				if trans {
					w.r[r][lane] = uint64(t[j][i]) | uint64(t[j+1][i])<<16
				} else {
					w.r[r][lane] = uint64(t[i][j]) | uint64(t[i][j+1])<<16
				}
			}
		}
	}
}

// asyncCopy is a cp.async that has not been waited for.
type asyncCopy struct {
	lane, group int32
	op          int32
	dst, src    uint64
	size, valid uint64
}

// buildCopy decodes cp.async. The copy is done when it is waited for; until then the destination
// holds NaN.
func buildCopy(in *instr) run {
	in.need(70, 80)
	if !in.has("async") {
		in.refuse("unknown instruction")
	}
	switch in.one("commit_group", "wait_group", "wait_all") {
	case "commit_group":
		return func(w *warp, m uint32) {
			for l := m; l != 0; l &= l - 1 {
				w.copyGroup[bits.TrailingZeros32(l)&31]++
			}
		}
	case "wait_group":
		in.count(1)
		if in.args[0].kind != 'i' {
			in.refuse("needs a number")
		}
		n := int32(in.args[0].number)
		return func(w *warp, m uint32) { w.finishCopies(m, n) }
	case "wait_all":
		return func(w *warp, m uint32) { w.finishCopies(m, -1) }
	}
	in.ignore()
	for range 2 {
		in.has("shared")
	}
	in.has("global")
	if len(in.args) < 3 || len(in.args) > 4 || in.args[2].kind != 'i' {
		in.refuse("needs [shared], [global], a size and optionally the size of the source")
	}
	dst, dstOffset := in.memory(in.args[0], shared)
	src, srcOffset := in.memory(in.args[1], global)
	size := in.args[2].number
	if size != 4 && size != 8 && size != 16 || size != 16 && strings.Contains(in.text, ".cg.") {
		in.refuse("size %d, want 16, or 4 or 8 with .ca", size)
	}
	valid := -1
	if len(in.args) == 4 {
		valid = in.source(in.args[3], types["u32"])
	}
	return func(w *warp, m uint32) {
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m) & 31
			c := asyncCopy{int32(lane), w.copyGroup[lane], w.pc, w.r[dst][lane] + dstOffset, w.r[src][lane] + srcOffset, size, size}
			if valid >= 0 {
				if c.valid = w.r[valid][lane]; c.valid > size {
					w.faultAt(lane, "source of %d bytes, want at most %d", c.valid, size)
					return
				}
			}
			to := w.at(shared, c.dst, size, lane, writes)
			if to == nil || !w.readable(c, lane) {
				return
			}
			for i := range unsafe.Slice((*byte)(to), size) {
				*(*byte)(unsafe.Add(to, i)) = 0xFF
			}
			w.copies = append(w.copies, c)
		}
	}
}

// readable reports whether the source of a copy is valid. It must be aligned to the full size even
// if fewer bytes are read.
func (w *warp) readable(c asyncCopy, lane int) bool {
	if c.src&(c.size-1) != 0 {
		w.faultAt(lane, "misaligned: source %#x is not a multiple of %d", c.src, c.size)
		return false
	}
	if c.valid > 0 && (c.src < w.lo || c.src+c.valid > w.hi) && !w.find(c.src, c.valid) {
		w.faultAt(lane, "source %#x is outside all allocations%s", c.src, w.near(c.src))
		return false
	}
	return true
}

// finishCopies executes the copies of the threads m, except those of the last n groups.
func (w *warp) finishCopies(m uint32, n int32) {
	keep := w.copies[:0]
	for _, c := range w.copies {
		if m>>c.lane&1 == 0 || n >= 0 && c.group >= w.copyGroup[c.lane]-n {
			keep = append(keep, c)
			continue
		}
		to := unsafe.Slice(&w.block.shared[c.dst], c.size)
		clear(to)
		if c.valid > 0 {
			copy(to, unsafe.Slice((*byte)(pointer(c.src)), c.valid))
		}
	}
	w.copies = keep
}
