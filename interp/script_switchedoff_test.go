package interp

import (
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/engine"
)

// A change of package lower is found by one of these.
const (
	byCheck    = "the check of the core"
	byCompiler = "the interpreter's compiler"
	byOutput   = "the output of a script"
	byCrash    = "a crash or an endless loop"
	survives   = "not found"
)

// mutationScripts are the scripts that run with each rewrite switched off. Together they use every rewrite.
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
	"barrier":   "a panic that crosses many calls takes longer",
}

// TestSwitchedOff runs scripts without one of the rewrites that the interpreter needs, one in twelve of them, or all if HALFNOTE_REQUIRE lists
// mutations. The check of the core or the output shows that it is missing.
func TestSwitchedOff(t *testing.T) {
	needs := newSession(t).engine.Needs().Rewrites
	share := 12
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
			if by = changed(t, "testdata/"+script+".txtar", func(s *Session) { s.engine = &lackingEngine{s.engine, name} }); by != survives {
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
func changed(t *testing.T, file string, change func(*Session)) (by string) {
	defer func() {
		if r := recover(); r != nil {
			by = byCrash
		}
	}()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Getwd()
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
		want := outputsAfter(a.Files[i+1:]).want(release())
		shown := run(t, s, n, strings.TrimSuffix(string(f.Data), "\n"), after)
		if late {
			eventually(func() bool { return shown() == want })
		}
		got := moving.ReplaceAllString(ended.ReplaceAllString(shown(), "$1"), "")
		if got = strings.ReplaceAll(got, folder, "WORK"); got != want {
			t.Logf("%s: In[%d]: %s", file, n, firstDifference(got, want))
			return shownBy(got)
		}
	}
	return survives
}

// shownBy tells what shows a change, from the output of a cell.
func shownBy(got string) string {
	switch {
	case strings.Contains(got, "compiled cells run it"):
		return byCheck
	case strings.Contains(got, "not supported by the interpreter"), strings.Contains(got, "InternalError"):
		return byCompiler
	}
	return byOutput
}
