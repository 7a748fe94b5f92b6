package hints

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"halfnote/interp/internal/exports"
)

// callHint explains a call with too few, too many or wrong arguments. It names a function of the
// same package that takes the argument, or gives the declaration of the called function. It
// returns "" for functions of the session.
func (a *Attempt) callHint(m Mistake) string {
	call, i := callAt(m.Pos, m.path)
	if call == nil {
		return ""
	}
	fn, _ := typeutil.Callee(a.Info, call).(*types.Func)
	if fn == nil || fn.Pkg() == nil || fn.Pkg() == a.Pkg {
		return ""
	}
	if h := wholeReductions[fn.FullName()]; h != "" && len(call.Args) == 0 {
		return h + "; " + declarationHint(fn, call)
	}
	params := fn.Signature().Params()
	if i >= 0 && i < params.Len() {
		arg := a.Info.TypeOf(call.Args[i])
		if lit, ok := call.Args[i].(*ast.BasicLit); ok && (lit.Kind == token.INT || lit.Kind == token.FLOAT) {
			arg = types.Typ[types.UntypedFloat] // the checker records no type for a constant that it refuses
		}
		if h := a.dtypeHint(call, i); h != "" {
			return h
		}
		if other := a.takes(fn, call, i, arg); other != nil {
			return a.write(call, other)
		}
		sig, ok := params.At(i).Type().Underlying().(*types.Signature)
		if given, is := arg.(*types.Signature); ok && is && sig.Results().Len() == 0 && given.Results().Len() > 0 {
			return fmt.Sprintf("%s takes a function that returns nothing: %s { … }", callName(fn), exports.TypeString(sig, a.Pkg))
		}
	}
	if i >= params.Len() {
		if h := a.dtypeHint(call, i); h != "" {
			return h
		}
	}
	if last := params.Len() - 1; fn.Signature().Variadic() && i >= last {
		if h := a.dtypeHint(call, i); h != "" {
			return h
		}
		list, ok := types.Unalias(a.Info.TypeOf(call.Args[i])).(*types.Slice)
		if ok && types.Identical(list.Elem(), params.At(last).Type().(*types.Slice).Elem()) {
			given := "list"
			if id, ok := call.Args[i].(*ast.Ident); ok {
				given = id.Name
			}
			return fmt.Sprintf("%s takes the elements of a slice with dots: %s(%s...)", callName(fn), callName(fn), given)
		}
	}
	return declarationHint(fn, call)
}

// callAt returns the call whose argument i begins at pos. If pos is the closing parenthesis of a
// call, i is -1.
func callAt(pos token.Pos, path []ast.Node) (call *ast.CallExpr, i int) {
	for _, n := range path {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			continue
		}
		if call.Rparen == pos {
			return call, -1
		}
		if i := slices.IndexFunc(call.Args, func(arg ast.Expr) bool { return arg.Pos() == pos }); i >= 0 {
			return call, i
		}
	}
	return nil, 0
}

// takes returns the call of another function of fn's package, or of another method of its
// receiver, that has the results of fn and takes an argument of type arg, or nil. A function without
// results must begin with fn's name, as nn.ToDType begins with nn.To.
func (a *Attempt) takes(fn *types.Func, call *ast.CallExpr, i int, arg types.Type) ast.Expr {
	if arg == nil || arg == types.Typ[types.Invalid] {
		return nil
	}
	results := fn.Signature().Results()
	fits := func(o types.Object) bool {
		other, ok := o.(*types.Func)
		if !ok || other == fn || !other.Exported() || other.Signature().TypeParams() != nil {
			return false
		}
		sig := other.Signature()
		return sig.Params().Len() == fn.Signature().Params().Len() && !(sig.Variadic() && i == sig.Params().Len()-1) && fitsParameter(arg, sig.Params().At(i).Type()) &&
			types.Identical(sig.Results(), results) && (results.Len() > 0 || strings.HasPrefix(other.Name(), fn.Name()))
	}
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if fn.Signature().Recv() != nil {
		if !isSel {
			return nil
		}
		other, _, _ := types.LookupFieldOrMethod(a.Info.TypeOf(sel.X), true, a.Pkg, fn.Name()+"Scalar")
		if other == nil || !fits(other) {
			return nil
		}
		return methodCall(sel.X, other.Name(), call.Args...)
	}
	var found []string
	for _, name := range fn.Pkg().Scope().Names() {
		if o := fn.Pkg().Scope().Lookup(name); fits(o) && similar(fn.Signature().Params(), o.(*types.Func).Signature().Params(), i) {
			found = append(found, name)
		}
	}
	if len(found) != 1 || !isSel {
		return nil
	}
	return callOf(&ast.SelectorExpr{X: sel.X, Sel: &ast.Ident{NamePos: sel.Sel.Pos(), Name: found[0]}}, call.Args...)
}

// fitsParameter reports whether an argument can be given to a parameter, a constant after conversion.
func fitsParameter(arg, param types.Type) bool {
	if b, ok := arg.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 && b.Info()&types.IsNumeric != 0 {
		p, ok := param.Underlying().(*types.Basic)
		return ok && p.Info()&types.IsNumeric != 0
	}
	return types.AssignableTo(arg, param)
}

// similar reports whether two lists of parameters have the same types, except for parameter i.
func similar(a, b *types.Tuple, i int) bool {
	for j := range a.Len() {
		if j != i && !types.Identical(a.At(j).Type(), b.At(j).Type()) {
			return false
		}
	}
	return true
}

// declarationHint returns the parameters of a function of a package and the first sentence of its
// comment.
func declarationHint(fn *types.Func, call *ast.CallExpr) string {
	comment, decl := exports.Doc(fn.Pkg().Path(), exports.Member(fn, fn.Pkg().Scope()))
	if decl == "" || strings.Contains(decl, "\n") {
		return ""
	}
	decl = strings.TrimPrefix(decl, "func ")
	if fn.Signature().Recv() == nil {
		decl = fn.Pkg().Name() + "." + decl
	} else {
		_, decl, _ = strings.Cut(decl, ") ")
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				decl = x.Name + "." + decl
			}
		}
	}
	return decl + ": " + exports.Summary(fn.Name(), comment)
}

// callName returns the name of a function as a call spells it.
func callName(fn *types.Func) string {
	if fn.Signature().Recv() != nil {
		return fn.Name()
	}
	return fn.Pkg().Name() + "." + fn.Name()
}
