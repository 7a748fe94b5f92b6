package export

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/files"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/history"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// Program writes cells, in the order they ran, as one Go program that prints the same
// output. Every variable of a cell becomes a package variable, and the statements of each
// cell become a function. A redeclaration gets a separate name, and so do the versions that
// depend on it. Cells that failed become comments, as do magics without a meaning in a
// program; the declarations of cells that panicked stay. runs reports whether a magic runs its Go
// code once, as if the code stood alone. An error names the code that
// cannot be exported; a program returned with an error does not compile.
func Program(cells []history.Cell, runs func(magic string) bool) ([]byte, error) {
	x := &exporter{
		state: front.NewState(token.NewFileSet(), engine.Needs{}, exports.Importer()), env: front.NewEnv(), runs: runs,
		paths: map[string]string{}, words: map[string]bool{}, hookType: map[string]string{},
		hooks: map[string][]string{}, bodies: map[string]int{}, outType: map[string]string{}, outUsed: map[string]bool{},
	}
	for _, c := range cells {
		if err := x.cell(c); err != nil {
			return nil, err
		}
	}
	src, err := formatted([]byte(x.program()))
	if err != nil {
		return src, err
	}
	return useAll(src, x.state.Loader)
}

// formatted returns a program in gofmt's format; with an error, the program is
// unchanged.
func formatted(src []byte) ([]byte, error) {
	out, err := syntax.Format(src)
	if err != nil {
		return src, fmt.Errorf("interp: export: the program does not parse: %w", err)
	}
	return out, nil
}

// exporter takes cells through the first stages of the front end, which resolve every name
// in them, and writes them with unambiguous names.
type exporter struct {
	state *front.State
	env   *front.Env
	runs  func(magic string) bool
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
func (x *exporter) cell(c history.Cell) error {
	if _, _, ok := syntax.Question(c.Code); ok {
		x.note(c.Count, "In[%d] asked for help: %s", c.Count, strings.TrimSpace(c.Code))
		return nil
	}
	syntax.Scan(c.Code, func(tok token.Token, lit string) {
		if tok == token.IDENT {
			x.words[lit] = true
		}
	}, func(string) {})
	for _, g := range syntax.Segments(c.Code, x.env.IsValue) {
		switch {
		case g.Magic == "", x.runs(g.Magic):
			p := &part{cell: c.Count, isTimed: strings.HasSuffix(g.Magic, "%time")}
			if err := x.goPart(p, g.Code, c); err != nil {
				return err
			}
		case g.Magic == "%run":
			if err := x.file(c, g.Args); err != nil {
				return err
			}
		case g.Magic == "%%":
		case forgets[g.Magic] != nil:
			x.note(c.Count, "In[%d] forgets names: %s", c.Count, strings.TrimSpace(g.Magic+" "+g.Args))
			forgets[g.Magic](x, strings.Fields(g.Args))
		default:
			text := g.Magic + " " + g.Args
			if g.Magic == "!" {
				text = strings.TrimSpace(g.Variable + " " + g.Assign + " " + g.Magic + g.Args)
			}
			x.note(c.Count, "In[%d] has a magic with no meaning in a program: %s", c.Count, strings.TrimSpace(text)+"\n"+g.Body)
		}
	}
	return nil
}

// forgets are the magics that give names another meaning. Variables of the program stay: what is declared later gets a separate name.
var forgets = map[string]func(x *exporter, args []string){
	"%xdel": func(x *exporter, names []string) {
		if next, _, err := x.state.Forget(x.env, names); err == nil { // what the session refused has no effect
			x.env = next
		}
	},
	"%reset": func(x *exporter, args []string) {
		if len(args) == 0 {
			x.env = front.NewEnv()
			return
		}
		x.env = x.env.Clone()
		x.env.Drop(func(front.KeptValue) bool { return true })
		x.env.Last = nil
	},
}

// file adds the cells of a file that a cell ran with %run.
func (x *exporter) file(c history.Cell, name string) error {
	if c.Failed != "" {
		x.note(c.Count, "In[%d] failed: %%run %s", c.Count, name)
		return nil
	}
	cells, err := files.Cells(files.Path(name))
	if err != nil {
		return fmt.Errorf("interp: export: In[%d]: %%run %s: %w", c.Count, name, err)
	}
	if x.depth++; x.depth > 100 {
		return fmt.Errorf("interp: export: In[%d]: %%run %s: the file runs itself", c.Count, name)
	}
	defer func() { x.depth-- }()
	for _, code := range cells {
		code += "\n;" // their values are not shown
		if err := x.cell(history.Cell{Code: code, Count: c.Count}); err != nil {
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
func (x *exporter) goPart(p *part, code string, ran history.Cell) error {
	source := strings.Trim(code, "\n")
	k, err := x.check(x.state.Input(ran.Count, code, &front.Files{}, false))
	if err != nil {
		r, ok := err.(*syntax.Rejected)
		if !ok {
			return err
		}
		x.note(ran.Count, "In[%d] is left out, because it is not valid: %s\n%s", ran.Count, r.Problems[0].Msg, source)
		return nil
	}
	if ran.Failed == "CompileError" || ran.Failed == "Unsupported" {
		x.note(ran.Count, "In[%d] is left out, because it was rejected: %s\n%s", ran.Count, ran.Failed, source)
		return nil
	}
	if k.Outs[front.InName] != nil {
		x.note(ran.Count, "In[%d] is left out, because a program has no In:\n%s", ran.Count, source)
		return nil
	}
	t := x.translation(k) // records names before bind changes them
	c, err := k.Bind()
	if err != nil {
		return err
	}
	t.c = front.NewLowering(c, &front.Target{})
	for name := range c.Outs {
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
	x.state.Take(c.Slots)
	x.state.Accept(c, &t.c.Lowered)
	x.env = c.Env
	x.parts = append(x.parts, p)
	return nil
}

// check parses and type-checks a cell.
func (x *exporter) check(in front.Input) (*front.Checked, error) {
	p, err := front.Parse(in, x.env)
	if err != nil {
		return nil, err
	}
	k, err := p.Check(map[*front.Source]bool{})
	if err != nil {
		return nil, err
	}
	return k, k.Fits(0, "")
}

// keep assigns the value that a cell shows to a variable, as keepOutput does.
func (x *exporter) keep(c *front.Bound, t types.Type) (name string, err error) {
	name = fmt.Sprintf("Out__%d", c.N)
	b := &front.Binding{Name: name, Kind: front.KindVar, Made: c.N, Seq: c.Seq, Slot: name}
	h, err := c.Header(types.NewVar(token.NoPos, c.Pkg, name, t))
	if err != nil {
		return "", nil // a session does not keep it either
	}
	c.Env.Drop(func(v front.KeptValue) bool { return v.Made == c.N })
	c.Env.Keep(b, h, false)
	x.outType[name], err = x.typeText(c, t)
	return name, err
}

// typeText writes a type with the names of the session and the aliases of packages.
func (x *exporter) typeText(c *front.Bound, t types.Type) (string, error) {
	paths := map[string]bool{}
	e, err := lower.TypeExpr(t, func(o *types.TypeName) (ast.Expr, error) {
		if b := c.BindingOf(o); b != nil {
			return ast.NewIdent(b.Slot), nil
		}
		if e, err := front.Foreign(c.Pkg, o, paths); e != nil || err != nil {
			return e, err
		}
		return ast.NewIdent(o.Name()), nil
	})
	for path := range paths {
		x.alias(path)
	}
	if err != nil {
		return "", fmt.Errorf("interp: export: In[%d]: %w", c.N, err)
	}
	return lower.Print(e), nil
}

// alias returns the placeholder for a package's name until the program is assembled.
func (x *exporter) alias(path string) string {
	a := front.Alias(path)
	x.paths[a] = path
	return a
}

// packageName returns the name of the package at a path.
func (x *exporter) packageName(path string) string {
	if name := exports.Name(path); name != "" {
		return name
	}
	if pkg, err := x.state.Loader.Import(path); err == nil {
		return pkg.Name()
	}
	return path[strings.LastIndex(path, "/")+1:]
}
