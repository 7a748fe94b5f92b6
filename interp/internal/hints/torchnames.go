package hints

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"sync"

	"halfnote/internal/near"
	"halfnote/interp/internal/exports"
)

// aliases maps torch's second names of functions to their first names.
var aliases = map[string]string{
	"absolute":      "abs",
	"arccos":        "acos",
	"arccosh":       "acosh",
	"arcsin":        "asin",
	"arcsinh":       "asinh",
	"arctan":        "atan",
	"arctan2":       "atan2",
	"arctanh":       "atanh",
	"clip":          "clamp",
	"divide":        "div",
	"fix":           "trunc",
	"greater":       "gt",
	"greater_equal": "ge",
	"less":          "lt",
	"less_equal":    "le",
	"moveaxis":      "movedim",
	"multiply":      "mul",
	"negative":      "neg",
	"not_equal":     "ne",
	"sgn":           "sign",
	"subtract":      "sub",
	"swapdims":      "swapaxes",
	"true_divide":   "div",
}

// otherNames maps methods of torch's and NumPy's tensors that tensors do not have to the code that takes their place. The
// letters a and b stand for the arguments.
var otherNames = map[string]struct {
	code string // of the tensor x
	note string // what else there is
}{
	"astype":            {code: "x.To(a)"},
	"bool":              {code: "x.NeScalar(0)"},
	"copy":              {code: "x.Clone()"},
	"cpu":               {code: "x.ToDevice(tensor.CPU)"},
	"cuda":              {code: "x.ToDevice(tensor.Accelerator())"},
	"data":              {code: "x.Detach()", note: "x.Float64s() returns the elements"},
	"element_size":      {code: "x.DType().Size()"},
	"expand_as":         {code: "x.Expand(a.Shape()...)"},
	"fliplr":            {code: "x.Flip(1)"},
	"flipud":            {code: "x.Flip(0)"},
	"float16":           {code: "x.Half()"},
	"float32":           {code: "x.Float()"},
	"float64":           {code: "x.Double()"},
	"inner":             {code: "x.MatMul(a.Transpose(-2, -1))", note: "x.Dot(y) is the product of two vectors"},
	"int":               {code: "x.Long()"},
	"is_cuda":           {code: "x.Device() != tensor.CPU"},
	"is_floating_point": {code: "x.DType().IsFloat()"},
	"len":               {code: "x.Size(0)"},
	"length":            {code: "x.Size(0)"},
	"logdet":            {code: "x.Det().Log()"},
	"mH":                {code: "x.Transpose(-2, -1)"},
	"mT":                {code: "x.Transpose(-2, -1)"},
	"nbytes":            {code: "x.Bytes()"},
	"ndim":              {code: "x.Dim()"},
	"ndimension":        {code: "x.Dim()"},
	"nelement":          {code: "x.Numel()"},
	"new_full":          {code: "tensor.Full(b, 2, 3).To(x.DType())"},
	"new_ones":          {code: "tensor.Ones(2, 3).To(x.DType())"},
	"new_zeros":         {code: "tensor.Zeros(2, 3).To(x.DType())"},
	"numpy":             {code: "x.Float64s()"},
	"requires_grad_":    {code: "x.RequireGrad()"},
	"scale":             {code: "x.MulScalar(a)", note: "amp.NewGradScaler().Scale(loss) scales a loss"},
	"short":             {code: "x.Long()"},
	"tolist":            {code: "x.Float64s()", note: "x.Rows() returns the rows of a matrix"},
	"type":              {code: "x.To(tensor.Float16)"},
	"type_as":           {code: "x.To(a.DType())"},
}

// cited matches a name of torch in a comment, without its package.
var cited = regexp.MustCompile(`It is torch(?:\.\w+)*\.(\w+)`)

// peer matches a name of any library that a comment gives, without its package or type.
var peer = regexp.MustCompile(`It is (?:\w+\.)+(\w+)`)

// citedName returns the name that a member of a package has elsewhere according to its comment, or "".
func citedName(pkg *types.Package, member string) string {
	text, _ := exports.Doc(pkg.Path(), member)
	if m := peer.FindStringSubmatch(strings.Join(strings.Fields(text), " ")); m != nil {
		return m[1]
	}
	return ""
}

// torchMethods maps torch's names, folded, to the methods of tensors whose comments say "It is torch.logical_not".
var torchMethods = sync.OnceValue(func() map[string][]*types.Func {
	found := map[string][]*types.Func{}
	pkg, err := exports.Importer().Import("halfnote/tensor")
	if err != nil {
		return found
	}
	set := types.NewMethodSet(types.NewPointer(pkg.Scope().Lookup("Tensor").Type()))
	for m := range set.Methods() {
		fn, ok := m.Obj().(*types.Func)
		if !ok || !fn.Exported() {
			continue
		}
		text, _ := exports.Doc(pkg.Path(), "Tensor."+fn.Name())
		if m := cited.FindStringSubmatch(strings.Join(strings.Fields(text), " ")); m != nil {
			name := inPlaceName(m[1])
			found[name] = append(found[name], fn)
		}
	}
	return found
})

// inPlaceName folds a name of torch. The underscore at the end of operations that change their tensor stays.
func inPlaceName(name string) string {
	if strings.HasSuffix(name, "_") {
		return near.Fold(name) + "_"
	}
	return near.Fold(name)
}

// torchMethodHint says what to write for a method of torch's tensors that tensors do not have under this name, or returns "".
func (a *Attempt) torchMethodHint(sel *ast.SelectorExpr, path []ast.Node) string {
	call, _ := within[*ast.CallExpr](path)
	if call != nil && ast.Unparen(call.Fun) != ast.Expr(sel) {
		call = nil
	}
	var args []ast.Expr
	var old ast.Expr = sel
	if call != nil {
		args, old = call.Args, call
	}
	return a.torchHint(old, sel.Sel.Name, sel.X, args)
}

// torchHint mends an expression that calls torch's function name with a tensor x and other arguments.
func (a *Attempt) torchHint(old ast.Expr, name string, x ast.Expr, args []ast.Expr) string {
	key := inPlaceName(name)
	for alias, first := range aliases {
		if inPlaceName(alias) == strings.TrimSuffix(key, "_") {
			key = inPlaceName(first + strings.TrimPrefix(key, inPlaceName(alias)))
			break
		}
	}
	for other, to := range otherNames {
		if inPlaceName(other) != key {
			continue
		}
		h := ""
		if new := graft(to.code, old.Pos(), x, args); new != nil {
			h = a.write(old, new)
		} else {
			h = "write " + to.code
		}
		if to.note != "" {
			h += "; " + to.note
		}
		return h
	}
	candidates := torchMethods()[key]
	if len(candidates) == 0 {
		return ""
	}
	for _, fn := range candidates {
		if a.takesAll(fn, args) {
			return a.write(old, methodCall(x, fn.Name(), args...))
		}
	}
	return "write " + code(x) + "." + candidates[0].Name() + strings.TrimPrefix(exports.TypeString(candidates[0].Type(), a.Pkg), "func")
}

// takesAll reports whether a function can be called with the arguments.
func (a *Attempt) takesAll(fn *types.Func, args []ast.Expr) bool {
	params := fn.Signature().Params()
	n := params.Len()
	variadic := fn.Signature().Variadic()
	if !variadic && len(args) != n || variadic && len(args) < n-1 {
		return false
	}
	for i, arg := range args {
		want := params.At(min(i, n-1)).Type()
		if variadic && i >= n-1 {
			want = want.(*types.Slice).Elem()
		}
		given := a.Info.TypeOf(arg)
		if given == nil {
			given = types.Typ[types.Invalid]
			if isConstant(arg) {
				given = types.Typ[types.UntypedFloat]
			}
		}
		if isTensor(want) != isTensor(given) && given != types.Typ[types.Invalid] {
			return false
		}
	}
	return true
}

// packageHint says what to write for an unknown name of a package that has it in another spelling, or as a method of
// tensors, or returns "".
func (a *Attempt) packageHint(pkg *types.Package, sel *ast.SelectorExpr, path []ast.Node) string {
	if name := respelled(sel.Sel.Name, exportedNames(pkg.Scope())); name != "" {
		if _, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok {
			return "did you mean " + name + "?"
		}
		new := &ast.SelectorExpr{X: sel.X, Sel: &ast.Ident{NamePos: sel.Sel.Pos(), Name: name}}
		a.Fixes[sel] = new
		if call, ok := within[*ast.CallExpr](path); ok && call.Fun == ast.Expr(sel) {
			hint := *call
			hint.Fun = new
			return "write " + code(&hint)
		}
		return "write " + code(new)
	}
	call, ok := within[*ast.CallExpr](path)
	if !ok || call.Fun != ast.Expr(sel) || len(call.Args) == 0 || !strings.HasPrefix(pkg.Path(), "halfnote/tensor") {
		return ""
	}
	x := call.Args[0]
	if t := a.typeSoFar(x); t != nil && isTensor(t) {
		return a.torchHint(call, sel.Sel.Name, x, call.Args[1:])
	}
	return ""
}

// graft parses code, puts x and args in place of the letters x, a and b, and gives it a place in a cell. It returns nil if the
// code has other arguments.
func graft(text string, at token.Pos, x ast.Expr, args []ast.Expr) ast.Expr {
	parsed, err := parser.ParseExpr(text)
	if err != nil {
		return nil
	}
	used := 0
	var moved func(e ast.Expr) ast.Expr
	moved = func(e ast.Expr) ast.Expr {
		switch e := e.(type) {
		case *ast.Ident:
			switch i := slices.Index([]string{"a", "b"}, e.Name); {
			case e.Name == "x":
				return x
			case i >= 0 && i < len(args):
				used = max(used, i+1)
				return args[i]
			case i >= 0:
				used = len(args) + 1
			}
			return &ast.Ident{NamePos: at, Name: e.Name}
		case *ast.BasicLit:
			return &ast.BasicLit{ValuePos: at, Kind: e.Kind, Value: e.Value}
		case *ast.UnaryExpr:
			return &ast.UnaryExpr{OpPos: at, Op: e.Op, X: moved(e.X)}
		case *ast.BinaryExpr:
			return &ast.BinaryExpr{X: moved(e.X), OpPos: at, Op: e.Op, Y: moved(e.Y)}
		case *ast.SelectorExpr:
			return &ast.SelectorExpr{X: moved(e.X), Sel: &ast.Ident{NamePos: at, Name: e.Sel.Name}}
		case *ast.CallExpr:
			call := callOf(moved(e.Fun))
			for _, arg := range e.Args {
				call.Args = append(call.Args, moved(arg))
			}
			if e.Ellipsis.IsValid() {
				call.Ellipsis = at
			}
			return call
		}
		return e
	}
	e := moved(parsed)
	if used > len(args) {
		return nil
	}
	return e
}
