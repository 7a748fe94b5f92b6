package main

// A pass is an elementwise loop over float32: dst[i] = body of x[i] and perhaps y[i].
// In body register u holds x, u+4 y, and the result goes to u; 29 holds 0, 30 alpha and
// 31 beta. Products and sums round apart.
type pass struct {
	name, comment string
	operands      int
	body          func(u int)
}

var passList = []pass{
	{"add", "x + y", 2, func(u int) { p("VADDPS Z%d, Z%d, Z%d", u+4, u, u) }},
	{"sub", "x - y", 2, func(u int) { p("VSUBPS Z%d, Z%d, Z%d", u+4, u, u) }},
	{"mul", "x * y", 2, func(u int) { p("VMULPS Z%d, Z%d, Z%d", u+4, u, u) }},
	{"div", "x / y", 2, func(u int) { p("VDIVPS Z%d, Z%d, Z%d", u+4, u, u) }},
	{"addScaled", "x + alpha*y", 2, func(u int) {
		p("VMULPS Z%d, Z30, Z%d\nVADDPS Z%d, Z%d, Z%d", u+4, u+4, u+4, u, u)
	}},
	{"scale", "alpha*x", 1, func(u int) { p("VMULPS Z%d, Z30, Z%d", u, u) }},
	{"affine", "alpha*x + beta", 1, func(u int) { p("VMULPS Z%d, Z30, Z%d\nVADDPS Z31, Z%d, Z%d", u, u, u, u) }},
	{"relu", "0 where x <= 0, else x", 1, func(u int) {
		p("VCMPPS $6, Z29, Z%d, K2\nVMOVAPS.Z Z%d, K2, Z%d", u, u, u) // not less or equal, which NaN is too
	}},
	{"reluGrad", "0 where x <= 0, else y", 2, func(u int) {
		p("VCMPPS $6, Z29, Z%d, K2\nVMOVAPS.Z Z%d, K2, Z%d", u, u+4, u)
	}},
	{"sqrt", "the square root of x", 1, func(u int) { p("VSQRTPS Z%d, Z%d", u, u) }},
}

// blocks prints a loop over CX elements, 64 a turn and then 16 or fewer under K1: turn
// is to print what is done with those of registers 0 … n-1, with z and k the suffix
// and the mask of loads from memory, and then to move on by 16*n elements.
func blocks(turn func(n int, z, k string)) {
	p("MOVQ $-1, DX\nKMOVQ DX, K1\nSUBQ $64, CX\nJLT tail\nloop:")
	turn(4, "", "")
	p("SUBQ $64, CX\nJGE loop\ntail:\nADDQ $64, CX\nJZ done")
	p("few:\nCMPQ CX, $16\nJGE sixteen\nSHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1\nsixteen:")
	turn(1, ".Z", "K1, ")
	p("SUBQ $16, CX\nJGT few\ndone:")
}

func passes() {
	for _, f := range passList {
		fn("is a [Pass]: "+f.comment+".", f.name, "(dst, x, y unsafe.Pointer, n int, alpha, beta float32)", 0, 40)
		load("dst", "DI", "x", "SI", "y", "R8", "n", "CX")
		p("VPXORD Z29, Z29, Z29\nVBROADCASTSS alpha+32(FP), Z30\nVBROADCASTSS beta+36(FP), Z31")
		blocks(func(n int, z, k string) {
			for u := range n {
				p("VMOVUPS%s %d(SI), %sZ%d", z, u*64, k, u)
				if f.operands == 2 {
					p("VMOVUPS%s %d(R8), %sZ%d", z, u*64, k, u+4)
				}
			}
			for u := range n {
				f.body(u)
			}
			for u := range n {
				p("VMOVUPS Z%d, %s%d(DI)", u, k, u*64)
			}
			p("ADDQ $%d, SI\nADDQ $%d, R8\nADDQ $%d, DI", n*64, n*64, n*64)
		})
		p("VZEROUPPER\nRET\n")
	}
	largest()
	sumLanes()
	adam()
}

// largest prints the maximum of magnitudes as integers: NaN is above infinity, which is
// above all others.
func largest() {
	fn("returns the largest of the magnitudes of n float32, as bits: NaN counts as more than infinity.", "largest", "(x unsafe.Pointer, n int) (bits uint32)", 0, 20)
	load("x", "SI", "n", "CX")
	p("MOVL $0x7fffffff, AX\nVPBROADCASTD AX, Z31")
	for i := range 4 {
		p("VPXORD Z%d, Z%d, Z%d", 16+i, 16+i, 16+i)
	}
	blocks(func(n int, z, k string) {
		for u := range n {
			p("VMOVUPS%s %d(SI), %sZ%d\nVPANDD Z%d, Z31, Z%d\nVPMAXUD Z%d, Z%d, Z%d", z, u*64, k, u, u, u, u, 16+u, 16+u)
		}
		p("ADDQ $%d, SI", n*64)
	})
	p("VPMAXUD Z16, Z17, Z16\nVPMAXUD Z18, Z19, Z18\nVPMAXUD Z16, Z18, Z16")
	p("VEXTRACTI64X4 $1, Z16, Y17\nVPMAXUD Y16, Y17, Y16\nVEXTRACTI32X4 $1, Y16, X17\nVPMAXUD X16, X17, X16")
	p("VPSHUFD $0x4e, X16, X17\nVPMAXUD X16, X17, X16\nVPSHUFD $0xb1, X16, X17\nVPMAXUD X16, X17, X16")
	p("VMOVD X16, AX\nMOVL AX, bits+16(FP)\nVZEROUPPER\nRET\n")
}

// sumLanes prints the sum of package cpu's definition: 16 lanes, then halves of them.
func sumLanes() {
	fn("returns the sum of n float32: 16 lanes, each of every 16th, from 0, and then lane l and l+8, l+4, l+2 and l+1 of what is left.", "sumLanes", "(x unsafe.Pointer, n int) (sum float32)", 0, 20)
	load("x", "SI", "n", "CX")
	p("VPXORD Z16, Z16, Z16\nMOVQ $-1, DX\nSUBQ $16, CX\nJLT tail\nloop:\nVADDPS (SI), Z16, Z16\nADDQ $64, SI\nSUBQ $16, CX\nJGE loop\ntail:\nADDQ $16, CX\nJZ done")
	p("SHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1\nVMOVUPS.Z (SI), K1, Z0\nVADDPS Z0, Z16, K1, Z16\ndone:")
	p("VEXTRACTF64X4 $1, Z16, Y17\nVADDPS Y17, Y16, Y16\nVEXTRACTF32X4 $1, Y16, X17\nVADDPS X17, X16, X16")
	p("VPSHUFD $0x4e, X16, X17\nVADDPS X17, X16, X16\nVPSHUFD $0xb1, X16, X17\nVADDPS X17, X16, X16")
	p("VMOVSS X16, sum+16(FP)\nVZEROUPPER\nRET\n")
}

// adam prints a step of Adam. c holds, in this order: a, b, c, d, e, rate, eps of
// package driver's comment.
func adam() {
	fn("is a step of Adam on n float32, each operation rounded: m += c0*(dx-m), v = c1*v + c2*(dx*dx), x = c3*x - c5*(m/(c4*sqrt(v)+c6)).", "adam", "(x, dx, m, v unsafe.Pointer, n int, c *[7]float32)", 0, 48)
	load("x", "DI", "dx", "SI", "m", "R8", "v", "R9", "n", "CX", "c", "AX")
	for i := range 7 {
		p("VBROADCASTSS %d(AX), Z%d", i*4, 16+i)
	}
	blocks(func(n int, z, k string) {
		for u := range n {
			for i, from := range []string{"SI", "R8", "R9", "DI"} {
				p("VMOVUPS%s %d(%s), %sZ%d", z, u*64, from, k, i)
			}
			p("VSUBPS Z1, Z0, Z4\nVMULPS Z4, Z16, Z4\nVADDPS Z4, Z1, Z1")
			p("VMULPS Z0, Z0, Z0\nVMULPS Z0, Z18, Z0\nVMULPS Z2, Z17, Z2\nVADDPS Z0, Z2, Z2")
			p("VSQRTPS Z2, Z4\nVMULPS Z4, Z20, Z4\nVADDPS Z22, Z4, Z4\nVDIVPS Z4, Z1, Z4\nVMULPS Z4, Z21, Z4")
			p("VMULPS Z3, Z19, Z3\nVSUBPS Z4, Z3, Z3")
			for i, to := range []string{"R8", "R9", "DI"} {
				p("VMOVUPS Z%d, %s%d(%s)", i+1, k, u*64, to)
			}
		}
		for _, r := range []string{"SI", "R8", "R9", "DI"} {
			p("ADDQ $%d, %s", n*64, r)
		}
	})
	p("VZEROUPPER\nRET\n")
}
