package amp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDialects checks that every halfnote name in the last columns of DIALECTS.md exists.
func TestDialects(t *testing.T) {
	text, err := os.ReadFile("DIALECTS.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]map[string]bool{}
	for name, dir := range map[string]string{"amp": ".", "apex": "apex", "fp8": "fp8", "tensor": "../tensor", "nn": "../tensor/nn", "optim": "../tensor/optim", "cuda": "../cuda", "experiment": "experiment"} {
		known[name] = exported(t, dir)
	}
	names := regexp.MustCompile(`\b([a-z]+[0-9]?)\.([A-Z]\w*(?:\.[A-Z]\w*)?)`)
	rows, found := 0, 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") || strings.Contains(line, "| halfnote |") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "|"), "|")
		last := cells[len(cells)-1]
		if strings.TrimSpace(last) == "" {
			t.Errorf("the row %q does not contain a halfnote name", line)
		}
		for _, m := range names.FindAllStringSubmatch(last, -1) {
			pkg, ok := known[m[1]]
			if !ok {
				continue // a variable, such as scaler.Autocast
			}
			found++
			base, member, _ := strings.Cut(m[2], ".")
			if !pkg[m[2]] && !(pkg["var "+base] && pkg["method "+member]) {
				t.Errorf("%s.%s does not exist: %s", m[1], m[2], line)
			}
		}
	}
	if rows < 50 || found < 80 {
		t.Errorf("got only %d rows with %d names", rows, found)
	}
}

// exported returns the exported names of the package in dir: functions, types and values, "Type.Member"
// for methods and fields, "var Name" for values, whose types are unknown here, and "method Name" for
// the methods of all types.
func exported(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names[d.Name.Name] = true
					continue
				}
				recv := d.Recv.List[0].Type
				if star, ok := recv.(*ast.StarExpr); ok {
					recv = star.X
				}
				if id, ok := recv.(*ast.Ident); ok {
					names[id.Name+"."+d.Name.Name], names["method "+d.Name.Name] = true, true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
						if st, ok := s.Type.(*ast.StructType); ok {
							for _, field := range st.Fields.List {
								for _, n := range field.Names {
									names[s.Name.Name+"."+n.Name] = true
								}
							}
						}
					case *ast.ValueSpec:
						for _, n := range s.Names {
							names[n.Name], names["var "+n.Name] = true, true
						}
					}
				}
			}
		}
	}
	return names
}

// TestListedFunctionsAreInDialects checks that every function on the tutorials' autocast lists has
// a row in DIALECTS.md. TestDialects checks the last column.
func TestListedFunctionsAreInDialects(t *testing.T) {
	text, err := os.ReadFile("DIALECTS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "## Functions that PyTorch's autocast lists name")
	if !ok {
		t.Fatal("DIALECTS.md has no table of functions")
	}
	for list, names := range teachingLists {
		for _, name := range names {
			row := regexp.MustCompile("(?m)^\\|[^|]*`" + name + "`[^|]*\\| `")
			if !row.MatchString(table) {
				t.Errorf("%s: %s has no row in DIALECTS.md", list, name)
			}
		}
	}
}
