package syntax

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

	"halfnote/interp/internal/ansi"
)

// Span is a part of a line of a cell: from line and col to before end, in bytes. An end
// of 0 means the end of the word at col; one before col means the end of the line.
type Span struct{ Line, Col, End int }

// SpanOf returns the span of an error of the type checker. The checker does not export
// it; a test guards the fields' names.
func SpanOf(e types.Error) Span {
	at := e.Fset.Position(e.Pos)
	v := reflect.ValueOf(e)
	from, to := v.FieldByName("go116start"), v.FieldByName("go116end")
	if !from.IsValid() || !to.IsValid() || from.Int() >= to.Int() {
		return Span{Line: at.Line, Col: at.Column}
	}
	return Between(e.Fset, token.Pos(from.Int()), token.Pos(to.Int()))
}

// Between returns the span between two positions. If they are on different lines, it is
// limited to the first.
func Between(fset *token.FileSet, from, to token.Pos) Span {
	a, b := fset.Position(from), fset.Position(to)
	if a.Line != b.Line {
		return Span{a.Line, a.Column, -1}
	}
	return Span{a.Line, a.Column, b.Column}
}

// widest is the number of bytes that are shown of a line.
const widest = 1000

// Underlined shows a line of a text, with a span of it underlined.
func Underlined(code string, at Span) []string {
	text := strings.Split(code, "\n")
	if at.Line < 1 || at.Line > len(text) {
		return nil
	}
	src := strings.TrimRight(text[at.Line-1], "\r")
	number := fmt.Sprintf("%5d | ", at.Line)
	list := []string{ansi.Dim(number) + src}
	if at.Col < 1 {
		return list
	}
	start := min(at.Col-1, len(src))
	end := min(at.End-1, len(src))
	switch {
	case at.End == 0:
		end = start + wordLen(src[start:])
	case at.End < at.Col:
		end = len(strings.TrimRight(src, " \t"))
	}
	if len(src) > widest {
		from := max(0, start-widest/2)
		to := min(from+widest, len(src))
		src = "…" + strings.ToValidUTF8(src[from:to], "") + "…"
		list[0] = ansi.Dim(number) + src
		start, end = min(start-from+len("…"), len(src)), min(end-from+len("…"), len(src))
	}
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, src[:start])
	carets := strings.Repeat("^", max(1, utf8.RuneCountInString(src[start:max(start, end)])))
	return append(list, strings.Repeat(" ", utf8.RuneCountInString(number))+pad+ansi.Bold(carets))
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

// Head returns the start and end of a statement without its body.
func Head(n ast.Node) (pos, end token.Pos) {
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

// Operator returns the position of an operation's mark.
func Operator(n ast.Node) token.Pos {
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

// Holds reports whether a position is in the span.
func (at Span) Holds(p token.Position) bool {
	return p.Line == at.Line && p.Column >= at.Col && (p.Column < at.End || at.End < at.Col)
}

// Inspect calls f for the nodes of the part of a cell's code that contains the line, outer
// ones first, until f returns false.
func Inspect(code string, line int, f func(*token.FileSet, ast.Node) bool) {
	for _, it := range Split(withoutMagics(code)).Items {
		if it.Line > line || it.Line+strings.Count(it.Text, "\n") < line {
			continue
		}
		head, tail := "package main;", "\n"
		if it.Kind == Statement {
			head, tail = "package main;func _(){", "\n}\n"
		}
		fset := token.NewFileSet()
		file, _ := parser.ParseFile(fset, "", head+fmt.Sprintf("/*line :%d:%d*/", it.Line, it.Col)+it.Text+tail, ParseMode)
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
