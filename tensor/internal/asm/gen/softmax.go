package main

import "halfnote/tensor/internal/asm/gen/ssa"

// Registers of the kernels of softmax: the 16 lanes of a sum, and the number of a row that all
// elements are combined with.
const (
	rowSpare = 29 + iota
	rowSum
	rowBy
)

// span prints a loop over CX elements: n registers per iteration, then up to one under K1. turn prints
// the body and advances the pointers; part is set under the mask. label is the prefix of labels.
func span(label string, n int, turn func(n int, part bool)) {
	p("SUBQ $%d, CX\nJLT %sTail\nPCALIGN $32\n%sLoop:", 16*n, label, label)
	turn(n, false)
	p("SUBQ $%d, CX\nJGE %sLoop\n%sTail:\nADDQ $%d, CX\nJZ %sDone", 16*n, label, label, 16*n, label)
	p("MOVQ $-1, DX\n%sFew:\nCMPQ CX, $16\nJGE %sAll\nSHLQ CX, DX\nNOTQ DX\nJMP %sMask\n%sAll:\nMOVQ $-1, DX\n%sMask:\nKMOVQ DX, K1", label, label, label, label, label)
	turn(1, true)
	p("SUBQ $16, CX\nJGT %sFew\n%sDone:", label, label)
}

// maskOf returns the suffix and the mask of loads.
func maskOf(part bool) (z, k string) {
	if part {
		return ".Z", "K1, "
	}
	return "", ""
}

// inRow is how the loops over a row read and write the numbers of a line.
type inRow struct{ read, write func(u, reg int) }

func (m inRow) Load(e *ssa.Emitter, v value, _ string, u int) int {
	to := e.Take(v)
	m.read(u, to)
	return to
}

func (m inRow) Store(e *ssa.Emitter, results []value) {
	for u, v := range results {
		m.write(u, e.Home(v))
	}
}

// expSpan prints a span that computes exp(x) of numbers from -104 to 89 or less. end advances the
// pointers.
func expSpan(label string, limit int, read func(z, k string, u, to int), write func(k string, u, from int), end func(n int)) {
	l := line{Program: ssa.New(true, &tables)}
	result := l.expOf(l.clamp(l.X(), -104, 89))
	one := &ssa.Emitter{Program: l.Program, Wide: true, Text: &text, Limit: limit}
	one.Prepare(0)
	one.Fit(streams, func(e *ssa.Emitter, n int) {
		span(label, n, func(n int, part bool) {
			z, k := maskOf(part)
			e.Print(result, n, inRow{func(u, to int) { read(z, k, u, to) }, func(u, from int) { write(k, u, from) }})
			end(n)
		})
	})
}

// eachOfRows prints a loop over BX rows of n elements, which sets CX to n. body must leave BX and n's
// register R11 as they are.
func eachOfRows(body func()) {
	p("row:\nSUBQ $1, BX\nJLT rowsEnd\nMOVQ R11, CX")
	body()
	p("JMP row\nrowsEnd:\nVZEROUPPER\nRET\n")
}

// most prints code that sets rowBy to the largest element of the row at SI, or to NaN if there is one.
func (e element) most() {
	constant("AX", 16, 0xff800000)
	p("KXORW K4, K4, K4")
	for i := 1; i < 4; i++ {
		p("VMOVAPS Z16, Z%d", 16+i)
	}
	span("most", 4, func(n int, part bool) {
		z, k := maskOf(part)
		e.fetch(n/4*4, "SI")
		for u := range n {
			e.load(z, k, "SI", u, u)
			p("VCMPPS $3, Z%d, Z%d, K3\nKORW K3, K4, K4\nVMAXPS Z%d, Z%d, %sZ%d", u, u, u, 16+u, k, 16+u)
		}
		e.move(n, "SI")
	})
	p("VMAXPS Z17, Z16, Z16\nVMAXPS Z19, Z18, Z18\nVMAXPS Z18, Z16, Z16")
	foldBy(16, 17, inPlace("VMAXPS"))
	p("VBROADCASTSS X16, Z%d\nKORTESTW K4, K4\nJZ numbers", rowBy)
	constant("AX", rowBy, quiet16)
	p("numbers:")
}

// negate prints code that changes the sign of rowBy.
func negate() {
	constant("AX", rowSpare, 1<<31)
	p("VPXORD Z%[1]d, Z%[2]d, Z%[2]d", rowSpare, rowBy)
}

// Registers of quotients: 1 / by, and the smallest numbers whose quotients are computed with it.
const (
	rowInverse = 27 + iota
	rowLeast
)

// invert prints code that sets rowInverse to 1 / by.
func invert() {
	constant("AX", rowInverse, oneBits)
	p("VDIVPS Z%[2]d, Z%[1]d, Z%[1]d", rowInverse, rowBy)
	constant("AX", rowLeast, 0x17800000) // 2^-80
}

// quotients prints the correctly rounded quotients of numbers that are not negative: a product with 1 / by
// and two corrections by the remainder (P. Markstein, Computation of elementary functions on the IBM RISC
// System/6000 processor, 1990). The remainders of small numbers are not exact, so that these, but for 0, are
// divided.
func (e element) quotients(n int, part bool) {
	z, k := maskOf(part)
	label := map[bool]string{false: "several", true: "few"}[part]
	p("KXORW K4, K4, K4")
	for u := range n {
		p("VMOVUPS%s %d(SI), %sZ%d", z, u*64, k, u)
		p("VPTESTMD Z%[1]d, Z%[1]d, K3\nVPCMPUD $1, Z%[2]d, Z%[1]d, K3, K3\nKORW K3, K4, K4", u, rowLeast)
	}
	p("KORTESTW K4, K4\nJNZ %sDivide", label)
	for u := range n {
		p("VMULPS Z%d, Z%d, Z%d", u, rowInverse, 4+u)
	}
	for range 2 {
		for u := range n {
			p("VMOVAPS Z%[1]d, Z%[2]d\nVFNMADD231PS Z%[3]d, Z%[4]d, Z%[2]d", u, 8+u, 4+u, rowBy)
		}
		for u := range n {
			p("VFMADD231PS Z%d, Z%d, Z%d", 8+u, rowInverse, 4+u)
		}
	}
	for u := range n {
		p("VMOVAPS Z%d, Z%d", 4+u, u)
	}
	p("JMP %sDivided\n%sDivide:", label, label)
	for u := range n {
		p("VDIVPS Z%d, Z%d, Z%d", rowBy, u, u)
	}
	p("%sDivided:", label)
}

// sumIn prints code that adds a register to rowSum.
func sumIn(k string, from int) { p("VADDPS Z%d, Z%d, %sZ%d", from, rowSum, k, rowSum) }

// expRows prints the first half of softmax, and of its logarithm if shifted is set.
func (e element) expRows(shifted bool) {
	name, comment := "expRows", "sets adjacent rows of room to exp(x - most), where most is the largest element of the row, and sums to their sums"
	if shifted {
		name, comment = "shiftRows", "sets adjacent rows of room to x - most, where most is the largest element of the row, and sums to the sums of exp(x - most)"
	}
	e.fn(comment+", in 16 lanes like [Loops].Sum.", name, "(room, sums, x unsafe.Pointer, rows, n int)", 40)
	load("room", "DI", "sums", "R9", "x", "R12", "rows", "BX", "n", "R11")
	eachOfRows(func() {
		p("MOVQ R12, SI")
		e.most()
		if shifted {
			negate()
		}
		p("MOVQ R11, CX\nVPXORD Z%[1]d, Z%[1]d, Z%[1]d", rowSum)
		expSpan("exp", rowSpare, func(z, k string, u, to int) {
			e.load(z, k, "R12", u, to)
			if shifted {
				p("VADDPS Z%d, Z%d, Z%d\nVMOVUPS Z%d, %s%d(DI)", rowBy, to, to, to, k, u*64)
			} else {
				p("VSUBPS Z%d, Z%d, Z%d", rowBy, to, to)
			}
		}, func(k string, u, from int) {
			if !shifted {
				p("VMOVUPS Z%d, %s%d(DI)", from, k, u*64)
			}
			sumIn(k, from)
		}, func(n int) {
			e.move(n, "R12")
			p("ADDQ $%d, DI", n*64)
		})
		e.back("R12")
		p("LEAQ (DI)(CX*4), DI")
		foldLanes(rowSum, rowSpare)
		p("VMOVSS X%d, (R9)\nADDQ $4, R9", rowSum)
	})
}

// byRows prints the second half: each row of room is combined with one number.
func (e element) byRows(name, comment string, change func(), body func(n int, part bool)) {
	e.fn(comment, name, "(dst, room, by unsafe.Pointer, rows, n int)", 40)
	e.prepare()
	load("dst", "DI", "room", "SI", "by", "R9", "rows", "BX", "n", "R11")
	eachOfRows(func() {
		p("VBROADCASTSS (R9), Z%d\nADDQ $4, R9", rowBy)
		change()
		span("by", 4, func(n int, part bool) {
			_, k := maskOf(part)
			e.ahead(n / 4 * 4)
			body(n, part)
			for u := range n {
				e.store(k, "DI", u, u)
			}
			p("ADDQ $%d, SI", n*64)
			e.move(n, "DI")
		})
		p("LEAQ (SI)(CX*4), SI")
		e.back("DI")
	})
}

// softmaxGradRows prints y * (dy - total), where total is the sum of dy * y.
func (e element) softmaxGradRows() {
	e.fn("sets adjacent rows of dst to (dy - total) * y, where total is the row's sum of dy * y, in 16 lanes like [Loops].Sum. Each operation is rounded.", "softmaxGradRows", "(dst, dy, y unsafe.Pointer, rows, n int)", 40)
	e.prepare()
	load("dst", "DI", "dy", "R12", "y", "R13", "rows", "BX", "n", "R11")
	eachOfRows(func() {
		p("MOVQ R12, SI\nMOVQ R13, R8\nVPXORD Z%[1]d, Z%[1]d, Z%[1]d", rowSum)
		both := func(label string, body func(n int, k string)) {
			span(label, 4, func(n int, part bool) {
				z, k := maskOf(part)
				if label == "sum" {
					e.fetch(n/4*4, "SI", "R8")
				}
				for u := range n {
					e.load(z, k, "SI", u, u)
					e.load(z, k, "R8", u, u+4)
				}
				body(n, k)
				e.move(n, "SI", "R8")
			})
		}
		both("sum", func(n int, k string) {
			for u := range n {
				p("VMULPS Z%d, Z%d, Z%d", u+4, u, u)
				sumIn(k, u)
			}
		})
		foldLanes(rowSum, rowSpare)
		p("VBROADCASTSS X%d, Z%d", rowSum, rowBy)
		negate()
		p("MOVQ R11, CX\nMOVQ R12, SI\nMOVQ R13, R8")
		both("grad", func(n int, k string) {
			e.ahead(n / 4 * 4)
			for u := range n {
				p("VADDPS Z%d, Z%d, Z%d\nVMULPS Z%d, Z%d, Z%d", rowBy, u, u, u+4, u, u)
			}
			for u := range n {
				e.store(k, "DI", u, u)
			}
			e.move(n, "DI")
		})
		e.back("SI", "R8", "DI")
		p("MOVQ SI, R12\nMOVQ R8, R13")
	})
}

// logSoftmaxGradRows prints dy - total * exp(y), where total is the sum of dy.
func (e element) logSoftmaxGradRows() {
	e.fn("sets adjacent rows of dst to dy - total * exp(y), where total is the row's sum of dy, in 16 lanes like [Loops].Sum. Each operation is rounded.", "logSoftmaxGradRows", "(dst, dy, y unsafe.Pointer, rows, n int)", 40)
	e.prepare()
	load("dst", "DI", "dy", "R12", "y", "R13", "rows", "BX", "n", "R11")
	eachOfRows(func() {
		p("MOVQ R12, SI\nVPXORD Z%[1]d, Z%[1]d, Z%[1]d", rowSum)
		span("sum", 4, func(n int, part bool) {
			z, k := maskOf(part)
			for u := range n {
				e.load(z, k, "SI", u, u)
			}
			for u := range n {
				sumIn(k, u)
			}
			e.move(n, "SI")
		})
		foldLanes(rowSum, rowSpare)
		p("VBROADCASTSS X%d, Z%d\nMOVQ R11, CX", rowSum, rowBy)
		expSpan("grad", elementOdd, func(z, k string, u, to int) { e.load(z, k, "R13", u, to) }, func(k string, u, from int) {
			z := ""
			if k != "" {
				z = ".Z"
			}
			e.load(z, k, "R12", u, rowSpare)
			p("VMULPS Z%[1]d, Z%[2]d, Z%[1]d\nVSUBPS Z%[1]d, Z%[3]d, Z%[3]d", from, rowBy, rowSpare)
			e.store(k, "DI", u, rowSpare)
		}, func(n int) { e.move(n, "R12", "R13", "DI") })
		e.back("R12", "R13", "DI")
	})
}

// fn starts a kernel of the element type.
func (e element) fn(comment, name, sig string, args int) {
	if e.name != "" {
		comment += " The elements are " + e.title + "."
	}
	fn(comment, name+e.name, sig, 0, args)
}

// softmaxes prints the kernels of softmax and of its logarithm.
func (e element) softmaxes() {
	e.expRows(false)
	e.expRows(true)
	e.byRows("quotientRows", "sets adjacent rows of dst to room / by, where by has one number for each row, from 1 to 2^20 or NaN.", invert, e.quotients)
	e.byRows("lowerRows", "sets adjacent rows of dst to room - by, where by has one number for each row.", negate, func(n int, part bool) {
		z, k := maskOf(part)
		for u := range n {
			p("VADDPS%s %d(SI), Z%d, %sZ%d", z, u*64, rowBy, k, u)
		}
	})
	e.softmaxGradRows()
	e.logSoftmaxGradRows()
}
