package interp

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"halfnote/interp/internal/exports"
	"halfnote/interp/lower"
)

// declFile is one declaration of a cell, parsed as a separate file with the imports in
// force where it was written.
type declFile struct {
	src *source
	*ast.File
	tok  *token.File
	skip int // length of the text before the declaration
	// dependant reports whether the declaration is from an earlier cell and is compiled
	// again because something that it uses has changed.
	dependant bool
}

const parseMode = parser.SkipObjectResolution | parser.AllErrors

// parse parses a declaration. The positions are those of its cell.
func (c *cell) parse(src *source) (*declFile, error) {
	head := fmt.Sprintf("package main;/*line In[%d]:%d:%d*/", src.cell, src.item.line, src.item.col)
	file, err := parser.ParseFile(c.fset, c.fileName(), head+src.item.text+"\n", parseMode)
	if err != nil {
		return nil, err
	}
	f := &declFile{src: src, File: file, tok: c.fset.File(file.Package), skip: len(head)}
	c.parsed = append(c.parsed, f)
	return f, nil
}

// statementFile returns a file with the cell's statements in one function, and their
// offsets in it.
func (c *cell) statementFile() (text string, starts []int) {
	var b strings.Builder
	fmt.Fprintf(&b, "package main;func %s(){\n", c.entry())
	for _, it := range c.items {
		if it.kind == itemStatement {
			fmt.Fprintf(&b, "/*line In[%d]:%d:%d*/", c.n, it.line, it.col)
			starts = append(starts, b.Len())
			b.WriteString(it.text + "\n")
		}
	}
	b.WriteString("}\n")
	return b.String(), starts
}

// parseStatements parses the cell's statements as one function.
func (c *cell) parseStatements() error {
	text, _ := c.statementFile()
	file, err := parser.ParseFile(c.fset, c.fileName(), text, parseMode)
	if err != nil {
		return err
	}
	c.stmts = &declFile{File: file, tok: c.fset.File(file.Package)}
	c.parsed = append(c.parsed, c.stmts)
	c.body = file.Decls[0].(*ast.FuncDecl)
	return nil
}

// diagnose parses the items one by one, so that each mistake is reported at its place
// and does not hide those of other items.
func (c *cell) diagnose() []problem {
	var list []problem
	for _, it := range c.items {
		head, tail := "package main;", "\n"
		if it.kind == itemStatement {
			head, tail = "package main;func _(){", "\n}\n"
		}
		head += fmt.Sprintf("/*line In[%d]:%d:%d*/", c.n, it.line, it.col)
		fset := token.NewFileSet()
		_, err := parser.ParseFile(fset, "", head+it.text+tail, parseMode)
		if err == nil {
			continue
		}
		for _, p := range syntax(err) {
			// Text missing at the end is reported at the next line; one error is
			// enough.
			lines := strings.Split(it.text, "\n")
			last := it.line + len(lines) - 1
			end := len(lines[len(lines)-1]) + 1
			if len(lines) == 1 {
				end += it.col - 1
			}
			if p.line > last || p.line == last && p.col >= end {
				if len(list) == 0 || list[len(list)-1].line < it.line {
					list = append(list, problem{cell: c.n, line: last, col: end, msg: "the statement is not complete: " + strings.ReplaceAll(p.msg, "found '}'", "found its end")})
				}
				break
			}
			list = append(list, p)
		}
	}
	return list
}

// fileName returns a new, unique name for a file of the cell in the file set.
func (c *cell) fileName() string {
	c.files++
	return fmt.Sprintf("cell__%d_%d", c.seq, c.files)
}

// entry is the name of the function that holds the cell's statements.
func (c *cell) entry() string { return fmt.Sprintf("cell__%d", c.seq) }

// normal returns a declaration's text without comments and layout.
func normal(f *declFile) string {
	var b strings.Builder
	for _, d := range f.Decls {
		b.WriteString(lower.Print(d))
		b.WriteByte('\n')
	}
	return b.String()
}

// addImports declares the packages that the file's selectors may name: the imports in
// force, unless a name of the session hides them.
func (c *cell) addImports(f *declFile, hidden func(name string) bool) {
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
func (c *cell) pin(f *declFile) {
	paths := map[string]bool{}
	ast.Inspect(f.File, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if path := f.src.pkgs[f.offset(id)]; path != "" {
				id.Name = alias(path)
				paths[path] = true
			}
		}
		return true
	})
	f.Decls = append([]ast.Decl{importDecl(paths)}, f.Decls...)
}

// offset returns the offset of a node in the declaration's text.
func (f *declFile) offset(n ast.Node) int { return f.tok.Offset(n.Pos()) - f.skip }

// importPath returns the path that a package name denotes: an import of the session, or
// a preloaded package.
func (c *cell) importPath(name string) string {
	if p := c.env.imports[name]; p != "" {
		return p
	}
	return preloaded[name]
}

// parseImport reads an import declaration of the cell.
func (s *Session) parseImport(c *cell, it item) []problem {
	fset := token.NewFileSet()
	head := fmt.Sprintf("package main;/*line In[%d]:%d:%d*/", c.n, it.line, it.col)
	f, err := parser.ParseFile(fset, "", head+it.text+"\n", parser.ImportsOnly|parser.AllErrors)
	if err != nil {
		return syntax(err)
	}
	var list []problem
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // already reported by the parser
		}
		if short := preloaded[path]; short != "" && !strings.Contains(path, "/") {
			if _, err := s.importer.Import(path); err != nil {
				path = short // import "tensor"
			}
		}
		var pkg *types.Package
		if err = exports.Importable(path); err == nil {
			pkg, err = s.importer.Import(path)
		} else if pkg, err = s.importSource(path); err == nil {
			c.imported = append(c.imported, path)
		}
		if err != nil {
			at := fset.Position(spec.Path.Pos())
			root, _, _ := strings.Cut(strings.ReplaceAll(path, ".", "/"), "/")
			list = append(list, problem{cell: c.n, line: at.Line, col: at.Column, msg: strings.TrimPrefix(err.Error(), "exports: "), hint: foreignImports[root]})
			continue
		}
		name := pkg.Name()
		if spec.Name != nil {
			name = spec.Name.Name
		}
		switch name {
		case "_":
		case ".":
			c.env.dots = append(c.env.dots, path)
		default:
			c.env.imports[name] = path
			delete(c.env.cur, name)
		}
	}
	return list
}
