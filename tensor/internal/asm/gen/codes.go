package main

import "fmt"

// codes prints the conversion of float32 to codes of narrow formats, for blocks with a factor and a limit each, and the largest magnitudes of
// blocks.
func codes() {
	for i := range 16 {
		p("DATA ·magnitudes<>+%d(SB)/4, $0x7fffffff", 4*i)
	}
	p("GLOBL ·magnitudes<>(SB), RODATA|NOPTR, $64\n")
	for _, v := range vectors {
		v.encode()
		v.blockLargest()
		v.blockRanges()
		v.integers()
		v.decode()
		v.decodeIntegers()
	}
	nibbles()
	sixes()
}

// nibbles prints the packing of codes of 4 bits, 32 codes per iteration.
func nibbles() {
	mask := "MOVL $0x0f0f0f0f, AX\nVMOVD AX, X15\nVPBROADCASTD X15, Y15"
	fn("is [Loops.Pack4].", "pack4", "(dst, src unsafe.Pointer, n int)", 0, 24)
	load("dst", "DI", "src", "SI", "n", "CX")
	p("%s\nMOVL $0x10011001, AX\nVMOVD AX, X14\nVPBROADCASTD X14, Y14\nloop:", mask)
	p("VPAND (SI), Y15, Y0\nVPMADDUBSW Y14, Y0, Y0") // the first of two bytes plus 16 times the second
	p("VPACKUSWB Y0, Y0, Y0\nVPERMQ $0x08, Y0, Y0\nVMOVDQU X0, (DI)")
	p("ADDQ $32, SI\nADDQ $16, DI\nSUBQ $32, CX\nJGT loop\nVZEROUPPER\nRET\n")
	fn("is [Loops.Unpack4].", "unpack4", "(dst, src unsafe.Pointer, n int)", 0, 24)
	load("dst", "DI", "src", "SI", "n", "CX")
	p("%s\nloop:\nVPMOVZXBW (SI), Y0\nVPSLLW $4, Y0, Y1\nVPOR Y1, Y0, Y0\nVPAND Y15, Y0, Y0\nVMOVDQU Y0, (DI)", mask)
	p("ADDQ $16, SI\nADDQ $32, DI\nSUBQ $32, CX\nJGT loop\nVZEROUPPER\nRET\n")
}

// sixes prints the packing of codes of 6 bits, 32 codes per iteration: four codes are a word of 24 bits, and a shuffle moves its three bytes.
func sixes() {
	for i, bytes := range [][16]int{{0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 128, 128, 128, 128}, {0, 1, 2, 128, 3, 4, 5, 128, 6, 7, 8, 128, 9, 10, 11, 128}} {
		name := []string{"together", "apart"}[i]
		for j, b := range bytes {
			p("DATA ·%s<>+%d(SB)/1, $%d", name, j, b)
		}
		p("GLOBL ·%s<>(SB), RODATA|NOPTR, $16\n", name)
	}
	fn("is [Loops.Pack6].", "pack6", "(dst, src unsafe.Pointer, n int)", 0, 24)
	load("dst", "DI", "src", "SI", "n", "CX")
	p("MOVL $0x40014001, AX\nVMOVD AX, X14\nVPBROADCASTD X14, Y14\nMOVL $0x10000001, AX\nVMOVD AX, X13\nVPBROADCASTD X13, Y13")
	p("VBROADCASTI128 ·together<>(SB), Y12\nloop:")
	p("VMOVDQU (SI), Y0\nVPMADDUBSW Y14, Y0, Y0\nVPMADDWD Y13, Y0, Y0") // the first plus 64 times the second, then plus 4096 times the next two
	p("VPSHUFB Y12, Y0, Y0\nVMOVDQU X0, (DI)\nVEXTRACTI128 $1, Y0, X0\nVMOVDQU X0, 12(DI)")
	p("ADDQ $32, SI\nADDQ $24, DI\nSUBQ $32, CX\nJGT loop\nVZEROUPPER\nRET\n")
	fn("is [Loops.Unpack6].", "unpack6", "(dst, src unsafe.Pointer, n int)", 0, 24)
	load("dst", "DI", "src", "SI", "n", "CX")
	for i, mask := range []string{"0x0000003f", "0x00003f00", "0x003f0000", "0x3f000000"} {
		p("MOVL $%s, AX\nVMOVD AX, X%d\nVPBROADCASTD X%[2]d, Y%[2]d", mask, 8+i)
	}
	p("VBROADCASTI128 ·apart<>(SB), Y12\nloop:")
	p("VMOVDQU (SI), X0\nVINSERTI128 $1, 12(SI), Y0, Y0\nVPSHUFB Y12, Y0, Y0\nVPAND Y8, Y0, Y1")
	for i := 1; i < 4; i++ {
		p("VPSLLD $%d, Y0, Y2\nVPAND Y%d, Y2, Y2\nVPOR Y2, Y1, Y1", 2*i, 8+i)
	}
	p("VMOVDQU Y1, (DI)\nADDQ $24, SI\nADDQ $32, DI\nSUBQ $32, CX\nJGT loop\nVZEROUPPER\nRET\n")
}

// broadcast prints code that sets all lanes of register r to the word at an address.
func (v vector) broadcast(at string, r int) { p("VPBROADCASTD %s, %s%d", at, v.r, r) }

// bitwise returns the instruction of a bitwise operation: AVX-512 has a letter more.
func (v vector) bitwise(name string) string {
	if v.lanes == 16 {
		return name + "D"
	}
	return name
}

// encode takes 16 elements per iteration: one register, or two with AVX2. Register 2 holds signs, 3 a mask, 4 codes of subnormal numbers, 5 ones. The constants are the fields of Codes, from register 8 on,
// then factor and limit. Formats with a sign have a shorter loop than integers, whose negative codes are complements.
func (v vector) encode() {
	fn("is a [Encode].", v.name("encodeBlocks"), "(dst, src unsafe.Pointer, blocks, width int, factors, limits unsafe.Pointer, c *Codes)", 0, 56)
	load("dst", "DI", "src", "SI", "blocks", "BX", "width", "DX", "factors", "R8", "limits", "R9", "c", "R10")
	const (
		magic, tiny, half, rebias, sign, twos = 8, 9, 10, 11, 12, 13
		factor, limit                         = 14, 15
	)
	for r := magic; r <= twos; r++ {
		v.broadcast(fmt.Sprintf("%d(R10)", 4*(r-magic)), r)
	}
	p("MOVQ 24(R10), AX\nVMOVQ AX, X7") // the shift
	p("MOVL $1, AX\nVMOVD AX, X5\nVPBROADCASTD X5, %s5", v.r)
	p("CMPL 20(R10), $0\nJNE integer")
	for _, complements := range []bool{false, true} {
		name := map[bool]string{false: "block", true: "integer"}[complements]
		p("%[1]s:\nSUBQ $1, BX\nJLT done\nMOVQ DX, CX\nVBROADCASTSS (R8), %[2]s%[3]d\nADDQ $4, R8", name, v.r, factor)
		v.broadcast("(R9)", limit)
		p("ADDQ $4, R9\n%sLoop:", name)
		for u := range 16 / v.lanes {
			const mask = 3
			x, s, small := u, 2, 4
			p("VMULPS %d(SI), %s%d, %s%d", u*v.lanes*4, v.r, factor, v.r, x)
			p("VPSRAD $31, %s%d, %s%d", v.r, x, v.r, s)
			p("%s ·magnitudes<>(SB), %[2]s%[3]d, %[2]s%[3]d", v.bitwise("VPAND"), v.r, x)
			v.op("VPMINUD", x, limit, x)
			v.op("VADDPS", x, magic, small) // rounds to a multiple of the smallest number
			v.op("VPSUBD", magic, small, small)
			if v.lanes == 16 {
				p("VPCMPUD $1, Z%d, Z%d, K1", tiny, x)
			} else {
				p("VPCMPGTD Y%d, Y%d, Y%d", x, tiny, mask)
			}
			v.normal(x, half, rebias)
			if v.lanes == 16 {
				p("VMOVDQA32 Z%d, K1, Z%d", small, x)
			} else {
				p("VBLENDVPS Y%d, Y%d, Y%d, Y%d", mask, small, x, x)
			}
			if complements {
				v.op(v.bitwise("VPAND"), twos, s, small)
				v.op(v.bitwise("VPXOR"), small, x, x)
				v.op("VPSUBD", small, x, x)
				continue
			}
			v.op(v.bitwise("VPAND"), sign, s, s)
			v.op(v.bitwise("VPOR"), s, x, x)
		}
		v.bytes()
		p("ADDQ $64, SI\nADDQ $16, DI\nSUBQ $16, CX\nJGT %[1]sLoop\nJMP %[1]s", name)
	}
	p("done:\nVZEROUPPER\nRET\n")
}

// bytes prints code that stores the lowest bytes of the 16 words of register 0, or of 0 and 1 with AVX2.
func (v vector) bytes() {
	if v.lanes == 16 {
		p("VPMOVDB Z0, (DI)")
		return
	}
	p("VPSLLD $24, Y0, Y0\nVPSRLD $24, Y0, Y0\nVPSLLD $24, Y1, Y1\nVPSRLD $24, Y1, Y1")
	p("VPACKUSDW Y1, Y0, Y0\nVPERMQ $0xd8, Y0, Y0\nVEXTRACTI128 $1, Y0, X1\nVPACKUSWB X1, X0, X0\nVMOVDQU X0, (DI)")
}

// normal prints code that rounds register x to the format's mantissa, to nearest even, and shifts it to the place of a code. Register 7 holds the
// shift, and 5 ones.
func (v vector) normal(x, half, rebias int) {
	const room, ones = 6, 5
	p("VPSRLD X7, %s%d, %s%d", v.r, x, v.r, room)
	v.op(v.bitwise("VPAND"), ones, room, room) // the lowest bit that stays
	v.op("VPADDD", room, x, x)
	v.op("VPADDD", half, x, x)
	p("VPSRLD X7, %[1]s%[2]d, %[1]s%[2]d", v.r, x)
	v.op("VPSUBD", rebias, x, x)
}

// blockLargest takes 16 elements per iteration, or four blocks of 16 elements, whose last four lanes are transposed.
func (v vector) blockLargest() {
	fn("is [Loops.LargestOfBlocks].", v.name("largestOfBlocks"), "(dst, src unsafe.Pointer, blocks, width int)", 0, 32)
	load("dst", "DI", "src", "SI", "blocks", "BX", "width", "DX")
	p("MOVL $0x7fffffff, AX\nVMOVD AX, X4\nVPBROADCASTD X4, %s4", v.r)
	p("CMPQ DX, $16\nJNE block\nfour:\nCMPQ BX, $4\nJLT block")
	for b := range 4 {
		r := 8 + b
		p("%s %d(SI), %s4, %s%d", v.bitwise("VPAND"), 64*b, v.r, v.r, r)
		if v.lanes == 16 {
			p("VEXTRACTI64X4 $1, Z%[1]d, Y1\nVPMAXUD Y1, Y%[1]d, Y%[1]d", r)
		} else {
			p("VPAND %d(SI), Y4, Y1\nVPMAXUD Y1, Y%[2]d, Y%[2]d", 64*b+32, r)
		}
		p("VEXTRACTI128 $1, Y%[1]d, X1\nVPMAXUD X1, X%[1]d, X%[1]d", r)
	}
	for _, pair := range []int{8, 10} {
		p("VPUNPCKLDQ X%[2]d, X%[1]d, X0\nVPUNPCKHDQ X%[2]d, X%[1]d, X1\nVPMAXUD X1, X0, X%[1]d", pair, pair+1)
	}
	p("VPUNPCKLQDQ X10, X8, X0\nVPUNPCKHQDQ X10, X8, X1\nVPMAXUD X1, X0, X0\nVMOVDQU X0, (DI)")
	p("ADDQ $256, SI\nADDQ $16, DI\nSUBQ $4, BX\nJMP four")
	p("block:\nSUBQ $1, BX\nJLT done\nMOVQ DX, CX")
	v.zero(0)
	p("loop:")
	for u := 0; u < 16; u += v.lanes {
		p("%s %d(SI), %s4, %s1", v.bitwise("VPAND"), u*4, v.r, v.r)
		v.op("VPMAXUD", 1, 0, 0)
	}
	p("ADDQ $64, SI\nSUBQ $16, CX\nJGT loop")
	if v.lanes == 16 {
		p("VEXTRACTI64X4 $1, Z0, Y1\nVPMAXUD Y1, Y0, Y0")
	}
	p("VEXTRACTI128 $1, Y0, X1\nVPMAXUD X1, X0, X0")
	p("VPSHUFD $0x4e, X0, X1\nVPMAXUD X1, X0, X0\nVPSHUFD $0xb1, X0, X1\nVPMAXUD X1, X0, X0")
	p("VMOVD X0, AX\nMOVL AX, (DI)\nADDQ $4, DI\nJMP block\ndone:\nVZEROUPPER\nRET\n")
}

// blockRanges takes 16 elements per iteration. Registers 0 and 2 hold the least and the largest number so far.
func (v vector) blockRanges() {
	fn("is [Loops.RangesOfBlocks].", v.name("rangesOfBlocks"), "(lo, hi, src unsafe.Pointer, blocks, width int)", 0, 40)
	load("lo", "DI", "hi", "R8", "src", "SI", "blocks", "BX", "width", "DX")
	p("block:\nSUBQ $1, BX\nJLT done\nMOVQ DX, CX")
	v.zero(0)
	v.zero(2)
	p("loop:")
	for u := 0; u < 16; u += v.lanes {
		p("VMOVUPS %d(SI), %s4", u*4, v.r)
		v.op("VMINPS", 4, 0, 0)
		v.op("VMAXPS", 4, 2, 2)
	}
	p("ADDQ $64, SI\nSUBQ $16, CX\nJGT loop")
	for i, op := range []string{"VMINPS", "VMAXPS"} {
		r := 2 * i
		if v.lanes == 16 {
			p("VEXTRACTF64X4 $1, Z%d, Y1\n%s Y1, Y%d, Y%d", r, op, r, r)
		}
		p("VEXTRACTF128 $1, Y%d, X1\n%s X1, X%d, X%d", r, op, r, r)
		for _, order := range []string{"4e", "b1"} {
			p("VPSHUFD $0x%s, X%d, X1\n%s X1, X%d, X%d", order, r, op, r, r)
		}
		p("VMOVSS X%d, (%s)\nADDQ $4, %s", r, []string{"DI", "R8"}[i], []string{"DI", "R8"}[i])
	}
	p("JMP block\ndone:\nVZEROUPPER\nRET\n")
}

// integers takes 16 elements per iteration. Registers 8 to 11 hold factor, zero point and bounds.
func (v vector) integers() {
	fn("is an [Integers].", v.name("integerBlocks"), "(dst, src unsafe.Pointer, blocks, width int, factors, zeros unsafe.Pointer, lowest int)", 0, 56)
	load("dst", "DI", "src", "SI", "blocks", "BX", "width", "DX", "factors", "R8", "zeros", "R9", "lowest", "AX")
	const factor, zero, least, most = 8, 9, 10, 11
	p("VMOVQ AX, X10\nVPBROADCASTD X10, %[1]s10\nNOTQ AX\nVMOVQ AX, X11\nVPBROADCASTD X11, %[1]s11", v.r)
	p("block:\nSUBQ $1, BX\nJLT done\nMOVQ DX, CX")
	p("VBROADCASTSS (R8), %s%d\nADDQ $4, R8", v.r, factor)
	v.broadcast("(R9)", zero)
	p("ADDQ $4, R9\nloop:")
	for u := range 16 / v.lanes {
		p("VMULPS %d(SI), %s%d, %s%d", u*v.lanes*4, v.r, factor, v.r, u)
		v.op("VCVTPS2DQ", u, u)
		v.op("VPADDD", zero, u, u)
		v.op("VPMAXSD", least, u, u)
		v.op("VPMINSD", most, u, u)
	}
	v.bytes()
	p("ADDQ $64, SI\nADDQ $16, DI\nSUBQ $16, CX\nJGT loop\nJMP block\ndone:\nVZEROUPPER\nRET\n")
}

// decode takes 16 elements per iteration. Register 1 holds signs, 2 numbers of the subnormal codes, 3 a mask. The constants are those of a Decoding,
// from register 8 on, then the factor.
func (v vector) decode() {
	fn("is a [Decode].", v.name("decodeBlocks"), "(dst, src unsafe.Pointer, blocks, width int, factors unsafe.Pointer, c *Decoding)", 0, 48)
	load("dst", "DI", "src", "SI", "blocks", "BX", "width", "DX", "factors", "R8", "c", "R10")
	const (
		magic, magnitude, normal, rebias, top, nan = 8, 9, 10, 11, 12, 13
		factor, signs                              = 14, 15
	)
	for r := magic; r <= nan; r++ {
		v.broadcast(fmt.Sprintf("%d(R10)", 4*(r-magic)), r)
	}
	p("MOVQ 24(R10), AX\nVMOVQ AX, X7\nMOVQ 32(R10), AX\nVMOVQ AX, X6") // the shifts of magnitudes and of signs
	p("MOVL $0x80000000, AX\nVMOVD AX, X%[1]d\nVPBROADCASTD X%[1]d, %[2]s%[1]d", signs, v.r)
	p("block:\nSUBQ $1, BX\nJLT done\nMOVQ DX, CX\nVBROADCASTSS (R8), %s%d\nADDQ $4, R8\nloop:", v.r, factor)
	for u := range 16 / v.lanes {
		p("VPMOVZXBD %d(SI), %s0", u*v.lanes, v.r)
		p("VPSLLD X6, %[1]s0, %[1]s1", v.r)
		v.op(v.bitwise("VPAND"), signs, 1, 1)
		v.op(v.bitwise("VPAND"), magnitude, 0, 0)
		v.op("VPADDD", magic, 0, 2)
		v.op("VSUBPS", magic, 2, 2)
		p("VPSLLD X7, %[1]s0, %[1]s4", v.r)
		v.op("VPADDD", rebias, 4, 4)
		if v.lanes == 16 {
			p("VPCMPUD $1, Z%d, Z0, K1\nVPCMPUD $6, Z%d, Z0, K2\nVMOVDQA32 Z2, K1, Z4\nVMOVDQA32 Z%d, K2, Z4", normal, top, nan)
		} else {
			p("VPCMPGTD Y0, Y%d, Y3\nVBLENDVPS Y3, Y2, Y4, Y4\nVPCMPGTD Y%d, Y0, Y3\nVBLENDVPS Y3, Y%d, Y4, Y4", normal, top, nan)
		}
		v.op(v.bitwise("VPOR"), 1, 4, 4)
		v.op("VMULPS", 4, factor, 4)
		p("VMOVUPS %s4, %d(DI)", v.r, u*v.lanes*4)
	}
	p("ADDQ $16, SI\nADDQ $64, DI\nSUBQ $16, CX\nJGT loop\nJMP block\ndone:\nVZEROUPPER\nRET\n")
}

// decodeIntegers takes 16 elements per iteration. Registers 8 to 10 hold factor, zero point and flip.
func (v vector) decodeIntegers() {
	fn("is a [DecodeIntegers].", v.name("decodeIntegerBlocks"), "(dst, src unsafe.Pointer, blocks, width int, factors, zeros unsafe.Pointer, flip int)", 0, 56)
	load("dst", "DI", "src", "SI", "blocks", "BX", "width", "DX", "factors", "R8", "zeros", "R9", "flip", "AX")
	const factor, zero, flip = 8, 9, 10
	p("VMOVQ AX, X10\nVPBROADCASTD X10, %s10", v.r)
	p("block:\nSUBQ $1, BX\nJLT done\nMOVQ DX, CX")
	p("VBROADCASTSS (R8), %s%d\nADDQ $4, R8", v.r, factor)
	v.broadcast("(R9)", zero)
	p("ADDQ $4, R9\nloop:")
	for u := range 16 / v.lanes {
		p("VPMOVZXBD %d(SI), %s0", u*v.lanes, v.r)
		v.op(v.bitwise("VPXOR"), flip, 0, 0)
		v.op("VPSUBD", zero, 0, 0)
		v.op("VCVTDQ2PS", 0, 0)
		v.op("VMULPS", factor, 0, 0)
		p("VMOVUPS %s0, %d(DI)", v.r, u*v.lanes*4)
	}
	p("ADDQ $16, SI\nADDQ $64, DI\nSUBQ $16, CX\nJGT loop\nJMP block\ndone:\nVZEROUPPER\nRET\n")
}
