package main

// converts prints conversions between float32 and the halves, of which there are
// 64 a turn and a tail under masks.
func converts() {
	constant := func(reg int, c uint32) { p("MOVL $0x%08x, AX\nVPBROADCASTD AX, Z%d", c, reg) }
	each := func(name, comment string, in, out int, prepare func(), body func(reg int), read, write string) {
		fn(comment, name, "(dst, src unsafe.Pointer, n int)", 0, 24)
		load("dst", "DI", "src", "SI", "n", "CX")
		prepare()
		p("MOVQ $-1, DX\nKMOVQ DX, K1\nSUBQ $64, CX\nJLT tail\nloop:")
		for u := range 4 {
			p(read+" %d(SI), Z%d", u*16*in, u)
		}
		for u := range 4 {
			body(u)
		}
		for u := range 4 {
			p(write, u, "", u*16*out)
		}
		p("ADDQ $%d, SI\nADDQ $%d, DI\nSUBQ $64, CX\nJGE loop\ntail:\nADDQ $64, CX\nJZ done", 64*in, 64*out)
		p("few:\nCMPQ CX, $16\nJGE sixteen\nSHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1\nsixteen:")
		p(read + ".Z (SI), K1, Z0")
		body(0)
		p(write, 0, "K1, ", 0)
		p("ADDQ $%d, SI\nADDQ $%d, DI\nSUBQ $16, CX\nJGT few\ndone:\nVZEROUPPER\nRET\n", 16*in, 16*out)
	}
	none := func() {}
	each("widenF16", "sets n float32 to float16s.", 2, 4, none, func(int) {}, "VCVTPH2PS", "VMOVUPS Z%d, %s%d(DI)")
	each("widenBF16", "sets n float32 to bfloat16s.", 2, 4, none, func(u int) { p("VPSLLD $16, Z%d, Z%d", u, u) }, "VPMOVZXWD", "VMOVUPS Z%d, %s%d(DI)")
	each("narrowF16", "sets n float16 to the nearest of float32s; NaN is 0x7e00.", 4, 2, func() { constant(31, 0x7fc00000) }, func(u int) {
		p("VCMPPS $3, Z%d, Z%d, K2\nVMOVDQA32 Z31, K2, Z%d", u, u, u)
		p("VCVTPS2PH $0, Z%d, Y%d", u, u)
	}, "VMOVUPS", "VMOVDQU16 Y%d, %s%d(DI)")
	each("narrowBF16", "sets n bfloat16 to the nearest of float32s; NaN is 0x7fc0.", 4, 2, func() {
		constant(31, 0x7fc0)
		constant(30, 1)
		constant(29, 0x7fff)
	}, func(u int) {
		p("VCMPPS $3, Z%d, Z%d, K2", u, u)
		p("VPSRLD $16, Z%d, Z%d\nVPANDD Z%d, Z30, Z%d\nVPADDD Z%d, Z%d, Z%d", u, u+4, u+4, u+4, u+4, u, u+4)
		p("VPADDD Z29, Z%d, Z%d\nVPSRLD $16, Z%d, Z%d\nVMOVDQA32 Z31, K2, Z%d\nVPMOVDW Z%d, Y%d", u+4, u+4, u+4, u+4, u+4, u+4, u)
	}, "VMOVUPS", "VMOVDQU16 Y%d, %s%d(DI)")
}
