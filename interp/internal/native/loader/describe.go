//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"halfnote/interp/internal/native/object"
)

// Offsets in descriptions of types, which are those of abi.Type and the types that embed it.
const (
	hashAt      = 16
	flagsAt     = 20
	kindAt      = 23
	pointerTo   = 44 // number of the type of pointers
	elemAt      = 48 // type of elements, or of keys
	valueAt     = 56 // type of a map's values
	lenAt       = 64 // of an array
	dirAt       = 56 // of a channel
	inCountAt   = 48 // of a function
	outCountAt  = 50
	paramsAt    = 56
	hasherAt    = 72 // function that computes the hash of a map's key
	fieldsAt    = 56 // fields of a struct
	uncommonLen = 16

	flagUncommon = 1 << 0
	flagNamed    = 1 << 2
	kindMask     = 1<<5 - 1
	variadic     = 1 << 15 // in the number of results
)

// described returns a description in an object, checked for its length.
func described(s *object.Symbol) ([]byte, error) {
	if len(s.Data) < elemAt {
		return nil, fmt.Errorf("the description %s has %d bytes, want at least %d", s.Name, len(s.Data), elemAt)
	}
	b := make([]byte, s.Size) // the zeros at the end are not in the data
	copy(b, s.Data)
	return b, nil
}

// without algorithms: types that the compiler uses inside maps.
const noAlgorithms = "noalg."

// adds reports whether a type becomes a type of the unit. Types that are known do not, nor do
// composed ones, which package reflect makes, so that each exists once.
func (u *unit) adds(s *object.Symbol, name string) bool {
	if u.own[name] == s {
		return true
	}
	if _, known := u.l.typeOf(name); known {
		return false
	}
	b, err := described(s)
	if err != nil {
		return false
	}
	isOwn := b[flagsAt]&flagNamed != 0 || strings.HasPrefix(name, noAlgorithms)
	switch reflect.Kind(b[kindAt] & kindMask) {
	case reflect.Struct, reflect.Interface:
		isOwn = true
	case reflect.Pointer:
		if r, ok := s.RelocAt(elemAt); ok && !isOwn {
			if elem := u.o.Def(r.Sym); elem != nil {
				elemName, _ := object.TypeName(elem.Name)
				eb, err := described(elem)
				isOwn = err == nil && (eb[flagsAt]&flagNamed != 0 || reflect.Kind(eb[kindAt]&kindMask) == reflect.Struct) && u.adds(elem, elemName)
			}
		}
	}
	if isOwn {
		u.own[name] = s
		if !strings.HasPrefix(name, noAlgorithms) {
			addRoom(s, b)
		}
	}
	return isOwn
}

// addParts selects the types that a composed type, or a table of methods, consists of.
func (u *unit) addParts(s *object.Symbol) error {
	if name, ok := object.TypeName(s.Name); ok {
		if _, known := u.l.typeOf(name); known {
			return nil
		}
	}
	u.chosen[s] = true
	for _, r := range s.Relocs {
		t := u.o.Def(r.Sym)
		if t != nil && t.Flags&object.GoType != 0 && !r.Weak && r.Type == object.Addr {
			if n, _ := object.TypeName(t.Name); strings.HasPrefix(n, noAlgorithms) {
				continue // the group of a map, which package reflect makes
			}
			if err := u.add(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// completeTypes fills in the descriptions of the unit's types in two steps: to make types that
// are composed of them, package reflect needs their names and sizes.
func (u *unit) completeTypes() error {
	u.exposed = true
	for _, s := range u.types {
		t := typeAt(u.addr[s])
		u.resolved[s] = t
		if name, _ := object.TypeName(s.Name); !strings.HasPrefix(name, noAlgorithms) && !isLocal(name) {
			u.made[name] = t
		}
	}
	for _, first := range []bool{true, false} {
		for _, s := range u.types {
			for _, r := range s.Relocs {
				_, isType := object.TypeName(u.o.Name(r.Sym))
				switch {
				case first && isType && !u.has(r.Sym):
					u.standIn(s, r)
				case first != isType || first:
					if err := u.fill(s, r); err != nil && !u.omit(s, r) {
						return err
					}
				}
			}
		}
	}
	for _, s := range u.types {
		u.shareHash(s)
	}
	for _, s := range u.grows {
		for _, r := range u.methodRelocs(s) {
			if err := u.fill(s, r); err != nil && !u.omit(s, r) {
				return err
			}
		}
	}
	return nil
}

// shareHash gives a map type with a name the hash function of the type without a name, which
// package reflect has made: a map may be converted from one to the other.
func (u *unit) shareHash(s *object.Symbol) {
	if t := u.resolved[s]; t.Kind() == reflect.Map {
		like := bytesAt(descriptionOf(reflect.MapOf(t.Key(), t.Elem())), hasherAt+8)
		copy(u.bytes[s][hasherAt:], like[hasherAt:])
	}
}

// omit marks a method that is promoted from a type of another package and is not exported as one
// that the linker has omitted, if a place holds its type, which may be unknown: only the package
// could call it. It reports whether it has.
func (u *unit) omit(s *object.Symbol, r object.Reloc) bool {
	name, ok := s.RelocAt(r.Off - 4) // a method begins with its name
	if r.Type != object.MethodOff || !ok {
		return false
	}
	const exported = 1 << 0 // in the first byte of a name
	if data := u.o.Def(name.Sym); data == nil || len(data.Data) == 0 || data.Data[0]&exported != 0 {
		return false
	}
	const omitted = ^uint32(0)
	binary.LittleEndian.PutUint32(u.bytes[s][r.Off:], omitted)
	return true
}

// standIn fills in a type whose values have their pointers in the same places as the one that
// is to come: a struct may have a field of a type that is composed of the struct.
func (u *unit) standIn(s *object.Symbol, r object.Reloc) {
	t := u.o.Def(r.Sym)
	if t == nil || u.resolved[t] != nil || r.Type != object.Addr || t.Flags&object.GoType == 0 {
		return
	}
	b, err := described(t)
	if err != nil {
		return
	}
	like := reflect.TypeFor[unsafe.Pointer]()
	if reflect.Kind(b[kindAt]&kindMask) == reflect.Slice {
		like = reflect.TypeFor[[]byte]()
	}
	_ = putAddress(u.bytes[s][r.Off:r.Off+r.Size], 0, descriptionOf(like), 0)
}

// typ returns the type that a symbol of the object describes.
func (u *unit) typ(s *object.Symbol) (reflect.Type, error) {
	if t := u.resolved[s]; t != nil {
		return t, nil
	}
	name, _ := object.TypeName(s.Name)
	t, ok := u.l.typeOf(name)
	if !ok {
		t, ok = u.made[name], u.made[name] != nil && !isLocal(name)
	}
	if !ok {
		b, err := described(s)
		if err != nil {
			return nil, err
		}
		if t, err = u.compose(s, b); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		// Switches on types compare hashes, and package reflect computes different ones.
		if hash, want := hashIn(descriptionOf(t)), binary.LittleEndian.Uint32(b[hashAt:]); *hash != want {
			*hash = want
		}
		if !isLocal(name) {
			u.made[name] = t
		}
	}
	u.resolved[s] = t
	return t, nil
}

// compose makes a type of its parts.
func (u *unit) compose(s *object.Symbol, b []byte) (t reflect.Type, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("package reflect cannot make it: %v", r)
		}
	}()
	if b[flagsAt]&flagNamed != 0 {
		return nil, errors.New("it is not among the types of the unit")
	}
	part := func(at int) reflect.Type {
		r, ok := s.RelocAt(at)
		if !ok {
			panic("it does not name its parts")
		}
		addr, err := u.address(r.Sym)
		if err != nil {
			panic(err)
		}
		return typeAt(addr)
	}
	switch kind := reflect.Kind(b[kindAt] & kindMask); kind {
	case reflect.Pointer:
		return reflect.PointerTo(part(elemAt)), nil
	case reflect.Slice:
		return reflect.SliceOf(part(elemAt)), nil
	case reflect.Array:
		return reflect.ArrayOf(int(binary.LittleEndian.Uint64(b[lenAt:])), part(elemAt)), nil
	case reflect.Map:
		return reflect.MapOf(part(elemAt), part(valueAt)), nil
	case reflect.Chan:
		return reflect.ChanOf(reflect.ChanDir(b[dirAt]), part(elemAt)), nil
	case reflect.Func:
		in, out := int(binary.LittleEndian.Uint16(b[inCountAt:])), int(binary.LittleEndian.Uint16(b[outCountAt:]))
		params := paramsAt
		if b[flagsAt]&flagUncommon != 0 {
			params += uncommonLen
		}
		list := make([]reflect.Type, in+out&^variadic)
		for i := range list {
			list[i] = part(params + 8*i)
		}
		return reflect.FuncOf(list[:in], list[in:], out&variadic != 0), nil
	default:
		return nil, fmt.Errorf("its kind is %v", kind)
	}
}
