package interp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/engine"
)

// Mutations are changes of package lower that a test has to find. Each is found by one of these, in this order.
const (
	byCheck    = "the check of the core"
	byCompiler = "the interpreter's compiler"
	byOutput   = "the output of a script"
	byCrash    = "a crash"
	byProof    = "the proof"
	survives   = "not found"
)

// mutationScripts are the scripts that run first with each mutation. Together they use every rewrite.
var mutationScripts = []string{
	"forms", "fresh", "capturedliterals", "language", "operands", "smallfaults", "methodvalues", "interfaces", "sequences", "generics", "integers", "indexing", "basics", "names", "channels", "defer", "maps",
	"goroutines", "panics", "runtimeerrors", "genericembedded", "sameinstances", "latertypes", "recursion", "streams", "waits", "programs", "yaegi-language", "yaegi-cells", "yaegi-panics",
}

// lackingEngine is an engine that asks for all rewrites but one.
type lackingEngine struct {
	engine.Engine
	name string
}

func (e *lackingEngine) Needs() engine.Needs {
	n := e.Engine.Needs()
	n.Rewrites = slices.DeleteFunc(slices.Clone(n.Rewrites), func(name string) bool { return name == e.name })
	return n
}

// unshown lists the rewrites whose absence these scripts do not show.
var unshown = map[string]string{
	"lifetimes": "memory is released later",
	"room":      "needs more memory than there is",
	"concat":    "needs more memory than there is",
	"watch":     "only observers see it",
	"counters":  "goroutines share a counter of calls",
	"index":     "indexes that cannot fail are marked too, which costs time",
	"promoted":  "only Go 1.27 has the form",
}

// TestSwitchedOff runs scripts without one of the rewrites that the interpreter needs, one in six of them, or all if HALFNOTE_REQUIRE lists mutations. The check of the core
// or the output shows that it is missing.
func TestSwitchedOff(t *testing.T) {
	needs := newSession(t).engine.Needs().Rewrites
	share := 6
	if testenv.Requires("mutations") {
		share = 1
	}
	found := map[string]int{}
	for i, name := range needs {
		if i%share != 0 || name == "depth" { // without "depth", endless recursion ends the process
			continue
		}
		by := survives
		for _, script := range mutationScripts {
			if by = changed(t, script, func(s *Session) { s.engine = &lackingEngine{s.engine, name} }); by != survives {
				t.Logf("%s: found by %s, in script %s", name, by, script)
				break
			}
		}
		found[by]++
		if _, known := unshown[name]; by == survives && !known {
			t.Errorf("no script shows that rewrite %q is missing", name)
		}
	}
	t.Log(found)
}

// changed runs a script in a changed session up to the first difference, and returns what shows the change.
func changed(t *testing.T, script string, change func(*Session)) (by string) {
	defer func() {
		if r := recover(); r != nil {
			by = byCrash
		}
	}()
	a, err := txtar.ParseFile("testdata/" + script + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	change(s)
	n := 0
	for i, f := range a.Files {
		kind, arg, _ := strings.Cut(f.Name, " ")
		if kind != "cell" {
			continue
		}
		n++
		after, late := strings.CutSuffix(arg, "late")
		got := moving.ReplaceAllString(ended.ReplaceAllString(run(t, s, n, strings.TrimSuffix(string(f.Data), "\n"), after)(), "$1"), "")
		if want := outputsAfter(a.Files[i+1:]).want(release()); got != want && !late {
			t.Logf("%s: %s", script, firstDifference(got, want))
			return shownBy(got)
		}
	}
	return survives
}

// shownBy tells what shows a mutation, from the output of a cell or of the tests.
func shownBy(got string) string {
	switch {
	case strings.Contains(got, "compiled cells run it"):
		return byCheck
	case strings.Contains(got, "not supported by the interpreter"), strings.Contains(got, "InternalError"):
		return byCompiler
	}
	return byOutput
}

// Environment variables of child processes: the number of the mutation in force, and how many there are.
const (
	mutantVar  = "HALFNOTE_TEST_MUTANT"
	mutantsVar = "HALFNOTE_TEST_MUTANTS"
)

// TestMutations builds this test, and that of the proof, with a copy of package lower in which 200 conditions can be negated. It runs the
// scripts with each negated, and the sample of the proof if no script shows it.
func TestMutations(t *testing.T) {
	if !testenv.Requires("mutations") {
		t.Skip("takes hours; HALFNOTE_REQUIRE=mutations runs it")
	}
	dir := t.TempDir()
	all := mutate(t, dir, 200)
	build := func(name, folder string) (binary string) {
		binary = filepath.Join(dir, name)
		if out, err := exec.Command("go", "test", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-c", "-o", binary, folder).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return binary
	}
	scripts, cells := build("scripts.test", "."), build("proof.test", "./internal/proof")
	none := make([]string, 1)
	if runMutants(t, scripts, len(all), none); none[0] != survives || !proves(t, cells, len(all)) {
		t.Fatalf("without a mutation: %s", none[0])
	}
	by := make([]string, len(all))
	var wg sync.WaitGroup
	const workers = 3
	for w := range workers {
		wg.Go(func() {
			first, end := w*len(all)/workers, (w+1)*len(all)/workers
			runMutants(t, scripts, first, by[first:end])
			for i := first; i < end; i++ {
				if by[i] == survives && !proves(t, cells, i) {
					by[i] = byProof
				}
				t.Logf("%s: %s", all[i], by[i])
			}
		})
	}
	wg.Wait()
	found := map[string]int{}
	for _, by := range by {
		found[by]++
	}
	for _, by := range slices.Sorted(maps.Keys(found)) {
		t.Logf("%d of %d: %s", found[by], len(all), by)
	}
	if found[survives] > len(all)/4 {
		t.Errorf("%d of %d mutations are not found", found[survives], len(all))
	}
}

// proves reports whether the sample of the proof passes with a mutation.
func proves(t *testing.T, binary string, mutation int) bool {
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run", "^TestYaegi$")
	cmd.Dir = "internal/proof"
	cmd.Env = append(os.Environ(), mutantVar+"="+strconv.Itoa(mutation), "HALFNOTE_REQUIRE=")
	return cmd.Run() == nil
}

// mutate writes a copy of package lower to dir in which conditions can be negated, and an overlay with it. It returns the conditions.
func mutate(t *testing.T, dir string, count int) []string {
	files, err := filepath.Glob("internal/lower/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	fset := token.NewFileSet()
	trees := map[string]*ast.File{}
	var conditions []*ast.IfStmt
	in := map[*ast.IfStmt]string{} // files
	for _, name := range files {
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		trees[name] = f
		ast.Inspect(f, func(n ast.Node) bool {
			if x, ok := n.(*ast.IfStmt); ok {
				conditions = append(conditions, x)
				in[x] = name
			}
			return true
		})
	}
	var list []string
	changed := map[string]bool{}
	for i := range count {
		x := conditions[i*len(conditions)/count]
		var text bytes.Buffer
		format.Node(&text, fset, x.Cond)
		changed[in[x]] = true
		list = append(list, fmt.Sprintf("%s: if %s", fset.Position(x.Pos()), text.String()))
		x.Cond = &ast.CallExpr{Fun: ast.NewIdent("mutated__"), Args: []ast.Expr{&ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(strconv.Itoa(i))}, x.Cond}}
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	add := func(name string, src []byte) {
		to := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(to, src, 0o666); err != nil {
			t.Fatal(err)
		}
		abs, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		overlay.Replace[abs] = to
	}
	for name := range changed {
		var src bytes.Buffer
		if err := format.Node(&src, fset, trees[name]); err != nil {
			t.Fatal(err)
		}
		add(name, src.Bytes())
	}
	add("internal/lower/mutated.go", []byte(`package lower

import "os"

func mutated__(i string, c bool) bool { return c != (i == os.Getenv("`+mutantVar+`")) }
`))
	b, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), b, 0o666); err != nil {
		t.Fatal(err)
	}
	return list
}

// runMutants runs the scripts with each mutation in child processes, which end with those that crash, and sets what shows each.
func runMutants(t *testing.T, binary string, first int, by []string) {
	for i := 0; i < len(by); {
		cmd := exec.CommandContext(t.Context(), binary, "-test.run", "^TestMutants$", "-test.v")
		cmd.Env = append(os.Environ(), mutantVar+"="+strconv.Itoa(first+i), mutantsVar+"="+strconv.Itoa(first+len(by)))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Error(err)
			return
		}
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return
		}
		hangs := time.AfterFunc(5*patience, func() { cmd.Process.Kill() })
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if found, ok := strings.CutPrefix(lines.Text(), mutantLine); ok {
				by[i] = found
				t.Logf("%d: %s", first+i, found)
				i++
				hangs.Reset(5 * patience)
			}
		}
		hangs.Stop()
		if cmd.Wait() != nil && i < len(by) {
			by[i] = byCrash
			i++
		}
	}
}

// mutantLine starts the lines of a child process that tell what shows a mutation.
const mutantLine = "mutation found by "

// TestMutants is the child process of TestMutations: it runs the scripts with each mutation from a number on.
func TestMutants(t *testing.T) {
	first, err := strconv.Atoi(os.Getenv(mutantVar))
	count, err2 := strconv.Atoi(os.Getenv(mutantsVar))
	if err != nil || err2 != nil {
		t.Skip("only in the child processes of TestMutations")
	}
	for i := first; i < count; i++ {
		os.Setenv(mutantVar, strconv.Itoa(i))
		by := survives
		for _, script := range append(slices.Clone(mutationScripts), otherScripts(t)...) {
			t.Run(script, func(t *testing.T) { by = changed(t, script, func(*Session) {}) }) // closes the session
			if by != survives {
				break
			}
		}
		fmt.Printf("\n%s%s\n", mutantLine, by)
	}
}

// otherScripts returns the scripts of testdata that are not among mutationScripts.
func otherScripts(t *testing.T) (names []string) {
	for _, file := range glob(t, "testdata/*.txtar") {
		if name := strings.TrimSuffix(filepath.Base(file), ".txtar"); !slices.Contains(mutationScripts, name) {
			names = append(names, name)
		}
	}
	return names
}
