package ptx

import (
	"encoding/binary"
	"math"
	"testing"
	"unsafe"
)

// device allocates memory outside the Go heap.
type device struct {
	t      testing.TB
	ranges []Range
}

// alloc allocates n poisoned bytes and returns their address and content.
func (d *device) alloc(n int) (uint64, []byte) {
	d.t.Helper()
	mem, err := allocate(max(n, 1))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { release(mem) })
	for i := range mem {
		mem[i] = 0xFF
	}
	at := uint64(uintptr(unsafe.Pointer(&mem[0])))
	d.ranges = append(d.ranges, Range{at, uint64(n)})
	return at, mem[:n]
}

// array copies values to the device and returns their address, and a slice of that memory.
func array[T any](d *device, values []T) (uint64, []T) {
	var zero T
	at, mem := d.alloc(len(values) * int(unsafe.Sizeof(zero)))
	list := unsafe.Slice((*T)(unsafe.Pointer(&mem[0])), len(values))
	copy(list, values)
	return at, list
}

// pack returns the arguments in a kernel's layout.
func pack(k *Kernel, args ...any) []byte {
	list := make([]byte, k.ParamBytes)
	for i, a := range args {
		p := list[k.Params[i].Offset:]
		switch a := a.(type) {
		case uint64:
			binary.LittleEndian.PutUint64(p, a)
		case uint32:
			binary.LittleEndian.PutUint32(p, a)
		case int:
			binary.LittleEndian.PutUint32(p, uint32(a))
		case float32:
			binary.LittleEndian.PutUint32(p, math.Float32bits(a))
		case []byte:
			copy(p, a)
		default:
			panic(a)
		}
	}
	return list
}
