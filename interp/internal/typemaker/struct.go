package typemaker

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// structs holds the types that Struct has made.
var structs = struct {
	sync.Mutex
	made map[structKey]reflect.Type
}{made: map[structKey]reflect.Type{}}

// structKey identifies a struct type by the same type without embedding and by its embedded fields.
type structKey struct {
	plain    reflect.Type
	embedded string
}

// Struct returns the struct type with the given fields. Offset and Index of a field are ignored. It is
// like reflect.StructOf, which refuses some embedded fields, and whose types compare fields named _.
// The type has no methods; embedded fields promote none. The error says why there is no such type.
func Struct(fields []reflect.StructField) (t reflect.Type, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r) // by reflect.StructOf
		}
	}()
	embedded := make([]byte, len(fields))
	plain := slices.Clone(fields)
	blank, changes := false, false
	for i, f := range fields {
		embedded[i] = '-'
		if f.Anonymous {
			embedded[i], changes = 'e', true
			plain[i].Anonymous = false
		}
		blank = blank || f.Name == "_"
	}
	base := reflect.StructOf(plain)
	changes = changes || blank && base.Comparable()
	if !changes {
		return base, nil
	}
	if err := unknown(); err != nil {
		return nil, err
	}
	structs.Lock()
	defer structs.Unlock()
	key := structKey{base, string(embedded)}
	if t := structs.made[key]; t != nil {
		return t, nil
	}
	d := *(*structType)(unsafe.Pointer(description(base)))
	d.tflag &^= tflagUncommon | tflagExtraStar
	d.ptrToThis = 0
	h := fnv.New32a()
	h.Write(embedded)
	d.hash ^= h.Sum32()
	d.fields = slices.Clone(d.fields)
	for i, f := range fields {
		if f.Anonymous {
			d.fields[i].name = newName(f.Name, string(f.Tag), *d.fields[i].name&nameExported|nameEmbedded)
		}
	}
	if blank && d.equal != nil {
		d.equal = equalFields(fields, d.fields)
	}
	d.str = addReflectOff(unsafe.Pointer(newName(structText(fields), "", 0)))
	t = described(&d.common)
	structs.made[key] = t
	return t, nil
}

// equalFields returns the function that compares all fields but those named _, as Go compares structs.
func equalFields(fields []reflect.StructField, list []structField) func(p, q unsafe.Pointer) bool {
	var compared []structField
	for i, f := range fields {
		if f.Name != "_" {
			compared = append(compared, list[i])
		}
	}
	return func(p, q unsafe.Pointer) bool {
		for _, f := range compared {
			if !f.typ.equal(unsafe.Add(p, f.offset), unsafe.Add(q, f.offset)) {
				return false
			}
		}
		return true
	}
}

// structText returns the text of a struct type.
func structText(fields []reflect.StructField) string {
	var s strings.Builder
	s.WriteString("struct {")
	for i, f := range fields {
		if i > 0 {
			s.WriteByte(';')
		}
		if !f.Anonymous {
			s.WriteString(" " + f.Name)
		}
		s.WriteString(" " + f.Type.String())
		if f.Tag != "" {
			s.WriteString(" " + strconv.Quote(string(f.Tag)))
		}
	}
	if len(fields) > 0 {
		s.WriteByte(' ')
	}
	s.WriteByte('}')
	return s.String()
}
