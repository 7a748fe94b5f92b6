package front

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/hints"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// DeclFile is one declaration of a cell, parsed as a separate file with the imports in
// force where it was written.
type DeclFile struct {
	Src *Source
	*ast.File
	Tok  *token.File
	Skip int // length of the text before the declaration
	// Dependant reports whether the declaration is from an earlier cell and is compiled
	// again because something that it uses has changed.
	Dependant bool
}

// Parse cuts a cell into items and processes its imports.
func Parse(x Input, e *Env) (*Parsed, error) {
	c := &Parsed{Input: x, Pieces: syntax.Split(x.Code), Env: e.Clone()}
	if len(c.Pieces.Errs) > 0 {
		return nil, &syntax.Rejected{Name: "CompileError", Problems: hints.Python(c.Code, listed(syntax.In(c.N, c.Pieces.Errs)))}
	}
	var problems []syntax.Problem
	for _, it := range c.Pieces.Items {
		if it.Kind == syntax.Import {
			problems = append(problems, c.parseImport(it)...)
		}
	}
	if len(problems) > 0 {
		return nil, &syntax.Rejected{Name: "CompileError", Problems: hints.Python(c.Code, problems)}
	}
	c.orderVariables()
	return c, nil
}

// parse parses a declaration. The positions are those of its cell.
func (c *Parsed) parse(src *Source) (*DeclFile, error) {
	head := fmt.Sprintf("package main;/*line In[%d]:%d:%d*/", src.Cell, src.Item.Line, src.Item.Col)
	file, err := parser.ParseFile(c.Session.Fset, c.fileName(), head+src.Item.Text+"\n", syntax.ParseMode)
	if err != nil {
		return nil, err
	}
	f := &DeclFile{Src: src, File: file, Tok: c.Session.Fset.File(file.Package), Skip: len(head)}
	c.Files.Parsed = append(c.Files.Parsed, f)
	return f, nil
}

// StatementFile returns a file with the cell's statements in one function, and their
// offsets in it.
func (c *Parsed) StatementFile() (text string, starts []int) {
	var b strings.Builder
	fmt.Fprintf(&b, "package main;func %s(){\n", c.Entry())
	for _, it := range c.Pieces.Items {
		if it.Kind == syntax.Statement {
			fmt.Fprintf(&b, "/*line In[%d]:%d:%d*/", c.N, it.Line, it.Col)
			starts = append(starts, b.Len())
			b.WriteString(it.Text + "\n")
		}
	}
	b.WriteString("}\n")
	return b.String(), starts
}

// parseStatements parses the cell's statements as one function.
func (c *checker) parseStatements() error {
	text, _ := c.StatementFile()
	file, err := parser.ParseFile(c.Session.Fset, c.fileName(), text, syntax.ParseMode)
	if err != nil {
		return err
	}
	c.Stmts = &DeclFile{File: file, Tok: c.Session.Fset.File(file.Package)}
	c.Files.Parsed = append(c.Files.Parsed, c.Stmts)
	c.Body = file.Decls[0].(*ast.FuncDecl)
	return nil
}

// diagnose parses the items one by one, so that each mistake is reported at its place
// and does not hide those of other items.
func (c *Parsed) diagnose() []syntax.Problem {
	var list []syntax.Problem
	for _, it := range c.Pieces.Items {
		head, tail := "package main;", "\n"
		if it.Kind == syntax.Statement {
			head, tail = "package main;func _(){", "\n}\n"
		}
		head += fmt.Sprintf("/*line In[%d]:%d:%d*/", c.N, it.Line, it.Col)
		fset := token.NewFileSet()
		_, err := parser.ParseFile(fset, "", head+it.Text+tail, syntax.ParseMode)
		if err == nil {
			continue
		}
		for _, p := range syntax.Problems(err) {
			// Text missing at the end is reported at the next line; one error is
			// enough.
			lines := strings.Split(it.Text, "\n")
			last := it.Line + len(lines) - 1
			end := len(lines[len(lines)-1]) + 1
			if len(lines) == 1 {
				end += it.Col - 1
			}
			if p.Line > last || p.Line == last && p.Col >= end {
				if len(list) == 0 || list[len(list)-1].Line < it.Line {
					list = append(list, syntax.Problem{Cell: c.N, Line: last, Col: end, Msg: "the statement is not complete: " + strings.ReplaceAll(p.Msg, "found '}'", "found its end")})
				}
				break
			}
			p.Msg = syntax.Newer(p.Msg)
			list = append(list, p)
		}
		if len(list) > maxProblems {
			return listed(list)
		}
	}
	return list
}

// shallow refuses a tree that is nested too deeply.
func (c *Parsed) shallow(f *ast.File) error {
	deep := syntax.TooDeep(f)
	if !deep.IsValid() {
		return nil
	}
	at := c.Session.Fset.Position(deep)
	return &syntax.Rejected{Name: "CompileError", Problems: []syntax.Problem{{Cell: c.N, Line: at.Line, Col: at.Column, Msg: fmt.Sprintf(
		"nested too deeply, in more than %d levels of Go's syntax; give inner parts variables or functions of their own", syntax.MaxNesting)}}}
}

// bodies refuses a function without a body, which Go takes for one of an assembly file.
func (c *Parsed) bodies(f *DeclFile) error {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body == nil {
			at := c.Session.Fset.Position(d.Name.Pos())
			return &syntax.Rejected{Name: "CompileError", Problems: []syntax.Problem{{Cell: c.N, Line: at.Line, Col: at.Column, Msg: fmt.Sprintf("function %s has no body", d.Name.Name),
				Hint: "braces hold it: func f(x int) int { return x }"}}}
		}
	}
	return nil
}

// fileName returns a new, unique name for a file of the cell in the file set.
func (c *Input) fileName() string {
	c.Files.made++
	return fmt.Sprintf("cell__%d_%d", c.Seq, c.Files.made)
}

// Entry is the name of the function that holds the cell's statements.
func (c *Input) Entry() string { return fmt.Sprintf("cell__%d", c.Seq) }

// normal returns a declaration's text without comments and layout.
func normal(f *DeclFile) string {
	var b strings.Builder
	for _, d := range f.Decls {
		b.WriteString(lower.Print(d))
		b.WriteByte('\n')
	}
	return b.String()
}

// addImports declares the packages that the file's selectors may name: the imports in
// force, unless a name of the session hides them.
func (c *Parsed) addImports(f *DeclFile, hidden func(name string) bool) {
	d := &ast.GenDecl{Tok: token.IMPORT, Lparen: 1, Rparen: 1}
	seen := map[string]bool{}
	ast.Inspect(f.File, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok || seen[id.Name] {
			return true
		}
		seen[id.Name] = true
		if path := c.importPath(id.Name); path != "" && !hidden(id.Name) {
			d.Specs = append(d.Specs, importSpec(id.Name, path))
		}
		return true
	})
	f.Decls = append([]ast.Decl{d}, f.Decls...)
}

// pin gives package names in a declaration of an earlier cell the meaning that they had
// there.
func (c *Parsed) pin(f *DeclFile) {
	paths := map[string]bool{}
	ast.Inspect(f.File, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if path := f.Src.Pkgs[f.offset(id)]; path != "" {
				id.Name = Alias(path)
				paths[path] = true
			}
		}
		return true
	})
	f.Decls = append([]ast.Decl{ImportDecl(paths)}, f.Decls...)
}

// offset returns the offset of a node in the declaration's text.
func (f *DeclFile) offset(n ast.Node) int { return f.Tok.Offset(n.Pos()) - f.Skip }

// importPath returns the path that a package name denotes: an import of the session, or
// a preloaded package.
func (c *Parsed) importPath(name string) string {
	if p := c.Env.Imports[name]; p != "" {
		return p
	}
	return exports.Preloaded[name]
}

// parseImport reads an import declaration of the cell.
func (c *Parsed) parseImport(it syntax.Item) []syntax.Problem {
	fset := token.NewFileSet()
	head := fmt.Sprintf("package main;/*line In[%d]:%d:%d*/", c.N, it.Line, it.Col)
	f, err := parser.ParseFile(fset, "", head+it.Text+"\n", parser.ImportsOnly|parser.AllErrors)
	if err != nil {
		return syntax.Problems(err)
	}
	var list []syntax.Problem
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // already reported by the parser
		}
		if short := exports.Preloaded[path]; short != "" && !strings.Contains(path, "/") {
			if _, err := c.Session.Importer.Import(path); err != nil {
				path = short // import "tensor"
			}
		}
		if hint := hints.Refused(path); hint != "" {
			at := fset.Position(spec.Path.Pos())
			list = append(list, syntax.Problem{Cell: c.N, Line: at.Line, Col: at.Column, Msg: fmt.Sprintf("package %q works only in GoNB's kernel", path), Hint: hint})
			continue
		}
		var pkg *types.Package
		if err = exports.Importable(path); err == nil {
			pkg, err = c.Session.Importer.Import(path)
		} else if pkg, err = c.Session.Packages.use(path); err == nil {
			c.Imported = append(c.Imported, path)
		}
		if err != nil {
			at := fset.Position(spec.Path.Pos())
			list = append(list, syntax.Problem{Cell: c.N, Line: at.Line, Col: at.Column, Msg: strings.TrimPrefix(err.Error(), "exports: "), Hint: hints.Import(path)})
			continue
		}
		name := pkg.Name()
		if spec.Name != nil {
			name = spec.Name.Name
		}
		switch name {
		case "_":
		case ".":
			c.Env.Dots = append(c.Env.Dots, path)
		default:
			c.Env.Imports[name] = path
			if b := c.Env.Named(name); b != nil && b.Kind == KindType {
				c.Env.retire(b)
			} else {
				c.Env.hide(name)
			}
		}
	}
	return list
}
