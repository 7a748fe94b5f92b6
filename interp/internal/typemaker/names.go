package typemaker

import (
	"encoding/binary"
	"reflect"
	"sync"
	"unsafe"
)

// addReflectOff gives a pointer the number by which descriptions refer to it, and keeps it alive.
//
//go:linkname addReflectOff reflect.addReflectOff
func addReflectOff(unsafe.Pointer) int32

// newName returns a name as descriptions have it.
func newName(name, tag string, flags byte) *byte {
	b := append(binary.AppendUvarint([]byte{flags}, uint64(len(name))), name...)
	if tag != "" {
		b[0] |= nameTagged
		b = append(binary.AppendUvarint(b, uint64(len(tag))), tag...)
	}
	return &b[0]
}

// names holds the numbers of names that types have in common.
var names = struct {
	sync.Mutex
	numbers map[nameKey]int32
}{numbers: map[nameKey]int32{}}

type nameKey struct {
	name  string
	flags byte
}

// nameNumber returns the number of a name without a tag.
func nameNumber(name string, flags byte) int32 {
	names.Lock()
	defer names.Unlock()
	key := nameKey{name, flags}
	n, ok := names.numbers[key]
	if !ok {
		n = addReflectOff(unsafe.Pointer(newName(name, "", flags)))
		names.numbers[key] = n
	}
	return n
}

// texts holds the descriptions that Text returns.
var texts sync.Map // string: *common

// Text returns a description that only gives its text. Errors that name types can refer to it.
func Text(text string) unsafe.Pointer {
	c, ok := texts.Load(text)
	if !ok {
		c, _ = texts.LoadOrStore(text, &common{kind: uint8(reflect.Bool), str: nameNumber(text, 0)})
	}
	return unsafe.Pointer(c.(*common))
}
