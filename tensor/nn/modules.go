package nn

import (
	"reflect"
	"slices"
	"strings"
)

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
