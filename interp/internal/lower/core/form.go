package core

import (
	"go/ast"
	"go/token"
	"go/types"
)

// form names the form of an expression.
func (r *reader) form(e ast.Expr) string {
	if r.isType(e) {
		return typeForm(e)
	}
	if tv, ok := r.info.Types[e]; ok && tv.Value != nil {
		return "const"
	}
	switch x := e.(type) {
	case *ast.BasicLit:
		return "const"
	case *ast.Ident:
		return r.identForm(x)
	case *ast.ParenExpr:
		return "paren"
	case *ast.StarExpr:
		return "deref"
	case *ast.UnaryExpr:
		switch x.Op {
		case token.AND:
			if lit, ok := ast.Unparen(x.X).(*ast.CompositeLit); ok {
				if kindOf(r.typeOf(lit))&(Array|Slice|Map) != 0 {
					return "address.lit.place"
				}
				return "address.lit"
			}
			return "address"
		case token.ARROW:
			return "recv"
		case token.NOT:
			return "not"
		}
		return "unary"
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND, token.LOR:
			return "logical"
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return "compare"
		case token.SHL, token.SHR:
			return "shift"
		}
		return "arith"
	case *ast.CallExpr:
		return r.callForm(x)
	case *ast.IndexExpr:
		switch kindOf(r.typeOf(x.X)) {
		case Map:
			return "index.map"
		case Func, VariadicFunc:
			return "func.instance"
		}
		return "index"
	case *ast.IndexListExpr:
		return "func.instance"
	case *ast.SliceExpr:
		return "slice"
	case *ast.SelectorExpr:
		return r.selectorForm(x)
	case *ast.TypeAssertExpr:
		if x.Type == nil {
			return "assert.switch"
		}
		if kindOf(r.typeOf(x.Type)) == Interface {
			return "assert.interface"
		}
		return "assert.concrete"
	case *ast.CompositeLit:
		return r.literalForm(x)
	case *ast.FuncLit:
		return "lit.func"
	case *ast.KeyValueExpr:
		return "keyvalue"
	}
	return "unknown"
}

func (r *reader) identForm(id *ast.Ident) string {
	switch r.object(id).(type) {
	case *types.Const:
		return "const"
	case *types.Nil:
		return "nil"
	case *types.Func:
		return "func"
	case *types.Builtin:
		return "builtin"
	case *types.Var:
		return "var"
	}
	if r.funcs[id.Name] {
		return "func"
	}
	if _, ok := r.made[id.Name]; !ok {
		switch types.Universe.Lookup(id.Name).(type) {
		case *types.Const:
			return "const"
		case *types.Nil:
			return "nil"
		case *types.Builtin:
			return "builtin"
		}
	}
	return "var"
}

func (r *reader) selectorForm(x *ast.SelectorExpr) string {
	if r.isSupport(x) {
		return "support"
	}
	if s := r.info.Selections[x]; s != nil {
		switch s.Kind() {
		case types.MethodVal:
			return "method.value"
		case types.MethodExpr:
			return "method.expr"
		}
		return "field"
	}
	if id, ok := x.X.(*ast.Ident); ok && r.isPackage(id) {
		switch r.info.Uses[x.Sel].(type) {
		case *types.Const:
			return "const"
		case *types.Var:
			return "var.compiled"
		}
		return "func.compiled"
	}
	if r.isType(x.X) {
		return "method.expr"
	}
	return "field"
}

func (r *reader) callForm(x *ast.CallExpr) string {
	if r.isType(x.Fun) {
		return r.conversionForm(x)
	}
	f := ast.Unparen(x.Fun)
	if name := r.builtin(f); name != "" {
		return "call.builtin." + name
	}
	switch f := f.(type) {
	case *ast.Ident:
		if r.identForm(f) == "func" {
			return "call.declared"
		}
		return "call.variable"
	case *ast.SelectorExpr:
		switch r.selectorForm(f) {
		case "support":
			return "call.support"
		case "func.compiled", "var.compiled":
			return "call.compiled"
		case "method.value", "method.expr":
			return "call.method"
		}
		if r.typeOf(f.X) == support {
			return "call.support"
		}
		if s := r.info.Selections[f]; s == nil {
			if _, ok := r.typeOf(f).(*types.Signature); ok && r.isMethod(f) {
				return "call.method"
			}
		}
		return "call.field"
	case *ast.IndexExpr, *ast.IndexListExpr:
		if r.form(f) == "func.instance" {
			return "call.declared"
		}
		return "call.element"
	case *ast.CallExpr:
		return "call.result"
	case *ast.FuncLit:
		return "call.lit"
	case *ast.TypeAssertExpr:
		return "call.asserted"
	case *ast.StarExpr:
		return "call.deref"
	case *ast.UnaryExpr:
		return "call.received"
	}
	return "call.unknown"
}

// isMethod reports whether a selector that no checker saw is a method.
func (r *reader) isMethod(x *ast.SelectorExpr) bool {
	t := r.typeOf(x.X)
	if t == nil {
		return false
	}
	pkg := r.u.Pkg
	o, _, _ := types.LookupFieldOrMethod(t, true, pkg, x.Sel.Name)
	if _, ok := o.(*types.Func); ok {
		return true
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		for m := range n.Methods() {
			if m.Name() == x.Sel.Name {
				return true
			}
		}
	}
	return false
}

func (r *reader) conversionForm(x *ast.CallExpr) string {
	switch k := kindOf(r.typeOf(x.Fun)); {
	case k&Basic != 0:
		return "conv.basic"
	case k == Interface:
		return "conv.interface"
	}
	return "conv.composite"
}

func (r *reader) literalForm(x *ast.CompositeLit) string {
	switch t := x.Type.(type) {
	case *ast.StructType:
		return "lit.struct.unnamed"
	case nil:
	case *ast.ArrayType:
		if t.Len == nil {
			return "lit.slice"
		}
		return "lit.array"
	case *ast.MapType:
		return "lit.map"
	}
	switch kindOf(r.typeOf(x)) {
	case Array:
		return "lit.array"
	case Slice:
		return "lit.slice"
	case Map:
		return "lit.map"
	case Struct, Empty:
		if x.Type == nil {
			return "lit.struct.inner"
		}
		return "lit.struct.named"
	case Pointer:
		return "lit.struct.inner"
	}
	if x.Type == nil {
		return "lit.struct.inner"
	}
	return "lit.unknown"
}

// typeForm names the form of a type.
func typeForm(e ast.Expr) string {
	switch e.(type) {
	case *ast.Ident:
		return "type.name"
	case *ast.SelectorExpr:
		return "type.compiled"
	case *ast.ArrayType:
		return "type.array"
	case *ast.MapType:
		return "type.map"
	case *ast.ChanType:
		return "type.chan"
	case *ast.StarExpr:
		return "type.pointer"
	case *ast.FuncType:
		return "type.func"
	case *ast.InterfaceType:
		return "type.interface"
	case *ast.StructType:
		return "type.struct"
	case *ast.ParenExpr:
		return "type.paren"
	}
	return "type.instance"
}
