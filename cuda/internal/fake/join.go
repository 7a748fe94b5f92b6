//go:build cuda && linux && cgo

package fake

/*
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "driver/join.h"
const char *fake_join(char *path);
void fake_configure(void);
uint64_t fake_counter(int i);
*/
import "C"

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"halfnote/cuda/internal/ptx"
)

func join(path string) error {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	if text := C.fake_join(p); text != nil {
		return fmt.Errorf("fake: %s: %s", path, C.GoString(text))
	}
	return nil
}

func configure() { C.fake_configure() }

// Launches returns the number of kernels and library calls enqueued on streams; those of graphs
// count at their capture.
func Launches() int { return int(C.fake_counter(C.LAUNCHES)) }

// Runs returns the number of operations that streams and graphs have run.
func Runs() int { return int(C.fake_counter(C.RUNS)) }

// GraphLaunches returns the number of graphs enqueued on streams.
func GraphLaunches() int { return int(C.fake_counter(C.GRAPH_LAUNCHES)) }

// Allocs returns the number of device memory allocations.
func Allocs() int { return int(C.fake_counter(C.ALLOCS)) }

// Frees returns the number of device memory releases.
func Frees() int { return int(C.fake_counter(C.FREES)) }

// PinnedAllocs returns the number of page-locked memory allocations.
func PinnedAllocs() int { return int(C.fake_counter(C.PINNED_ALLOCS)) }

// Syncs returns the number of times the host waited for a stream, an event, a context, or a
// synchronous copy. Polling a stream or an event until it is done counts as one.
func Syncs() int { return int(C.fake_counter(C.SYNCS)) }

// Copies returns the number of copies enqueued.
func Copies() int { return int(C.fake_counter(C.COPIES)) }

// Steps returns the number of instructions that kernels have run, summed over threads.
func Steps() int64 { return steps.Load() }

var (
	unchecked atomic.Bool
	steps     atomic.Int64
	lastFault atomic.Pointer[error]

	state struct {
		sync.Mutex
		modules   []*ptx.Module // by number
		texts     map[string]*ptx.Module
		functions []*ptx.Kernel  // by number
		launched  map[string]int // by name
	}
)

// Launched returns the number of runs of kernels whose names have the prefix.
func Launched(prefix string) int {
	state.Lock()
	defer state.Unlock()
	n := 0
	for name, times := range state.launched {
		if strings.HasPrefix(name, prefix) {
			n += times
		}
	}
	return n
}

// LastFault returns the error of the last kernel that failed, or nil. It may be a [*ptx.Fault].
func LastFault() error {
	if p := lastFault.Load(); p != nil {
		return *p
	}
	return nil
}

//export fakeLoad
func fakeLoad(text *C.char, capability, version C.int, log *C.char, size C.size_t, module *C.int) C.Result {
	refuse := func(code C.Result, format string, args ...any) C.Result {
		if n := int(size); n > 0 {
			b := append([]byte(fmt.Sprintf(format, args...)), 0)
			if len(b) > n {
				b = append(b[:n-1], 0)
			}
			copy(unsafe.Slice((*byte)(unsafe.Pointer(log)), n), b)
		}
		return code
	}
	s := C.GoString(text)
	state.Lock()
	defer state.Unlock()
	m := state.texts[s]
	if m == nil {
		var err error
		if m, err = ptx.Parse(s); err != nil {
			return refuse(C.INVALID_PTX, "ptxas fatal: %v", err)
		}
		major, minor, _ := strings.Cut(m.Version, ".")
		a, _ := strconv.Atoi(major)
		b, _ := strconv.Atoi(minor)
		// The driver of CUDA 12.n accepts 8.n, that of 11.n accepts 7.n.
		if most := (int(version)/1000-4)*10 + int(version)%1000/10; 10*a+b > most {
			return refuse(C.UNSUPPORTED_PTX_VERSION, "ptxas fatal: Unsupported .version %s; current version is '%d.%d'", m.Version, most/10, most%10)
		}
		if m.Capability() > int(capability) {
			return refuse(C.INVALID_PTX, "ptxas fatal: .target %s, but the device is sm_%d", m.Target, capability)
		}
		// Variables belong to one load of a module; the rest is immutable.
		if !m.HasVariables() {
			if state.texts == nil {
				state.texts = map[string]*ptx.Module{}
			}
			state.texts[s] = m
		}
	}
	state.modules = append(state.modules, m)
	*module = C.int(len(state.modules) - 1)
	return C.OK
}

//export fakeUnload
func fakeUnload(module C.int) {
	state.Lock()
	defer state.Unlock()
	if m := state.modules[module]; m.HasVariables() {
		m.Release()
	}
	state.modules[module] = nil
}

//export fakeFunction
func fakeFunction(module C.int, name *C.char, layout *C.Layout) C.Result {
	state.Lock()
	defer state.Unlock()
	k, err := state.modules[module].Kernel(C.GoString(name))
	if err != nil {
		if !errors.Is(err, ptx.ErrNoKernel) {
			lastFault.Store(&err)
			return C.INVALID_PTX
		}
		return C.NOT_FOUND
	}
	if len(k.Params) > C.MAX_PARAMS || k.ParamBytes > C.PARAM_BYTES {
		return C.INVALID_PTX
	}
	state.functions = append(state.functions, k)
	*layout = C.Layout{id: C.int(len(state.functions) - 1), params: C.int(len(k.Params)), shared: C.int(k.Shared), local: C.int(k.Local),
		registers: C.int(k.Registers), threads: C.int(k.MaxThreads)}
	for i, p := range k.Params {
		layout.param[i] = C.Param{offset: C.int(p.Offset), size: C.int(p.Size)}
	}
	return C.OK
}

//export fakeGlobal
func fakeGlobal(module C.int, name *C.char, at *C.Ptr, size *C.size_t) C.Result {
	state.Lock()
	defer state.Unlock()
	r, ok := state.modules[module].Global(C.GoString(name))
	if !ok {
		return C.NOT_FOUND
	}
	*at, *size = C.Ptr(r.Base), C.size_t(r.Size)
	return C.OK
}

//export fakeLaunch
func fakeLaunch(function C.int, shape *C.uint, shared, most C.uint, params unsafe.Pointer, bytes C.int, ranges *C.Range, n C.int) C.Result {
	state.Lock()
	k := state.functions[function]
	if state.launched == nil {
		state.launched = map[string]int{}
	}
	state.launched[k.Name]++
	state.Unlock()
	s := (*[6]uint32)(unsafe.Pointer(shape))
	l := ptx.Launch{Grid: [3]uint32(s[:3]), Block: [3]uint32(s[3:]), Shared: int(shared), MaxShared: int(most), Check: !unchecked.Load()}
	if bytes > 0 {
		l.Params = C.GoBytes(params, bytes)
	}
	if n > 0 {
		l.Global = unsafe.Slice((*ptx.Range)(unsafe.Pointer(ranges)), int(n))
	}
	done, err := k.Launch(l)
	steps.Add(done.Steps)
	if err == nil {
		return C.OK
	}
	lastFault.Store(&err)
	var f *ptx.Fault
	if !errors.As(err, &f) {
		return C.LAUNCH_FAILED
	}
	switch f.Kind {
	case ptx.IllegalAddress:
		return C.ILLEGAL_ADDRESS
	case ptx.Misaligned:
		return 716
	}
	return C.LAUNCH_FAILED
}
