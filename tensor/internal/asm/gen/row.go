package main

// rows prints other kernels of rows, for n a multiple of 8. They use AVX2, which suffices because they
// are limited by memory.
func rows() {
	fn("returns the largest of n float32, or NaN if there is one.", "largestOf", "(x unsafe.Pointer, n int) (most float32)", 0, 20)
	load("x", "SI", "n", "CX")
	p("MOVL $0xff800000, AX\nVMOVD AX, X0\nVBROADCASTSS X0, Y0\nVMOVAPS Y0, Y1\nVXORPS Y2, Y2, Y2")
	p("loop:\nVMOVUPS (SI), Y3\nVCMPPS $3, Y3, Y3, Y4\nVORPS Y4, Y2, Y2\nVMAXPS Y3, Y0, Y0")
	p("ADDQ $32, SI\nSUBQ $8, CX\nJGT loop")
	p("VMOVMSKPS Y2, AX\nTESTL AX, AX\nJNZ nan")
	p("VEXTRACTF128 $1, Y0, X1\nVMAXPS X1, X0, X0\nVPERMILPS $0x4e, X0, X1\nVMAXPS X1, X0, X0\nVPERMILPS $0xb1, X0, X1\nVMAXPS X1, X0, X0")
	p("VMOVSS X0, most+16(FP)\nVZEROUPPER\nRET\nnan:\nMOVL $0x7fc00000, AX\nMOVL AX, most+16(FP)\nVZEROUPPER\nRET\n")

	fn("is a [Pass]: x*alpha where the byte of y is not 0, otherwise x*0.", "dropped", "(dst, x, y unsafe.Pointer, n int, alpha, beta float32)", 0, 40)
	load("dst", "DI", "x", "SI", "y", "R8", "n", "CX")
	p("VBROADCASTSS alpha+32(FP), Y15\nVPXOR Y14, Y14, Y14\nloop:")
	p("VPMOVZXBD (R8), Y0\nVPCMPEQD Y14, Y0, Y0\nVPANDN Y15, Y0, Y0\nVMULPS (SI), Y0, Y0\nVMOVUPS Y0, (DI)")
	p("ADDQ $8, R8\nADDQ $32, SI\nADDQ $32, DI\nSUBQ $8, CX\nJGT loop\nVZEROUPPER\nRET\n")
}
