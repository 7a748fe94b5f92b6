// Package places knows where in the cells the code of units comes from. Lowering marks the operations that
// may fail; for a mark, or for a position in the engine's files, the package finds the cell, its line and the
// text, and for a function of the engine the name that users see.
package places

import (
	"fmt"
	"go/token"
	"iter"
	"maps"
	"slices"
	"sync"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/history"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// Places holds the places of one session. Its methods may be called concurrently.
type Places struct {
	history *history.History

	mu       sync.Mutex
	files    *token.FileSet // of the engine
	packages *front.Packages
	marks    []Place           // by number, from 1
	decls    []declaration     // by position
	labels   map[string]string // functions as users see them, by their names in the engine
	lines    map[[2]int]string // texts of Line, by cell and line
}

// New returns places that find the sources of cells in a history.
func New(h *history.History) *Places { return &Places{history: h} }

// Reset forgets all marks. Positions are now those of files and packages.
func (p *Places) Reset(files *token.FileSet, packages *front.Packages) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files, p.packages = files, packages
	p.marks, p.decls, p.labels = nil, nil, map[string]string{}
}

// Place is a place in a cell that may fail, where lowering has put a mark. In a declaration it is relative to the
// declaration's start, because the cell may be run again under another number.
type Place struct {
	src       *front.Source     // nil in statements
	File      *front.SourceFile // file of a package that is run from source, otherwise nil
	cell      int
	line, col int
	fn        string       // engine name of the function that contains the mark
	Whole     bool         // a statement, not one operation
	again     string       // engine name of the function, if it may call itself there
	Kept      []lower.Kept // variables whose values are kept there
}

// Where returns the cell, line and column of the place. The cell is 0 in the file of a package.
func (m Place) Where() (cell, line, col int) {
	if m.src == nil {
		return m.cell, m.line, m.col
	}
	if m.line == 0 {
		return m.src.Cell, m.src.Item.Line, m.src.Item.Col + m.col
	}
	return m.src.Cell, m.src.Item.Line + m.line, m.col
}

// At returns the place of a mark of a unit.
func (p *Places) At(c *front.Checked, m lower.Mark) Place {
	at := c.Session.Fset.Position(m.Pos)
	r := Place{line: at.Line, col: at.Column, fn: m.Func, Whole: m.Whole, again: m.Again, Kept: m.Kept}
	if r.File = c.Session.Packages.File(at.Filename); r.File != nil {
		return r
	}
	if f := c.Declaration(m.Pos); f != nil {
		r.src = f.Src
		if r.line -= f.Src.Item.Line; r.line == 0 {
			r.col -= f.Src.Item.Col
		}
		return r
	}
	r.cell = syntax.CellOf(at.Filename)
	return r
}

// Note records the marks of a unit, and returns the number of earlier marks.
func (p *Places) Note(c *front.Checked, list []lower.Mark) (base int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	base = len(p.marks)
	for _, m := range list {
		p.marks = append(p.marks, p.At(c, m))
	}
	return base
}

// Len returns the number of marks.
func (p *Places) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.marks)
}

// Forget forgets the marks from base on.
func (p *Places) Forget(base int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.marks = p.marks[:base]
}

// AddLabels records the names of functions as users see them, by their names in the engine.
func (p *Places) AddLabels(labels map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.labels, labels)
}

// DropLabel forgets the name of a function.
func (p *Places) DropLabel(function string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.labels, function)
}

// Label returns the name of a function of cells as users see it, which is "" for the statements of a cell. ok
// is false for other functions.
func (p *Places) Label(function string) (label string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	label, ok = p.labels[function]
	return label, ok
}

// Labels returns the names of all functions, by their names in the engine. The map changes when functions are
// added.
func (p *Places) Labels() map[string]string { return p.labels }

// Named returns frames with the names of their functions, also of those that are known by
// their marks.
func (p *Places) Named(frames []engine.Frame) []engine.Frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	frames = slices.Clone(frames)
	for i, f := range frames {
		if f.Func == "" && f.Mark > 0 && f.Mark <= len(p.marks) {
			frames[i].Func = p.marks[f.Mark-1].fn
		}
	}
	return frames
}

// Recursing lists the places from which a function may call itself: all active calls of
// it share one mark, that of the innermost.
func (p *Places) Recursing(function string) (list []Place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.marks {
		if m.again == function {
			list = append(list, m)
		}
	}
	return list
}

// Line returns the innermost line of a cell among the numbers of marks, innermost first, such as
// "In[3], line 5", or "".
func (p *Places) Line(marks iter.Seq[int]) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := range marks {
		if n > len(p.marks) {
			continue
		}
		m := p.marks[n-1]
		if m.File != nil {
			return fmt.Sprintf("%s, line %d", m.File.Name, m.line)
		}
		if cell, line, _ := m.Where(); cell != 0 {
			return p.lineText(cell, line)
		}
	}
	return ""
}

// lineText returns the label of a line, cached because every operation asks for it. mu must be held.
func (p *Places) lineText(cell, line int) string {
	at := [2]int{cell, line}
	text, ok := p.lines[at]
	if !ok {
		text = fmt.Sprintf("%s, line %d", syntax.Label(cell), line)
		if p.lines == nil {
			p.lines = map[[2]int]string{}
		}
		p.lines[at] = text
	}
	return text
}
