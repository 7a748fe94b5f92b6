package toolchain

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

var errNoSymbols = errors.New("the program has no symbols")

// symbols returns the addresses of the variables in an ELF file, and of functions that are
// instances of generic ones.
func symbols(file string) (map[string]uintptr, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	table, names := f.Section(".symtab"), f.Section(".strtab")
	if table == nil || names == nil {
		return nil, errNoSymbols
	}
	entries, err := table.Data()
	if err != nil {
		return nil, err
	}
	text, err := names.Data()
	if err != nil {
		return nil, err
	}
	inSection := map[elf.SectionIndex]bool{}
	for i, s := range f.Sections {
		inSection[elf.SectionIndex(i)] = slices.Contains(variables, s.Name)
	}
	list := map[string]uintptr{}
	for ; len(entries) >= elf.Sym64Size; entries = entries[elf.Sym64Size:] {
		section := elf.SectionIndex(binary.LittleEndian.Uint16(entries[6:]))
		off, typ, value := binary.LittleEndian.Uint32(entries), elf.ST_TYPE(entries[4]), binary.LittleEndian.Uint64(entries[8:])
		end := -1
		if int(off) < len(text) {
			end = bytes.IndexByte(text[off:], 0)
		}
		if end < 0 {
			return nil, fmt.Errorf("%s: a symbol has no name", file)
		}
		name := text[off : int(off)+end]
		if typ == elf.STT_OBJECT && inSection[section] || typ == elf.STT_FUNC && bytes.IndexByte(name, '[') >= 0 {
			list[string(name)] = uintptr(value)
		}
	}
	return list, nil
}

// variables are the sections with the variables of a program.
var variables = []string{".noptrdata", ".data", ".bss", ".noptrbss"}
