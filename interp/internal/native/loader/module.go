//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// module is the one module of the runtime that all units of the process are parts of. Its tables grow
// in place, and the runtime reads them without locks: what they have stays as it is, and maxpc and
// edata, which say how much of them counts, change last.
type module struct {
	md        *moduledata
	names     table[byte]
	pcs       table[byte] // tables from addresses to values
	funcs     table[byte] // descriptions of functions
	sources   table[uint32]
	files     table[byte]
	fileAt    map[string]uint32
	functions table[functab] // without the last, which has the end of the text
	buckets   []findfuncbucket
	mask      []byte // says which words of the data hold pointers
}

// table is memory for a table, which does not move as it grows.
type table[E any] struct {
	all  []E
	used int
}

// reserve returns memory for n elements. It is taken from the system page by page.
func reserve[E any](n int) ([]E, error) {
	var e E
	p, err := mmap(0, n*int(unsafe.Sizeof(e)), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE, -1)
	if err != nil {
		return nil, fmt.Errorf("cannot reserve memory for tables of code: %w", err)
	}
	return unsafe.Slice((*E)(at(p)), n), nil
}

// add appends elements and returns the index of the first.
func (a *table[E]) add(list ...E) (uint32, error) {
	if len(list) > len(a.all)-a.used {
		return 0, fmt.Errorf("the session has room for %d more bytes of tables, and this cell needs %d: restart the kernel", len(a.all)-a.used, len(list))
	}
	i := a.used
	a.used += copy(a.all[i:], list)
	return uint32(i), nil
}

// newModule makes a module without functions for the units in an arena, and adds it to the runtime's list.
func newModule(r *arena, h *host, quantum uint8) (*module, error) {
	m := &module{fileAt: map[string]uint32{}}
	var errs [8]error
	m.names.all, errs[0] = reserve[byte](tableRoom)
	m.pcs.all, errs[1] = reserve[byte](tableRoom)
	m.funcs.all, errs[2] = reserve[byte](tableRoom)
	m.sources.all, errs[3] = reserve[uint32](tableRoom / 4)
	m.files.all, errs[4] = reserve[byte](tableRoom)
	m.functions.all, errs[5] = reserve[functab](textRoom/textAlign + 1)
	m.buckets, errs[6] = reserve[findfuncbucket](textRoom / bucketSize)
	m.mask, errs[7] = reserve[byte](dataRoom / wordsPerMask)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	m.names.used, m.pcs.used = 1, 1 // 0 stands for the lack of a name or table
	text, data := addressOf(r.text), addressOf(r.data)
	m.md = &moduledata{
		modulename: "cells", pcHeader: &pcHeader{magic: pcHeaderMagic, minLC: quantum, ptrSize: uint8(unsafe.Sizeof(uintptr(0)))},
		text: text, minpc: text, etext: text, maxpc: text,
		rodata: data, gofunc: data, data: data, edata: data, epclntab: data + uintptr(dataRoom), end: data + uintptr(dataRoom),
		funcnametab: m.names.all, pctab: m.pcs.all, pclntable: m.funcs.all, cutab: m.sources.all, filetab: m.files.all,
		ftab: m.functions.all, findfunctab: addressOf(m.buckets), gcdatamask: bitvector{int32(len(m.mask) * 8), &m.mask[0]},
	}
	first := *m.md
	first.ftab = first.ftab[:1] // the end of the text
	moduledataverify1(&first)
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&lastmoduledatap.next)), unsafe.Pointer(m.md))
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&lastmoduledatap)), unsafe.Pointer(m.md))
	function(h.funcs[modulesinit])()
	return m, nil
}

// wordsPerMask is the number of bytes of data that a byte of the mask is for.
const wordsPerMask = 8 * int(unsafe.Sizeof(uintptr(0)))

// file returns the number of the name of a source file.
func (m *module) file(name string) (off uint32, err error) {
	off, ok := m.fileAt[name]
	if !ok {
		off, err = m.files.add(append([]byte(name), 0)...)
		m.fileAt[name] = off
	}
	return off, err
}

// extend makes functions and data parts of the module, and enters the functions in the index by address, which has
// the first function of each 4096 bytes, and of each 256 bytes counted from there. The last element of list has the end of the
// functions, and data is the end of the data.
func (m *module) extend(list []functab, data uintptr) {
	n, k := m.functions.used, len(list)-1
	for i := k; i >= 0; i-- { // the first takes the place of the end of the text so far
		m.functions.all[n+i] = list[i]
	}
	m.functions.used += k
	f := max(0, n-1)
	end := m.md.maxpc - m.md.text
	for at := (end + subbucketSize - 1) &^ (subbucketSize - 1); at < uintptr(list[k].entryoff); at += subbucketSize {
		for f+1 < m.functions.used && uintptr(m.functions.all[f+1].entryoff) <= at {
			f++
		}
		b := &m.buckets[at/bucketSize]
		if at%bucketSize == 0 {
			b.idx = uint32(f)
		}
		b.subbuckets[at%bucketSize/subbucketSize] = uint8(uint32(f) - b.idx)
	}
	atomic.StoreUintptr(&m.md.edata, data)
	atomic.StoreUintptr(&m.md.etext, m.md.text+uintptr(list[k].entryoff))
	atomic.StoreUintptr(&m.md.maxpc, m.md.text+uintptr(list[k].entryoff))
}

// clearMask forgets which words of a part of the data hold pointers.
func (m *module) clearMask(from, to uintptr) {
	clear(m.mask[(from-m.md.data)/uintptr(wordsPerMask) : (to-m.md.data+uintptr(wordsPerMask)-1)/uintptr(wordsPerMask)])
}

// setMask notes that a word of the data holds a pointer.
func (m *module) setMask(p uintptr) {
	i := (p - m.md.data) / unsafe.Sizeof(p)
	m.mask[i/8] |= 1 << (i % 8)
}
