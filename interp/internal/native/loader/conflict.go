//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"reflect"
	"runtime"
	"syscall"
)

// mapsFatal is the function by which the runtime ends the process when goroutines use a map at
// the same time and one of them writes. It holds no locks, and the map is as before its last
// change, so that a panic can take its place.
const mapsFatal = "internal/runtime/maps.fatal"

// catchConflicts makes the runtime call conflict where it would call mapsFatal. Where the system does
// not let the process change its code, nothing changes.
func (h *host) catchConflicts() {
	entry := h.funcs[mapsFatal]
	jump := archs[runtime.GOARCH].farJump(reflect.ValueOf(conflict).Pointer())
	page := uintptr(syscall.Getpagesize())
	from, end := entry&^(page-1), (entry+uintptr(len(jump))+page-1)&^(page-1)
	code := bytesAt(from, int(end-from))
	if syscall.Mprotect(code, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC) != nil {
		return
	}
	place := code[entry-from:][:len(jump)]
	copy(place, jump)
	synchronize(place, place)
	_ = syscall.Mprotect(code, syscall.PROT_READ|syscall.PROT_EXEC)
}

// conflict panics if code of a unit has called it, and ends the process otherwise.
func conflict(text string) {
	var pcs [64]uintptr
	for _, pc := range pcs[:runtime.Callers(2, pcs[:])] {
		if at := addressOf(process.arena.text); pc >= at && pc < at+textRoom {
			process.conflict(text)
		}
	}
	callText(process.host.funcs[fatal], text)
}

// fatal is the function of the runtime that ends the process with a message.
const fatal = "runtime.fatal"
