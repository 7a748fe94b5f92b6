package failure

import (
	"errors"
	"go/token"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/history"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/places"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// slots are the variables of an engine.
type slots map[string]any

func (s slots) Slot(name string) (reflect.Value, bool) {
	v, ok := s[name]
	if v == nil { // in an interface
		return reflect.New(reflect.TypeFor[any]()).Elem(), ok
	}
	x := reflect.New(reflect.TypeOf(v)).Elem()
	x.Set(reflect.ValueOf(v))
	return x, ok
}

// ran returns a describer of cells that have run. A § in a cell precedes the operation of a mark, and ¶ the statement of
// one; marks count from 1.
func ran(t *testing.T, variables slots, cells ...string) Describer {
	h := history.New()
	state := front.NewState(token.NewFileSet(), engine.Needs{}, exports.Importer())
	d := Describer{Places: places.New(h), Env: front.NewEnv(), Engine: variables, Others: func() int { return 0 }}
	d.Places.Reset(state.Fset, state.Packages)
	signs := strings.NewReplacer("§", "", "¶", "")
	for i, marked := range cells {
		code := signs.Replace(marked)
		n := h.Begin(code, i+1, false)
		p, err := front.Parse(state.Input(n, code, &front.Files{}, false), d.Env)
		if err != nil {
			t.Fatal(err)
		}
		k, err := p.Check(map[*front.Source]bool{})
		if err != nil {
			t.Fatal(err)
		}
		d.Places.Note(k, marksOf(k, marked, signs))
		d.Places.NoteDeclarations(k)
		b, err := k.Bind()
		if err != nil {
			t.Fatal(err)
		}
		d.Places.AddLabels(map[string]string{b.Entry(): ""})
		for _, f := range b.Decls {
			for _, f := range f.Src.Binds {
				if f.Kind == front.KindFunc {
					d.Places.AddLabels(map[string]string{f.Slot: f.Name})
				}
			}
		}
		state.Take(b.Slots)
		state.Accept(b, &front.Lowered{})
		d.Env = b.Env
	}
	return d
}

// marksOf returns the marks of a cell.
func marksOf(k *front.Checked, marked string, signs *strings.Replacer) (list []lower.Mark) {
	line := 1
	for text := range strings.Lines(marked) {
		for i, r := range text {
			if r == '§' || r == '¶' {
				list = append(list, lower.Mark{Pos: posAt(k, line, len(signs.Replace(text[:i]))+1), Whole: r == '¶'})
			}
		}
		line++
	}
	return list
}

// posAt returns the position of a line and column of a cell in its files.
func posAt(k *front.Checked, line, col int) token.Pos {
	for _, f := range append([]*front.DeclFile{k.Stmts}, k.Decls...) {
		for i := range f.Tok.Size() {
			if at := k.Session.Fset.Position(f.Tok.Pos(i)); syntax.CellOf(at.Filename) == k.N && at.Line == line && at.Column == col {
				return f.Tok.Pos(i)
			}
		}
	}
	return token.NoPos
}

// styles matches the escape sequences of terminals.
var styles = regexp.MustCompile("\x1b\\[[0-9;]*m")

// plain returns a description without styles.
func plain(e *eval.Error) string { return styles.ReplaceAllString(strings.Join(e.Traceback, "\n"), "") }

// misshapen is an error of an operation, as tensor.Error is.
type misshapen struct {
	Op     string
	Shapes [][]int
}

func (e *misshapen) Error() string { return e.Op + ": shapes do not fit" }

// shaped is a variable with a shape, as a tensor has.
type shaped struct{ sizes []int }

func (s shaped) Shape() []int { return s.sizes }

// speechless is a panic value whose text cannot be had.
type speechless struct{}

func (speechless) String() string { panic("no text") }

// TestPanic describes panics by their value and the calls that were active.
func TestPanic(t *testing.T) {
	wrong := errors.New("wrong")
	for _, tt := range []struct {
		name      string
		variables slots
		cells     []string
		panic     engine.Panic
		kind      string // of the error
		want      string
	}{
		{"value", nil, nil, engine.Panic{Value: 42}, "Panic", "panic: 42"},
		{"lines", nil, nil, engine.Panic{Value: "a\nb"}, "Panic", "panic: a\nb"},
		{"error", nil, nil, engine.Panic{Value: wrong}, "Panic", "panic: wrong"},
		{"no text", nil, nil, engine.Panic{Value: speechless{}}, "Panic", "panic: (its text is not available: no text)"},
		{"exit", nil, nil, engine.Panic{Value: symbols.Exit{Code: 3}}, "Exit", symbols.Exit{Code: 3}.Error()},
		{"map", nil, nil, engine.Panic{Value: mapaccess.Conflict("concurrent map writes")}, "ConcurrentMapAccess", "fatal error: concurrent map writes"},
		{"memory", nil, nil, engine.Panic{Value: live.TooMuch{Asked: 1 << 40, Limit: 1 << 30}}, "OutOfMemory", "panic: " + live.TooMuch{Asked: 1 << 40, Limit: 1 << 30}.Error()},

		{"index", slots{"xs": []int{1, 2, 3}, "i": 5}, []string{"xs, i := []int{1, 2, 3}, 5", "y := 1\ny += xs§[i]"},
			engine.Panic{Value: wrong, Frames: []engine.Frame{{Func: "cell__2", Mark: 1}}}, "Panic",
			"panic: wrong\nIn[2], line 2\n    2 | y += xs[i]\n             ^^^^^\n        where: len(xs) is 3, i is 5"},
		{"nil map and interface", slots{"m": map[string]int(nil), "v": any(nil)}, []string{"var m map[string]int\nvar v any", "¶m[\"a\"] = v.(int)"},
			engine.Panic{Value: wrong, Frames: []engine.Frame{{Func: "cell__2", Mark: 1}}}, "Panic",
			"panic: wrong\nIn[2], line 1\n    1 | m[\"a\"] = v.(int)\n        ^^^^^^^^^^^^^^^^\n        where: m is nil, v is nil"},
		{"local variable", slots{"n": 1}, []string{"n := 1", "for i := range 3 {\n\t_ = n §/ i\n}"},
			engine.Panic{Value: wrong, Frames: []engine.Frame{{Func: "cell__2", Mark: 1}}}, "Panic",
			"panic: wrong\nIn[2], line 2\n    2 | \t_ = n / i\n        \t    ^^^^^\n        where: n is 1; %debug shows i"},
		{"function", nil, []string{"func f(n int) int {\n\treturn 1 §/ n\n}\n", "§f(0)"},
			engine.Panic{Value: wrong, Frames: []engine.Frame{{Func: "f", Mark: 1}, {Func: "cell__2", Mark: 2}}}, "Panic",
			"panic: wrong\nIn[1], line 2, in f\n    2 | \treturn 1 / n\n        \t       ^^^^^\n        where: %debug shows n\nIn[2], line 1\n    1 | f(0)\n        ^^^^"},
		{"function literal", nil, []string{"g := func() { §panic(1) }"},
			engine.Panic{Value: wrong, Frames: []engine.Frame{{Func: "f.func", Mark: 1}}}, "Panic", "panic: wrong"},
		{"foreign function", nil, []string{"§panic(1)"},
			engine.Panic{Value: wrong, Frames: []engine.Frame{{Func: "runtime.main"}, {Func: "cell__1", Mark: 1}}}, "Panic",
			"panic: wrong\nIn[1], line 1\n    1 | panic(1)\n        ^^^^^^^^"},
		{"recursion", nil, []string{"func f(n int) int {\n\treturn §f(n + 1)\n}\n"},
			engine.Panic{Value: wrong, Skipped: 7, Frames: []engine.Frame{{Func: "f", Mark: 1}, {Func: "f"}, {Func: "f"}}}, "Panic",
			"panic: wrong\nIn[1], line 2, in f\n    2 | \treturn f(n + 1)\n        \t       ^^^^^^^^\n        where: %debug shows n\n  … 2 more of the same\n  … 7 more calls"},
		{"inside packages", nil, []string{"x := 1"},
			engine.Panic{Value: wrong, Inside: []string{"halfnote/tensor.MatMul", "halfnote/tensor/nn.(*Linear).Forward"}}, "Panic",
			"panic: wrong\n  … 2 calls inside tensor, nn"},
		{"shapes of the call", slots{"a": shaped{[]int{2, 3}}, "b": shaped{[]int{4, 3}}}, []string{"a, b := tensor.Ones(2, 3), tensor.Ones(4, 3)", "c := a.§MatMul(b)"},
			engine.Panic{Value: &misshapen{"matmul", [][]int{{2, 3}, {4, 3}}}, Frames: []engine.Frame{{Func: "cell__2", Mark: 1}}}, "Panic",
			"panic: matmul: shapes do not fit\nIn[2], line 1\n    1 | c := a.MatMul(b)\n             ^^^^^^^^^^^\n        where: a is (2, 3), b is (4, 3)"},
		{"shapes within a layer", slots{"net": struct{}{}, "b": shaped{[]int{4, 3}}}, []string{"net, b := nn.NewLinear(2, 3), tensor.Ones(4, 3)", "net.§Forward(b)"},
			engine.Panic{Value: &misshapen{"matmul", [][]int{{4, 3}, {2, 3}}}, Frames: []engine.Frame{{Func: "cell__2", Mark: 1}}}, "Panic",
			"panic: matmul: shapes do not fit\nIn[2], line 1\n    1 | net.Forward(b)\n        ^^^^^^^^^^^^^^\n        where: b is (4, 3)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := ran(t, tt.variables, tt.cells...).Panic(&tt.panic)
			if got := plain(e); got != tt.want || e.Name != tt.kind {
				t.Errorf("got %s:\n%s\nwant %s:\n%s", e.Name, got, tt.kind, tt.want)
			}
		})
	}
}

// TestMistakes describes what the front end refuses.
func TestMistakes(t *testing.T) {
	for _, tt := range []struct {
		name     string
		problems []syntax.Problem
		value    string
		want     string
	}{
		{"word", []syntax.Problem{{Cell: 1, Line: 1, Col: 5, Msg: "undefined: bcd"}}, "In[1]:1:5: undefined: bcd",
			"In[1], line 1, column 5: undefined: bcd\n    1 | a + bcd\n            ^^^"},
		{"span and hint", []syntax.Problem{{Cell: 1, Line: 1, Col: 3, Msg: "m", At: syntax.Span{Line: 1, Col: 1, End: 8}, Hint: "h\ni"}}, "In[1]:1:3: m",
			"In[1], line 1, column 3: m\n    1 | a + bcd\n        ^^^^^^^\n        hint: h\n        hint: i"},
		{"lines", []syntax.Problem{{Cell: 1, Line: 2, Col: 1, Msg: "m\n\tn"}}, "In[1]:2:1: m\n\tn",
			"In[1], line 2, column 1: m\n    2 | c\n        ^\n        n"},
		{"two", []syntax.Problem{{Cell: 1, Line: 2, Col: 1, Msg: "m"}, {Cell: 9, Line: 1, Col: 1, Msg: "n"}}, "In[1]:2:1: m (and 1 more)",
			"In[1], line 2, column 1: m\n    2 | c\n        ^\n\nIn[9], line 1, column 1: n"},
	} {
		d := ran(t, nil, "a, bcd, c := 1, 2, 3")
		h := history.New()
		h.Begin("a + bcd\nc", 1, false)
		d.Places = places.New(h)
		e := d.Mistakes(&syntax.Rejected{Name: "CompileError", Problems: tt.problems})
		if got := plain(e); got != tt.want || e.Value != tt.value || e.Name != "CompileError" {
			t.Errorf("%s: got %s, %q:\n%s\nwant %q:\n%s", tt.name, e.Name, e.Value, got, tt.value, tt.want)
		}
	}
}

// TestInterrupted describes cells that were stopped.
func TestInterrupted(t *testing.T) {
	d := ran(t, nil, "for {}")
	for _, tt := range []struct {
		why  string
		p    *engine.Panic
		want string
	}{
		{"", &engine.Panic{}, "Interrupted: variables and functions are kept"},
		{"time is up", &engine.Panic{}, "Interrupted: time is up; variables and functions are kept"},
		{"", nil, "Interrupted: the cell did not stop: it is waiting inside compiled code and was left behind; if later cells behave strangely, restart the kernel"},
	} {
		if got := plain(d.Interrupted(tt.why, tt.p)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.why, got, tt.want)
		}
	}
}
