package ixgo

import (
	"go/token"
	"reflect"
	"strings"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"

	"halfnote/interp/engine"
)

// A frame of ixgo is one call. These functions read fields that it does not export;
// their names and types are checked when an engine is made.

var frameFields = map[reflect.Type]map[string]reflect.Type{
	reflect.TypeFor[ixgo.Frame](): {
		"interp": reflect.TypeFor[*ixgo.Interp](), "caller": reflect.TypeFor[*ixgo.Frame](), "callee": reflect.TypeFor[*ixgo.Frame](),
		"ipc": reflect.TypeFor[int](),
	},
	functionType: {
		"Fn": reflect.TypeFor[*ssa.Function](), "ssaInstrs": reflect.TypeFor[[]ssa.Instruction](), "base": reflect.TypeFor[int](),
		"used": reflect.TypeFor[int32](),
	},
	panicType: {"pcs": reflect.TypeFor[[]uintptr]()},
}

var (
	functionType = behind(reflect.TypeFor[ixgo.Frame](), "pfn")
	panicType    = behind(reflect.TypeFor[ixgo.Frame](), "_panic")
)

// behind returns what a field of a struct points to.
func behind(t reflect.Type, name string) reflect.Type {
	f, ok := t.FieldByName(name)
	if !ok || f.Type.Kind() != reflect.Pointer {
		return reflect.TypeFor[struct{}]()
	}
	return f.Type.Elem()
}

// peek returns a field of the struct that v points to.
func peek(v reflect.Value, name string) reflect.Value {
	f := v.Elem().FieldByName(name)
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}

func frameAt(fr *ixgo.Frame, name string) *ixgo.Frame {
	return peek(reflect.ValueOf(fr), name).Interface().(*ixgo.Frame)
}

// innermost tells ixgo that fr calls nothing: a callee may be left from an earlier use
// of the frame, and would be followed in circles.
func innermost(fr *ixgo.Frame) { peek(reflect.ValueOf(fr), "callee").SetZero() }

func outermost(fr *ixgo.Frame) *ixgo.Frame {
	for {
		c := frameAt(fr, "caller")
		if c == nil {
			return fr
		}
		fr = c
	}
}

// last returns the innermost call that had not returned when a panic passed.
func last(fr *ixgo.Frame) *ixgo.Frame {
	seen := map[*ixgo.Frame]bool{}
	for {
		seen[fr] = true
		c := frameAt(fr, "callee")
		if c == nil || seen[c] || peek(reflect.ValueOf(c), "ipc").Int() == -1 || frameAt(c, "caller") != fr {
			return fr
		}
		fr = c
	}
}

// instruction returns the current instruction of a call.
func instruction(fr *ixgo.Frame) ssa.Instruction {
	pfn := peek(reflect.ValueOf(fr), "pfn")
	if pfn.IsNil() {
		return nil
	}
	c := call{pfn: pfn, pc: int(peek(reflect.ValueOf(fr), "ipc").Int()) - 1}
	return c.instruction()
}

// call is a place in a function.
type call struct {
	pfn reflect.Value // a pointer to ixgo's function
	pc  int           // of the instruction
}

func (c *call) instruction() ssa.Instruction {
	list := peek(c.pfn, "ssaInstrs").Interface().([]ssa.Instruction)
	if c.pc < 0 || c.pc >= len(list) {
		return nil
	}
	return list[c.pc]
}

// calls lists calls from fr outwards, and the outermost frame. A call that runs its
// deferred functions because of a panic comes after the calls that the panic had left.
func calls(fr *ixgo.Frame) (list []*call, root *ixgo.Frame) {
	for ; fr != nil; fr = frameAt(fr, "caller") {
		root = fr
		v := reflect.ValueOf(fr)
		pfn := peek(v, "pfn")
		if pfn.IsNil() {
			continue
		}
		if p := peek(v, "_panic"); !p.IsNil() {
			for _, pc := range peek(p, "pcs").Interface().([]uintptr) {
				if c := callAt(peek(v, "interp"), int(pc)); c != nil {
					list = append(list, c)
				}
			}
		}
		list = append(list, &call{pfn, int(peek(v, "ipc").Int()) - 1})
	}
	return list, root
}

// callAt finds the function of an interpreter that has the instruction before pc.
func callAt(in reflect.Value, pc int) *call {
	for it := peek(in, "funcs").MapRange(); it.Next(); {
		base := int(peek(it.Value(), "base").Int())
		if n := peek(it.Value(), "ssaInstrs").Len(); base < pc && pc <= base+n {
			return &call{it.Value(), pc - base - 1}
		}
	}
	return nil
}

// frame describes a call. ok is false if it has no position in a cell.
func (c *call) frame() (f engine.Frame, ok bool) {
	at := c.instruction()
	if at == nil || !at.Pos().IsValid() {
		return f, false
	}
	fn := peek(c.pfn, "Fn").Interface().(*ssa.Function)
	f.Pos = at.Pos()
	for ; fn.Parent() != nil; fn = fn.Parent() {
		if fn.Synthetic == "" { // the bodies of loops over functions are functions too
			f.Func += ".func"
		}
	}
	if o := fn.Origin(); o != nil {
		fn = o
	}
	f.Func = fn.Name() + f.Func
	return f, !strings.Contains(fn.Synthetic, "wrapper") && f.Pos != token.NoPos
}
