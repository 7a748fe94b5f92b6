package interp

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/proof"
)

var negate = flag.String("negate", "", "a regular expression: TestMutations negates only the conditions of the sample whose names match it")

// sampleSize is the number of mutations: conditions of package lower that are negated, one at a time.
const sampleSize = 200

// equivalent lists mutations of the sample that change no result, with the reasons.
var equivalent = map[string]string{
	"callsUnknown: found":                               "it decides whether a panic crosses many calls in one step, which takes less time",
	"plain: b.Kind() == types.UntypedComplex":           "a literal without a conversion becomes a value of the same type",
	"captured: found #4":                                "a variable counts as captured, which takes time",
	"interfaceExprs: !isTupleType(u.typeOf(n.Args[0]))": "compiled cells have this rewrite, and the interpreter does not",
	"interfaceExprs: u.compiledIface(s.Recv())":         "compiled cells have this rewrite, and the interpreter does not",
	"interfaceExprs: x.Fun == n":                        "compiled cells have this rewrite, and the interpreter does not",
	"containsCall: !u.Info.Types[n.Fun].IsType()":       "the interpreter has the calls in variables by then, and compiled cells do not",
	"isSupport: !ok":                                    "operands that support functions return are kept in variables, which takes time",
	"returns: isNamed(results[0])":                      "operands of unnamed types are kept in variables, which takes time; those of named types are right where they stand, too",
	"together: u.makes(e)":                              "an assignment of values of basic types is divided into several, which takes time",
	"rangeBounds: !ok || s.Tok != token.DEFINE || u.changed(u.Info.Defs[key], s.Body)": "the interpreter's test of an index knows the place too",
}

// laterForms are the files of package lower that rewrite what only Go 1.27 has.
var laterForms = []string{"genericmethod.go", "promoted.go"}

// otherTests are tests that run after the scripts.
var otherTests = map[string]func(*testing.T){"TestDebugger": TestDebugger, "TestLifetimes": TestLifetimes, "TestReleases": TestReleases, "TestUnwindingGrowth": TestUnwindingGrowth}

// A condition is one of package lower.
type condition struct {
	number int
	name   string // its function and its text, which stay when lines move
	place  string
}

// A surveyed script or test tells which conditions of the sample matter to it.
type surveyed struct {
	Name    string // path of the script, or name of the test
	Cost    time.Duration
	Met     map[int]int  // values that a condition has had: 1 for false, 2 for true
	Changed map[int]bool // conditions whose negation changes what the engine gets
}

// kind orders scripts, the sample of the proof, whose scripts have absolute paths, and tests.
func (s surveyed) kind() int {
	switch {
	case otherTests[s.Name] != nil:
		return 2
	case filepath.IsAbs(s.Name):
		return 1
	}
	return 0
}

// These begin lines of child processes: the result of a survey, what runs next, and what shows a mutation.
const surveyLine, nextLine, foundLine = "survey ", "next: ", "found by "

// TestMutations builds this test with a copy of package lower in which a condition can be negated: testdata/mutation has what is added to it. A survey runs all scripts,
// and the sample of the proof as scripts, without a mutation. It lowers each cell with each condition negated, too. With a mutation only those run for
// which that changes what the engine gets, the cheapest first, each mutation in its own process.
func TestMutations(t *testing.T) {
	if !testenv.Requires("mutations") {
		t.Skip("takes many minutes; HALFNOTE_REQUIRE=mutations runs it")
	}
	dir := t.TempDir()
	sample, binary := mutated(t, dir)
	names := slices.Concat(glob(t, "testdata/*.txtar"), glob(t, "testdata/yaegi/*.txtar"), glob(t, "testdata/alone/*.txtar"), proofScripts(t, dir), slices.Sorted(maps.Keys(otherTests)))
	if newest() {
		names = append(names, glob(t, "testdata/go1.27/*.txtar")...)
	}
	all := survey(t, binary, sample, names)
	found, stale := map[string]int{}, maps.Clone(equivalent)
	var mu sync.Mutex
	inParallel(sample, func(c condition) {
		met := 0
		for _, s := range all {
			met |= s.Met[c.number]
		}
		relevant := slices.DeleteFunc(slices.Clone(all), func(s surveyed) bool {
			return !s.Changed[c.number] && !(s.Met[c.number] != 0 && strings.HasPrefix(c.place, "describe.go")) // descriptions are not part of a unit
		})
		by, in := "listed", ""
		switch {
		case equivalent[c.name] != "":
		case met == 0:
			by = "met by no script"
		default:
			by, in = findMutation(t, binary, c, relevant)
		}
		mu.Lock()
		defer mu.Unlock()
		delete(stale, c.name)
		found[by]++
		t.Logf("%s: %s: %s: %s (changes %d of them; %s)", c.place, c.name, by, in, len(relevant), [...]string{"not met", "always false", "always true", "false and true"}[met])
		if by == survives || met == 0 && by != "listed" {
			t.Errorf("%s: %s: the mutation is %s", c.place, c.name, by)
		}
	})
	for by, n := range found {
		t.Logf("%d of %d: %s", n, len(sample), by)
	}
	for name := range stale {
		if *negate != "" {
			break
		}
		t.Errorf("%s is listed, and is not in the sample", name)
	}
}

// findMutation runs scripts and tests with a mutation, and returns what shows it and where.
func findMutation(t *testing.T, binary string, c condition, list []surveyed) (by, in string) {
	args := []string{"-test.run=^TestMutant$", "-test.v", fmt.Sprint("-mutation=", c.number)}
	known := map[string]surveyed{}
	for _, s := range list {
		args = append(args, s.Name)
		known[s.Name] = s
	}
	cmd := exec.CommandContext(t.Context(), binary, args...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return survives, ""
	}
	limit := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer limit.Stop()
	by = byCrash
	lines := bufio.NewScanner(out)
	for lines.Buffer(nil, 1<<24); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), nextLine); ok {
			in = name
			limit.Reset(20*time.Second + 5*known[name].Cost)
		} else if found, ok := strings.CutPrefix(lines.Text(), foundLine); ok {
			by = found
		}
	}
	cmd.Wait()
	if kind := known[in].kind(); kind > 0 && by != survives {
		by = [...]string{1: "the proof", 2: "another test"}[kind]
	}
	return by, in
}

// survey runs scripts and tests without a mutation, and returns what they tell, in the order in which they are to run.
func survey(t *testing.T, binary string, sample []condition, names []string) (all []surveyed) {
	var numbers []int
	for _, c := range sample {
		numbers = append(numbers, c.number)
	}
	list, err := json.Marshal(numbers)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	parts := make([][]string, runtime.NumCPU())
	for i, name := range names {
		parts[i%len(parts)] = append(parts[i%len(parts)], name)
	}
	inParallel(parts, func(part []string) {
		out, err := exec.CommandContext(t.Context(), binary, append([]string{"-test.run=^TestSurvey$", "-conditions=" + string(list)}, part...)...).CombinedOutput()
		if err != nil {
			t.Errorf("without a mutation: %v\n%s", err, out)
		}
		for line := range strings.Lines(string(out)) {
			var s surveyed
			if text, ok := strings.CutPrefix(line, surveyLine); ok && json.Unmarshal([]byte(text), &s) == nil {
				mu.Lock()
				all = append(all, s)
				mu.Unlock()
			}
		}
	})
	if len(all) != len(names) {
		t.Fatalf("%d of %d scripts and tests end", len(all), len(names))
	}
	slices.SortFunc(all, func(a, b surveyed) int { return cmp.Or(a.kind()-b.kind(), cmp.Compare(a.Cost, b.Cost)) })
	return all
}

// inParallel calls f for each element of a list, on all processors.
func inParallel[T any](list []T, f func(T)) {
	var wg sync.WaitGroup
	room := make(chan bool, runtime.NumCPU())
	for _, x := range list {
		room <- true
		wg.Go(func() { f(x); <-room })
	}
	wg.Wait()
}

// proofScripts writes the sample of the proof as scripts to a folder. The survey adds the outputs.
func proofScripts(t *testing.T, dir string) (files []string) {
	for _, f := range proof.Families {
		for part := range slices.Chunk(f.Sample(f.Cells()), 40) {
			a, has := &txtar.Archive{}, map[string]bool{}
			add := func(code string) {
				a.Files = append(a.Files, txtar.File{Name: "cell", Data: []byte(code + "\n")})
			}
			add("import (\n\t\"" + strings.Join(proof.Packages, "\"\n\t\"") + "\"\n)\n" + proof.Section("") + "\n" + proof.Runner)
			for _, c := range part {
				for _, name := range c.Uses {
					if !has[name] {
						add(proof.Section(name))
					}
					has[name] = true
				}
				if c.Before != "" {
					add(c.Session())
				}
				add(c.Func() + fmt.Sprintf("run(%q, %s)", c.ID(), c.ID()))
			}
			files = append(files, filepath.Join(dir, fmt.Sprintf("%s%03d.txtar", f.Name, len(files))))
			if err := os.WriteFile(files[len(files)-1], txtar.Format(a), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return files
}

// mutated builds this test with a copy of package lower in which each condition can be negated. The sample is the conditions whose names have the smallest hashes.
func mutated(t *testing.T, dir string) (sample []condition, binary string) {
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	write := func(name, text string) string {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	add := func(name, from string, change func(src string) string) {
		src, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		abs, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		overlay.Replace[abs] = write(name, change(string(src)))
	}
	same := func(src string) string { return src }
	add("internal/lower/mutated.go", "testdata/mutation/lower.go", same)
	add("mutated_test.go", "testdata/mutation/worker_test.go", same)
	var all []condition
	names := map[string]int{}
	for _, file := range glob(t, "internal/lower/*.go") {
		if strings.HasSuffix(file, "_test.go") || !newest() && slices.Contains(laterForms, filepath.Base(file)) {
			continue
		}
		add(file, file, func(src string) string {
			return strings.Replace(negatable(t, src, func(name string, line int) int {
				if names[name]++; names[name] > 1 {
					name += fmt.Sprint(" #", names[name])
				}
				all = append(all, condition{len(all) + 1, name, fmt.Sprintf("%s:%d", filepath.Base(file), line)})
				return len(all)
			}), "func (u *Unit) Lower(", "func (u *Unit) rewrite__(", 1)
		})
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(dir, "mutated.test")
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", write("overlay.json", string(list)), "-c", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d conditions", len(all))
	hash := func(c condition) string { h := sha256.Sum256([]byte(c.name)); return string(h[:]) }
	slices.SortFunc(all, func(a, b condition) int { return strings.Compare(hash(a), hash(b)) })
	all = all[:sampleSize]
	selected, err := regexp.Compile(*negate)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(c condition) bool { return !selected.MatchString(c.name) }), binary
}

// negatable puts each condition of a file into a call that can negate it: those of if statements and of switches without a tag, and operands of && and ||. Number
// returns the number of the next one.
func negatable(t *testing.T, src string, number func(name string, line int) int) string {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	inserts := map[int]string{} // by their offsets
	for _, d := range f.Decls {
		function := ""
		if fd, ok := d.(*ast.FuncDecl); ok {
			function = fd.Name.Name
		}
		wrap := func(e ast.Expr) {
			from, to := fset.Position(e.Pos()), fset.Position(e.End())
			name := function + ": " + strings.Join(strings.Fields(src[from.Offset:to.Offset]), " ")
			inserts[from.Offset] += fmt.Sprintf("met__(%d, ", number(name, from.Line))
			inserts[to.Offset] += ")"
		}
		logical := func(e ast.Expr) bool {
			x, ok := ast.Unparen(e).(*ast.BinaryExpr)
			return ok && (x.Op == token.LAND || x.Op == token.LOR)
		}
		ast.Inspect(d, func(n ast.Node) bool { // a condition comes before those in it
			switch n := n.(type) {
			case *ast.IfStmt:
				wrap(n.Cond)
			case *ast.SwitchStmt:
				for _, st := range n.Body.List {
					for _, e := range st.(*ast.CaseClause).List {
						if n.Tag == nil {
							wrap(e)
						}
					}
				}
			case *ast.BinaryExpr:
				for _, e := range []ast.Expr{n.X, n.Y} {
					if logical(n) && !logical(e) {
						wrap(e)
					}
				}
			}
			return true
		})
	}
	var b strings.Builder
	last := 0
	for _, at := range slices.Sorted(maps.Keys(inserts)) {
		b.WriteString(src[last:at] + inserts[at])
		last = at
	}
	return b.String() + src[last:]
}
