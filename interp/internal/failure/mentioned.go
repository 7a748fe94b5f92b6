package failure

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strings"

	"halfnote/internal/text"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/peek"
	"halfnote/interp/internal/places"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/internal/syntax"
)

// maxMentioned is the number of variables that a note of a traceback describes.
const maxMentioned = 6

// mentioned describes the variables of the session in a part of the code at a mark: integers,
// lengths, shapes of tensors and nil, such as "i is 5, len(xs) is 3". It gives the values of the local
// variables that the mark keeps, and the names of the others, which only %debug shows. known is a text that describes some of them already.
func (d Describer) mentioned(m places.Place, at syntax.Span, known string) string {
	var list []string
	if known != "" {
		list = append(list, known)
	}
	cell, _, _ := m.Where()
	names, locals := d.variablesIn(cell, at)
	locals = slices.DeleteFunc(locals, func(name string) bool { return strings.Contains(", "+known, ", "+name+" is ") })
	for _, name := range names {
		note := d.describeVariable(name)
		if note != "" && len(list) < maxMentioned && !strings.Contains(", "+known, ", "+name+" is ") {
			list = append(list, note)
		}
	}
	for _, k := range m.Kept {
		if d.Others() > 0 { // another goroutine may have stored its values there
			break
		}
		if v, ok := d.Engine.Slot(k.Stored); ok && len(list) < maxMentioned && slices.Contains(locals, k.Name) {
			locals = slices.DeleteFunc(locals, func(name string) bool { return name == k.Name })
			list = append(list, describeInt(k.Name, k.Length, v.Int()))
		}
	}
	note := strings.Join(list, ", ")
	if len(locals) == 0 {
		return note
	}
	debug := "%debug shows " + strings.Join(locals[:min(len(locals), maxMentioned)], ", ")
	if note == "" {
		return debug
	}
	return note + "; " + debug
}

// explainsItself reports whether a panic's value is not about the values of variables.
func explainsItself(value any) bool {
	switch value.(type) {
	case live.Interrupted, live.Goexit, live.Deadlock, live.TooDeep, live.TooMany, live.TooMuch, symbols.Exit:
		return true
	}
	return false
}

// variablesIn returns the variables that a span of a cell mentions, in order: those of the session, and
// those that the surrounding code declares in a function or a block.
func (d Describer) variablesIn(cell int, at syntax.Span) (names, local []string) {
	var outer *ast.BlockStmt // of the statements of the cell
	locals := map[string]bool{}
	skip := map[*ast.Ident]bool{}   // selected names, and keys
	params := map[*ast.Field]bool{} // type parameters
	var literalEnd token.Pos        // end of a function literal in the span, whose code may not have run
	d.Places.Inspect(cell, at.Line, func(fset *token.FileSet, n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "_" && n.Recv == nil && outer == nil {
				outer = n.Body
			}
			skip[n.Name] = true
			if n.Type.TypeParams != nil {
				for _, f := range n.Type.TypeParams.List {
					params[f] = true
				}
			}
		case *ast.Field:
			if params[n] {
				break
			}
			for _, id := range n.Names {
				locals[id.Name] = true
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE && !isIn(outer, n) {
				addNames(locals, n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				addNames(locals, n.Key, n.Value)
			}
		case *ast.DeclStmt:
			if !isIn(outer, n) {
				for _, spec := range n.Decl.(*ast.GenDecl).Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						for _, id := range v.Names {
							locals[id.Name] = true
						}
					}
				}
			}
		case *ast.FuncLit:
			if at.Holds(fset.Position(n.Pos())) {
				literalEnd = max(literalEnd, n.End())
			}
		case *ast.SelectorExpr:
			skip[n.Sel] = true
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				skip[id] = true
			}
		case *ast.Ident:
			if at.Holds(fset.Position(n.Pos())) && n.Pos() >= literalEnd && !skip[n] && n.Name != "_" && !slices.Contains(names, n.Name) {
				names = append(names, n.Name)
			}
		}
		return true
	})
	for _, name := range names {
		if locals[name] {
			local = append(local, name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		b := d.Env.Named(name)
		return locals[name] || b == nil || b.Kind != front.KindVar || b.Cell() > cell
	})
	return names, local
}

// isIn reports whether a statement is one of a block's own.
func isIn(b *ast.BlockStmt, s ast.Stmt) bool { return b != nil && slices.Contains(b.List, s) }

func addNames(names map[string]bool, list ...ast.Expr) {
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			names[id.Name] = true
		}
	}
}

func describeInt(name string, length bool, n int64) string {
	if length {
		return fmt.Sprintf("len(%s) is %d", name, n)
	}
	return fmt.Sprintf("%s is %d", name, n)
}

// describeVariable describes a variable of the session, or returns "" for one whose value does not
// fit in a few words.
func (d Describer) describeVariable(name string) string {
	v, ok := d.Engine.Slot(d.Env.Named(name).Slot)
	if !ok {
		return ""
	}
	if peek.IsNil(v) {
		return name + " is nil"
	}
	dynamic := v.Kind() == reflect.Interface
	v = peek.Concrete(v)
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("%s is %d", name, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return fmt.Sprintf("%s is %d", name, v.Uint())
	case reflect.Slice, reflect.String, reflect.Array, reflect.Map:
		if dynamic { // it has no length in Go
			return ""
		}
		if v.Kind() == reflect.Map && v.IsNil() {
			return name + " is nil"
		}
		return fmt.Sprintf("len(%s) is %d", name, v.Len())
	}
	if !v.CanInterface() {
		return ""
	}
	if t, ok := v.Interface().(interface{ Shape() []int }); ok {
		return name + " is " + text.Shape(t.Shape())
	}
	return ""
}
