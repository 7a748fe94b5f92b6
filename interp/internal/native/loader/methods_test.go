//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

// TestMethods declares methods of a type of an earlier unit. A fault in any step leaves the type
// as it was.
func TestMethods(t *testing.T) {
	s := newSession(t)
	s.run(`package main
type T struct{ n int }
type S struct{ *T }
func Has(v any) (n int) { for range 20000 { if _, ok := v.(interface{ M() int }); ok { n++ } }; return n }
var Values = []any{T{1}, &T{2}, S{&T{3}}, &S{&T{4}}, struct{ T; a int }{T{5}, 0}}
var Out []int
func Cell() { Out = nil; for _, v := range Values { Out = append(Out, Has(v)) } }`)
	o := s.compile(`package main
type T struct{ n int }
func (t T) M() int { return t.n }
func (t *T) P() { t.n++ }
type S struct{ *T }
type I interface{ M() int }
func Has(v any) int
var Values []any
var Sum int
func gain() []any { return []any{(*T)(nil), (*S)(nil), (*struct{ T; a int })(nil)} }
func Cell() {
	Sum = 0
	for _, v := range Values { Sum += v.(I).M() + 1000 * Has(v) / 20000 }
	Values[1].(interface{ P() }).P()
	var i I = S{&T{100}}
	Sum += i.M() + Values[1].(I).M()
}`)
	probe := "package main\nfunc Has(v any) int\nvar Values []any\nvar Out int\nfunc Cell() { Out = 0; for _, v := range Values { Out += Has(v) } }"
	for _, at := range steps[:stepAt("methods")+1] {
		s.fault = func(step string) error {
			if step == at.name {
				return errors.New("broken")
			}
			return nil
		}
		if _, err := s.Load(o, "main", nil, nil); err == nil {
			t.Errorf("%s: got no error", at.name)
		}
		s.fault = nil
		if got := s.run(probe); got != 0 {
			t.Errorf("%s: the types have the methods: got %v, want 0", at.name, got)
		}
	}
	m, err := s.Load(o, "main", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Init()
	f, _ := m.Func("main.Cell")
	f()
	if v, _ := m.Var("main.Sum"); v.Value().Int() != 15+5000+100+3 {
		t.Errorf("got %v, want %v", v.Value(), 15+5000+100+3)
	}
}

// TestMethodsLate lets the steps fail that follow the one that declares methods: existing values have them.
func TestMethodsLate(t *testing.T) {
	s := newSession(t)
	for i, at := range steps[stepAt("methods")+1:] {
		typ := fmt.Sprintf("Late%d", i)
		s.run("package main\ntype " + typ + " struct{ n int }\nvar V" + typ + " any\nfunc Cell() { V" + typ + " = " + typ + "{7} }")
		o := s.compile("package main\ntype " + typ + " struct{ n int }\nfunc (t " + typ + ") M() int { return t.n }\nfunc Cell() any { return " + typ + "{8} }")
		s.fault = func(step string) error {
			if step == at.name {
				return errors.New("broken")
			}
			return nil
		}
		if _, err := s.Load(o, "main", nil, nil); err == nil {
			t.Errorf("%s: got no error", at.name)
		}
		s.fault = nil
		if got := s.run("package main\nvar V" + typ + " any\nvar Out int\nfunc Cell() { Out = V" + typ + ".(interface{ M() int }).M() }"); got != 7 {
			t.Errorf("%s: got %v, want 7", at.name, got)
		}
	}
}

// TestUncommon compares the methods that descriptions of types of every kind have with those
// that package reflect finds.
func TestUncommon(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[kindInt](), reflect.TypeFor[*kindInt](), reflect.TypeFor[kindStruct](), reflect.TypeFor[kindMap](), reflect.TypeFor[kindFunc](),
		reflect.TypeFor[kindSlice](), reflect.TypeFor[kindArray](), reflect.TypeFor[kindChan](), reflect.TypeFor[kindInterface](), reflect.TypeFor[[]int](),
	} {
		want := typ.NumMethod()
		if typ.Kind() == reflect.Interface {
			want = 0 // they are elsewhere
		}
		b := bytesAt(descriptionOf(typ), 256)
		if got := methodCount(b); got != want {
			t.Errorf("%v: got %d methods, want %d", typ, got, want)
		}
		if x := uncommonIn(b); (x != nil) != (typ.Name() != "" || want > 0) {
			t.Errorf("%v: the part with the methods is there: %v", typ, x != nil)
		}
	}
}

type (
	kindInt       int
	kindStruct    struct{ A, B int }
	kindMap       map[string]int
	kindFunc      func()
	kindSlice     []int
	kindArray     [3]int
	kindChan      chan int
	kindInterface interface{ M() }
)

func (kindInt) M()    {}
func (*kindInt) P()   {}
func (kindStruct) M() {}
func (kindStruct) N() {}
func (kindMap) M()    {}
func (kindFunc) M()   {}
func (kindSlice) M()  {}
func (kindArray) M()  {}
func (kindChan) M()   {}
