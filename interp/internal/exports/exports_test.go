package exports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"sync"
	"testing"
)

// TestCheckAgainstExports checks that the type checker of this Go release reads the
// generated files. It is must-test 12.
func TestCheckAgainstExports(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"plain", `import "fmt"; var n, err = fmt.Println("x")`, ""},
		{"wrong argument", `import "strings"; var s = strings.ToUpper(1)`, "cannot use 1"},
		{"unexported", `import "strings"; var s = strings.explode`, "undefined: strings.explode"},
		{"generic functions", `import ("slices"; "maps"); var x = slices.Sorted(maps.Keys(map[string]int{})); var s []string = x`, ""},
		{"constraint", `import "slices"; var x = slices.Max([]func(){})`, "does not satisfy cmp.Ordered"},
		{"cmp", `import "cmp"; var x int = cmp.Compare(1, 2)`, ""},
		{"iterators", `import ("iter"; "strings"); var x iter.Seq[string] = strings.Lines("")`, ""},
		{"generic type", `import "sync/atomic"; type T struct{}; var p atomic.Pointer[T]; var t *T = p.Load()`, ""},
		{"alias", `import ("os"; "io/fs"); var m os.FileMode = fs.ModeDir`, ""},
		{"types shared between packages", `import ("bufio"; "io"; "net/http"; "os"); var r io.Reader = bufio.NewReader(os.Stdin); var b io.ReadCloser = (&http.Response{}).Body`, ""},
		{"constants", `import ("math"; "time"); const x = math.Pi; const d time.Duration = 3 * time.Second; var a [time.Saturday]int; var b [6]int = a`, ""},
		{"interface", `import "sort"; type T []int; func (T) Len() int {return 0}; func (T) Less(i, j int) bool {return false}; func (T) Swap(i, j int) {}; var _ sort.Interface = T{}`, ""},
		{"package that cells cannot import", `import d "halfnote/tensor/driver"; import "halfnote/tensor"; var t d.DType = tensor.Float16`, ""},
		{"embedded", `import "sync"; type T struct { sync.Mutex }; func f(t *T) { t.Lock() }`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, "cell", "package p; "+tt.src, 0)
			if err != nil {
				t.Fatal(err)
			}
			cfg := types.Config{Importer: Importer()}
			_, err = cfg.Check("p", fset, []*ast.File{f}, nil)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestImportAll checks that every package can be imported, in any order, and shares its
// types with the others.
func TestImportAll(t *testing.T) {
	imp := Importer()
	paths := Packages()
	for i := range paths {
		path := paths[len(paths)-1-i]
		p, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		if p.Path() != path || p.Name() != Name(path) || !p.Complete() {
			t.Errorf("got package %s %q, complete %v, want %q", p.Name(), p.Path(), p.Complete(), path)
		}
		if Synopsis(path) == "" {
			t.Errorf("%s: no synopsis", path)
		}
	}
	lookup := func(path, name string) types.Type {
		p, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		return p.Scope().Lookup(name).Type()
	}
	reader := lookup("io", "Reader").Underlying().(*types.Interface)
	if !types.Implements(types.NewPointer(lookup("bytes", "Buffer")), reader) {
		t.Error("*bytes.Buffer does not implement io.Reader")
	}
	if got, want := lookup("bufio", "NewReader").(*types.Signature).Params().At(0).Type(), lookup("io", "Reader"); got != want {
		t.Errorf("got parameter type %v of bufio.NewReader, want the %v of io", got, want)
	}
}

// TestImportConcurrently checks that all goroutines receive the same package.
func TestImportConcurrently(t *testing.T) {
	imp := Importer()
	got := make([]*types.Package, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			for _, path := range []string{"net/http", "fmt", "encoding/json"} {
				got[i], _ = imp.Import(path)
			}
		})
	}
	wg.Wait()
	for _, p := range got {
		if p == nil || p != got[0] {
			t.Fatalf("got packages %v, want the same package", got)
		}
	}
}

// TestUnknownPackage checks that the error for a package that cells cannot import suggests
// similar paths.
func TestUnknownPackage(t *testing.T) {
	tests := []struct{ path, want string }{
		{"rand", `package "rand" is not available in cells; available: crypto/rand, math/rand, math/rand/v2`},
		{"string", `package "string" is not available in cells; available: strings`},
		{"encoding/jsn", `package "encoding/jsn" is not available in cells; available: encoding/json, `},
		{"github.com/you/json", `package "github.com/you/json" is not available in cells; available: encoding/json`},
		{"halfnote/tensor/driver", `package "halfnote/tensor/driver" is not available in cells; available: database/sql/driver, halfnote/`},
		{"unsafe", `package "unsafe" is not available in cells`},
		{"github.com/spf13/cobra", `package "github.com/spf13/cobra" is not available in cells`},
	}
	for _, tt := range tests {
		err := Importable(tt.path)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Importable(%q): got %v, want %s", tt.path, err, tt.want)
		}
	}
}

// TestImportable checks that Importable accepts every listed package, and that Import
// returns its error for other paths.
func TestImportable(t *testing.T) {
	for _, path := range Packages() {
		if err := Importable(path); err != nil {
			t.Error(err)
		}
	}
	if _, err := Importer().Import("no/such"); err == nil || err.Error() != Importable("no/such").Error() {
		t.Errorf("got %v, want %v", err, Importable("no/such"))
	}
}

// TestDoc checks the comments and declarations of names of every kind.
func TestDoc(t *testing.T) {
	tests := []struct{ path, name, doc, decl string }{
		{"strings", "", "Package strings implements", `package strings // import "strings"`},
		{"strings", "ToUpper", "ToUpper returns s with", "func ToUpper(s string) string"},
		{"strings", "Builder", "A Builder is used to efficiently build", "type Builder struct {\n\t// contains filtered or unexported fields\n}"},
		{"strings", "Builder.Len", "Len returns the number", "func (b *Builder) Len() int"},
		{"io", "Reader.Read", "", "func (Reader) Read(p []byte) (n int, err error)"},
		{"net/http", "Server.Addr", "Addr optionally specifies", "field Addr string"},
		{"time", "Saturday", "", "const ("},
		{"math", "Pi", "Mathematical constants", "const ("},
		{"net/http", "StatusTeapot", "HTTP status codes", "const StatusTeapot = 418"},
		{"os", "Args", "Args hold the command-line", "var Args []string"},
		{"slices", "Sort", "Sort sorts a slice", "func Sort[S ~[]E, E cmp.Ordered](x S)"},
		{"strings", "explode", "", ""},
		{"builtin", "append", "The append built-in function", "func append(slice []Type, elems ...Type) []Type"},
		{"builtin", "error.Error", "", "func (error) Error() string"},
		{"halfnote/tensor", "Tensor.MatMul", "MatMul", "func (t *Tensor) MatMul("},
		{"halfnote/tensor/driver", "DType.String", "", "func (d DType) String() string"},
		{"no/such", "X", "", ""},
		{"../exports", "X", "", ""},
	}
	for _, tt := range tests {
		doc, decl := Doc(tt.path, tt.name)
		if !strings.HasPrefix(doc, tt.doc) || !strings.HasPrefix(decl, tt.decl) || tt.decl == "" && decl != "" {
			t.Errorf("Doc(%q, %q): got %q, %q, want %q…, %q…", tt.path, tt.name, doc, decl, tt.doc, tt.decl)
		}
	}
}

// BenchmarkImport measures the imports of a session's first cell.
func BenchmarkImport(b *testing.B) {
	for b.Loop() {
		imp := Importer()
		for _, path := range []string{"fmt", "math", "strings", "sort", "math/rand", "time"} {
			if _, err := imp.Import(path); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkImportAll(b *testing.B) {
	for b.Loop() {
		imp := Importer()
		for _, path := range Packages() {
			if _, err := imp.Import(path); err != nil {
				b.Fatal(err)
			}
		}
	}
}
