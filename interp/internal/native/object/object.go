package object

import "strings"

// Object is the content of one object file.
type Object struct {
	// Packages are the import paths that references name by index. The first is "".
	Packages []string
	// Files are the source files that line tables name by index.
	Files []string
	// Defs are the symbols that the object defines: those of the package, then those with
	// short hashes, those with hashes, and those outside packages.
	Defs []Symbol
	// Refs are symbols outside packages that other objects define. They have a name and
	// an ABI, but no content.
	Refs []Symbol

	starts [4]int         // index in Defs of the first symbol of each group
	names  map[Ref]string // of symbols of other packages
}

// Ref is a reference to a symbol: the index of a package and an index in it.
type Ref struct{ Package, Index uint32 }

// Packages of references that are not an index of Object.Packages.
const (
	inNone = 1<<31 - 1 - iota
	inHashed64
	inHashed
	inBuiltin
	inSelf
)

// groups are the packages of references to symbols that the object defines, in the order of Defs.
var groups = [4]uint32{inSelf, inHashed64, inHashed, inNone}

// Symbol is a function, a variable, or read-only data.
type Symbol struct {
	Name  string
	ABI   uint16
	Kind  Kind
	Flags Flags
	Size  uint32
	Align uint32
	Data  []byte // at most Size bytes; the others are zero
	// Relocs are the places in Data that hold the address of a symbol.
	Relocs []Reloc
	// Aux are symbols that describe this one.
	Aux []Aux
}

// Kind says where in memory a symbol belongs. It is cmd/internal/objabi.SymKind.
type Kind uint8

const (
	Text      Kind = 1
	ROData    Kind = 3
	NoPtrData Kind = 5
	Data      Kind = 7
	BSS       Kind = 9
	NoPtrBSS  Kind = 10
	Debug     Kind = 12 // the first kind of those for debuggers
)

// Flags are the properties of a symbol. They are goobj's Sym.Flag, and Sym.Flag2 in the
// upper byte.
type Flags uint16

const (
	GoType Flags = 1 << 6 // description of a type
	Itab   Flags = 1 << 9 // table of the methods of a type for an interface
)

// Reloc is a place in a symbol's data that holds an address.
type Reloc struct {
	Off  int
	Size int
	Type RelocType
	Weak bool // whether the place may remain zero
	Add  int64
	Sym  Ref
}

// Aux is a symbol that describes another one.
type Aux struct {
	Type AuxType
	Sym  Ref
}

// AuxType says what an auxiliary symbol holds. It is goobj's Aux.Type.
type AuxType uint8

const (
	AuxGoType   AuxType = 0
	AuxFuncInfo AuxType = 1
	AuxFuncData AuxType = 2
	AuxPCSP     AuxType = 7
	AuxPCFile   AuxType = 8
	AuxPCLine   AuxType = 9
	AuxPCInline AuxType = 10
	AuxPCData   AuxType = 11
)

// AuxOf returns the first auxiliary symbol of a type.
func (s *Symbol) AuxOf(t AuxType) (r Ref, ok bool) {
	for _, a := range s.Aux {
		if a.Type == t {
			return a.Sym, true
		}
	}
	return Ref{}, false
}

// RelocAt returns the relocation at an offset. ok is false if there is no relocation.
func (s *Symbol) RelocAt(off int) (r Reloc, ok bool) {
	for _, r := range s.Relocs {
		if r.Off == off && !r.Type.Marker() {
			return r, true
		}
	}
	return Reloc{}, false
}

// TypeName returns the name of the type that a symbol describes, by the symbol's name.
// Symbols with parts of a description have names that begin with "type:.".
func TypeName(symbol string) (name string, ok bool) {
	name, ok = strings.CutPrefix(symbol, "type:")
	return name, ok && !strings.HasPrefix(name, ".")
}

// Def returns the symbol that r names if the object defines it, or nil.
func (o *Object) Def(r Ref) *Symbol {
	for i, g := range groups {
		end := len(o.Defs)
		if i+1 < len(groups) {
			end = o.starts[i+1]
		}
		if at := o.starts[i] + int(r.Index); r.Package == g && at < end {
			return &o.Defs[at]
		}
	}
	return nil
}

// Name returns the name of a symbol, or "" if only the object of its package has it.
func (o *Object) Name(r Ref) string {
	if s := o.Def(r); s != nil {
		return s.Name
	}
	switch r.Package {
	case inNone:
		if i := int(r.Index) - (len(o.Defs) - o.starts[3]); i < len(o.Refs) {
			return o.Refs[i].Name
		}
	case inBuiltin:
		if int(r.Index) < len(builtins) {
			return builtins[r.Index]
		}
	}
	return o.names[r]
}

// Rename gives the symbols and the files of the object other names.
func (o *Object) Rename(symbol, file func(string) string) {
	for _, list := range [][]Symbol{o.Defs, o.Refs} {
		for i := range list {
			list[i].Name = symbol(list[i].Name)
		}
	}
	for i := range o.Files {
		o.Files[i] = file(o.Files[i])
	}
}

// PackageOf returns the import path of the package that r names a symbol of, or "".
func (o *Object) PackageOf(r Ref) string {
	if int(r.Package) < len(o.Packages) {
		return o.Packages[r.Package]
	}
	return ""
}
