package typemaker

import (
	"go/build"
	"go/constant"
	"go/importer"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

const advice = "; see the comments of layout.go and release_unknown.go"

// structures are those of package internal/abi that this package repeats.
var structures = map[string]reflect.Type{
	"Type":          reflect.TypeFor[common](),
	"ArrayType":     reflect.TypeFor[arrayType](),
	"ChanType":      reflect.TypeFor[chanType](),
	"FuncType":      reflect.TypeFor[funcType](),
	"InterfaceType": reflect.TypeFor[interfaceType](),
	"Imethod":       reflect.TypeFor[imethod](),
	"MapType":       reflect.TypeFor[mapType](),
	"PtrType":       reflect.TypeFor[ptrType](),
	"SliceType":     reflect.TypeFor[sliceType](),
	"StructType":    reflect.TypeFor[structType](),
	"StructField":   reflect.TypeFor[structField](),
	"UncommonType":  reflect.TypeFor[uncommon](),
	"Method":        reflect.TypeFor[method](),
}

// TestLayout compares the structures and constants of this package with the source of package internal/abi.
func TestLayout(t *testing.T) {
	if !known {
		t.Errorf("%s is newer than the releases that this package knows%s", runtime.Version(), advice)
	}
	build.Default.GOROOT = testenv.GOROOT(t)
	abi, err := importer.ForCompiler(token.NewFileSet(), "source", nil).Import("internal/abi")
	if err != nil {
		t.Fatal(err)
	}
	sizes := types.SizesFor("gc", runtime.GOARCH)
	for name, ours := range structures {
		x := abi.Scope().Lookup(name)
		if x == nil {
			t.Errorf("package internal/abi has no type %s%s", name, advice)
			continue
		}
		theirs, ok := x.Type().Underlying().(*types.Struct)
		if !ok {
			t.Errorf("abi.%s is not a struct%s", name, advice)
			continue
		}
		compareStructs(t, "abi."+name, ours, theirs, sizes)
	}
	for name, ours := range map[string]int64{
		"TFlagUncommon": tflagUncommon, "TFlagExtraStar": tflagExtraStar, "TFlagNamed": tflagNamed,
		"TFlagGCMaskOnDemand": tflagGCMaskOnDemand, "TFlagDirectIface": tflagDirectIface,
		"Func": int64(reflect.Func), "Map": int64(reflect.Map), "Struct": int64(reflect.Struct), "UnsafePointer": int64(reflect.UnsafePointer),
	} {
		c, ok := abi.Scope().Lookup(name).(*types.Const)
		if !ok {
			t.Errorf("package internal/abi has no constant %s%s", name, advice)
			continue
		}
		if theirs, _ := constant.Int64Val(c.Val()); theirs != ours {
			t.Errorf("abi.%s is %d, and this package has %d%s", name, theirs, ours, advice)
		}
	}
}

// compareStructs compares the names, offsets and sizes of fields.
func compareStructs(t *testing.T, name string, ours reflect.Type, theirs *types.Struct, sizes types.Sizes) {
	t.Helper()
	var fields []*types.Var
	for f := range theirs.Fields() {
		fields = append(fields, f)
	}
	offsets := sizes.Offsetsof(fields)
	for i, f := range fields {
		if i >= ours.NumField() {
			t.Errorf("%s has a field %s at %d, and %v has no such field%s", name, f.Name(), offsets[i], ours, advice)
			continue
		}
		o := ours.Field(i)
		called := strings.EqualFold(o.Name, strings.TrimSuffix(f.Name(), "_")) || o.Name == "_" && f.Name() == "_" || f.Embedded() && o.Anonymous
		if size := sizes.Sizeof(f.Type()); !called || int64(o.Offset) != offsets[i] || int64(o.Type.Size()) != size {
			t.Errorf("%s has a field %s at %d with %d bytes, and %v has %s at %d with %d bytes%s", name, f.Name(), offsets[i], size, ours, o.Name, o.Offset, o.Type.Size(), advice)
		}
	}
	if ours.NumField() > len(fields) {
		t.Errorf("%v has a field %s, and %s has no such field%s", ours, ours.Field(len(fields)).Name, name, advice)
	}
	if size := sizes.Sizeof(theirs); int64(ours.Size()) != size {
		t.Errorf("%s has %d bytes, and %v has %d%s", name, size, ours, ours.Size(), advice)
	}
}

// facts are properties of Go that this package relies on, as its source shows them.
var facts = []struct{ what, file, text string }{
	{"package reflect lets others number what descriptions refer to", "runtime/runtime1.go", `//go:linkname reflect_addReflectOff reflect.addReflectOff\nfunc reflect_addReflectOff\(ptr unsafe.Pointer\) int32 \{`},
	{"numbers of the same pointer are the same", "runtime/runtime1.go", `reflectOffs.minv\[ptr\]`},
	{"numbers keep what they stand for alive", "runtime/runtime1.go", `reflectOffs.m\[id\] = ptr\n`},
	{"a name outside of modules is found by its number", "runtime/type.go", `res, found := reflectOffs.m\[int32\(off\)\]`},
	{"code is found by its number", "runtime/type.go", `res := reflectOffs.m\[int32\(off\)\]`},
	{"no code has the number -1", "runtime/type.go", `if off == -1 \{\n\t\t// -1 is the sentinel value for unreachable code.`},
	{"a type is found by its number", "runtime/type.go", `func \(t rtype\) typeOff\(off typeOff\) \*_type \{`},
	{"an interface is a type and a word", "internal/abi/iface.go", `type EmptyInterface struct \{\n\tType \*Type\n\tData unsafe.Pointer\n`},
	{"a reflect.Type points to a description", "reflect/type.go", `\ntype rtype struct \{\n\tt abi.Type\n\}`},
	{"the functions that MakeFunc makes begin with their code", "reflect/makefunc.go", `type makeFuncCtxt struct \{\n\tfn +uintptr\n`},
	{"MakeFunc makes them so", "reflect/makefunc.go", `type makeFuncImpl struct \{\n\tmakeFuncCtxt\n`},
	{"their code is makeFuncStub", "reflect/makefunc.go", `code := abi.FuncPCABI0\(makeFuncStub\)`},
	{"the runtime knows makeFuncStub's frame by its name", "runtime/stkframe.go", `case "reflect.makeFuncStub", "reflect.methodValueCall":`},
	{"the type of *T is found by T's ptrToThis", "reflect/type.go", `if at.PtrToThis != 0 \{\n\t\treturn t.typeOff\(at.PtrToThis\)`},
	{"the parameters of a function type follow its uncommon", "internal/abi/type.go", `uadd := unsafe.Sizeof\(\*t\)\n\tif t.TFlag&TFlagUncommon != 0 \{\n\t\tuadd \+= unsafe.Sizeof\(UncommonType\{\}\)`},
	{"an uncommon follows the structure of the kind", "internal/abi/type.go", `case Map:\n\t\ttype u struct \{\n\t\t\tMapType\n\t\t\tu UncommonType\n`},
	{"an uncommon follows a Type for kinds without their own", "internal/abi/type.go", `default:\n\t\ttype u struct \{\n\t\t\tType\n\t\t\tu UncommonType\n`},
	{"methods lie at Moff", "internal/abi/type.go", `addChecked\(unsafe.Pointer\(t\), uintptr\(t.Moff\)`},
	{"flags of names", "internal/abi/type.go", `if exported \{\n\t\tbits \|= 1 << 0\n\t\}\n\tif len\(tag\) > 0 \{\n\t\tl \+= tagLenLen \+ len\(tag\)\n\t\tbits \|= 1 << 1\n\t\}\n\tif embedded \{\n\t\tbits \|= 1 << 3\n`},
	{"names are their length as a varint and their text", "internal/abi/type.go", `copy\(b\[1:\], nameLen\[:nameLenLen\]\)\n\tcopy\(b\[1\+nameLenLen:\], n\)`},
	{"an interface takes a method's ifn", "runtime/iface.go", `ifn := rtyp.textOff\(t.Ifn\)`},
	{"an interface looks for methods in order of their names", "runtime/iface.go", `// both inter and typ have method sorted by name`},
	{"reflect takes a method's tfn", "reflect/type.go", `tfn := t.textOff\(p.Tfn\)`},
	{"equality of structs skips fields named _", "cmd/compile/internal/compare/compare.go", `f.Sym.IsBlank\(\)`},
	{"hashes of structs skip fields named _", "runtime/alg.go", `if f.Name.IsBlank\(\) \{\n\t+continue`},
	{"the text of a type that panics names", "runtime/error.go", `" called using nil \*"`},
	{"code in assembly is never preempted", "runtime/preempt.go", `if up == abi.UnsafePointUnsafe`},
	// The register of the closure, and the one that makeFuncStub writes before it is read, so that a stub may use it.
	{"registers on amd64", "reflect/asm_amd64.s", `TEXT ·makeFuncStub\(SB\),\(NOSPLIT\|WRAPPER\),\$\d+\n\tNO_LOCAL_POINTERS\n(\t//.*\n)*\tLEAQ\tLOCAL_REGARGS\(SP\), R12\n\tCALL\truntime·spillArgs\(SB\)\n\tMOVQ\tDX, 24\(SP\)`},
	{"registers on arm64", "reflect/asm_arm64.s", `TEXT ·makeFuncStub\(SB\),\(NOSPLIT\|WRAPPER\),\$\d+\n\tNO_LOCAL_POINTERS\n(\t//.*\n)*\tADD\t\$LOCAL_REGARGS, RSP, R20\n\tCALL\truntime·spillArgs\(SB\)\n\tMOVD\tR26, 32\(RSP\)`},
	{"registers on loong64", "reflect/asm_loong64.s", `TEXT ·makeFuncStub\(SB\),\(NOSPLIT\|WRAPPER\),\$\d+\n\tNO_LOCAL_POINTERS\n\tADDV\t\$LOCAL_REGARGS, R3, R25.*\n\tJAL\truntime·spillArgs\(SB\)\n\tMOVV\tREGCTXT, 32\(R3\)`},
	{"registers on riscv64", "reflect/asm_riscv64.s", `TEXT ·makeFuncStub\(SB\),\(NOSPLIT\|WRAPPER\),\$\d+\n\tNO_LOCAL_POINTERS\n(\t//.*\n)*\tADD\t\$LOCAL_REGARGS, SP, X25.*\n\tCALL\truntime·spillArgs\(SB\)\n\tMOV\tCTXT, 32\(SP\)`},
	{"registers on 386", "reflect/asm_386.s", `TEXT ·makeFuncStub\(SB\),\(NOSPLIT\|WRAPPER\),\$\d+\n\tNO_LOCAL_POINTERS\n\tMOVL\tDX, 0\(SP\)`},
}

// TestFacts looks for the facts in the source of the installed Go.
func TestFacts(t *testing.T) {
	src := filepath.Join(testenv.GOROOT(t), "src")
	for _, f := range facts {
		b, err := os.ReadFile(filepath.Join(src, f.file))
		if err != nil {
			t.Error(err)
		} else if !regexp.MustCompile(f.text).Match(b) {
			t.Errorf("%s: %s does not match %q%s", f.what, f.file, f.text, advice)
		}
	}
}

// TestDescriptions looks for the parts of descriptions that the compiler has written.
func TestDescriptions(t *testing.T) {
	var path int32
	for _, v := range []any{namedStruct{}, namedSlice{}, namedMap{}, namedArray{}, namedFunc(nil), namedChan(nil), namedInt(0), namedString("")} {
		r := reflect.TypeOf(v)
		c := description(r)
		u := (*uncommon)(unsafeAdd(c, words(r.Kind())))
		if path == 0 {
			path = u.pkgPath
		}
		if u.pkgPath != path || u.mcount != 1 || u.xcount != 1 || int(u.moff) != (uncommonWords+params(r))*int(wordSize) && r.Kind() != reflect.Struct {
			t.Errorf("%v: the description of its methods is %+v; want the path %d, one method and %d parameters before it%s", r, *u, path, params(r), advice)
		}
		if c.tflag&(tflagUncommon|tflagNamed) != tflagUncommon|tflagNamed || c.size != r.Size() || reflect.Kind(c.kind) != r.Kind() || described(c) != r {
			t.Errorf("%v: its description is %+v%s", r, c, advice)
		}
		if r.Kind() == reflect.Func {
			for i := range params(r) {
				if p := *(*uintptr)(unsafeAdd(c, words(r.Kind())+uncommonWords+i)); p != address(description(param(r, i))) {
					t.Errorf("parameter %d of %v is at %#x%s", i, r, p, advice)
				}
			}
		}
	}
}

type namedStruct struct{ A, B int }
type namedSlice []int
type namedMap map[string]int
type namedArray [2]int
type namedFunc func(int) string
type namedChan chan int
type namedInt int
type namedString string

func (namedStruct) M() {}
func (namedSlice) M()  {}
func (namedMap) M()    {}
func (namedArray) M()  {}
func (namedFunc) M()   {}
func (namedChan) M()   {}
func (namedInt) M()    {}
func (namedString) M() {}
