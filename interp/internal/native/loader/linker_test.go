package loader

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/native/object"
)

// systems are those whose objects the tests read. Cells run only on the first two.
var systems = []struct{ goos, goarch string }{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"},
}

// program refers to functions, variables of all sizes, constants, strings, types and tables of methods.
const program = `package main

type T struct { a int; s []string; m map[string]*T }
func (t T) M() int { return t.a }
func (t *T) P(f func(float64) float64) float64 { return f(2.5) }
type I interface{ M() int }
type List[E any] struct { v E; next *List[E] }
func (l *List[E]) Len() int { if l == nil { return 0 }; return 1 + l.next.Len() }

var B, C byte
var H uint16
var W, X float32
var F float64
var Text = "text"
var Values = []I{T{}, &T{a: 3}}
var Any any = T{s: []string{"a"}}
var Large [1000]int
var G = func(x int) int { return x + Table[x&3] }
var Table = [4]int{1, 2, 3, 4}

//go:noinline
func numbers(n int) (sum float64) {
	B += byte(n); C = B; H++; W += 1.25; X = W * 3.5; F += 0.1
	for i := range n { Large[i&511] += i; sum += float64(Large[i]) * 1e-3 }
	return sum + F + float64(X)
}

//go:noinline
func texts(v any) string {
	switch v := v.(type) {
	case string: return v + Text
	case interface{ M() int }: return "method"
	case error: panic(v)
	}
	switch Text { case "a", "bc", "def", "text": return "known" }
	return "other"
}

func main() {
	defer func() { if r := recover(); r != nil { println("recovered") } }()
	l := &List[int]{}
	done := make(chan int)
	go func() { done <- G(l.Len()) }()
	for _, v := range Values { println(v.M(), texts(v), texts(Any)) }
	println(numbers(<-done), (&T{}).P(func(x float64) float64 { return x * F }), len(map[string]int{"a": 1}))
	copy := Large
	println(copy[3])
}
`

// TestRelocationTypes compiles a program as cells are compiled, for several systems: every relocation has a rule.
func TestRelocationTypes(t *testing.T) {
	testenv.GOROOT(t)
	for _, s := range systems {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "main.a")
		if err := os.WriteFile(in, []byte(program), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "tool", "compile", "-p", "main", "-dynlink", "-shared", "-dwarf=false", "-o", out, in)
		cmd.Env = append(os.Environ(), "GOOS="+s.goos, "GOARCH="+s.goarch, "GOEXPERIMENT=")
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s/%s: %v\n%s", s.goos, s.goarch, err, b)
		}
		types := map[object.RelocType]int{}
		for _, sym := range readObject(t, out).Defs {
			for _, r := range sym.Relocs {
				if !r.Type.Marker() && r.Size > 0 && sym.Kind < object.Debug {
					types[r.Type]++
				}
			}
		}
		for typ, n := range types {
			if _, ok := archs[s.goarch].rules[typ]; !ok {
				t.Errorf("%s/%s: %d relocations have the type %d, which is not known", s.goos, s.goarch, n, typ)
			}
		}
		if len(types) < 5 {
			t.Errorf("%s/%s: got only the types %v", s.goos, s.goarch, types)
		}
	}
}

func readObject(t *testing.T, file string) *object.Object {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	o, err := object.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestLinker fills in the relocations of a program's functions and compares the code with what Go's linker writes. It
// builds the runtime for each system.
func TestLinker(t *testing.T) {
	if !testenv.Requires("native") {
		t.Skip("HALFNOTE_REQUIRE does not list native")
	}
	for _, s := range systems {
		t.Run(s.goos+"-"+s.goarch, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"main.go": program, "go.mod": "module main\n\ngo 1.26\n"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			goCommand := func(args ...string) string {
				cmd := exec.Command("go", args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "GOOS="+s.goos, "GOARCH="+s.goarch, "CGO_ENABLED=0", "GOWORK=off")
				var errs bytes.Buffer
				cmd.Stderr = &errs
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v\n%s", err, errs.Bytes())
				}
				return strings.TrimSpace(string(out))
			}
			file := filepath.Join(dir, "program")
			goCommand("build", "-o", file, ".")
			x, err := readImage(file)
			if err != nil {
				t.Fatal(err)
			}
			compared := x.compare(t, archs[s.goarch], readObject(t, goCommand("list", "-export", "-f", "{{.Export}}", ".")))
			least := map[string][]object.RelocType{
				"amd64": {object.Call, object.PCRel},
				"arm64": {object.CallARM64, object.AddrARM64, object.Load8ARM64, object.Load16ARM64, object.Load32ARM64, object.Load64ARM64},
			}
			for _, typ := range least[s.goarch] {
				if compared[typ] == 0 {
					t.Errorf("compared %v relocations by type, want some of type %d", compared, typ)
				}
			}
			t.Logf("compared relocations by type: %v", compared)
		})
	}
}

// image is a linked program.
type image struct {
	symbols  map[string]uintptr
	sections []section
}

type section struct {
	at   uintptr
	data []byte
}

// compare fills in the relocations of the functions of an object and compares them with the code of the program.
// Read-only data is left out, which has no symbols.
func (x *image) compare(t *testing.T, a arch, o *object.Object) map[object.RelocType]int {
	compared := map[object.RelocType]int{}
	for i := range o.Defs {
		s := &o.Defs[i]
		at := x.symbols[s.Name]
		linked := x.bytes(at, len(s.Data))
		if s.Kind != object.Text || at == 0 || linked == nil {
			continue
		}
		for _, r := range s.Relocs {
			rule, ok := a.rules[r.Type]
			target := x.symbols[o.Name(r.Sym)]
			if !ok || target == 0 || r.Size == 0 {
				continue
			}
			got, want := bytes.Clone(s.Data[r.Off:r.Off+r.Size]), linked[r.Off:r.Off+r.Size]
			if err := rule.put(got, at+uintptr(r.Off), target, r.Add); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: type %d, to %s: got %x and the error %v, and the linker writes %x", s.Name, r.Type, o.Name(r.Sym), got, err, want)
			}
			compared[r.Type]++
		}
	}
	return compared
}

// bytes returns the n bytes at an address, or nil.
func (x *image) bytes(at uintptr, n int) []byte {
	for _, s := range x.sections {
		if at >= s.at && at+uintptr(n) <= s.at+uintptr(len(s.data)) {
			return s.data[at-s.at:][:n]
		}
	}
	return nil
}

// readImage reads the symbols and sections of a program.
func readImage(file string) (*image, error) {
	x := &image{symbols: map[string]uintptr{}}
	if f, err := elf.Open(file); err == nil {
		defer f.Close()
		list, err := f.Symbols()
		for _, s := range list {
			x.symbols[s.Name] = uintptr(s.Value)
		}
		b, err2 := f.Section(".text").Data()
		x.sections = append(x.sections, section{uintptr(f.Section(".text").Addr), b})
		return x, errors.Join(err, err2)
	}
	if f, err := macho.Open(file); err == nil {
		defer f.Close()
		for _, s := range f.Symtab.Syms {
			x.symbols[s.Name] = uintptr(s.Value)
		}
		b, err := f.Section("__text").Data()
		x.sections = append(x.sections, section{uintptr(f.Section("__text").Addr), b})
		return x, err
	}
	f, err := pe.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	base := uintptr(f.OptionalHeader.(*pe.OptionalHeader64).ImageBase)
	for _, s := range f.Symbols {
		if n := int(s.SectionNumber); n > 0 && n <= len(f.Sections) {
			x.symbols[s.Name] = base + uintptr(f.Sections[n-1].VirtualAddress) + uintptr(s.Value)
		}
	}
	text := f.Section(".text")
	b, err := text.Data()
	x.sections = append(x.sections, section{base + uintptr(text.VirtualAddress), b})
	if len(x.symbols) == 0 {
		err = errors.Join(err, fmt.Errorf("%s has no symbols", file))
	}
	return x, err
}
