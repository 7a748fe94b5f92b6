//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"go/ast"
	"go/build"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// structs are the structures of the runtime that layout.go repeats, with their files.
var structs = map[string]string{
	"moduledata": "runtime/symtab.go", "textsect": "runtime/symtab.go", "pcHeader": "runtime/symtab.go", "functab": "runtime/symtab.go",
	"findfuncbucket": "runtime/symtab.go", "modulehash": "runtime/symtab.go", "_func": "runtime/runtime2.go", "inlinedCall": "runtime/symtabinl.go",
	"bitvector": "runtime/stack.go", "ptabEntry": "runtime/plugin.go", "itabTableType": "runtime/iface.go",
}

// facts are further properties of Go that the loader relies on, as its source shows them.
var facts = []struct{ file, text string }{
	{"runtime/symtab.go", `\nvar lastmoduledatap \*moduledata`},
	{"runtime/symtab.go", `//go:linkname lastmoduledatap\n`},
	{"runtime/symtab.go", `//go:linkname moduledataverify1\nfunc moduledataverify1\(datap \*moduledata\)`},
	{"runtime/symtab.go", `\nfunc modulesinit\(\) \{`},
	{"runtime/runtime1.go", `//go:linkname reflect_addReflectOff reflect.addReflectOff\n`},
	{"runtime/runtime1.go", `//go:linkname reflect_typelinks reflect.typelinks\n`},
	{"runtime/panic.go", `\nfunc deferreturn\(\) \{`},
	{"runtime/iface.go", `\nfunc itabInit\(m \*itab, firstTime bool\) string \{`},
	{"runtime/iface.go", `\n\titabTable     = &itabTableInit`},
	{"runtime/iface.go", `\nconst itabInitSize = 512\n`},
	{"runtime/iface.go", `\nvar emptyTypeAssertCache = abi.TypeAssertCache\{Mask: 0\}`},
	{"runtime/iface.go", `\nvar emptyInterfaceSwitchCache = abi.InterfaceSwitchCache\{Mask: 0\}`},
	{"runtime/malloc.go", `\nvar zerobase uintptr`},
	{"runtime/panic.go", `case abi.FuncIDWrapper:\n\t+continue`},
	{"internal/abi/switch.go", `type TypeAssert struct \{\n\tCache +\*TypeAssertCache`},
	{"internal/abi/switch.go", `type InterfaceSwitch struct \{\n\tCache +\*InterfaceSwitchCache`},
	{"cmd/compile/internal/reflectdata/reflect.go", `extra := t.Sym\(\) != nil \|\| len\(methods\(t\)\) != 0`},
	{"runtime/runtime2.go", `\ntype gobuf struct \{(\n\t//.*)*\n\tsp +uintptr\n\tpc +uintptr\n\tg +guintptr\n\tctxt +unsafe.Pointer\n\tlr +uintptr\n\tbp +uintptr`},
	{"runtime/runtime2.go", `\ntype g struct \{(\n\t//.*)*\n\tstack +stack.*\n\tstackguard0 +uintptr.*\n\tstackguard1 +uintptr.*\n\n\t_panic +\*.*\n\t_defer +\*.*\n\tm +\*m.*\n\tsched +gobuf`},
	{"runtime/runtime2.go", `\ntype m struct \{\n\tg0 +\*g.*\n\tmorebuf +gobuf.*\n\tdivmod +uint32.*\n\n\t//.*\n\n\tprocid +uint64.*\n\tgsignal +\*g.*\n\tgoSigStack +gsignalStack.*\n\tsigmask +sigset.*\n\ttls +\[tlsSlots\]uintptr.*\n\tmstartfn +func\(\)\n\tcurg +\*g.*\n\tcaughtsig +guintptr`},
	{"runtime/runtime2.go", `\n\tsignalSecret +(uint32|bool)(.*\n)(\n\t//.*|\n)*\n\tp puintptr\n\n\tnextp +puintptr.*\n\toldp +puintptr.*\n\tid +int64\n\tmallocing +int32\n\tthrowing +throwType\n\tpreemptoff +string.*\n\tlocks +int32\n`},
	{"runtime/panic.go", `\ntype throwType uint32\n`},
	{"runtime/runtime2.go", `\n\ttlsSlots = 6\n`},
	{"runtime/os_linux_generic.go", `\ntype sigset \[2\]uint32\n`},
	{"runtime/signal_unix.go", `\ntype gsignalStack struct \{\n\tstack +stack\n\tstackguard0 uintptr\n\tstackguard1 uintptr\n\tstktopsp +uintptr\n\}`},
	{"runtime/stack.go", `\nfunc newstack\(\) \{`},
	{"runtime/print.go", `\nfunc printlock\(\) \{`},
	{"runtime/stubs.go", `\nfunc gogo\(buf \*gobuf\)`},
	{"runtime/stack.go", `if newsize > maxstacksize \|\| newsize > maxstackceiling \{\n\t\tif maxstacksize < maxstackceiling \{\n\t\t\tprint\(`},
	{"runtime/iface.go", `len\(staticuint64s\)`},
	{"cmd/compile/internal/reflectdata/reflect.go", `"runtime.gcbits.%x"`},
	{"runtime/type.go", `// -1 is the sentinel value for unreachable code.`},
	{"internal/goarch/goarch_amd64.go", `_PCQuantum *= 1\n`},
	{"internal/goarch/goarch_arm64.go", `_PCQuantum *= 4\n`},
	{"cmd/compile/internal/types/fmt.go", `h := hash.Sum32\(\[\]byte\(p\)\)\n\treturn binary.LittleEndian.Uint32\(h\[:4\]\)`},
	{"cmd/internal/hash/hash.go", `sum := sha256.Sum256\(data\)\n\tsum\[0\] \^= 0xff`},
}

// TestLayout compares what layout.go repeats with the source of the installed Go. If it fails,
// docs/compiled-cells.md explains what to do.
func TestLayout(t *testing.T) {
	src := filepath.Join(testenv.GOROOT(t), "src")
	ours := map[string][]string{}
	for _, file := range layoutFiles(t) {
		maps.Copy(ours, fieldsIn(t, file))
	}
	for name, file := range structs {
		want := fieldsIn(t, filepath.Join(src, file))[name]
		got := ours[name]
		for i := range max(len(got), len(want), 1) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Errorf("%s, from field %d: got %q, and the runtime has %q; see docs/compiled-cells.md", name, i+1, got[min(i, len(got)):min(i+3, len(got))], want[min(i, len(want)):min(i+3, len(want))])
				break
			}
		}
	}
	for _, f := range facts {
		b, err := os.ReadFile(filepath.Join(src, f.file))
		if err != nil {
			t.Error(err)
		} else if !regexp.MustCompile(f.text).Match(b) {
			t.Errorf("%s does not match %q; see docs/compiled-cells.md", f.file, f.text)
		}
	}
}

// layoutFiles returns the files of layouts that belong to the release that runs the test.
func layoutFiles(t *testing.T) []string {
	t.Helper()
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(pkg.GoFiles, func(file string) bool { return !strings.HasPrefix(file, "layout") })
}

// TestOffsets compares numbers of this package with the types and constants of package internal/abi.
func TestOffsets(t *testing.T) {
	build.Default.GOROOT = testenv.GOROOT(t)
	abi, err := importer.ForCompiler(token.NewFileSet(), "source", nil).Import("internal/abi")
	if err != nil {
		t.Fatal(err)
	}
	sizes := types.SizesFor("gc", runtime.GOARCH)
	lookup := func(name string) types.Object {
		x := abi.Scope().Lookup(name)
		if x == nil {
			t.Fatalf("package internal/abi has no %s; see docs/compiled-cells.md", name)
		}
		return x
	}
	for _, tt := range []struct {
		name string // of a constant, of a type for its size, or of a field for its offset
		got  int
	}{
		{"Type.Hash", hashAt}, {"Type.TFlag", flagsAt}, {"Type.Kind_", kindAt}, {"Type.PtrToThis", pointerTo},
		{"PtrType.Elem", elemAt}, {"SliceType.Elem", elemAt}, {"ArrayType.Elem", elemAt}, {"ArrayType.Len", lenAt},
		{"ChanType.Elem", elemAt}, {"ChanType.Dir", dirAt}, {"FuncType.InCount", inCountAt}, {"FuncType.OutCount", outCountAt}, {"FuncType", paramsAt},
		{"MapType.Key", elemAt}, {"MapType.Elem", valueAt}, {"MapType.Hasher", hasherAt}, {"StructType.Fields", fieldsAt},
		{"UncommonType.Mcount", countsAt}, {"UncommonType.Moff", methodsOff}, {"UncommonType", uncommonLen}, {"Method", methodLen},
		{"ITab.Type", itabType}, {"ITab.Hash", hashAt},
		{"Type", uncommonAt(reflect.Int)}, {"PtrType", uncommonAt(reflect.Pointer)}, {"SliceType", uncommonAt(reflect.Slice)}, {"FuncType", uncommonAt(reflect.Func)},
		{"ChanType", uncommonAt(reflect.Chan)}, {"ArrayType", uncommonAt(reflect.Array)}, {"StructType", uncommonAt(reflect.Struct)},
		{"InterfaceType", uncommonAt(reflect.Interface)}, {"MapType", uncommonAt(reflect.Map)},
		{"TFlagUncommon", flagUncommon}, {"TFlagNamed", flagNamed}, {"KindDirectIface", kindMask + 1},
		{"FuncIDWrapper", funcIDWrapper}, {"FuncFlagAsm", funcFlagAsm}, {"CurrentPCLnTabMagic", pcHeaderMagic}, {"FuncTabBucketSize", bucketSize},
		{"PCDATA_InlTreeIndex", pcdataInlTree}, {"FUNCDATA_InlTree", funcdataInlTree}, {"FUNCDATA_StackObjects", stackObjects},
		{"FUNCDATA_ArgsPointerMaps", 0}, {"FUNCDATA_LocalsPointerMaps", 1},
	} {
		typ, field, isField := strings.Cut(tt.name, ".")
		x := lookup(typ)
		want := int64(-1)
		if c, ok := x.(*types.Const); ok {
			want, _ = constant.Int64Val(constant.ToInt(c.Val()))
		} else if !isField {
			want = sizes.Sizeof(x.Type())
		} else {
			// Descriptions of other kinds begin with a Type.
			obj, index, _ := types.LookupFieldOrMethod(x.Type(), false, abi, field)
			if v, ok := obj.(*types.Var); ok && len(index) == 1 {
				s := x.Type().Underlying().(*types.Struct)
				fields := make([]*types.Var, s.NumFields())
				for i := range fields {
					fields[i] = s.Field(i)
				}
				want = sizes.Offsetsof(fields)[slices.Index(fields, v)]
			}
		}
		if int64(tt.got) != want {
			t.Errorf("%s: got %d, and internal/abi has %d; see docs/compiled-cells.md", tt.name, tt.got, want)
		}
	}
}

// runtimeNames matches the names of symbols of the runtime in the source of this package.
var runtimeNames = regexp.MustCompile(`(?:"|//go:linkname \w+ )((?:runtime|reflect|internal/runtime/maps)\.(\w+))`)

// TestNames checks that facts and docs/compiled-cells.md cover each symbol of the runtime that this package uses by name.
func TestNames(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../../docs/compiled-cells.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range runtimeNames.FindAllStringSubmatch(string(b), -1) {
			names[m[1]] = m[2]
		}
	}
	for symbol, name := range names {
		word := regexp.MustCompile(`\b(reflect_)?` + name + `\b`)
		if !slices.ContainsFunc(facts, func(f struct{ file, text string }) bool {
			return word.MatchString(strings.NewReplacer(`\n`, " ", `\t`, " ").Replace(f.text))
		}) {
			t.Errorf("%s: no fact in this file says what it is in the source of Go; see docs/compiled-cells.md", symbol)
		}
		if !strings.Contains(string(page), "`"+symbol+"`") {
			t.Errorf("docs/compiled-cells.md does not name %s", symbol)
		}
	}
	if len(names) < 13 {
		t.Errorf("found only the names %v", names)
	}
}

// plain are types that layout.go writes as their underlying types.
var plain = strings.NewReplacer("abi.FuncID", "uint8", "abi.FuncFlag", "uint8", "abi.PCLnTabMagic", "uint32")

// fieldsIn returns the fields of the structs in a file, each as "name type". Fields that take no
// room are left out.
func fieldsIn(t *testing.T, file string) map[string][]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if st, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range st.Fields.List {
				text := plain.Replace(types.ExprString(field.Type))
				for _, id := range field.Names {
					all[spec.Name.Name] = append(all[spec.Name.Name], id.Name+" "+text)
				}
			}
		}
		return true
	})
	return all
}
