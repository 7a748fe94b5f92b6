package interp

import (
	"context"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/internal/testenv"
	"halfnote/kernel/eval"
)

const (
	exampleExceptions = "testdata/examples/exceptions.txt"
	exampleShare      = 10 // share of the files in a default run: one in this many
)

// TestStandardExamples runs the examples of the standard library that have an output, as cells: a file of examples is a
// session, its imports and its other declarations are the first cells, and each example is a cell. They run in the folder of the package and their output is
// compared as go test compares it. The list of exceptions names those that are refused or differ, with the engines and the
// reason; they must go on to. A share of the files runs by default, and all if HALFNOTE_REQUIRE lists long. -update writes
// the list; the reason of a new line is the error.
func TestStandardExamples(t *testing.T) {
	if newest() {
		t.Skip("the list of exceptions is for Go 1.26")
	}
	list, engine := exampleExceptions, *engineName
	if engine == "" {
		engine = Engines[0]
	}
	x := readReasons(t, list)
	list, err := filepath.Abs(list)
	if err != nil {
		t.Fatal(err)
	}
	pacific, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	share := uint32(1)
	if !*update {
		share = uint32(testenv.Share(t, exampleShare))
	}
	passed, differing := 0, map[string]string{}
	for _, file := range exampleFiles(t) {
		h := fnv.New32a()
		h.Write([]byte(file.name))
		if h.Sum32()%share != 0 {
			continue
		}
		t.Run(file.name, func(t *testing.T) {
			t.Chdir(filepath.Dir(file.path))
			if file.folder() == "time" { // as the package's tests do
				local := time.Local
				defer func() { time.Local = local }()
				time.Local = pacific
			}
			for name, problem := range file.run(t, engine) {
				id := file.folder() + "." + name + " " + engine
				why, listed := x.reason(id)
				switch {
				case problem == "":
					if passed++; listed && !*update {
						t.Errorf("%s: %s is no longer an exception: %s", list, id, why)
					}
					continue
				case !listed:
					if why = class(problem); !*update {
						t.Errorf("%s: %s", name, problem)
					}
				}
				differing[id] = why
			}
		})
	}
	byReason := map[string]int{}
	for _, why := range differing {
		byReason[why]++
	}
	t.Logf("%s: %d of %d examples print what go test wants", engine, passed, passed+len(differing))
	for _, why := range slices.Sorted(maps.Keys(byReason)) {
		t.Logf("%4d %s", byReason[why], why)
	}
	if *update {
		x.write(t, list, engine, differing)
	}
}

// TestStandardExamplesNative is TestStandardExamples with compiled cells, in a separate process: examples register
// flags, variables and handlers in packages.
func TestStandardExamplesNative(t *testing.T) {
	needNative(t)
	args := []string{"-test.run=^TestStandardExamples$", "-test.v", "-engine=" + Compiled}
	if *update {
		args = append(args, "-update")
	}
	out, err := exec.Command(os.Args[0], args...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "examples_test.go") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// exampleFile is a file of examples, in a package that is outside of the one it shows.
type exampleFile struct {
	name, path string // relative to the library, and absolute
}

// folder returns the import path of the package.
func (f exampleFile) folder() string { return filepath.ToSlash(filepath.Dir(f.name)) }

// exampleFiles lists the files with examples of the standard library.
func exampleFiles(t *testing.T) (list []exampleFile) {
	src := filepath.Join(testenv.GOROOT(t), "src")
	err := filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(src, path)
		if d.IsDir() && (slices.Contains([]string{"cmd", "internal", "vendor", "testdata"}, d.Name()) || d.Name()[0] == '_') {
			return fs.SkipDir
		}
		if ok, err := build.Default.MatchFile(filepath.Dir(path), d.Name()); d.IsDir() || !strings.HasSuffix(name, "_test.go") || err != nil || !ok {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), "\nfunc Example") {
			list = append(list, exampleFile{filepath.ToSlash(name), path})
		}
		return err
	})
	if err != nil || len(list) == 0 {
		testenv.Missing(t, "long", "no examples in ", src, ": ", err)
	}
	return list
}

// run runs the examples of a file with an output. It yields the name of each, and what is wrong with it, or "".
func (f exampleFile) run(t *testing.T, engine string) map[string]string {
	files := token.NewFileSet()
	text, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.ParseFile(files, f.path, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	at := func(p token.Pos) int { return files.Position(p).Offset }
	problems, bodies := map[string]string{}, map[string]string{}
	shared := slices.Clone(text) // what examples use, without the package clause and themselves
	needed := usedByExamples(parsed)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if shared[i] != '\n' {
				shared[i] = ' '
			}
		}
	}
	blank(0, at(parsed.Name.End()))
	var imports []string
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && strings.HasPrefix(d.Name.Name, "Example") {
				bodies[d.Name.Name] = string(text[at(d.Pos()):at(d.End())])
				blank(at(d.Pos()), at(d.End()))
			} else if !needed[d] {
				blank(at(d.Pos()), at(d.End()))
			}
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				if !needed[d] {
					blank(at(d.Pos()), at(d.End()))
				}
				continue
			}
			for _, spec := range d.Specs {
				imports = append(imports, "import "+string(text[at(spec.Pos()):at(spec.End())]))
			}
			blank(at(d.Pos()), at(d.End()))
		}
	}
	s := newSessionOn(t, engine)
	n := 0
	cell := func(code string) (string, error) {
		n++
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		out := &recorder{}
		var r eval.Result
		direct := standardOutput(t, func() { r = s.Eval(ctx, eval.Cell{Code: code, Count: n}, out) })
		if r.Err != nil {
			return out.printed(), fmt.Errorf("%s: %s", r.Err.Name, r.Err.Value)
		}
		return out.printed() + direct, nil
	}
	missing := map[string]error{} // packages that cells cannot import, by the messages of their uses
	for _, code := range imports {
		if _, err := cell(code); err != nil {
			missing["undefined: "+path.Base(strings.Trim(code, "\""))] = err
		}
	}
	_, refused := cell(string(shared))
	for _, e := range doc.Examples(parsed) {
		name := "Example" + e.Name
		if e.Output == "" && !e.EmptyOutput || bodies[name] == "" {
			continue
		}
		got, err := "", refused
		if err == nil {
			got, err = cell(bodies[name] + "\n" + name + "();\n")
		}
		for message, why := range missing {
			if err != nil && strings.Contains(err.Error(), message) {
				err = why
			}
		}
		got, want := strings.TrimSpace(got), strings.TrimSpace(e.Output)
		if e.Unordered {
			got, want = sortedLines(got), sortedLines(want)
		}
		switch {
		case err != nil:
			problems[name] = err.Error()
		case got != want:
			problems[name] = firstDifference(got, want)
		default:
			problems[name] = ""
		}
	}
	return problems
}

// usedByExamples returns the declarations of a file that its examples use, directly or through others: a file may have tests too.
func usedByExamples(f *ast.File) map[ast.Decl]bool {
	byName, needed := map[string][]ast.Decl{}, map[ast.Decl]bool{}
	var todo []ast.Decl
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil { // a method comes with its type
				ast.Inspect(d.Recv, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						byName[id.Name] = append(byName[id.Name], d)
					}
					return true
				})
			} else if byName[name] = append(byName[name], d); strings.HasPrefix(name, "Example") || name == "init" {
				todo = append(todo, d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					byName[spec.Name.Name] = append(byName[spec.Name.Name], d)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						byName[id.Name] = append(byName[id.Name], d)
					}
				}
			}
		}
	}
	for len(todo) > 0 {
		d := todo[0]
		todo = todo[1:]
		if needed[d] {
			continue
		}
		needed[d] = true
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				todo = append(todo, byName[id.Name]...)
			}
			return true
		})
	}
	return needed
}

// standardOutput returns what compiled packages write to standard output while f runs. A kernel captures it elsewhere.
func standardOutput(t *testing.T, f func()) string {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		text <- string(b)
	}()
	stdout := os.Stdout
	os.Stdout = w
	f()
	os.Stdout = stdout
	w.Close()
	return <-text
}

func sortedLines(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
