//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/native/object"
)

// uncalled are symbols of package runtime that the compiler names and that cells do not refer to, with the reasons.
// A reason holds for one release if it has one.
var uncalled = []struct{ release, names, why string }{
	{"go1.26", `mallocgc(Small|Tiny)\w+`, "only experiments of this release call them"},
	{"", `race\w+|msan\w+|asan\w+|libfuzzer\w+|selectsetpc|slicecopy|addCovMeta|checkptr\w+|unsafe\w+checkptr`, "only instrumented code calls them"},
	{"", `cgoCheck\w+|goschedguarded|panicSimdImm|growslice(Buf)?NoAlias`, "only experiments of Go call them"},
	{"", `retpoline\w+`, "only code compiled with -spectre calls them"},
	{"", `KeepAlive|slicebytetostringtmp`, "the compiler replaces calls by instructions"},
	{"", `throwinit|rand32`, "the compiler declares them and does not call them"},
	{"", `f(add|div|eq|ge|gt|mul)(32|64)|fu?int(32|64)to(32|64)|f(32|64)to\w+`, "processors without floating point"},
	{"", `u?int64(div|mod)|u?int(32|64)tofloat(32|64)|float64tou?int(32|64)|udiv|panicExtend|make(chan|map|slice)64|mapassign_fast32ptr`, "processors with words of 32 bits"},
	{"", `panicoverflow`, "calls of bits.Div64 on amd64, where the runtime calls it too"},
	{"", `wasm\w+|goPanic\w+`, "WebAssembly"},
	{"", `duff(copy|zero)|tls_g|gcWriteBarrier|(x86|arm|arm64|loong64|riscv64)Has\w+`, "other processors"},
}

// TestLinked checks that everything of package runtime that the compiler refers to by itself is in this program, of which
// linked.go is the least part: where the linker has left something out, a cell that needs it is not loaded.
func TestLinked(t *testing.T) {
	names := compilerNames(t)
	s := newSession(t)
	own := map[string]string{"amd64": "runtime.x86Has", "arm64": "runtime.arm64Has"}[runtime.GOARCH]
	for _, name := range names {
		ok := false
		if typ, isType := object.TypeName(name); isType {
			_, ok = s.typeOf(typ)
		} else {
			_, ok = s.find(name)
		}
		known := ok || slices.ContainsFunc(uncalled, func(u struct{ release, names, why string }) bool {
			return strings.HasPrefix(runtime.Version(), u.release) && !strings.HasPrefix(name, own) && regexp.MustCompile("^runtime[.]("+u.names+")$").MatchString(name)
		})
		if !known {
			t.Errorf("the compiler refers to %s, and the linker has left it out of this program: use it in linked.go, or say in uncalled why cells do not", name)
		}
	}
	for _, name := range []string{"runtime.chanlen", "runtime.growslice", "runtime.memhash8", "type:func(error) string", "runtime.zerobase"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not among the %d symbols that the source of the compiler names", name, len(names))
		}
	}
}

// Names of symbols in the source of the compiler, and in that of the linker's list.
var (
	listed   = regexp.MustCompile(`\{"([^"]+)", \d\}`)
	lookedUp = regexp.MustCompile(`(?:LookupRuntime(?:Func|Var|ABI)?|sysClosure)\("(\w+)"`)
	numbered = regexp.MustCompile(`LookupRuntime\w*\(fmt\.Sprintf\("(\w+)%d"`)
)

// compilerNames returns the symbols of package runtime that the source of the compiler names.
func compilerNames(t *testing.T) (list []string) {
	t.Helper()
	src := filepath.Join(testenv.GOROOT(t), "src")
	list = submatches(t, listed, "", filepath.Join(src, "cmd/internal/goobj/builtinlist.go"))
	list = append(list, submatches(t, lookedUp, "runtime.", filepath.Join(src, "cmd/compile/internal"))...)
	for _, prefix := range submatches(t, numbered, "", filepath.Join(src, "cmd/compile/internal")) {
		list = append(list, submatches(t, regexp.MustCompile(`(?m)^func (`+prefix+`\d+)\(`), "runtime.", filepath.Join(src, "runtime"))...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// submatches returns a prefix and the first submatch of an expression for each place in the Go files below a folder, without tests.
func submatches(t *testing.T, re *regexp.Regexp, prefix, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range re.FindAllSubmatch(b, -1) {
			list = append(list, prefix+string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
