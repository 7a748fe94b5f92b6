package ixgo

import (
	"go/token"
	"iter"
	"reflect"
	"strings"
	"unsafe"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"

	"halfnote/interp/engine"
)

// A frame of ixgo is one call. These functions read fields that it does not export;
// their names and types are checked when an engine is made.

var (
	frameType    = reflect.TypeFor[ixgo.Frame]()
	functionType = pointee(frameType, "pfn")

	callerField   = field(frameType, "caller", reflect.TypeFor[*ixgo.Frame]())
	calleeField   = field(frameType, "callee", reflect.TypeFor[*ixgo.Frame]())
	interpField   = field(frameType, "interp", reflect.TypeFor[*ixgo.Interp]())
	functionField = field(frameType, "pfn", reflect.PointerTo(functionType))
	panicField    = field(frameType, "_panic", reflect.PointerTo(panicType))
	deferField    = pointerField(frameType, "_defer")
	stackField    = field(frameType, "stack", reflect.TypeFor[[]any]())
	pcField       = field(frameType, "ipc", reflect.TypeFor[int]())
	baseField     = field(functionType, "base", reflect.TypeFor[int]())

	panicType = pointee(frameType, "_panic")
)

// functionFields holds the types of the fields of functions that are read by name.
var functionFields = map[string]reflect.Type{
	"Fn": reflect.TypeFor[*ssa.Function](), "ssaInstrs": reflect.TypeFor[[]ssa.Instruction](),
	"Instrs": reflect.TypeFor[[]instructionFunc](), "Recover": reflect.TypeFor[[]instructionFunc](),
	"index": reflect.TypeFor[map[ssa.Value]uint32](), "used": reflect.TypeFor[int32](),
}

// asExpected reports whether frames and functions have the fields that are read here.
func asExpected() bool {
	for _, f := range []*reflect.StructField{
		callerField, calleeField, interpField, functionField, panicField, deferField, stackField, pcField, baseField,
	} {
		if f == nil {
			return false
		}
	}
	for name, want := range functionFields {
		if field(functionType, name, want) == nil {
			return false
		}
	}
	return sameLayout(panicType, reflect.TypeFor[panicState]())
}

// sameLayout reports whether two structs have the same fields, where all pointers count as
// equal.
func sameLayout(a, b reflect.Type) bool {
	if a.NumField() != b.NumField() {
		return false
	}
	for i := range a.NumField() {
		x, y := a.Field(i), b.Field(i)
		if x.Name != y.Name || x.Type != y.Type && (x.Type.Kind() != reflect.Pointer || y.Type.Kind() != reflect.Pointer) {
			return false
		}
	}
	return true
}

// pointerField returns a field that is a pointer, or nil if there is none.
func pointerField(t reflect.Type, name string) *reflect.StructField {
	if f, ok := t.FieldByName(name); ok && f.Type.Kind() == reflect.Pointer {
		return &f
	}
	return nil
}

// pointee returns the type that a field of a struct points to.
func pointee(t reflect.Type, name string) reflect.Type {
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

func frameAt(fr *ixgo.Frame, f *reflect.StructField) *ixgo.Frame {
	return *at[*ixgo.Frame](unsafe.Pointer(fr), f)
}

// pcOf returns the number of the instruction after the one that a call executes.
func pcOf(fr *ixgo.Frame) *int { return at[int](unsafe.Pointer(fr), pcField) }

// innermost clears the callee of fr. A link from an earlier use of the frame may remain
// there, and ixgo would follow it in a cycle.
func innermost(fr *ixgo.Frame) { *at[*ixgo.Frame](unsafe.Pointer(fr), calleeField) = nil }

func outermost(fr *ixgo.Frame) *ixgo.Frame {
	for {
		c := frameAt(fr, callerField)
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
		c := frameAt(fr, calleeField)
		if c == nil || seen[c] || *pcOf(c) == returned || frameAt(c, callerField) != fr {
			return fr
		}
		fr = c
	}
}

// instruction returns the current instruction of a call.
func instruction(fr *ixgo.Frame) ssa.Instruction {
	if fn := functionOf(fr); fn != nil {
		return (&call{fn, *pcOf(fr) - 1}).instruction()
	}
	return nil
}

// functionOf returns ixgo's function for a call, or nil if there is none.
func functionOf(fr *ixgo.Frame) unsafe.Pointer {
	return *at[unsafe.Pointer](unsafe.Pointer(fr), functionField)
}

// call is a place in a function.
type call struct {
	fn unsafe.Pointer // ixgo's function
	pc int            // number of the instruction
}

func (c *call) peek(name string) reflect.Value { return peek(reflect.NewAt(functionType, c.fn), name) }

func (c *call) instruction() ssa.Instruction {
	list := c.peek("ssaInstrs").Interface().([]ssa.Instruction)
	if c.pc < 0 || c.pc >= len(list) {
		return nil
	}
	return list[c.pc]
}

// stretch is a call, preceded by the calls that a panic had left when it reached that call,
// innermost first.
type stretch struct {
	in   *ixgo.Interp
	left []uintptr
	call call
}

// stretches adds the calls from fr outwards to list, and also returns the outermost frame. A
// call that runs its deferred functions because of a panic comes after the calls that the
// panic had left.
func stretches(list []stretch, fr *ixgo.Frame) (all []stretch, root *ixgo.Frame) {
	for ; fr != nil; fr = frameAt(fr, callerField) {
		root = fr
		fn := functionOf(fr)
		if fn == nil {
			continue
		}
		s := stretch{call: call{fn, *pcOf(fr) - 1}}
		if p := panicOf(fr); p != nil {
			s.in, s.left = *at[*ixgo.Interp](unsafe.Pointer(fr), interpField), p.pcs
		}
		list = append(list, s)
	}
	return list, root
}

// calls yields the calls of a list of stretches.
func calls(list []stretch) iter.Seq[call] {
	return func(yield func(call) bool) {
		for _, s := range list {
			known := map[uintptr]*call{}
			for _, pc := range s.left {
				c, ok := known[pc]
				if !ok {
					c = callAt(reflect.ValueOf(s.in), int(pc))
					known[pc] = c
				}
				if c != nil && !yield(*c) {
					return
				}
			}
			if !yield(s.call) {
				return
			}
		}
	}
}

// callAt finds the function of an interpreter that has the instruction before pc.
func callAt(in reflect.Value, pc int) *call {
	for it := peek(in, "funcs").MapRange(); it.Next(); {
		base := int(peek(it.Value(), "base").Int())
		if n := peek(it.Value(), "ssaInstrs").Len(); base < pc && pc <= base+n {
			return &call{it.Value().UnsafePointer(), pc - base - 1}
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
	fn := c.peek("Fn").Interface().(*ssa.Function)
	f.Pos = at.Pos()
	for ; fn.Parent() != nil; fn = fn.Parent() {
		if fn.Synthetic == "" { // the body of a loop over a function is also a function
			f.Func += ".func"
		}
	}
	if o := fn.Origin(); o != nil {
		fn = o
	}
	f.Func = fn.Name() + f.Func
	return f, !strings.Contains(fn.Synthetic, "wrapper") && f.Pos != token.NoPos
}
