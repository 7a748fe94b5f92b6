package native

import (
	"go/ast"
	"strings"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/native/object"
)

// ownNames gives the functions and variables whose names hold the number of their unit, such as
// cell__12 and out__12_0, names without it in the text that is compiled. The same text then always gives the same
// object, which the cache may hold. The loader gets the names of the session.
type ownNames struct {
	number string          // of the unit, after two underscores
	names  map[string]bool // that hold it
}

// common stands for the number of the unit. Names of users that have two underscores get others.
const common = "__own"

// unitFile is the name that all units have in the text that is compiled.
const unitFile = "unit"

// textFile is the name that the compiler gives to the text before the first comment that names a line.
const textFile = "stdin"

// numberOf returns the number of a unit, which ends the name of its entry function.
func numberOf(u *engine.Unit) string {
	if i := strings.LastIndex(u.Entry, "__"); i >= 0 {
		return u.Entry[i:]
	}
	return ""
}

// find adds the functions and variables of a declaration.
func (o *ownNames) find(d ast.Decl) {
	add := func(id *ast.Ident) {
		if before, after, ok := strings.Cut(id.Name, o.number); ok && o.number != "" && before != "" && (after == "" || after[0] == '_') {
			o.names[id.Name] = true
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, id := range v.Names {
					add(id)
				}
			}
		}
	}
}

// text returns a name or declaration with the common names of what it declares.
func (o *ownNames) text(name, declaration string) string {
	if !o.names[name] {
		return declaration
	}
	return strings.Replace(declaration, name, strings.Replace(name, o.number, common, 1), 1)
}

// replace gives the names in a declaration their common form.
func (o *ownNames) replace(d ast.Decl) {
	ast.Inspect(d, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			id.Name = o.text(id.Name, id.Name)
		}
		return true
	})
}

// restore gives the symbols and the files of an object the names of the session.
func (o *ownNames) restore(in *object.Object, file string) {
	in.Rename(func(symbol string) string {
		if strings.HasPrefix(symbol, "type:") {
			return symbol
		}
		return strings.ReplaceAll(symbol, common, o.number)
	}, func(name string) string {
		if before, ok := strings.CutSuffix(name, unitFile); ok && (before == "" || before[len(before)-1] == '.') {
			return before + file
		}
		return name
	})
}
