package load

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/doc"
	"go/printer"
	"go/token"
	"strings"
)

// Text is the source text of one name.
type Text struct {
	Decl string `json:",omitempty"` // declaration, without bodies and unexported fields
	Doc  string `json:",omitempty"` // comment, unformatted
}

// Docs returns the texts of the names of Exported: "" is the package,
// "Name" a constant, variable, function or type, "Type.Name" a method or field.
func (p *Package) Docs() (map[string]Text, error) {
	fset, files, err := p.syntax()
	if err != nil {
		return nil, err
	}
	var mode doc.Mode
	if p.Types == nil {
		mode = doc.AllDecls // predeclared names are not exported
	}
	d, err := doc.NewFromFiles(fset, files, p.Path, mode)
	if err != nil {
		return nil, fmt.Errorf("load: %s: %w", p.Path, err)
	}
	w := texts{fset: fset, m: map[string]Text{}}
	w.m[""] = Text{Decl: fmt.Sprintf("package %s // import %q", p.Name, p.Path), Doc: d.Doc}
	w.values(d.Consts)
	w.values(d.Vars)
	w.funcs("", d.Funcs)
	for _, t := range d.Types {
		w.m[t.Name] = Text{Decl: w.print(t.Decl), Doc: t.Doc}
		w.members(t)
		w.values(t.Consts)
		w.values(t.Vars)
		w.funcs("", t.Funcs)
		w.funcs(t.Name+".", t.Methods)
	}
	if p.Types != nil {
		for _, name := range p.Types.Scope().Names() {
			if takesToken(p.Types.Scope().Lookup(name)) {
				delete(w.m, name)
			}
		}
	}
	return w.m, nil
}

type texts struct {
	fset *token.FileSet
	m    map[string]Text
}

// longest is the maximum number of lines of a group of constants or variables that is shown
// whole for each of its names.
const longest = 24

func (w *texts) values(values []*doc.Value) {
	for _, v := range values {
		group := w.print(v.Decl)
		for _, s := range v.Decl.Specs {
			s := s.(*ast.ValueSpec)
			for _, id := range s.Names {
				t := Text{Decl: group, Doc: cmp.Or(s.Doc.Text(), v.Doc, s.Comment.Text())}
				if strings.Count(group, "\n") >= longest {
					t.Decl = v.Decl.Tok.String() + " " + w.print(bare(s))
				}
				w.m[id.Name] = t
			}
		}
	}
}

func (w *texts) funcs(prefix string, funcs []*doc.Func) {
	for _, f := range funcs {
		w.m[prefix+f.Name] = Text{Decl: w.print(f.Decl), Doc: f.Doc}
	}
}

// members adds the fields of a struct and the methods of an interface.
func (w *texts) members(t *doc.Type) {
	for _, s := range t.Decl.Specs {
		var list *ast.FieldList
		method := false
		switch x := s.(*ast.TypeSpec).Type.(type) {
		case *ast.StructType:
			list = x.Fields
		case *ast.InterfaceType:
			list, method = x.Methods, true
		default:
			continue
		}
		for _, f := range list.List {
			for _, id := range f.Names {
				decl := "field " + id.Name + " " + w.print(f.Type)
				if method {
					decl = "func (" + t.Name + ") " + id.Name + strings.TrimPrefix(w.print(f.Type), "func")
				}
				w.m[t.Name+"."+id.Name] = Text{Decl: decl, Doc: cmp.Or(f.Doc.Text(), f.Comment.Text())}
			}
		}
	}
}

// bare returns s without its comments.
func bare(s *ast.ValueSpec) *ast.ValueSpec {
	c := *s
	c.Doc, c.Comment = nil, nil
	return &c
}

func (w *texts) print(node any) string {
	if g, ok := node.(*ast.GenDecl); ok && g.Doc != nil {
		c := *g
		c.Doc = nil
		node = &c
	}
	if f, ok := node.(*ast.FuncDecl); ok {
		c := *f
		c.Doc, c.Body = nil, nil
		node = &c
	}
	var b bytes.Buffer
	cfg := printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}
	if err := cfg.Fprint(&b, w.fset, node); err != nil {
		panic(err) // writing a go/doc node to a bytes.Buffer cannot fail
	}
	return b.String()
}
