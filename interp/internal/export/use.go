package export

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
)

// useAll adds a use of each unused local variable, which cells may have and programs
// may not, and type-checks the program. A program in the language of a newer Go gets a line that says so. It returns the program
// even with an error.
func useAll(src []byte, importer types.Importer) ([]byte, error) {
	for {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "main.go", src, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("interp: export: the program does not parse: %w", err)
		}
		var unused []types.Error
		var wrong error
		cfg := types.Config{Importer: importer, Error: func(err error) {
			if e, ok := err.(types.Error); ok && strings.Contains(e.Msg, declaredNotUsed) {
				unused = append(unused, e)
			} else if wrong == nil {
				wrong = err
			}
		}}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Instances: map[*ast.Ident]types.Instance{}}
		_, _ = cfg.Check("main", fset, []*ast.File{file}, info)
		if wrong != nil {
			return src, fmt.Errorf("interp: export: the program does not compile: %w", wrong)
		}
		if len(unused) == 0 && isNewer(file, info) {
			return append([]byte(newerRelease), src...), nil
		}
		if len(unused) == 0 {
			return src, nil
		}
		var edits []edit
		for _, e := range unused {
			off, ok := useAt(fset, file, e.Pos)
			if !ok {
				return nil, fmt.Errorf("interp: export: %w", e)
			}
			edits = append(edits, edit{off, off, "\n_ = " + unusedName(e.Msg) + "\n"})
		}
		src = []byte(apply(string(src), 0, len(src), edits))
		if src, err = formatted(src); err != nil {
			return src, err
		}
	}
}

// declaredNotUsed is part of the checker's message: "declared and not used: x", or "x
// declared and not used" for the name of a type switch.
const declaredNotUsed = "declared and not used"

func unusedName(msg string) string {
	return strings.Trim(strings.Replace(msg, declaredNotUsed, "", 1), ": ")
}

// useAt returns the offset for a use of the variable declared at pos: after its
// declaration, or at the start of the block whose head declares it.
func useAt(fset *token.FileSet, file *ast.File, pos token.Pos) (int, bool) {
	var path []ast.Node // path to pos, outermost first
	ast.Inspect(file, func(n ast.Node) bool {
		within := n != nil && n.Pos() <= pos && pos < n.End()
		if within {
			path = append(path, n)
		}
		return within
	})
	for i := len(path) - 1; i > 0; i-- {
		st, ok := path[i].(ast.Stmt)
		if !ok {
			continue
		}
		if body := bodyOf(st); pos < body {
			return fset.Position(body).Offset, true
		}
		switch up := path[i-1].(type) {
		case *ast.BlockStmt, *ast.CaseClause:
			return fset.Position(st.End()).Offset, true
		case *ast.CommClause:
			if up.Comm == st {
				return fset.Position(up.Colon).Offset + 1, true
			}
			return fset.Position(st.End()).Offset, true
		}
	}
	return 0, false
}

// bodyOf returns the start of the block in which the declarations of a statement's head
// are visible, or token.NoPos if it has none.
func bodyOf(st ast.Stmt) token.Pos {
	first := func(b *ast.BlockStmt) token.Pos {
		for _, st := range b.List {
			if c, ok := st.(*ast.CaseClause); ok {
				return c.Colon + 1
			}
		}
		return token.NoPos
	}
	switch st := st.(type) {
	case *ast.IfStmt:
		return st.Body.Lbrace + 1
	case *ast.ForStmt:
		return st.Body.Lbrace + 1
	case *ast.RangeStmt:
		return st.Body.Lbrace + 1
	case *ast.SwitchStmt:
		return first(st.Body)
	case *ast.TypeSwitchStmt:
		return first(st.Body)
	}
	return token.NoPos
}
