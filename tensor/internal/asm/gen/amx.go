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
// AX is the Panels, SI and R12 are the tiles of A, R8 is RowA, DI is B, R11 the next initial sums or 0, DX is C,
// R13 the bias or 0, and R15 counts rows. Results of bfloat16 wait in one half of the End's Room: two rows
// are rounded and stored in each iteration for the next panel, while its tiles are multiplied, and the
// rest after its tiles are in the other half. R14 is the next of those rows, and BX counts them. R10 is
// the memory that the next sums are loaded from or stored to, which is prefetched.
func amx() {
	// palette 1, eight tiles of 16 rows of 64 bytes
	data("tileShapes", 1, 0, 0x0040004000400040, 0x0040004000400040, 0, 0, 0x1010101010101010, 0)
	end := func(field string) string { return "(Panels_End+End_" + field + ")(AX)" }
	fn("is a [Tiles], by AMX.", "amxTiles", "(t *Panels)", 16, 8)
	p("MOVQ t+0(FP), AX\nLEAQ ·tileShapes(SB), BX")
	code(tileConfig("BX"))
	for i, c := range []uint32{quietBF << 16, 1, below, quietBF<<16 | quietBF, 0xff00ff00} {
		constant("BX", 31-i, c)
	}
	p("XORQ BX, BX\nMOVQ $128, R9\nMOVQ $0, half-16(SP)")
	p("MOVQ Panels_Rows(AX), R15\nMOVQ Panels_A(AX), SI\nMOVQ Panels_RowA(AX), R8")
	p("MOVQ %s, R11\nMOVQ %s, DX\nMOVQ %s, R13", end("Sums"), end("C"), end("Bias"))
	p("panel:\nTESTQ R11, R11\nJNZ resume")
	code(tileZero(0), tileZero(1), tileZero(2), tileZero(3))
	p("MOVQ DX, R10\nCMPQ %s, $const_Store\nJEQ multiply\nMOVQ Panels_B(AX), R10\nJMP multiply\nresume:\nMOVQ %s, CX\nMOVQ CX, R12\nSHLQ $4, R12\nADDQ R11, R12", end("As"), end("LdSums"))
	code(tileLoad(0, "R11", "CX", 0), tileLoad(1, "R11", "CX", 64), tileLoad(2, "R12", "CX", 0), tileLoad(3, "R12", "CX", 64))
	p("SHLQ $5, CX\nADDQ CX, R11\nMOVQ R11, R10\nmultiply:\nMOVQ Panels_K(AX), CX\nMOVQ Panels_B(AX), DI\nMOVQ SI, a-8(SP)\nMOVQ R8, R12\nSHLQ $4, R12\nADDQ SI, R12")
	p("PCALIGN $64\nloop:")
	code(tileLoadOnce(4, "SI", "R8", 0), tileLoad(6, "DI", "R9", 0), tileDot(0, 4, 6))
	p("PREFETCHT0 (R10)\nPREFETCHT0 64(R10)")
	code(tileLoadOnce(5, "R12", "R8", 0), tileDot(2, 5, 6), tileLoad(7, "DI", "R9", 64), tileDot(1, 4, 7))
	p("PREFETCHT0 128(R10)\nPREFETCHT0 192(R10)\nADDQ $256, R10")
	code(tileDot(3, 5, 7))
	p("TESTQ BX, BX\nJZ next")
	roundedRow("first")
	roundedRow("second")
	p("SUBQ $2, BX\nnext:\nADDQ Panels_SlotA(AX), SI\nADDQ Panels_SlotA(AX), R12\nADDQ $2048, DI\nDECQ CX\nJNZ loop\nMOVQ a-8(SP), SI\nADDQ Panels_StepA(AX), SI")
	// whole tiles of float32 are stored directly
	p("CMPQ %s, $const_Store\nJNE room\nTESTQ R13, R13\nJNZ room\nCMPQ R15, $32\nJLT room\nMOVQ %s, R14\nMOVQ R14, R12\nSHLQ $4, R12\nADDQ DX, R12", end("As"), end("Ldc"))
	code(tileStore(0, "DX", "R14", 0), tileStore(1, "DX", "R14", 64), tileStore(2, "R12", "R14", 0), tileStore(3, "R12", "R14", 64))
	p("SHLQ $5, R14\nADDQ R14, DX\nJMP stored\nroom:\nXORQ $4096, half-16(SP)\nMOVQ %s, R10\nADDQ half-16(SP), R10", end("Room"))
	code(tileStore(0, "R10", "R9", 0), tileStore(1, "R10", "R9", 64), tileStore(2, "R10", "R9", 2048), tileStore(3, "R10", "R9", 2112))
	p("MOVQ $32, CX\nCMPQ R15, CX\nCMOVQLT R15, CX\nMOVQ %s, R12\nCMPQ R12, $const_BFloat16\nJGE rows", end("As"))
	p("MOVQ R10, R14\nCMPQ R12, $const_Stream\nJLT store\nJEQ stream\nJMP float16")
	p("rows:\nTESTQ BX, BX\nJZ last")
	roundedRow("one")
	p("DECQ BX\nJMP rows\nlast:\nTESTQ R15, R15\nJLE done\nMOVQ R10, R14\nMOVQ CX, BX\nJMP stored")
	rows := func(label string, store func()) {
		p("%s:\nVMOVUPS (R14), Z0\nVMOVUPS 64(R14), Z1\nADDQ $128, R14\nTESTQ R13, R13\nJZ %sPlain", label, label)
		p("VADDPS (R13), Z0, Z0\nVADDPS 64(R13), Z1, Z1\nADDQ %s, R13\n%sPlain:", end("LdBias"), label)
		store()
		p("ADDQ %s, DX\nDECQ CX\nJNZ %s\nJMP stored", end("Ldc"), label)
	}
	rows("store", func() { p("VMOVUPS Z0, (DX)\nVMOVUPS Z1, 64(DX)") })
	rows("stream", func() { p("VMOVNTPS Z0, (DX)\nVMOVNTPS Z1, 64(DX)") })
	f := avx512.toFloat16()
	p("float16:")
	f.prepare()
	p("XORQ BX, BX")
	rows("float16Rows", func() { f.row(0) })
	p("stored:\nSUBQ $32, R15\nJGT panel\nJMP rows\ndone:")
	code(tileRelease())
	p("VZEROUPPER\nRET\n")

	startPack("packs up to 16 rows of n adjacent bfloat16, stride bytes apart, for tiles of A, which are dstride bytes apart.", "copyTiles", "CX", "R12")
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

// roundedRow prints code that rounds a row of sums at R14 to bfloat16, and stores it at DX. Sums are not
// subnormal, so that AVX512-BF16's conversion, which flushes, rounds them correctly without a bias.
func roundedRow(label string) {
	p("VMOVUPS (R14), Z0\nVMOVUPS 64(R14), Z1\nADDQ $128, R14\nTESTQ R13, R13\nJNZ %sBias", label)
	p("%s\nVPADDW Z0, Z0, Z1\nVPCMPUW $6, Z27, Z1, K1\nVMOVDQU16 Z28, K1, Z0\n%sRounded:", evex(3, 0x72, 0, 1, 0), label) // VCVTNE2PS2BF16
	p("CMPQ (Panels_End+End_As)(AX), $const_BFloat16\nJNE %sStream\nVMOVDQU64 Z0, (DX)\nJMP %sStored", label, label)
	p("%sBias:\nVADDPS (R13), Z0, Z0\nVADDPS 64(R13), Z1, Z1\nADDQ (Panels_End+End_LdBias)(AX), R13", label)
	for i := range 2 {
		p("VCMPPS $3, Z%d, Z%d, K2\nVPSRLD $16, Z%d, Z2\nVPANDD Z30, Z2, Z2\nVPADDD Z29, Z%d, Z%d\nVPADDD Z2, Z%d, Z%d", i, i, i, i, i, i, i)
		p("VMOVDQA32 Z31, K2, Z%d\nVPSRLD $16, Z%d, Z%d\nVPMOVDW Z%d, Y%d", i, i, i, i, i)
	}
	p("VINSERTI64X4 $1, Y1, Z0, Z0\nJMP %sRounded\n%sStream:\nVMOVNTDQ Z0, (DX)\n%sStored:\nADDQ (Panels_End+End_Ldc)(AX), DX", label, label, label)
}
