//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync/atomic"
	"syscall"
)

// Function is the code of a function of the program.
type Function struct{ entry, end uintptr }

// mainModule is the module of the program: units come after it.
var mainModule = lastmoduledatap

// Functions returns functions of the program by their names in the line table. Where there are several of a name, compiled code calls the one
// that is neither in assembly nor a wrapper. An error reports that the program has no such function, or that this package does not know the
// program's Go.
func Functions(names ...string) (map[string]Function, error) {
	if err := Supported(); err != nil {
		return nil, err
	}
	wanted := map[int32]string{}
	for _, name := range names {
		i := bytes.Index(mainModule.funcnametab, append(append([]byte{0}, name...), 0))
		if i < 0 {
			return nil, fmt.Errorf("the program has no function %s", name)
		}
		wanted[int32(i)+1] = name
	}
	found := map[string]Function{}
	for i, e := range mainModule.ftab[:len(mainModule.ftab)-1] {
		f := funcIn(mainModule.pclntable, e.funcoff)
		name, ok := wanted[f.nameOff]
		if _, twice := found[name]; ok && (!twice || f.flag&funcFlagAsm == 0 && f.funcID != funcIDWrapper) {
			found[name] = Function{mainModule.text + uintptr(e.entryoff), mainModule.text + uintptr(mainModule.ftab[i+1].entryoff)}
		}
	}
	if len(found) < len(wanted) {
		return nil, fmt.Errorf("the program has %d of the %d functions that are wanted", len(found), len(wanted))
	}
	return found, nil
}

// Replace makes the program call with where it would call f, which must be of the same type and not yet in use. undo
// ends the replacement and returns f. An error says why the system does not let the process change its code.
func Replace[F any](f Function, with F) (undo func() F, err error) {
	jump := archs[runtime.GOARCH].farJump(reflect.ValueOf(with).Pointer())
	if f.end-f.entry < uintptr(len(jump)) {
		return nil, fmt.Errorf("a function of %d bytes has no room for a jump", f.end-f.entry)
	}
	before := bytes.Clone(bytesAt(f.entry, len(jump)))
	if err := overwrite(f.entry, jump); err != nil {
		return nil, err
	}
	return func() F {
		_ = overwrite(f.entry, before)
		return functionAt[F](f.entry)
	}, nil
}

// Of returns a function of the program, which must have the type F.
func Of[F any](f Function) F { return functionAt[F](f.entry) }

// ReplaceCalls makes the calls of f in caller calls of with, which must be of the same type. Other threads may be calling f: each
// change is one store.
func ReplaceCalls[F any](f Function, caller Function, with F) error {
	a, to := archs[runtime.GOARCH], reflect.ValueOf(with).Pointer()
	found := false
	for at := caller.entry; at+callSize <= caller.end; at += uintptr(a.quantum) {
		if a.callee(bytesAt(at, callSize), at) != f.entry {
			continue
		}
		place := at + uintptr(a.callOffset)
		target := bytes.Clone(bytesAt(place, 4))
		if err := a.putCall(target, place, to, 0); err != nil {
			return err
		}
		if err := overwrite(place, target); err != nil {
			return err
		}
		found = true
	}
	if !found {
		return errors.New("the function has no such call")
	}
	return nil
}

// callSize is the size of the longest call instruction.
const callSize = 5

// overwrite changes code of the program.
func overwrite(entry uintptr, code []byte) error {
	page := uintptr(syscall.Getpagesize())
	from, end := entry&^(page-1), (entry+uintptr(len(code))+page-1)&^(page-1)
	pages := bytesAt(from, int(end-from))
	if err := syscall.Mprotect(pages, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC); err != nil {
		return fmt.Errorf("the system does not let this process change its code: %w", err)
	}
	place := pages[entry-from:][:len(code)]
	copy(place, code)
	synchronize(place, place)
	_ = syscall.Mprotect(pages, syscall.PROT_READ|syscall.PROT_EXEC)
	return nil
}

// InUnits reports whether an address is in the code of a unit.
func InUnits(pc uintptr) bool {
	at := unitText.Load()
	return at != 0 && pc >= at && pc < at+uintptr(textRoom)
}

// unitText is the address of the code of units, or 0 before there are any. Unlike the arena, it is read without a lock.
var unitText atomic.Uintptr
