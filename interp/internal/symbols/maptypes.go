package symbols

import (
	"encoding"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log"
	"reflect"
)

// MapTypes returns, by function, the interfaces that it looks for behind its
// parameters of type any: Yaegi wraps an interpreted argument that has one's
// methods.
func MapTypes() map[reflect.Value][]reflect.Type {
	m := map[reflect.Value][]reflect.Type{}
	for _, l := range []struct {
		funcs      []any
		interfaces []reflect.Type
	}{
		{
			[]any{
				fmt.Append, fmt.Appendf, fmt.Appendln, fmt.Errorf, fmt.Fprint, fmt.Fprintf, fmt.Fprintln,
				fmt.Print, fmt.Printf, fmt.Println, fmt.Sprint, fmt.Sprintf, fmt.Sprintln,
				log.Panic, log.Panicf, log.Panicln, log.Print, log.Printf, log.Println, logFatal, logFatalf, logFatalln,
			},
			[]reflect.Type{reflect.TypeFor[fmt.Formatter](), reflect.TypeFor[fmt.Stringer]()},
		},
		{
			[]any{fmt.Fscan, fmt.Fscanf, fmt.Fscanln, fmt.Scan, fmt.Scanf, fmt.Scanln, fmt.Sscan, fmt.Sscanf, fmt.Sscanln},
			[]reflect.Type{reflect.TypeFor[fmt.Scanner]()},
		},
		{
			[]any{json.Marshal, json.MarshalIndent},
			[]reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()},
		},
		{
			[]any{json.Unmarshal},
			[]reflect.Type{reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()},
		},
		{
			[]any{xml.Marshal, xml.MarshalIndent},
			[]reflect.Type{reflect.TypeFor[xml.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()},
		},
		{
			[]any{xml.Unmarshal},
			[]reflect.Type{reflect.TypeFor[xml.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()},
		},
	} {
		for _, f := range l.funcs {
			m[reflect.ValueOf(f)] = l.interfaces
		}
	}
	return m
}
