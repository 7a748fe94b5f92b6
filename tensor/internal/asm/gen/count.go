package main

// counts prints counts of numbers by their bits, one register per iteration: 64 bytes with masks of
// AVX-512, or 32 bytes with AVX2, where masks are registers.
func counts() {
	for _, wide := range []bool{true, false} {
		for _, letter := range []string{"W", "D"} {
			count(wide, letter)
		}
	}
}

// count keeps the mask of magnitudes in register 15, the smallest normal number, infinity and NaN in
// 12 to 14, all ones in 11, the smallest magnitude less 1 in 10, the largest in 9, and 0 in 8. R8 to
// R11 count zeros, and numbers below the smallest normal one, below infinity and below NaN.
func count(wide bool, letter string) {
	r, name, turn := "Y", "avx2Count", 32
	if wide {
		r, name, turn = "Z", "avx512Count", 64
	}
	size := map[string]int{"W": 2, "D": 4}[letter]
	name += map[string]string{"W": "16", "D": "32"}[letter]
	fn("is a [Count].", name, "(x unsafe.Pointer, n int, of *Format, c *Census)", 0, 32)
	load("x", "SI", "n", "CX", "of", "AX", "c", "DI")
	for i, at := range []int{4, 8, 12, 0} {
		p("VPBROADCAST%s %d(AX), %s%d", letter, at, r, 12+i)
	}
	xor := "VPXOR"
	if wide {
		xor = "VPXORQ"
		p("VPTERNLOGD $0xff, Z11, Z11, Z11\nVMOVDQA64 Z11, Z10")
	} else {
		p("VPCMPEQD Y11, Y11, Y11\nVMOVDQA Y11, Y10")
	}
	for _, i := range []int{8, 9} {
		p("%s %s%d, %s%d, %s%d", xor, r, i, r, i, r, i)
	}
	for i := range 4 {
		p("XORQ R%d, R%d", 8+i, 8+i)
	}
	p("MOVQ CX, DX\nloop:")
	if wide {
		p("VPANDQ (SI), Z15, Z0")
		p("VPTESTNM%s Z0, Z0, K1", letter)
		for i := range 3 {
			p("VPCMPU%s $1, Z%d, Z0, K%d", letter, 12+i, 2+i)
		}
		p("VPADD%s Z0, Z11, Z1\nVPMINU%s Z1, Z10, K3, Z10\nVPMAXU%s Z0, Z9, K3, Z9", letter, letter, letter)
		for i := range 4 {
			p("KMOVD K%d, R12\nPOPCNTL R12, R12\nADDQ R12, R%d", 1+i, 8+i)
		}
	} else {
		p("VPAND (SI), Y15, Y0")
		p("VPCMPEQ%s Y0, Y8, Y1", letter)
		for i := range 3 {
			p("VPCMPGT%s Y0, Y%d, Y%d", letter, 12+i, 2+i)
		}
		p("VPADD%s Y0, Y11, Y5\nVPBLENDVB Y3, Y5, Y11, Y5\nVPMINU%s Y5, Y10, Y10", letter, letter)
		p("VPAND Y0, Y3, Y5\nVPMAXU%s Y5, Y9, Y9", letter)
		for i := range 4 {
			p("VPMOVMSKB Y%d, R12\nPOPCNTL R12, R12\nADDQ R12, R%d", 1+i, 8+i)
		}
	}
	p("ADDQ $%d, SI\nSUBQ $%d, CX\nJGT loop", turn, turn/size)
	if !wide { // the counts are of bytes
		for i := range 4 {
			p("SHRQ $%d, R%d", size/2, 8+i)
		}
	}
	p("SUBQ R11, DX\nSUBQ R10, R11\nSUBQ R8, R9")
	for i, from := range []string{"R8", "R9", "R11", "DX"} {
		p("MOVQ %s, %d(DI)", from, i*8)
	}
	fold("VPMINU", letter, wide, 10, 32)
	fold("VPMAXU", letter, wide, 9, 36)
	p("VZEROUPPER\nRET\n")
}

// fold reduces the elements of a register by op and stores the result.
func fold(op, letter string, wide bool, reg, at int) {
	halve := func(r string) { p("%s%s %s%d, %s0, %s%d", op, letter, r, reg, r, r, reg) }
	if wide {
		p("VEXTRACTI64X4 $1, Z%d, Y0", reg)
		halve("Y")
	}
	p("VEXTRACTI128 $1, Y%d, X0", reg)
	halve("X")
	for _, order := range []string{"VPSHUFD $0x4e", "VPSHUFD $0xb1", "VPSHUFLW $0xb1"}[:map[string]int{"W": 3, "D": 2}[letter]] {
		p("%s, X%d, X0", order, reg)
		halve("X")
	}
	p("VMOVD X%d, AX", reg)
	if letter == "W" {
		p("MOVWLZX AX, AX")
	}
	p("MOVL AX, %d(DI)", at)
}
