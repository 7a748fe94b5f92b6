package loader

import (
	"encoding/binary"
	"fmt"

	"halfnote/interp/internal/native/object"
)

// arch is what the loader knows about a processor.
type arch struct {
	rules map[object.RelocType]rule
	// jump writes a jump to the address that a slot holds.
	jump     func(b []byte, at, slot uintptr) error
	jumpSize int
	// farJump returns a jump to an address, for the start of a function.
	farJump func(to uintptr) []byte
	// reach is the number of bytes that a call can reach in both directions.
	reach int64
	// quantum is the least size of an instruction, sys.PCQuantum.
	quantum uint8
	// direct, if set, makes the instruction at the end of code, which is at an address, compute an
	// address instead of loading it from a slot. It reports whether it can.
	direct func(code []byte, at, target uintptr) bool
	// callOffset is the distance from the start of a call instruction to its relocation, which putCall fills in.
	callOffset int
	putCall    func(b []byte, at, target uintptr, add int64) error
	// callee returns the address that the call instruction at an address calls, or 0 for another instruction.
	callee func(b []byte, at uintptr) uintptr
}

// rule says how a relocation is filled in.
type rule struct {
	to  target
	put func(b []byte, at, target uintptr, add int64) error
}

// target says which address a relocation holds.
type target int

const (
	symbol target = iota // address of the symbol
	code                 // address of the function, or of a jump to it
	slot                 // address of the slot that holds the address of the symbol
	thread               // address of the slot that holds the offset of the current goroutine in the thread
	number               // number by which package reflect finds the symbol
)

// archs are the processors for which there are rules, by GOARCH.
var archs = map[string]arch{
	"amd64": {
		rules: map[object.RelocType]rule{
			object.Addr:        {symbol, putAddress},
			object.AddrOff:     {number, putNumber},
			object.MethodOff:   {number, putNumber},
			object.Call:        {code, putDistance},
			object.PCRel:       {symbol, putDistance},
			object.GOTPCRel:    {slot, putDistance},
			object.ThreadLocal: {thread, putSlotDistance},
		},
		jump: func(b []byte, at, slot uintptr) error { // JMP *slot(IP)
			copy(b, []byte{0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc})
			return putDistance(b[2:6], at+2, slot, 0)
		},
		jumpSize: 8, callOffset: 1, putCall: putDistance, direct: putLEA, reach: 1 << 31, quantum: 1,
		callee: func(b []byte, at uintptr) uintptr { // CALL, with the distance from its end
			if b[0] != 0xe8 {
				return 0
			}
			return at + 5 + uintptr(int32(binary.LittleEndian.Uint32(b[1:])))
		},
		farJump: func(to uintptr) []byte { // MOVQ $to, DX; JMP DX
			return append(binary.LittleEndian.AppendUint64([]byte{0x48, 0xba}, uint64(to)), 0xff, 0xe2)
		},
	},
	"arm64": {
		rules: map[object.RelocType]rule{
			object.Addr:          {symbol, putAddress},
			object.AddrOff:       {number, putNumber},
			object.MethodOff:     {number, putNumber},
			object.CallARM64:     {code, putBranch},
			object.AddrARM64:     {symbol, putPageAdd},
			object.Load8ARM64:    {symbol, putPageAdd},
			object.Load16ARM64:   {symbol, putPage(2)},
			object.Load32ARM64:   {symbol, putPage(4)},
			object.Load64ARM64:   {symbol, putPageLoad},
			object.GOTPCRelARM64: {slot, putPageLoad},
		},
		jump: func(b []byte, at, slot uintptr) error { // ADRP R16; MOVD (R16), R16; JMP (R16)
			for i, ins := range []uint32{0x90000010, 0xf9400210, 0xd61f0200} {
				binary.LittleEndian.PutUint32(b[4*i:], ins)
			}
			return putPageLoad(b[:8], at, slot, 0)
		},
		jumpSize: 12, putCall: putBranch, reach: 1 << 27, quantum: 4,
		callee: func(b []byte, at uintptr) uintptr { // BL, with the distance in words
			if b[3]&0xfc != 0x94 {
				return 0
			}
			return at + uintptr(int32(binary.LittleEndian.Uint32(b)<<6)>>4)
		},
		farJump: func(to uintptr) []byte { // MOVD 8(PC), R16; JMP (R16)
			return binary.LittleEndian.AppendUint64([]byte{0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6}, uint64(to))
		},
	},
}

func putAddress(b []byte, _, target uintptr, add int64) error {
	if len(b) != 8 {
		return fmt.Errorf("an address has %d bytes, want 8", len(b))
	}
	binary.LittleEndian.PutUint64(b, uint64(target)+uint64(add))
	return nil
}

func putNumber(b []byte, _, target uintptr, _ int64) error {
	if len(b) != 4 {
		return fmt.Errorf("a number has %d bytes, want 4", len(b))
	}
	binary.LittleEndian.PutUint32(b, uint32(target))
	return nil
}

// putDistance writes the distance from the end of a place to its target.
func putDistance(b []byte, at, target uintptr, add int64) error {
	d := int64(target) + add - int64(at) - 4
	if len(b) != 4 || d != int64(int32(d)) {
		return fmt.Errorf("the distance from %#x to %#x does not fit in %d bytes", at, target, len(b))
	}
	binary.LittleEndian.PutUint32(b, uint32(d))
	return nil
}

// putLEA replaces MOVQ slot(IP), R by LEAQ target(IP), R.
func putLEA(code []byte, at, target uintptr) bool {
	const size, opMOVQ, opLEAQ = 7, 0x8b, 0x8d
	if len(code) < size {
		return false
	}
	start := len(code) - size
	b := code[start:]
	hasPrefix, fromIP := b[0]&^4 == 0x48, b[2]&^0x38 == 5
	if !hasPrefix || b[1] != opMOVQ || !fromIP || putDistance(b[3:], at+uintptr(start)+3, target, 0) != nil {
		return false
	}
	b[1] = opLEAQ
	return true
}

// putSlotDistance is putDistance for relocations that count the place itself as an addition.
func putSlotDistance(b []byte, at, target uintptr, add int64) error {
	return putDistance(b, at, target, add+4)
}

// putBranch writes the distance to the target into a BL instruction, which holds 26 bits of
// words.
func putBranch(b []byte, at, target uintptr, add int64) error {
	d := int64(target) + add - int64(at)
	if len(b) != 4 || d%4 != 0 || d < -1<<27 || d >= 1<<27 {
		return fmt.Errorf("a branch cannot reach %#x from %#x", target, at)
	}
	ins := binary.LittleEndian.Uint32(b)
	binary.LittleEndian.PutUint32(b, ins&^(1<<26-1)|uint32(d>>2)&(1<<26-1))
	return nil
}

// putPageAdd completes an ADRP and an instruction that holds the offset in the page: an ADD, or a load or store of a byte.
var putPageAdd = putPage(1)

// putPageLoad completes an ADRP and a load or store of eight bytes.
var putPageLoad = putPage(8)

// putPage returns a function that completes an ADRP and an instruction: the distance in pages of 4 KiB, and the offset in
// the page divided by unit.
func putPage(unit int64) func(b []byte, at, target uintptr, add int64) error {
	return func(b []byte, at, target uintptr, add int64) error {
		const page = 1 << 12
		t := int64(target) + add
		d := t/page - int64(at)/page
		if len(b) != 8 || t%page%unit != 0 || d < -1<<20 || d >= 1<<20 {
			return fmt.Errorf("a pair of instructions cannot reach %#x from %#x", t, at)
		}
		adrp, second := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		adrp = adrp&^(3<<29|(1<<19-1)<<5) | uint32(d&3)<<29 | uint32(d>>2)&(1<<19-1)<<5
		second = second&^((1<<12-1)<<10) | uint32(t%page/unit)<<10
		binary.LittleEndian.PutUint32(b, adrp)
		binary.LittleEndian.PutUint32(b[4:], second)
		return nil
	}
}
