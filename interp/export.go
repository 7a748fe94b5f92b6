package interp

import (
	"context"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"io"
	"strings"

	"halfnote/display"
	"halfnote/interp/internal/exports"
	"halfnote/interp/lower"
	"halfnote/kernel"
)

// ExecutedCell is a cell of a notebook that has been run.
type ExecutedCell struct {
	Code  string
	Count int // number n of In[n]
	// Failed is the name of the error that ended it, or "".
	Failed string
	// Shown reports whether it showed the value of its last expression, which later
	// cells may name.
	Shown bool
}

// Export writes cells, in the order in which they were run, as one Go program with the same
// output. Every variable of a cell becomes a package variable, and the statements of each
// cell become a function. A redeclaration gets a separate name, and so do the versions that
// depend on it. Cells that failed become comments, as do magics without a meaning in a
// program; the declarations of cells that panicked stay. An error names the code that
// cannot be exported; a program returned with an error does not compile.
func Export(cells []ExecutedCell) ([]byte, error) {
	s, err := NewSession(Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	x := &exporter{s: s, paths: map[string]string{}, words: map[string]bool{}, hookType: map[string]string{},
		hooks: map[string][]string{}, bodies: map[string]int{}, outType: map[string]string{}, outUsed: map[string]bool{}}
	for _, c := range cells {
		if err := x.cell(c); err != nil {
			return nil, err
		}
	}
	src, err := formatted([]byte(x.program()))
	if err != nil {
		return src, err
	}
	return s.useAll(src)
}

// formatted returns a program in gofmt's format; with an error, the program is
// unchanged.
func formatted(src []byte) ([]byte, error) {
	out, err := format.Source(src)
	if err != nil {
		return src, fmt.Errorf("interp: export: the program does not parse: %w", err)
	}
	return out, nil
}

// exporter takes cells through the first steps of a session, which resolve every name
// in them, and writes them with unambiguous names.
type exporter struct {
	s     *Session
	parts []*part
	words map[string]bool   // identifiers in the cells
	paths map[string]string // import paths by alias

	hooks    map[string][]string // function variables, and the functions that each holds in turn
	hookType map[string]string
	bodies   map[string]int // number of bodies of a method, by its hook

	depth int // of files that run files

	outType map[string]string // types of the variables for cell values
	outUsed map[string]bool
}

// part is a cell, or the code between two magics of one.
type part struct {
	cell    int
	note    string // a comment
	decls   []exportedDecl
	vars    []string // declarations
	start   [][2]string
	body    []exportedStmt
	isTimed bool
}

// exportedDecl is a declaration. A method whose body is replaced by a later cell calls
// through a variable.
type exportedDecl struct {
	text    string
	hook    string // hook of a method
	through []ast.Decl
	set     [2]string // the hook and its body
	comment string
}

// exportedStmt is a statement, or an expression whose value is shown.
type exportedStmt struct {
	text string
	show string // the function that shows the value, or ""
	out  string // the variable for the value
}

// cell adds a cell to the program.
func (x *exporter) cell(c ExecutedCell) error {
	if _, ok := x.s.help(c.Code); ok {
		x.note(c.Count, "In[%d] asked for help: %s", c.Count, strings.TrimSpace(c.Code))
		return nil
	}
	scan(c.Code, func(tok token.Token, lit string) {
		if tok == token.IDENT {
			x.words[lit] = true
		}
	}, func(string) {})
	for _, g := range segments(c.Code, x.s.isValue) {
		switch g.magic {
		case "", "%%time", "%time", "%%timeout", "%%capture", "%prun", "%%prun", "%%debug":
			p := &part{cell: c.Count, isTimed: strings.HasSuffix(g.magic, "%time")}
			if err := x.goPart(p, g.code, c); err != nil {
				return err
			}
		case "%run":
			if err := x.file(c, g.args); err != nil {
				return err
			}
		default:
			text := g.magic + " " + g.args
			if g.magic == "!" {
				text = strings.TrimSpace(g.variable + " " + g.assign + " " + g.magic + g.args)
			}
			x.note(c.Count, "In[%d] has a magic with no meaning in a program: %s", c.Count, strings.TrimSpace(text)+"\n"+g.body)
		}
	}
	return nil
}

// file adds the cells of a file that a cell ran with %run.
func (x *exporter) file(c ExecutedCell, name string) error {
	if c.Failed != "" {
		x.note(c.Count, "In[%d] failed: %%run %s", c.Count, name)
		return nil
	}
	cells, err := sourceCells(expandHome(name))
	if err != nil {
		return fmt.Errorf("interp: export: In[%d]: %%run %s: %w", c.Count, name, err)
	}
	if x.depth++; x.depth > 100 {
		return fmt.Errorf("interp: export: In[%d]: %%run %s: the file runs itself", c.Count, name)
	}
	defer func() { x.depth-- }()
	for _, code := range cells {
		code += "\n;" // their values are not shown
		if err := x.cell(ExecutedCell{Code: code, Count: c.Count}); err != nil {
			return err
		}
	}
	return nil
}

// note adds a comment; all lines but the first are source code.
func (x *exporter) note(cell int, format string, args ...any) {
	x.parts = append(x.parts, &part{cell: cell, note: commented(fmt.Sprintf(format, args...))})
}

func commented(text string) string {
	first, rest, _ := strings.Cut(strings.TrimRight(text, "\n"), "\n")
	var b strings.Builder
	b.WriteString("// " + first + "\n")
	for line := range strings.Lines(rest) {
		b.WriteString(strings.TrimRight("//\t"+strings.TrimRight(line, "\n"), "\t") + "\n")
	}
	return b.String()
}

// goPart adds the Go code of a cell.
func (x *exporter) goPart(p *part, code string, ran ExecutedCell) error {
	s := x.s
	c := s.newCell(context.Background(), kernel.Cell{Code: code, Count: ran.Count}, nowhere{})
	source := strings.Trim(code, "\n")
	err := s.split(c)
	if err == nil {
		err = s.check(c)
	}
	if err != nil {
		s.mu.Lock()
		c.restore()
		s.mu.Unlock()
		r, ok := err.(*rejected)
		if !ok {
			return err
		}
		x.note(ran.Count, "In[%d] is left out, because it is not valid: %s\n%s", ran.Count, r.problems[0].msg, source)
		return nil
	}
	if ran.Failed == "CompileError" || ran.Failed == "Unsupported" {
		x.note(ran.Count, "In[%d] is left out, because it was rejected: %s\n%s", ran.Count, ran.Failed, source)
		return nil
	}
	if c.outs[inName] != nil {
		x.note(ran.Count, "In[%d] is left out, because a program has no In:\n%s", ran.Count, source)
		return nil
	}
	t := x.translation(c) // records names before bind changes them
	if err := s.bind(c); err != nil {
		return err
	}
	for name := range c.outs {
		x.outUsed[name] = true
	}
	if err := t.declare(p); err != nil {
		return err
	}
	if ran.Failed != "" {
		p.note = commented(fmt.Sprintf("In[%d] ended with %s: its declarations are kept, its statements are left out.\n%s", ran.Count, ran.Failed, source))
	} else if err := t.statements(p, ran.Shown); err != nil {
		return err
	}
	s.mu.Lock()
	s.commit(c)
	s.mu.Unlock()
	x.parts = append(x.parts, p)
	return nil
}

// keep assigns the value that a cell shows to a variable, as keepOutput does.
func (x *exporter) keep(c *cell, t types.Type) (name string, err error) {
	name = fmt.Sprintf("Out__%d", c.n)
	b := &binding{name: name, check: name, kind: kindVar, cell: c.n, seq: c.seq, slot: name, paths: map[string]bool{}}
	if b.decls, err = header(types.NewVar(token.NoPos, c.pkg, name, t), checkNames(c.pkg, c.bindingOf, b.paths)); err != nil {
		return "", nil // a session does not keep it either
	}
	for _, d := range b.decls {
		locate(d, c.ground)
	}
	o := &x.s.outs
	x.s.dropOutputs(func(v keptValue) bool { return v.cell == c.n })
	o.kept = append(o.kept, keptValue{b, false})
	o.last = append([]int{c.n}, o.last[:min(2, len(o.last))]...)
	x.outType[name], err = x.typeText(c, t)
	return name, err
}

// typeText writes a type with the names of the session and the aliases of packages.
func (x *exporter) typeText(c *cell, t types.Type) (string, error) {
	paths := map[string]bool{}
	e, err := lower.TypeExpr(t, func(o *types.TypeName) (ast.Expr, error) {
		if b := c.bindingOf(o); b != nil {
			return ast.NewIdent(b.slot), nil
		}
		if e, err := foreign(c.pkg, o, paths); e != nil || err != nil {
			return e, err
		}
		return ast.NewIdent(o.Name()), nil
	})
	for path := range paths {
		x.alias(path)
	}
	if err != nil {
		return "", fmt.Errorf("interp: export: In[%d]: %w", c.n, err)
	}
	return lower.Print(e), nil
}

// alias returns the placeholder for a package's name until the program is assembled.
func (x *exporter) alias(path string) string {
	a := alias(path)
	x.paths[a] = path
	return a
}

// packageName returns the name of the package at a path.
func (x *exporter) packageName(path string) string {
	if name := exports.Name(path); name != "" {
		return name
	}
	if pkg, err := x.s.importer.Import(path); err == nil {
		return pkg.Name()
	}
	return path[strings.LastIndex(path, "/")+1:]
}

// nowhere discards the output of cells that do not run.
type nowhere struct{}

func (nowhere) Stdout() io.Writer      { return io.Discard }
func (nowhere) Stderr() io.Writer      { return io.Discard }
func (nowhere) Display(display.Bundle) {}
func (nowhere) Update(display.Bundle)  {}
func (nowhere) Clear(bool)             {}
