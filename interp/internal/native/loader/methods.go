//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"encoding/binary"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"halfnote/interp/internal/native/object"
)

// A type of an earlier unit gains methods when a unit declares it again with more of them. The
// description of the type stays where it is, so that existing values have the methods too, and
// refers to a new list. What the runtime has derived from the old list is derived again: the
// tables of methods for interfaces, and the caches of assertions and switches.

// grown holds the types of earlier units that gain methods.
type grown struct {
	grows []*object.Symbol // their descriptions with all methods
	// deferred are places that hold the address of a table of methods that does not exist before.
	deferred []deferredReloc
}

type deferredReloc struct {
	s *object.Symbol
	r object.Reloc
}

// Offsets in the part of a description that has the methods, abi.UncommonType, and in an itab.
const (
	countsAt   = 4 // of all methods and of the exported ones
	methodsOff = 8 // distance to the list
	methodLen  = 16
	itabType   = 8
)

// uncommonAt returns the offset of the part of a description that has the methods.
func uncommonAt(kind reflect.Kind) int {
	switch kind {
	case reflect.Pointer, reflect.Func, reflect.Slice:
		return 56
	case reflect.Chan:
		return 64
	case reflect.Array:
		return 72
	case reflect.Struct, reflect.Interface:
		return 80
	case reflect.Map:
		return mapLen
	}
	return 48
}

// uncommonIn returns the part of a description that has the methods, or nil.
func uncommonIn(b []byte) []byte {
	off := uncommonAt(reflect.Kind(b[kindAt] & kindMask))
	if b[flagsAt]&flagUncommon == 0 || len(b) < off+uncommonLen {
		return nil
	}
	return b[off:]
}

// methodCount returns the number of methods in a description.
func methodCount(b []byte) int {
	if x := uncommonIn(b); x != nil {
		return int(binary.LittleEndian.Uint16(x[countsAt:]))
	}
	return 0
}

// methodsIn returns the offset of the list of methods in a description.
func methodsIn(b []byte) int {
	x := uncommonIn(b)
	return len(b) - len(x) + int(binary.LittleEndian.Uint32(x[methodsOff:]))
}

// installed returns the start of a description that the runtime uses.
func installed(t reflect.Type) []byte {
	return bytesAt(descriptionOf(t), uncommonAt(t.Kind())+uncommonLen)
}

// addRoom gives the description of a pointer or a struct the part that has the methods: a later
// unit may declare methods of what the pointer points to, or of what the struct embeds.
func addRoom(s *object.Symbol, b []byte) {
	kind := reflect.Kind(b[kindAt] & kindMask)
	if kind != reflect.Pointer && kind != reflect.Struct || b[flagsAt]&flagUncommon != 0 {
		return
	}
	off := uncommonAt(kind)
	b[flagsAt] |= flagUncommon
	s.Data = slices.Insert(b, off, make([]byte, uncommonLen)...)
	s.Size += uncommonLen
	for i := range s.Relocs {
		r := &s.Relocs[i]
		if r.Off >= off {
			r.Off += uncommonLen
		} else if r.Off == fieldsAt && kind == reflect.Struct {
			r.Add += uncommonLen // the fields follow
		}
	}
}

// gains reports whether a description has more methods than the type of an earlier unit.
func (u *unit) gains(s *object.Symbol, name string) bool {
	t := u.l.types[name]
	b, err := described(s)
	return t != nil && !isLocal(name) && err == nil && methodCount(b) > methodCount(installed(t))
}

// grow selects the methods of a type of an earlier unit.
func (u *unit) grow(s *object.Symbol) error {
	u.chosen[s] = true
	u.grows = append(u.grows, s)
	return u.addTargets(s)
}

// methodRelocs returns the relocations of the package path and the methods in a description.
func (u *unit) methodRelocs(s *object.Symbol) (list []object.Reloc) {
	b, err := described(s)
	if err != nil {
		return nil
	}
	path, from := len(b)-len(uncommonIn(b)), methodsIn(b)
	for _, r := range s.Relocs {
		if r.Off == path || r.Off >= from && r.Off < from+methodCount(b)*methodLen {
			list = append(list, r)
		}
	}
	return list
}

// isLate reports whether a place holds the address of a table of methods of a type that is
// about to gain methods.
func (u *unit) isLate(r object.Reloc) bool {
	s := u.o.Def(r.Sym)
	if s == nil || s.Flags&object.Itab == 0 {
		return false
	}
	t, ok := s.RelocAt(itabType)
	return ok && slices.Contains(u.grows, u.o.Def(t.Sym))
}

// checkMethods reports types of earlier units that have no room for methods.
func (u *unit) checkMethods() error {
	for _, s := range u.grows {
		name, _ := object.TypeName(s.Name)
		if uncommonIn(u.bytes[s]) == nil || uncommonIn(installed(u.l.types[name])) == nil {
			return errors.New(name + " has no room for methods")
		}
	}
	return nil
}

// giveMethods lets types of earlier units refer to their new methods. The functions are known to
// the runtime by then: other goroutines may call them at once.
func (u *unit) giveMethods() error {
	changed := map[uintptr]bool{}
	for _, s := range u.grows {
		name, _ := object.TypeName(s.Name)
		t := u.l.types[name]
		from, to := u.bytes[s], uncommonIn(installed(t))
		x := uncommonIn(from)
		if binary.LittleEndian.Uint32(to) == 0 {
			copy(to[:countsAt], x) // the package path
		}
		// Between the two steps, a reader finds some of the methods.
		list := u.addr[s] + uintptr(methodsIn(from))
		atomic.StoreUint32((*uint32)(unsafe.Pointer(&to[methodsOff])), uint32(list-addressOf(to)))
		atomic.StoreUint32((*uint32)(unsafe.Pointer(&to[countsAt])), binary.LittleEndian.Uint32(x[countsAt:]))
		changed[descriptionOf(t)] = true
	}
	if len(changed) > 0 {
		process.host.renew(changed)
	}
	return nil
}

// fillLate fills in the addresses of tables of methods that exist only now.
func (u *unit) fillLate() error {
	for _, l := range u.deferred {
		if err := u.fill(l.s, l.r); err != nil {
			return err
		}
	}
	return nil
}

// renew makes the runtime forget what it knows of the methods of types.
func (h *host) renew(changed map[uintptr]bool) {
	table := (*itabTableType)(atomic.LoadPointer((*unsafe.Pointer)(at(h.vars[itabTable]))))
	for _, m := range unsafe.Slice(&table.entries[0], table.size) {
		if m != nil && changed[uintptr(*(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(m), itabType)))] {
			callItabInit(h.funcs[itabInit], m)
		}
	}
	maps.DeleteFunc(h.itabs, func(key [2]uintptr, _ uintptr) bool { return changed[key[1]] })
	for addr, empty := range h.caches {
		atomic.StorePointer((*unsafe.Pointer)(at(addr)), at(empty))
	}
}

// addCache notes a cache of the results of assertions or of a switch.
func (h *host) addCache(name string, addr uintptr) {
	if strings.Contains(name, "..typeAssert.") {
		h.caches[addr] = h.vars[emptyTypeAssertCache]
	} else {
		h.caches[addr] = h.vars[emptyInterfaceSwitchCache]
	}
}
