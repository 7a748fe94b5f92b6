package cpu

import (
	"unsafe"

	"halfnote/tensor/internal/asm"
)

// loops are the passes over memory in assembly that this processor supports. They give
// the same bits as the loops in Go, which replace the missing ones.
var loops = loopsOf(asm.Best())

// selects are the passes that select numbers.
var selects = selectsOf(asm.Best())

func selectsOf(t *asm.Tier) asm.Selects {
	if t == nil {
		return asm.Selects{}
	}
	return t.Selects
}

// functions are the passes of elementary functions, by [asm.Function].
var functions = functionsOf(asm.Best())

func functionsOf(t *asm.Tier) []asm.FunctionPass {
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

// fast is the smallest number of elements for which a call of assembly pays.
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

// finite reports whether all elements of x are finite.
func finite[T real](x []T) bool {
	if f, ok := any(x).([]float32); ok && loops.Largest != nil && len(f) >= fast {
		return loops.Largest(unsafe.Pointer(&f[0]), len(f)) < 0x7f800000
	}
	// v - v is 0 for finite v and NaN otherwise, and a NaN makes the sum NaN.
	var sum T
	for _, v := range x {
		sum += v - v
	}
	return sum == 0
}
