package interp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/lower"
	"halfnote/kernel/eval"
)

// refusals are ends of cells that one stage of the front end refuses, by the stage.
var refusals = []struct{ stage, code string }{
	{"parse", "\n) bad"},
	{"import", "\nimport \"no/such/package\""},
	{"check", "\nvar bad__ int = \"x\""},
	{"check in a function", "\nfunc bad__() int { return missing__ }"},
	{"fit", "\nvar bad__ [1 << 50]byte"},
	{"bind", "\nimport \"os\"\nbad__, _ := os.Stdin.SyscallConn()"},
	{"lower", "\nimport \"runtime\"\nbad__ := new(int)\nruntime.AddCleanup(bad__, func(int) {}, 0)"},
	{"declare", ""},
}

// refusingEngine refuses units while it is asked to.
type refusingEngine struct {
	engine.Engine
	refuses bool
}

func (e *refusingEngine) Declare(ctx context.Context, u *engine.Unit) (engine.Program, error) {
	if e.refuses {
		return nil, errors.New("refused by the test")
	}
	return e.Engine.Declare(ctx, u)
}

// TestRefusedCells refuses 1,000 cells of the scripts, some with a token left out, at every stage of
// the front end. The state of the session must be the same after each.
func TestRefusedCells(t *testing.T) {
	var cells []string
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if code := string(f.Data); f.Name == "cell" && !mayHoldMagicLine(code) {
				cells = append(cells, strings.TrimRight(code, "\n"))
			}
		}
	}
	s := newSession(t)
	s.live.Memory = 1 << 40
	e := &refusingEngine{Engine: s.engine}
	s.engine = e
	for i, code := range []string{
		"type P struct{ X, Y int }\nfunc (p P) Sum() int { return p.X + p.Y }\ntype Q struct{ P; next *Q }",
		"func f(n int) int { return n + k }\nconst k = 2\nvar p = P{1, 2}\nq := &Q{P: p}",
		"type L[T any] struct{ items []T }\nfunc (l *L[T]) Add(x T) { l.items = append(l.items, x) }\nvar l L[P]\nl.Add(p)",
		"import \"strings\"\nu := strings.ToUpper(\"a\")\ncall := func() int { return f(1) }\ncall()",
		"type P struct{ X, Y, Z int }\np", "x := tensor.Ones(2, 3)\nnet := nn.NewLinear(3, 2)\ntype Net struct{ fc *nn.Linear }\nnet.Forward(x)",
	} {
		if r := s.Eval(t.Context(), eval.Cell{Code: code, Count: i + 1}, &recorder{}); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	random := rand.New(rand.NewSource(1))
	refused := map[string]int{}
	want := stateOf(s)
	for i := range 1000 / testenv.Share(t, 4) {
		r := refusals[i%len(refusals)]
		code := cells[random.Intn(len(cells))]
		if random.Intn(3) == 0 { // without a part
			at := random.Intn(len(code) + 1)
			code = code[:at] + code[min(len(code), at+1+random.Intn(8)):]
			if r.stage == "declare" {
				code += refusals[2].code // it may not compile, and must not run
			}
		}
		code += r.code
		e.refuses = true
		result := s.Eval(t.Context(), eval.Cell{Code: code, Count: -1, Silent: true}, &recorder{})
		e.refuses = false
		if result.Err == nil {
			t.Fatalf("accepted:\n%s", code)
		}
		refused[r.stage+" "+result.Err.Name]++
		if got := stateOf(s); got != want {
			t.Fatalf("after the refusal of\n%s\n%v\nthe state differs:\n%s", code, result.Err.Value, firstDifference(got, want))
		}
	}
	t.Log(refused)
	for _, want := range []string{"parse CompileError", "check CompileError", "fit OutOfMemory", "bind CompileError", "lower Unsupported", "declare Unsupported"} {
		if refused[want] == 0 {
			t.Errorf("no cell was refused as %q: %v", want, refused)
		}
	}
	if got := evalFor(t, s, 100, "f(1) + p.Sum() + q.Sum() + len(l.items) + call()", ""); got != "= 13\n" {
		t.Errorf("after the refusals: got %q, want 13", got)
	}
}

func mayHoldMagicLine(code string) bool {
	for line := range strings.Lines(code) {
		line = strings.TrimSpace(line)
		if strings.ContainsAny(line, "%!?") || line == "exit" || line == "quit" {
			return true
		}
	}
	return false
}

// stateOf writes what the front end of a session holds, without the notes on what the engine has seen.
func stateOf(s *Session) string {
	var b strings.Builder
	e := s.env
	name := func(x *front.Binding) string { return x.Slot }
	header := func(h front.Header) { fmt.Fprintln(&b, h) }
	var list []*front.Binding
	for x := range e.Bindings() {
		list = append(list, x)
	}
	slices.SortFunc(list, func(x, y *front.Binding) int { return strings.Compare(x.Slot, y.Slot) })
	for _, x := range list {
		f := e.Of(x)
		fmt.Fprintf(&b, "%p %+v\n %s hook %q captured %v shown %v\n", x, *x, f.Check, f.Hook, f.Captured, f.OnlyShown)
		header(f.Header)
		for _, m := range f.Methods {
			fmt.Fprintf(&b, "  %+v\n", *m.Method)
			header(m.Header)
		}
	}
	names := maps.Collect(e.Names())
	for _, n := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintln(&b, "name", n, name(names[n]))
	}
	for _, x := range e.Old {
		fmt.Fprintln(&b, "old", name(x))
	}
	for _, src := range e.Sources() {
		var uses []string
		for x := range src.Uses {
			uses = append(uses, name(x))
		}
		slices.Sort(uses)
		fmt.Fprintln(&b, "source", src.Cell, src.Item, src.Stops, src.Names, src.Pkgs, uses)
	}
	fmt.Fprintln(&b, "imports", e.Imports, e.Dots, "kept", len(e.Kept), e.Last)
	for _, n := range slices.Sorted(maps.Keys(s.front.Generics.Decls)) {
		for _, d := range s.front.Generics.Decls[n] {
			fmt.Fprintln(&b, "generic", n, lower.Print(d))
		}
	}
	fmt.Fprintln(&b, s.front.Generics.Instances, s.front.Generics.Origin, s.front.Included)
	fmt.Fprintln(&b, "labels", s.places.Labels(), s.places.Len(), s.front.Packages.Pending)
	for _, u := range s.front.Packages.Units {
		fmt.Fprintln(&b, "package", u.Path, u.Declared)
	}
	return b.String()
}
