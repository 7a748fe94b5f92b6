//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"halfnote/interp/internal/native/object"
)

// unit is an object on its way into the program.
type unit struct {
	l    *Loader
	o    *object.Object
	name string // of the package
	arch arch

	selection
	references
	placement
	reflected
	grown

	wrappers   map[string]bool
	line       func(file string, line int) (string, int) // shown for those of the object; may be nil
	md         *moduledata
	registered bool // with the runtime, for good
}

// selection holds the symbols to load.
type selection struct {
	text, types, data []*object.Symbol
	chosen            map[*object.Symbol]bool
	stackObjects      map[*object.Symbol]bool // descriptions of objects in frames
	infos             map[*object.Symbol]*object.FuncInfo
}

// references holds what the symbols refer to.
type references struct {
	own     map[string]*object.Symbol // types that the unit adds, by name
	outside map[object.Ref]uintptr    // addresses of functions and variables that the unit does not define
}

// placement holds the places of the symbols in memory.
type placement struct {
	addr     map[*object.Symbol]uintptr
	bytes    map[*object.Symbol][]byte
	slots    map[uintptr]uintptr // of the table of addresses, by what they hold
	jumps    map[uintptr]uintptr // to functions that a call cannot reach, by their addresses
	nextSlot uintptr
	slotsEnd uintptr
	nextJump uintptr
	jumpsAt  uintptr
	jumpsEnd uintptr
	trees    uintptr // inline trees
	textAt   int     // offsets in the room
	dataAt   int
	textLen  int
	topLen   int // bytes of descriptions of types that gain methods
	dataLen  int
	// tablesLen is the size of the tables that describe the functions.
	tablesLen     int
	pointers, end uintptr // of the data that the collector scans
}

// reflected holds the types of the unit as package reflect has them.
type reflected struct {
	exposed  bool // whether package reflect may know types in the memory of the unit
	resolved map[*object.Symbol]reflect.Type
	made     map[string]reflect.Type // types that the unit adds or composes
	varTypes map[*object.Symbol]reflect.Type
}

func newUnit(l *Loader, o *object.Object, name string) *unit {
	return &unit{
		l: l, o: o, name: name, arch: archs[runtime.GOARCH],
		selection:  selection{chosen: map[*object.Symbol]bool{}, stackObjects: map[*object.Symbol]bool{}, infos: map[*object.Symbol]*object.FuncInfo{}},
		references: references{own: map[string]*object.Symbol{}, outside: map[object.Ref]uintptr{}},
		placement:  placement{addr: map[*object.Symbol]uintptr{}, bytes: map[*object.Symbol][]byte{}, slots: map[uintptr]uintptr{}, jumps: map[uintptr]uintptr{}},
		reflected:  reflected{resolved: map[*object.Symbol]reflect.Type{}, made: map[string]reflect.Type{}, varTypes: map[*object.Symbol]reflect.Type{}},
	}
}

// defined returns the symbol of a name and one of the kinds that the unit has placed, or nil.
func (u *unit) defined(name string, kinds ...object.Kind) *object.Symbol {
	for _, list := range [][]*object.Symbol{u.text, u.data} {
		for _, s := range list {
			if s.Name == name && slices.Contains(kinds, s.Kind) {
				return s
			}
		}
	}
	return nil
}

// again reports whether s is a variable of an earlier unit, declared again.
func (u *unit) again(s *object.Symbol) bool {
	return (s.Kind == object.BSS || s.Kind == object.NoPtrBSS) && u.l.globals[s.Name] != 0
}

// choose selects the symbols to load: the functions and variables of the package, and what
// these refer to.
func (u *unit) choose() error {
	const dupOK = 1
	var err error
	for i := range u.o.Defs {
		s := &u.o.Defs[i]
		isOwn := s.Flags&dupOK == 0 && strings.HasPrefix(s.Name, u.name+".")
		if isOwn && (s.Kind == object.Text || s.Kind == object.BSS || s.Kind == object.NoPtrBSS || strings.HasSuffix(s.Name, "..inittask")) && err == nil {
			err = u.add(s)
		}
	}
	return err
}

// add selects a symbol and what it refers to.
func (u *unit) add(s *object.Symbol) error {
	if u.chosen[s] || u.again(s) || s.Kind == object.Text && s.Size == 0 { // all calls of an empty function have been inlined
		return nil
	}
	if s.Flags&object.Itab != 0 {
		return u.addParts(s) // the runtime makes the table
	}
	if s.Flags&object.GoType != 0 {
		if name, _ := object.TypeName(s.Name); !u.adds(s, name) {
			if u.gains(s, name) {
				return u.grow(s)
			}
			return u.addParts(s)
		}
	}
	u.chosen[s] = true
	switch {
	case s.Kind == object.Text:
		u.text = append(u.text, s)
		if err := u.addAux(s); err != nil {
			return err
		}
	case s.Flags&object.GoType != 0:
		u.types = append(u.types, s)
	case s.Kind == object.ROData || s.Kind == object.NoPtrData || s.Kind == object.Data || s.Kind == object.BSS || s.Kind == object.NoPtrBSS:
		u.data = append(u.data, s)
		if err := u.addAux(s); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s is of kind %d, which is not known", s.Name, s.Kind)
	}
	return u.addTargets(s)
}

// addTargets selects what the data of a symbol refers to. A weak reference counts only in a
// type, where it is to the type of pointers to it.
func (u *unit) addTargets(s *object.Symbol) error {
	for _, r := range s.Relocs {
		if r.Off < 0 || r.Size < 0 || r.Off+r.Size > int(s.Size) {
			return fmt.Errorf("%s has a relocation at %d, and %d bytes", s.Name, r.Off, s.Size)
		}
		if r.Type.Marker() || r.Size == 0 || r.Weak && s.Flags&object.GoType == 0 {
			continue
		}
		if _, ok := u.arch.rules[r.Type]; !ok {
			return fmt.Errorf("%s has a relocation of type %d, which is not known", s.Name, r.Type)
		}
		if t := u.o.Def(r.Sym); t != nil && !(r.Weak && r.Off != pointerTo) {
			if err := u.add(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// addAux selects what describes a function or variable.
func (u *unit) addAux(s *object.Symbol) error {
	funcData := 0
	for _, a := range s.Aux {
		d := u.o.Def(a.Sym)
		switch a.Type {
		case object.AuxFuncInfo:
			if d == nil {
				return fmt.Errorf("%s has no description", s.Name)
			}
			info, err := object.ReadFuncInfo(d.Data)
			if err != nil {
				return err
			}
			u.infos[s] = info
		case object.AuxFuncData:
			if d != nil && d.Size > 0 {
				if funcData == stackObjects {
					u.stackObjects[d] = true
				}
				if err := u.add(d); err != nil {
					return err
				}
			}
			funcData++
		case object.AuxGoType:
			if d != nil {
				if err := u.add(d); err != nil {
					return err
				}
			}
		}
	}
	if s.Kind == object.Text && u.infos[s] == nil {
		return fmt.Errorf("%s has no description", s.Name)
	}
	return nil
}

// stackObjects is the index of the function data about objects in frames.
const stackObjects = 2 // abi.FUNCDATA_StackObjects

// resolve finds the functions and variables that the unit uses and does not define.
func (u *unit) resolve() error {
	missing := map[string]bool{}
	for _, list := range [][]*object.Symbol{u.text, u.types, u.data} {
		for _, s := range list {
			for _, r := range s.Relocs {
				u.resolveReloc(r, missing)
			}
		}
	}
	for _, s := range u.grows {
		for _, r := range u.methodRelocs(s) {
			u.resolveReloc(r, missing)
		}
	}
	if len(missing) > 0 {
		e := &MissingError{}
		for name := range missing {
			e.Names = append(e.Names, name)
		}
		slices.Sort(e.Names)
		return e
	}
	return nil
}

// resolveReloc finds what one place refers to.
func (u *unit) resolveReloc(r object.Reloc, missing map[string]bool) {
	if r.Type.Marker() || r.Type == object.ThreadLocal || r.Size == 0 || u.o.Def(r.Sym) != nil {
		return
	}
	name := u.o.Name(r.Sym)
	if t, ok := object.TypeName(name); ok {
		if _, ok := u.l.typeOf(t); !ok && !r.Weak {
			missing[name] = true
		}
		return
	}
	addr, ok := u.l.find(name)
	if !ok && !r.Weak {
		missing[name] = true
	}
	u.outside[r.Sym] = addr
}

// find returns the address of a function or variable of the program or of an earlier unit.
func (l *Loader) find(name string) (uintptr, bool) {
	h := process.host
	for _, m := range []map[string]uintptr{l.globals, h.funcs, h.vars} {
		if p, ok := m[name]; ok {
			return p, true
		}
	}
	if f, ok := strings.CutSuffix(name, "·f"); ok {
		for _, m := range []map[string]uintptr{l.globals, h.funcs} {
			if p, ok := m[f]; ok {
				return h.box(p), true
			}
		}
	}
	return 0, false
}

// typeOf returns a type of the program or of an earlier unit by the compiler's name.
func (l *Loader) typeOf(name string) (reflect.Type, bool) {
	if isLocal(name) {
		return nil, false
	}
	if t, ok := l.types[name]; ok {
		return t, true
	}
	t := process.host.types[name]
	return t, t != nil
}

// isLocal reports whether a name of a type involves a type that a function declares. Another
// unit may have one of the same name.
func isLocal(name string) bool { return strings.Contains(name, "·") }
