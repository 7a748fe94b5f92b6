package interp

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"halfnote/kernel/eval"
)

// ordinaryExceptions lists the ordinary programs that print something else than compiled Go. A line is the name of the
// program, the engine, and the reason.
const ordinaryExceptions = "testdata/ordinary/exceptions.txt"

// TestOrdinaryPrograms runs the programs of testdata/ordinary, such as a course teaches, and compares what they print with
// the output of compiled Go in section "out". Each runs in two forms: as one cell, and as two, the declarations and
// the body of main. A program of the list of exceptions must differ. -update records the outputs with the go command.
func TestOrdinaryPrograms(t *testing.T) {
	if *update {
		for _, file := range glob(t, "testdata/ordinary/*.txtar") {
			recordProgram(t, file)
		}
	}
	x := readReasons(t, ordinaryExceptions)
	for _, engine := range tested(t) {
		for _, file := range glob(t, "testdata/ordinary/*.txtar") {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			a, err := txtar.ParseFile(file)
			if err != nil || len(a.Files) != 2 {
				t.Fatalf("%s: want the sections main.go and out: %v", file, err)
			}
			forms, want := programForms(t, string(a.Files[0].Data)), string(a.Files[1].Data)
			id := name + " " + engine
			t.Run(id, func(t *testing.T) {
				t.Parallel()
				why, listed := x.reason(id)
				differs := false
				for _, form := range slices.Sorted(maps.Keys(forms)) {
					got := printedBy(t, engine, forms[form])
					if got == want {
						continue
					}
					differs = true
					if t.Logf("%s: %s", form, firstDifference(got, want)); !listed {
						t.Fail()
					}
				}
				if listed && !differs {
					t.Errorf("%s: %s is no longer an exception: %s", ordinaryExceptions, id, why)
				}
			})
		}
	}
	t.Cleanup(func() {
		for _, id := range x.unread() {
			if engine := id[strings.LastIndex(id, " ")+1:]; slices.Contains(tested(t), engine) && !t.Failed() {
				t.Errorf("%s: %s is not a program", ordinaryExceptions, id)
			}
		}
	})
}

// programForms returns the cells of a program in both forms. A body of main that returns early or recovers has only one.
func programForms(t *testing.T, source string) map[string][]string {
	forms := map[string][]string{"program": {source + "\nmain();\n"}}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "main.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		main, ok := d.(*ast.FuncDecl)
		if !ok || main.Recv != nil || main.Name.Name != "main" {
			continue
		}
		alone := true
		ast.Inspect(main.Body, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt, *ast.DeferStmt:
				alone = false
			}
			return true
		})
		offset := func(p token.Pos) int { return files.Position(p).Offset }
		before, body, after := source[:offset(main.Pos())], source[offset(main.Body.Lbrace)+1:offset(main.Body.Rbrace)], source[offset(main.End()):]
		if decls, ok := strings.CutPrefix(before, "package main\n"); ok && alone {
			forms["cells"] = []string{decls + after, body + ";\n"}
		}
	}
	return forms
}

// printedBy returns what cells print in a new session: their standard output, and an error as a compiled program
// ends with it.
func printedBy(t *testing.T, engine string, cells []string) string {
	s := newSessionOn(t, engine)
	out := &recorder{}
	for i, cell := range cells {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		r := s.Eval(ctx, eval.Cell{Code: cell, Count: i + 1}, out)
		cancel()
		if r.Err != nil {
			return out.printed() + "panic: " + r.Err.Name + ": " + r.Err.Value + "\n"
		}
	}
	return out.printed()
}

// recordProgram writes the output of a program to its section "out".
func recordProgram(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, a.Files[0].Data, 0o666); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("go", "run", source)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", file, err, &stderr)
	}
	a.Files = []txtar.File{a.Files[0], {Name: "out", Data: out}}
	if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
		t.Fatal(err)
	}
}

// reasons holds the lines of a list of exceptions, "program engine: reason", and which of them a test has asked for.
type reasons struct {
	mu    sync.Mutex
	lines map[string]string
	asked map[string]bool
}

func readReasons(t *testing.T, file string) *reasons {
	x := &reasons{lines: map[string]string{}, asked: map[string]bool{}}
	for _, line := range readList(t, file) {
		id, why, ok := strings.Cut(line, ": ")
		if !ok || why == "" {
			t.Errorf("%s: %q is not a program, an engine and a reason", file, line)
		}
		x.lines[id] = why
	}
	return x
}

// write replaces the lines of an engine.
func (x *reasons) write(t *testing.T, file, engine string, differing map[string]string) {
	lines := maps.Clone(differing)
	for id, why := range x.lines {
		if !strings.HasSuffix(id, " "+engine) {
			lines[id] = why
		}
	}
	var b strings.Builder
	fmt.Fprintln(&b, "# Program, engine, reason.")
	for _, id := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&b, "%s: %s\n", id, lines[id])
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

func (x *reasons) reason(id string) (why string, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked[id] = true
	why, ok = x.lines[id]
	return why, ok
}

func (x *reasons) unread() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(x.lines)), func(id string) bool { return x.asked[id] })
}
