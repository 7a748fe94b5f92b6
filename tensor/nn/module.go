package nn

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"halfnote/tensor"
)

// Module maps a tensor to a tensor. It is torch.nn.Module.
type Module interface {
	Forward(x *tensor.Tensor) *tensor.Tensor
}

// Sequential calls modules in turn. It is torch.nn.Sequential.
type Sequential struct{ Modules []Module }

// NewSequential returns a chain that calls the modules in turn. It panics if one is nil. It is
// torch.nn.Sequential.
func NewSequential(modules ...Module) *Sequential {
	checkModules(modules)
	return &Sequential{modules}
}

// Append adds modules at the end and returns the chain. It panics if one is nil, or if the chain
// would contain itself. It is torch.nn.Sequential.append.
func (c *Sequential) Append(modules ...Module) *Sequential {
	checkModules(modules)
	for _, m := range modules {
		if inner, ok := m.(*Sequential); ok && inner != nil && inner.loops(c) {
			panic(&tensor.Error{Op: "sequential", Why: "the appended chain contains the chain it is appended to; append a new chain"})
		}
	}
	c.Modules = append(c.Modules, modules...)
	return c
}

// checkModules panics if a module is nil.
func checkModules(modules []Module) {
	for i, m := range modules {
		if m == nil {
			panic(&tensor.Error{Op: "sequential", Why: fmt.Sprintf("module %d is nil; want a module", i)})
		}
	}
}

// loops reports whether the chain is part of itself or one of the enclosing chains.
func (c *Sequential) loops(around ...*Sequential) bool {
	if slices.Contains(around, c) {
		return true
	}
	around = append(around, c)
	return slices.ContainsFunc(c.Modules, func(m Module) bool {
		inner, ok := m.(*Sequential)
		return ok && inner != nil && inner.loops(around...)
	})
}

// refuseLoop panics if the chain contains itself: a call would recurse forever.
func (c *Sequential) refuseLoop() {
	if c.loops() {
		panic(&tensor.Error{Op: "sequential", Why: "the chain contains itself; take it out of its Modules"})
	}
}

// Forward passes x through all modules. It panics if the chain contains itself.
func (c *Sequential) Forward(x *tensor.Tensor) *tensor.Tensor {
	c.refuseLoop()
	for i, m := range c.Modules {
		modules.In(strconv.Itoa(i), m, func() { x = m.Forward(x) })
	}
	return x
}

// String lists the modules, one per line, as torch does.
func (c *Sequential) String() string {
	if c.loops() {
		return "Sequential(contains itself)"
	}
	var b strings.Builder
	b.WriteString("Sequential(\n")
	for i, m := range c.Modules {
		fmt.Fprintf(&b, "  (%d): %s\n", i, strings.ReplaceAll(describe(m), "\n", "\n  "))
	}
	return b.String() + ")"
}

// NamedModule is a module of a model with its path, for example "0.fc".
type NamedModule struct {
	Name   string
	Module any // pointer to the module
}

// NamedModules returns model and all modules in it, each once, outer before inner. Modules
// are structs with a Forward method and structs declared in cells. It is
// torch.nn.Module.named_modules.
func NamedModules(model any) []NamedModule {
	var out []NamedModule
	w := walker{seen: map[any]bool{}}
	w.enter = func(v reflect.Value, path string) bool {
		out = append(out, NamedModule{path, pointerTo(v)})
		return true
	}
	w.walk(reflect.ValueOf(model), "")
	return out
}

// pointerTo returns a pointer to the addressable v, which may be an unexported field.
func pointerTo(v reflect.Value) any {
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Interface()
}

// isModule reports whether the struct type t is a module: it has a Forward method, or it
// comes from a cell, whose types have neither names nor methods here.
func isModule(t reflect.Type) bool {
	if _, wraps := t.FieldByName("IValue"); wraps {
		return false
	}
	_, ok := reflect.PointerTo(t).MethodByName("Forward")
	return ok || t.Name() == ""
}

// Apply calls f with a pointer to each module of model in the order of fields, inner before
// outer, model last. It is torch.nn.Module.apply.
//
//	nn.Apply(net, func(m any) {
//		if l, ok := m.(*nn.Linear); ok {
//			nn.InitXavierUniform(l.Weight, 1)
//		}
//	})
func Apply(model any, f func(module any)) {
	var open []NamedModule // modules still being walked
	for _, m := range NamedModules(model) {
		for len(open) > 0 && !within(m.Name, open[len(open)-1].Name) {
			f(open[len(open)-1].Module)
			open = open[:len(open)-1]
		}
		open = append(open, m)
	}
	for _, m := range slices.Backward(open) {
		f(m.Module)
	}
}

// within reports whether the module at path name is inside the module at path outer. A
// wrapper has the path of the module it wraps.
func within(name, outer string) bool {
	return outer == "" || name == outer || strings.HasPrefix(name, outer+".")
}

// NamedBuffers returns the tensors of model that do not require a gradient, with their names:
// running statistics, weights of losses and frozen parameters. It is
// torch.nn.Module.named_buffers.
func NamedBuffers(model any) []Named {
	return slices.DeleteFunc(namedTensors(model), func(n Named) bool { return n.Tensor.RequiresGrad() })
}
