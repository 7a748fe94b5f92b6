package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"halfnote/interp/internal/engine"
)

// Kept is a local variable whose value, or length, is stored before a statement, so that a panic
// in the statement can show it.
type Kept struct {
	Name   string // in the source
	Stored string // the engine's name of the variable that holds the copy
	Length bool   // whether the copy is the variable's length
	local  string // name in the unit
}

// maxKept limits the variables that are stored before one statement.
const maxKept = 3

// kept returns the local variables of type int, and the local slices and strings, that a
// statement mentions and that are declared before pos. Only statements that call a function of a
// watched package with a result of its types have any: such a call takes at least a hundred times
// as long as a store, which takes about 17 ns in Yaegi.
func (m *marker) kept(pos token.Pos, nodes []ast.Node) (list []Kept) {
	if !m.u.makesWatched(nodes) {
		return nil
	}
	for _, n := range nodes {
		if isNilNode(n) {
			continue
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false
			}
			id, ok := n.(*ast.Ident)
			if !ok || len(list) == maxKept {
				return true
			}
			v, ok := m.u.Info.Uses[id].(*types.Var)
			if !ok || v.IsField() || v.Parent() == nil || v.Parent() == m.u.Pkg.Scope() || v.Pkg() != m.u.Pkg || v.Pos() >= pos {
				return true
			}
			k := Kept{Name: v.Name(), local: id.Name}
			switch t := v.Type().(type) {
			case *types.Basic:
				k.Length = t.Kind() == types.String
				ok = k.Length || t.Kind() == types.Int
			case *types.Slice:
				k.Length = true
			default:
				ok = false
			}
			for _, other := range list {
				ok = ok && other.Name != k.Name
			}
			if ok && !(k.Length && m.u.declares("len")) {
				k.Stored = engine.MarkPrefix + "_" + id.Name + "__" + strings.TrimPrefix(m.name, engine.MarkPrefix)
				list = append(list, k)
			}
			return true
		})
	}
	return list
}

// keep returns the statements that store the variables of a mark.
func (m *marker) keep(at Mark) (list []ast.Stmt) {
	for _, k := range at.Kept {
		var value ast.Expr = ident(k.local)
		if k.Length {
			value = call(ident("len"), value)
		}
		if !m.u.markVars[k.Stored] {
			m.u.markVars[k.Stored] = true
			m.u.vars = append(m.u.vars, &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{
				&ast.ValueSpec{Names: []*ast.Ident{ident(k.Stored)}, Type: ident("int")},
			}})
		}
		list = append(list, assign(ident(k.Stored), value))
	}
	return list
}

// makesWatched reports whether nodes call a function that returns a value of a watched package.
func (u *Unit) makesWatched(nodes []ast.Node) bool {
	found := false
	for _, n := range nodes {
		if isNilNode(n) || u.Watched == nil {
			continue
		}
		ast.Inspect(n, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				sig, ok := orInvalid(u.typeOf(x.Fun)).Underlying().(*types.Signature)
				found = found || ok && u.watched(sig.Results())
			}
			return !found
		})
	}
	return found
}

func isNilNode(n ast.Node) bool { return n == nil || reflect.ValueOf(n).IsNil() }

// declares reports whether the unit declares a name.
func (u *Unit) declares(name string) bool {
	if u.idents == nil {
		u.idents = map[string]bool{}
		for id := range u.Info.Defs {
			u.idents[id.Name] = true
		}
	}
	return u.idents[name] || u.Pkg.Scope().Lookup(name) != nil
}
