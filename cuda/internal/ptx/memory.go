package ptx

import (
	"fmt"
	"unsafe"
)

// Range is a range of a device's memory.
type Range struct {
	Base, Size uint64
}

// Memory spaces. Generic addresses of shared and local memory lie in windows that contain no host
// addresses.
const (
	generic = iota
	global
	shared
	local
	param
)

const (
	sharedBase = 1 << 56
	localBase  = 2 << 56
	paramBase  = 3 << 56
	frameBase  = 1 << 20 // offset of the parameters of device functions in the parameter space
)

var spaces = map[string]uint8{"global": global, "const": global, "shared": shared, "local": local, "param": param}

var spaceNames = [...]string{"generic", "global", "shared", "local", "param"}

// windows holds the first generic address of each space.
var windows = [...]uint64{shared: sharedBase, local: localBase, param: paramBase}

// access is the kind of a memory access.
type access uint8

const (
	reads access = iota
	writes
	updates // atomic read and write
)

// at returns a pointer to the n bytes at an address, or nil after a fault.
func (w *warp) at(space uint8, a, n uint64, lane int, how access) unsafe.Pointer {
	if space == generic {
		space = uint8(a>>56) + 1
		if space > param {
			space = global
		}
		a -= windows[space]
	}
	if a&(n-1) != 0 {
		w.memoryFault(lane, Misaligned, "misaligned: address %#x in %s memory is not a multiple of %d", a, spaceNames[space], n)
		return nil
	}
	switch space {
	case global:
		if a < w.lo || a+n > w.hi {
			if !w.find(a, n) {
				w.memoryFault(lane, IllegalAddress, "address %#x is outside all allocations%s", a, w.near(a))
				return nil
			}
		}
		return pointer(a)
	case shared:
		if a+n > uint64(len(w.block.shared)) || a+n < a {
			w.memoryFault(lane, IllegalAddress, "offset %#x is outside shared memory, which has %d bytes", a, len(w.block.shared))
			return nil
		}
		if w.block.cells != nil {
			w.check(int(a), int(n), lane, how)
		}
		return unsafe.Pointer(&w.block.shared[a])
	case param:
		if a < frameBase {
			if a+n > uint64(len(w.block.params)) {
				w.memoryFault(lane, IllegalAddress, "offset %#x is outside the parameters, which have %d bytes", a, len(w.block.params))
				return nil
			}
			return unsafe.Pointer(&w.block.params[a])
		}
		a -= frameBase
	}
	if a+n > uint64(w.k.Local) || a+n < a {
		w.memoryFault(lane, IllegalAddress, "offset %#x is outside local memory, which has %d bytes", a, w.k.Local)
		return nil
	}
	return unsafe.Pointer(&w.local[uint64(lane)*uint64(w.frame)+a])
}

// pointer converts an address outside the Go heap to a pointer.
func pointer(a uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&a)) }

// find reports whether an allocation contains n bytes at address a, and caches its bounds for the
// next access.
func (w *warp) find(a, n uint64) bool {
	list := w.block.ranges
	lo, hi := 0, len(list)
	for lo < hi {
		mid := (lo + hi) / 2
		if list[mid].Base <= a {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 || a+n > list[lo-1].Base+list[lo-1].Size || a+n < a {
		return false
	}
	w.lo, w.hi = list[lo-1].Base, list[lo-1].Base+list[lo-1].Size
	return true
}

// near describes the position of an address relative to a nearby allocation.
func (w *warp) near(a uint64) string {
	for _, r := range w.block.ranges {
		end := r.Base + r.Size
		if a+1<<20 >= r.Base && a < r.Base {
			return fmt.Sprintf(" (%d bytes before an allocation of %d bytes)", r.Base-a, r.Size)
		}
		if a < end+1<<20 && a >= r.Base {
			return fmt.Sprintf(" (byte %d of an allocation of %d bytes)", a-r.Base, r.Size)
		}
	}
	return ""
}

// memoryFault is faultAt for a memory access.
func (w *warp) memoryFault(lane int, kind Kind, format string, args ...any) {
	w.faultAt(lane, format, args...)
	w.fault.Kind = kind
}
