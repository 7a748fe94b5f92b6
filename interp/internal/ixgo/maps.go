package ixgo

import (
	"reflect"
	"unsafe"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"

	"halfnote/interp/internal/mapaccess"
)

// guard makes the instructions of a function that use a map announce the access: otherwise
// goroutines that use one map at the same time would end the process.
func (e *Engine) guard(pfn reflect.Value, body []instructionFunc) {
	registers := peek(pfn, "index").Interface().(map[ssa.Value]uint32)
	for i, instr := range peek(pfn, "ssaInstrs").Interface().([]ssa.Instruction) {
		of, use := usesMap(instr)
		if of == nil {
			continue
		}
		register, original := registers[of]&(1<<24-1), body[i]
		body[i] = func(fr *ixgo.Frame) {
			m := (*at[[]any](unsafe.Pointer(fr), stackField))[register]
			a, err := mapaccess.Begin(reflect.ValueOf(m), use)
			if err != nil {
				e.traces.at(fr, err)
				panic(err)
			}
			defer a.End()
			original(fr)
		}
	}
}

// usesMap returns the map that an instruction uses, or nil if there is none. Rewrites have
// already put deferred calls of built-in functions into literals.
func usesMap(instr ssa.Instruction) (of ssa.Value, use mapaccess.Use) {
	switch x := instr.(type) {
	case *ssa.Lookup:
		return x.X, mapaccess.Read
	case *ssa.MapUpdate:
		return x.Map, mapaccess.Write
	case *ssa.Next:
		if r, ok := x.Iter.(*ssa.Range); ok && !x.IsString {
			return r.X, mapaccess.Iterate
		}
	case *ssa.Call:
		if b, ok := x.Call.Value.(*ssa.Builtin); ok && (b.Name() == "delete" || b.Name() == "clear") {
			return x.Call.Args[0], mapaccess.Write
		}
	}
	return nil, 0
}
