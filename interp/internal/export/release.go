package export

import (
	"bytes"
	"go/ast"
	"go/types"
)

// newerRelease begins a program that uses the language of a release newer than the oldest one that builds
// this module. The line raises the version of the file's language above that of its go.mod.
const newerRelease = "//go:build go1.27\n\n"

// needsNewer reports whether a program begins with that line.
func needsNewer(src []byte) bool { return bytes.HasPrefix(src, []byte(newerRelease)) }

// isNewer reports whether a file uses the language of Go 1.27: methods with type parameters, promoted fields
// in literals, and type arguments that follow from a literal, a conversion or a send.
func isNewer(file *ast.File, info *types.Info) bool {
	found := false
	var path []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		switch n := n.(type) {
		case *ast.FuncDecl:
			found = found || n.Recv != nil && n.Type.TypeParams != nil
		case *ast.CompositeLit:
			found = found || hasPromoted(n, info)
		case *ast.Ident:
			if _, ok := info.Instances[n]; ok && len(path) > 1 {
				if _, ok := info.Uses[n].(*types.Func); ok {
					found = found || inferredNewly(path, info)
				}
			}
		}
		return true
	})
	return found
}

// hasPromoted reports whether a struct literal sets a promoted field.
func hasPromoted(lit *ast.CompositeLit, info *types.Info) bool {
	t := info.Types[lit].Type
	if t == nil {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	own := map[types.Object]bool{}
	for f := range st.Fields() {
		own[f] = true
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok && info.Uses[id] != nil && !own[info.Uses[id]] {
				return true
			}
		}
	}
	return false
}

// inferredNewly reports whether the name of a generic function at the end of a path has type arguments
// that only Go 1.27 infers.
func inferredNewly(path []ast.Node, info *types.Info) bool {
	inner := path[len(path)-1]
	for i := len(path) - 2; i >= 0; i-- {
		switch n := path[i].(type) {
		case *ast.SelectorExpr, *ast.ParenExpr:
		case *ast.KeyValueExpr:
			if n.Key == inner {
				return false
			}
		case *ast.CompositeLit:
			return true
		case *ast.SendStmt:
			return n.Value == inner
		case *ast.CallExpr:
			return n.Fun != inner && info.Types[n.Fun].IsType()
		default:
			return false
		}
		inner = path[i]
	}
	return false
}
