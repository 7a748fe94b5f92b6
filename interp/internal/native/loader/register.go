//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"halfnote/interp/internal/native/object"
)

// nameOf returns the name of a symbol, for which it may read those of another package.
func (u *unit) nameOf(r object.Ref) string {
	if name := u.o.Name(r); name != "" {
		return name
	}
	path := u.o.PackageOf(r)
	if path == "" || u.l.names == nil {
		return ""
	}
	names, ok := process.names[path]
	if !ok {
		names, _ = u.l.names(path) // without them the name is not known
		process.names[path] = names
	}
	return names.Name(r.Index)
}

// pointerMasks says which words of the unit's variables hold pointers.
func (u *unit) pointerMasks() error {
	for _, s := range u.data {
		t, err := u.varType(s)
		if err != nil {
			return err
		}
		if t != nil && t.Size() != uintptr(s.Size) {
			return fmt.Errorf("%s has %d bytes, and its type %v has %d", s.Name, s.Size, t, t.Size())
		}
		u.varTypes[s] = t
	}
	process.module.clearMask(u.base()+uintptr(u.dataAt), u.end)
	return u.mask()
}

// varType returns the type of a variable, or nil for read-only data and what the compiler adds.
func (u *unit) varType(s *object.Symbol) (reflect.Type, error) {
	r, ok := s.AuxOf(object.AuxGoType)
	if !ok || s.Kind == object.ROData || isCache(s.Name) {
		return nil, nil
	}
	if d := u.o.Def(r); d != nil {
		return u.typ(d)
	}
	name := u.nameOf(r)
	n, _ := object.TypeName(name)
	if t, ok := u.l.typeOf(n); ok {
		return t, nil
	}
	return nil, &MissingError{[]string{name}}
}

// isCache reports whether a symbol of a name is a cache that the compiler adds for an assertion or a
// switch to interfaces. Its type may describe only the start.
func isCache(name string) bool {
	return strings.Contains(name, "..typeAssert.") || strings.Contains(name, "..interfaceSwitch.")
}

// mask notes the words with pointers in the variables.
func (u *unit) mask() error {
	const word = unsafe.Sizeof(uintptr(0))
	set := process.module.setMask
	for _, s := range u.data {
		addr := u.addr[s]
		if addr < u.pointers || addr >= u.end {
			continue
		}
		switch t := u.varTypes[s]; {
		case t != nil:
			pointers(t, addr, set)
		case s.Kind == object.Data: // made by the compiler, with its pointers in place
			for _, r := range s.Relocs {
				if r.Type == object.Addr && r.Off%int(word) == 0 {
					set(addr + uintptr(r.Off))
				}
			}
			if isCache(s.Name) {
				set(addr) // the runtime replaces what the first word points to
			}
		default:
			return fmt.Errorf("the type of the variable %s is not known", s.Name)
		}
	}
	return nil
}

// pointers calls set with the address of each pointer in a value of a type.
func pointers(t reflect.Type, addr uintptr, set func(uintptr)) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Slice, reflect.String:
		set(addr)
	case reflect.Interface:
		set(addr)
		set(addr + unsafe.Sizeof(uintptr(0)))
	case reflect.Array:
		for i := range t.Len() {
			pointers(t.Elem(), addr+uintptr(i)*t.Elem().Size(), set)
		}
	case reflect.Struct:
		for f := range t.Fields() {
			pointers(f.Type, addr+f.Offset, set)
		}
	}
}

// verify checks what the runtime would end the process for, and that the runtime can find
// the pointers in every frame.
func (u *unit) verify() error {
	md := u.md
	for i, e := range md.ftab[:len(md.ftab)-1] {
		if e.entryoff > md.ftab[i+1].entryoff || uintptr(e.entryoff) > md.maxpc-md.text {
			return errors.New("the functions are not sorted by address")
		}
		f := funcIn(md.pclntable, e.funcoff)
		name := stringIn(md.funcnametab, int(f.nameOff))
		if f.entryOff != e.entryoff || f.pcsp == 0 || int(f.pcsp) >= process.module.pcs.used {
			return fmt.Errorf("the frame size of %s is not known", name)
		}
		if f.flag&funcFlagAsm != 0 {
			continue
		}
		for j := range 2 { // arguments and local variables
			if f.nfuncdata <= uint8(j) || *(*uint32)(at(uintptr(unsafe.Pointer(f)) + unsafe.Sizeof(*f) + 4*uintptr(f.npcdata) + 4*uintptr(j))) == none {
				return fmt.Errorf("the pointers in the frames of %s are not known", name)
			}
		}
	}
	if md.minpc != md.text+uintptr(u.textAt) {
		return errors.New("the text does not begin with a function")
	}
	return u.checkMethods()
}

// register makes the unit part of the program. The runtime would end the process for what verify has checked.
func (u *unit) register() error {
	md, r := u.md, process.arena
	r.keep(u.textAt+u.textLen, u.dataAt+u.dataLen)
	r.topUsed += u.topLen
	synchronize(r.text[u.textAt:][:u.textLen], r.writable[u.textAt:][:u.textLen])
	moduledataverify1(md)
	process.module.extend(md.ftab, u.end)
	for _, s := range u.data {
		if isCache(s.Name) {
			process.host.addCache(s.Name, u.addr[s])
		}
	}
	u.registered = true
	u.l.loaded += u.textLen + u.dataLen + u.dataLen/wordsPerMask + u.topLen + u.tablesLen
	return nil
}

// publish makes the unit known to later units.
func (u *unit) publish() error {
	for name, t := range u.made {
		u.l.types[name] = t
		if t.Name() != "" {
			u.l.named[t] = name
		}
	}
	for _, list := range [][]*object.Symbol{u.text, u.data} {
		for _, s := range list {
			if strings.HasPrefix(s.Name, u.name+".") && s.ABI != static {
				u.l.globals[s.Name] = u.addr[s]
			}
		}
	}
	return nil
}

// static is the ABI of symbols that only their object uses.
const static = 1<<16 - 1
