package typemaker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// makeType declares and defines a type of package main.
func makeType(t testing.TB, name string, under reflect.Type, list ...Method) reflect.Type {
	t.Helper()
	pointers := 0
	for _, m := range list {
		if m.Pointer {
			pointers++
		}
	}
	if len(list) > 0 {
		needStubs(t)
	}
	d, err := Declare("main", name, under, len(list)-pointers, pointers)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Define(under, list); err != nil {
		t.Fatal(err)
	}
	return d.Reflect()
}

// needStubs skips a test on processors without stubs, where methods must be refused.
func needStubs(t testing.TB) {
	t.Helper()
	if stubCount > 0 {
		return
	}
	_, err := Declare("main", "T", reflect.TypeFor[int](), 1, 0)
	if want := fmt.Sprintf("types made at run time have no methods on %s/%s", runtime.GOOS, runtime.GOARCH); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	t.Skip(err)
}

// text is the method String.
func text(f func(v reflect.Value) string) Method {
	return Method{Name: "String", Type: reflect.TypeFor[func() string](), Func: func(a []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(f(a[0]))}
	}}
}

type setter interface {
	Set(int, string, float64, ...any) (int, error)
}

// TestKinds calls methods of types of all kinds in all ways.
func TestKinds(t *testing.T) {
	for i, v := range []any{
		1, "a", 1.5, true, complex(1, 2), uint8(3), unsafe.Pointer(t), []int{1}, map[string]int{"a": 1}, [2]int{1, 2}, [1]*int{new(int)}, [0]*int{},
		func(int, ...string) (string, error) { return "", nil }, make(chan int),
		struct {
			A int
			B string
		}{1, "x"}, struct{ P *int }{}, struct {
			_ struct{}
			P *int
		}{}, struct{}{}, [300]*int{}, [10000]*int{3: new(int)},
	} {
		u := reflect.TypeOf(v)
		name := fmt.Sprintf("K%d", i)
		typ := makeType(t, name, u,
			text(func(v reflect.Value) string { return "<" + v.Type().Name() + ">" }),
			Method{Name: "Self", Type: reflect.TypeFor[func() any](), Func: func(a []reflect.Value) []reflect.Value {
				return []reflect.Value{a[0]}
			}},
			Method{Name: "Set", Pointer: true, Type: reflect.TypeOf((*setter)(nil)).Elem().Method(0).Type, Func: func(a []reflect.Value) []reflect.Value {
				return []reflect.Value{a[1], reflect.ValueOf(&[]error{fmt.Errorf("%s %v %v %v", a[0].Type(), a[2], a[3], a[4])}[0]).Elem()}
			}})
		p := reflect.New(typ)
		p.Elem().Set(reflect.ValueOf(v).Convert(typ))
		for _, x := range []any{p.Elem().Interface(), p.Interface()} {
			if got, want := fmt.Sprint(x), "<"+name+">"; got != want {
				t.Errorf("%v: got %q, want %q", u, got, want)
			}
			if got := x.(interface{ Self() any }).Self(); u.Comparable() && got != p.Elem().Interface() || reflect.TypeOf(got) != typ {
				t.Errorf("%v: the receiver is %v", u, got)
			}
		}
		if got := fmt.Sprintf("%T %T", p.Interface(), p.Elem().Interface()); got != "*main."+name+" main."+name {
			t.Error(got)
		}
		s, ok := p.Interface().(setter)
		if !ok {
			t.Fatalf("%v has no Set", p.Type())
		}
		if n, err := s.Set(7, "b", 2.5, 1, "c"); n != 7 || err.Error() != "*main."+name+" b 2.5 [1 c]" {
			t.Error(n, err)
		}
		if _, ok := p.Elem().Interface().(setter); ok {
			t.Errorf("%v has Set", typ)
		}
		for _, f := range []reflect.Value{p.Elem().MethodByName("String"), p.MethodByName("String"), reflect.ValueOf(p.Interface().(fmt.Stringer).String)} {
			if got := f.Call(nil)[0].String(); got != "<"+name+">" {
				t.Error(got)
			}
		}
		for k, r := range []reflect.Value{p.Elem(), p} { // method expressions
			m, _ := r.Type().MethodByName("Self")
			if want := fmt.Sprintf("func(%v) interface {}", r.Type()); m.Type.String() != want {
				t.Errorf("got the type %v, want %s", m.Type, want)
			}
			if got := m.Func.Call([]reflect.Value{r})[0].Elem(); got.Type() != typ || u.Comparable() && got.Interface() != p.Elem().Interface() {
				t.Errorf("%v: got %v from the method expression %d", u, got, k)
			}
		}
		if reflect.PointerTo(typ) != p.Type() || p.Type().Elem() != typ || typ.PkgPath() != "main" || typ.Name() != name || typ.NumMethod() != 2 || p.Type().NumMethod() != 3 {
			t.Error("not the same type")
		}
		if !typ.ConvertibleTo(u) || typ.AssignableTo(reflect.TypeFor[setter]()) || !p.Type().Implements(reflect.TypeFor[setter]()) {
			t.Errorf("%v: wrong relations with other types", u)
		}
		if u.Kind() == reflect.Func && fmt.Sprint(reflect.Zero(typ).Type().In(1), typ.Out(1)) != "[]string error" {
			t.Errorf("%v has other parameters than %v", typ, u)
		}
	}
}

// TestRecursive makes types that refer to each other before they have their underlying types.
func TestRecursive(t *testing.T) {
	needStubs(t)
	like := reflect.TypeFor[struct {
		Next *int
		All  []int
		By   map[int]int
	}]()
	a, err := Declare("example.com/lib", "node", like, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := reflect.PointerTo(a.Reflect())
	if n := a.Reflect().NumMethod() + p.NumMethod(); n != 0 {
		t.Errorf("an incomplete type has %d methods", n)
	}
	under, err := Struct([]reflect.StructField{{Name: "Next", Type: p}, {Name: "All", Type: reflect.SliceOf(a.Reflect())}, {Name: "By", Type: reflect.MapOf(p, a.Reflect())}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Define(under, []Method{text(func(v reflect.Value) string {
		if v.Field(0).IsNil() {
			return "."
		}
		return fmt.Sprint(v.Field(0).Interface(), "<")
	})}); err != nil {
		t.Fatal(err)
	}
	last, first := reflect.New(a.Reflect()), reflect.New(a.Reflect())
	first.Elem().Field(0).Set(last)
	first.Elem().Field(2).Set(reflect.MakeMap(under.Field(2).Type))
	first.Elem().Field(2).SetMapIndex(last, last.Elem())
	if got := fmt.Sprintf("%v %v %T", first.Interface(), first.Elem().Field(2), first.Elem().Field(1).Interface()); !strings.HasPrefix(got, ".< map[") || !strings.HasSuffix(got, ":.] []lib.node") {
		t.Error(got)
	}
	if a.Reflect().PkgPath() != "example.com/lib" {
		t.Error(a.Reflect().PkgPath())
	}
}

// TestRefused has what must not become a type.
func TestRefused(t *testing.T) {
	needStubs(t)
	declare := func(v any, values, pointers int) *Type {
		d, err := Declare("main", "T", reflect.TypeOf(v), values, pointers)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	str := text(func(reflect.Value) string { return "" })
	hidden := str
	hidden.Name = "string"
	for _, tt := range []struct {
		d     *Type
		under any
		list  []Method
		want  string
	}{
		{declare(1, 0, 0), "", nil, "main.T was declared with the layout of int, which is not that of string"},
		{declare(struct{ A *int }{}, 0, 0), struct{ A uintptr }{}, nil, "which is not that of struct { A uintptr }"},
		{declare(struct {
			A *int
			B uintptr
			C *int
		}{}, 0, 0), struct{ A, B, C *int }{}, nil, "which is not that of struct { A *int; B *int; C *int }"},
		{declare([2]func(){}, 0, 0), [2]*int{}, nil, "which is not that of [2]*int"},
		{declare(func(int) {}, 0, 0), func() {}, nil, "which is not that of func()"},
		{declare(1, 0, 1), 1, []Method{str}, "main.T was declared with 0 methods on values and 1 on pointers, and has 1 and 0"},
		{declare(1, 1, 0), 1, []Method{hidden}, "method string of main.T is not exported"},
		{declare(1, 2, 0), 1, []Method{str, str}, "main.T has two methods String"},
	} {
		if err := tt.d.Define(reflect.TypeOf(tt.under), tt.list); err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
	if _, err := Declare("main", "T", reflect.TypeFor[int](), 1<<16, 0); err == nil || !strings.Contains(err.Error(), "has 65536 methods") {
		t.Error(err)
	}
	left := room()
	late := declare(1, 1, 0)
	if _, err := take(left - 1); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stubs.Lock()
		defer stubs.Unlock()
		stubs.used = stubCount - left
	}()
	want := "the program has no room for 2 more methods of types made at run time (it had room for 8192)"
	if _, err := Declare("main", "T", reflect.TypeFor[int](), 1, 0); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := late.Define(reflect.TypeFor[int](), []Method{str}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if n := late.Reflect().NumMethod(); n != 0 {
		t.Errorf("an incomplete type has %d methods", n)
	}
	str.Pointer = true
	last := makeType(t, "Last", reflect.TypeFor[int](), str) // the last stub of all
	if got := fmt.Sprint(reflect.New(last).Interface()); got != "" {
		t.Error(got)
	}
}

type Base struct{ N int }

func (Base) Hello() string { return "hello" }

type lower struct{}

func (lower) World() string { return "world" }

// TestStruct makes struct types that reflect.StructOf refuses.
func TestStruct(t *testing.T) {
	base, low, str := reflect.TypeFor[Base](), reflect.TypeFor[*lower](), reflect.TypeFor[fmt.Stringer]()
	fields := []reflect.StructField{
		{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"a"`},
		{Name: "Base", Type: base, Anonymous: true, Tag: `x:"y"`},
		{Name: "lower", Type: low, Anonymous: true, PkgPath: "main"},
		{Name: "Stringer", Type: str, Anonymous: true},
		{Name: "b", Type: reflect.TypeFor[string](), PkgPath: "main"},
	}
	typ, err := Struct(fields)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range fields {
		got := typ.Field(i)
		if got.Name != f.Name || got.Type != f.Type || got.Tag != f.Tag || got.Anonymous != f.Anonymous || got.PkgPath != f.PkgPath {
			t.Errorf("field %d is %+v, want %+v", i, got, f)
		}
	}
	if want := `struct { A int "json:\"a\""; typemaker.Base "x:\"y\""; *typemaker.lower; fmt.Stringer; b string }`; typ.String() != want {
		t.Errorf("got %v, want %s", typ, want)
	}
	if f, ok := typ.FieldByName("N"); !ok || fmt.Sprint(f.Index) != "[1 0]" || typ.NumMethod() != 0 {
		t.Error("N is not promoted", f)
	}
	if again, _ := Struct(fields); again != typ {
		t.Error("the same fields give another type")
	}
	named := makeType(t, "Embeds", typ, text(func(v reflect.Value) string { return v.Field(1).String() }))
	x := reflect.New(named)
	x.Elem().Field(1).Field(0).SetInt(7)
	if b, err := json.Marshal(struct{ V any }{x.Elem().Field(0).Interface()}); err != nil || string(b) != `{"V":0}` {
		t.Error(string(b), err)
	}
	if got := fmt.Sprintf("%#v", x.Elem().Field(1).Interface()); got != "typemaker.Base{N:7}" {
		t.Error(got)
	}
	// Without embedding it is another type, which package reflect's table still has as it was.
	plain := []reflect.StructField{fields[1]}
	embeds, _ := Struct(plain)
	plain[0].Anonymous = false
	if got, _ := Struct(plain); got == embeds || got.Field(0).Anonymous || !embeds.Field(0).Anonymous {
		t.Errorf("%v and %v are one type", got, embeds)
	}
	if b, err := json.Marshal(reflect.Zero(embeds).Interface()); err != nil || string(b) != `{"N":0}` {
		t.Error(string(b), err)
	}
	if _, err := Struct([]reflect.StructField{{Name: "A", Type: base}, {Name: "A", Type: base}}); err == nil || !strings.Contains(err.Error(), "duplicate field A") {
		t.Error(err)
	}
}

// TestBlankFields compares structs with fields named _, as Go compares them.
func TestBlankFields(t *testing.T) {
	typ, err := Struct([]reflect.StructField{
		{Name: "_", Type: reflect.TypeFor[int64](), PkgPath: "main"},
		{Name: "A", Type: reflect.TypeFor[int64]()},
		{Name: "_", Type: reflect.TypeFor[int64](), PkgPath: "main"},
	})
	if err != nil {
		t.Fatal(err)
	}
	values := func(typ reflect.Type) (a, b, c any) {
		list := [3]any{}
		for i, v := range [][3]int64{{1, 2, 3}, {4, 2, 5}, {1, 3, 3}} {
			p := reflect.New(typ)
			*(*[3]int64)(p.UnsafePointer()) = v
			list[i] = p.Elem().Interface()
		}
		return list[0], list[1], list[2]
	}
	for _, typ := range []reflect.Type{typ, makeType(t, "Blank", typ)} {
		a, b, c := values(typ)
		if a != b || a == c || len(map[any]int{a: 1, b: 2, c: 3}) != 2 {
			t.Errorf("%v: %v == %v is %v, %v == %v is %v", typ, a, b, a == b, a, c, a == c)
		}
	}
}

type pair struct {
	A, B string
	C    float64
	D    [3]*int
}

type many interface {
	Many(a, b, c, d, e string, f pair, g []int, h map[string]int, x float64, y float32, i any, j error, k func() int) (string, pair, float64, error)
}

// manyType has a method with arguments in all registers and on the stack.
func manyType(t testing.TB, during func()) reflect.Type {
	return makeType(t, "Many", reflect.TypeFor[struct {
		X *int
		Y string
	}](), Method{Name: "Many", Type: reflect.TypeOf((*many)(nil)).Elem().Method(0).Type, Func: func(a []reflect.Value) []reflect.Value {
		during()
		var s []string
		for _, v := range a[1:6] {
			s = append(s, v.String())
		}
		f := a[6].Interface().(pair)
		out := fmt.Sprintln(s, f.A, *f.D[2], a[7], a[8], a[9], a[10], a[11], a[12], a[13].Interface().(func() int)(), a[0].Field(1), *a[0].Field(0).Interface().(*int))
		return []reflect.Value{reflect.ValueOf(out), a[6], a[9], a[12]}
	}})
}

// callMany calls the method through an interface. want is what it must return.
func callMany(typ reflect.Type, n int) (got, want string) {
	v := reflect.New(typ).Elem()
	z := n
	v.Field(0).Set(reflect.ValueOf(&z))
	v.Field(1).SetString(fmt.Sprint("y", n))
	x, y := n, n+1
	s := func(k int) string { return strings.Repeat("s", k%3+1) + fmt.Sprint(n) }
	out, p, f, err := v.Interface().(many).Many(s(1), s(2), s(3), s(4), s(5), pair{s(6), s(7), 1.5, [3]*int{&x, &x, &y}}, []int{n}, map[string]int{"k": n}, 2.5, 3.5, any(s(8)), errors.New(s(9)), func() int { return n + 3 })
	got = fmt.Sprint(out, p.A, p.B, *p.D[0], f, err)
	in := fmt.Sprintln([]string{s(1), s(2), s(3), s(4), s(5)}, s(6), n+1, []int{n}, map[string]int{"k": n}, 2.5, float32(3.5), s(8), s(9), n+3, fmt.Sprint("y", n), n)
	return got, fmt.Sprint(in, s(6), s(7), n, 2.5, errors.New(s(9)))
}

//go:noinline
func deep(n int, f func()) byte {
	var pad [512]byte
	pad[n%512] = 1
	if n == 0 {
		f()
		return pad[3]
	}
	return deep(n-1, f) + pad[5]
}

// TestManyArguments has the stack grow and the collector run while a method runs.
func TestManyArguments(t *testing.T) {
	var garbage []string
	typ := manyType(t, func() {
		deep(64, func() { // another, larger stack
			runtime.GC()
			for i := range 200 {
				garbage = append(garbage[:i%7], strings.Repeat("x", i))
			}
		})
	})
	for n := range 60 {
		var got, want string
		done := make(chan bool)
		go func() { got, want = callMany(typ, n); close(done) }() // a small stack
		<-done
		if got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

// TestCollector has many goroutines call methods while the collector never rests, and makes types meanwhile.
func TestCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	typ := manyType(t, func() { _ = make([]byte, 1<<12) })
	var g sync.WaitGroup
	for w := range 8 {
		g.Go(func() {
			for n := range 150 {
				if got, want := callMany(typ, w*1000+n); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
					return
				}
			}
		})
	}
	g.Go(func() {
		for n := range 40 {
			name := fmt.Sprint("C", n)
			typ := makeType(t, name, reflect.StructOf([]reflect.StructField{{Name: name, Type: reflect.TypeFor[string]()}}), text(func(v reflect.Value) string { return v.Type().Field(0).Name + v.Field(0).String() }))
			v := reflect.New(typ).Elem()
			v.Field(0).SetString(strings.Repeat(name, 2))
			m := reflect.MakeMap(reflect.MapOf(typ, reflect.TypeFor[int]()))
			m.SetMapIndex(v, reflect.ValueOf(n))
			runtime.GC()
			if got, want := fmt.Sprint(m.Interface()), fmt.Sprintf("map[%s%s%s:%d]", name, name, name, n); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	g.Wait()
	close(stop)
}

// TestKept makes types that only their values refer to.
func TestKept(t *testing.T) {
	var values []any
	for i := range 300 {
		name := fmt.Sprint("Kept", i)
		values = append(values, reflect.Zero(makeType(t, name, reflect.TypeFor[[2]int]())).Interface()) // package reflect keeps types of which there are pointers
		u, err := Struct([]reflect.StructField{{Name: name, Type: reflect.TypeFor[Base](), Anonymous: true}})
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, reflect.New(makeType(t, name, u)).Interface(), reflect.New(u).Elem().Interface())
	}
	runtime.GC()
	runtime.GC()
	var garbage [][]byte
	for range 3000 { // in what has been freed
		b := make([]byte, 320)
		for i := range b {
			b[i] = 0xee
		}
		garbage = append(garbage, b)
	}
	for i := range 300 {
		got := fmt.Sprintf("%T %T %v %v", values[3*i], values[3*i+1], values[3*i+1], values[3*i+2])
		if want := fmt.Sprintf("main.Kept%d *main.Kept%d &{{0}} {{0}}", i, i); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
	runtime.KeepAlive(garbage)
}

// TestPreempted has goroutines in a tight loop of calls while the collector stops them.
func TestPreempted(t *testing.T) {
	typ := makeType(t, "L", reflect.TypeFor[struct{ P *int }](), Method{Name: "Add", Type: reflect.TypeFor[func(*int, []int) *int](), Func: func(a []reflect.Value) []reflect.Value {
		x := *a[1].Interface().(*int) + int(a[2].Index(0).Int())
		return []reflect.Value{reflect.ValueOf(&x)}
	}})
	var g sync.WaitGroup
	for range 4 {
		g.Go(func() {
			n := 0
			p := reflect.New(typ).Elem()
			p.Field(0).Set(reflect.ValueOf(&n))
			a := p.Interface().(interface{ Add(*int, []int) *int })
			x := new(int)
			for i := range 20000 {
				x = a.Add(x, []int{1})
				if *x != i+1 {
					t.Errorf("got %d, want %d", *x, i+1)
					return
				}
			}
		})
	}
	for range 50 {
		runtime.GC()
	}
	g.Wait()
}

// TestHarsh runs the tests with a collector that overwrites what it frees.
func TestHarsh(t *testing.T) {
	if os.Getenv("TYPEMAKER_HARSH") != "" || runtime.GOARCH == "wasm" {
		t.Skip("runs the other tests")
	}
	for _, debug := range []string{"clobberfree=1", "gccheckmark=1"} {
		c := exec.Command(os.Args[0], "-test.run=Kinds|Recursive|Struct|Kept|Blank|ManyArguments|Panics|Encoding")
		c.Env = append(os.Environ(), "TYPEMAKER_HARSH=1", "GOGC=1", "GODEBUG="+debug)
		out, err := c.CombinedOutput()
		if err != nil && strings.Contains(err.Error(), "exec format error") {
			t.Skip("an emulator runs this program")
		}
		if err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("with GOGC=1 GODEBUG=%s: %v\n%s", debug, err, out)
		}
	}
}

// TestPanics has panics and Goexit leave methods.
func TestPanics(t *testing.T) {
	typ := makeType(t, "P", reflect.TypeFor[int](), Method{Name: "Error", Type: reflect.TypeFor[func() string](), Func: func(a []reflect.Value) []reflect.Value {
		var p *int
		return []reflect.Value{reflect.ValueOf(fmt.Sprint(*p))}
	}})
	v := reflect.New(typ).Elem().Interface()
	func() {
		defer func() {
			err, ok := recover().(runtime.Error)
			if !ok || !strings.Contains(err.Error(), "nil pointer") {
				t.Error("recovered", err)
			}
			if s := string(debug.Stack()); !strings.Contains(s, "typemaker.TestPanics(") || strings.Contains(s, "typemaker.code") {
				t.Error(s)
			}
		}()
		_ = v.(error).Error()
	}()
	if got := fmt.Sprint(v); !strings.Contains(got, "PANIC=Error method") {
		t.Error(got)
	}
	func() {
		defer func() {
			err, ok := recover().(runtime.Error)
			if want := "value method main.P.Error called using nil *P pointer"; !ok || err.Error() != want {
				t.Errorf("recovered %v, want %s", err, want)
			}
		}()
		_ = reflect.Zero(reflect.PointerTo(typ)).Interface().(error).Error()
	}()
	closer := makeType(t, "G", reflect.TypeFor[int](), Method{Name: "Close", Pointer: true, Type: reflect.TypeFor[func() error](), Func: func(a []reflect.Value) []reflect.Value {
		if a[0].IsNil() {
			return []reflect.Value{reflect.ValueOf(&[]error{io.EOF}[0]).Elem()}
		}
		runtime.Goexit()
		return nil
	}})
	if err := reflect.Zero(reflect.PointerTo(closer)).Interface().(io.Closer).Close(); err != io.EOF {
		t.Error("a method with a nil pointer returned", err)
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		_ = reflect.New(closer).Interface().(io.Closer).Close()
		t.Error("Goexit returned")
	}()
	<-ended
}

// TestReceivers checks that a method on values has a copy.
func TestReceivers(t *testing.T) {
	typ := makeType(t, "R", reflect.TypeFor[struct{ A, B int }](), Method{Name: "Change", Type: reflect.TypeFor[func() int](), Func: func(a []reflect.Value) []reflect.Value {
		if a[0].CanSet() {
			a[0].Field(0).SetInt(9)
		}
		return []reflect.Value{a[0].Field(0)}
	}}, Method{Name: "ChangeP", Pointer: true, Type: reflect.TypeFor[func()](), Func: func(a []reflect.Value) []reflect.Value {
		a[0].Elem().Field(0).SetInt(5)
		return nil
	}})
	p := reflect.New(typ)
	p.Interface().(interface{ Change() int }).Change()
	x := p.Elem().Interface()
	x.(interface{ Change() int }).Change()
	if got := fmt.Sprint(p.Elem().Field(0), x); got != "0 {0 0}" {
		t.Errorf("a method on values changed its receiver to %s", got)
	}
	p.Interface().(interface{ ChangeP() }).ChangeP()
	if got := p.Elem().Field(0).Int(); got != 5 {
		t.Errorf("a method on pointers left %d in its receiver, want 5", got)
	}
}

func TestEncoding(t *testing.T) {
	typ := makeType(t, "J", reflect.TypeFor[struct{ A int }](), Method{Name: "MarshalText", Type: reflect.TypeFor[func() ([]byte, error)](), Func: func(a []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf([]byte(fmt.Sprint("j", a[0].Field(0)))), reflect.Zero(reflect.TypeFor[error]())}
	}}, Method{Name: "UnmarshalText", Pointer: true, Type: reflect.TypeFor[func([]byte) error](), Func: func(a []reflect.Value) []reflect.Value {
		n := int64(a[1].Bytes()[1] - '0')
		a[0].Elem().Field(0).SetInt(n)
		return []reflect.Value{reflect.Zero(reflect.TypeFor[error]())}
	}})
	m := reflect.MakeMap(reflect.MapOf(typ, reflect.TypeFor[int]()))
	for i := range 3 {
		k := reflect.New(typ).Elem()
		k.Field(0).SetInt(int64(i))
		m.SetMapIndex(k, reflect.ValueOf(i))
	}
	b, err := json.Marshal(m.Interface())
	if string(b) != `{"j0":0,"j1":1,"j2":2}` || err != nil {
		t.Error(string(b), err)
	}
	back := reflect.New(m.Type())
	if err := json.Unmarshal(b, back.Interface()); err != nil || !reflect.DeepEqual(back.Elem().Interface(), m.Interface()) {
		t.Error(back.Elem(), err)
	}
}

// TestDistinct makes types with the same names.
func TestDistinct(t *testing.T) {
	seen := map[reflect.Type]string{}
	for i := range 3 {
		typ := makeType(t, "Same", reflect.TypeFor[int](), text(func(reflect.Value) string { return fmt.Sprint(i) }))
		seen[typ] = fmt.Sprint(reflect.Zero(typ).Interface())
	}
	got := map[string]int{}
	for s := range maps.Values(seen) {
		got[s]++
	}
	if len(got) != 3 {
		t.Errorf("got %v, want 0, 1 and 2", seen)
	}
	var a any
	for typ := range seen {
		if v := reflect.Zero(typ).Interface(); a == v {
			t.Errorf("%v == %v, and their types differ", a, v)
		} else {
			a = v
		}
	}
}

func BenchmarkCall(b *testing.B) {
	typ := makeType(b, "B", reflect.TypeFor[struct{ A int }](), text(func(reflect.Value) string { return "s" }))
	s := reflect.New(typ).Elem().Interface().(fmt.Stringer)
	b.ReportAllocs()
	for b.Loop() {
		_ = s.String()
	}
}

// TestInterface checks types of interfaces with a given text.
func TestInterface(t *testing.T) {
	a, err := Interface("interface { M() int }")
	if err != nil {
		t.Skip(err)
	}
	b, err := Interface("interface { N() }")
	if err != nil {
		t.Fatal(err)
	}
	list := reflect.MakeSlice(reflect.SliceOf(a), 2, 2)
	list.Index(1).Set(reflect.ValueOf(3))
	runtime.GC()
	got := fmt.Sprint(list.Type(), " ", list, " ", a.Name(), a.Kind(), a.NumMethod(), a == b, reflect.SliceOf(a) == reflect.SliceOf(a), reflect.SliceOf(a) == reflect.SliceOf(b), reflect.FuncOf([]reflect.Type{b}, nil, false))
	if want := "[]interface { M() int } [<nil> 3] interface 0 false true false func(interface { N() })"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRequires asks package reflect and the runtime which types have the methods of an interface that the program makes.
func TestRequires(t *testing.T) {
	text := reflect.TypeFor[func() string]()
	named, err := Requires("lib/shapes", "Named", []Method{{Name: "String", Type: text}, {Name: "Error", Type: text}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(named, named.Name(), named.PkgPath(), named.Kind(), named.NumMethod(), named.Method(0).Name, named.Method(1).Type), fmt.Sprint("shapes.Named", "Named", "lib/shapes", reflect.Interface, 2, "Error", text); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	plain, err := Requires("", "interface { String() string }", []Method{{Name: "String", Type: text}})
	if err != nil {
		t.Fatal(err)
	}
	made, err := Declare("main", "Made", reflect.TypeFor[int](), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	string := func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf("made")} }
	if err := made.Define(reflect.TypeFor[int](), []Method{{Name: "String", Type: text, Func: string}}); err != nil {
		t.Skip(err) // this processor has no assembly for methods
	}
	for _, tt := range []struct {
		t            reflect.Type
		named, plain bool
	}{
		{reflect.TypeFor[int](), false, false},
		{reflect.TypeFor[reflect.Kind](), false, true},
		{made.Reflect(), false, true},
		{reflect.PointerTo(made.Reflect()), false, true},
		{named, true, true},
		{plain, false, true},
		{reflect.TypeFor[interface {
			error
			fmt.Stringer
		}](), true, true},
		{reflect.TypeFor[error](), false, false},
	} {
		if a, b := tt.t.Implements(named), tt.t.Implements(plain); a != tt.named || b != tt.plain {
			t.Errorf("%v implements them: %v, %v; want %v, %v", tt.t, a, b, tt.named, tt.plain)
		}
	}
	for _, v := range []reflect.Value{reflect.ValueOf(reflect.Map), reflect.New(made.Reflect()).Elem()} {
		x := reflect.New(plain).Elem()
		x.Set(v)
		if got, want := x.Method(0).Call(nil)[0].String(), fmt.Sprint(v.Interface()); got != want || x.Elem().Type() != v.Type() || x.Interface().(fmt.Stringer).String() != want {
			t.Errorf("%v: got %s, want %s", v.Type(), got, want)
		}
	}
	if _, err := Requires("main", "I", []Method{{Name: "hidden", Type: text}}); err == nil {
		t.Error("an interface with a hidden method is made")
	}
}
