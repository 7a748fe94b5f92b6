package interp

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"unicode/utf8"
)

// span is a part of a line of a cell: from line and col to before end, in bytes. An end
// of 0 means the end of the word at col; one before col means the end of the line.
type span struct{ line, col, end int }

// spanOf returns the span of an error of the type checker. The checker does not export
// it; a test guards the fields' names.
func spanOf(e types.Error) span {
	at := e.Fset.Position(e.Pos)
	v := reflect.ValueOf(e)
	from, to := v.FieldByName("go116start"), v.FieldByName("go116end")
	if !from.IsValid() || !to.IsValid() || from.Int() >= to.Int() {
		return span{line: at.Line, col: at.Column}
	}
	return between(e.Fset, token.Pos(from.Int()), token.Pos(to.Int()))
}

// between returns the span between two positions. If they are on different lines, it is
// limited to the first.
func between(fset *token.FileSet, from, to token.Pos) span {
	a, b := fset.Position(from), fset.Position(to)
	if a.Line != b.Line {
		return span{a.Line, a.Column, -1}
	}
	return span{a.Line, a.Column, b.Column}
}

// excerpt shows a line of a cell, with a span of it underlined.
func (s *Session) excerpt(cell int, at span) []string {
	s.mu.Lock()
	code, ok := s.code[cell]
	s.mu.Unlock()
	if !ok {
		return nil
	}
	return underlined(code, at)
}

// underlined shows a line of a text, with a span of it underlined.
func underlined(code string, at span) []string {
	text := strings.Split(code, "\n")
	if at.line < 1 || at.line > len(text) {
		return nil
	}
	src := strings.TrimRight(text[at.line-1], "\r")
	number := fmt.Sprintf("%5d | ", at.line)
	list := []string{dim(number) + src}
	if at.col < 1 {
		return list
	}
	start := min(at.col-1, len(src))
	end := min(at.end-1, len(src))
	switch {
	case at.end == 0:
		end = start + wordLen(src[start:])
	case at.end < at.col:
		end = len(strings.TrimRight(src, " \t"))
	}
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, src[:start])
	carets := strings.Repeat("^", max(1, utf8.RuneCountInString(src[start:max(start, end)])))
	return append(list, strings.Repeat(" ", utf8.RuneCountInString(number))+pad+bold(carets))
}

// wordLen returns the length of the token that text starts with.
func wordLen(text string) int {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), []byte(text), func(token.Position, string) {}, 0)
	_, tok, lit := s.Scan()
	if tok.IsOperator() {
		return len(tok.String())
	}
	return len(lit)
}

// marked returns the span of a mark: an operation, by its operator, bracket or name, or
// a statement in which several may fail.
func (s *Session) marked(m mark) span {
	cell, line, col := m.place()
	at := span{line: line, col: col}
	s.inspect(cell, line, func(fset *token.FileSet, n ast.Node) bool {
		pos, end := operator(n), token.NoPos
		if m.whole {
			pos, end = statement(n)
		} else if n != nil {
			end = n.End()
		}
		p := fset.Position(pos)
		if p.Line != line || p.Column != col {
			return true
		}
		if !m.whole {
			pos = n.Pos()
		}
		at = between(fset, pos, end)
		return false
	})
	return at
}

// inspect calls f for the nodes of the part of a cell that contains the line, outer
// ones first, until f returns false.
func (s *Session) inspect(cell, line int, f func(*token.FileSet, ast.Node) bool) {
	s.mu.Lock()
	code := s.code[cell]
	s.mu.Unlock()
	for _, it := range split(withoutMagics(code)).items {
		if it.line > line || it.line+strings.Count(it.text, "\n") < line {
			continue
		}
		head, tail := "package main;", "\n"
		if it.kind == itemStatement {
			head, tail = "package main;func _(){", "\n}\n"
		}
		fset := token.NewFileSet()
		file, _ := parser.ParseFile(fset, "", head+fmt.Sprintf("/*line :%d:%d*/", it.line, it.col)+it.text+tail, parseMode)
		if file == nil {
			continue
		}
		going := true
		ast.Inspect(file, func(n ast.Node) bool {
			going = going && f(fset, n)
			return going
		})
		if !going {
			return
		}
	}
}

// statement returns the start and end of a statement without its body.
func statement(n ast.Node) (pos, end token.Pos) {
	st, ok := n.(ast.Stmt)
	if !ok {
		return token.NoPos, token.NoPos
	}
	end = st.End()
	switch st := st.(type) {
	case *ast.BlockStmt, *ast.LabeledStmt, *ast.CaseClause, *ast.CommClause:
		return token.NoPos, token.NoPos
	case *ast.IfStmt:
		end = st.Cond.End()
	case *ast.ForStmt:
		end = st.Body.Lbrace
	case *ast.RangeStmt:
		end = st.X.End()
	case *ast.SwitchStmt:
		end = st.Body.Lbrace
	case *ast.TypeSwitchStmt:
		end = st.Assign.End()
	case *ast.SelectStmt:
		end = st.Body.Lbrace
	}
	return st.Pos(), end
}

// operator returns the position of an operation's mark.
func operator(n ast.Node) token.Pos {
	switch n := n.(type) {
	case *ast.CallExpr:
		switch f := ast.Unparen(n.Fun).(type) {
		case *ast.SelectorExpr:
			return f.Sel.Pos()
		case *ast.FuncLit:
			return token.NoPos // a call of several lines is marked elsewhere
		default:
			return f.Pos()
		}
	case *ast.IndexExpr:
		return n.Lbrack
	case *ast.SliceExpr:
		return n.Lbrack
	case *ast.StarExpr:
		return n.Star
	case *ast.TypeAssertExpr:
		return n.Lparen
	case *ast.SelectorExpr:
		return n.Sel.Pos()
	case *ast.BinaryExpr:
		return n.OpPos
	case *ast.UnaryExpr:
		return n.OpPos
	case *ast.SendStmt:
		return n.Pos()
	}
	return token.NoPos
}

// withoutMagics blanks the lines of a cell that are not Go.
func withoutMagics(code string) string {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "%") || strings.HasPrefix(t, "!") {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}
