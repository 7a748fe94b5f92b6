package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// hoistTypes moves types declared in functions to package level, where instances can
// name them.
func (g *Generics) hoistTypes() {
	names := map[types.Object]string{}
	var moved []ast.Decl
	g.concrete(func(file *ast.File, i int) {
		fd, ok := file.Decls[i].(*ast.FuncDecl)
		if !ok || fd.Body == nil {
			return
		}
		astutil.Apply(fd.Body, nil, func(c *astutil.Cursor) bool {
			st, ok := c.Node().(*ast.DeclStmt)
			if !ok {
				return true
			}
			d, ok := st.Decl.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				return true
			}
			for _, s := range d.Specs {
				spec := s.(*ast.TypeSpec)
				o := g.Info.Defs[spec.Name]
				if o == nil || spec.Name.Name == "_" {
					continue
				}
				names[o] = g.Fresh(spec.Name.Name)
				g.Origin[names[o]] = spec.Name.Name
				if !spec.Assign.IsValid() {
					g.Suffix[names[o]] = fmt.Sprintf("%s·%d", g.Suffix[enclosed(fd)], g.local[spec.Pos()])
				}
				g.lengths(spec.Type)
				moved = append(moved, &ast.GenDecl{TokPos: spec.Pos(), Tok: token.TYPE, Specs: []ast.Spec{spec}})
			}
			c.Replace(&ast.EmptyStmt{Semicolon: st.Pos(), Implicit: true})
			return true
		})
	})
	if len(moved) == 0 {
		return
	}
	g.again = true
	for _, m := range []map[*ast.Ident]types.Object{g.Info.Defs, g.Info.Uses} {
		for id, o := range m {
			if name := names[o]; name != "" {
				id.Name = name
			}
		}
	}
	g.File.Decls = append(g.File.Decls, moved...)
	g.Made = append(g.Made, moved...)
}

// enclosed returns the name of the instance that a function, or the type of a method, is, if it is one: a type that it declares has the type
// arguments in its name.
func enclosed(fd *ast.FuncDecl) string {
	if fd.Recv != nil {
		return Receiver(fd)
	}
	return fd.Name.Name
}

// numberTypes numbers the types that functions declare in the order of the source, as the Go compiler does. All instances of a function have
// the numbers of the function.
func (g *Generics) numberTypes() {
	var all []token.Pos
	for _, f := range []*ast.File{g.Prelude, g.File} {
		ast.Inspect(f, func(n ast.Node) bool {
			if st, ok := n.(*ast.DeclStmt); ok {
				for _, s := range st.Decl.(*ast.GenDecl).Specs {
					if t, ok := s.(*ast.TypeSpec); ok && !t.Assign.IsValid() {
						all = append(all, t.Pos())
					}
				}
			}
			return true
		})
	}
	slices.Sort(all)
	g.local = map[token.Pos]int{}
	for i, pos := range slices.Compact(all) {
		g.local[pos] = i + 1
	}
}

// lengths writes the lengths of arrays as numbers: a constant of the function is not in
// scope outside.
func (g *Generics) lengths(t ast.Expr) {
	ast.Inspect(t, func(n ast.Node) bool {
		if a, ok := n.(*ast.ArrayType); ok && a.Len != nil {
			a.Len = &ast.BasicLit{ValuePos: a.Len.Pos(), Kind: token.INT, Value: g.Info.Types[a.Len].Value.ExactString()}
		}
		return true
	})
}
