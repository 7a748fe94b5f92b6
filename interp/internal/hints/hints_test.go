package hints

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfnote/interp/internal/exports"
)

// session is what the cells of the tests may refer to, with its declarations for the checker.
var session = struct {
	decls string
	names map[string]Name
}{
	decls: `
type Point struct{ X, Y int; Name string }
func (Point) Norm() float64 { return 0 }
func (*Point) Scale(f float64) {}
func pair() (int, error) { return 0, nil }
var p Point
var net *nn.Linear
var x, y *tensor.Tensor
var n int
var f float64
var xs []float64
`,
	names: map[string]Name{
		"Point": {Callable: true}, "pair": {Callable: true}, "net": {Variable: "*nn.Linear"}, "p": {Variable: "main.Point"},
		"x": {Variable: "*tensor.Tensor"}, "y": {Variable: "*tensor.Tensor"}, "n": {Variable: "int"},
	},
}

var importer = exports.Importer()

// attempt type-checks a cell of statements and declarations before them, in the session, and returns its mistakes.
func attempt(t *testing.T, decls, cell string) (*Attempt, []types.Error) {
	t.Helper()
	fset := token.NewFileSet()
	parse := func(text string) *ast.File {
		imports := ""
		for name, path := range exports.Preloaded {
			if regexp.MustCompile(`\b` + name + `\.`).MatchString(text) {
				imports += "import " + name + ` "` + path + "\"\n"
			}
		}
		f, err := parser.ParseFile(fset, "", "package main\n"+imports+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	files := []*ast.File{parse(session.decls), parse(decls), parse("func cell() {\n/*line In[1]:1:1*/" + cell + "\n}\n")}
	return check(fset, files, cell)
}

// check runs the type checker. It leaves out what cells may do and programs may not.
func check(fset *token.FileSet, files []*ast.File, cell string) (*Attempt, []types.Error) {
	a := &Attempt{
		Session: Session{
			Names: func(yield func(string, Name) bool) {
				for name, what := range session.names {
					if !yield(name, what) {
						return
					}
				}
			},
			Importer: importer,
			Failed: func(name string) int {
				if name == "lost" {
					return 7
				}
				return 0
			},
			Before: func(name string) int {
				if name == "yesterday" {
					return 4
				}
				return 0
			},
		},
		Cell: 1, Code: cell, Files: files, Statements: fset.File(files[2].FileStart),
		Pkg: types.NewPackage("main", "main"), Fixes: Fixes{},
		Info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}},
	}
	var errs []types.Error
	cfg := types.Config{Importer: importer, Error: func(err error) {
		e := err.(types.Error)
		if !strings.Contains(e.Msg, "imported and not used") && (!strings.Contains(e.Msg, "declared and not used") || strings.HasPrefix(e.Msg, "label ")) && !strings.HasSuffix(e.Msg, " is not used") {
			errs = append(errs, e)
		}
	}}
	_ = types.NewChecker(&cfg, fset, a.Pkg, a.Info).Files(files)
	return a, errs
}

// TestFor compares the hint for the first mistake of a cell.
func TestFor(t *testing.T) {
	const choose = "; use _ for results that are not needed"
	tests := []struct{ name, decls, cell, want string }{
		{"similar variable", "", "total := 1; totl + 1", "did you mean total?"},
		{"similar function", "", "par()", "did you mean pair?"},
		{"no variable for a call", "", "no()", ""},
		{"similar package", "", "tensr.Ones(2)", "did you mean tensor?"},
		{"new name", "", "zzz = 1", "zzz := … declares it"},
		{"name of a failed cell", "", "lost + 1", "In[7], which declares it, did not run: fix it and run it again"},
		{"name of the kernel before", "", "yesterday + 1", "In[4] of the kernel before this one declares it: %rerun ~1/4 runs that cell again, %rerun ~1 all of them"},
		{"function of another cell", "func even(n int) bool { return odd(n - 1) }", "even(2)", "functions that call each other belong in one cell: declare odd in this one"},
		{"Python's name", "", "exit()", "exit or quit alone in a cell leaves a console"},
		{"None", "", "z := None; z", "nil is Go's None"},
		{"numpy", "", "np.zeros(3)", "tensors take the place of NumPy's arrays: tensor.Arange(0, 10)"},
		{"import", "", `json.Marshal(1)`, `import "encoding/json"`},
		{"two imports", "", `template.New("a")`, `import "html/template" or import "text/template"`},
		{"name of a package", "", "Ones(2, 3)", "did you mean tensor.Ones?"},
		{"spelling of a package's name", "", "tensor.zeros_like(x)", "write tensor.ZerosLike(x)"},
		{"similar name of a package", "", "tensor.Onse(2)", "did you mean Ones?"},
		{"constructor", "", "nn.Linear(3, 4)", "nn.NewLinear is the constructor"},
		{"package as a value", "", "nn(x)", "nn is a package: nn? lists what it has; did you mean net.Forward(x)?"},
		{"package alone", "", "z := math; z", "math is a package: math? lists what it has"},
		{"method of a tensor as a function", "", "tensor.logical_and(x, y)", "write x.And(y)"},

		{"append of a list", "", "s := []int{1}; s.append(2)", "s = append(s, v) adds an element"},
		{"items of a dict", "", "m := map[string]int{}; m.items()", "for key, value := range m { … } takes the entries"},
		{"method of a str", "", `"a b".split()`, `strings.Split(s, ",") cuts a string, strings.Fields(s) at blanks`},
		{"a string times", "", `"a" * 3`, `strings.Repeat("ab", 3) repeats a string`},
		{"an element for a slice", "", `s := []int{1}; s += 2`, "s = append(s, v) adds an element, s = append(s, more...) those of a slice"},
		{"field in lower case", "", "p.x", "write p.X"},
		{"method in lower case", "", "p.norm()", "write p.Norm()"},
		{"similar field", "", "p.Nam", "did you mean Name?"},
		{"key of a literal", "", "Point{Z: 1}", "the fields are X, Y, Name"},
		{"key of an element", "", "[]Point{{Nme: \"a\"}}", "did you mean Name?"},
		{"function in place of a method", "", "net.Parameters()", "nn.Parameters(net) is a function"},
		{"torch's method", "", "x.ndim", "write x.Dim()"},
		{"torch's method with a note", "", "x.tolist()", "write x.Float64s(); x.Rows() returns the rows of a matrix"},
		{"torch's second name", "", "x.clip(0, 1)", "write x.Clamp(0, 1)"},

		{"two results", "", "v := pair(); v", "the call returns (int, error)" + choose},
		{"mixed numbers", "", "n * f", "convert one of them, for example float64(n)"},
		{"assigned number", "", "n += f", "write n += int(f)"},
		{"declared whole", "", "k := 0; k += f", "write k += int(f), or declare k := 0.0"},
		{"method as a value", "", "p.Norm == 0", "Norm is a method: write p.Norm()"},
		{"method with arguments as a value", "", "x.Add + 1", "Add is a method: x.Add(…)"},
		{"missing return", "func g() int { if n > 0 { return 1 } }", "", "every path through a function with results must end in return, panic or an endless loop"},
		{"declared again", "", "a := 1; a := 2; a", "use = to assign again in the same cell; another cell may declare the name again"},
		{"earlier value in a declaration", "func g() int { return Out }", "", "In, Out and _ refer to earlier cells only in a cell's statements, not in its declarations"},
		{"label of Python", "", "while: for {}", "Go's while is for: for x < 10 { … }"},

		{"product of tensors", "", "x * y", "write x.Mul(y); x.MatMul(y) is the matrix product"},
		{"number and tensor", "", "2 - x", "write x.RSubScalar(2)"},
		{"variable and tensor", "", "x / n", "write x.DivScalar(float64(n))"},
		{"negative tensor", "", "-x", "write x.Neg()"},
		{"added tensor", "", "x += y", "write x = x.Add(y)"},
		{"added number", "", "x++", "write x = x.AddScalar(1)"},
		{"sum of elements", "", "f += x", "write f += x.Item()"},
		{"compared in a condition", "", "if x > 0 {}", "write x.Item() > 0, which compares the only element"},
		{"tensor as a condition", "", "if x {}", "x.Any().Item() != 0 reports whether an element is true, x.All().Item() != 0 whether all are"},
		{"index of a tensor", "", "x[0]", "x.Select(0, i) is x[i], and x.Narrow(0, start, length) is x[start:start+length]"},
		{"length of a tensor", "", "len(x)", "x.Size(0) is the length of the first dimension, x.Numel() the number of elements"},
		{"called module", "", "net(x)", "call its method: net.Forward(x)"},
		{"power", "", "f ** 2", "x.Pow(2) is the power of a tensor, math.Pow(x, 2) of a number"},

		{"number for a tensor", "", "x.Add(1)", "write x.AddScalar(1)"},
		{"slice for arguments", "", "tensor.Cat(0, []*tensor.Tensor{x, y})", "tensor.Cat takes the elements of a slice with dots: tensor.Cat(list...)"},
		{"dtype for a size", "", "tensor.Zeros(2, tensor.Float16)", "write tensor.Zeros(2).To(tensor.Float16)"},
		{"whole reduction", "", "x.Max()", "x.Amax() is the largest element of all; "},
		{"few arguments", "", "x.MatMul()", "x.MatMul(o *Tensor) *Tensor: "},
		{"called type", "", "tensor.Tensor(1)", ""},
		{"the message says it", "", "tensor.ones(2)", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, errs := attempt(t, tt.decls, tt.cell)
			if len(errs) == 0 {
				t.Fatal("got no mistake")
			}
			got := a.For(errs[0])
			if got != tt.want && !(strings.HasSuffix(tt.want, " ") && strings.HasPrefix(got, tt.want)) {
				t.Errorf("%s: %s:\n got %q\nwant %q", tt.cell, errs[0].Msg, got, tt.want)
			}
		})
	}
}

// TestFixes checks that the checker accepts a cell once its mistakes are fixed as the hints say.
func TestFixes(t *testing.T) {
	for _, tt := range []struct{ name, cell, want string }{
		{"operator", "z := x * y", "z := x.Mul(y)"},
		{"in parentheses", "(x * 2).Sum()", "x.MulScalar(2).Sum()"},
		{"assignment", "x += y", "x = x.Add(y)"},
		{"conversion", "z := n * f", "z := float64(n) * f"},
		{"name", "z := x.numel", "z := x.Numel()"},
		{"function", "net.ZeroGrad()", "nn.ZeroGrad(net)"},
		{"method that is not called", "z := p.Norm + 1", "z := p.Norm() + 1"},
	} {
		a, errs := attempt(t, "", tt.cell)
		for _, e := range errs {
			a.For(e)
		}
		file := a.Files[2]
		named := a.Fixes.Apply(file, func(name string) bool { return exports.Preloaded[name] != "" })
		if want := tt.name == "function"; named["nn"] != want {
			t.Errorf("%s: imports %v", tt.name, named)
		}
		body := file.Decls[len(file.Decls)-1].(*ast.FuncDecl).Body.List
		var b strings.Builder
		if err := printer.Fprint(&b, token.NewFileSet(), body[0]); err != nil || b.String() != tt.want {
			t.Errorf("%s: got %s, want %s (%v)", tt.name, &b, tt.want, err)
		}
		if _, errs := attempt(t, "", b.String()); len(errs) > 0 {
			t.Errorf("%s: %s: %v", tt.name, &b, errs)
		}
	}
}

// TestJoin combines the hint for a piece with that for the code that has taken its place.
func TestJoin(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"write a", "", "write a"},
		{"write a", "did you mean b?", "write a\ndid you mean b?"},
		{"Grad is a method: write p.Grad()", "write p.Grad().EqScalar(0)", "Grad is a method: write p.Grad().EqScalar(0)"},
		{"", "write b", "write b"},
		{"write a", "write a", "write a"},
	} {
		if got := Join(tt.old, tt.new); got != tt.want {
			t.Errorf("%q and %q: got %q, want %q", tt.old, tt.new, got, tt.want)
		}
	}
}

// TestOtherNames calls each method of torch that tensors lack: the code that the hint gives compiles.
func TestOtherNames(t *testing.T) {
	args := map[string]string{
		"astype": "tensor.Float16", "expand_as": "y", "inner": "y", "new_full": "2, 0.5", "scale": "2",
		"type_as": "y", "clip": "0, 1", "arctan2": "y", "divide": "y", "greater": "y", "greater_equal": "y", "less": "y",
		"less_equal": "y", "moveaxis": "0, 1", "multiply": "2", "not_equal": "y", "subtract": "y", "swapdims": "0, 1",
		"true_divide": "2", "logical_and": "y", "add_": "1",
	}
	names := slices.Concat(slices.Collect(maps.Keys(otherNames)), slices.Collect(maps.Keys(aliases)), []string{"logical_and", "logical_not", "add_"})
	for _, name := range names {
		if name == "type" { // a keyword of Go
			name = "Type"
		}
		cell := "x." + name + "(" + args[name] + ")"
		a, errs := attempt(t, "", cell)
		if len(errs) == 0 {
			t.Errorf("%s compiles", cell)
			continue
		}
		_, code, ok := strings.Cut(a.For(errs[0]), "write ")
		if !ok {
			t.Errorf("%s: got the hint %q, want code to write", cell, a.For(errs[0]))
			continue
		}
		code, _, _ = strings.Cut(code, "; ")
		if _, errs := attempt(t, "", code); len(errs) > 0 {
			t.Errorf("%s: write %s: %v", cell, code, errs)
		}
	}
}

// TestSuspicions notes statements that compile but may mean something else.
func TestSuspicions(t *testing.T) {
	for _, tt := range []struct{ cell, want string }{
		{"fmt.Println(1, p.X)", ""},
		{"fmt.Println(p.Norm)", "note: Norm is a method: p.Norm()"},
		{"fmt.Println(x.Add)", "note: Add is a method: x.Add(…)"},
		{"println(x)", "note: println shows the address of x; fmt.Println(x) shows its value"},
		{"println(n)", ""},
		{"_ = x == y", "note: x == y compares addresses; tensor.Equal(x, y) compares values, x.Eq(y) element by element"},
		{"_ = x != nil", ""},
	} {
		a, errs := attempt(t, "", tt.cell)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		if got := strings.Join(Suspicions(a.Files[2], a.Info), "\n"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.cell, got, tt.want)
		}
	}
}

// TestForValue notes values that may be meant to be others.
func TestForValue(t *testing.T) {
	for _, tt := range []struct{ value, want string }{
		{"2 ^ 10", "^ is exclusive or; math.Pow(2, 10) is the power"},
		{"n ^ 1", ""},
		{"2 | 1", ""},
		{"p.Norm", "Norm is a method: p.Norm()"},
		{"p.X", ""},
	} {
		a, errs := attempt(t, "", "_ = "+tt.value)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		f := a.Files[2]
		value := f.Decls[len(f.Decls)-1].(*ast.FuncDecl).Body.List[0].(*ast.AssignStmt).Rhs[0]
		if got := ForValue(value, a.Info); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.value, got, tt.want)
		}
	}
}
