package places

import (
	"go/ast"
	"go/token"
	"slices"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/syntax"
)

// declaration is the place of a declaration's text in the engine's file set.
type declaration struct {
	base, end token.Pos
	src       *front.Source
	line, col int // place in its cell when it was compiled
}

// NoteDeclarations records the places of a cell's declarations, for an engine that knows
// positions in a panic.
func (p *Places) NoteDeclarations(c *front.Checked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range c.Decls {
		base := token.Pos(f.Tok.Base())
		i, _ := slices.BinarySearchFunc(p.decls, base, func(d declaration, base token.Pos) int { return int(d.base - base) })
		p.decls = slices.Insert(p.decls, i, declaration{base, base + token.Pos(f.Tok.Size()), f.Src, f.Src.Item.Line, f.Src.Item.Col})
	}
}

// Of returns the mark of a call, or makes one from its position. ok is false for a call without a
// place.
func (p *Places) Of(f engine.Frame) (m Place, ok bool) {
	p.mu.Lock()
	noted := f.Mark > 0 && f.Mark <= len(p.marks)
	switch {
	case noted:
		m = p.marks[f.Mark-1]
	case f.Pos.IsValid():
		m = p.from(f.Pos)
	}
	var operand Place
	if noted && m.Whole && f.Pos.IsValid() {
		operand = p.from(f.Pos)
	}
	p.mu.Unlock()
	if operand.line > 0 || operand.src != nil {
		m = p.withOperand(m, operand)
	}
	if !noted && f.Pos.IsValid() {
		m.Whole = p.Span(m).End == 0 && !p.atLiteral(m) // the place is not that of an operation
	}
	return m, noted || f.Pos.IsValid()
}

// withOperand returns the mark of the index, slice or shift of a marked statement that has an operand at a place, or the
// mark of the statement itself.
func (p *Places) withOperand(m, operand Place) Place {
	cell, line, col := operand.Where()
	if of, first, _ := m.Where(); of != cell || first > line {
		return m
	}
	p.Inspect(cell, line, func(fset *token.FileSet, n ast.Node) bool {
		var operands []ast.Expr
		switch x := n.(type) {
		case *ast.IndexExpr:
			operands = []ast.Expr{x.Index}
		case *ast.SliceExpr:
			operands = []ast.Expr{x.Low, x.High, x.Max}
		case *ast.BinaryExpr:
			operands = []ast.Expr{x.Y}
		}
		for _, e := range operands {
			if e == nil {
				continue
			}
			if at := fset.Position(e.Pos()); at.Line == line && at.Column == col {
				pos := fset.Position(syntax.Operator(n))
				operand.line += pos.Line - line
				operand.col += pos.Column - col
				operand.fn, operand.again, operand.Kept, operand.File = m.fn, m.again, m.Kept, m.File
				m = operand
				return false
			}
		}
		return true
	})
	return m
}

// from makes a mark from a position. mu must be held.
func (p *Places) from(pos token.Pos) Place {
	at := p.files.Position(pos)
	if f := p.packages.File(at.Filename); f != nil {
		return Place{File: f, line: at.Line, col: at.Column}
	}
	i, found := slices.BinarySearchFunc(p.decls, pos, func(d declaration, pos token.Pos) int {
		if d.end < pos {
			return -1
		}
		if pos < d.base {
			return 1
		}
		return 0
	})
	if !found {
		return Place{cell: syntax.CellOf(at.Filename), line: at.Line, col: at.Column}
	}
	d := p.decls[i]
	m := Place{src: d.src, line: at.Line - d.line, col: at.Column}
	if m.line == 0 {
		m.col -= d.col
	}
	return m
}

// atLiteral reports whether the mark is at a function literal, whose call is an
// operation.
func (p *Places) atLiteral(m Place) bool {
	cell, line, col := m.Where()
	found := false
	p.Inspect(cell, line, func(fset *token.FileSet, n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			at := fset.Position(lit.Pos())
			found = found || at.Line == line && at.Column == col
		}
		return !found
	})
	return found
}

// Span returns the span of a mark: an operation, by its operator, bracket or name, or
// a statement in which several may fail.
func (p *Places) Span(m Place) syntax.Span {
	cell, line, col := m.Where()
	at := syntax.Span{Line: line, Col: col}
	p.Inspect(cell, line, func(fset *token.FileSet, n ast.Node) bool {
		pos, end := syntax.Operator(n), token.NoPos
		if m.Whole {
			pos, end = syntax.Head(n)
		} else if n != nil {
			end = n.End()
		}
		start := fset.Position(pos)
		if start.Line != line || start.Column != col {
			return true
		}
		if !m.Whole {
			pos = n.Pos()
		}
		at = syntax.Between(fset, pos, end)
		return false
	})
	return at
}

// Inspect calls f for the nodes of the part of a cell that contains the line, outer
// ones first, until f returns false.
func (p *Places) Inspect(cell, line int, f func(*token.FileSet, ast.Node) bool) {
	code, _ := p.history.Source(cell)
	syntax.Inspect(code, line, f)
}

// Excerpt shows a line of a cell, with a span of it underlined. It returns nil if the source of the cell is not
// kept.
func (p *Places) Excerpt(cell int, at syntax.Span) []string {
	code, ok := p.history.Source(cell)
	if !ok {
		return nil
	}
	return syntax.Underlined(code, at)
}
