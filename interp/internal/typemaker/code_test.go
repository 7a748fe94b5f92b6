//go:build (386 && !android) || amd64 || arm64 || loong64 || riscv64

package typemaker

import (
	"encoding/binary"
	"runtime"
	"testing"
	"unsafe"
)

// loads has, for each processor, what a stub must be: the address that its first instruction loads the
// closure from, and whether the rest is right.
var loads = map[string]func(at uintptr, b []byte) (slot uintptr, ok bool){
	// MOVQ disp(IP), DX; MOVQ (DX), R12; JMP R12
	"amd64": func(at uintptr, b []byte) (uintptr, bool) {
		return at + 7 + uintptr(int32(binary.LittleEndian.Uint32(b[3:]))), string(b[:3]) == "\x48\x8b\x15" && string(b[7:13]) == "\x4c\x8b\x22\x41\xff\xe4"
	},
	// MOVL addr, DX; MOVL (DX), AX; JMP AX
	"386": func(at uintptr, b []byte) (uintptr, bool) {
		return uintptr(binary.LittleEndian.Uint32(b[2:])), string(b[:2]) == "\x8b\x15" && string(b[6:10]) == "\x8b\x02\xff\xe0"
	},
	// ADRP page, R27; MOVD off(R27), R26; MOVD (R26), R20; JMP (R20)
	"arm64": func(at uintptr, b []byte) (uintptr, bool) {
		w := words32(b)
		page := uintptr(int64(int32(w[0]&0xffffe0|w[0]>>26&0x18)<<8) >> 11 << 12)
		return at&^0xfff + page + uintptr(w[1]>>10&0xfff)*8, w[0]&0x9f00001f == 0x9000001b && w[1]&0xffc003ff == 0xf940037a && w[2] == 0xf9400354 && w[3] == 0xd61f0280
	},
	// PCALAU12I page, R30; MOVV off(R30), R29; MOVV (R29), R25; JMP (R25)
	"loong64": func(at uintptr, b []byte) (uintptr, bool) {
		w := words32(b)
		page := uintptr(int64(int32(w[0]<<7)) >> 12 << 12)
		off := uintptr(int64(int32(w[1]<<10)) >> 20)
		return at&^0xfff + page + off, w[0]&0xfe00001f == 0x1a00001e && w[1]&0xffc003ff == 0x28c003dd && w[2] == 0x28c003b9 && w[3] == 0x4c000320
	},
	// AUIPC hi, X26; LD lo(X26), X26; LD (X26), X25; JALR (X25), X0
	"riscv64": func(at uintptr, b []byte) (uintptr, bool) {
		w := words32(b)
		hi, lo := uintptr(int64(int32(w[0]&0xfffff000))), uintptr(int64(int32(w[1])>>20))
		return at + hi + lo, w[0]&0xfff == 0xd17 && w[1]&0xfffff == 0xd3d03 && w[2] == 0x000d3c83 && w[3] == 0x000c8067
	},
}

func words32(b []byte) (w [4]uint32) {
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}

// TestStubs decodes each stub of this processor.
func TestStubs(t *testing.T) {
	decode := loads[runtime.GOARCH]
	all := unsafe.Slice((*byte)(firstStub()), stubCount*stubSize)
	for i := range stubCount {
		b := all[i*stubSize:][:stubSize]
		got, ok := decode(address(&b[0]), b)
		if want := address(&slots[i]); got != want || !ok {
			t.Fatalf("stub %d, % x at %p, loads %#x; want the three instructions with %#x", i, b, &b[0], got, want)
		}
	}
}
