//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// host is what the running program has. Package main is left out: units use its name.
type host struct {
	md    *moduledata
	funcs map[string]uintptr
	vars  map[string]uintptr
	types map[string]reflect.Type // by the names that the compiler gives to their descriptions
	itabs map[[2]uintptr]uintptr  // by the descriptions of interface and type
	boxes map[uintptr]*uintptr    // values of functions, by the addresses of their code
	// caches are those of assertions and switches, with the address of the empty cache.
	caches map[uintptr]uintptr
}

// mainPrefix is how names of symbols of package main begin.
const mainPrefix = "main."

// newHost returns what the program has.
func newHost(o Options) (*host, error) {
	h := &host{
		md: lastmoduledatap, funcs: map[string]uintptr{}, vars: map[string]uintptr{}, types: map[string]reflect.Type{},
		itabs: map[[2]uintptr]uintptr{}, boxes: map[uintptr]*uintptr{}, caches: map[uintptr]uintptr{},
	}
	h.readFuncs(h.md)
	for name := range needed {
		if h.funcs[name] == 0 {
			return nil, fmt.Errorf("the program has no function %s", name)
		}
	}
	if err := h.readVars(o.Addresses); err != nil {
		return nil, err
	}
	h.readTypes(o.Symbols)
	return h, nil
}

// needed are the functions of the program that the loader calls, or whose calls it
// recognizes, by their names in the line table.
var needed = map[string]bool{modulesinit: true, deferreturn: true, itabInit: true}

// deferreturn is the function that runs deferred calls when a function returns.
const deferreturn = "runtime.deferreturn"

// readFuncs reads the names and addresses of the functions of a module from its line table.
// Where there are several functions of a name, compiled code calls the one that is neither
// in assembly nor a wrapper, or else the wrapper.
func (h *host) readFuncs(md *moduledata) {
	ranks := map[string]int{}
	for _, entry := range md.ftab[:len(md.ftab)-1] {
		f := funcIn(md.pclntable, entry.funcoff)
		name := stringIn(md.funcnametab, int(f.nameOff))
		if strings.HasPrefix(name, mainPrefix) || strings.Contains(name, "[...]") {
			continue // instances share a name
		}
		rank := 3
		switch {
		case f.flag&funcFlagAsm != 0:
			rank = 1
		case f.funcID == funcIDWrapper:
			rank = 2
		}
		if rank > ranks[name] {
			ranks[name] = rank
			h.funcs[name] = md.text + uintptr(f.entryOff)
		}
	}
}

// stringIn returns the string that ends with a zero byte and starts at an offset. It shares
// the memory of b, which belongs to the program.
func stringIn(b []byte, off int) string {
	b = b[off:]
	return unsafe.String(unsafe.SliceData(b), bytes.IndexByte(b, 0))
}

// box returns the address of a value of the function whose code is at entry.
func (h *host) box(entry uintptr) uintptr {
	if h.boxes[entry] == nil {
		h.boxes[entry] = &entry
	}
	return uintptr(unsafe.Pointer(h.boxes[entry]))
}

// goroutineOffset returns where threads keep the current goroutine, counted from FS. Functions of
// the program that assembly calls load it from there.
func (h *host) goroutineOffset() (uintptr, error) {
	load := []byte{0x64, 0x4c, 0x8b, 0x34, 0x25} // MOVQ FS:offset, R14
	text := bytesAt(h.md.text, int(h.md.etext-h.md.text))
	i := bytes.Index(text, load)
	if i < 0 {
		return 0, errors.New("the program's code does not show where threads keep the current goroutine")
	}
	return uintptr(int32(binary.LittleEndian.Uint32(text[i+len(load):]))), nil
}

// itab returns the address of the table of the methods of a type for an interface, by the
// addresses of their descriptions. Compiled code compares these addresses.
func (h *host) itab(inter, typ uintptr) uintptr {
	key := [2]uintptr{inter, typ}
	if p := h.itabs[key]; p != 0 {
		return p
	}
	it, t := typeAt(inter), typeAt(typ)
	if !t.Implements(it) { // generic code for which the types are never used: a table without methods
		empty := &[4]uintptr{inter, typ, uintptr(*hashIn(typ))}
		h.itabs[key] = uintptr(unsafe.Pointer(empty))
		process.kept = append(process.kept, empty)
		return h.itabs[key]
	}
	p := itabOf(it, t)
	// Switches look at the hash of the type, which the runtime omits in tables that it makes.
	if hash := hashIn(p); *hash == 0 {
		*hash = *hashIn(typ)
	}
	h.itabs[key] = p
	return p
}
