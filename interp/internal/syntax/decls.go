package syntax

import (
	"go/ast"
	"go/parser"
	"go/token"

	"halfnote/interp/internal/lower"
)

// ParseMode is the mode in which the parser reads cells.
const ParseMode = parser.SkipObjectResolution | parser.AllErrors

// Declared returns the names that declarations declare, "T.M" for methods.
func Declared(decls []ast.Decl) []string {
	var list []string
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				list = append(list, d.Name.Name)
			} else {
				list = append(list, lower.Receiver(d)+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					list = append(list, spec.Name.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						list = append(list, id.Name)
					}
				}
			}
		}
	}
	return list
}

// DeclaredIn returns the names that a declaration's text declares, "T.M" for
// methods.
func DeclaredIn(text string) []string {
	f, _ := parser.ParseFile(token.NewFileSet(), "", "package p;"+text, parser.SkipObjectResolution)
	if f == nil {
		return nil
	}
	return Declared(f.Decls)
}
