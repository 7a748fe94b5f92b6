package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// broadcastPass runs an elementwise code of two float32 operands whose second operand is one number
// per row, or one row for all, without expanding it. It reports whether it did.
func broadcastPass(b *Backend, code driver.Code, dst driver.View, src []driver.View) bool {
	if len(src) != 2 || dst.DType != driver.Float32 || src[0].DType != driver.Float32 || src[1].DType != driver.Float32 {
		return false
	}
	x, y, w := read[float32](src[0]), read[float32](src[1]), write[float32](dst)
	last := len(y.layout.shape) - 1
	if !w.bulk() || !x.bulk() || last < 1 || y.layout.stride[last]&^1 != 0 || y.layout.stride[last-1] < 0 {
		return false
	}
	run := broadcastLoop(code, y.layout.stride[last] == 1)
	if run == nil {
		return false
	}
	b.shares(dst.Len(), copyItem, func(lo, hi int) {
		for ; lo < hi; lo += bulk {
			n := min(bulk, hi-lo)
			to, from := w.wide[w.layout.offset+lo:][:n], x.wide[x.layout.offset+lo:][:n]
			y.layout.tiles(lo, n, func(pos, at, rows, step, count, _ int) {
				run(unsafe.Pointer(&to[pos]), unsafe.Pointer(&from[pos]), unsafe.Pointer(&y.wide[at]), rows, count, 4*step)
			})
		}
	})
	return true
}

func broadcastLoop(code driver.Code, row bool) asm.RowPass {
	var single, rows asm.RowPass
	switch s := &selects; code {
	case driver.Add:
		single, rows = s.Add, s.AddRow
	case driver.Sub:
		single, rows = s.Sub, s.SubRow
	case driver.Mul:
		single, rows = s.Mul, s.MulRow
	case driver.Div:
		single, rows = s.Div, s.DivRow
	}
	if row {
		return rows
	}
	return single
}
