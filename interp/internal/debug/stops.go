package debug

import (
	"go/token"
	"strings"

	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// Insert inserts stops into the unit of a cell.
func (d *Debugger) Insert(c *front.Lowering, u *lower.Unit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	type line struct {
		file, line int
		function   string
		literal    bool
	}
	seen := map[line]bool{}
	pkg := assist.Package{Package: u.Pkg}
	if u.Pkg == c.Pkg {
		pkg.Find = c.Find
	}
	u.Stops(func(at lower.Stop) int {
		cell, n := d.session.Place(c.Checked, at.Pos)
		here := line{cell, n, at.Func, at.Literal}
		function := c.Labels[at.Func]
		if at.Literal {
			function += " (function literal)"
		}
		if at.Func == c.Entry() {
			function = strings.TrimSpace(syntax.Label(cell) + function)
		}
		x := Stop{
			Cell: cell, Line: n, to: n + lines(c.Session.Fset, at.Pos, at.End), begins: !seen[here], Func: at.Func, Literal: at.Literal, Outer: at.Func == c.Entry() && !at.Literal,
			Function: function, vars: at.Vars, pkg: pkg,
		}
		x.Code, _ = d.history.Source(cell)
		seen[here] = true
		d.stops = append(d.stops, x)
		return len(d.stops) - 1
	})
}

// lines returns the number of lines between two positions.
func lines(fset *token.FileSet, from, to token.Pos) int {
	return max(0, fset.Position(to).Line-fset.Position(from).Line)
}
