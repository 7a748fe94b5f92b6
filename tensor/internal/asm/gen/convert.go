package main

// ahead is the distance in elements at which conversions prefetch. It is the number that callers
// convert at a time, because memory is idle while they use the result.
const ahead = 1024

// converts prints conversions between float32 and half precision, 64 elements per iteration and a
// masked tail.
func converts() {
	each := func(name, comment string, in, out int, prepare func(), body func(reg int), read, write string) {
		fn(comment, name, "(dst, src unsafe.Pointer, n int)", 0, 24)
		load("dst", "DI", "src", "SI", "n", "CX")
		prepare()
		p("MOVQ $-1, DX\nKMOVQ DX, K1\nSUBQ $64, CX\nJLT tail\nloop:")
		for line := 0; line < 64*in; line += 64 {
			p("PREFETCHT0 %d(SI)", ahead*in+line)
		}
		for u := range 4 {
			p(read+" %d(SI), Z%d", u*16*in, u)
		}
		for u := range 4 {
			body(u)
		}
		for u := 0; u < 4; u++ {
			if out == 4 {
				p(write, u, "", u*16*out)
				continue
			}
			// Store whole registers, because the next reader loads whole registers.
			p("VINSERTI64X4 $1, Y%d, Z%d, Z%d\nVMOVDQU16 Z%d, %d(DI)", u+1, u, u, u, u*16*out)
			u++
		}
		p("ADDQ $%d, SI\nADDQ $%d, DI\nSUBQ $64, CX\nJGE loop\ntail:\nADDQ $64, CX\nJZ done", 64*in, 64*out)
		p("few:\nCMPQ CX, $16\nJGE sixteen\nSHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1\nsixteen:")
		p(read + ".Z (SI), K1, Z0")
		body(0)
		p(write, 0, "K1, ", 0)
		p("ADDQ $%d, SI\nADDQ $%d, DI\nSUBQ $16, CX\nJGT few\ndone:\nVZEROUPPER\nRET\n", 16*in, 16*out)
	}
	none := func() {}
	each("widenF16", "converts n float16 to float32.", 2, 4, none, func(int) {}, "VCVTPH2PS", "VMOVUPS Z%d, %s%d(DI)")
	each("widenBF16", "converts n bfloat16 to float32.", 2, 4, none, func(u int) { p("VPSLLD $16, Z%d, Z%d", u, u) }, "VPMOVZXWD", "VMOVUPS Z%d, %s%d(DI)")
	each("narrowF16", "rounds n float32 to the nearest float16; NaN becomes 0x7e00.", 4, 2, func() { constant("AX", 31, 0x7fc00000) }, func(u int) {
		p("VCMPPS $3, Z%d, Z%d, K2\nVMOVDQA32 Z31, K2, Z%d", u, u, u)
		p("VCVTPS2PH $0, Z%d, Y%d", u, u)
	}, "VMOVUPS", "VMOVDQU16 Y%d, %s%d(DI)")
	each("narrowBF16", "rounds n float32 to the nearest bfloat16; NaN becomes 0x7fc0.", 4, 2, func() {
		constant("AX", 31, 0x7fc0)
		constant("AX", 30, 1)
		constant("AX", 29, 0x7fff)
	}, func(u int) {
		p("VCMPPS $3, Z%d, Z%d, K2", u, u)
		p("VPSRLD $16, Z%d, Z%d\nVPANDD Z%d, Z30, Z%d\nVPADDD Z%d, Z%d, Z%d", u, u+4, u+4, u+4, u+4, u, u+4)
		p("VPADDD Z29, Z%d, Z%d\nVPSRLD $16, Z%d, Z%d\nVMOVDQA32 Z31, K2, Z%d\nVPMOVDW Z%d, Y%d", u+4, u+4, u+4, u+4, u+4, u+4, u)
	}, "VMOVUPS", "VMOVDQU16 Y%d, %s%d(DI)")
}

// splits prints the conversion of float32 to the sums of two bfloat16, 32 elements per iteration.
func splits() {
	fn("sets hi to n float32, a positive multiple of 32, rounded to the nearest bfloat16, and lo to x - hi, also rounded; NaN becomes 0x7fc0.", "splitBF16", "(hi, lo, src unsafe.Pointer, n int)", 0, 32)
	load("hi", "DI", "lo", "DX", "src", "SI", "n", "CX")
	for i, c := range []uint32{quietBF, 1, below} {
		p("MOVL $0x%04x, AX\nVPBROADCASTD AX, Z%d", c, 31-i)
	}
	p("loop:")
	round := func(to string) {
		for u := range 2 {
			p("VCMPPS $3, Z%d, Z%d, K2\nVPSRLD $16, Z%d, Z%d\nVPANDD Z%d, Z30, Z%d\nVPADDD Z%d, Z%d, Z%d", u, u, u, u+4, u+4, u+4, u+4, u, u+4)
			p("VPADDD Z29, Z%d, Z%d\nVPSRLD $16, Z%d, Z%d\nVMOVDQA32 Z31, K2, Z%d\nVPMOVDW Z%d, Y%d", u+4, u+4, u+4, u+4, u+4, u+4, u+6)
		}
		p("VINSERTI64X4 $1, Y7, Z6, Z6\nVMOVDQU16 Z6, (%s)", to)
	}
	p("VMOVUPS (SI), Z0\nVMOVUPS 64(SI), Z1")
	round("DI")
	for u := range 2 {
		p("VPSLLD $16, Z%d, Z%d\nVSUBPS Z%d, Z%d, Z%d", u+4, u+4, u+4, u, u)
	}
	round("DX")
	p("ADDQ $128, SI\nADDQ $64, DI\nADDQ $64, DX\nSUBQ $32, CX\nJNZ loop\nVZEROUPPER\nRET\n")
}

// avx2Converts prints the conversions for AVX2, 16 elements per iteration. If n is not a multiple of
// 16, the last 16 elements overlap the previous ones.
func avx2Converts() {
	each := func(name, comment string, in, out int, constants []uint32, body func()) {
		fn(comment, name, "(dst, src unsafe.Pointer, n int)", 0, 24)
		load("dst", "DI", "src", "SI", "n", "CX")
		for i, c := range constants {
			p("MOVL $0x%08x, AX\nVMOVD AX, X%d\nVPBROADCASTD X%d, Y%d", c, 12+i, 12+i, 12+i)
		}
		p("loop:")
		body()
		p("ADDQ $%d, SI\nADDQ $%d, DI\nSUBQ $16, CX\nJZ done\nCMPQ CX, $16\nJGE loop", 16*in, 16*out)
		p("LEAQ -16(CX), CX\nLEAQ (SI)(CX*%d), SI\nLEAQ (DI)(CX*%d), DI\nMOVQ $16, CX\nJMP loop\ndone:\nVZEROUPPER\nRET\n", in, out)
	}
	each("avx2WidenF16", "converts n float16, at least 16, to float32.", 2, 4, nil, func() {
		p("VCVTPH2PS (SI), Y0\nVCVTPH2PS 16(SI), Y1\nVMOVUPS Y0, (DI)\nVMOVUPS Y1, 32(DI)")
	})
	each("avx2WidenBF16", "converts n bfloat16, at least 16, to float32.", 2, 4, nil, func() {
		p("VPMOVZXWD (SI), Y0\nVPMOVZXWD 16(SI), Y1\nVPSLLD $16, Y0, Y0\nVPSLLD $16, Y1, Y1\nVMOVUPS Y0, (DI)\nVMOVUPS Y1, 32(DI)")
	})
	each("avx2NarrowF16", "rounds n float32, at least 16, to the nearest float16; NaN becomes 0x7e00.", 4, 2, []uint32{0x7fc00000}, func() {
		for u := range 2 {
			p("VMOVUPS %d(SI), Y%d\nVCMPPS $3, Y%d, Y%d, Y%d\nVBLENDVPS Y%d, Y12, Y%d, Y%d", u*32, u, u, u, u+4, u+4, u, u)
			p("VCVTPS2PH $0, Y%d, %d(DI)", u, u*16)
		}
	})
	each("avx2NarrowBF16", "rounds n float32, at least 16, to the nearest bfloat16; NaN becomes 0x7fc0.", 4, 2, []uint32{0x7fc0, 1, 0x7fff}, func() {
		for u := range 2 {
			p("VMOVUPS %d(SI), Y%d\nVCMPPS $3, Y%d, Y%d, Y%d", u*32, u, u, u, u+4)
			p("VPSRLD $16, Y%d, Y%d\nVPAND Y%d, Y13, Y%d\nVPADDD Y%d, Y%d, Y%d", u, u+2, u+2, u+2, u+2, u, u+2)
			p("VPADDD Y14, Y%d, Y%d\nVPSRLD $16, Y%d, Y%d\nVBLENDVPS Y%d, Y12, Y%d, Y%d", u+2, u+2, u+2, u+2, u+4, u+2, u+2)
		}
		p("VPACKUSDW Y3, Y2, Y2\nVPERMQ $0xd8, Y2, Y2\nVMOVDQU Y2, (DI)")
	})
}
