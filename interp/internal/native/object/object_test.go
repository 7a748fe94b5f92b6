package object

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

const source = `package main

type T struct {
	a int
	s []string
}

func (t T) M() int { return t.a }

type I interface{ M() int }

var V map[string]*T
var W = []I{T{}}

func F(x []int) int { defer func() { recover() }(); return x[3] + g(x) }
func g(x []int) int { println("x"); return W[0].M() }
`

// compiled returns the archive that the installed compiler makes for a processor.
func compiled(t testing.TB, goarch string) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "main.a")
	if err := os.WriteFile(in, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "tool", "compile", "-p", "main", "-dynlink", "-shared", "-dwarf=false", "-o", out, in)
	cmd.Env = append(os.Environ(), "GOARCH="+goarch)
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRead(t *testing.T) {
	testenv.GOROOT(t)
	for _, tt := range []struct {
		goarch string
		call   RelocType
	}{{"amd64", Call}, {"arm64", CallARM64}} {
		t.Run(tt.goarch, func(t *testing.T) {
			o, err := Read(compiled(t, tt.goarch))
			if err != nil {
				t.Fatal(err)
			}
			kinds, calls := map[string]Kind{}, map[string]bool{}
			for i := range o.Defs {
				s := &o.Defs[i]
				kinds[s.Name] = s.Kind
				for _, r := range s.Relocs {
					if s.Name == "main.F" && r.Type == tt.call {
						calls[o.Name(r.Sym)] = true
					}
				}
				if s.Name != "main.F" {
					continue
				}
				r, ok := s.AuxOf(AuxFuncInfo)
				if !ok || o.Def(r) == nil {
					t.Fatal("main.F has no description")
				}
				f, err := ReadFuncInfo(o.Def(r).Data)
				if err != nil || f.StartLine != 15 || len(f.Inlined) != 1 || o.Name(f.Inlined[0].Func) != "main.g" {
					t.Errorf("got the description %+v of main.F, and the error %v", f, err)
				}
			}
			for name, want := range map[string]Kind{"main.F": Text, "main.V": BSS, "main.W": Data, "type:main.T": ROData, "main.T.M": Text} {
				if kinds[name] != want {
					t.Errorf("%s is of kind %d, want %d", name, kinds[name], want)
				}
			}
			for _, name := range []string{"main.F.func1", "runtime.deferreturn"} {
				if !calls[name] {
					t.Errorf("main.F does not call %s but %v", name, calls)
				}
			}
		})
	}
}

// FuzzRead reads damaged objects.
func FuzzRead(f *testing.F) {
	if _, err := exec.LookPath("go"); err != nil {
		f.Skip("needs the go command")
	}
	b := compiled(f, "amd64")
	for i := 0; i < len(b); i += len(b) / 40 {
		damaged := bytes.Clone(b)
		damaged[i] ^= 0x5a
		f.Add(damaged)
		f.Add(b[:i])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := Read(b)
		if err != nil {
			return
		}
		for i := range o.Defs {
			s := &o.Defs[i]
			for _, r := range s.Relocs {
				o.Name(r.Sym)
				o.PackageOf(r.Sym)
			}
			for _, a := range s.Aux {
				if d := o.Def(a.Sym); d != nil && a.Type == AuxFuncInfo {
					_, _ = ReadFuncInfo(d.Data)
				}
			}
		}
	})
}

// TestConstants compares the numbers of this package with the source of the installed Go.
func TestConstants(t *testing.T) {
	root := filepath.Join(testenv.GOROOT(t), "src/cmd/internal")
	relocs := enumeration(t, filepath.Join(root, "objabi/reloctype.go"), "R_ADDR")
	kinds := enumeration(t, filepath.Join(root, "objabi/symkind.go"), "Sxxx")
	for _, tt := range []struct {
		in   map[string]int
		name string
		got  int
		base int // of the first name
	}{
		{relocs, "R_ADDR", int(Addr), 1}, {relocs, "R_ADDRARM64", int(AddrARM64), 1}, {relocs, "R_ADDROFF", int(AddrOff), 1},
		{relocs, "R_CALL", int(Call), 1}, {relocs, "R_CALLARM64", int(CallARM64), 1}, {relocs, "R_PCREL", int(PCRel), 1},
		{relocs, "R_USEFIELD", int(UseField), 1}, {relocs, "R_USENAMEDMETHOD", int(UseNamedMethod), 1}, {relocs, "R_METHODOFF", int(MethodOff), 1},
		{relocs, "R_KEEP", int(Keep), 1}, {relocs, "R_GOTPCREL", int(GOTPCRel), 1}, {relocs, "R_ARM64_GOTPCREL", int(GOTPCRelARM64), 1},
		{relocs, "R_INITORDER", int(InitOrder), 1}, {relocs, "R_TLS_IE", int(ThreadLocal), 1},
		{relocs, "R_ARM64_PCREL_LDST8", int(Load8ARM64), 1}, {relocs, "R_ARM64_PCREL_LDST16", int(Load16ARM64), 1},
		{relocs, "R_ARM64_PCREL_LDST32", int(Load32ARM64), 1}, {relocs, "R_ARM64_PCREL_LDST64", int(Load64ARM64), 1},
		{kinds, "STEXT", int(Text), 0}, {kinds, "SRODATA", int(ROData), 0}, {kinds, "SNOPTRDATA", int(NoPtrData), 0}, {kinds, "SDATA", int(Data), 0},
		{kinds, "SBSS", int(BSS), 0}, {kinds, "SNOPTRBSS", int(NoPtrBSS), 0}, {kinds, "SDWARFCUINFO", int(Debug), 0},
	} {
		if want, ok := tt.in[tt.name]; !ok || tt.got != want+tt.base {
			t.Errorf("%s is %d, want %d", tt.name, tt.got, want+tt.base)
		}
	}
	b, err := os.ReadFile(filepath.Join(root, "goobj/objfile.go"))
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`const Magic = (".*")`).FindSubmatch(b); m == nil || string(m[1]) != strconv.Quote(magic) {
		t.Errorf("the magic is %q, want %s", magic, m)
	}
}

// enumeration returns the positions of the names in a group of constants, by the first name.
func enumeration(t *testing.T, file, first string) map[string]int {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST || g.Specs[0].(*ast.ValueSpec).Names[0].Name != first {
			continue
		}
		list := map[string]int{}
		for i, s := range g.Specs {
			list[s.(*ast.ValueSpec).Names[0].Name] = i
		}
		return list
	}
	t.Fatalf("%s has no constants that begin with %s", file, first)
	return nil
}

// TestBuiltins compares the list of builtin symbols with the source of the installed Go.
func TestBuiltins(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(testenv.GOROOT(t), "src/cmd/internal/goobj/builtinlist.go"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, m := range regexp.MustCompile(`\{"([^"]+)", \d\}`).FindAllSubmatch(b, -1) {
		want = append(want, string(m[1]))
	}
	if got := strings.Join(builtins[:], " "); got != strings.Join(want, " ") {
		t.Errorf("the list of builtin symbols is not that of %s: run go generate with it in this folder", runtime.Version())
	}
}
