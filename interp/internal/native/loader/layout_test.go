//go:build linux && (amd64 || arm64) && go1.26 && !go1.27

package loader

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
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
	{"internal/abi/type.go", `type UncommonType struct \{\n\tPkgPath NameOff.*\n\tMcount +uint16.*\n\tXcount +uint16.*\n\tMoff +uint32.*\n\t_ +uint32`},
	{"internal/abi/type.go", `type Method struct \{\n\tName NameOff.*\n\tMtyp TypeOff.*\n\tIfn +TextOff.*\n\tTfn +TextOff`},
	{"internal/abi/type.go", `type StructType struct \{\n\tType\n\tPkgPath Name\n\tFields +\[\]StructField`},
	{"internal/abi/map.go", `type MapType struct \{\n\tType\n\tKey +\*Type\n\tElem +\*Type\n\tGroup \*Type.*\n.*\n\tHasher +func`},
	{"cmd/compile/internal/reflectdata/reflect.go", `extra := t.Sym\(\) != nil \|\| len\(methods\(t\)\) != 0`},
	{"runtime/panic.go", `//go:linkname maps_fatal internal/runtime/maps.fatal\nfunc maps_fatal\(s string\) \{`},
	{"runtime/panic.go", `\nfunc fatal\(s string\) \{`},
	{"internal/abi/symtab.go", `CurrentPCLnTabMagic = Go120PCLnTabMagic`},
	{"internal/abi/symtab.go", `Go120PCLnTabMagic +PCLnTabMagic = 0x[fF]{7}1`},
	{"internal/abi/symtab.go", `FuncFlagAsm\n`},
	{"internal/abi/symtab.go", `PCDATA_InlTreeIndex *= 2`},
	{"internal/abi/symtab.go", `FUNCDATA_ArgsPointerMaps *= 0`},
	{"internal/abi/symtab.go", `FUNCDATA_LocalsPointerMaps *= 1`},
	{"internal/abi/symtab.go", `FUNCDATA_StackObjects *= 2`},
	{"internal/abi/symtab.go", `FUNCDATA_InlTree *= 3`},
	{"internal/abi/symtab.go", `MINFUNC *= 16`},
	{"internal/abi/symtab.go", `FuncTabBucketSize *= 256 \* MINFUNC`},
	{"internal/abi/type.go", `TFlagUncommon TFlag = 1 << 0`},
	{"internal/abi/type.go", `TFlagNamed TFlag = 1 << 2`},
	{"internal/abi/iface.go", `type ITab struct \{\n\tInter \*InterfaceType\n\tType  \*Type\n\tHash  uint32`},
	{"cmd/compile/internal/types/fmt.go", `h := hash.Sum32\(\[\]byte\(p\)\)\n\treturn binary.LittleEndian.Uint32\(h\[:4\]\)`},
	{"cmd/internal/hash/hash.go", `sum := sha256.Sum256\(data\)\n\tsum\[0\] \^= 0xff`},
}

// TestLayout compares what layout.go repeats with the source of the installed Go. If it fails,
// docs/compiled-cells.md explains what to do.
func TestLayout(t *testing.T) {
	src := filepath.Join(testenv.GOROOT(t), "src")
	ours := fieldsIn(t, "layout.go")
	for name, file := range structs {
		want := fieldsIn(t, filepath.Join(src, file))[name]
		if len(want) == 0 || !reflect.DeepEqual(ours[name], want) {
			t.Errorf("%s:\ngot  %q\nwant %q; see docs/compiled-cells.md", name, ours[name], want)
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

// TestOffsets compares the offsets in descriptions of types with those of the installed Go.
func TestOffsets(t *testing.T) {
	typ := fieldsIn(t, filepath.Join(testenv.GOROOT(t), "src/internal/abi/type.go"))["Type"]
	var names []string
	for _, f := range typ {
		names = append(names, f[:strings.IndexByte(f, ' ')])
	}
	want := []string{"Size_", "PtrBytes", "Hash", "TFlag", "Align_", "FieldAlign_", "Kind_", "Equal", "GCData", "Str", "PtrToThis"}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("the fields of abi.Type are %q, want %q; see docs/compiled-cells.md", names, want)
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
