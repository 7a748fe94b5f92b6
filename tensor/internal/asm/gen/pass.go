package main

// pass is an elementwise loop over float32: dst[i] = body of x[i] and possibly y[i]. In body, register
// u holds x, register u+4 holds y, and the result goes to u. The constants are 0, alpha and beta.
// Products and sums round separately.
type pass struct {
	name, comment string
	operands      int
	body          func(v vector, u int)
}

var passList = []pass{
	{"add", "x + y", 2, func(v vector, u int) { v.op("VADDPS", u+4, u, u) }},
	{"sub", "x - y", 2, func(v vector, u int) { v.op("VSUBPS", u+4, u, u) }},
	{"mul", "x * y", 2, func(v vector, u int) { v.op("VMULPS", u+4, u, u) }},
	{"div", "x / y", 2, func(v vector, u int) { v.op("VDIVPS", u+4, u, u) }},
	{"addScaled", "x + alpha*y", 2, func(v vector, u int) {
		v.op("VMULPS", u+4, v.constant+1, u+4)
		v.op("VADDPS", u+4, u, u)
	}},
	{"scale", "alpha*x", 1, func(v vector, u int) { v.op("VMULPS", u, v.constant+1, u) }},
	{"affine", "alpha*x + beta", 1, func(v vector, u int) {
		v.op("VMULPS", u, v.constant+1, u)
		v.op("VADDPS", v.constant+2, u, u)
	}},
	{"relu", "0 where x <= 0, otherwise x", 1, func(v vector, u int) { positive(v, u, u) }},
	{"reluGrad", "0 where x <= 0, otherwise y", 2, func(v vector, u int) { positive(v, u, u+4) }},
	{"sqrt", "the square root of x", 1, func(v vector, u int) { v.op("VSQRTPS", u, u) }},
	{"neg", "-x, for an alpha of -0", 1, func(v vector, u int) { v.op("VXORPS", u, v.constant+1, u) }},
	{"abs", "the larger one of x and 0 - x, the latter if neither is larger", 1, func(v vector, u int) {
		v.op("VSUBPS", u, v.constant, u+4)
		v.op("VMAXPS", u+4, u, u) // for zeros and NaN the operand 0 - x, which is 0 for zeros
	}},
	{"tanhGrad", "y * (alpha - x*x)", 2, func(v vector, u int) {
		v.op("VMULPS", u, u, u)
		v.op("VSUBPS", u, v.constant+1, u)
		v.op("VMULPS", u, u+4, u)
	}},
	{"sigmoidGrad", "y * ((alpha - x) * x)", 2, func(v vector, u int) {
		v.op("VSUBPS", u, v.constant+1, v.constant+3)
		v.op("VMULPS", u, v.constant+3, u)
		v.op("VMULPS", u, u+4, u)
	}},
}

// positive prints code that sets register u to y where u is above 0 or NaN, otherwise to 0.
func positive(v vector, u, y int) {
	if v.lanes == 16 {
		p("VCMPPS $6, Z%d, Z%d, K2\nVMOVAPS.Z Z%d, K2, Z%d", v.constant, u, y, u)
		return
	}
	p("VCMPPS $6, Y%d, Y%d, Y%d\nVANDPS Y%d, Y%d, Y%d", v.constant, u, v.constant+3, y, v.constant+3, u)
}

// blocks prints a loop over CX elements, 64 per iteration and then up to 16 under K1. turn prints the
// body for registers 0 … n-1, which must advance the pointers by 16*n elements. z and k are the suffix
// and mask of loads.
func blocks(turn func(n int, z, k string)) {
	p("MOVQ $-1, DX\nKMOVQ DX, K1\nSUBQ $64, CX\nJLT tail\nloop:")
	turn(4, "", "")
	p("SUBQ $64, CX\nJGE loop\ntail:\nADDQ $64, CX\nJZ done")
	p("few:\nCMPQ CX, $16\nJGE sixteen\nSHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1\nsixteen:")
	turn(1, ".Z", "K1, ")
	p("SUBQ $16, CX\nJGT few\ndone:")
}

func passes() {
	counting()
	for _, v := range vectors {
		for _, f := range passList {
			f.print(v)
		}
		largest(v, 32)
		largest(v, 16)
		adam(v)
		stream(v)
	}
	sumLanes()
	avx2SumLanes()
	fn("makes the writes of [Loops.Stream] visible to other processors.", "fence", "()", 0, 0)
	p("SFENCE\nRET\n")
	fn("is [Loops.Fetch].", "fetch", "(dst unsafe.Pointer, n int)", 0, 16)
	load("dst", "DI", "n", "CX")
	p("loop:\nBYTE $0x0f; BYTE $0x0d; BYTE $0x0f // PREFETCHW (DI)\nADDQ $64, DI\nSUBQ $64, CX\nJGT loop\nRET\n")
}

func (f pass) print(v vector) {
	fn("is a [Pass]: "+f.comment+".", v.name(f.name), "(dst, x, y unsafe.Pointer, n int, alpha, beta float32)", 0, 40)
	load("dst", "DI", "x", "SI", "y", "R8", "n", "CX")
	v.zero(v.constant)
	p("VBROADCASTSS alpha+32(FP), %[1]s%[2]d\nVBROADCASTSS beta+36(FP), %[1]s%[3]d", v.r, v.constant+1, v.constant+2)
	v.blocks(func(n int, part bool) {
		for u := range n {
			v.load("SI", u, part, u)
			if f.operands == 2 {
				v.load("R8", u, part, u+4)
			}
		}
		for u := range n {
			f.body(v, u)
		}
		for u := range n {
			v.store(u, "DI", u, part)
		}
		v.step(n, "SI", "R8", "DI")
	})
	p("VZEROUPPER\nRET\n")
}

// largest prints the maximum of magnitudes as integers of 32 or 16 bits. NaN is above infinity, which is above all finite numbers.
func largest(v vector, bits int) {
	name, comment, suffix, mask := "largest", "returns the bits of the largest magnitude of n float32. NaN is above infinity.", "D", uint32(0x7fffffff)
	if bits == 16 {
		name, comment, suffix, mask = "largest16", "returns the bits of the largest magnitude of n float16 or bfloat16, an even number. NaN is above infinity.", "W", 0x7fff7fff
	}
	fn(comment, v.name(name), "(x unsafe.Pointer, n int) (bits uint32)", 0, 20)
	load("x", "SI", "n", "CX")
	if bits == 16 {
		p("SHRQ $1, CX")
	}
	magnitude, most, greater := v.constant+4, v.constant, "VPMAXU"+suffix
	p("MOVL $0x%x, AX\nVMOVD AX, X%d\nVPBROADCASTD X%d, %s%d", mask, magnitude, magnitude, v.r, magnitude)
	for i := range 4 {
		v.zero(most + i)
	}
	and := map[int]string{16: "VPANDD", 8: "VPAND"}[v.lanes]
	v.blocks(func(n int, part bool) {
		for u := range n {
			v.load("SI", u, part, u)
			v.op(and, u, magnitude, u)
			v.op(greater, u, most+u, most+u)
		}
		v.step(n, "SI")
	})
	for i, j := range []int{0, 2, 0} {
		v.op(greater, most+j+1+i/2, most+j, most+j)
	}
	m, t := most, most+1
	if v.lanes == 16 {
		p("VEXTRACTI64X4 $1, Z%d, Y%d\n%s Y%d, Y%d, Y%d", m, t, greater, m, t, m)
		p("VEXTRACTI32X4 $1, Y%d, X%d", m, t)
	} else {
		p("VEXTRACTI128 $1, Y%d, X%d", m, t)
	}
	p("%s X%d, X%d, X%d", greater, m, t, m)
	for _, order := range []int{0x4e, 0xb1} {
		p("VPSHUFD $0x%x, X%d, X%d\n%s X%d, X%d, X%d", order, m, t, greater, m, t, m)
	}
	if bits == 16 {
		p("VPSRLD $16, X%d, X%d\n%s X%d, X%d, X%d", m, t, greater, m, t, m)
	}
	p("VMOVD X%d, AX", m)
	if bits == 16 {
		p("MOVWLZX AX, AX")
	}
	p("MOVL AX, bits+16(FP)\nVZEROUPPER\nRET\n")
}

const sumComment = "returns the sum of n float32. 16 lanes, which start at 0, add every 16th element each. Then lanes l and l+8 are added, l and l+4, l and l+2, and l and l+1."

// sumLanes prints the sum as package cpu defines it: in 16 lanes, which are then added by halves.
func sumLanes() {
	fn(sumComment, "sumLanes", "(x unsafe.Pointer, n int) (sum float32)", 0, 20)
	load("x", "SI", "n", "CX")
	p("VPXORD Z16, Z16, Z16\nMOVQ $-1, DX\nSUBQ $16, CX\nJLT tail\nloop:\nVADDPS (SI), Z16, Z16\nADDQ $64, SI\nSUBQ $16, CX\nJGE loop\ntail:\nADDQ $16, CX\nJZ done")
	p("SHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1\nVMOVUPS.Z (SI), K1, Z0\nVADDPS Z0, Z16, K1, Z16\ndone:")
	foldLanes(16, 17)
	p("VMOVSS X16, sum+16(FP)\nVZEROUPPER\nRET\n")
}

// avx2SumLanes is sumLanes with the lanes in two registers. A lane that starts at 0 is never -0, so
// adding 0 for missing elements does not change it.
func avx2SumLanes() {
	fn(sumComment, "avx2SumLanes", "(x unsafe.Pointer, n int) (sum float32)", 0, 20)
	load("x", "SI", "n", "CX")
	p("VPXOR Y8, Y8, Y8\nVPXOR Y9, Y9, Y9\nSUBQ $16, CX\nJLT tail\nloop:\nVADDPS (SI), Y8, Y8\nVADDPS 32(SI), Y9, Y9\nADDQ $64, SI\nSUBQ $16, CX\nJGE loop\ntail:\nADDQ $16, CX\nJZ done")
	p("CMPQ CX, $8\nJGE more")
	maskOfCX()
	p("VMASKMOVPS (SI), Y15, Y0\nVADDPS Y0, Y8, Y8\nJMP done\nmore:\nVADDPS (SI), Y8, Y8\nSUBQ $8, CX")
	maskOfCX()
	p("VMASKMOVPS 32(SI), Y15, Y0\nVADDPS Y0, Y9, Y9\ndone:")
	p("VADDPS Y9, Y8, Y8\nVEXTRACTF128 $1, Y8, X9\nVADDPS X9, X8, X8")
	p("VPSHUFD $0x4e, X8, X9\nVADDPS X9, X8, X8\nVPSHUFD $0xb1, X8, X9\nVADDPS X9, X8, X8")
	p("VMOVSS X8, sum+16(FP)\nVZEROUPPER\nRET\n")
}

// adam prints a step of Adam. c holds a, b, c, d, e, rate and eps of the comment in package driver.
func adam(v vector) {
	fn("is a step of Adam on n float32, each operation rounded: m += c0*(dx-m), v = c1*v + c2*(dx*dx), x = c3*x - c5*(m/(c4*sqrt(v)+c6)).", v.name("adam"), "(x, dx, m, v unsafe.Pointer, n int, c *[7]float32)", 0, 48)
	load("x", "DI", "dx", "SI", "m", "R8", "v", "R9", "n", "CX", "c", "AX")
	c := v.constant
	for i := range 7 {
		p("VBROADCASTSS %d(AX), %s%d", i*4, v.r, c+i)
	}
	v.blocks(func(n int, part bool) {
		for u := range n {
			for i, from := range []string{"SI", "R8", "R9", "DI"} {
				v.load(from, u, part, i)
			}
			v.op("VSUBPS", 1, 0, 4)
			v.op("VMULPS", 4, c, 4)
			v.op("VADDPS", 4, 1, 1)
			v.op("VMULPS", 0, 0, 0)
			v.op("VMULPS", 0, c+2, 0)
			v.op("VMULPS", 2, c+1, 2)
			v.op("VADDPS", 0, 2, 2)
			v.op("VSQRTPS", 2, 4)
			v.op("VMULPS", 4, c+4, 4)
			v.op("VADDPS", c+6, 4, 4)
			v.op("VDIVPS", 4, 1, 4)
			v.op("VMULPS", 4, c+5, 4)
			v.op("VMULPS", 3, c+3, 3)
			v.op("VSUBPS", 4, 3, 3)
			for i, to := range []string{"R8", "R9", "DI"} {
				v.store(i+1, to, u, part)
			}
		}
		v.step(n, "SI", "R8", "R9", "DI")
	})
	p("VZEROUPPER\nRET\n")
}

// stream prints a copy around the cache.
func stream(v vector) {
	fn("copies n bytes, a positive multiple of 256, around the cache. dst must be aligned to 64.", v.name("stream"), "(dst, src unsafe.Pointer, n int)", 0, 24)
	load("dst", "DI", "src", "SI", "n", "CX")
	p("loop:")
	turn := 256 / (v.lanes * 4)
	for u := range turn {
		v.load("SI", u, false, u)
	}
	for u := range turn {
		p("VMOVNTPS %s%d, %d(DI)", v.r, u, u*v.lanes*4)
	}
	v.step(turn, "SI", "DI")
	p("SUBQ $256, CX\nJGT loop\nVZEROUPPER\nRET\n")
}
