package dynamic

import "reflect"

// Treatment is what a function of a compiled package gets for an operand of interface type.
type Treatment int

const (
	Exported Treatment = iota // a value without its box
	Kept                      // the value in the form of interpreted code
	Lent                      // a value of the mirror of its type
	Borrowed                  // the same in the memory of the original, for functions that write
	Settled                   // the value; a support function calls the function and puts interpreted values in the place of mirrors
	Returned                  // as borrowed; a support function does this with the result
	Written                   // a text that package dynamic writes as package fmt would
)

// reflective is the table of what looks at the types and methods of its operands: packages, and functions that
// differ from others of their packages. Each has a script in interp/testdata.
var reflective = map[string]struct {
	Treatment
	support string
	script  string
}{
	"container/heap": {Kept, "", "containers"},
	"container/list": {Kept, "", "containers"},
	"container/ring": {Kept, "", "containers"},
	"context":        {Kept, "", "containers"},
	"errors":         {Kept, "", "interfaces"},
	"fmt":            {Kept, "", "verbs"},
	"log":            {Kept, "", "logging"},
	"sync":           {Kept, "", "containers"},
	"sync/atomic":    {Kept, "", "containers"},

	"halfnote/display.Show":             {Kept, "", "ownvalues"},
	"halfnote/display.Live":             {Kept, "", "ownvalues"},
	"(*halfnote/display.Handle).Update": {Kept, "", "ownvalues"},
	"reflect.DeepEqual":                 {Kept, "", "reflection"},

	"database/sql":    {Lent, "", "packages/standard"},
	"encoding/asn1":   {Lent, "", "encodings"},
	"encoding/binary": {Lent, "", "encodings"},
	"encoding/gob":    {Lent, "", "encodings"},
	"encoding/json":   {Lent, "", "json"},
	"encoding/xml":    {Lent, "", "encodings"},
	"expvar":          {Lent, "", "entrypoints"},
	"html/template":   {Lent, "", "templates"},
	"log/slog":        {Lent, "", "logging"},
	"net/rpc":         {Lent, "", "entrypoints"},
	"testing/quick":   {Lent, "", "encodings"},
	"text/template":   {Lent, "", "templates"},

	"(*database/sql.Row).Scan":              {Borrowed, "", "packages/standard"},
	"(*database/sql.Rows).Scan":             {Borrowed, "", "packages/standard"},
	"encoding/asn1.Unmarshal":               {Borrowed, "", "encodings"},
	"encoding/asn1.UnmarshalWithParams":     {Borrowed, "", "entrypoints"},
	"encoding/binary.Decode":                {Borrowed, "", "encodings"},
	"encoding/binary.Read":                  {Borrowed, "", "encodings"},
	"encoding/xml.Unmarshal":                {Borrowed, "", "encodings"},
	"(*encoding/xml.Decoder).Decode":        {Borrowed, "", "encodings"},
	"(*encoding/xml.Decoder).DecodeElement": {Borrowed, "", "encodings"},
	"(*net/rpc.Client).Call":                {Borrowed, "", "entrypoints"},
	"(*net/rpc.Client).Go":                  {Borrowed, "", "entrypoints"},
	"reflect":                               {Borrowed, "", "reflection"},

	"(*encoding/gob.Decoder).Decode":  {Settled, "GobDecode", "encodings"},
	"(*encoding/json.Decoder).Decode": {Settled, "JSONDecode", "json"},
	"encoding/json.Unmarshal":         {Settled, "JSONUnmarshal", "json"},
	"(reflect.Value).Set":             {Settled, "SetValue", "reflection"},

	"(reflect.Value).Interface": {Returned, "Return", "reflection"},
	"(reflect.Value).Elem":      {Returned, "Content", "reflection"},
	"reflect.Indirect":          {Returned, "Content", "entrypoints"},
}

// Settling returns the support functions of the table: those of Settled take the receiver and the operands, others the result.
func Settling() map[string]any {
	return map[string]any{
		"Content":       Content,
		"GobDecode":     GobDecode,
		"JSONDecode":    Decode,
		"JSONUnmarshal": Unmarshal,
		"Return":        Return,
		"SetValue":      SetValue,
	}
}

// TreatmentOf returns the treatment of the operands of the function with that full name, of the package with that path,
// and the support function that has to do with it.
func TreatmentOf(name, path string) (Treatment, string) {
	if _, ok := Writers[name]; ok {
		return Written, ""
	}
	if r, ok := reflective[name]; ok {
		return r.Treatment, r.support
	}
	return reflective[path].Treatment, ""
}

// treated returns a method of a compiled type, which takes the receiver first, as a function that gives the operands their treatment.
func treated(m reflect.Method) func(args []reflect.Value) []reflect.Value {
	name := "(" + fullName(m.Type.In(0)) + ")." + m.Name
	method := m.Type.In(0)
	if method.Kind() == reflect.Pointer {
		method = method.Elem()
	}
	treatment, support := TreatmentOf(name, method.PkgPath())
	call := m.Func.Call
	if m.Type.IsVariadic() {
		call = m.Func.CallSlice
	}
	change := map[Treatment]func(any) any{Exported: Export, Lent: Lend, Borrowed: LendTarget, Returned: LendTarget}[treatment]
	switch {
	case treatment == Written:
		return func(args []reflect.Value) []reflect.Value {
			writes(args[0], m.Name, args[1:])
			return nil
		}
	case treatment == Settled:
		return reflect.ValueOf(Settling()[support]).Call
	case change == nil:
		return call
	}
	return func(args []reflect.Value) []reflect.Value {
		for i, a := range args[1:] {
			switch in := m.Type.In(i + 1); {
			case in == reflect.TypeFor[any]() && !a.IsNil():
				x := change(a.Interface())
				args[i+1] = reflect.ValueOf(&x).Elem()
			case in == reflect.TypeFor[[]any]() && m.Type.IsVariadic() && i+2 == len(args):
				list := make([]any, a.Len())
				for j := range list {
					list[j] = change(a.Index(j).Interface())
				}
				args[i+1] = reflect.ValueOf(list)
			}
		}
		results := call(args)
		if treatment == Returned {
			return reflect.ValueOf(Settling()[support]).Call(results)
		}
		return results
	}
}
