package ixgo

import (
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/goplus/ixgo"

	"halfnote/interp/engine"
)

// TestUnexportedFields checks the fields of ixgo and x/tools that the engine reads although
// they are not exported. If it fails after an upgrade, the engine refuses to start, and each
// use of such a field must be reviewed.
func TestUnexportedFields(t *testing.T) {
	if err := unexported(); err != nil {
		t.Error(err)
	}
}

func newEngine(t *testing.T) *Engine {
	t.Helper()
	tables := map[string]map[string]reflect.Value{
		"os": {"Exit": reflect.ValueOf(os.Exit)}, "runtime": {"Goexit": reflect.ValueOf(runtime.Goexit)},
	}
	e, err := New(Options{Table: func(path string) map[string]reflect.Value { return tables[path] }, Importer: importer.Default()})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func declare(t *testing.T, e *Engine, entry, src string) (engine.Program, error) {
	t.Helper()
	file, err := parser.ParseFile(e.Files(), "unit", "package main\n"+src, 0)
	if err != nil {
		t.Fatal(err)
	}
	return e.Declare(&engine.Unit{Entry: entry, File: file, Fset: e.Files()})
}

func run(t *testing.T, e *Engine, entry, src string) engine.Program {
	t.Helper()
	p, err := declare(t, e, entry, src)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMethodsOfLaterTypes checks that an interpreter calls methods of a type from a later
// unit through an interface.
func TestMethodsOfLaterTypes(t *testing.T) {
	e := newEngine(t)
	run(t, e, "f1", "type named interface{ name() string }\nvar show func(named) string\nfunc f1() { show = func(x named) string { return x.name() } }")
	run(t, e, "f2", "type t struct{ n string }\nfunc (x *t) name() string { return x.n }\nvar got string\nfunc f2() { got = show(&t{\"late\"}) }")
	if v, ok := e.Slot("got"); !ok || v.String() != "late" {
		t.Errorf("got %v, want late", v)
	}
}

// TestTooManyMethods checks that the engine refuses a unit whose types have so many methods
// that ixgo would end the process.
func TestTooManyMethods(t *testing.T) {
	pkg := types.NewPackage("main", "main")
	name := types.NewTypeName(token.NoPos, pkg, "T", nil)
	n := types.NewNamed(name, types.NewStruct(nil, nil), nil)
	pkg.Scope().Insert(name)
	if err := room(pkg); err != nil {
		t.Error(err)
	}
	capacity, _, _ := ixgo.IcallStat()
	for i := range capacity {
		recv := types.NewParam(token.NoPos, pkg, "", n)
		n.AddMethod(types.NewFunc(token.NoPos, pkg, "M"+strings.Repeat("x", i%50)+string(rune('a'+i/50%26))+string(rune('a'+i/1300)),
			types.NewSignatureType(recv, nil, nil, nil, nil, false)))
	}
	if err := room(pkg); err == nil || !strings.Contains(err.Error(), "room for") {
		t.Errorf("got %v for a type of %d methods, want an error that names the remaining room", err, n.NumMethods())
	}
}

// TestUnitsAreReleased checks that the SSA program does not keep units that no later unit
// can use.
func TestUnitsAreReleased(t *testing.T) {
	e := newEngine(t)
	run(t, e, "f1", "var x int\nfunc f1() { x = 1 }")
	before := len(e.prog.AllPackages())
	for range 5 {
		p := run(t, e, "f2", "var out int\nfunc f2() { out = x + 1 }")
		if v, ok := e.Slot("out"); !ok || v.Int() != 2 {
			t.Errorf("got %v, want 2", v)
		}
		e.Remove("out")
		if !p.Free() {
			t.Error("Free: got false, want true: no code of the unit can still run")
		}
	}
	if _, err := declare(t, e, "f3", "func f3() { undefined() }"); err == nil {
		t.Error("got no error for an undefined name")
	}
	if got := len(e.prog.AllPackages()); got > before {
		t.Errorf("got %d packages, want at most the %d from before", got, before)
	}
}

// TestFailedUnitLeavesNothing checks that a unit that fails to compile declares nothing.
func TestFailedUnitLeavesNothing(t *testing.T) {
	e := newEngine(t)
	if _, err := declare(t, e, "", "var y int = undefined"); err == nil {
		t.Fatal("got no error, want one for an undefined name")
	}
	if _, ok := e.Slot("y"); ok {
		t.Error("the failed unit has declared y")
	}
	run(t, e, "f", "var y string\nfunc f() { y = \"new\" }")
	if v, _ := e.Slot("y"); v.String() != "new" {
		t.Errorf("got %v, want new", v)
	}
}

// TestFrames checks that the frames of a panic have the positions of calls, also if
// deferred functions ran in between.
func TestFrames(t *testing.T) {
	e := newEngine(t)
	src := "func g(s []int) int { defer func() {}(); return s[3] }\nfunc f() { println(g(nil)) }"
	p, err := declare(t, e, "f", src)
	if err != nil {
		t.Fatal(err)
	}
	err = p.Run()
	x, ok := err.(*engine.Panic)
	if !ok || len(x.Frames) != 2 {
		t.Fatalf("got %#v, want a panic with two frames", err)
	}
	for i, want := range []struct {
		fn   string
		line int
	}{{"g", 2}, {"f", 3}} {
		if f := x.Frames[i]; f.Func != want.fn || e.Files().Position(f.Pos).Line != want.line {
			t.Errorf("frame %d: got %s at %s, want %s at line %d", i, f.Func, e.Files().Position(f.Pos), want.fn, want.line)
		}
	}
}
