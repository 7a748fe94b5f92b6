//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// Sizes of the memory that all units of the process share, and of each table that describes them. It is taken from the system page
// by page, as units use it, and is less only where the system limits the addresses of the process (ulimit -v).
var textRoom, dataRoom, tableRoom = rooms(AddressesLeft())

// rooms returns the sizes for a process that can use left more bytes of addresses, or any number of them if left is 0.
func rooms(left int) (text, data, table int) {
	const most = 64 << 20
	part := most
	if left > 0 {
		part = min(most, left/64&^(1<<20-1)) // text is mapped twice, and there are five tables: a quarter of what is left
	}
	return part, 8 * part, part
}

// AddressesLeft returns how many bytes of addresses the system leaves to the process, or 0 if it sets no limit.
func AddressesLeft() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur >= 1<<62 {
		return 0
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	size, _, _ := strings.Cut(string(text), " ")
	pages, _ := strconv.Atoi(size)
	return max(1, int(limit.Cur)-pages*syscall.Getpagesize())
}

// arena is the memory for units. Text is mapped twice: code runs in text, and the loader
// writes it through writable, at the same offsets.
type arena struct {
	text, writable, data []byte
	textUsed, dataUsed   int
	topUsed              int // bytes at the end of data: lists of methods, which lie after the types they belong to
}

// Permitted returns an error if the system does not let this process run code that it has written.
func Permitted() error {
	if err := Supported(); err != nil {
		return err
	}
	page := syscall.Getpagesize()
	r, err := newArena(0, page, page)
	if err != nil {
		return err
	}
	return errors.Join(munmap(addressOf(r.text), 2*page), munmap(addressOf(r.writable), page))
}

// newArena reserves memory for text and data near an address, so that code in it can call the program's
// functions directly, and checks that code in it can run.
func newArena(near uintptr, textSize, dataSize int) (*arena, error) {
	fd, err := memfd("cells")
	if err != nil {
		return nil, fmt.Errorf("cannot create memory for code: %w", err)
	}
	file := os.NewFile(fd, "cells")
	defer file.Close()
	if err := file.Truncate(int64(textSize)); err != nil {
		return nil, fmt.Errorf("cannot create %d bytes of memory for code: %w", textSize, err)
	}
	base, err := mmap(near, textSize+dataSize, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE, -1)
	if err != nil {
		return nil, fmt.Errorf("cannot reserve %d bytes of memory: %w", textSize+dataSize, err)
	}
	for _, m := range []struct {
		at          uintptr
		size, prot  int
		flags, file int
	}{
		{base, textSize, syscall.PROT_READ | syscall.PROT_EXEC, syscall.MAP_SHARED | syscall.MAP_FIXED, int(fd)},
		{base + uintptr(textSize), dataSize, syscall.PROT_READ | syscall.PROT_WRITE, syscall.MAP_ANON | syscall.MAP_PRIVATE | syscall.MAP_NORESERVE | syscall.MAP_FIXED, -1},
	} {
		if _, err := mmap(m.at, m.size, m.prot, m.flags, m.file); err != nil {
			return nil, fmt.Errorf("the system does not let this process run code that it has written: %w", err)
		}
	}
	writable, err := mmap(0, textSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED, int(fd))
	if err != nil {
		return nil, fmt.Errorf("cannot map memory for code: %w", err)
	}
	return &arena{text: bytesAt(base, textSize), writable: bytesAt(writable, textSize), data: bytesAt(base+uintptr(textSize), dataSize)}, nil
}

// memfd creates a file that is only in memory.
func memfd(name string) (uintptr, error) {
	const closeOnExec = 1
	p, err := syscall.BytePtrFromString(name)
	if err != nil {
		return 0, err
	}
	fd, _, errno := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(p)), closeOnExec, 0)
	if errno != 0 {
		return 0, errno
	}
	return fd, nil
}

// mmap maps memory, at an address if flags contain MAP_FIXED, and else near it if that is free.
func mmap(at uintptr, size, prot, flags, fd int) (uintptr, error) {
	p, _, errno := syscall.Syscall6(syscall.SYS_MMAP, at, uintptr(size), uintptr(prot), uintptr(flags), uintptr(fd), 0)
	if errno != 0 {
		return 0, errno
	}
	return p, nil
}

// munmap returns memory to the system.
func munmap(at uintptr, size int) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_MUNMAP, at, uintptr(size), 0); errno != 0 {
		return errno
	}
	return nil
}

// take returns the offsets of n bytes of text and m bytes of data, which are zero. It takes
// nothing for good before keep is called.
func (r *arena) take(n, m int) (text, data int, err error) {
	text, data = align(r.textUsed, 64), align(r.dataUsed, 64)
	if text+n > len(r.text) || data+m > len(r.data)-r.topUsed {
		return 0, 0, fmt.Errorf("the session has room for %d more bytes of code and %d of data, and this cell needs %d and %d: restart the kernel", len(r.text)-text, len(r.data)-r.topUsed-data, n, m)
	}
	clear(r.writable[text : text+n])
	clear(r.data[data : data+m])
	return text, data, nil
}

// keep takes the memory up to the given offsets.
func (r *arena) keep(text, data int) { r.textUsed, r.dataUsed = text, data }

// align returns the first multiple of a that is at least n.
func align(n, a int) int { return (n + a - 1) / a * a }
