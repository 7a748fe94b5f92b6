package ixgo

import (
	"go/token"
	"go/types"
	"math"
	"reflect"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

// unpool makes ixgo use a frame only once in functions in which a panic of the host may
// start. ixgo reuses frames for later calls, together with their last callee; it
// follows that link after a panic that it has not raised itself, and in a recursive
// function the link may form a cycle.
func unpool(in *ixgo.Interp) {
	for it := peek(reflect.ValueOf(in), "funcs").MapRange(); it.Next(); {
		if mayPanic(it.Key().Interface().(*ssa.Function)) {
			peek(it.Value(), "used").SetInt(math.MinInt32)
		}
	}
}

// mayPanic reports whether a function may call compiled code, or has an operation that makes
// the host panic.
func mayPanic(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			switch x := instr.(type) {
			case *ssa.Call:
				if compiledCall(&x.Call) {
					return true
				}
			case *ssa.Next:
				if !x.IsString {
					return true
				}
			case *ssa.Defer, *ssa.Go, *ssa.MapUpdate, *ssa.Lookup, *ssa.Convert, *ssa.MultiConvert, *ssa.Send, *ssa.Select:
				return true
			case *ssa.UnOp:
				if x.Op == token.ARROW {
					return true
				}
			case *ssa.BinOp:
				_, constant := x.Y.(*ssa.Const)
				if (x.Op == token.QUO || x.Op == token.REM) && !constant || types.IsInterface(x.X.Type()) {
					return true
				}
			}
		}
	}
	return false
}

// compiledCall reports whether a call may reach compiled code that panics.
func compiledCall(c *ssa.CallCommon) bool {
	switch f := c.Value.(type) {
	case *ssa.Function:
		return f.Blocks == nil && (f.Pkg == nil || !unwinds[f.Pkg.Pkg.Path()+"."+f.Name()])
	case *ssa.Builtin:
		switch f.Name() {
		case "len", "cap", "append", "min", "max", "real", "imag", "complex":
			return false
		}
	case *ssa.MakeClosure:
		return false
	}
	return true
}
