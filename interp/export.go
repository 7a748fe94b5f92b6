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

// Ran is a cell of a notebook, as it was run.
type Ran struct {
	Code  string
	Count int // the n of In[n]
	// Failed names the error that it ended with, "" for none.
	Failed string
	// Shown: it has shown the value of its last expression, which later cells may
	// name.
	Shown bool
}

// Export writes cells, in the order in which they were run, as one Go program that
// prints the same. Every variable of a cell is one of the package, the statements of
// each cell are a function, and what a cell declares again gets a name of its own,
// with the versions that depend on it. Cells that failed are comments, as magics are
// that mean nothing in a program; of those that panicked the declarations stay. The
// error says what there is no program for; a program that comes with it does not
// compile.
func Export(cells []Ran) ([]byte, error) {
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

// formatted returns a program as gofmt writes it, with an error as it is.
func formatted(src []byte) ([]byte, error) {
	out, err := format.Source(src)
	if err != nil {
		return src, fmt.Errorf("interp: export: the program is not Go: %w", err)
	}
	return out, nil
}

// exporter takes cells through the first steps of a session, which say what every
// name in them means, and writes them with names that mean one thing each.
type exporter struct {
	s     *Session
	parts []*part
	words map[string]bool   // identifiers of the cells
	paths map[string]string // import paths by alias

	hooks    map[string][]string // variables through which functions are called, and the functions, in turn
	hookType map[string]string
	bodies   map[string]int // how many bodies a method has, by its hook

	outType map[string]string // variables for the values of cells
	outUsed map[string]bool
}

// part is a cell, or what stands between two magics of it.
type part struct {
	cell    int
	note    string // a comment
	decls   []exportedDecl
	vars    []string // declarations
	start   [][2]string
	body    []exportedStmt
	isTimed bool
}

// exportedDecl is a declaration. A method whose body later cells replace is one that
// calls a variable.
type exportedDecl struct {
	text    string
	hook    string // of a method
	through []ast.Decl
	set     [2]string // the hook and the body
	comment string
}

// exportedStmt is a statement, or an expression whose value is shown.
type exportedStmt struct {
	text string
	show string // "", or the function that shows the value
	out  string // the variable for the value
}

// cell adds a cell to the program.
func (x *exporter) cell(c Ran) error {
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
		case "", "%%time", "%time", "%%timeout":
			p := &part{cell: c.Count, isTimed: strings.HasSuffix(g.magic, "%time")}
			if err := x.goPart(p, g.code, c); err != nil {
				return err
			}
		default:
			text := g.magic + " " + g.args
			if g.magic == "!" {
				text = strings.TrimSpace(g.variable + " " + g.assign + " " + g.magic + g.args)
			}
			x.note(c.Count, "In[%d] has a magic that means nothing in a program: %s", c.Count, strings.TrimSpace(text)+"\n"+g.body)
		}
	}
	return nil
}

// note adds a comment; lines below the first one of it are source.
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

// goPart adds the Go of a cell.
func (x *exporter) goPart(p *part, code string, ran Ran) error {
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
	t := x.translation(c) // what bind changes is noted before
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

// keep gives the value that a cell shows a variable, as keepOutput does.
func (x *exporter) keep(c *cell, t types.Type) (name string, err error) {
	name = fmt.Sprintf("Out__%d", c.n)
	b := &binding{name: name, check: name, kind: kindVar, cell: c.n, seq: c.seq, slot: name, paths: map[string]bool{}}
	if b.decls, err = header(types.NewVar(token.NoPos, c.pkg, name, t), checkNames(c.pkg, c.bindingOf, b.paths)); err != nil {
		return "", nil // it is not kept in a session either
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

// typeText writes a type with the names of the session and of packages' aliases.
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

// alias returns what stands for a package's name until the program is put together.
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

// nowhere takes the output of cells that do not run.
type nowhere struct{}

func (nowhere) Stdout() io.Writer      { return io.Discard }
func (nowhere) Stderr() io.Writer      { return io.Discard }
func (nowhere) Display(display.Bundle) {}
func (nowhere) Update(display.Bundle)  {}
func (nowhere) Clear(bool)             {}
