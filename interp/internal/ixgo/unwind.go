package ixgo

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

// ixgo runs the deferred calls of a function on top of the stack of the panic that left it,
// and raises the panic again from there. The stack grows with every such function, Go walks
// all of it for each of them, and ixgo copies the list of all calls below. The functions of
// units run their deferred calls after the stack of the panic is gone, and the lists share
// their memory, so that the work is linear in the number of calls. ixgo's panic statement
// also prints the whole stack; the replacement does not.

// instructionFunc executes one instruction of a call.
type instructionFunc = func(*ixgo.Frame)

// deferring is a function that defers calls.
type deferring struct {
	body    []instructionFunc
	recover []instructionFunc // instructions to run after a deferred call has recovered
}

// runDefers makes the deferred calls of a frame, and panics if a panic is left.
//
//go:linkname runDefers github.com/goplus/ixgo.(*frame).runDefers
func runDefers(fr *ixgo.Frame)

// unwind makes the functions of an interpreter unwind in linear time.
func (e *Engine) unwind(in *ixgo.Interp) {
	for it := peek(reflect.ValueOf(in), "funcs").MapRange(); it.Next(); {
		pfn := it.Value()
		body := peek(pfn, "Instrs").Interface().([]instructionFunc)
		e.panics(pfn, body)
		e.guard(pfn, body)
		recover := peek(pfn, "Recover")
		if recover.IsNil() || len(body) == 0 {
			continue
		}
		f := &deferring{body, recover.Interface().([]instructionFunc)}
		own := slices.Clone(body)
		own[0] = f.run
		peek(pfn, "Instrs").Set(reflect.ValueOf(own))
		recover.SetZero()
	}
}

// panics replaces the panic statements of a function.
func (e *Engine) panics(pfn reflect.Value, body []instructionFunc) {
	registers := peek(pfn, "index").Interface().(map[ssa.Value]uint32)
	for i, instr := range peek(pfn, "ssaInstrs").Interface().([]ssa.Instruction) {
		p, ok := instr.(*ssa.Panic)
		if !ok {
			continue
		}
		register := registers[p.X] & (1<<24 - 1)
		body[i] = func(fr *ixgo.Frame) {
			v := ixgo.PanicError{Value: (*at[[]any](unsafe.Pointer(fr), stackField))[register]}
			e.traces.at(fr, v)
			panic(v)
		}
	}
}

// run executes a call. A panic continues from here, without the stack of its origin.
func (f *deferring) run(fr *ixgo.Frame) {
	if v, panicked := f.attempt(fr); panicked {
		panic(v)
	}
}

func (f *deferring) attempt(fr *ixgo.Frame) (v any, panicked bool) {
	pc := pcOf(fr)
	defer func() {
		if *pc == returned || *at[unsafe.Pointer](unsafe.Pointer(fr), deferField) == nil {
			return
		}
		panicking(fr, recover())
		v, panicked = caught(func() {
			runDefers(fr)
			for _, instr := range f.recover {
				instr(fr)
			}
		})
	}()
	for *pc = 0; *pc != returned; {
		i := *pc
		*pc++
		f.body[i](fr)
	}
	return nil, false
}

// returned is the next instruction of a call that has returned.
const returned = -1

func caught(f func()) (v any, panicked bool) {
	panicked = true
	defer func() {
		if panicked {
			v = recover()
		}
	}()
	f()
	return nil, false
}

// panicState is ixgo's record of a panic in a call. pcs are the calls that the panic has
// left, innermost first.
type panicState struct {
	arg       any
	link      *panicState // earlier panic that a deferred call has replaced
	pcs       []uintptr
	aborted   bool //lint:ignore U1000 the type has ixgo's layout
	recovered bool
}

// panicking records that a panic with value v has reached a call. From now on the calls below
// are known by their places.
func panicking(fr *ixgo.Frame, v any) {
	p := &panicState{arg: v}
	var left []*ixgo.Frame // outermost first
	for c := frameAt(fr, calleeField); c != nil && *pcOf(c) != returned; c = frameAt(c, calleeField) {
		left = append(left, c)
	}
	for _, c := range slices.Backward(left) {
		at := place(c)
		inner := panicOf(c)
		if inner == nil || inner.recovered {
			p.pcs = append(p.pcs, at)
			continue
		}
		if p.pcs == nil {
			p.pcs = inner.pcs
		} else {
			p.pcs = append(p.pcs, inner.pcs...)
		}
		if inner.link == nil || inner.link.recovered {
			p.pcs = append(p.pcs, at)
			continue
		}
		if p.link == nil {
			p.link = inner.link
		}
		last := inner.link
		for last.link != nil {
			last = last.link
		}
		last.pcs = append(last.pcs, at)
	}
	*at[*panicState](unsafe.Pointer(fr), panicField) = p
	innermost(fr)
}

func panicOf(fr *ixgo.Frame) *panicState { return *at[*panicState](unsafe.Pointer(fr), panicField) }

// place returns the number of the instruction after the one that a call executes, as ixgo
// counts them.
func place(fr *ixgo.Frame) uintptr {
	return uintptr(*at[int](functionOf(fr), baseField) + *pcOf(fr))
}
