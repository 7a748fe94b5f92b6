package symbols

import (
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"runtime"
	"testing"
	"time"
	"unicode"
)

// TestCorrectConstants gives typed and untyped constants of a package other values, and leaves its other names.
func TestCorrectConstants(t *testing.T) {
	p := types.NewPackage("p", "p")
	add := func(name string, typ types.Type, v constant.Value) {
		p.Scope().Insert(types.NewConst(token.NoPos, p, name, typ, v))
	}
	month := types.NewNamed(types.NewTypeName(token.NoPos, p, "M", nil), types.Typ[types.Int], nil)
	add("System", types.Typ[types.String], constant.MakeString("linux"))
	add("Separator", types.Typ[types.UntypedRune], constant.MakeInt64('/'))
	add("Month", month, constant.MakeInt64(3))
	add("Same", types.Typ[types.UntypedBool], constant.MakeBool(true))
	add("Missing", types.Typ[types.UntypedInt], constant.MakeInt64(7))
	p.Scope().Insert(types.NewVar(token.NoPos, p, "Var", types.Typ[types.Int]))
	correctConstants(p, map[string]reflect.Value{
		"System": reflect.ValueOf("windows"), "Separator": reflect.ValueOf(constant.MakeInt64('\\')), "Month": reflect.ValueOf(time.April),
		"Same": reflect.ValueOf(true), "Var": reflect.ValueOf(new(int)).Elem(),
	})
	for name, want := range map[string]string{"System": `"windows"`, "Separator": "92", "Month": "4", "Same": "true", "Missing": "7"} {
		c := p.Scope().Lookup(name).(*types.Const)
		if c.Val().String() != want || c.Name() != name || c.Pkg() != p {
			t.Errorf("%s: got %v, want %s", name, c, want)
		}
	}
	if c := p.Scope().Lookup("Month"); c.Type() != month {
		t.Errorf("Month has type %v, want %v", c.Type(), month)
	}
}

// TestOwnConstants checks constants that depend on the system or on the release of Go.
func TestOwnConstants(t *testing.T) {
	imp := Importer()
	for _, c := range []struct {
		path, name string
		want       constant.Value
	}{
		{"runtime", "GOOS", constant.MakeString(runtime.GOOS)},
		{"runtime", "GOARCH", constant.MakeString(runtime.GOARCH)},
		{"os", "PathSeparator", constant.MakeInt64(os.PathSeparator)},
		{"os", "DevNull", constant.MakeString(os.DevNull)},
		{"unicode", "Version", constant.MakeString(unicode.Version)},
	} {
		p, err := imp.Import(c.path)
		if err != nil {
			t.Fatal(err)
		}
		got := p.Scope().Lookup(c.name).(*types.Const).Val()
		if !constant.Compare(got, token.EQL, c.want) {
			t.Errorf("%s.%s: got %v, want %v", c.path, c.name, got, c.want)
		}
	}
}
