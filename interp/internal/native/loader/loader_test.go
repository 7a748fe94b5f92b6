//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/native/object"
	"halfnote/interp/internal/native/toolchain"
)

// session loads units one after the other, as a session of cells does.
type session struct {
	t        *testing.T
	tools    *toolchain.Toolchain
	compiler *toolchain.Compiler
	*Loader
}

func newSession(t *testing.T) *session {
	t.Helper()
	tools, err := toolchain.Find(context.Background())
	if err != nil {
		testenv.Missing(t, "native", err)
	}
	compiler, err := tools.NewCompiler()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { compiler.Close() })
	symbols := map[string]map[string]reflect.Value{"fmt": {}} // what the units import is in the program
	for name, f := range map[string]any{
		"Sprint": fmt.Sprint, "Sprintf": fmt.Sprintf, "Errorf": fmt.Errorf, "Println": fmt.Println, "Sort": sort.Sort, "As": errors.As,
		"CallersFrames": runtime.CallersFrames, "Callers": runtime.Callers, "GC": runtime.GC, "Sleep": time.Sleep, "Go": (*sync.WaitGroup).Go, "Wait": (*sync.WaitGroup).Wait,
		"MapOf": reflect.MapOf, "SliceOf": reflect.SliceOf, "PointerTo": reflect.PointerTo, "Next": (*runtime.Frames).Next, "Lock": (*sync.Mutex).Lock, "Unlock": (*sync.Mutex).Unlock,
	} {
		symbols["fmt"][name] = reflect.ValueOf(f)
	}
	l, err := New(Options{Symbols: symbols, Addresses: tools.Addresses, Names: func(path string) (object.Names, error) {
		a, err := tools.Archive(path)
		if err != nil {
			return object.Names{}, err
		}
		return object.ReadNames(a)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &session{t, tools, compiler, l}
}

func (s *session) compile(source string) *object.Object {
	s.t.Helper()
	a, err := s.compiler.Compile(context.Background(), "//line cell.go:1\n"+source, true)
	if err != nil {
		s.t.Fatal(err)
	}
	o, err := object.Read(a)
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

// run loads a unit and calls its function Cell, which returns its result in the variable Out.
func (s *session) run(source string) any {
	s.t.Helper()
	s.Forget("main.Out")
	m, err := s.Load(s.compile(source), "main", nil, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	m.Init()
	f, ok := m.Func("main.Cell")
	if !ok {
		s.t.Fatal("the unit has no function Cell")
	}
	f()
	out, ok := m.Var("main.Out")
	if !ok {
		return nil
	}
	return out.Value().Interface()
}

func TestUnits(t *testing.T) {
	s := newSession(t)
	got := s.run(`package main
import ("fmt"; "sort"; "errors")
type Shape interface { Area() float64; private() string }
type Rect struct { W, H float64 }
type Disc struct { R float64; Tags map[string][]*Rect }
func (r Rect) Area() float64 { return r.W * r.H }
func (r Rect) private() string { return "rect" }
func (r Rect) String() string { return fmt.Sprintf("Rect(%gx%g)", r.W, r.H) }
func (d *Disc) Area() float64 { return 3 * d.R * d.R }
func (d *Disc) private() string { return "disc" }
type Code struct { N int }
func (c *Code) Error() string { return fmt.Sprint("code ", c.N) }
type byArea []Shape
func (b byArea) Len() int { return len(b) }
func (b byArea) Less(i, j int) bool { return b[i].Area() < b[j].Area() }
func (b byArea) Swap(i, j int) { b[i], b[j] = b[j], b[i] }
type List[T any] struct { head *node[T]; n int }
type node[T any] struct { v T; next *node[T] }
func (l *List[T]) Push(v T) { l.head = &node[T]{v, l.head}; l.n++ }
func Map[T, U any](l []T, f func(T) U) (out []U) { for _, v := range l { out = append(out, f(v)) }; return }
var Shapes []Shape
var Table = map[string]Shape{"a": Rect{1, 2}, "b": &Disc{R: 2}}
func Third(x []int) int { return x[3] }
func Fail() error { return fmt.Errorf("wrapped: %w", &Code{7}) }
var Out string
func Cell() {
	Shapes = []Shape{Rect{3, 4}, &Disc{R: 1}, Rect{1, 1}}
	sort.Sort(byArea(Shapes))
	var c *Code
	l := &List[string]{}
	l.Push("x")
	Out = fmt.Sprintf("%v %T %T %v %v %T %d %v %v", Shapes[0], Shapes[0], Shapes[1], errors.As(Fail(), &c), c, l, l.n, Map([]int{1, 2}, func(i int) string { return fmt.Sprint(i * i) }), Table["a"])
}`)
	if want := "Rect(1x1) main.Rect *main.Disc true code 7 *main.List[string] 1 [1 4] Rect(1x2)"; got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	// The second unit declares what it uses of the first one again.
	got = s.run(`package main
import ("fmt"; "reflect")
type Shape interface { Area() float64; private() string }
type Rect struct { W, H float64 }
func (r Rect) Area() float64
func (r Rect) private() string
func (r Rect) String() string
var Shapes []Shape
func Third(x []int) int
type Square struct { Rect; Side float64 }
var Out []any
func Cell() {
	var s Shape = Square{Rect{2, 3}, 4}
	_, isRect := Shapes[0].(Rect)
	_, isSquare := Shapes[0].(Square)
	kind := ""
	switch any(s).(type) {
	case Rect: kind = "rect"
	case map[Rect][]Shape: kind = "map"
	case fmt.Stringer: kind = "stringer"
	}
	m := map[Rect][]Shape{{1, 2}: {s}}
	Out = []any{s.Area(), s.private(), isRect, isSquare, kind, len(m[Rect{1, 2}]), reflect.TypeOf(m) == reflect.MapOf(reflect.TypeFor[Rect](), reflect.SliceOf(reflect.TypeFor[Shape]())),
		reflect.PointerTo(reflect.TypeFor[Square]()) == reflect.TypeFor[*Square](), Third([]int{0, 0, 0, 9})}
}`)
	if want := []any{6.0, "rect", true, false, "stringer", 1, true, true, 9}; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestPanics(t *testing.T) {
	s := newSession(t)
	got := s.run(`package main
import ("fmt"; "runtime")
type T struct { n *int }
//go:noinline
func index(x []int) int { return x[3] }
func divide(a, b int) int { return a / b }
func field(t *T) int { return *t.n }
func deep(n int) int { var pad [64]int; pad[n%64] = n; if n == 0 { return 0 }; return deep(n-1) + pad[n%64] - n + 1 }
var Out []string
func try(f func()) {
	defer func() {
		pc := make([]uintptr, 20)
		frames := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
		at := ""
		for f, more := frames.Next(); more; f, more = frames.Next() {
			if f.File == "cell.go" { at += fmt.Sprint(" ", f.Line) }
		}
		Out = append(Out, fmt.Sprint(recover(), at))
	}()
	f()
}
func Cell() {
	try(func() { index([]int{1, 2}) })
	try(func() { divide(1, len(Out)-1) })
	try(func() { field(nil) })
	try(func() { var m map[T]int; m[T{}] = 3 })
	try(func() { fmt.Println(any(T{}).(error)) })
	if n := deep(100000); n != 100000 { Out = append(Out, fmt.Sprint(n)) }
}`)
	want := []string{
		"runtime error: index out of range [3] with length 2 13 5 23 20 23",
		"runtime error: integer divide by zero 13 6 24 20 24",
		"runtime error: invalid memory address or nil pointer dereference 13 7 25 20 25",
		"assignment to entry in nil map 13 26 20 26",
		"interface conversion: main.T is not error: missing method Error 13 27 20 27",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got.([]string), "\n"), strings.Join(want, "\n"))
	}
}

// TestCollector keeps values alive only through variables and frames of units, while other
// goroutines allocate and collect.
func TestCollector(t *testing.T) {
	s := newSession(t)
	got := s.run(`package main
import ("runtime"; "sync"; "time")
type tree struct { l, r *tree }
func build(d int) *tree { if d == 0 { return &tree{} }; return &tree{build(d - 1), build(d - 1)} }
func (t *tree) count() int { if t.l == nil { return 1 }; return 1 + t.l.count() + t.r.count() }
var kept []*tree
var static = &tree{&tree{}, &tree{}}
var mixed struct { n int; t *tree; a any }
var Out int
func Cell() {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for g := range 4 {
		wg.Go(func() {
			for i := range 20 {
				t := build(8 + (g+i)%3)
				if i%10 == 5 { mu.Lock(); kept = append(kept, t); mu.Unlock() }
				if i%5 == 0 { runtime.GC() }
			}
		})
	}
	mixed.t, mixed.a = build(5), build(6)
	stop := false
	done := make(chan bool)
	go func() { for n := 0; !stop; n++ { if n > 1e10 { break } }; done <- true }()
	time.Sleep(time.Millisecond)
	runtime.GC() // while a loop without calls runs
	stop = true
	<-done
	wg.Wait()
	runtime.GC()
	for _, t := range kept { Out += t.count() }
	Out += static.count() + mixed.t.count() + mixed.a.(*tree).count()
}`)
	want := 3 + 63 + 127
	for g := range 4 {
		for _, i := range []int{5, 15} {
			want += 1<<(9+(g+i)%3) - 1
		}
	}
	if got != want {
		t.Errorf("got %v nodes, want %v", got, want)
	}
	runtime.GC()
}

// TestLocalTypes declares types of the same name in functions of two units.
func TestLocalTypes(t *testing.T) {
	s := newSession(t)
	first := s.run("package main\nvar Out any\nfunc Cell() { type p struct{ a int }; Out = []p{{1}} }")
	second := s.run("package main\nvar Out any\nfunc Cell() { type p struct{ b string }; Out = []p{{\"x\"}} }")
	if got := fmt.Sprintf("%+v %+v", first, second); got != "[{a:1}] [{b:x}]" {
		t.Error(got)
	}
}

// TestDefine gives a unit a function of the program through a variable.
func TestDefine(t *testing.T) {
	s := newSession(t)
	f := new(func(int) int)
	*f = func(n int) int { return 2 * n }
	s.Define("main.double", unsafe.Pointer(f))
	if got := s.run("package main\nvar double func(int) int\nvar Out int\nfunc Cell() { Out = double(21) }"); got != 42 {
		t.Errorf("got %v, want 42", got)
	}
}

// TestFaults lets each step fail: the unit is not known to later ones, and the next one is loaded.
func TestFaults(t *testing.T) {
	s := newSession(t)
	broken := errors.New("broken")
	o := s.compile("package main\ntype T struct{ n []int }\nvar V = map[string]*T{}\nvar Out int\nfunc Cell() { V[\"a\"] = &T{}; Out = len(V) }")
	for i, at := range steps {
		before, last := *process.arena, process.module.md.maxpc
		s.fault = func(step string) error {
			if step == at.name {
				return broken
			}
			return nil
		}
		_, err := s.Load(o, "main", nil, nil)
		if !errors.Is(err, broken) {
			t.Errorf("%s: got the error %v, want %v", at.name, err, broken)
		}
		if len(s.types) > 0 || len(s.globals) > 0 {
			t.Errorf("%s: the unit is known", at.name)
		}
		if got, want := process.module.md.maxpc != last, i > stepAt("register"); got != want {
			t.Errorf("%s: the unit is part of the program: got %v, want %v", at.name, got, want)
		}
		if i < 4 && process.arena.textUsed != before.textUsed {
			t.Errorf("%s: memory is lost", at.name)
		}
		s.fault = nil
		if got := s.run("package main\nvar Out int\nfunc Cell() { Out = 42 }"); got != 42 {
			t.Errorf("%s: the next unit: got %v, want 42", at.name, got)
		}
		clear(s.globals)
	}
	s.fault = nil
	m, err := s.Load(o, "main", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Init()
	f, _ := m.Func("main.Cell")
	f()
	if v, _ := m.Var("main.Out"); v.Value().Int() != 1 {
		t.Errorf("got %v, want 1", v)
	}
}

// stepAt returns the index of a step.
func stepAt(name string) int {
	return slices.IndexFunc(steps, func(s step) bool { return s.name == name })
}

// TestDamaged loads objects that the compiler does not write. Each ends with an error that says which step found what.
func TestDamaged(t *testing.T) {
	s := newSession(t)
	const source = "package main\ntype T struct{ n []int }\nvar V = map[string]*T{}\nvar W T\nfunc Cell() { V[\"a\"] = &W }"
	for _, tt := range []struct {
		name, symbol, want string
		damage             func(s *object.Symbol)
	}{
		{"kind", "main.W", "choose: main.W is of kind 77", func(s *object.Symbol) { s.Kind = 77; s.Flags = 0 }},
		{"relocation of an unknown type", "main.Cell", "choose: main.Cell has a relocation of type 999", func(s *object.Symbol) { lastReloc(s).Type = 999 }},
		{"relocation outside", "main.Cell", "choose: main.Cell has a relocation at 1000000", func(s *object.Symbol) { lastReloc(s).Off = 1e6 }},
		{"relocation before the start", "main.Cell", "choose: main.Cell has a relocation at -8", func(s *object.Symbol) { lastReloc(s).Off = -8 }},
		{"relocation of another size", "main.Cell", "relocate: main.Cell: ", func(s *object.Symbol) { lastReloc(s).Size = 1 }},
		{"no description", "main.Cell", "choose: main.Cell has no description", func(s *object.Symbol) { s.Aux = nil }},
		{"no frame size", "main.Cell", "verify: the frame size of main.Cell is not known", without(object.AuxPCSP)},
		{"no stack maps", "main.Cell", "verify: the pointers in the frames of main.Cell are not known", without(object.AuxFuncData)},
		{"variable without a type", "main.W", "masks: the type of the variable main.W is not known", without(object.AuxGoType)},
		{"variable of another size", "main.W", "masks: main.W has 16 bytes, and its type main.T has 24", func(s *object.Symbol) { s.Size = 16 }},
		{"symbol larger than memory", "main.W", "place: the session has room for", func(s *object.Symbol) { s.Size = 1 << 31 }},
		{"short type", "type:main.T", "the description type:main.T has 7 bytes", func(s *object.Symbol) { s.Data, s.Size, s.Relocs = s.Data[:7], 7, nil }},
	} {
		o, last := s.compile(source), process.module.md.maxpc
		found := false
		for i := range o.Defs {
			if o.Defs[i].Name == tt.symbol && (tt.symbol != "main.W" || o.Defs[i].Kind == object.BSS) {
				tt.damage(&o.Defs[i])
				found = true
			}
		}
		_, err := s.Load(o, "main", nil, nil)
		if !found || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got the error %v, want %q", tt.name, err, tt.want)
		}
		if process.module.md.maxpc != last || len(s.types) > 0 || len(s.globals) > 0 {
			t.Errorf("%s: the unit is known", tt.name)
		}
	}
	if _, err := s.Load(s.compile(source), "main", nil, nil); err != nil {
		t.Errorf("an object that is not damaged: %v", err)
	}
}

// lastReloc returns the last relocation of a function that is filled in.
func lastReloc(s *object.Symbol) *object.Reloc {
	i := len(s.Relocs) - 1
	for s.Relocs[i].Type.Marker() || s.Relocs[i].Size == 0 {
		i--
	}
	return &s.Relocs[i]
}

// without returns a function that removes what describes a symbol.
func without(typ object.AuxType) func(*object.Symbol) {
	return func(s *object.Symbol) {
		s.Aux = slices.DeleteFunc(s.Aux, func(a object.Aux) bool { return a.Type == typ })
	}
}

// TestMissing loads a unit that uses a function that does not exist.
func TestMissing(t *testing.T) {
	s := newSession(t)
	_, err := s.Load(s.compile("package main\nfunc absent() int\nfunc Cell() { absent() }"), "main", nil, nil)
	var missing *MissingError
	if !errors.As(err, &missing) || !reflect.DeepEqual(missing.Names, []string{"main.absent"}) {
		t.Errorf("got the error %v, want that main.absent is missing", err)
	}
}

func TestMain(m *testing.M) { os.Exit(m.Run()) }
