package nn

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"halfnote/internal/text"
)

// Print returns model as torch prints it: the name and settings of each module and of those
// inside it, one per line. A slice of modules prints as a ModuleList, a map as a ModuleDict,
// and a type declared in a cell, whose name is unknown here, as Module.
func Print(model any) string {
	v := reflect.ValueOf(model)
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if reflect.Indirect(v).Kind() == reflect.Struct {
		return describe(model)
	}
	return list("", children(model))
}

// describe returns the text of a module.
func describe(m any) string {
	if s, ok := m.(fmt.Stringer); ok {
		return s.String()
	}
	v := reflect.Indirect(reflect.ValueOf(m))
	if v.Kind() == reflect.Struct {
		if inner := v.FieldByName("IValue"); inner.IsValid() && inner.CanInterface() {
			return describe(inner.Interface()) // the interpreter's wrapper
		}
	}
	return list(typeName(m), children(m))
}

// children returns the modules inside model that are not inside another of its modules.
func children(model any) []NamedModule {
	var out []NamedModule
	root := true
	w := walker{seen: map[any]bool{}}
	w.enter = func(v reflect.Value, path string) bool {
		if root && path == "" {
			root = false
			return true
		}
		out = append(out, NamedModule{path, pointerTo(v)})
		return false
	}
	w.walk(reflect.ValueOf(model), "")
	return out
}

// list returns "name(…)" with a line for each module; modules whose names contain a dot are
// in lists.
func list(name string, modules []NamedModule) string {
	if len(modules) == 0 {
		return name + "()"
	}
	if name == "" {
		name = container(modules[0].Name)
	}
	var b strings.Builder
	b.WriteString(name + "(\n")
	for len(modules) > 0 {
		first, _, nested := strings.Cut(modules[0].Name, ".")
		n := 1
		text := ""
		if nested {
			n = slices.IndexFunc(modules, func(m NamedModule) bool { return !strings.HasPrefix(m.Name, first+".") })
			if n < 0 {
				n = len(modules)
			}
			inner := slices.Clone(modules[:n])
			for i := range inner {
				inner[i].Name = strings.TrimPrefix(inner[i].Name, first+".")
			}
			text = list("", inner)
		} else {
			text = describe(modules[0].Module)
		}
		fmt.Fprintf(&b, "  (%s): %s\n", first, strings.ReplaceAll(text, "\n", "\n  "))
		modules = modules[n:]
	}
	return b.String() + ")"
}

// container returns torch's name of a container of modules, given the first element's name.
func container(name string) string {
	first, _, _ := strings.Cut(name, ".")
	if _, err := strconv.Atoi(first); err == nil {
		return "ModuleList"
	}
	return "ModuleDict"
}

// truth and tuple print in Python's notation.
func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

func tuple(shape []int) string { return text.Shape(shape) }

// literal returns a truth value or number as Python prints it.
func literal(v any) string {
	switch v := v.(type) {
	case bool:
		return truth(v)
	case float64:
		return python(v)
	}
	return fmt.Sprint(v)
}

// python returns a number as Python prints it.
func python(v float64) string {
	s := fmt.Sprint(v)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
