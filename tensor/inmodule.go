package tensor

import (
	"fmt"
	"reflect"
	"strings"
)

// InModule runs body with name appended to the module path of events: "0" inside "encoder"
// gives "encoder.0". If there are no observers, no caster that reads modules and no
// DetectAnomaly, it only calls body. An [Error] of an operation in body names the module.
func InModule(name string, body func()) { inModule(name, nil, body) }

// inModule is InModule of plumbing.Modules.
func inModule(name string, module any, body func()) {
	need("in_module", "body", body != nil, "a function to run")
	defer nameModule(name, module)
	s := current()
	if reader, ok := s.caster.(moduleReader); !s.anomaly && observers.load() == nil && !(ok && reader.ReadsModule()) {
		body()
		return
	}
	path := name
	if s.module != "" {
		path = s.module + "." + name
	}
	s.module = path
	s.do(body)
}

// nameModule adds the name of a module to the error that leaves it, and the text of the
// innermost module. It is deferred.
func nameModule(name string, module any) {
	v := recover()
	if v == nil {
		return
	}
	if e, ok := v.(*Error); ok {
		if e.Module == "" {
			e.Module, e.within = name, moduleText(module)
		} else {
			e.Module = name + "." + e.Module
		}
	}
	panic(v) // the stack of the first panic is still there
}

// moduleText returns what a module prints if it is one line, such as
// "Linear(in_features=20, out_features=10, bias=True)", or else its type. It returns "" for nil
// and for a type that has no name here.
func moduleText(module any) (text string) {
	if module == nil {
		return ""
	}
	t := reflect.TypeOf(module)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text = t.Name()
	s, ok := module.(fmt.Stringer)
	if !ok {
		return text
	}
	defer func() { _ = recover() }() // a String method of a cell may panic too
	if line := s.String(); !strings.Contains(line, "\n") {
		return line
	}
	return text
}
