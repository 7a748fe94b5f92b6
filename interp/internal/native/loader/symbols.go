//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"fmt"
	"strings"
	"unsafe"
)

// readVars takes the addresses that the linker gave to variables, and to instances of generic
// functions, whose names the line table does not hold in full.
func (h *host) readVars(addresses map[string]uintptr) error {
	const sample = "runtime.lastmoduledatap"
	// A position-independent program is not where the linker assumed.
	moved := uintptr(unsafe.Pointer(&lastmoduledatap)) - addresses[sample]
	if addresses[sample] == 0 || moved%4096 != 0 {
		return fmt.Errorf("the symbols are not those of this program: %s is at %#x, want %#x", sample, addresses[sample], unsafe.Pointer(&lastmoduledatap))
	}
	for name, addr := range addresses {
		addr += moved
		switch {
		case strings.HasPrefix(name, mainPrefix):
		case addr >= h.md.text && addr < h.md.etext:
			h.funcs[name] = addr
		case addr >= min(h.md.noptrdata, h.md.data) && addr < h.md.end: // linkers differ in their order
			h.vars[name] = addr
		}
	}
	for _, name := range []string{itabTable, zeroBase, emptyTypeAssertCache, emptyInterfaceSwitchCache} {
		if h.vars[name] == 0 {
			return fmt.Errorf("the program has no variable %s", name)
		}
	}
	for name, addr := range h.vars {
		if isCache(name) {
			h.addCache(name, addr)
		}
	}
	h.vars["runtime.staticuint64s"] = uintptr(unsafe.Pointer(&smallWords))
	return nil
}

// smallWords are the words that interfaces with small integers point to. Those of the runtime
// are among its constants, which have no known addresses.
var smallWords = func() (list [256]uint64) {
	for i := range list {
		list[i] = uint64(i)
	}
	return list
}()
