package cpu

import (
	"unsafe"

	"halfnote/tensor/internal/asm"
)

// loops are the passes over memory that this processor does in assembly. They give the
// same bits as the loops in Go, which stand in for those that it has not got.
var loops = loopsOf(asm.Best())

// selects are those of them that choose between numbers.
var selects = selectsOf(asm.Best())

func selectsOf(t *asm.Tier) asm.Selects {
	if t == nil {
		return asm.Selects{}
	}
	return t.Selects
}

// functions are the passes of elementary functions, by [asm.Function].
var functions = functionsOf(asm.Best())

func functionsOf(t *asm.Tier) []asm.Pass {
	if t == nil {
		return nil
	}
	return t.Functions
}

// passes are the passes over rows of a multiple of 8 elements.
var passes = rowsOf(asm.Best())

type rowPasses struct {
	most    func(x unsafe.Pointer, n int) float32
	dropped asm.Pass
}

func rowsOf(t *asm.Tier) rowPasses {
	if t == nil {
		return rowPasses{}
	}
	return rowPasses{t.Most, t.Dropped}
}

func loopsOf(t *asm.Tier) asm.Loops {
	if t == nil {
		return asm.Loops{}
	}
	return t.Loops
}

// fast is the number of elements from which on a call of assembly pays.
const fast = 16

// pass runs f, if there is one and T is float32, and reports whether it did.
func pass[T number](f asm.Pass, dst, x, y []T, alpha, beta T) bool {
	to, ok := any(dst).([]float32)
	if !ok || f == nil || len(x) < fast {
		return false
	}
	_ = to[len(x)-1]
	f(unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(unsafe.SliceData(y)), len(x), float32(alpha), float32(beta))
	return true
}

// finite reports whether all of x is.
func finite[T real](x []T) bool {
	if f, ok := any(x).([]float32); ok && loops.Largest != nil && len(f) >= fast {
		return loops.Largest(unsafe.Pointer(&f[0]), len(f)) < 0x7f800000
	}
	// v - v is 0 of what is finite and NaN of all else, and NaN stays.
	var sum T
	for _, v := range x {
		sum += v - v
	}
	return sum == 0
}
