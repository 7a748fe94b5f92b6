package toolchain

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// sameLayout returns an error unless the code and the variables of two files are at the same
// addresses. Their code is the same but for the addresses of read-only constants, whose order
// the linker does not fix; the other addresses in it are those of the variables.
func sameLayout(file, other string) error {
	a, err := elf.Open(file)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := elf.Open(other)
	if err != nil {
		return err
	}
	defer b.Close()
	var readOnly []*elf.Section
	for _, name := range slices.Concat([]string{".text", ".gopclntab"}, constants, variables) {
		x, y := a.Section(name), b.Section(name)
		if x == nil && y == nil && strings.HasPrefix(name, ".go.") {
			continue // Go 1.26 has no such section
		}
		if x == nil || y == nil || x.Addr != y.Addr || x.Size != y.Size {
			return fmt.Errorf("linked again, section %s of the program has another place", name)
		}
		if slices.Contains(constants, name) {
			readOnly = append(readOnly, x)
		}
	}
	text := a.Section(".text")
	p, err1 := text.Data()
	q, err2 := b.Section(".text").Data()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	held := addresses[a.Machine]
	isConstant := func(addr int64) bool {
		return slices.ContainsFunc(readOnly, func(s *elf.Section) bool { return addr >= int64(s.Addr) && addr < int64(s.Addr+s.Size)+8 })
	}
	sameBut := func(off int) bool { // for the address of a constant at an offset
		if off < 0 || off%held.step != 0 || off+held.size > len(p) {
			return false
		}
		x, others := held.read(p[off:off+held.size], int64(text.Addr)+int64(off))
		y, want := held.read(q[off:off+held.size], int64(text.Addr)+int64(off))
		return others == want && isConstant(x) && isConstant(y)
	}
	for i := 0; i < len(p); i++ {
		if p[i] == q[i] {
			continue
		}
		off := i - held.size + 1
		for off <= i && !sameBut(off) {
			off++
		}
		if off > i {
			return errors.New("linked again, the program has different code")
		}
		i = off + held.size - 1
	}
	return nil
}

// constants are the sections with constants. Go 1.27 has types, and data about functions, in sections of their own.
var constants = []string{".rodata", ".go.type", ".go.func"}

// addresses says how code holds the address of a constant: size bytes at a multiple of step. read returns the address in
// code that is at an address, and the other bits of that code.
var addresses = map[elf.Machine]struct {
	size, step int
	read       func(b []byte, at int64) (addr int64, others uint64)
}{
	elf.EM_X86_64: {4, 1, func(b []byte, at int64) (int64, uint64) {
		// The distance is counted from the end of the instruction, at most 8 bytes further on.
		return at + 4 + int64(int32(binary.LittleEndian.Uint32(b))), 0
	}},
	elf.EM_AARCH64: {8, 4, func(b []byte, at int64) (int64, uint64) {
		const pages, inPage = 3<<29 | (1<<19-1)<<5, (1<<12 - 1) << 10
		adrp, second := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		if adrp&0x9f000000 != 0x90000000 {
			return 0, 0
		}
		scale := uint32(0)
		if second&0x3b000000 == 0x39000000 { // a load or store, else an ADD
			scale = second >> 30
			if second&0x04800000 == 0x04800000 { // of 16 bytes
				scale = 4
			}
		} else if second&0xffc00000 != 0x91000000 {
			return 0, 0
		}
		page := int64(int32((adrp>>5&(1<<19-1)<<2|adrp>>29&3)<<11) >> 11)
		return at&^0xfff + page<<12 + int64(second&inPage>>10<<scale), uint64(adrp&^pages)<<32 | uint64(second&^inPage)
	}},
}
