package main

import (
	"fmt"
	"strings"
)

// Go's assembler lacks the instructions of AMX (Intel SDM, volume 2, sections 2.3 and 3). They are
// encoded as VEX.128.0F38.W0, with a displacement of 32 bits for memory operands.

// registerCode holds the numbers that encode registers.
var registerCode = map[string]int{"AX": 0, "CX": 1, "DX": 2, "BX": 3, "BP": 5, "SI": 6, "DI": 7,
	"R8": 8, "R9": 9, "R10": 10, "R11": 11, "R12": 12, "R13": 13, "R14": 14, "R15": 15}

// Values of the prefix field of VEX.
const (
	noPrefix = iota
	prefix66
	prefixF3
	prefixF2
)

func vex(base, index, second, prefix, op int, more ...byte) []byte {
	return append([]byte{0xC4, byte(0xE2 ^ index>>3<<6 ^ base>>3<<5), byte(0x78 ^ second<<3 | prefix), byte(op)}, more...)
}

// tileMemory encodes a load or store of a tile. Its rows are at base + displacement, index bytes
// apart.
func tileMemory(prefix, tile int, base, index string, displacement int) []byte {
	b, i := registerCode[base], registerCode[index]
	d := uint32(displacement)
	return vex(b, i, 0, prefix, 0x4B, byte(0x84|tile<<3), byte(i&7<<3|b&7), byte(d), byte(d>>8), byte(d>>16), byte(d>>24))
}

func tileLoad(tile int, base, index string, displacement int) []byte {
	return tileMemory(prefixF2, tile, base, index, displacement)
}

// tileLoadOnce is tileLoad for data that should not stay in the L1 cache (TILELOADDT1).
func tileLoadOnce(tile int, base, index string, displacement int) []byte {
	return tileMemory(prefix66, tile, base, index, displacement)
}

func tileStore(tile int, base, index string, displacement int) []byte {
	return tileMemory(prefixF3, tile, base, index, displacement)
}

// tileConfig encodes LDTILECFG. base must not be R12.
func tileConfig(base string) []byte {
	b := registerCode[base]
	return vex(b, 0, 0, noPrefix, 0x49, byte(b&7))
}

func tileRelease() []byte { return vex(0, 0, 0, noPrefix, 0x49, 0xC0) }

func tileZero(tile int) []byte { return vex(0, 0, 0, prefixF2, 0x49, byte(0xC0|tile<<3)) }

// tileDot encodes dst += a*b (TDPBF16PS).
func tileDot(dst, a, b int) []byte { return vex(0, 0, b, prefixF3, 0x5C, byte(0xC0|dst<<3|a)) }

// code prints encoded instructions.
func code(list ...[]byte) {
	for _, instruction := range list {
		var line []string
		for _, b := range instruction {
			line = append(line, fmt.Sprintf("BYTE $0x%02x", b))
		}
		p("%s", strings.Join(line, "; "))
	}
}

// amx prints [Tiles]. It uses two by two tiles of C, two of A and two of B.
//
// AX is the End, SI and R12 are the tiles of A, DI those of B, R11 the initial sums or 0, DX is C,
// R13 the bias or 0, R10 the End's Room, and R15 counts rows.
func amx() {
	// palette 1, eight tiles of 16 rows of 64 bytes
	for i, v := range []uint64{1, 0, 0x0040004000400040, 0x0040004000400040, 0, 0, 0x1010101010101010, 0} {
		p("DATA ·tileShapes+%d(SB)/8, $0x%016x", 8*i, v)
	}
	p("GLOBL ·tileShapes(SB), RODATA|NOPTR, $64\n")
	fn("is a [Tiles], by AMX.", "amxTiles", "(t *Panels)", 8, 8)
	p("MOVQ t+0(FP), BX\nLEAQ ·tileShapes(SB), AX")
	code(tileConfig("AX"))
	p("LEAQ Panels_End(BX), AX\nMOVQ Panels_Rows(BX), R15\nMOVQ Panels_A(BX), SI\nMOVQ Panels_Next(BX), R8\nMOVQ R8, next-8(SP)")
	p("MOVQ End_Sums(AX), R11\nMOVQ End_C(AX), DX\nMOVQ End_Bias(AX), R13\nMOVQ End_Room(AX), R10")
	p("panel:\nTESTQ R11, R11\nJNZ resume")
	code(tileZero(0), tileZero(1), tileZero(2), tileZero(3))
	p("JMP multiply\nresume:\nMOVQ End_LdSums(AX), R14\nMOVQ R14, R12\nSHLQ $4, R12\nADDQ R11, R12")
	code(tileLoad(0, "R11", "R14", 0), tileLoad(1, "R11", "R14", 64), tileLoad(2, "R12", "R14", 0), tileLoad(3, "R12", "R14", 64))
	p("multiply:\nMOVQ Panels_K(BX), CX\nMOVQ Panels_B(BX), DI\nLEAQ 1024(SI), R12\nMOVQ SI, R14\nMOVQ next-8(SP), BX\nMOVQ $64, R8\nMOVQ $128, R9")
	p("PCALIGN $64\nloop:")
	code(tileLoadOnce(4, "SI", "R8", 0), tileLoad(6, "DI", "R9", 0), tileDot(0, 4, 6))
	p("PREFETCHT1 (BX)")
	code(tileLoadOnce(5, "R12", "R8", 0), tileDot(2, 5, 6), tileLoad(7, "DI", "R9", 64), tileDot(1, 4, 7))
	p("PREFETCHT1 64(BX)")
	code(tileDot(3, 5, 7))
	p("ADDQ $2048, SI\nADDQ $2048, R12\nADDQ $2048, DI\nMOVQ t+0(FP), R8\nADDQ Panels_NextStep(R8), BX\nMOVQ $64, R8\nDECQ CX\nJNZ loop")
	p("MOVQ BX, next-8(SP)\nMOVQ t+0(FP), BX\nMOVQ R14, SI\nADDQ Panels_StepA(BX), SI")
	// whole tiles of float32 are stored directly
	p("CMPQ End_As(AX), $const_Store\nJNE room\nTESTQ R13, R13\nJNZ room\nCMPQ R15, $32\nJLT room\nMOVQ End_Ldc(AX), R14\nMOVQ R14, R12\nSHLQ $4, R12\nADDQ DX, R12")
	code(tileStore(0, "DX", "R14", 0), tileStore(1, "DX", "R14", 64), tileStore(2, "R12", "R14", 0), tileStore(3, "R12", "R14", 64))
	p("SHLQ $1, R14\nLEAQ (R12)(R14*8), DX\nJMP next\nroom:")
	code(tileStore(0, "R10", "R9", 0), tileStore(1, "R10", "R9", 64), tileStore(2, "R10", "R9", 2048), tileStore(3, "R10", "R9", 2112))
	p("MOVQ $32, CX\nCMPQ R15, CX\nCMOVQLT R15, CX\nMOVQ R10, R14\nMOVQ End_Ldc(AX), R8\nMOVQ End_LdBias(AX), R12\nMOVQ End_As(AX), R9\nCMPQ R9, $const_Stream\nJLT store\nJEQ stream\nCMPQ R9, $const_Float16\nJEQ float16")
	rows := func(label string, prepare, row func()) {
		prepare()
		p("%s:\nVMOVUPS (R14), Z0\nVMOVUPS 64(R14), Z1\nTESTQ R13, R13\nJZ %sPlain\nVADDPS (R13), Z0, Z0\nVADDPS 64(R13), Z1, Z1\nADDQ R12, R13\n%sPlain:", label, label, label)
		row()
		p("ADDQ $128, R14\nADDQ R8, DX\nDECQ CX\nJNZ %s\nJMP stored", label)
	}
	halves := func(label string, f narrowing) {
		rows(label, f.prepare, func() { f.row(0) })
	}
	halves("bfloat16Rows", avx512.toBFloat16())
	p("float16:")
	halves("float16Rows", avx512.toFloat16())
	for _, to := range [][2]string{{"store", "VMOVUPS"}, {"stream", "VMOVNTPS"}} {
		p("%s:", to[0])
		rows(to[0]+"Rows", func() {}, func() { p("%s Z0, (DX)\n%s Z1, 64(DX)", to[1], to[1]) })
	}
	p("stored:\nMOVQ t+0(FP), BX\nnext:\nTESTQ R11, R11\nJZ more\nMOVQ End_LdSums(AX), R14\nSHLQ $5, R14\nADDQ R14, R11\nmore:\nSUBQ $32, R15\nJGT panel")
	code(tileRelease())
	p("VZEROUPPER\nRET\n")

	fn("packs up to 16 rows of n adjacent bfloat16, stride bytes apart, for tiles of A, which are dstride bytes apart.", "copyTiles", "(src unsafe.Pointer, stride int, dst unsafe.Pointer, dstride, n, mask int)", 0, 48)
	load("src", "SI", "stride", "R8", "dst", "DI", "dstride", "R9", "n", "CX", "mask", "R12")
	p("XORQ R11, R11\nMOVQ $-1, DX\nKMOVQ DX, K1\nloop:\nCMPQ CX, $32\nJGE whole\nSHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1\nwhole:")
	p("MOVQ SI, AX\nMOVQ R8, R13")
	for i := range 16 {
		if i > 0 {
			p("BTQ $%d, R12\nCMOVQCC R11, R13\nADDQ R13, AX", i)
		}
		p("VMOVDQU16.Z (AX), K1, Z%d\nVMOVDQU64 Z%d, %d(DI)", i%4, i%4, 64*i)
	}
	p("ADDQ $64, SI\nADDQ R9, DI\nSUBQ $32, CX\nJGT loop\nVZEROUPPER\nRET\n")
}
