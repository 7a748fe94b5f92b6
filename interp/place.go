package interp

import (
	"go/ast"
	"go/token"
	"slices"

	"halfnote/interp/engine"
)

// declPlace is the location of a declaration's text in the engine's file set.
type declPlace struct {
	base, end token.Pos
	src       *source
	line, col int // place in its cell when it was compiled
}

// marking reports whether the engine finds places only by marks.
func (s *Session) marking() bool { return slices.Contains(s.engine.Needs().Rewrites, "mark") }

// notePlaces records the places of a cell's declarations, for an engine that knows the
// positions of the calls in a panic.
func (s *Session) notePlaces(c *cell) {
	for _, f := range c.decls {
		base := token.Pos(f.tok.Base())
		s.places = append(s.places, declPlace{base, base + token.Pos(f.tok.Size()), f.src, f.src.item.line, f.src.item.col})
	}
	slices.SortStableFunc(s.places, func(a, b declPlace) int { return int(a.base - b.base) })
}

// markOf finds the mark of a call, or makes one from its position.
func (s *Session) markOf(f engine.Frame) (m mark, ok bool) {
	switch {
	case f.Mark > 0 && f.Mark <= len(s.marks):
		return s.marks[f.Mark-1], true
	case f.Pos.IsValid():
		m = s.markFrom(f.Pos)
		m.whole = s.marked(m).end == 0 && !s.atLiteral(m) // the place is not that of an operation
		return m, true
	}
	return m, false
}

// markFrom makes a mark from a position.
func (s *Session) markFrom(pos token.Pos) mark {
	at := s.engine.Files().Position(pos)
	if f := s.packages.file(at.Filename); f != nil {
		return mark{file: f, line: at.Line, col: at.Column}
	}
	i, found := slices.BinarySearchFunc(s.places, pos, func(p declPlace, pos token.Pos) int {
		if p.end < pos {
			return -1
		}
		if pos < p.base {
			return 1
		}
		return 0
	})
	if !found {
		return mark{cell: cellOf(at.Filename), line: at.Line, col: at.Column}
	}
	p := s.places[i]
	m := mark{src: p.src, line: at.Line - p.line, col: at.Column}
	if m.line == 0 {
		m.col -= p.col
	}
	return m
}

// atLiteral reports whether the mark is at a function literal, whose call is an
// operation.
func (s *Session) atLiteral(m mark) bool {
	cell, line, col := m.place()
	found := false
	s.inspect(cell, line, func(fset *token.FileSet, n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			at := fset.Position(lit.Pos())
			found = found || at.Line == line && at.Column == col
		}
		return !found
	})
	return found
}
