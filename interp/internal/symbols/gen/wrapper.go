package main

import (
	"fmt"
	"go/types"
	"io"
	"strings"
)

// wrappable reports whether a wrapper in package symbols can implement interface t: all its
// methods are exported, and all their types can be named there.
func wrappable(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return false
	}
	for m := range i.Methods() {
		if !m.Exported() || !nameable(m.Type()) {
			return false
		}
	}
	return true
}

// nameable reports whether package symbols can write t.
func nameable(t types.Type) bool {
	switch t := t.(type) {
	case *types.Named:
		return nameableObject(t.Obj()) && nameableList(t.TypeArgs())
	case *types.Alias:
		return nameableObject(t.Obj()) && nameableList(t.TypeArgs())
	case *types.Signature:
		return nameable(t.Params()) && nameable(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if !nameable(v.Type()) {
				return false
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if !f.Exported() || !nameable(f.Type()) {
				return false
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if !m.Exported() || !nameable(m.Type()) {
				return false
			}
		}
	case *types.Map:
		return nameable(t.Key()) && nameable(t.Elem())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		return nameable(t.Elem())
	}
	return true
}

func nameableObject(o *types.TypeName) bool {
	if o.Pkg() == nil {
		return true
	}
	path := "/" + o.Pkg().Path() + "/"
	return o.Exported() && !strings.Contains(path, "/internal/") && !strings.HasPrefix(path, "/vendor/")
}

func nameableList(list *types.TypeList) bool {
	for t := range list.Types() {
		if !nameable(t) {
			return false
		}
	}
	return true
}

func wrapperName(o *types.TypeName) string {
	return "_" + strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(o.Pkg().Path()) + "_" + o.Name()
}

// wrapper writes the struct through which an interpreted value implements o: it holds
// the value, so that wrappers are equal if values are, and its methods are the value's.
func (w *writer) wrapper(out io.Writer, o *types.TypeName) {
	name := wrapperName(o)
	w.qualify(types.NewPackage("halfnote/interp/internal/dynamic", "dynamic"))
	fmt.Fprintf(out, "\ntype %s struct { IValue any }\n\nfunc (w %s) Interpreted() any { return w.IValue }\n", name, name)
	for m := range o.Type().Underlying().(*types.Interface).Methods() {
		s := m.Type().(*types.Signature)
		var params, args, results []string
		in := []string{"any"}
		for i := range s.Params().Len() {
			t := types.TypeString(s.Params().At(i).Type(), w.qualify)
			arg := fmt.Sprintf("a%d", i)
			if s.Variadic() && i == s.Params().Len()-1 {
				t = "..." + strings.TrimPrefix(t, "[]")
				args = append(args, arg+"...")
			} else {
				args = append(args, arg)
			}
			params, in = append(params, arg+" "+t), append(in, t)
		}
		for v := range s.Results().Variables() {
			results = append(results, types.TypeString(v.Type(), w.qualify))
		}
		result := "(" + strings.Join(results, ", ") + ")"
		fmt.Fprintf(out, "\nfunc (w %s) %s(%s) %s {\n", name, m.Name(), strings.Join(params, ", "), result)
		if text := m.Name() == "String" || m.Name() == "Error"; text && len(params) == 0 && len(results) == 1 && results[0] == "string" {
			// Printing a wrapper that was never filled must not panic.
			fmt.Fprint(out, "if w.IValue == nil { return \"\" }\n")
		}
		if len(results) > 0 {
			fmt.Fprint(out, "return ")
		}
		fmt.Fprintf(out, "dynamic.Call(w.IValue, %q).(func(%s) %s)(%s)\n}\n", m.Name(), strings.Join(in, ", "), result,
			strings.Join(append([]string{"w.IValue"}, args...), ", "))
	}
}
