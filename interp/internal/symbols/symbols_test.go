package symbols

import (
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"testing"

	"halfnote/interp/internal/exports"
)

// TestTablesMatchExports checks that the tables have the names, kinds and constants that
// package exports declares.
func TestTablesMatchExports(t *testing.T) {
	imp := exports.Importer()
	for _, path := range exports.Packages() {
		p, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		table := Table(path)
		n := 0
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if !o.Exported() || generic(o) {
				continue
			}
			n++
			v, ok := table[name]
			if !ok {
				t.Errorf("%s.%s: not in the table", path, name)
				continue
			}
			switch o := o.(type) {
			case *types.Var:
				if !v.CanSet() {
					t.Errorf("%s.%s: variable is not addressable", path, name)
				}
			case *types.Func:
				if got, want := v.Type().NumIn(), o.Signature().Params().Len(); v.Kind() != reflect.Func || got != want {
					t.Errorf("%s.%s: got %v, want %v", path, name, v.Type(), o.Type())
				}
			case *types.TypeName:
				if v.Kind() != reflect.Pointer || !v.IsNil() {
					t.Errorf("%s.%s: got %v, want a nil pointer to the type", path, name, v.Type())
				} else {
					wrapper(t, path+"."+name, o, v.Type().Elem(), table["_"+name])
				}
			case *types.Const:
				if c, ok := v.Interface().(constant.Value); ok && path+"."+name != "unicode.Version" && !constant.Compare(c, token.EQL, o.Val()) { // sessions take the table's
					t.Errorf("%s.%s: got %v, want %v", path, name, c, o.Val())
				} else if b, _ := o.Type().(*types.Basic); !ok && b != nil && b.Info()&types.IsUntyped != 0 && b.Kind() != types.UntypedBool {
					t.Errorf("%s.%s: got %v, want an untyped constant", path, name, v.Type())
				}
			}
		}
		if n > 0 && table == nil {
			t.Errorf("%s: no table", path)
		}
	}
}

// wrapper checks the struct that implements interface o for interpreted values.
func wrapper(t *testing.T, name string, o *types.TypeName, typ reflect.Type, w reflect.Value) {
	i, ok := o.Type().Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return
	}
	for m := range i.Methods() {
		if !m.Exported() {
			return // no other package can implement it
		}
	}
	if !w.IsValid() {
		t.Errorf("%s: no wrapper", name)
		return
	}
	s := w.Type().Elem()
	if !s.Implements(typ) || s.NumField() != 1 || s.Field(0).Name != "IValue" {
		t.Errorf("%s: wrapper %v does not implement it", name, s)
	}
}

func generic(o types.Object) bool {
	if s, ok := o.Type().(*types.Signature); ok {
		return s.TypeParams().Len() > 0
	}
	if n, ok := o.Type().(*types.Named); ok && n.TypeParams().Len() > 0 {
		return true
	}
	i, ok := o.Type().Underlying().(*types.Interface)
	return ok && !i.IsMethodSet()
}

// TestCalls checks that functions of a table can be called.
func TestCalls(t *testing.T) {
	call := func(path, name string, args ...any) any {
		var in []reflect.Value
		for _, a := range args {
			in = append(in, reflect.ValueOf(a))
		}
		return Table(path)[name].Call(in)[0].Interface()
	}
	if got := call("strings", "ToUpper", "half"); got != "HALF" {
		t.Errorf("got %v, want HALF", got)
	}
	if got := call("math", "Sqrt", 9.0); got != 3.0 {
		t.Errorf("got %v, want 3", got)
	}
}

// TestExit checks that functions that would exit panic with an Exit.
func TestExit(t *testing.T) {
	for _, tt := range []struct {
		path, name string
		args       []reflect.Value
		want       Exit
	}{
		{"os", "Exit", []reflect.Value{reflect.ValueOf(3)}, Exit{3}},
		{"log", "Fatal", nil, Exit{1}},
		{"log", "Fatalf", []reflect.Value{reflect.ValueOf("x")}, Exit{1}},
		{"log", "Fatalln", nil, Exit{1}},
	} {
		func() {
			defer func() {
				if got := recover(); got != tt.want {
					t.Errorf("%s.%s: got panic %v, want %v", tt.path, tt.name, got, tt.want)
				}
			}()
			Table(tt.path)[tt.name].Call(tt.args)
		}()
	}
	if !strings.Contains(Exit{3}.Error(), "os.Exit(3)") {
		t.Error(Exit{3})
	}
}

// TestKey checks the keys of packages, and that other paths have no table.
func TestKey(t *testing.T) {
	for path, want := range map[string]string{"fmt": "fmt/fmt", "math/rand/v2": "math/rand/v2/rand"} {
		if got := Key(path); got != want {
			t.Errorf("Key(%q): got %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{"slices", "no/such"} {
		if got := Table(path); got != nil {
			t.Errorf("Table(%q): got %v, want nil", path, got)
		}
	}
}

// TestTypesOfMetPackages checks that a type that cells see under the name of another package
// also has an entry in the table of its own package.
func TestTypesOfMetPackages(t *testing.T) {
	got, want := Table("halfnote/tensor/driver")["DType"], Table("halfnote/tensor")["DType"]
	if !got.IsValid() || got.Type() != want.Type() {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Key("halfnote/tensor/driver"); got != "halfnote/tensor/driver/driver" {
		t.Errorf("got key %q, want halfnote/tensor/driver/driver", got)
	}
}

func BenchmarkAll(b *testing.B) {
	for b.Loop() {
		All()
	}
}
