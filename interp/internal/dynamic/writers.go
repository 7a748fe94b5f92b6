package dynamic

import (
	"fmt"
	"reflect"
)

// Writer says how a method that writes its operands as package fmt does is called with their text.
type Writer struct {
	Method string // the method of the same type that takes the format %s and the text
	Text   string // the function that gives the text: Sprint, Sprintf or Sprintln
}

// Writers are the methods of compiled types that write their operands as package fmt does, by their full names. A
// logger's Fatal methods are not among them: a cell has others, which do not end the process.
var Writers = writers(map[string][]string{
	"(*log.Logger)":           {"Print", "Panic"},
	"(*testing.common)":       {"Log", "Error", "Fatal", "Skip"},
	"(testing.TB)":            {"Log", "Error", "Fatal", "Skip"},
	"(*net/textproto.Writer)": {"PrintfLine"},
})

func writers(types map[string][]string) map[string]Writer {
	m := map[string]Writer{}
	for t, names := range types {
		for _, name := range names {
			switch {
			case name == "PrintfLine":
				m[t+"."+name] = Writer{name, "Sprintf"}
				continue
			case t == "(*log.Logger)":
				m[t+"."+name] = Writer{name + "f", "Sprint"}
				m[t+"."+name+"ln"] = Writer{name + "f", "Sprintln"}
			default:
				m[t+"."+name] = Writer{name + "f", "Sprintln"}
			}
			m[t+"."+name+"f"] = Writer{name + "f", "Sprintf"}
		}
	}
	return m
}

// of returns the text of operands, the last of which holds the variadic ones.
func (w Writer) of(args []reflect.Value) string {
	list, _ := args[len(args)-1].Interface().([]any)
	switch w.Text {
	case "Sprint":
		return Sprint(list...)
	case "Sprintln":
		return Sprintln(list...)
	}
	return Sprintf(args[0].String(), list...)
}

// writes calls a method of a compiled type with the text of its operands, if it is one of Writers. args are
// the operands; the last holds the variadic ones.
func writes(recv reflect.Value, name string, args []reflect.Value) bool {
	w, ok := Writers[fmt.Sprintf("(%s).%s", fullName(recv.Type()), name)]
	if !ok {
		return false
	}
	recv.MethodByName(w.Method).Call([]reflect.Value{reflect.ValueOf("%s"), reflect.ValueOf(w.of(args))})
	return true
}

func fullName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		return "*" + fullName(t.Elem())
	}
	return t.PkgPath() + "." + t.Name()
}
