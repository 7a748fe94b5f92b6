package library

import "go/types"

// Source returns the text of the declaration that contains o, and the text of its file
// with the line of o's name; all are empty if o's package was not read from source.
func (l *Loader) Source(o types.Object) (decl, file string, line int) {
	if o.Pkg() == nil {
		return "", "", 0
	}
	p := l.Loaded(o.Pkg().Path())
	if p == nil || p.Types != o.Pkg() {
		return "", "", 0
	}
	at := l.files.PositionFor(o.Pos(), false)
	file = p.Text[at.Filename]
	for _, f := range p.Files {
		for _, d := range f.Decls {
			if d.Pos() <= o.Pos() && o.Pos() < d.End() {
				from, to := l.files.PositionFor(d.Pos(), false).Offset, l.files.PositionFor(d.End(), false).Offset
				decl = file[from:to]
			}
		}
	}
	return decl, file, at.Line
}
