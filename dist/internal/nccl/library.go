package nccl

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"halfnote/dist/internal/mpi"
)

// Library is a loaded NCCL.
type Library struct {
	Path    string
	Version int // 22703 is 2.27.3
	lib     mpi.Shared
	f       map[string]uintptr
}

// functions lists the functions that this package calls.
var functions = []string{
	"ncclGetVersion", "ncclGetUniqueId", "ncclCommInitRank", "ncclCommDestroy", "ncclCommAbort", "ncclCommGetAsyncError",
	"ncclGroupStart", "ncclGroupEnd", "ncclSend", "ncclRecv", "ncclBroadcast",
}

// results lists the values of ncclResult_t of nccl.h, from 0.
var results = []string{
	"success", "unhandled CUDA error", "unhandled system error", "internal error", "invalid argument", "invalid usage",
	"remote process exited or there was a network error", "in progress",
}

const (
	success    = 0
	inProgress = 7
	char       = 0 // ncclChar of ncclDataType_t
)

// Open loads the file that the variable HALFNOTE_NCCL names, or the libnccl.so.2 that the system's loader finds.
func Open() (*Library, error) {
	path := "libnccl.so.2"
	if named := os.Getenv("HALFNOTE_NCCL"); named != "" {
		path = named
	}
	lib, err := mpi.OpenShared(path)
	if err != nil {
		return nil, fmt.Errorf("cannot load NCCL; install it, for example with `pip install nvidia-nccl-cu12`, or name its file in HALFNOTE_NCCL: %w", err)
	}
	l := &Library{Path: path, lib: lib, f: map[string]uintptr{}}
	var missing []string
	for _, name := range functions {
		if l.f[name] = lib.Symbol(name); l.f[name] == 0 {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s has no function %s; want NCCL 2.7 or newer", path, strings.Join(missing, ", "))
	}
	var version int32
	if err := l.call("ncclGetVersion", uintptr(unsafe.Pointer(&version))); err != nil {
		return nil, err
	}
	l.Version = int(version)
	return l, nil
}

// call calls a function of the library and turns its result into an error.
//
//go:uintptrescapes
func (l *Library) call(name string, args ...uintptr) error {
	return failure(name, l.lib.Call(l.f[name], args...))
}

func failure(name string, code int32) error {
	switch {
	case code == success:
		return nil
	case code > 0 && int(code) < len(results):
		return fmt.Errorf("%s: %s; set NCCL_DEBUG=WARN to see why", name, results[code])
	}
	return fmt.Errorf("%s: unknown result %d; set NCCL_DEBUG=WARN to see why", name, code)
}

// ID identifies a group of ranks: ncclUniqueId.
type ID [128]byte

// NewID returns the identifier of a new group. One rank calls it and sends the result to the others.
func (l *Library) NewID() (id ID, err error) {
	err = l.call("ncclGetUniqueId", uintptr(unsafe.Pointer(&id)))
	return id, err
}
